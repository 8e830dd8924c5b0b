//! The event schema: what happened to each call, for subscribers, journal and history checker.
//!
//! Versioned and the same for all readers. Time is logical ([`Event::seq`]) and, apart from it,
//! the session's own clock ([`Event::at_us`]), which a replay makes virtual: two replays of one
//! recording give the same bytes.

use serde::{Deserialize, Serialize};
use toolwright_kernel::{Cascade, Refusal, StopCause, Verdict};

use crate::ids::{RequestId, ToolUseId, TurnId};

/// The version of this schema. Readers refuse a higher one.
pub const EVENT_VERSION: u32 = 1;

/// One step of one call or turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Logical time: dense in a session, in the order in which the steps took effect.
    pub seq: u64,
    /// Microseconds since the session began, by the session's clock.
    pub at_us: u64,
    /// The turn that it belongs to.
    pub turn: TurnId,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened. `call` is the place of the call in its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// A turn was opened.
    TurnOpened {
        /// The schema version.
        version: u32,
        /// The call that runs this turn on its own behalf.
        parent: Option<ToolUseId>,
        /// The sibling policy.
        cascade: CascadeName,
        /// Most shared calls at once.
        width: u16,
    },
    /// A call took its place in line.
    Accepted {
        /// Its place.
        call: u32,
        /// Its id.
        id: ToolUseId,
        /// The tool it asked for, cut if very long.
        tool: String,
        /// Whether it must run alone.
        exclusive: bool,
        /// Whether it only reads.
        read_only: bool,
    },
    /// A block with an id that the message had already used was left out.
    Duplicate {
        /// The id.
        id: ToolUseId,
    },
    /// The call was admitted: its check, hooks and permission are asked.
    Gated {
        /// Its place.
        call: u32,
    },
    /// A person is asked.
    Asking {
        /// Its place.
        call: u32,
        /// The question.
        request: RequestId,
    },
    /// A question was taken back.
    Withdrawn {
        /// The question.
        request: RequestId,
    },
    /// The call was let through.
    Cleared {
        /// Its place.
        call: u32,
        /// Whether it must run alone, after hooks.
        exclusive: bool,
        /// Whether it only reads, after hooks.
        read_only: bool,
    },
    /// The call will not run.
    Refused {
        /// Its place.
        call: u32,
        /// Why.
        why: RefusalName,
    },
    /// The start record is written.
    Logged {
        /// Its place.
        call: u32,
    },
    /// The tool was started.
    Started {
        /// Its place.
        call: u32,
    },
    /// The tool says what it is doing.
    Progressed {
        /// Its place.
        call: u32,
        /// Its words.
        text: String,
    },
    /// The tool tells the person at the session something that outlasts the call.
    Notified {
        /// Its place.
        call: u32,
        /// Its words.
        text: String,
    },
    /// The call gave its width back, to wait for its own nested calls.
    Lent {
        /// Its place.
        call: u32,
    },
    /// The call has its width back.
    Resumed {
        /// Its place.
        call: u32,
    },
    /// The call was told to stop.
    Stopping {
        /// Its place.
        call: u32,
        /// Why.
        cause: StopName,
        /// The sibling that failed, if that is why.
        culprit: Option<u32>,
    },
    /// The tool ended.
    Returned {
        /// Its place.
        call: u32,
        /// How.
        verdict: VerdictName,
        /// Whether it takes its siblings along where only declared failures do.
        cascades: bool,
    },
    /// The call was told to stop, didn't, and is answered without it. It keeps its lane.
    Overdue {
        /// Its place.
        call: u32,
    },
    /// An overdue call has really ended.
    Gone {
        /// Its place.
        call: u32,
    },
    /// The session's context was changed, or a change was left out.
    ContextChanged {
        /// Its place.
        call: u32,
        /// Why it was left out; absent if it was made.
        ignored: Option<String>,
    },
    /// The result is safe.
    Stored {
        /// Its place.
        call: u32,
        /// Bytes that went to a file instead of the model.
        spilled: Option<u64>,
    },
    /// The result was handed out, in order.
    Emitted {
        /// Its place.
        call: u32,
        /// Its id.
        id: ToolUseId,
        /// How the call ended.
        ended: HowEnded,
        /// Whether the result is an error.
        is_error: bool,
    },
    /// No further call will come.
    Sealed,
    /// Every call was answered.
    TurnFinished {
        /// How many calls the turn had.
        calls: u32,
    },
    /// A stage broke down.
    StageFailed {
        /// Which.
        stage: StageName,
        /// What it said.
        why: String,
        /// Whether it was started again.
        restarted: bool,
    },
    /// A tool has kept its thread without a break.
    Stalled {
        /// Its place.
        call: u32,
        /// For how long, so far, in milliseconds.
        for_ms: u64,
    },
}

impl EventKind {
    /// The call that it is about, if it is about one.
    #[must_use]
    pub fn call(&self) -> Option<u32> {
        match self {
            Self::Accepted { call, .. }
            | Self::Gated { call }
            | Self::Asking { call, .. }
            | Self::Cleared { call, .. }
            | Self::Refused { call, .. }
            | Self::Logged { call }
            | Self::Started { call }
            | Self::Progressed { call, .. }
            | Self::Notified { call, .. }
            | Self::Lent { call }
            | Self::Resumed { call }
            | Self::Stopping { call, .. }
            | Self::Returned { call, .. }
            | Self::Overdue { call }
            | Self::Gone { call }
            | Self::ContextChanged { call, .. }
            | Self::Stored { call, .. }
            | Self::Emitted { call, .. }
            | Self::Stalled { call, .. } => Some(*call),
            Self::TurnOpened { .. }
            | Self::Duplicate { .. }
            | Self::Withdrawn { .. }
            | Self::Sealed
            | Self::TurnFinished { .. }
            | Self::StageFailed { .. } => None,
        }
    }
}

/// How a call ended, as its result tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HowEnded {
    /// The tool succeeded.
    Ok,
    /// The tool failed.
    Error,
    /// The tool panicked.
    Crashed,
    /// The tool was never started: refused.
    Refused,
    /// Stopped before it started.
    StoppedNotStarted,
    /// Stopped after it had started.
    StoppedMayHaveRun,
}

/// A stage of the house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageName {
    /// Orders calls.
    Scheduler,
    /// Runs hooks.
    Hooks,
    /// Decides permission.
    Permissions,
    /// Keeps results.
    Store,
    /// Writes down what a process that resumes the session needs.
    Journal,
    /// The process itself: told by the one that resumes its session.
    Host,
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident of $kernel:ident { $($(#[$vdoc:meta])* $variant:ident = $pattern:pat,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl From<$kernel> for $name {
            fn from(it: $kernel) -> Self {
                match it { $($pattern => Self::$variant,)* }
            }
        }
    };
}

named! {
    /// A sibling policy, by name.
    CascadeName of Cascade {
        /// A failure concerns its call alone.
        Never = Cascade::Never,
        /// A failure that says so stops the siblings.
        Declared = Cascade::Declared,
        /// Any failure stops the siblings.
        Any = Cascade::Any,
    }
}

named! {
    /// A refusal, by name.
    RefusalName of Refusal {
        /// No tool of that name.
        UnknownTool = Refusal::UnknownTool,
        /// The input is wrong.
        InvalidInput = Refusal::InvalidInput,
        /// A hook, a rule or a person said no.
        Denied = Refusal::Denied,
        /// A stage broke down.
        StageFailed = Refusal::StageFailed,
        /// The start record could not be written.
        Unrecorded = Refusal::Unrecorded,
    }
}

named! {
    /// A reason to stop, by name.
    StopName of StopCause {
        /// A sibling failed.
        Sibling = StopCause::Sibling(_),
        /// The user interrupted.
        User = StopCause::User,
        /// The deadline passed.
        Deadline = StopCause::Deadline,
        /// The message is discarded.
        Discarded = StopCause::Discarded,
        /// The session ends.
        Shutdown = StopCause::Shutdown,
        /// The message has too many calls.
        TooManyCalls = StopCause::TooManyCalls,
    }
}

named! {
    /// A tool's verdict, by name.
    VerdictName of Verdict {
        /// It succeeded.
        Ok = Verdict::Good,
        /// It failed.
        Error = Verdict::Bad { .. },
        /// It panicked or vanished.
        Crashed = Verdict::Crashed,
        /// It ended because it was told to.
        Stopped = Verdict::Stopped,
    }
}
