//! Identities: what a call, a turn, a question, a session and an agent are called.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.as_ref().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// The id of a `tool_use` block, opaque (`toolu_…`, `call_…`, anything). Cheap to clone.
    ToolUseId
}

text_id! {
    /// The id of a session. Cheap to clone.
    SessionId
}

text_id! {
    /// The id of a subagent. Cheap to clone.
    AgentId
}

impl Default for SessionId {
    /// That of a session whose embedder gives it none: many may have it.
    fn default() -> Self {
        Self::from("session")
    }
}

/// Whose calls they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The session.
    pub session: SessionId,
    /// The subagent that the session belongs to, if it is one's.
    pub agent: Option<AgentId>,
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
