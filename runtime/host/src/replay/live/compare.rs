//! What a real tool answered, beside what was recorded.

use serde::Serialize;
use toolwright_contract::{ToolResult, ToolUseId};

use super::mapping::PathMap;

/// A call that a real tool ran, or that was refused in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// The id of the call.
    pub id: ToolUseId,
    /// The tool.
    pub tool: String,
    /// Whether the two say the same, once paths are mapped back, and both or none is an error.
    pub same: bool,
    /// Whether the recorded result is an error; nothing if none was recorded.
    pub recorded_is_error: Option<bool>,
    /// Whether the new one is.
    pub new_is_error: bool,
    /// The first line of the recorded result that the new one doesn't have.
    #[serde(skip)]
    pub recorded_line: String,
    /// The line that the new one has in its place.
    #[serde(skip)]
    pub new_line: String,
}

/// What a real tool should answer.
pub(in crate::replay) struct Expected {
    pub(super) id: ToolUseId,
    pub(super) tool: String,
    /// The recorded text and whether it is an error, if anything was recorded.
    pub(super) recorded: Option<(String, bool)>,
}

impl Expected {
    pub(super) fn against(self, new: &ToolResult, paths: &PathMap) -> Compared {
        let Self { id, tool, recorded } = self;
        let said = paths.back(&new.content.text());
        let (expected, recorded_is_error) = match recorded {
            Some((text, is_error)) => (Some(text), Some(is_error)),
            None => (None, None),
        };
        let same = expected.as_ref() == Some(&said) && recorded_is_error == Some(new.is_error);
        let expected = expected.unwrap_or_default();
        let at = expected.lines().zip(said.lines()).take_while(|(one, other)| one == other).count();
        let line = |text: &str| text.lines().nth(at).unwrap_or_default().to_owned();
        Compared {
            id,
            tool,
            same,
            recorded_is_error,
            new_is_error: new.is_error,
            recorded_line: line(&expected),
            new_line: line(&said),
        }
    }
}
