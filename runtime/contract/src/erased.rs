//! [`Tool`] made object-safe, so that a registry can hold any of them, panics included.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

use futures::FutureExt;
use serde_json::Value;
use toolwright_kernel::{Safety, Verdict};

use crate::card::Card;
use crate::conduct::Conduct;
use crate::cx::{CheckCx, RunCx};
use crate::papers::Outcome;
use crate::present::Present;
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

trait Erased: Send + Sync {
    fn schema(&self) -> Value;
    fn prompt(&self) -> Cow<'static, str>;
    fn is_enabled(&self) -> bool;
    fn conduct(&self, input: &AnyInput) -> Conduct;
    fn describe(&self, input: &AnyInput) -> Cow<'static, str>;
    fn matches(&self, input: &AnyInput, specifier: &str) -> bool;
    fn is_same(&self, one: &AnyInput, other: &AnyInput) -> bool;
    fn parse(&self, input: &Value) -> Result<(AnyInput, Safety), InvalidInput>;
    fn validate<'a>(
        &'a self,
        input: &'a AnyInput,
        cx: &'a CheckCx,
    ) -> Boxed<'a, Result<(), InvalidInput>>;
    fn run(&self, input: AnyInput, cx: RunCx) -> Boxed<'_, Outcome>;
}

impl<T: Tool> Erased for T {
    fn schema(&self) -> Value {
        schemars::generate::SchemaSettings::draft2020_12()
            .with(|it| {
                it.inline_subschemas = true;
                it.meta_schema = None;
            })
            .into_generator()
            .into_root_schema_for::<T::Input>()
            .to_value()
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

    fn is_same(&self, one: &AnyInput, other: &AnyInput) -> bool {
        let both = one.as_input().zip(other.as_input());
        both.is_some_and(|(one, other)| Tool::is_same(self, one, other))
    }

    fn parse(&self, input: &Value) -> Result<(AnyInput, Safety), InvalidInput> {
        let input: T::Input = serde_path_to_error::deserialize(input).map_err(|it| {
            let at = it.path().to_string();
            InvalidInput(wording::misfit_input(&self.card().name, &at, it.inner()))
        })?;
        let safety = self.safety(&input);
        Ok((AnyInput(Some(Box::new(input))), safety))
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
        Ok(Output { data, structured, change, notes }) => {
            // The tool has succeeded: a mapping that panics must not hide it.
            let content = catch_unwind(AssertUnwindSafe(|| tool.map(data)))
                .unwrap_or_else(|panic| wording::unmapped(&panic_text(&*panic)).into());
            Outcome { structured, change, notes, ..Outcome::new(Verdict::Good, content) }
        }
        Err(ToolError::Failed { message, cascades }) => {
            Outcome::new(Verdict::Bad { cascades }, message)
        }
        Err(ToolError::Stopped) => Outcome::new(Verdict::Stopped, String::new()),
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
}

impl AnyTool {
    /// Wraps a tool; its card is read once.
    #[must_use]
    pub fn new(tool: impl Tool) -> Self {
        let present = tool.present().into();
        Self { card: Arc::new(tool.card()), present, tool: Arc::new(tool) }
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

    /// The JSON Schema (draft 2020-12) of its input.
    #[must_use]
    pub fn schema(&self) -> Value {
        self.tool.schema()
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

    pub(crate) fn is_same(&self, one: &AnyInput, other: &AnyInput) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.tool.is_same(one, other))).unwrap_or(false)
    }

    /// Parses an input and asks how safe it is. A panic in either is an invalid input.
    pub(crate) fn parse(&self, input: &Value) -> Result<(AnyInput, Safety), InvalidInput> {
        // serde would take an array for a struct, field by field, whatever the schema says.
        if !input.is_object() {
            return Err(InvalidInput(wording::not_an_object(&self.card.name)));
        }
        catch_unwind(AssertUnwindSafe(|| self.tool.parse(input))).unwrap_or_else(|panic| {
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
