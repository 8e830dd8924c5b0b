//! [`Tool`] made object-safe, so that a registry can hold any of them, panics included.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use futures::FutureExt;
use serde_json::Value;
use toolwright_kernel::{Safety, Verdict};

use crate::card::Card;
use crate::conduct::{Conduct, Permission};
use crate::cx::{CheckCx, RunCx};
use crate::papers::Outcome;
use crate::present::Present;
use crate::schema::{
    ACCEPTED_NAME_CHARS, BadSchema, EMITTED_NAME_CHARS, Schema, Unpublishable, check_name,
    check_schema, fields_of, for_strict,
};
use crate::tool::{InvalidInput, Output, Tool, ToolError};
use crate::wording;

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A parsed input whose type only its own tool knows.
pub(crate) struct AnyInput(Option<Box<dyn Any + Send + Sync>>);

impl AnyInput {
    fn as_input<T: 'static>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }
}

impl Drop for AnyInput {
    /// A call that never runs is dropped by an actor, which must outlive an input that panics.
    fn drop(&mut self) {
        let input = self.0.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(input))) {
            // Its own end might panic again.
            std::mem::forget(panic);
        }
    }
}

/// An input as its tool has understood it.
pub(crate) struct ParsedInput {
    /// For the tool.
    pub(crate) input: AnyInput,
    /// The same for everybody else: as it came, but for what was sent as text and is none.
    pub(crate) json: Value,
    pub(crate) safety: Safety,
}

type Parsed = Result<ParsedInput, InvalidInput>;

trait Erased: Send + Sync {
    fn schema(&self) -> Result<Schema, BadSchema>;
    fn fields(&self) -> &'static [&'static str];
    fn output_schema(&self) -> Option<Value>;
    fn prompt(&self) -> Cow<'static, str>;
    fn is_enabled(&self) -> bool;
    fn conduct(&self, input: &AnyInput) -> Conduct;
    fn describe(&self, input: &AnyInput) -> Cow<'static, str>;
    fn matches(&self, input: &AnyInput, specifier: &str) -> bool;
    fn permission(&self, input: &AnyInput, cx: &CheckCx) -> Permission;
    fn is_same(&self, one: &AnyInput, other: &AnyInput) -> bool;
    fn parse(&self, schema: &Schema, name: &str, input: Value) -> Parsed;
    fn validate<'a>(
        &'a self,
        input: &'a AnyInput,
        cx: &'a CheckCx,
    ) -> Boxed<'a, Result<(), InvalidInput>>;
    fn run(&self, input: AnyInput, cx: RunCx) -> Boxed<'_, Outcome>;
}

impl<T: Tool> Erased for T {
    fn schema(&self) -> Result<Schema, BadSchema> {
        Schema::derived::<T::Input>()
    }

    fn fields(&self) -> &'static [&'static str] {
        fields_of::<T::Input>()
    }

    fn output_schema(&self) -> Option<Value> {
        Tool::output_schema(self)
    }

    fn prompt(&self) -> Cow<'static, str> {
        Tool::prompt(self)
    }

    fn is_enabled(&self) -> bool {
        Tool::is_enabled(self)
    }

    fn conduct(&self, input: &AnyInput) -> Conduct {
        input.as_input().map(|it| Tool::conduct(self, it)).unwrap_or_default()
    }

    fn describe(&self, input: &AnyInput) -> Cow<'static, str> {
        input.as_input().map(|it| Tool::describe(self, it)).unwrap_or_default()
    }

    fn matches(&self, input: &AnyInput, specifier: &str) -> bool {
        input.as_input().is_some_and(|it| Tool::matches(self, it, specifier))
    }

    fn permission(&self, input: &AnyInput, cx: &CheckCx) -> Permission {
        input.as_input().map(|it| self.check_permissions(it, cx)).unwrap_or_default()
    }

    fn is_same(&self, one: &AnyInput, other: &AnyInput) -> bool {
        let both = one.as_input().zip(other.as_input());
        both.is_some_and(|(one, other)| Tool::is_same(self, one, other))
    }

    fn parse(&self, schema: &Schema, name: &str, input: Value) -> Parsed {
        let (input, json) = schema.read::<T::Input>(name, input).map_err(InvalidInput)?;
        let safety = self.safety(&input);
        Ok(ParsedInput { input: AnyInput(Some(Box::new(input))), json, safety })
    }

    fn validate<'a>(
        &'a self,
        input: &'a AnyInput,
        cx: &'a CheckCx,
    ) -> Boxed<'a, Result<(), InvalidInput>> {
        match input.as_input() {
            Some(input) => Box::pin(Tool::validate(self, input, cx)),
            None => Box::pin(std::future::ready(Err(InvalidInput(foreign_input())))),
        }
    }

    fn run(&self, mut input: AnyInput, cx: RunCx) -> Boxed<'_, Outcome> {
        match input.0.take().map(|it| it.downcast()) {
            Some(Ok(input)) => {
                Box::pin(async move { outcome(self, Tool::run(self, *input, cx).await) })
            }
            Some(Err(_)) | None => {
                let outcome = Outcome::new(Verdict::Crashed, wording::crashed(&foreign_input()));
                Box::pin(std::future::ready(outcome))
            }
        }
    }
}

/// Can't happen as long as only the tool that parsed an input is given it back.
fn foreign_input() -> String {
    "an input came to a tool that hasn't parsed it".to_owned()
}

fn outcome<T: Tool>(tool: &T, returned: Result<Output<T::Output>, ToolError>) -> Outcome {
    match returned {
        Ok(Output { data, structured, meta, change, notes }) => {
            // The tool has succeeded: a mapping that panics must not hide it.
            let content = catch_unwind(AssertUnwindSafe(|| tool.map(data)))
                .unwrap_or_else(|panic| wording::unmapped(&panic_text(&*panic)).into());
            Outcome { structured, meta, change, notes, ..Outcome::new(Verdict::Good, content) }
        }
        Err(ToolError::Failed { message, cascades }) => {
            Outcome::new(Verdict::Bad { cascades }, message)
        }
        // Read only if nobody has told the call to stop: who did says so otherwise.
        Err(ToolError::Stopped) => Outcome::new(
            Verdict::Stopped,
            wording::crashed("it ended as if stopped, and nobody had stopped it"),
        ),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Any tool. Cheap to clone.
#[derive(Clone)]
pub struct AnyTool {
    card: Arc<Card>,
    present: Arc<dyn Present>,
    tool: Arc<dyn Erased>,
    /// Made when it is first asked for, then the same for good.
    schemas: Arc<Schemas>,
}

#[derive(Default)]
struct Schemas {
    input: OnceLock<Result<Schema, BadSchema>>,
    output: OnceLock<Option<Value>>,
    checked: OnceLock<Result<(), Unpublishable>>,
}

impl AnyTool {
    /// Wraps a tool; its card is read once.
    #[must_use]
    pub fn new(tool: impl Tool) -> Self {
        let present = tool.present().into();
        let schemas = Arc::default();
        Self { card: Arc::new(tool.card()), present, tool: Arc::new(tool), schemas }
    }

    /// Wraps a tool whose schema comes from elsewhere, as that of an outside server does. Inputs
    /// are held against it as it stands: fields that it doesn't forbid are taken.
    ///
    /// # Errors
    ///
    /// [`BadSchema`] if no input could be held against it. Nothing outside it is ever looked up.
    pub fn with_schema(tool: impl Tool<Input = Value>, schema: Value) -> Result<Self, BadSchema> {
        let input = OnceLock::from(Ok(Schema::given(schema)?));
        let schemas = Arc::new(Schemas { input, ..Schemas::default() });
        Ok(Self { schemas, ..Self::new(tool) })
    }

    /// How its calls are shown to people.
    #[must_use]
    pub fn present(&self) -> &dyn Present {
        &*self.present
    }

    /// Its card.
    #[must_use]
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// The JSON Schema (draft 2020-12) of its input, as the model should get it: the same bytes
    /// each time.
    ///
    /// # Errors
    ///
    /// [`BadSchema`] if there can be none; every call is then refused.
    ///
    /// # Panics
    ///
    /// If the input's own `JsonSchema` does; see [`check`](Self::check).
    pub fn schema(&self) -> Result<&Value, &BadSchema> {
        self.compiled().map(Schema::published)
    }

    /// The JSON Schema of its output, if the tool says one.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Value> {
        let ask = || catch_unwind(AssertUnwindSafe(|| self.tool.output_schema())).ok().flatten();
        self.schemas.output.get_or_init(ask).as_ref()
    }

    fn compiled(&self) -> Result<&Schema, &BadSchema> {
        self.schemas.input.get_or_init(|| self.tool.schema()).as_ref()
    }

    /// Checks what would otherwise show in a request to the model, or in a call: names, schemas,
    /// and fields that the input takes without showing them. Done when the tool is registered.
    ///
    /// # Errors
    ///
    /// [`Unpublishable`], the first there is.
    pub fn check(&self) -> Result<(), Unpublishable> {
        self.schemas.checked.get_or_init(|| self.check_anew()).clone()
    }

    fn check_anew(&self) -> Result<(), Unpublishable> {
        check_name(&self.card.name, EMITTED_NAME_CHARS)?;
        self.card.aliases.iter().try_for_each(|it| check_name(it, ACCEPTED_NAME_CHARS))?;
        let tool = || self.card.name.to_string();
        let asked = catch_unwind(AssertUnwindSafe(|| (self.compiled(), self.tool.fields())));
        let (schema, fields) = asked.map_err(|_| Unpublishable::Panics(tool()))?;
        let published = schema.map(Schema::published);
        let published =
            published.map_err(|why| Unpublishable::Schema { tool: tool(), why: why.clone() })?;
        if let Some(it) = fields.iter().find(|it| published["properties"].get(**it).is_none()) {
            return Err(Unpublishable::HiddenField { tool: tool(), field: (*it).to_owned() });
        }
        if self.card.strict {
            for_strict(published).map_err(|why| Unpublishable::NotStrict { tool: tool(), why })?;
        }
        let output = self.output_schema().map_or(Ok(()), check_schema);
        output.map_err(|why| Unpublishable::OutputSchema { tool: tool(), why })
    }

    /// What the model should know of it beyond its description. Nothing, if the tool panics.
    #[must_use]
    pub fn prompt(&self) -> Cow<'static, str> {
        catch_unwind(AssertUnwindSafe(|| self.tool.prompt())).unwrap_or_default()
    }

    /// Whether it can be used at the moment. A tool that panics can't.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.tool.is_enabled())).unwrap_or(false)
    }

    pub(crate) fn conduct(&self, input: &AnyInput) -> Conduct {
        // What a tool can't say of its input, a person should.
        let careful = || Conduct { destructive: true, needs_user: true, ..Conduct::default() };
        catch_unwind(AssertUnwindSafe(|| self.tool.conduct(input))).unwrap_or_else(|_| careful())
    }

    pub(crate) fn describe(&self, input: &AnyInput) -> Cow<'static, str> {
        catch_unwind(AssertUnwindSafe(|| self.tool.describe(input))).unwrap_or_default()
    }

    pub(crate) fn matches(&self, input: &AnyInput, specifier: &str) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.tool.matches(input, specifier))).unwrap_or(false)
    }

    pub(crate) fn permission(&self, input: &AnyInput, cx: &CheckCx) -> Permission {
        let asked = catch_unwind(AssertUnwindSafe(|| self.tool.permission(input, cx)));
        asked.unwrap_or_else(|_| Permission::Ask(wording::could_not_judge(&self.card.name)))
    }

    pub(crate) fn is_same(&self, one: &AnyInput, other: &AnyInput) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.tool.is_same(one, other))).unwrap_or(false)
    }

    /// Parses an input and asks how safe it is. A panic in either is an invalid input.
    pub(crate) fn parse(&self, input: Value) -> Parsed {
        // serde would take an array for a struct, field by field, whatever the schema says.
        if !input.is_object() {
            return Err(InvalidInput(wording::not_an_object(&self.card.name)));
        }
        let parse = || {
            let name = &self.card.name;
            let unusable = |why: &BadSchema| InvalidInput(wording::unusable_schema(name, why));
            self.tool.parse(self.compiled().map_err(unusable)?, name, input)
        };
        catch_unwind(AssertUnwindSafe(parse)).unwrap_or_else(|panic| {
            Err(InvalidInput(wording::panicked_on_input(&self.card.name, &panic_text(&*panic))))
        })
    }

    pub(crate) async fn validate(
        &self,
        input: &AnyInput,
        cx: &CheckCx,
    ) -> Result<(), InvalidInput> {
        let checking = AssertUnwindSafe(async { self.tool.validate(input, cx).await });
        checking.catch_unwind().await.unwrap_or_else(|panic| {
            Err(InvalidInput(wording::panicked_on_input(&self.card.name, &panic_text(&*panic))))
        })
    }

    pub(crate) async fn run(&self, input: AnyInput, cx: RunCx) -> Outcome {
        // The block makes the tool's own code before its first await part of what is caught.
        let running = AssertUnwindSafe(async { self.tool.run(input, cx).await });
        running.catch_unwind().await.unwrap_or_else(|panic| {
            Outcome::new(Verdict::Crashed, wording::crashed(&panic_text(&*panic)))
        })
    }
}

impl fmt::Debug for AnyTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyTool").field(&self.card.name).finish()
    }
}
