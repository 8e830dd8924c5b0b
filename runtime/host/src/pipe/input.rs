//! What comes in through the pipe: lines of JSON, or a stream of the Messages API.

use std::collections::VecDeque;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use toolwright_contract::{RawInput, RequestId, ToolUse};
use toolwright_permissions::{Mode, Suggestion};
use toolwright_wire::{MAX_LINE_BYTES, SseDecoder, WireEvent};

use crate::{Answer, Lasting as Keep, call_of};

/// Longest id of a call, in bytes, as decoders of recordings have it; real ones stay under 64.
const MAX_ID_BYTES: usize = 1_024;

/// How much blank input may come before the first line that tells what it is, in bytes.
const DETECT_BYTES: usize = 64 << 10;

/// How lines of an event stream begin.
const STREAM_LINES: [&[u8]; 5] = [b"event:", b"data:", b"id:", b"retry:", b":"];

/// One thing that came in.
#[derive(Debug, PartialEq)]
pub(super) enum Fed {
    /// A call is complete. The line is where it was read, from 1; a stream doesn't tell it.
    Call { line: Option<usize>, call: ToolUse },
    /// The message has no further call.
    End,
    /// Somebody has decided.
    Answer(RequestId, Answer),
    /// Something could not be understood; the rest goes on.
    Fault { line: usize, what: String },
}

/// Takes bytes in any chunking.
#[derive(Default)]
pub(super) struct Decoder {
    state: State,
}

#[derive(Default)]
enum State {
    /// Nothing has told yet which of the two it is.
    #[default]
    Unknown,
    Held(Vec<u8>),
    Lines(Lines),
    Stream(Box<SseDecoder>),
}

impl Decoder {
    /// Takes the next bytes, and appends what they complete.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut VecDeque<Fed>) {
        let held = match std::mem::take(&mut self.state) {
            State::Unknown => bytes.to_vec(),
            State::Held(mut held) => {
                held.extend_from_slice(bytes);
                held
            }
            State::Lines(mut lines) => {
                lines.push(bytes, out);
                self.state = State::Lines(lines);
                return;
            }
            State::Stream(mut stream) => {
                from_stream(|events| stream.push(bytes, events), out);
                self.state = State::Stream(stream);
                return;
            }
        };
        self.state = match is_stream(&held) {
            None => {
                self.state = State::Held(held);
                return;
            }
            Some(true) => State::Stream(Box::default()),
            Some(false) => State::Lines(Lines::default()),
        };
        self.push(&held, out);
    }

    /// Takes the end of the input, which ends the last message too.
    pub(super) fn finish(&mut self, out: &mut VecDeque<Fed>) {
        match std::mem::take(&mut self.state) {
            State::Unknown => {}
            State::Held(held) => {
                let mut lines = Lines::default();
                lines.push(&held, out);
                lines.finish(out);
            }
            State::Lines(mut lines) => lines.finish(out),
            State::Stream(mut stream) => from_stream(|events| stream.finish(events), out),
        }
        out.push_back(Fed::End);
    }

    /// Whether an answer to a question can come this way.
    pub(super) fn takes_answers(&self) -> bool {
        !matches!(self.state, State::Stream(_))
    }
}

/// Whether it is an event stream, once enough of it is there to tell.
fn is_stream(head: &[u8]) -> Option<bool> {
    let is_long = head.len() > DETECT_BYTES;
    let head = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    if STREAM_LINES.iter().any(|it| head.starts_with(it)) {
        return Some(true);
    }
    let may_be = STREAM_LINES.iter().any(|it| it.starts_with(head));
    (is_long || !(may_be || BOM.starts_with(head))).then_some(false)
}

/// What some editors put at the head of a text.
const BOM: &[u8] = b"\xef\xbb\xbf";

fn from_stream(decode: impl FnOnce(&mut Vec<WireEvent>), out: &mut VecDeque<Fed>) {
    let mut events = Vec::new();
    decode(&mut events);
    out.extend(events.into_iter().filter_map(|event| match event {
        WireEvent::MessageStarted { .. } => None,
        WireEvent::ToolUse(call) => Some(Fed::Call { line: None, call: call_of(call) }),
        WireEvent::MessageEnded { .. } => Some(Fed::End),
        WireEvent::Problem(it) => Some(Fed::Fault { line: it.line, what: it.kind.to_string() }),
    }));
}

/// Lines of JSON.
#[derive(Default)]
struct Lines {
    /// The line that isn't complete yet.
    line: Vec<u8>,
    /// It is past the bound, and its bytes are gone.
    too_long: bool,
    count: usize,
}

impl Lines {
    fn push(&mut self, mut bytes: &[u8], out: &mut VecDeque<Fed>) {
        while let Some(at) = bytes.iter().position(|it| *it == b'\n') {
            self.keep(&bytes[..at]);
            self.end_line(out);
            bytes = &bytes[at + 1..];
        }
        self.keep(bytes);
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.too_long |= self.line.len() + bytes.len() > MAX_LINE_BYTES;
        match self.too_long {
            true => self.line = Vec::new(),
            false => self.line.extend_from_slice(bytes),
        }
    }

    fn finish(&mut self, out: &mut VecDeque<Fed>) {
        if self.too_long || !self.line.trim_ascii().is_empty() {
            self.end_line(out);
        }
    }

    fn end_line(&mut self, out: &mut VecDeque<Fed>) {
        self.count += 1;
        let line = self.count;
        let fed = match std::mem::take(&mut self.too_long) {
            true => Err(format!("the line is longer than {MAX_LINE_BYTES} bytes: skipped")),
            false => read_line(self.line.strip_prefix(BOM).unwrap_or(&self.line), line),
        };
        out.push_back(fed.unwrap_or_else(|what| Fed::Fault { line, what }));
        self.line.clear();
    }
}

/// A line that may be understood. Its fields are read when it is known which of them count.
#[derive(Deserialize)]
struct Said {
    #[serde(rename = "type")]
    kind: Field,
    id: Field,
    name: Field,
    input: Field,
    request: Field,
    allow: Field,
    message: Field,
    /// What is allowed from now on, as the question suggested it.
    suggestion: Field,
    /// For how long: the session, or always.
    lasting: Field,
}

/// A field's text, which need not be what JSON takes for a value: half an escaped character, as
/// models send them, spoils the field alone.
type Field = Option<Box<RawValue>>;

fn read<T: DeserializeOwned>(field: &Field) -> Option<T> {
    serde_json::from_str(field.as_ref()?.get()).ok()
}

fn read_line(text: &[u8], line: usize) -> Result<Fed, String> {
    if text.trim_ascii().is_empty() {
        return Ok(Fed::End);
    }
    let said: Said = serde_json::from_slice(text).map_err(|it| {
        format!("not a line of JSON that is understood ({it}): write each block on one line")
    })?;
    match read::<String>(&said.kind).as_deref() {
        Some("tool_use") => call(&said, line),
        Some("message_stop") => Ok(Fed::End),
        Some("permission_answer") => answer(&said),
        Some(_) | None => {
            Err("neither a tool_use block, nor a permission_answer, nor the end of a \
             message (a blank line or a message_stop): skipped; send nothing else"
                .to_owned())
        }
    }
}

/// A block with an id is always answered: what is wrong with the rest is told to the model.
fn call(said: &Said, line: usize) -> Result<Fed, String> {
    let is_usable = |it: &String| !it.is_empty() && it.len() <= MAX_ID_BYTES;
    let id = read::<String>(&said.id).filter(is_usable).ok_or_else(|| {
        format!("a tool_use without a usable id: skipped; give it one of 1 to {MAX_ID_BYTES} bytes")
    })?;
    let input = match said.input.as_ref().map(|it| (it, serde_json::from_str(it.get()))) {
        Some((_, Ok(json))) => RawInput::Json(json),
        Some((raw, Err(error))) => {
            RawInput::Malformed { raw: raw.get().to_owned(), error: error.to_string() }
        }
        None => {
            let error = "the block has no input".to_owned();
            RawInput::Malformed { raw: String::new(), error }
        }
    };
    let call = ToolUse { id: id.into(), name: read(&said.name).unwrap_or_default(), input };
    Ok(Fed::Call { line: Some(line), call })
}

/// A suggestion as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Suggested {
    Allow(Vec<String>),
    Mode(Mode),
}

impl Suggested {
    fn suggestion(self) -> Suggestion {
        match self {
            Self::Allow(rules) => Suggestion::Allow(rules),
            Self::Mode(mode) => Suggestion::Mode(mode),
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Lasting {
    Session,
    Always,
}

impl Lasting {
    fn keep(self) -> Keep {
        match self {
            Self::Session => Keep::Session,
            Self::Always => Keep::Always,
        }
    }
}

fn answer(said: &Said) -> Result<Fed, String> {
    let (Some(request), Some(allow)) = (read(&said.request), read(&said.allow)) else {
        return Err("a permission_answer without its number or its decision: skipped; give \
                    \"request\" the number that was asked under, and \"allow\" true or false"
            .to_owned());
    };
    let answer = match (allow, &said.input, read::<Suggested>(&said.suggestion)) {
        (true, None, None) => Answer::Allow,
        (true, None, Some(it)) => {
            let lasting = read(&said.lasting).map_or(Keep::Session, Lasting::keep);
            Answer::AllowFromNow(it.suggestion(), lasting)
        }
        (true, Some(input), _) => {
            Answer::AllowWith(serde_json::from_str(input.get()).map_err(|it| {
                format!("a permission_answer with an input that is no JSON ({it}): skipped")
            })?)
        }
        (false, ..) => {
            let message = read(&said.message);
            Answer::Deny(message.unwrap_or_else(|| "The user said no.".to_owned()))
        }
    };
    Ok(Fed::Answer(request, answer))
}
