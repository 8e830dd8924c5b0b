//! Schema: what the model is told of a tool's input, and what an input is held against.
//!
//! An input goes three ways. One that fits as it is costs one walk of the validator and one of
//! serde. One that doesn't is [made to fit](lenience) where its type leaves no doubt (`"5000"` for
//! a number) and tried again. What still doesn't fit is told [as a whole](misfit), every problem
//! at once. Validating first, and always, is what makes it safe that serde alone would take more
//! than the schema says: numbers out of range, fields that nobody knows.
//!
//! # Fields that the model must not see
//!
//! Mark them `#[serde(skip)]`. With `#[schemars(skip)]` serde still takes them: the validator
//! refuses such a field from the model, and [`AnyTool::check`](crate::AnyTool::check) names it.

mod bounds;
mod derived;
mod flat;
mod hidden;
mod lenience;
mod misfit;
mod published;
mod strict;

use jsonschema::{PatternOptions, Retrieve, Uri, Validator};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(crate) use hidden::fields_of;
pub use published::{ACCEPTED_NAME_CHARS, BadName, EMITTED_NAME_CHARS, Unpublishable, check_name};
pub(crate) use strict::for_strict;

use crate::wording;

/// Bytes of a schema that comes from elsewhere, as JSON. It is sent to the model with each
/// request, so a useful one is far smaller.
pub const SCHEMA_BYTES: usize = 1 << 20;
/// Steps that a pattern of a schema may take back. An honest pattern needs few; one that is made
/// to stall the runtime needs millions.
const BACKTRACKS: usize = 100_000;

/// The schema of a tool's input, compiled once.
#[derive(Debug)]
pub(crate) struct Schema {
    published: Value,
    /// What inputs are held against: as published, but with the alternatives at its root.
    whole: Value,
    /// None where any object will do: to compile that would cost more than most sessions use it.
    validator: Option<Validator>,
}

/// Why a schema can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSchema {
    /// The root describes something else than an object.
    #[error("its root isn't an object; wrap the input in a struct, or say `\"type\": \"object\"`")]
    RootNotObject,
    /// It is no JSON Schema, or refers to something outside itself.
    #[error("it is no usable JSON Schema ({0}); correct it, and put what it refers to in `$defs`")]
    Invalid(String),
    /// It is larger than [`SCHEMA_BYTES`].
    #[error("it has {0} bytes, more than {SCHEMA_BYTES}; shorten it")]
    TooLarge(usize),
}

impl Schema {
    /// The schema of a type.
    pub(crate) fn derived<T: JsonSchema>() -> Result<Self, BadSchema> {
        Self::compiled(derived::closed(derived::raw::<T>()))
    }

    /// A schema from elsewhere, which is held to draft 2020-12 unless its `$schema` names another.
    pub(crate) fn given(schema: Value) -> Result<Self, BadSchema> {
        match schema.to_string().len() {
            bytes if bytes > SCHEMA_BYTES => Err(BadSchema::TooLarge(bytes)),
            _ => Self::compiled(schema),
        }
    }

    fn compiled(mut whole: Value) -> Result<Self, BadSchema> {
        bounds::check(&whole)?;
        let published = flat::published(&whole)?;
        if let Some(root) = whole.as_object_mut() {
            root.insert("type".to_owned(), "object".into());
        }
        let any_object = whole == json!({"type": "object", "additionalProperties": true});
        let validator = (!any_object).then(|| compile(&whole)).transpose()?;
        Ok(Self { published, whole, validator })
    }

    fn fits(&self, input: &Value) -> bool {
        self.validator.as_ref().is_none_or(|it| it.is_valid(input))
    }

    /// What the model is told.
    pub(crate) fn published(&self) -> &Value {
        &self.published
    }

    /// Reads an input, which must be an object, and gives it as it was understood. The error is the
    /// whole text for the model.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        tool: &str,
        mut input: Value,
    ) -> Result<(T, Value), String> {
        if self.fits(&input)
            && let Ok(read) = T::deserialize(&input)
        {
            return Ok((read, input));
        }
        lenience::coerce(&self.whole, &mut input);
        let misfits = self.validator.iter().flat_map(|it| it.iter_errors(&input));
        let lines = misfit::lines(misfits);
        if !lines.is_empty() {
            return Err(wording::misfit_input(tool, &lines));
        }
        let read = serde_path_to_error::deserialize(&input).map_err(|it| {
            let line = wording::not_understood(&it.path().to_string(), it.inner());
            wording::misfit_input(tool, &[line])
        });
        read.map(|it| (it, input))
    }
}

fn compile(schema: &Value) -> Result<Validator, BadSchema> {
    jsonschema::options()
        .with_retriever(Nowhere)
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS))
        .build(schema)
        .map_err(|it| BadSchema::Invalid(wording::quote(&it.to_string(), 200)))
}

/// Checks a schema that nothing is held against.
pub(crate) fn check_schema(schema: &Value) -> Result<(), BadSchema> {
    bounds::check(schema)?;
    compile(schema).map(drop)
}

/// The JSON Schema of a type, as a tool publishes it: for [`Tool::output_schema`].
///
/// [`Tool::output_schema`]: crate::Tool::output_schema
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Value {
    derived::raw::<T>()
}

/// Resolves no reference: a schema must not make the runtime open a file or a connection, even
/// where another package of the program has switched that on.
struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("`{}` is outside the schema", wording::quote(uri.as_str(), 200)).into())
    }
}
