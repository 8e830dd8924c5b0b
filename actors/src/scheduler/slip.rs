//! What the scheduler holds for one call beside the kernel's phase.

use std::borrow::Cow;

use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use toolwright_contract::{AnyTool, Outcome, RequestId, Screened, Stop, ToolUseId};

use crate::inbox::Pass;

/// See the module.
pub(super) struct Slip {
    pub(super) id: ToolUseId,
    pub(super) tool: Option<AnyTool>,
    pub(super) stage: Paper,
    pub(super) stop: Stop,
    pub(super) notes: Vec<String>,
    /// The call in short, for the results of its siblings.
    pub(super) short: String,
    pub(super) timers: Vec<AbortHandle>,
    /// The question to a person about it, unless it was taken back.
    pub(super) asked: Option<RequestId>,
    /// Whether it has lent its width.
    pub(super) lent: bool,
    pub(super) resume: Option<oneshot::Sender<()>>,
    /// Answered without its job; the job's own answer only says that it has gone.
    pub(super) overdue: bool,
}

/// The paper that the scheduler holds for a call between two jobs.
pub(super) enum Paper {
    /// It is with a job, or nothing is left of it.
    Away,
    Screened(Box<Screened>),
    Cleared(Box<Pass>),
    Outcome(Box<Outcome>),
    Refusal(String),
}

impl Slip {
    pub(super) fn new(id: ToolUseId, tool: Option<AnyTool>, stage: Paper, stop: Stop) -> Self {
        Self {
            id,
            tool,
            stage,
            stop,
            notes: Vec::new(),
            short: String::new(),
            timers: Vec::new(),
            asked: None,
            lent: false,
            resume: None,
            overdue: false,
        }
    }

    /// The name of its tool; empty if there is none.
    pub(super) fn tool_name(&self) -> Cow<'static, str> {
        self.tool.as_ref().map(|it| it.card().name.clone()).unwrap_or_default()
    }

    /// The paper, if the scheduler holds one.
    pub(super) fn take_paper(&mut self) -> Paper {
        std::mem::replace(&mut self.stage, Paper::Away)
    }
}
