//! Permission modes: what starts without a question where no rule decides.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A mode (Claude Code docs 2.1.240).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Reads within the working directories and commands that only read.
    #[default]
    #[serde(alias = "manual")]
    Default,
    /// Also changes of files within the working directories.
    AcceptEdits,
    /// Reads alone: changes are asked about, whatever rules allow.
    Plan,
    /// As default, and a classifier decides instead of a person.
    Auto,
    /// As default, and what would be asked is denied.
    DontAsk,
    /// Everything but what no mode lets start.
    BypassPermissions,
}

impl Mode {
    /// The name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::Auto => "auto",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no permission mode; use default, acceptEdits, plan, auto, dontAsk or \
     bypassPermissions"
)]
pub struct NoMode(String);

impl FromStr for Mode {
    type Err = NoMode;

    fn from_str(text: &str) -> Result<Self, NoMode> {
        match text {
            "default" | "manual" => Ok(Self::Default),
            "acceptEdits" => Ok(Self::AcceptEdits),
            "plan" => Ok(Self::Plan),
            "auto" => Ok(Self::Auto),
            "dontAsk" => Ok(Self::DontAsk),
            "bypassPermissions" => Ok(Self::BypassPermissions),
            _ => Err(NoMode(text.to_owned())),
        }
    }
}
