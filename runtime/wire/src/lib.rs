//! Decoders: bytes of a recorded or live stream become complete `tool_use` blocks.
//!
//! Two doors. [`SseDecoder`] takes the bytes of a live Anthropic Messages stream in any chunking
//! and yields each `tool_use` when its block ends. [`read_recording`] reads a whole file (that
//! stream, a Claude Code transcript, or `stream-json` output) and pairs calls with their results.
//!
//! What holds for both: a block that is not complete is never yielded, input that is not JSON is
//! [`Input::Malformed`] and can't run, nothing panics on any bytes, and what could not be
//! understood is a [`Problem`] with its line while the rest goes on.

mod assembly;
mod detect;
mod entries;
mod fields;
mod frames;
mod ledger;
mod lines;
mod problem;
mod recording;
mod sse;
mod tool_use;
mod wording;

#[cfg(test)]
mod tests;

pub use detect::{Format, UnknownFormat};
pub use lines::MAX_LINE_BYTES;
pub use problem::{Problem, ProblemKind};
pub use recording::{
    MAX_PROBLEMS, RecordedCall, RecordedResult, RecordedTurn, Recording, Thread, read_recording,
};
pub use sse::{SseDecoder, WireEvent};
pub use tool_use::{Input, MAX_INPUT_BYTES, MAX_INPUT_DEPTH, MAX_RAW_BYTES, ToolUse};
pub use wording::RecordedEnding;
