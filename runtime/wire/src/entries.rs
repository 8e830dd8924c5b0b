//! Entries of Claude Code's JSON Lines, transcripts and `stream-json` alike.
//!
//! File order is not the conversation: results stand between the blocks of a message and before
//! their calls, and a resume forks the tree or repeats entries. So blocks are grouped by
//! `message.id` and results paired by id over the whole file. A call on a branch that was left is
//! still a call that was made.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::assembly::{Assembler, Sink};
use crate::fields::{Flag, Raw, Text, object, objects, value};
use crate::ledger::Ledger;
use crate::problem::{Problem, ProblemKind, shortened};
use crate::recording::{RecordedCall, RecordedResult, Thread};
use crate::sse::WireEvent;
use crate::tool_use::{Input, ToolUse, is_usable_id};
use crate::wording::{RecordedEnding, ending_of_error, ending_of_kind, is_error};

/// Most subagents whose partial messages are put together at once; further ones are read from
/// their whole messages only.
const MAX_PARTIAL_STREAMS: usize = 1024;

/// Most links that are walked to the first entry of a sidechain. In file order one is enough; the
/// bound ends a cycle.
const MAX_CHAIN: usize = 1024;

/// The fields of an entry that tell about calls. Any other value in their place counts as absent.
#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object")]
struct Entry<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    message: Raw<'a>,
    #[serde(borrow)]
    uuid: Text<'a>,
    #[serde(rename = "parentUuid", borrow)]
    parent_uuid: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(rename = "isSidechain")]
    is_sidechain: Flag,
    #[serde(rename = "agentId", borrow)]
    agent_id: Text<'a>,
    #[serde(borrow)]
    parent_tool_use_id: Text<'a>,
    #[serde(rename = "sessionId", borrow)]
    transcript_session: Text<'a>,
    #[serde(rename = "session_id", borrow)]
    stream_session: Text<'a>,
    #[serde(borrow)]
    version: Text<'a>,
    #[serde(borrow)]
    claude_code_version: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(rename = "toolUseResult", borrow)]
    transcript_result: Raw<'a>,
    #[serde(rename = "tool_use_result", borrow)]
    stream_result: Raw<'a>,
    #[serde(borrow)]
    tool_result_meta: Raw<'a>,
    #[serde(borrow)]
    event: Raw<'a>,
    #[serde(borrow)]
    subtype: Text<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
    #[serde(borrow)]
    permission_denials: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object")]
struct Message<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
}

/// A content block: the fields of a `tool_use` and of a `tool_result`.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    is_error: Flag,
}

/// An item of `tool_result_meta`.
#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(default, borrow)]
    id: Text<'a>,
    #[serde(default, borrow)]
    non_execution_kind: Text<'a>,
}

/// An item of `permission_denials`.
#[derive(Deserialize)]
struct Denial<'a> {
    #[serde(default, borrow)]
    tool_use_id: Text<'a>,
}

/// Where a recording comes from, by the first entries that say so.
#[derive(Default)]
pub(crate) struct Origin {
    pub(crate) session_id: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) cwd: Option<String>,
}

/// Reads entry after entry.
#[derive(Default)]
pub(crate) struct Entries {
    ledger: Ledger,
    origin: Origin,
    /// What the sidechain entries that name no agent hang on, by `uuid`.
    parents: HashMap<String, Option<String>>,
    /// Turns whose thread is, so far, the `uuid` of one of those entries.
    chained: Vec<usize>,
    /// Partial messages, by the call that the subagent belongs to.
    partial: BTreeMap<String, Partial>,
    /// Blocks that came in parts, complete or not; the whole message mostly comes too, and counts.
    parts: Vec<(usize, Part)>,
}

#[derive(Default)]
struct Partial {
    assembler: Assembler,
    turn: Option<usize>,
}

/// A block of a turn, as its parts tell.
enum Part {
    Complete { line: usize, tool_use: ToolUse },
    Unfinished { id: String, problem: Problem },
}

impl Entries {
    /// Takes a line with its terminator; `None` for one that is too long.
    pub(crate) fn line(&mut self, line: Option<&[u8]>, number: usize) {
        let Some(line) = line else { return self.lose(number, ProblemKind::LineTooLong) };
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return;
        }
        let is_last = !line.ends_with(b"\n");
        let Ok(text) = std::str::from_utf8(line) else {
            let kind = if is_last { ProblemKind::CutLine } else { ProblemKind::NotUtf8 };
            return self.lose(number, kind);
        };
        // Without its end, so that an error is not told to be on the line after.
        match object(text.trim_end_matches(['\n', '\r'])) {
            Ok(entry) => self.entry(&entry, number),
            Err(error) if is_last && error.is_eof() => self.lose(number, ProblemKind::CutLine),
            Err(error) => {
                self.lose(number, ProblemKind::UnreadableLine { error: shortened(error) });
            }
        }
    }

    /// The file is over: where it comes from, and what it holds.
    pub(crate) fn finish(mut self, lines: usize) -> (Origin, Ledger) {
        for (parent, mut partial) in std::mem::take(&mut self.partial) {
            let mut events = Vec::new();
            partial.assembler.finish(&mut Sink { line: lines, out: &mut events });
            self.take_parts(&parent, lines, &mut partial, events);
        }
        for (turn, part) in std::mem::take(&mut self.parts) {
            self.count_part(turn, part);
        }
        for turn in std::mem::take(&mut self.chained) {
            let thread = std::mem::replace(&mut self.ledger.turn_mut(turn).thread, Thread::Main);
            self.ledger.turn_mut(turn).thread = match thread {
                Thread::Sub { id } => Thread::Sub { id: self.root_of(id) },
                Thread::Main => Thread::Main,
            };
        }
        (self.origin, self.ledger)
    }

    fn entry(&mut self, entry: &Entry<'_>, line: usize) {
        let session = || entry.transcript_session.to_owned().or(entry.stream_session.to_owned());
        let version = || entry.version.to_owned().or(entry.claude_code_version.to_owned());
        let Origin { session_id, version: of, cwd } = &mut self.origin;
        *session_id = session_id.take().or_else(session);
        *of = of.take().or_else(version);
        *cwd = cwd.take().or_else(|| entry.cwd.to_owned());
        self.link(entry);
        match (entry.kind.get(), entry.subtype.get()) {
            (Some("assistant"), _) => self.assistant(entry, line),
            (Some("user"), _) => self.user(entry, line),
            (Some("stream_event"), _) => self.stream_event(entry, line),
            (Some("system"), Some("permission_denied")) => self.deny(&entry.tool_use_id),
            (Some("result"), _) => {
                for denial in objects::<Denial<'_>>(entry.permission_denials) {
                    self.deny(&denial.tool_use_id);
                }
            }
            // Two dozen other types tell nothing of calls, and there will be more.
            _ => {}
        }
    }

    fn deny(&mut self, id: &Text<'_>) {
        if let Some(id) = id.get() {
            self.ledger.deny(id);
        }
    }

    fn message<'a>(&mut self, raw: Raw<'a>, line: usize) -> Option<Message<'a>> {
        match object(raw.0?) {
            Ok(message) => Some(message),
            Err(error) => {
                let error = shortened(format_args!("its message: {error}"));
                self.ledger.problem(line, ProblemKind::UnreadableLine { error });
                None
            }
        }
    }

    fn assistant(&mut self, entry: &Entry<'_>, line: usize) {
        let Some(message) = self.message(entry.message, line) else { return };
        let mut turn = None;
        for block in objects::<Block<'_>>(message.content) {
            if block.kind.get() != Some("tool_use") {
                continue;
            }
            let turn = *turn.get_or_insert_with(|| self.turn(message.id.get(), entry));
            let tool_use = ToolUse {
                id: block.id.to_owned().unwrap_or_default(),
                name: block.name.to_owned().unwrap_or_default(),
                input: Input::parse(block.input.0.unwrap_or("")),
            };
            let used_at_ms = unix_ms(&entry.timestamp);
            self.ledger.call(turn, line, RecordedCall { tool_use, used_at_ms, result: None });
        }
    }

    fn turn(&mut self, message_id: Option<&str>, entry: &Entry<'_>) -> usize {
        let (thread, chained) = thread_of(entry);
        let mut is_new = false;
        let turn = self.ledger.turn(message_id, || {
            is_new = true;
            thread
        });
        if is_new && chained {
            self.chained.push(turn);
        }
        turn
    }

    fn user(&mut self, entry: &Entry<'_>, line: usize) {
        let Some(message) = self.message(entry.message, line) else { return };
        let mut blocks = objects::<Block<'_>>(message.content);
        blocks.retain(|block| block.kind.get() == Some("tool_result"));
        // The structured result stands beside the message, so it can belong to one block only.
        let structured = match entry.transcript_result.0.or(entry.stream_result.0) {
            Some(raw) if blocks.len() == 1 && raw != "null" => Some(value(Raw(Some(raw)))),
            _ => None,
        };
        let metas = objects::<Meta<'_>>(entry.tool_result_meta);
        let at_ms = unix_ms(&entry.timestamp);
        for block in blocks {
            let Some(id) = block.tool_use_id.get().filter(|id| is_usable_id(id)) else {
                let id = String::new();
                self.ledger.problem(line, ProblemKind::OrphanResult { id });
                continue;
            };
            let content = value(block.content);
            let structured = structured.clone();
            let is_error = is_error(block.is_error.0, &content, structured.as_ref());
            let meta = metas.iter().find(|meta| meta.id.get() == Some(id));
            let kind = meta.and_then(|meta| meta.non_execution_kind.get());
            let ending = match (is_error, ending_of_error(&content)) {
                (false, _) => RecordedEnding::Ok,
                (true, RecordedEnding::Error) => {
                    kind.and_then(ending_of_kind).unwrap_or(RecordedEnding::Error)
                }
                (true, ending) => ending,
            };
            let result = RecordedResult { at_ms, content, is_error, ending, structured };
            self.ledger.result(line, id, result);
        }
    }

    /// A part of a message that usually comes again as a whole.
    fn stream_event(&mut self, entry: &Entry<'_>, line: usize) {
        let Some(event) = entry.event.0 else { return };
        let parent = entry.parent_tool_use_id.get().unwrap_or("");
        if !self.partial.contains_key(parent) && self.partial.len() == MAX_PARTIAL_STREAMS {
            return;
        }
        let mut partial = self.partial.remove(parent).unwrap_or_default();
        let mut events = Vec::new();
        partial.assembler.event(event, "", &mut Sink { line, out: &mut events });
        self.take_parts(parent, line, &mut partial, events);
        self.partial.insert(parent.to_owned(), partial);
    }

    fn take_parts(
        &mut self,
        parent: &str,
        line: usize,
        partial: &mut Partial,
        events: Vec<WireEvent>,
    ) {
        for event in events {
            match (event, partial.turn) {
                (WireEvent::MessageStarted { id }, _) => {
                    let turn = self.ledger.turn(id.as_deref(), || match parent {
                        "" => Thread::Main,
                        id => Thread::Sub { id: id.to_owned() },
                    });
                    partial.turn = Some(turn);
                }
                (WireEvent::ToolUse(tool_use), Some(turn)) => {
                    self.parts.push((turn, Part::Complete { line, tool_use }));
                }
                (WireEvent::Problem(problem), turn) => match (&problem.kind, turn) {
                    (ProblemKind::StreamCut, _) => {}
                    (ProblemKind::UnfinishedBlock { id, .. }, Some(turn)) => {
                        self.parts.push((turn, Part::Unfinished { id: id.clone(), problem }));
                    }
                    (_, _) => self.ledger.problem(problem.line, problem.kind),
                },
                (WireEvent::MessageEnded { .. } | WireEvent::ToolUse(_), _) => {}
            }
        }
    }

    /// Counts a block of which no whole message told.
    fn count_part(&mut self, turn: usize, part: Part) {
        match part {
            Part::Complete { line, tool_use } if !self.ledger.knows(&tool_use.id) => {
                let call = RecordedCall { tool_use, used_at_ms: None, result: None };
                self.ledger.call(turn, line, call);
            }
            Part::Unfinished { id, problem } if !self.ledger.knows(&id) => {
                self.ledger.turn_mut(turn).truncated = true;
                self.ledger.problem(problem.line, problem.kind);
            }
            Part::Complete { .. } | Part::Unfinished { .. } => {}
        }
    }

    /// A line was lost, which may have been a part of a block.
    fn lose(&mut self, line: usize, kind: ProblemKind) {
        self.ledger.problem(line, kind);
        for partial in self.partial.values_mut() {
            partial.assembler.distrust_open(line);
        }
    }

    /// Remembers where a sidechain entry that names no agent hangs: on the highest entry known.
    fn link(&mut self, entry: &Entry<'_>) {
        if entry.is_sidechain.0 == Some(true)
            && entry.agent_id.get().is_none()
            && let Some(uuid) = entry.uuid.get()
        {
            let root = entry.parent_uuid.to_owned().map(|parent| self.root_of(parent));
            self.parents.insert(uuid.to_owned(), root);
        }
    }

    /// The first entry of the sidechain that `uuid` is on.
    fn root_of(&self, mut uuid: String) -> String {
        for _ in 0..MAX_CHAIN {
            match self.parents.get(&uuid) {
                Some(Some(parent)) if self.parents.contains_key(parent) => uuid.clone_from(parent),
                _ => break,
            }
        }
        uuid
    }
}

/// Whose entry it is, and whether its id has still to be walked to the chain's first entry.
fn thread_of(entry: &Entry<'_>) -> (Thread, bool) {
    if let Some(id) = entry.parent_tool_use_id.get() {
        return (Thread::Sub { id: id.to_owned() }, false);
    }
    if entry.is_sidechain.0 != Some(true) {
        return (Thread::Main, false);
    }
    match entry.agent_id.get() {
        Some(id) => (Thread::Sub { id: id.to_owned() }, false),
        None => (Thread::Sub { id: entry.uuid.to_owned().unwrap_or_default() }, true),
    }
}

fn unix_ms(timestamp: &Text<'_>) -> Option<i64> {
    Some(timestamp.get()?.parse::<jiff::Timestamp>().ok()?.as_millisecond())
}
