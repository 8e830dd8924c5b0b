//! What the Messages API accepts of a tool definition (platform docs, read with 2.1.240).

use crate::schema::BadSchema;

/// Characters of a name that is sent: the documented limit, which every consumer keeps.
pub const EMITTED_NAME_CHARS: usize = 64;
/// Characters of a name that is answered: the limit that the API itself enforces.
pub const ACCEPTED_NAME_CHARS: usize = 128;

/// Why a request with this tool would be refused, or would show what it shouldn't.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unpublishable {
    /// The API takes no such name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The API, or the validator, takes no such schema.
    #[error("the schema of the tool `{tool}` can't be used: {why}")]
    Schema {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        why: BadSchema,
    },
    /// The input takes a field from the model that it hides from it.
    #[error(
        "the input of the tool `{tool}` takes a field `{field}` that its schema doesn't show; mark \
         it `#[serde(skip)]`, or show it"
    )]
    HiddenField {
        /// The tool.
        tool: String,
        /// The field, or an alias of one.
        field: String,
    },
    /// The card asks for `strict`, and the schema has no form that the API takes with it.
    #[error(
        "the tool `{tool}` asks for `strict`, but {why}; leave `strict` out of its card, or change \
         its input"
    )]
    NotStrict {
        /// The tool.
        tool: String,
        /// What `strict` doesn't take.
        why: String,
    },
    /// The schema of the output is none.
    #[error("the output schema of the tool `{tool}` can't be used: {why}")]
    OutputSchema {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        why: BadSchema,
    },
    /// Asking the tool for its schema panics.
    #[error("the tool `{0}` panics when it is asked for its schema; correct its `JsonSchema`")]
    Panics(String),
}

/// A name that the API refuses, together with the whole request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` can't name a tool: use 1 to {limit} of the characters a-z, A-Z, 0-9, `_` and `-`"
)]
pub struct BadName {
    /// The name.
    pub name: String,
    /// How long it may be.
    pub limit: usize,
}

/// Checks a name: [`EMITTED_NAME_CHARS`] for one that is sent, [`ACCEPTED_NAME_CHARS`] for one
/// that is only answered.
///
/// # Errors
///
/// [`BadName`].
pub fn check_name(name: &str, limit: usize) -> Result<(), BadName> {
    let plain = name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-');
    if plain && (1..=limit).contains(&name.len()) {
        Ok(())
    } else {
        Err(BadName { name: crate::wording::quote(name, limit), limit })
    }
}
