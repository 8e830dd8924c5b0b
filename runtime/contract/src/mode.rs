//! Permission modes: how much of a session starts without a question.

use serde::{Deserialize, Serialize};

/// A permission mode, under the names of settings files (Claude Code docs 2.1.240).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Reading starts; a person is asked about the rest.
    #[default]
    #[serde(alias = "manual")]
    Default,
    /// Edits in the session's directories start too.
    AcceptEdits,
    /// A plan is made: sources stay as they are.
    Plan,
    /// A classifier decides instead of a person.
    Auto,
    /// Nobody is asked: what would be asked about is denied.
    DontAsk,
    /// Everything starts but what no mode lets through.
    BypassPermissions,
}
