//! The papers: each can only be made from the one before it, so no stage can be skipped.
//!
//! ```text
//! ToolUse ──screen──▶ Screened ──clear──▶ Cleared ──run──▶ Outcome ──▶ ToolResult
//! ```

use std::borrow::Cow;

use serde_json::{Value, json};
use toolwright_kernel::{Refusal, Safety, Verdict};

use crate::conduct::{Conduct, Permission};
use crate::content::Content;
use crate::cx::{CheckCx, ContextChange, RunCx};
use crate::erased::{AnyInput, AnyTool, ParsedInput};
use crate::ids::ToolUseId;
use crate::registry::Registry;
use crate::tool::InvalidInput;
use crate::wording;

/// A `tool_use` block as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// The id that the result must carry.
    pub id: ToolUseId,
    /// The tool asked for.
    pub name: String,
    /// Its input.
    pub input: RawInput,
}

impl ToolUse {
    /// A block with parsed input.
    pub fn new(id: impl Into<ToolUseId>, name: impl Into<String>, input: Value) -> Self {
        Self { id: id.into(), name: name.into(), input: RawInput::Json(input) }
    }
}

/// The input of a `tool_use` before anybody has checked it.
#[derive(Clone, Debug, PartialEq)]
pub enum RawInput {
    /// JSON, of whatever shape.
    Json(Value),
    /// Text that isn't JSON; it is answered, never run.
    Malformed {
        /// The text, perhaps cut.
        raw: String,
        /// What the parser said, with the position.
        error: String,
    },
}

/// What screening a `tool_use` came to.
pub enum Screening {
    /// The tool exists and the input fits.
    Passed(Box<Screened>),
    /// It can't run; the text is for the model.
    Failed(Refusal, String),
}

/// A call whose tool exists and whose input fits. Made only by [`ToolUse::screen`].
pub struct Screened {
    id: ToolUseId,
    tool: AnyTool,
    json: Value,
    input: AnyInput,
    safety: Safety,
    /// The input isn't the model's.
    changed: bool,
}

impl ToolUse {
    /// Finds the tool and parses the input: pure, and safe against a tool that panics.
    #[must_use]
    pub fn screen(self, tools: &Registry) -> Screening {
        let Some(tool) = tools.get(&self.name) else {
            return Screening::Failed(Refusal::UnknownTool, wording::unknown_tool(&self.name));
        };
        let raw = match self.input {
            RawInput::Json(raw) => raw,
            RawInput::Malformed { raw, error } => {
                let text = wording::unparseable_input(&tool.card().name, &raw, &error);
                return Screening::Failed(Refusal::InvalidInput, text);
            }
        };
        match tool.parse(raw) {
            Ok(ParsedInput { input, json, safety }) => {
                let tool = tool.clone();
                Screening::Passed(Box::new(Screened {
                    id: self.id,
                    tool,
                    json,
                    input,
                    safety,
                    changed: false,
                }))
            }
            Err(InvalidInput(text)) => {
                Screening::Failed(Refusal::InvalidInput, wording::tool_use_error(&text))
            }
        }
    }
}

impl Screened {
    /// The id of the call.
    #[must_use]
    pub fn id(&self) -> &ToolUseId {
        &self.id
    }
    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &AnyTool {
        &self.tool
    }
    /// The input as the tool gets it, for hooks, rules and people: what the model, or the last
    /// hook, sent as text where a number or a boolean is wanted is one here.
    #[must_use]
    pub fn input(&self) -> &Value {
        &self.json
    }
    /// What running it may do.
    #[must_use]
    pub fn safety(&self) -> Safety {
        self.safety
    }
    /// What running it amounts to; the careful answer if the tool panics.
    #[must_use]
    pub fn conduct(&self) -> Conduct {
        self.tool.conduct(&self.input)
    }
    /// What the call does, in words for a person.
    #[must_use]
    pub fn describe(&self) -> Cow<'static, str> {
        self.tool.describe(&self.input)
    }
    /// Whether a rule's specifier is about this input.
    #[must_use]
    pub fn matches(&self, specifier: &str) -> bool {
        self.tool.matches(&self.input, specifier)
    }
    /// What the tool itself says of whether it may start; a panic asks a person.
    #[must_use]
    pub fn permission(&self, cx: &CheckCx) -> Permission {
        self.tool.permission(&self.input, cx)
    }
    /// Whether the other call asks the same tool for the same.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.tool.card() == other.tool.card() && self.tool.is_same(&self.input, &other.input)
    }

    /// Asks the tool to look at the world. A panic counts as a no.
    ///
    /// # Errors
    ///
    /// What the tool finds wrong.
    pub async fn validate(&self, cx: &CheckCx) -> Result<(), InvalidInput> {
        self.tool.validate(&self.input, cx).await
    }

    /// Takes another input, which is parsed and judged anew.
    ///
    /// # Errors
    ///
    /// What is wrong with it; the call is then as it was.
    pub fn change_input(&mut self, raw: Value) -> Result<(), InvalidInput> {
        let ParsedInput { input, json, safety } = self.tool.parse(raw)?;
        (self.json, self.input, self.safety, self.changed) = (json, input, safety, true);
        Ok(())
    }

    /// Lets it through.
    #[must_use]
    pub fn clear(self, _: Permit) -> Cleared {
        Cleared(self)
    }
}

/// The right to run one call, granted by the permission stage alone.
#[derive(Debug)]
pub struct Permit(());

impl Permit {
    /// Grants the right. For the permission stage: a test of the house checks who says this.
    #[must_use]
    pub fn granted() -> Self {
        Self(())
    }
}

/// A screened call that hooks and permission have let through. Only this can run.
pub struct Cleared(Screened);

impl Cleared {
    /// What running it may do, after hooks.
    #[must_use]
    pub fn safety(&self) -> Safety {
        self.0.safety
    }

    /// The tool that will run.
    #[must_use]
    pub fn tool(&self) -> &AnyTool {
        &self.0.tool
    }

    /// The input that it will run with.
    #[must_use]
    pub fn input(&self) -> &Value {
        &self.0.json
    }

    /// The input that it will run with, if a hook or a person has changed it.
    #[must_use]
    pub fn changed_input(&self) -> Option<&Value> {
        self.0.changed.then_some(&self.0.json)
    }

    /// Runs the tool, consuming the right to do so. A panic is an outcome.
    pub async fn run(self, cx: RunCx) -> Outcome {
        let Screened { tool, input, json, .. } = self.0;
        Outcome { input: json, ..tool.run(input, cx).await }
    }
}

/// How a run went.
#[derive(Debug)]
pub struct Outcome {
    /// What the scheduler needs.
    pub verdict: Verdict,
    /// What the model reads.
    pub content: Content,
    /// The output for programs, if the tool gave one.
    pub structured: Option<Value>,
    /// What the tool's server says of it beyond the protocol, if it says anything.
    pub meta: Option<Value>,
    /// The input that it ran with.
    pub input: Value,
    /// What should become of the session's context.
    pub change: Option<ContextChange>,
    /// Text that follows all results.
    pub notes: Vec<String>,
}

impl Outcome {
    /// An outcome that is only a verdict and a text.
    pub fn new(verdict: Verdict, content: impl Into<Content>) -> Self {
        Self {
            verdict,
            content: content.into(),
            structured: None,
            meta: None,
            input: Value::Null,
            change: None,
            notes: Vec::new(),
        }
    }
}

/// What kind of outcome a hook after the call sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// The tool succeeded.
    Success,
    /// The tool failed, crashed or was stopped while it ran.
    Failure,
}

/// A `tool_result` block.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The id of the `tool_use`.
    pub id: ToolUseId,
    /// What the model reads.
    pub content: Content,
    /// Whether it is an error.
    pub is_error: bool,
}

impl ToolResult {
    /// The block as the Messages API takes it.
    #[must_use]
    pub fn to_block(&self) -> Value {
        let mut block = json!({
            "type": "tool_result",
            "tool_use_id": self.id.as_str(),
            "content": self.content.to_json(),
        });
        if self.is_error {
            block["is_error"] = json!(true);
        }
        block
    }
}
