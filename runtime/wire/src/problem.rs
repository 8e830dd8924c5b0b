//! What a decoder could not understand, where, and what it did about it.

use std::fmt;

use crate::lines::MAX_LINE_BYTES;

/// Something in a stream that is not as it should be. The rest of the stream was still read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file or stream, from 1: of an event, the line where its data begins; of what
    /// is missing at the end, the last line.
    pub line: usize,
    /// What is wrong.
    pub kind: ProblemKind,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.kind)
    }
}

/// What is wrong; the text says what was done about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// A line past [`MAX_LINE_BYTES`].
    #[error("the line is longer than {MAX_LINE_BYTES} bytes: skipped")]
    LineTooLong,
    /// Bytes that are not UTF-8.
    #[error("not UTF-8: skipped; check the file's encoding")]
    NotUtf8,
    /// A line of a recording that is not a JSON entry.
    #[error("not an entry ({error}): skipped")]
    UnreadableLine {
        /// What the parser says.
        error: String,
    },
    /// The last line stops in the middle, as when the writer was killed.
    #[error("the file ends inside this line: dropped")]
    CutLine,
    /// An event that can't be read; blocks open at the time can't be trusted.
    #[error("unreadable event ({error}): skipped, and the blocks that were open will not run")]
    UnreadableEvent {
        /// What the parser says.
        error: String,
    },
    /// The stream ended without any message.
    #[error("no message in the stream: it must be the body of a streamed Messages response")]
    NoMessage,
    /// The stream ended inside a message.
    #[error("the stream ended before message_stop: complete calls are kept, send the rest again")]
    StreamCut,
    /// A message started inside another one.
    #[error("a message started before the previous one ended: that one was ended here")]
    MessageNotEnded,
    /// A block outside of a message.
    #[error("a content block without a message_start: taken as a message without an id")]
    OutsideMessage,
    /// The stream's own `error` event.
    #[error("the API reported {kind} ({message}): complete calls are kept, send the rest again")]
    StreamError {
        /// Such as `overloaded_error`.
        kind: String,
        /// The API's words.
        message: String,
    },
    /// A block started on an index whose block had not stopped.
    #[error("block {index} started again before its stop: neither of the two will run")]
    BlockStartedTwice {
        /// The block's index in its message.
        index: u64,
    },
    /// An index was left out or came back; the block itself may be complete.
    #[error("block {index} came where {expected} was due: kept, as a block can be complete alone")]
    BlockOutOfOrder {
        /// The index that came.
        index: u64,
        /// The index that was due.
        expected: u64,
    },
    /// A delta for a block that never started.
    #[error("input for block {index}, which did not start: the blocks that are open will not run")]
    DeltaWithoutStart {
        /// The block's index in its message.
        index: u64,
    },
    /// A delta for a block that has stopped.
    #[error("input for block {index} after its stop: the blocks that are open will not run")]
    DeltaAfterStop {
        /// The block's index in its message.
        index: u64,
    },
    /// A stop for a block that is not open.
    #[error("stop of block {index}, which is not open: ignored")]
    StopWithoutStart {
        /// The block's index in its message.
        index: u64,
    },
    /// A `tool_use` that the stream never completed.
    #[error("the stream ended inside tool_use {id} (block {index}): dropped, it will not run")]
    UnfinishedBlock {
        /// The block's index in its message.
        index: u64,
        /// The call's id.
        id: String,
    },
    /// A `tool_use` that can't be answered, having no usable id.
    #[error("a tool_use with an empty or oversized id can't be answered: dropped")]
    UnusableId,
    /// Too many blocks open at once.
    #[error("more than {limit} blocks are open at once: this one was dropped")]
    TooManyOpenBlocks {
        /// The bound.
        limit: usize,
    },
    /// Two different `tool_use` blocks with one id in one message.
    #[error("tool_use id {id} came twice in one message: the first counts, this one will not run")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// A later message uses an id again for another call.
    #[error("tool_use id {id} was used before: both calls are kept, results pair in file order")]
    ReusedId {
        /// The id.
        id: String,
    },
    /// A result without a call.
    #[error("a tool_result for {}, which nothing called: left out", named(id))]
    OrphanResult {
        /// The id that it names; empty where it names none.
        id: String,
    },
    /// A second, different result for one call.
    #[error("another tool_result for {id}: the first counts")]
    DuplicateResult {
        /// The call's id.
        id: String,
    },
    /// More problems than are listed.
    #[error("{count} more problems are not listed")]
    Omitted {
        /// How many.
        count: usize,
    },
}

fn named(id: &str) -> &str {
    if id.is_empty() { "no id" } else { id }
}

/// Longest text, in bytes, that a problem quotes of what it is about.
const MAX_DETAIL_BYTES: usize = 256;

/// What an error or a stream says, cut to [`MAX_DETAIL_BYTES`]: parsers quote whole values.
pub(crate) fn shortened(text: impl fmt::Display) -> String {
    let mut text = text.to_string();
    if text.len() > MAX_DETAIL_BYTES {
        text.truncate(text.floor_char_boundary(MAX_DETAIL_BYTES));
        text.push('…');
    }
    text
}

impl ProblemKind {
    /// Whether a `tool_use` that had begun was dropped.
    pub(crate) fn drops_a_block(&self) -> bool {
        matches!(self, Self::UnfinishedBlock { .. } | Self::BlockStartedTwice { .. })
    }
}
