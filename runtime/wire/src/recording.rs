//! What a whole recorded file says: its turns, their calls and what was answered.

use std::io::{self, BufRead};

use serde_json::Value;

use crate::detect::{DETECT_BYTES, Detector, Format, UnknownFormat, Verdict};
use crate::entries::{Entries, Origin};
use crate::ledger::Ledger;
use crate::lines::{Line, Lines};
use crate::problem::Problem;
use crate::sse::{SseDecoder, WireEvent};
use crate::tool_use::ToolUse;
use crate::wording::RecordedEnding;

/// Most problems that one recording lists; how many more there were is the last one listed.
pub const MAX_PROBLEMS: usize = 1000;

/// A recorded file.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The format that it is in.
    pub format: Format,
    /// The first session that it names.
    pub session_id: Option<String>,
    /// The first version of Claude Code that it names.
    pub version: Option<String>,
    /// The first working directory that it names.
    pub cwd: Option<String>,
    /// Messages that have calls, or lost one, in the order in which the file first mentions them.
    pub turns: Vec<RecordedTurn>,
    /// What could not be understood, by line.
    pub problems: Vec<Problem>,
    /// How many lines the file has.
    pub lines: usize,
}

/// One assistant message and its calls.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedTurn {
    /// The API's id of the message.
    pub message_id: Option<String>,
    /// Whose message it is.
    pub thread: Thread,
    /// Its calls, in the order of its blocks.
    pub calls: Vec<RecordedCall>,
    /// A block that the stream did not complete was dropped.
    pub truncated: bool,
}

/// Whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Thread {
    /// The session's own.
    Main,
    /// A subagent's.
    Sub {
        /// What tells one subagent from another: the id of the call that started it
        /// (`stream-json`), its agent id (from 2.0), or the `uuid` of its first entry (1.x).
        id: String,
    },
}

/// A call and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// The call.
    pub tool_use: ToolUse,
    /// When its block was written down, in Unix milliseconds.
    pub used_at_ms: Option<i64>,
    /// Its answer; `None` if the recording ends, or its session was killed, before it.
    pub result: Option<RecordedResult>,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedResult {
    /// When it was written down, in Unix milliseconds.
    pub at_ms: Option<i64>,
    /// The content as recorded: a string, a list of blocks, or null.
    pub content: Value,
    /// Whether it is an error, also where the recording leaves the flag out.
    pub is_error: bool,
    /// What became of the call, as far as the recording tells.
    pub ending: RecordedEnding,
    /// The tool's structured output, or the text of its error.
    pub structured: Option<Value>,
}

impl RecordedCall {
    /// Milliseconds from the call to its result, prompts and queues included. 0 where the result
    /// is stamped before its call, which happens.
    pub fn duration_ms(&self) -> Option<u64> {
        let ended = self.result.as_ref()?.at_ms?;
        Some(u64::try_from(ended.saturating_sub(self.used_at_ms?)).unwrap_or(0))
    }
}

/// Reads a recorded file, line by line; what is kept is the calls, the results and the problems.
///
/// The format is told from the first lines. A file without any is an empty transcript, which
/// Claude Code leaves behind for sessions in which nothing was said.
///
/// # Errors
/// [`UnknownFormat`] inside an error of kind `InvalidData` if the file is in no format that is
/// understood, and any error of the reader. What is wrong inside the file is no error but a
/// [`Problem`].
pub fn read_recording(bytes: impl BufRead) -> io::Result<Recording> {
    let mut lines = Lines::new(bytes);
    let (format, held) = detect(&mut lines)?;
    match format {
        Format::AnthropicSse => read_stream(&held, lines.into_source()),
        Format::Transcript | Format::StreamJson => read_entries(format, &held, lines),
    }
}

/// A line; `None` for one that is too long.
type HeldLine = Option<Vec<u8>>;

/// Reads lines until one tells the format; gives back those that were read.
fn detect(lines: &mut Lines<impl BufRead>) -> io::Result<(Format, Vec<HeldLine>)> {
    let mut detector = Detector::default();
    let (mut held, mut held_bytes, mut blank) = (Vec::new(), 0, true);
    while let Some(line) = lines.next()? {
        let (verdict, line) = match line {
            Line::Whole(line) => (detector.line(line), Some(line.to_vec())),
            Line::TooLong => (Verdict::Unsure, None),
        };
        held_bytes += line.as_ref().map_or(0, Vec::len) + 1;
        blank &= line.as_ref().is_some_and(|line| line.trim_ascii().is_empty());
        held.push(line);
        match verdict {
            Verdict::Is(format) => return Ok((format, held)),
            Verdict::Unsure if held_bytes <= DETECT_BYTES => {}
            Verdict::Unsure | Verdict::Unknown => return Err(unknown()),
        }
    }
    if blank { Ok((Format::Transcript, held)) } else { Err(unknown()) }
}

fn unknown() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, UnknownFormat)
}

fn read_entries(
    format: Format,
    held: &[HeldLine],
    mut lines: Lines<impl BufRead>,
) -> io::Result<Recording> {
    let mut entries = Entries::default();
    for (at, line) in held.iter().enumerate() {
        entries.line(line.as_deref(), at + 1);
    }
    while let Some((number, line)) = lines.next_numbered()? {
        match line {
            Line::Whole(line) => entries.line(Some(line), number),
            Line::TooLong => entries.line(None, number),
        }
    }
    let lines = lines.count();
    let (Origin { session_id, version, cwd }, ledger) = entries.finish(lines);
    let (turns, problems) = ledger.finish();
    Ok(Recording { format, session_id, version, cwd, turns, problems, lines })
}

/// Reads a recorded body of the Messages API. It has calls only.
fn read_stream(held: &[HeldLine], mut source: impl BufRead) -> io::Result<Recording> {
    let mut decoder = SseDecoder::new();
    let mut turns = StreamTurns::default();
    let mut events = Vec::new();
    for line in held {
        match line {
            Some(line) => decoder.push(line, &mut events),
            None => decoder.lose_line(&mut events),
        }
    }
    loop {
        let bytes = match source.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            filled => filled?,
        };
        if bytes.is_empty() {
            break;
        }
        decoder.push(bytes, &mut events);
        let used = bytes.len();
        source.consume(used);
        turns.take(&mut events);
    }
    let lines = decoder.finish_counted(&mut events);
    turns.take(&mut events);
    let (turns, problems) = turns.ledger.finish();
    let format = Format::AnthropicSse;
    Ok(Recording { format, session_id: None, version: None, cwd: None, turns, problems, lines })
}

/// Turns of a stream: each message is one, even if it repeats an id of another cassette.
#[derive(Default)]
struct StreamTurns {
    ledger: Ledger,
    turn: Option<usize>,
}

impl StreamTurns {
    fn take(&mut self, events: &mut Vec<WireEvent>) {
        for event in events.drain(..) {
            match event {
                WireEvent::MessageStarted { id } => {
                    let turn = self.ledger.turn(None, || Thread::Main);
                    self.ledger.turn_mut(turn).message_id = id;
                    self.turn = Some(turn);
                }
                WireEvent::ToolUse(tool_use) => {
                    if let Some(turn) = self.turn {
                        let call = RecordedCall { tool_use, used_at_ms: None, result: None };
                        self.ledger.keep(turn, call);
                    }
                }
                WireEvent::MessageEnded { .. } => self.turn = None,
                WireEvent::Problem(Problem { line, kind }) => {
                    if let (Some(turn), true) = (self.turn, kind.drops_a_block()) {
                        self.ledger.turn_mut(turn).truncated = true;
                    }
                    self.ledger.problem(line, kind);
                }
            }
        }
    }
}
