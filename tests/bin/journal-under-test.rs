//! A session's journal as a process that a test kills: recovers, then makes one call after another.
//!
//! `journal-under-test FOLDER none|batch|always`. Each acknowledged record is a line of its
//! output: its number and its digest. A call that takes effect appends its place to
//! `FOLDER/effects`, between its start record and its result.
#![allow(clippy::expect_used, clippy::disallowed_methods, reason = "a test's program")]

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;
use toolwright_contract::{
    CascadeName, EVENT_VERSION, Event, EventKind, HowEnded, ToolResult, TurnId, VerdictName,
};
use toolwright_journal::{
    CallAt, CallCame, Durability, Input, Journal, Kept, Opened, Options, Policy, Record,
    SessionName, Starting,
};

/// Calls in a turn. The odd ones only read.
const CALLS: u32 = 3;

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().expect("a folder"));
    let durability = match args.next().as_deref() {
        Some("none") => Durability::None,
        Some("batch") => Durability::Batch,
        _ => Durability::Always,
    };
    let session = SessionName::new("killed").expect("a good name");
    let opened =
        Opened { run: 0, at_ms: 0, event_version: EVENT_VERSION, process: None, cwd: None };
    let options = Options { durability, ..Options::new(folder.clone(), session, opened) };
    let opened = Journal::open(options).expect("opens");
    let mut recovered = opened.recovered;
    let mut life = Life {
        run: opened.journal.run(),
        journal: opened.journal,
        effects: OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join("effects"))
            .expect("opens"),
        turn: TurnId(0),
        seq: 0,
    };
    for record in recovered.settle(Policy::default()) {
        life.append(record);
    }
    loop {
        life.run_turn();
        life.turn.0 += 1;
    }
}

struct Life {
    run: u32,
    journal: Journal,
    effects: File,
    turn: TurnId,
    seq: u64,
}

impl Life {
    fn append(&self, record: Record) {
        let told = serde_json::to_string(&digest(&record)).expect("is JSON");
        let position = self.journal.try_append(record).expect("has room").wait().expect("writes");
        let line = format!("{} {told}\n", position.record);
        std::io::stdout().write_all(line.as_bytes()).expect("is read");
    }

    fn event(&mut self, kind: EventKind) {
        let event = Event { seq: self.seq, at_us: self.seq, turn: self.turn, kind };
        self.seq += 1;
        self.append(Record::Event { run: self.run, event });
    }

    fn run_turn(&mut self) {
        let (version, cascade) = (EVENT_VERSION, CascadeName::Declared);
        self.event(EventKind::TurnOpened { version, parent: None, cascade, width: 10 });
        for call in 0..CALLS {
            self.run_call(call);
        }
        self.event(EventKind::Sealed);
        self.event(EventKind::TurnFinished { calls: CALLS });
    }

    fn run_call(&mut self, call: u32) {
        let at = CallAt { run: self.run, turn: self.turn, call };
        let id = toolwright_contract::ToolUseId::from(format!("toolu_{}_{call}", self.turn.0));
        let (read_only, tool) = (call % 2 == 1, "Probe".to_owned());
        let exclusive = !read_only;
        self.append(Record::Call(CallCame {
            at,
            id: id.clone(),
            tool: tool.clone(),
            input: Input::Json(json!({"padding": "x".repeat(3_000)})),
            carries_on: None,
        }));
        let accepted =
            EventKind::Accepted { call, id: id.clone(), tool: tool.clone(), exclusive, read_only };
        self.event(accepted);
        self.event(EventKind::Gated { call });
        self.event(EventKind::Cleared { call, exclusive, read_only });
        if !read_only {
            let start = Starting { at, id: id.clone(), tool, input: None, idempotent: false };
            self.append(Record::Start(start));
            self.event(EventKind::Logged { call });
        }
        self.event(EventKind::Started { call });
        if !read_only {
            let effect = format!("{} {} {call}\n", self.run, self.turn.0);
            self.effects.write_all(effect.as_bytes()).expect("writes");
        }
        self.event(EventKind::Returned { call, verdict: VerdictName::Ok, cascades: false });
        let content = format!("output {call}").into();
        let result = ToolResult { id: id.clone(), content, is_error: false };
        self.append(Record::Result(Kept::of(at, &result, HowEnded::Ok)));
        self.event(EventKind::Stored { call, spilled: None });
        let (ended, is_error) = (HowEnded::Ok, false);
        self.event(EventKind::Emitted { call, id, ended, is_error });
    }
}

/// Enough to know the record again.
fn digest(record: &Record) -> String {
    let (kind, _, payload) = record.encode().expect("is JSON");
    let sum =
        payload.iter().fold(0_u64, |sum, it| sum.wrapping_mul(31).wrapping_add(u64::from(*it)));
    format!("{kind}:{}:{sum}", payload.len())
}
