//! Identities: what a call, a turn and a question are called.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The id of a `tool_use` block, opaque (`toolu_…`, `call_…`, anything). Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ToolUseId(Arc<str>);

impl ToolUseId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ToolUseId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

impl From<String> for ToolUseId {
    fn from(id: String) -> Self {
        Self(id.into())
    }
}

impl From<ToolUseId> for String {
    fn from(id: ToolUseId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for ToolUseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of a turn in its session, in the order of opening.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct TurnId(pub u32);

/// The number of a question to a person, unique in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);
