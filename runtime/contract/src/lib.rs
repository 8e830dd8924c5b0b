//! What a tool is, the papers that a call carries, and the event schema.
//!
//! This crate is what a tool author and the reader of a history depend on. It knows no actor.
//!
//! ```
//! use toolwright_contract::{Card, Footprint, RunCx, Output, Safety, Tool, ToolError};
//!
//! /// Says back what it was told.
//! struct Echo;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Said {
//!     text: String,
//! }
//!
//! impl Tool for Echo {
//!     type Input = Said;
//!     type Output = String;
//!
//!     fn card(&self) -> Card {
//!         Card::new("Echo", "Says back what it was told.")
//!     }
//!     fn safety(&self, _: &Said) -> Safety {
//!         Safety::read_only()
//!     }
//!     async fn run(&self, said: Said, _: RunCx) -> Result<Output<String>, ToolError> {
//!         Ok(said.text.into())
//!     }
//! }
//! ```

mod app_state;
mod card;
mod conduct;
mod content;
mod cx;
mod erased;
mod event;
mod family;
pub mod history;
mod ids;
mod mcp;
mod mode;
mod papers;
mod pool;
pub mod present;
mod reads;
mod registry;
mod schema;
mod small;
mod tool;
mod tool_list;
mod unseen;
pub mod wording;

pub use app_state::AppState;
pub use card::{Card, Loading, Origin, ResultLimit};
pub use conduct::{Conduct, Look, Permission};
pub use content::Content;
pub use cx::{CheckCx, ContextChange, Nest, RunCx, SessionContext, Stop};
pub use erased::AnyTool;
pub use event::{
    CascadeName, EVENT_VERSION, Event, EventKind, HowEnded, RefusalName, StageName, StopName,
    VerdictName,
};
pub use family::Family;
pub use ids::{AgentId, Identity, RequestId, SessionId, ToolUseId, TurnId};
pub use mcp::{MOST_RESULT_CHARS, mcp_name};
pub use mode::PermissionMode;
pub use papers::{
    Cleared, Outcome, OutcomeKind, Permit, RawInput, Screened, Screening, ToolResult, ToolUse,
};
pub use pool::{Gates, Pool};
pub use reads::{Digest, Reads, SeenFile, View};
pub use registry::{NameTaken, Registry, Unregistrable};
pub use schema::{
    ACCEPTED_NAME_CHARS, BadName, BadSchema, EMITTED_NAME_CHARS, SCHEMA_BYTES, Unpublishable,
    check_name, schema_of,
};
pub use small::{ToolDraft, tool};
pub use tool::{InvalidInput, Output, Tool, ToolError};
pub use tool_list::{Deferral, Drift, MOST_TOOLS, OUTSIDE_DESCRIPTION_CHARS, ToolList};
pub use toolwright_kernel::{
    CallIx, Cascade, Effects, Ending, Footprint, OnInterrupt, Progress, Refusal, Returned, Safety,
    StopCause, Verdict,
};
pub use unseen::Unseen;
