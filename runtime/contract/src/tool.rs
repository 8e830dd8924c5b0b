//! The trait that one file per tool implements.

use std::borrow::Cow;
use std::future::Future;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolwright_kernel::Safety;

use crate::card::Card;
use crate::conduct::{Conduct, Permission};
use crate::content::Content;
use crate::cx::{CheckCx, ContextChange, RunCx};
use crate::present::{Present, Usual};

/// One tool. Only [`card`](Self::card) and [`run`](Self::run) must be written; everything else
/// has a default that fails closed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tool",
    label = "has no `impl Tool`",
    note = "implement `Tool` with `card` and `run`, or finish a `tool(…)` with `.run(…)`"
)]
pub trait Tool: Send + Sync + 'static {
    /// What the model sends. Its schema is derived from this type and from nothing else.
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// What the tool gives back, before it is mapped to a result.
    type Output: Into<Content> + Send + 'static;

    /// Identity and limits.
    fn card(&self) -> Card;

    /// What running with this input may do: a pure function, asked before anything happens.
    fn safety(&self, _input: &Self::Input) -> Safety {
        Safety::default()
    }

    /// What running with this input amounts to, for people, rules and classifiers.
    fn conduct(&self, _input: &Self::Input) -> Conduct {
        Conduct::default()
    }

    /// What this call does, in words that may depend on the input: for a person who is asked.
    fn describe(&self, _input: &Self::Input) -> Cow<'static, str> {
        self.card().description
    }

    /// What the model should know of the tool beyond its description; may be long.
    fn prompt(&self) -> Cow<'static, str> {
        Cow::Borrowed("")
    }

    /// The JSON Schema of the output, for those who read it by program; [`schema_of`] derives one.
    ///
    /// [`schema_of`]: crate::schema_of
    fn output_schema(&self) -> Option<Value> {
        None
    }

    /// Whether the tool can be used at the moment: asked when a session's tools are assembled.
    fn is_enabled(&self) -> bool {
        true
    }

    /// Whether a rule's specifier, the part in its brackets, is about this input. What a tool
    /// doesn't understand is no match.
    fn matches(&self, _input: &Self::Input, _specifier: &str) -> bool {
        false
    }

    /// Whether two inputs ask for the same. Not known to be is not.
    fn is_same(&self, _one: &Self::Input, _other: &Self::Input) -> bool {
        false
    }

    /// How calls of this tool are shown to people.
    fn present(&self) -> Box<dyn Present> {
        Box::new(Usual)
    }

    /// Looks at the world before the call may start: asked when the call is admitted, so that it
    /// sees what earlier calls of the message have done. Dropped when the call is stopped.
    ///
    /// # Errors
    ///
    /// What is wrong with the input, for the model to read.
    fn validate(
        &self,
        _input: &Self::Input,
        _cx: &CheckCx,
    ) -> impl Future<Output = Result<(), InvalidInput>> + Send {
        std::future::ready(Ok(()))
    }

    /// Whether the tool itself would let the call start, for what rules can't know. Pure and quick:
    /// asked by the permission stage after hooks, and again when rules change. What needs a look
    /// at the world belongs into [`validate`](Self::validate).
    fn check_permissions(&self, _input: &Self::Input, _cx: &CheckCx) -> Permission {
        Permission::Unsaid
    }

    /// Does the work. Must return soon after `cx.stop` is told, with [`ToolError::Stopped`].
    ///
    /// # Errors
    ///
    /// What the model should read as a failure of the tool.
    fn run(
        &self,
        input: Self::Input,
        cx: RunCx,
    ) -> impl Future<Output = Result<Output<Self::Output>, ToolError>> + Send;

    /// Turns the output into what the model reads.
    fn map(&self, output: Self::Output) -> Content {
        output.into()
    }
}

/// What a tool gives back: its data and, if need be, what should follow from it.
#[derive(Debug)]
pub struct Output<T> {
    /// The data, mapped by [`Tool::map`].
    pub data: T,
    /// The same for programs, in the shape that the tool documents; the model doesn't read it.
    pub structured: Option<Value>,
    /// What the tool's server says of the result beyond the protocol (`_meta`).
    pub meta: Option<Value>,
    /// Changes the session's context. Honoured only for a call that ran alone.
    pub change: Option<ContextChange>,
    /// Text for the model that follows all results of the message.
    pub notes: Vec<String>,
}

impl<T> Output<T> {
    /// Adds the same data for programs.
    #[must_use]
    pub fn structured(mut self, structured: Value) -> Self {
        self.structured = Some(structured);
        self
    }

    /// Adds what the tool's server says of the result beyond the protocol.
    #[must_use]
    pub fn meta(mut self, meta: Value) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Adds a change of the session's context.
    #[must_use]
    pub fn changing(mut self, change: ContextChange) -> Self {
        self.change = Some(change);
        self
    }

    /// Adds a text that follows all results of the message.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }
}

impl<T> From<T> for Output<T> {
    fn from(data: T) -> Self {
        Self { data, structured: None, meta: None, change: None, notes: Vec::new() }
    }
}

/// Why a tool has no output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It failed.
    #[error("{message}")]
    Failed {
        /// What the model reads.
        message: String,
        /// Whether the failure takes the siblings of the message along (contracts: a command
        /// that ran, ended badly, and isn't read-only).
        cascades: bool,
    },
    /// It ended because it was told to stop.
    #[error("stopped")]
    Stopped,
}

impl ToolError {
    /// A failure that concerns this call alone.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), cascades: false }
    }

    /// A failure that the calls beside it may depend on.
    pub fn cascading(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), cascades: true }
    }
}

/// What is wrong with an input, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidInput(pub String);
