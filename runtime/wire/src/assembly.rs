//! Events of a Messages stream become messages with complete `tool_use` blocks.

use std::collections::HashSet;

use serde::Deserialize;

use crate::fields::{Piece, Raw, Text, object};
use crate::problem::{Problem, ProblemKind, shortened};
use crate::sse::WireEvent;
use crate::tool_use::{Input, MAX_INPUT_BYTES, MAX_RAW_BYTES, ToolUse, is_usable_id};

/// Most blocks that may be open at once. The API closes one before it opens the next.
const MAX_OPEN_BLOCKS: usize = 64;

/// An event, with the fields that any of the understood types has.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Text<'a>,
    index: Option<u64>,
    #[serde(borrow)]
    message: Option<Started<'a>>,
    #[serde(borrow)]
    content_block: Option<BlockStart<'a>>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    error: Option<StreamError<'a>>,
}

#[derive(Deserialize)]
struct Started<'a> {
    #[serde(default, borrow)]
    id: Text<'a>,
}

#[derive(Deserialize)]
struct BlockStart<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Text<'a>,
    #[serde(default, borrow)]
    id: Text<'a>,
    #[serde(default, borrow)]
    name: Text<'a>,
    #[serde(default, borrow)]
    input: Raw<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    partial_json: Option<Piece<'a>>,
    #[serde(default, borrow)]
    stop_reason: Text<'a>,
}

#[derive(Deserialize)]
struct StreamError<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Text<'a>,
    #[serde(default, borrow)]
    message: Text<'a>,
}

/// Only what tells whether an event that can't be read had to be.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Text<'a>,
}

/// Whether missing an event of this kind could change a call.
fn matters(kind: &str) -> bool {
    kind.starts_with("content_block") || kind.starts_with("message_") || kind == "error"
}

/// Whether an event's type and the name that it came under go together. `message` is the name that
/// the standard gives to an event without one.
fn agree(kind: &str, name: &str) -> bool {
    kind == name || matches!(name, "" | "message") || !(matters(kind) || matters(name))
}

/// Puts the blocks of one stream together.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    message: Option<OpenMessage>,
    begun: bool,
}

#[derive(Debug, Default)]
struct OpenMessage {
    stop_reason: Option<String>,
    /// The index that the next block should have.
    due: u64,
    open: Vec<OpenBlock>,
    /// Ids of the calls that were yielded.
    yielded: HashSet<String>,
}

#[derive(Debug)]
struct OpenBlock {
    index: u64,
    /// `None` for any block that is not a call of the client's.
    call: Option<OpenCall>,
}

#[derive(Debug)]
struct OpenCall {
    id: String,
    name: String,
    /// Input that came with the start.
    given: Option<String>,
    /// Input that came in deltas (WTF-8: a surrogate pair may be split between two of them).
    text: Vec<u8>,
    /// Length of all deltas, also of those past the bound.
    bytes: usize,
    /// Why the text can't be trusted, if something of it was lost.
    spoilt: Option<String>,
}

/// Where the events go.
pub(crate) struct Sink<'a> {
    pub(crate) line: usize,
    pub(crate) out: &'a mut Vec<WireEvent>,
}

impl Sink<'_> {
    fn problem(&mut self, kind: ProblemKind) {
        self.out.push(WireEvent::Problem(Problem { line: self.line, kind }));
    }
}

impl Assembler {
    /// Takes one event. `name` is the name it came under, for data without a `type`.
    pub(crate) fn event(&mut self, json: &str, name: &str, sink: &mut Sink<'_>) {
        let event: Event<'_> = match object(json) {
            Ok(event) => event,
            Err(error) => return self.unread(json, name, &error, sink),
        };
        let kind = match event.kind.get() {
            Some(kind) if !agree(kind, name) => {
                return self.spoil("its name is not its type", sink);
            }
            Some(kind) => kind,
            None if name.is_empty() => return self.spoil("it has no type", sink),
            None => name,
        };
        match (kind, event.index) {
            ("message_start", _) => {
                self.start_message(event.message.and_then(|message| message.id.to_owned()), sink);
            }
            ("content_block_start", Some(index)) => match event.content_block {
                Some(block) => self.start_block(index, &block, sink),
                None => self.spoil("a block start without a block", sink),
            },
            ("content_block_delta", Some(index)) => match event.delta {
                Some(Delta { partial_json: Some(piece), .. }) => self.add(index, &piece.0, sink),
                // Other deltas are not of a call.
                Some(delta) if delta.kind.get().is_some_and(|kind| kind != "input_json_delta") => {}
                Some(_) | None => self.spoil("a delta without its piece", sink),
            },
            ("content_block_stop", Some(index)) => self.stop_block(index, sink),
            ("content_block_start" | "content_block_delta" | "content_block_stop", None) => {
                self.spoil("no block index", sink);
            }
            ("message_delta", _) => {
                let reason = event.delta.and_then(|delta| delta.stop_reason.to_owned());
                if let (Some(message), Some(_)) = (&mut self.message, &reason) {
                    message.stop_reason = reason;
                }
            }
            ("message_stop", _) => self.end_message(sink),
            ("error", _) => self.fail(event.error, sink),
            _ => {}
        }
    }

    /// A part of the stream was lost: what is open may lack a piece, so none of it may run.
    pub(crate) fn lose(&mut self, kind: ProblemKind, sink: &mut Sink<'_>) {
        sink.problem(kind);
        self.distrust_open(sink.line);
    }

    /// The blocks that are open will be malformed, whatever still comes of them.
    pub(crate) fn distrust_open(&mut self, line: usize) {
        let why = format!("a part of it may be missing after line {line} of the stream");
        for call in self.message.iter_mut().flat_map(OpenMessage::calls) {
            call.spoilt.get_or_insert_with(|| why.clone());
        }
    }

    /// The stream is over.
    pub(crate) fn finish(&mut self, sink: &mut Sink<'_>) {
        if self.message.is_some() {
            sink.problem(ProblemKind::StreamCut);
            self.end_message(sink);
        }
    }

    /// Whether any message began, or an error came instead.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    fn unread(&mut self, json: &str, name: &str, error: &serde_json::Error, sink: &mut Sink<'_>) {
        if json.trim_ascii() == "[DONE]" {
            return;
        }
        // An event of a kind that is not known may have any shape.
        let kind = object::<Kind<'_>>(json).ok().and_then(|known| known.kind.to_owned());
        let kind = kind.as_deref().unwrap_or(name);
        if kind.is_empty() || matters(kind) || !agree(kind, name) {
            self.lose(ProblemKind::UnreadableEvent { error: shortened(error) }, sink);
        }
    }

    fn spoil(&mut self, error: &str, sink: &mut Sink<'_>) {
        self.lose(ProblemKind::UnreadableEvent { error: error.to_owned() }, sink);
    }

    fn start_message(&mut self, id: Option<String>, sink: &mut Sink<'_>) {
        if self.message.is_some() {
            sink.problem(ProblemKind::MessageNotEnded);
            self.end_message(sink);
        }
        self.begun = true;
        self.message = Some(OpenMessage::default());
        sink.out.push(WireEvent::MessageStarted { id });
    }

    fn end_message(&mut self, sink: &mut Sink<'_>) {
        let Some(message) = self.message.take() else { return };
        for OpenBlock { index, call } in message.open {
            if let Some(OpenCall { id, .. }) = call {
                sink.problem(ProblemKind::UnfinishedBlock { index, id });
            }
        }
        sink.out.push(WireEvent::MessageEnded { stop_reason: message.stop_reason });
    }

    fn fail(&mut self, error: Option<StreamError<'_>>, sink: &mut Sink<'_>) {
        self.begun = true;
        let field = |text: Option<String>| shortened(text.as_deref().unwrap_or("no details"));
        let (kind, message) = match error {
            Some(StreamError { kind, message }) => (kind.to_owned(), message.to_owned()),
            None => (None, None),
        };
        sink.problem(ProblemKind::StreamError { kind: field(kind), message: field(message) });
        self.end_message(sink);
    }

    fn start_block(&mut self, index: u64, block: &BlockStart<'_>, sink: &mut Sink<'_>) {
        if self.message.is_none() {
            sink.problem(ProblemKind::OutsideMessage);
            self.start_message(None, sink);
        }
        let Some(message) = &mut self.message else { return };
        let mut call = block.open_call(message.held_bytes());
        if let Some(at) = message.open.iter().position(|open| open.index == index) {
            message.open.remove(at);
            sink.problem(ProblemKind::BlockStartedTwice { index });
            if let Some(call) = &mut call {
                call.spoilt = Some(format!("block {index} of the stream started twice"));
            }
        } else if index != message.due {
            sink.problem(ProblemKind::BlockOutOfOrder { index, expected: message.due });
        }
        message.due = message.due.max(index.saturating_add(1));
        if message.open.len() == MAX_OPEN_BLOCKS {
            sink.problem(ProblemKind::TooManyOpenBlocks { limit: MAX_OPEN_BLOCKS });
        } else {
            message.open.push(OpenBlock { index, call });
        }
    }

    fn add(&mut self, index: u64, piece: &[u8], sink: &mut Sink<'_>) {
        let due = self.message.as_ref().map_or(0, |message| message.due);
        let held = self.message.as_ref().map_or(0, OpenMessage::held_bytes);
        let mut open = self.message.iter_mut().flat_map(|message| &mut message.open);
        match open.find(|open| open.index == index) {
            Some(OpenBlock { call: Some(call), .. }) => call.add(piece, held),
            Some(OpenBlock { call: None, .. }) => {}
            // It may be a piece of another block under a wrong index.
            None if index < due => self.lose(ProblemKind::DeltaAfterStop { index }, sink),
            None => self.lose(ProblemKind::DeltaWithoutStart { index }, sink),
        }
    }

    fn stop_block(&mut self, index: u64, sink: &mut Sink<'_>) {
        let message = self.message.as_mut();
        let found = message.and_then(|message| {
            let at = message.open.iter().position(|open| open.index == index)?;
            Some((message.open.remove(at), message))
        });
        let Some((OpenBlock { call, .. }, message)) = found else {
            return sink.problem(ProblemKind::StopWithoutStart { index });
        };
        let Some(call) = call else { return };
        if call.id.is_empty() {
            return sink.problem(ProblemKind::UnusableId);
        }
        if !message.yielded.insert(call.id.clone()) {
            return sink.problem(ProblemKind::DuplicateId { id: call.id });
        }
        sink.out.push(WireEvent::ToolUse(call.complete()));
    }
}

impl OpenMessage {
    fn calls(&mut self) -> impl Iterator<Item = &mut OpenCall> {
        self.open.iter_mut().filter_map(|block| block.call.as_mut())
    }

    fn held_bytes(&self) -> usize {
        let calls = self.open.iter().filter_map(|open| open.call.as_ref());
        calls.map(|call| call.text.len() + call.given.as_ref().map_or(0, String::len)).sum()
    }
}

impl BlockStart<'_> {
    /// The call that begins, if it is the client's; `held` bytes are held by the blocks that are
    /// open.
    fn open_call(&self, held: usize) -> Option<OpenCall> {
        if self.kind.get() != Some("tool_use") {
            return None;
        }
        let name = self.name.get().unwrap_or_default();
        let mut call = OpenCall {
            id: self.id.get().filter(|id| is_usable_id(id)).unwrap_or("").to_owned(),
            name: name[..name.floor_char_boundary(MAX_RAW_BYTES)].to_owned(),
            given: None,
            text: Vec::new(),
            bytes: 0,
            spoilt: None,
        };
        match self.input.0.filter(|input| !is_placeholder(input)) {
            Some(input) if held + input.len() > MAX_INPUT_BYTES => {
                let kept = input.floor_char_boundary(MAX_RAW_BYTES);
                // Fewer bytes than there were: what follows is counted, and not kept.
                (call.text, call.bytes) = (input[..kept].into(), input.len());
            }
            given => call.given = given.map(str::to_owned),
        }
        Some(call)
    }
}

/// What a start carries when the input comes in deltas.
fn is_placeholder(input: &str) -> bool {
    let inner = input.strip_prefix('{').and_then(|input| input.strip_suffix('}'));
    matches!(input, "null" | "\"\"") || inner.is_some_and(|inner| inner.trim_ascii().is_empty())
}

impl OpenCall {
    /// Adds a piece; `held` bytes are held by all open blocks of the message together.
    fn add(&mut self, piece: &[u8], held: usize) {
        self.bytes += piece.len();
        if self.bytes > self.text.len() + piece.len() || held + piece.len() > MAX_INPUT_BYTES {
            self.text.truncate(MAX_RAW_BYTES);
            return;
        }
        let piece = match join_surrogates(&self.text, piece) {
            Some(joined) => {
                self.text.truncate(self.text.len() - 3);
                self.text.extend_from_slice(joined.encode_utf8(&mut [0; 4]).as_bytes());
                self.bytes -= 2;
                &piece[3..]
            }
            None => piece,
        };
        self.text.extend_from_slice(piece);
    }

    fn complete(self) -> ToolUse {
        let Self { id, name, given, text, bytes, spoilt } = self;
        let lost = bytes > text.len();
        let input = match (String::from_utf8(text), spoilt) {
            (Ok(text), None) if lost => Input::too_long(&text, bytes),
            (Ok(text), None) if text.is_empty() => Input::parse(given.as_deref().unwrap_or("")),
            (Ok(text), None) => Input::parse(&text),
            (Ok(text), Some(why)) => Input::malformed(&text, why),
            (Err(error), spoilt) => {
                let at = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes());
                match lost {
                    true => Input::too_long(&text, bytes),
                    false => Input::malformed(
                        &text,
                        spoilt.unwrap_or_else(|| {
                            format!("half of a surrogate pair stands alone at byte {at}")
                        }),
                    ),
                }
            }
        };
        ToolUse { id, name, input }
    }
}

/// The character whose first half ends `before` and whose second half begins `piece`.
fn join_surrogates(before: &[u8], piece: &[u8]) -> Option<char> {
    let half = |bytes: &[u8]| match *bytes {
        [0xED, second @ 0xA0..=0xBF, third] => {
            Some(0xD000 | (u32::from(second & 0x3F) << 6) | u32::from(third & 0x3F))
        }
        _ => None,
    };
    let high = half(before.last_chunk::<3>()?).filter(|unit| *unit < 0xDC00)?;
    let low = half(piece.first_chunk::<3>()?).filter(|unit| *unit >= 0xDC00)?;
    char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
}
