//! The assembled runtime: sessions, replay and the command line.

pub mod cli;
mod journaled;
pub mod pipe;
pub mod replay;
mod resume;
mod runtime;
mod session_builder;
mod session_log;
pub mod settings;
mod stream;

pub use resume::{Resumed, ResumedTurn};
pub use runtime::{Runtime, RuntimeBuilder};
pub use session_builder::{SessionBuilder, SetupError};
pub use stream::{StreamBroke, StreamedTurn, Told, call_of};
pub use toolwright_actors::{
    AfterAnswer, AfterCall, Answer, Ask, BeforeAnswer, BeforeCall, Came, Earlier, Given, HandOut,
    Hook, HookDecision, KeptResult, Lasting, Left, Matcher, Names, Otherwise, Policy, Question,
    RealLinks, RuleKeeper, Rules, Session, SessionClosed, SessionLog, StartAck, StartRecord,
    Stopper, SubmitError, TurnHandle, TurnResults,
};
pub use toolwright_contract as contract;
pub use toolwright_contract::{
    AgentId, AnyTool, AppState, Card, Cascade, CheckCx, Conduct, Content, ContextChange, Deferral,
    Drift, Effects, Event, EventKind, Footprint, Gates, HowEnded, Identity, InvalidInput,
    OnInterrupt, Output, Permission, PermissionMode, Pool, RawInput, Registry, RequestId,
    ResultLimit, RunCx, Safety, SessionContext, SessionId, Stop, StopCause, Tool, ToolError,
    ToolList, ToolResult, ToolUse, ToolUseId, TurnId, Unregistrable, tool,
};
pub use toolwright_journal as journal;
pub use toolwright_permissions as permissions;
#[cfg(unix)]
pub use toolwright_tools::Processes;
#[cfg(feature = "files")]
pub use toolwright_tools::{
    Checkpoint, Checkpoints, FileListener, FileOptions, LineNumbers, NotRewound, ReadFirst,
};
pub use toolwright_tools::{
    SIMPLE as SIMPLE_TOOLS, all as built_in_tools, all_with as built_in_tools_with,
};
#[cfg(target_os = "linux")]
pub use toolwright_tools::{Warden, serve_as_warden};
pub use toolwright_wire as wire;

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
