//! Small tools: a name, a function and what it may do, without a type of their own.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use toolwright_kernel::Safety;

use crate::card::Card;
use crate::content::Content;
use crate::cx::{CheckCx, RunCx};
use crate::erased::AnyTool;
use crate::tool::{InvalidInput, Output, Tool, ToolError};

/// Begins a small tool, which [`run`](ToolDraft::run) completes.
///
/// ```
/// use toolwright_contract::{AnyTool, tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Count {
///     /// What to count the lines of.
///     text: String,
/// }
///
/// let count: AnyTool = tool("CountLines", "Counts the lines of a text.")
///     .read_only()
///     .run(async |it: Count, _| Ok(format!("{} lines", it.text.lines().count())));
/// ```
pub fn tool<I>(
    name: impl Into<Cow<'static, str>>,
    description: impl Into<Cow<'static, str>>,
) -> ToolDraft<I> {
    ToolDraft {
        card: Card::new(name, description),
        safety: Arc::new(|_| Safety::default()),
        check: Arc::new(|_, _| Ok(())),
    }
}

/// A tool in the making, with an input of type `I`. Unless it says otherwise, its calls run alone,
/// are taken to change things, and aren't cut off by an interrupt.
#[must_use = "it is no tool before `run` says what it does"]
pub struct ToolDraft<I> {
    card: Card,
    safety: Arc<dyn Fn(&I) -> Safety + Send + Sync>,
    check: Arc<Check<I>>,
}

type Check<I> = dyn Fn(&I, &CheckCx) -> Result<(), InvalidInput> + Send + Sync;

impl<I: DeserializeOwned + JsonSchema + Send + Sync + 'static> ToolDraft<I> {
    /// Says more on its card: aliases, limits, the deadline.
    pub fn card(mut self, write: impl FnOnce(Card) -> Card) -> Self {
        self.card = write(self.card);
        self
    }

    /// Its calls change nothing and may run side by side.
    pub fn read_only(self) -> Self {
        self.safety(|_| Safety::read_only())
    }

    /// What a call may do depends on its input; see [`Tool::safety`].
    pub fn safety(mut self, judge: impl Fn(&I) -> Safety + Send + Sync + 'static) -> Self {
        self.safety = Arc::new(judge);
        self
    }

    /// Looks at the world before a call may start; see [`Tool::validate`].
    pub fn validate(
        mut self,
        check: impl Fn(&I, &CheckCx) -> Result<(), InvalidInput> + Send + Sync + 'static,
    ) -> Self {
        self.check = Arc::new(check);
        self
    }

    /// Says what it does, and completes it; see [`Tool::run`].
    pub fn run<F, R, O>(self, run: F) -> AnyTool
    where
        F: Fn(I, RunCx) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: Into<Content> + Send + 'static,
    {
        AnyTool::new(Complete { parts: self, run })
    }
}

struct Complete<I, F> {
    parts: ToolDraft<I>,
    run: F,
}

impl<I, F, R, O> Tool for Complete<I, F>
where
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
    F: Fn(I, RunCx) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: Into<Content> + Send + 'static,
{
    type Input = I;
    type Output = O;

    fn card(&self) -> Card {
        self.parts.card.clone()
    }

    fn safety(&self, input: &I) -> Safety {
        (self.parts.safety)(input)
    }

    async fn validate(&self, input: &I, cx: &CheckCx) -> Result<(), InvalidInput> {
        (self.parts.check)(input, cx)
    }

    async fn run(&self, input: I, cx: RunCx) -> Result<Output<O>, ToolError> {
        (self.run)(input, cx).await.map(Output::from)
    }
}
