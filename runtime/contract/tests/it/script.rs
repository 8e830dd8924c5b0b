//! Histories as text: one word per event, so that a table of histories can be read.
//!
//! `read 0; run 0 ok; end 1` is a turn with one call. Steps are apart by `;`, a step
//! `t1: …` belongs to turn 1, and an opening is added where none is written.

use std::collections::HashMap;

use toolwright_contract::{
    CascadeName, EVENT_VERSION, Event, EventKind, HowEnded, RefusalName, RequestId, StageName,
    StopName, ToolUseId, TurnId, VerdictName,
};

/// The history that a script tells.
pub(crate) fn history(script: &str) -> Vec<Event> {
    let mut writer = Writer::default();
    if !script.starts_with("open") && !script.starts_with("t0:") {
        writer.step(TurnId(0), "open");
    }
    for step in script.split(';').map(str::trim).filter(|it| !it.is_empty()) {
        match step.strip_prefix('t').and_then(|it| it.split_once(':')) {
            Some((turn, step)) => writer.step(TurnId(number(turn)), step.trim()),
            None => writer.step(TurnId(0), step),
        }
    }
    writer.events
}

/// What a call was accepted as: must it be alone, does it only read.
type Nature = (bool, bool);

#[derive(Default)]
struct Writer {
    events: Vec<Event>,
    natures: HashMap<(TurnId, u32), Nature>,
}

impl Writer {
    fn step(&mut self, turn: TurnId, step: &str) {
        let words: Vec<&str> = step.split_whitespace().collect();
        let call = words.get(1).and_then(|it| it.parse().ok()).unwrap_or_default();
        if let Some(steps) = self.composed(turn, &words) {
            return steps.iter().for_each(|it| self.step(turn, it));
        }
        if let Some(nature) = nature(words[0]) {
            self.natures.insert((turn, call), nature);
        }
        let seq = self.events.len() as u64;
        let kind = kind(&words, self.nature(turn, call));
        self.events.push(Event { seq, at_us: seq * 10, turn, kind });
    }

    /// Words that stand for several events: `run` is `begin`, the tool's verdict and `give`.
    fn composed(&self, turn: TurnId, words: &[&str]) -> Option<Vec<String>> {
        let (verb, rest) = (words[0], words[1..].join(" "));
        let call = words.get(1).copied().unwrap_or_default();
        let (_, read_only) = self.nature(turn, call.parse().unwrap_or_default());
        let steps = match verb {
            "run" if words[2] == "ok" => format!("begin {call};ok {call};give {call} ok"),
            "run" => format!("begin {call};{} {call};give {call} error", words[2]),
            "begin" if read_only => format!("gate {call};clear {call};start {call}"),
            "begin" => format!("gate {call};clear {call};log {call};start {call}"),
            "give" => format!("store {call};emit {rest}"),
            "end" => format!("seal;finish {rest}"),
            _ => return None,
        };
        Some(steps.split(';').map(str::to_owned).collect())
    }

    fn nature(&self, turn: TurnId, call: u32) -> Nature {
        self.natures.get(&(turn, call)).copied().unwrap_or((false, true))
    }
}

fn kind(words: &[&str], own: Nature) -> EventKind {
    let call = words.get(1).and_then(|it| it.parse().ok()).unwrap_or_default();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let returned = |verdict, cascades| EventKind::Returned { call, verdict, cascades };
    match words[0] {
        "open" => opened(&words[1..]),
        "read" | "write" | "solo" | "pen" => {
            let id = option(words, "id").map_or_else(|| id_of(call), ToolUseId::from);
            let (exclusive, read_only) = own;
            EventKind::Accepted { call, id, tool: "Tool".into(), exclusive, read_only }
        }
        "dup" => EventKind::Duplicate { id: word(1).into() },
        "gate" => EventKind::Gated { call },
        "ask" => EventKind::Asking { call, request: RequestId(number(word(2)).into()) },
        "withdraw" => EventKind::Withdrawn { request: RequestId(call.into()) },
        "clear" => {
            let (exclusive, read_only) = nature(word(2)).unwrap_or(own);
            EventKind::Cleared { call, exclusive, read_only }
        }
        "refuse" => EventKind::Refused { call, why: RefusalName::Denied },
        "log" => EventKind::Logged { call },
        "start" => EventKind::Started { call },
        "say" => EventKind::Progressed { call, text: "working".into() },
        "notify" => EventKind::Notified { call, text: "take note".into() },
        "lend" => EventKind::Lent { call },
        "resume" => EventKind::Resumed { call },
        "stop" => {
            let (cause, culprit) = cause(word(2));
            EventKind::Stopping { call, cause, culprit }
        }
        "ok" => returned(VerdictName::Ok, false),
        "bad" => returned(VerdictName::Error, false),
        "fail" => returned(VerdictName::Error, true),
        "crash" => returned(VerdictName::Crashed, false),
        "halt" => returned(VerdictName::Stopped, false),
        "overdue" => EventKind::Overdue { call },
        "gone" => EventKind::Gone { call },
        "change" => EventKind::ContextChanged {
            call,
            ignored: (word(2) == "ignored").then(|| "not alone".into()),
        },
        "store" => EventKind::Stored { call, spilled: None },
        "emit" => emitted(call, words),
        "seal" => EventKind::Sealed,
        "finish" => EventKind::TurnFinished { calls: call },
        "lose" => EventKind::StageFailed {
            stage: StageName::Scheduler,
            why: "it panicked".into(),
            restarted: false,
        },
        "stall" => EventKind::Stalled { call, for_ms: 500 },
        other => panic!("no such step: {other}"),
    }
}

fn opened(words: &[&str]) -> EventKind {
    let mut cascade = CascadeName::Declared;
    for word in words {
        match *word {
            "never" => cascade = CascadeName::Never,
            "any" => cascade = CascadeName::Any,
            _ => {}
        }
    }
    EventKind::TurnOpened {
        version: option(words, "version").map_or(EVENT_VERSION, number),
        parent: option(words, "parent").map(ToolUseId::from),
        cascade,
        width: option(words, "width").map_or(2, |it| number(it) as u16),
    }
}

fn emitted(call: u32, words: &[&str]) -> EventKind {
    let ended = match words[2] {
        "ok" => HowEnded::Ok,
        "error" => HowEnded::Error,
        "crashed" => HowEnded::Crashed,
        "refused" => HowEnded::Refused,
        "unstarted" => HowEnded::StoppedNotStarted,
        "cut" => HowEnded::StoppedMayHaveRun,
        other => panic!("no such ending: {other}"),
    };
    let id = option(words, "id").map_or_else(|| id_of(call), ToolUseId::from);
    let is_error = option(words, "error").map_or(ended != HowEnded::Ok, |it| it == "yes");
    EventKind::Emitted { call, id, ended, is_error }
}

fn nature(word: &str) -> Option<Nature> {
    match word {
        "read" => Some((false, true)),
        "write" => Some((true, false)),
        "solo" => Some((true, true)),
        "pen" => Some((false, false)),
        _ => None,
    }
}

fn cause(word: &str) -> (StopName, Option<u32>) {
    let (name, culprit) = word.split_once('=').map_or((word, None), |(name, it)| (name, Some(it)));
    let cause = match name {
        "user" => StopName::User,
        "deadline" => StopName::Deadline,
        "sibling" => StopName::Sibling,
        "shutdown" => StopName::Shutdown,
        other => panic!("no such cause: {other}"),
    };
    (cause, culprit.map(number))
}

fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().find_map(|it| it.strip_prefix(name)?.strip_prefix('='))
}

fn id_of(call: u32) -> ToolUseId {
    format!("c{call}").as_str().into()
}

fn number(word: &str) -> u32 {
    word.parse().unwrap_or_else(|_| panic!("not a number: {word}"))
}
