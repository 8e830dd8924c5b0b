//! The records of a journal: the events, and what they leave out.
//!
//! An event says what happened and when; a journal also has to hold what a resumed session needs
//! and what a replay reads: inputs, results, who the process was. Each record is a kind, flags and
//! JSON. A kind that a reader doesn't know is passed over only if its flags say that it may be;
//! fields that it doesn't know are.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_contract::{Content, Event, HowEnded, RawInput, ToolResult, ToolUseId, TurnId};

use crate::frame::RawRecord;

/// The flag of a record that a reader may pass over if it doesn't know its kind.
pub const SKIPPABLE: u16 = 1;

/// Kinds, as they stand in a file. A number is never used again.
pub(crate) mod kind {
    pub(crate) const OPENED: u16 = 1;
    pub(crate) const EVENT: u16 = 2;
    pub(crate) const CALL: u16 = 3;
    pub(crate) const START: u16 = 4;
    pub(crate) const RESULT: u16 = 5;
    pub(crate) const TASK: u16 = 6;
    pub(crate) const MODE: u16 = 7;
}

/// The name of a kind, for people.
#[must_use]
pub fn kind_name(kind: u16) -> &'static str {
    match kind {
        kind::OPENED => "opened",
        kind::EVENT => "event",
        kind::CALL => "call",
        kind::START => "start",
        kind::RESULT => "result",
        kind::TASK => "task",
        kind::MODE => "mode",
        _ => "unknown",
    }
}

/// Where a call is. Turns are counted from 0 by each run of the host.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default,
)]
pub struct CallAt {
    /// The run: 1 for the first process that opened the journal.
    pub run: u32,
    /// The turn in that run.
    pub turn: TurnId,
    /// The place in that turn.
    pub call: u32,
}

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A process opened the journal.
    Opened(Opened),
    /// A step of a call or turn.
    Event {
        /// The run whose step it is: that of an earlier process, where a recovery ends its turn.
        run: u32,
        /// The step.
        event: Event,
    },
    /// A `tool_use` came in.
    Call(CallCame),
    /// A call may be started from now on.
    Start(Starting),
    /// A call has its result, which may now be handed out.
    Result(Kept),
    /// Something runs in the background, or has ended there.
    Task(Task),
    /// The permission mode was changed.
    Mode(Mode),
}

/// A process opened the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Its run. The writer fills it in.
    #[serde(default)]
    pub run: u32,
    /// Wall time, in milliseconds since 1970.
    pub at_ms: u64,
    /// The version of the event schema that it writes.
    pub event_version: u32,
    /// The process, so that what it left running can be told from its successors.
    pub process: Option<Process>,
    /// The working directory.
    pub cwd: Option<String>,
}

/// A process, told from a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it was started, in the kernel's own count (Linux: clock ticks since boot).
    pub started: u64,
}

/// A `tool_use` came in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallCame {
    /// Where.
    pub at: CallAt,
    /// Its id.
    pub id: ToolUseId,
    /// The tool that it asks for.
    pub tool: String,
    /// Its input as the model gave it.
    pub input: Input,
    /// The call of an earlier run that it carries on: that one is answered by this one's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carries_on: Option<CallAt>,
}

/// An input as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// JSON.
    Json(Value),
    /// Text that isn't JSON.
    Malformed {
        /// The text.
        raw: String,
        /// What the parser said.
        error: String,
    },
}

impl From<RawInput> for Input {
    fn from(input: RawInput) -> Self {
        match input {
            RawInput::Json(value) => Self::Json(value),
            RawInput::Malformed { raw, error } => Self::Malformed { raw, error },
        }
    }
}

impl From<Input> for RawInput {
    fn from(input: Input) -> Self {
        match input {
            Input::Json(value) => Self::Json(value),
            Input::Malformed { raw, error } => Self::Malformed { raw, error },
        }
    }
}

/// A call may be started from now on: written before it is, and only for a call that isn't
/// read-only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Starting {
    /// Where.
    pub at: CallAt,
    /// Its id.
    pub id: ToolUseId,
    /// The tool.
    pub tool: String,
    /// The input that it runs with, where hooks or a person have changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Whether the tool declares that running it twice is running it once.
    #[serde(default)]
    pub idempotent: bool,
}

/// A result as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Whose.
    pub at: CallAt,
    /// Its id.
    pub id: ToolUseId,
    /// How the call ended.
    pub ended: HowEnded,
    /// Whether it is an error.
    pub is_error: bool,
    /// The `content` of the `tool_result` block.
    pub content: Value,
    /// The output for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// The file that has the whole output, if the content is a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<KeptFile>,
    /// Text that follows the results of the turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A file of the result store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// Its name in the session's folder of results.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

impl Kept {
    /// The result of a call.
    #[must_use]
    pub fn of(at: CallAt, result: &ToolResult, ended: HowEnded) -> Self {
        Self {
            at,
            id: result.id.clone(),
            ended,
            is_error: result.is_error,
            content: result.content.to_json(),
            structured: None,
            file: None,
            notes: Vec::new(),
        }
    }

    /// The result to hand out.
    #[must_use]
    pub fn result(&self) -> ToolResult {
        let content = match &self.content {
            Value::String(text) => Content::Text(text.clone()),
            Value::Array(blocks) => Content::Blocks(blocks.clone()),
            // No other shape is written.
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                Content::Text(self.content.to_string())
            }
        };
        ToolResult { id: self.id.clone(), content, is_error: self.is_error }
    }
}

/// Something runs in the background, or has ended there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its name, unique in the session.
    pub task: String,
    /// The call that started it.
    pub at: CallAt,
    /// How it is.
    pub state: TaskState,
}

/// How a background task is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It runs, as this process where it is one.
    Running(Option<Process>),
    /// It has ended, in these words.
    Ended(String),
}

/// The permission mode was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mode {
    /// The mode from now on.
    pub mode: String,
}

#[derive(Serialize, Deserialize)]
struct EventOfRun<E> {
    run: u32,
    #[serde(flatten)]
    event: E,
}

/// Why a record can't be read.
#[derive(Debug, thiserror::Error)]
pub enum BadRecord {
    /// A kind that this release doesn't know and may not pass over.
    #[error("record {0} is of kind {1}, which may not be passed over: use a newer Toolwright")]
    UnknownKind(u64, u16),
    /// The payload is not what its kind says.
    #[error("record {0} does not parse ({1}): it was written by another program or release")]
    Payload(u64, serde_json::Error),
    /// A record speaks of what was not recorded before.
    #[error("record {0} does not follow from those before it: {1}")]
    OutOfPlace(u64, &'static str),
}

impl Record {
    /// Its kind, flags and payload.
    ///
    /// # Errors
    ///
    /// What the serializer says.
    pub fn encode(&self) -> Result<(u16, u16, Vec<u8>), serde_json::Error> {
        Ok(match self {
            Self::Opened(it) => (kind::OPENED, 0, serde_json::to_vec(it)?),
            Self::Event { run, event } => {
                (kind::EVENT, 0, serde_json::to_vec(&EventOfRun { run: *run, event })?)
            }
            Self::Call(it) => (kind::CALL, 0, serde_json::to_vec(it)?),
            Self::Start(it) => (kind::START, 0, serde_json::to_vec(it)?),
            Self::Result(it) => (kind::RESULT, 0, serde_json::to_vec(it)?),
            Self::Task(it) => (kind::TASK, 0, serde_json::to_vec(it)?),
            Self::Mode(it) => (kind::MODE, SKIPPABLE, serde_json::to_vec(it)?),
        })
    }

    /// Reads a record; none if it may be passed over. `number` is for the error.
    ///
    /// # Errors
    ///
    /// [`BadRecord`].
    pub fn decode(raw: RawRecord<'_>, number: u64) -> Result<Option<Self>, BadRecord> {
        fn parse<'a, T: Deserialize<'a>>(raw: RawRecord<'a>, number: u64) -> Result<T, BadRecord> {
            serde_json::from_slice(raw.payload).map_err(|it| BadRecord::Payload(number, it))
        }
        Ok(Some(match raw.kind {
            kind::OPENED => Self::Opened(parse(raw, number)?),
            kind::EVENT => {
                let EventOfRun { run, event } = parse(raw, number)?;
                Self::Event { run, event }
            }
            kind::CALL => Self::Call(parse(raw, number)?),
            kind::START => Self::Start(parse(raw, number)?),
            kind::RESULT => Self::Result(parse(raw, number)?),
            kind::TASK => Self::Task(parse(raw, number)?),
            kind::MODE => Self::Mode(parse(raw, number)?),
            _ if raw.flags & SKIPPABLE != 0 => return Ok(None),
            unknown => return Err(BadRecord::UnknownKind(number, unknown)),
        }))
    }
}
