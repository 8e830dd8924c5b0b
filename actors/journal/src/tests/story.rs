//! Records as a session would write them, and a journal in memory to write them to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_contract::{
    CascadeName, EVENT_VERSION, Event, EventKind, HowEnded, RequestId, TurnId, VerdictName,
};

use super::sim::SimDisk;
use crate::fold::Fold;
use crate::frame::RawRecord;
use crate::record::{CallAt, CallCame, Input, Kept, Opened, Record, Starting};
use crate::recovery::Recovered;
use crate::{Durability, FILE_NAME, Journal, OpenError, Options, Reading, SessionName};

/// The records of one run.
pub(super) struct Story {
    pub(super) run: u32,
    turn: TurnId,
    seq: u64,
    pub(super) records: Vec<Record>,
}

impl Story {
    pub(super) fn new(run: u32) -> Self {
        let records = vec![Record::Opened(Opened { run, ..opened() })];
        Self { run, turn: TurnId(0), seq: 0, records }
    }

    pub(super) fn event(&mut self, kind: EventKind) -> &mut Self {
        let (run, seq, turn) = (self.run, self.seq, self.turn);
        self.seq += 1;
        self.records.push(Record::Event { run, event: Event { seq, at_us: seq * 10, turn, kind } });
        self
    }

    pub(super) fn turn(&mut self, turn: u32) -> &mut Self {
        self.turn = TurnId(turn);
        let (version, parent) = (EVENT_VERSION, None);
        self.event(EventKind::TurnOpened {
            version,
            parent,
            cascade: CascadeName::Declared,
            width: 10,
        })
    }

    pub(super) fn at(&self, call: u32) -> CallAt {
        CallAt { run: self.run, turn: self.turn, call }
    }

    fn id(call: u32) -> String {
        format!("toolu_{call}")
    }

    pub(super) fn came(&mut self, call: u32, carries_on: Option<CallAt>) -> &mut Self {
        let (at, id) = (self.at(call), Self::id(call).as_str().into());
        let input = Input::Json(json!({"n": call}));
        let came = CallCame { at, id, tool: "Probe".into(), input, carries_on };
        self.records.push(Record::Call(came));
        self
    }

    pub(super) fn accepted(&mut self, call: u32, read_only: bool) -> &mut Self {
        let (id, tool) = (Self::id(call).as_str().into(), "Probe".into());
        self.came(call, None);
        self.event(EventKind::Accepted { call, id, tool, exclusive: !read_only, read_only })
    }

    pub(super) fn asking(&mut self, call: u32, request: u64) -> &mut Self {
        self.event(EventKind::Gated { call });
        self.event(EventKind::Asking { call, request: RequestId(request) })
    }

    pub(super) fn cleared(&mut self, call: u32, read_only: bool) -> &mut Self {
        self.event(EventKind::Gated { call });
        self.event(EventKind::Cleared { call, exclusive: !read_only, read_only })
    }

    pub(super) fn start(&mut self, call: u32, idempotent: bool) -> &mut Self {
        let (at, id) = (self.at(call), Self::id(call).as_str().into());
        let start = Starting { at, id, tool: "Probe".into(), input: None, idempotent };
        self.records.push(Record::Start(start));
        self.event(EventKind::Logged { call })
    }

    pub(super) fn started(&mut self, call: u32) -> &mut Self {
        self.event(EventKind::Started { call })
    }

    pub(super) fn returned(&mut self, call: u32) -> &mut Self {
        self.event(EventKind::Returned { call, verdict: VerdictName::Ok, cascades: false })
    }

    pub(super) fn kept(&mut self, call: u32) -> &mut Self {
        self.records.push(Record::Result(Kept {
            at: self.at(call),
            id: Self::id(call).as_str().into(),
            ended: HowEnded::Ok,
            is_error: false,
            content: Value::String(format!("output {call}")),
            structured: None,
            file: None,
            notes: vec![],
        }));
        self.event(EventKind::Stored { call, spilled: None })
    }

    pub(super) fn emitted(&mut self, call: u32) -> &mut Self {
        let (id, ended) = (Self::id(call).as_str().into(), HowEnded::Ok);
        self.event(EventKind::Emitted { call, id, ended, is_error: false })
    }

    /// A whole life of a read-only call, but for its emission.
    pub(super) fn read(&mut self, call: u32) -> &mut Self {
        self.accepted(call, true).cleared(call, true).started(call).returned(call).kept(call)
    }

    /// A whole life of a call that writes, but for its emission.
    pub(super) fn write(&mut self, call: u32) -> &mut Self {
        self.accepted(call, false).cleared(call, false).start(call, false);
        self.started(call).returned(call).kept(call)
    }

    pub(super) fn finished(&mut self, calls: u32) -> &mut Self {
        self.event(EventKind::Sealed);
        self.event(EventKind::TurnFinished { calls })
    }
}

pub(super) fn opened() -> Opened {
    Opened { run: 0, at_ms: 1_000, event_version: EVENT_VERSION, process: None, cwd: None }
}

/// What a fold makes of records.
pub(super) fn fold(records: &[Record]) -> Recovered {
    let mut fold = Fold::default();
    for (number, record) in (0..).zip(records) {
        let (kind, flags, payload) = record.encode().unwrap();
        fold.take(RawRecord { kind, flags, payload: &payload }, number).unwrap();
    }
    fold.finish().unwrap()
}

pub(super) fn options(disk: &SimDisk, durability: Durability) -> Options {
    let session = SessionName::new("s").unwrap();
    let disk = Arc::new(disk.clone());
    Options { durability, disk, ..Options::new(PathBuf::from("s"), session, opened()) }
}

pub(super) fn open(disk: &SimDisk, durability: Durability) -> Result<Reading<Journal>, OpenError> {
    Journal::open(options(disk, durability))
}

pub(super) fn path() -> PathBuf {
    Path::new("s").join(FILE_NAME)
}

/// All records that a disk holds; panics at damage.
pub(super) fn records(disk: &SimDisk) -> Vec<Record> {
    let bytes = disk.bytes(&path());
    let Ok(header) = crate::Header::decode(&bytes) else { return vec![] };
    let mut scanner = crate::Scanner::new(&bytes[crate::HEADER_BYTES..], header);
    let mut records = vec![];
    loop {
        match scanner.step().unwrap() {
            crate::Step::Frame(frame) => {
                let decoded = frame.records().map(|it| Record::decode(it, 0).unwrap().unwrap());
                records.extend(decoded);
            }
            crate::Step::End | crate::Step::Torn(_) => return records,
            crate::Step::Corrupt(corrupt) => panic!("{corrupt}"),
        }
    }
}
