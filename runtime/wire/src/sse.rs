//! A live Anthropic Messages stream: bytes in any chunking become wire events.

use crate::assembly::{Assembler, Sink};
use crate::frames::{Frame, Frames};
use crate::problem::{Problem, ProblemKind};
use crate::tool_use::ToolUse;

/// What a stream says, as soon as it has said it.
#[derive(Debug, Clone, PartialEq)]
pub enum WireEvent {
    /// A message begins.
    MessageStarted {
        /// The API's id of it.
        id: Option<String>,
    },
    /// A call is complete: its `content_block_stop` came. It may start.
    ToolUse(ToolUse),
    /// The message is over, by its `message_stop` or because a [`Problem`] just told why.
    MessageEnded {
        /// Such as `tool_use` or `max_tokens`. Alone it makes no call runnable.
        stop_reason: Option<String>,
    },
    /// Something is not as it should be.
    Problem(Problem),
}

/// Decoder of the body of a streamed Messages response (platform documentation, August 2026).
///
/// Bytes may come in any chunking, down to one byte; the events are the same for each. A body may
/// hold several messages. Server tools, MCP calls that the API makes itself and their results are
/// not the client's to run and are not yielded.
///
/// # Memory
/// Bounded by one event ([`MAX_LINE_BYTES`](crate::MAX_LINE_BYTES)), the input of the blocks that
/// are open ([`MAX_INPUT_BYTES`](crate::MAX_INPUT_BYTES) together) and the ids of one message.
///
/// # Cancellation
/// Nothing is pending between two pushes. Dropping the decoder drops the incomplete block.
///
/// ```
/// use toolwright_wire::{SseDecoder, WireEvent};
///
/// let mut decoder = SseDecoder::new();
/// let mut events = Vec::new();
/// decoder.push(b"data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\"}}\n\n", &mut events);
/// decoder.push(b"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":", &mut events);
/// decoder.push(b"{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{}}}\n\n", &mut events);
/// decoder.push(b"data: {\"type\":\"content_block_stop\",\"index\":0}\n\n", &mut events);
/// assert!(matches!(&events[1], WireEvent::ToolUse(call) if call.name == "Bash"));
/// ```
#[derive(Debug, Default)]
pub struct SseDecoder {
    frames: Frames,
    assembler: Assembler,
}

impl SseDecoder {
    /// A decoder at the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the stream and appends what they complete to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<WireEvent>) {
        let Self { frames, assembler } = self;
        frames.push(bytes, &mut |frame| take(assembler, &frame, out));
    }

    /// The stream is over, by its end or by an error of the connection: appends to `out` what its
    /// last bytes complete and what is missing. The decoder is then ready for another stream.
    pub fn finish(&mut self, out: &mut Vec<WireEvent>) {
        self.finish_counted(out);
    }

    /// Takes a whole line that is past the bound and gone.
    pub(crate) fn lose_line(&mut self, out: &mut Vec<WireEvent>) {
        let Self { frames, assembler } = self;
        frames.lose_line(&mut |frame| take(assembler, &frame, out));
    }

    /// Finishes and tells how many lines the stream had.
    pub(crate) fn finish_counted(&mut self, out: &mut Vec<WireEvent>) -> usize {
        let Self { frames, assembler } = self;
        frames.finish(&mut |frame| take(assembler, &frame, out));
        let lines = frames.lines();
        assembler.finish(&mut Sink { line: lines, out });
        if !assembler.has_begun() {
            out.push(WireEvent::Problem(Problem { line: lines, kind: ProblemKind::NoMessage }));
        }
        *self = Self::default();
        lines
    }
}

fn take(assembler: &mut Assembler, frame: &Frame<'_>, out: &mut Vec<WireEvent>) {
    let (name, data, line) = match *frame {
        Frame::Event { name, data, line } => (name, data, line),
        Frame::TooLong { line } => {
            return assembler.lose(ProblemKind::LineTooLong, &mut Sink { line, out });
        }
    };
    let Ok(data) = std::str::from_utf8(data) else {
        return assembler.lose(ProblemKind::NotUtf8, &mut Sink { line, out });
    };
    let name = std::str::from_utf8(name).unwrap_or("");
    // Captures often lack the blank lines between events, so that several come as one.
    if data.contains('\n') && serde_json::from_str::<serde::de::IgnoredAny>(data).is_err() {
        for (offset, line_data) in data.split('\n').enumerate() {
            assembler.event(line_data, "", &mut Sink { line: line + offset, out });
        }
    } else {
        assembler.event(data, name, &mut Sink { line, out });
    }
}
