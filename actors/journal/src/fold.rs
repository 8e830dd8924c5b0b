//! Folds records into the state of a session: what is open, and how far each open call has come.
//!
//! Reads of each record only what that takes, so that a long journal is read at the speed of its
//! parser, and forgets a turn once it has finished: memory goes with what is open.
//!
//! A record that a full disk has refused leaves a gap, and what follows it speaks of what was not
//! recorded. That is counted and told, and no reason not to resume; a contradiction is.

use std::collections::BTreeMap;

use serde::Deserialize;
use toolwright_contract::{EVENT_VERSION, RequestId, ToolUseId, TurnId};

use crate::frame::RawRecord;
use crate::record::{BadRecord, CallAt, Mode, Opened, SKIPPABLE, Task, TaskState, kind};
use crate::recovery::Recovered;

/// The state of a session after some of its records.
#[derive(Debug, Default)]
pub struct Fold {
    pub(crate) last_opened: Option<Opened>,
    pub(crate) turns: BTreeMap<(u32, TurnId), TurnState>,
    /// Turns that finished since the newest one opened.
    pub(crate) recent: Vec<((u32, TurnId), TurnState)>,
    /// Calls that carry on a call of an earlier run, and which.
    carriers: BTreeMap<CallAt, CallAt>,
    /// The last event of each run: its number and time.
    pub(crate) clocks: BTreeMap<u32, Clock>,
    pub(crate) tasks: BTreeMap<String, Task>,
    pub(crate) mode: Option<String>,
    pub(crate) finished_turns: u64,
    pub(crate) records: u64,
    /// Records that speak of what was not recorded.
    pub(crate) gaps: u64,
}

/// Where the events of a run have got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Clock {
    /// The number of the next event.
    pub(crate) next_seq: u64,
    /// The time of the last.
    pub(crate) at_us: u64,
}

/// A turn so far.
#[derive(Debug, Default)]
pub(crate) struct TurnState {
    pub(crate) parent: Option<ToolUseId>,
    /// Its calls carry on those of an earlier run.
    pub(crate) carries: bool,
    pub(crate) calls: BTreeMap<u32, CallState>,
    /// A recovery has said that its host is gone.
    pub(crate) lost: bool,
}

/// A record that is parsed if it turns out to be needed.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// Its number.
    pub(crate) number: u64,
    pub(crate) payload: Box<[u8]>,
}

/// A call so far.
#[derive(Debug)]
pub(crate) struct CallState {
    pub(crate) id: ToolUseId,
    /// The record of how it came.
    pub(crate) came: Option<Held>,
    /// The record of its start.
    pub(crate) start: Option<Held>,
    /// The record of its result.
    pub(crate) kept: Option<Held>,
    pub(crate) accepted: bool,
    pub(crate) read_only: bool,
    pub(crate) idempotent: bool,
    /// Its tool was seen to start.
    pub(crate) started: bool,
    pub(crate) refused: bool,
    /// It was told to stop.
    pub(crate) stopped: bool,
    pub(crate) stored: bool,
    pub(crate) emitted: bool,
    /// A person is being asked.
    pub(crate) question: Option<RequestId>,
}

impl CallState {
    fn new(id: ToolUseId) -> Self {
        Self {
            id,
            came: None,
            start: None,
            kept: None,
            accepted: false,
            read_only: false,
            idempotent: false,
            started: false,
            refused: false,
            stopped: false,
            stored: false,
            emitted: false,
            question: None,
        }
    }
}

#[derive(Deserialize)]
struct CamePeek {
    at: CallAt,
    id: ToolUseId,
    #[serde(default)]
    carries_on: Option<CallAt>,
}

#[derive(Deserialize)]
struct StartPeek {
    at: CallAt,
    id: ToolUseId,
    #[serde(default)]
    idempotent: bool,
}

#[derive(Deserialize)]
struct KeptPeek {
    at: CallAt,
    id: ToolUseId,
}

#[derive(Deserialize)]
struct EventPeek {
    run: u32,
    seq: u64,
    at_us: u64,
    turn: TurnId,
    event: Name,
    call: Option<u32>,
    id: Option<ToolUseId>,
    parent: Option<ToolUseId>,
    read_only: Option<bool>,
    request: Option<RequestId>,
    version: Option<u32>,
    stage: Option<Stage>,
}

/// The events that the state depends on.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Name {
    TurnOpened,
    Accepted,
    Asking,
    Withdrawn,
    Cleared,
    Refused,
    Started,
    Stopping,
    Stored,
    Emitted,
    TurnFinished,
    StageFailed,
    #[serde(other)]
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Host,
    #[serde(other)]
    Other,
}

impl Fold {
    /// How many processes have opened the journal.
    #[must_use]
    pub fn runs(&self) -> u32 {
        self.last_opened.as_ref().map_or(0, |it| it.run)
    }

    /// Takes in the next record; `number` is its own, for errors.
    ///
    /// # Errors
    ///
    /// [`BadRecord`], after which the fold is of no use.
    pub fn take(&mut self, record: RawRecord<'_>, number: u64) -> Result<(), BadRecord> {
        fn parse<'a, T: Deserialize<'a>>(payload: &'a [u8], number: u64) -> Result<T, BadRecord> {
            serde_json::from_slice(payload).map_err(|it| BadRecord::Payload(number, it))
        }
        let payload = record.payload;
        let held = || Held { number, payload: payload.into() };
        let wrong = |what| BadRecord::OutOfPlace(number, what);
        self.records += 1;
        match record.kind {
            kind::EVENT => self.event(parse(payload, number)?).map_err(wrong)?,
            kind::CALL => self.came(parse(payload, number)?, held()).map_err(wrong)?,
            kind::START => self.start(parse(payload, number)?, held()).map_err(wrong)?,
            kind::RESULT => self.result(parse(payload, number)?, held()).map_err(wrong)?,
            kind::OPENED => self.opened(parse(payload, number)?).map_err(wrong)?,
            kind::TASK => self.task(parse(payload, number)?),
            kind::MODE => self.mode = Some(parse::<Mode>(payload, number)?.mode),
            _ if record.flags & SKIPPABLE != 0 => {}
            unknown => return Err(BadRecord::UnknownKind(number, unknown)),
        }
        Ok(())
    }

    /// What there is to do about it.
    ///
    /// # Errors
    ///
    /// [`BadRecord`] if a record of an open turn does not parse.
    pub fn finish(self) -> Result<Recovered, BadRecord> {
        Recovered::of(self)
    }

    fn opened(&mut self, opened: Opened) -> Result<(), &'static str> {
        if opened.run != self.runs() + 1 {
            return Err("runs are counted one by one");
        }
        if opened.event_version > EVENT_VERSION {
            return Err("its events are of a newer schema; use a newer Toolwright");
        }
        self.last_opened = Some(opened);
        Ok(())
    }

    fn task(&mut self, task: Task) {
        match task.state {
            TaskState::Running(_) => drop(self.tasks.insert(task.task.clone(), task)),
            TaskState::Ended(_) => drop(self.tasks.remove(&task.task)),
        }
    }

    /// The call, made if the journal has not told of it before.
    fn call_or_new(&mut self, at: CallAt, id: ToolUseId) -> Result<&mut CallState, &'static str> {
        let turn = self.turns.entry((at.run, at.turn)).or_default();
        let call = turn.calls.entry(at.call).or_insert_with(|| CallState::new(id.clone()));
        if call.id == id { Ok(call) } else { Err("its place has a call with another id") }
    }

    fn find(&mut self, at: CallAt) -> Option<&mut CallState> {
        self.turns.get_mut(&(at.run, at.turn))?.calls.get_mut(&at.call)
    }

    fn came(&mut self, came: CamePeek, held: Held) -> Result<(), &'static str> {
        self.call_or_new(came.at, came.id)?.came = Some(held);
        let Some(old) = came.carries_on else {
            self.heard_of(came.at);
            return Ok(());
        };
        if old.run >= came.at.run || self.find(old).is_none_or(|it| it.kept.is_some()) {
            return Err("it carries on a call that isn't open");
        }
        self.turns.entry((came.at.run, came.at.turn)).or_default().carries = true;
        self.carriers.insert(came.at, old);
        Ok(())
    }

    /// The first call of a new message shows that the results of the last were heard of.
    fn heard_of(&mut self, at: CallAt) {
        let turn = self.turns.get(&(at.run, at.turn));
        if turn.is_some_and(|it| it.parent.is_none() && !it.carries && it.calls.len() == 1) {
            self.recent.clear();
        }
    }

    fn start(&mut self, start: StartPeek, held: Held) -> Result<(), &'static str> {
        let old = self.carriers.get(&start.at).copied();
        let call = self.call_or_new(start.at, start.id)?;
        call.start = Some(held.clone());
        call.idempotent = start.idempotent;
        if let Some(old) = old.and_then(|old| self.find(old)) {
            old.start = Some(held);
            old.idempotent = start.idempotent;
        }
        Ok(())
    }

    fn result(&mut self, kept: KeptPeek, held: Held) -> Result<(), &'static str> {
        self.gaps += u64::from(self.find(kept.at).is_none());
        let turn = self.turns.get(&(kept.at.run, kept.at.turn));
        let was_lost = turn.is_some_and(|it| it.lost);
        let call = self.call_or_new(kept.at, kept.id)?;
        if call.kept.replace(held.clone()).is_some() {
            return Err("the call has its result already");
        }
        // The result of the one is the result of the other, unless that has been answered. Of one
        // that was lost too there is no result: what becomes of the other is told of itself.
        if !was_lost
            && let Some(old) = self.carriers.get(&kept.at).copied()
            && let Some(old) = self.find(old)
        {
            old.kept.get_or_insert(held);
        }
        Ok(())
    }

    fn event(&mut self, event: EventPeek) -> Result<(), &'static str> {
        let EventPeek { run, turn, .. } = event;
        self.clocks.insert(run, Clock { next_seq: event.seq + 1, at_us: event.at_us });
        match event.event {
            Name::TurnOpened => {
                if event.version.is_none_or(|it| it > EVENT_VERSION) {
                    return Err("its events are of a newer schema; use a newer Toolwright");
                }
                self.turns.entry((run, turn)).or_default().parent = event.parent;
            }
            Name::TurnFinished => self.turn_finished((run, turn)),
            Name::StageFailed => {
                if event.stage == Some(Stage::Host)
                    && let Some(turn) = self.turns.get_mut(&(run, turn))
                {
                    turn.lost = true;
                }
            }
            Name::Withdrawn => {
                let calls = self.turns.get_mut(&(run, turn)).map(|it| it.calls.values_mut());
                let asked = calls.into_iter().flatten().find(|it| it.question == event.request);
                asked.into_iter().for_each(|it| it.question = None);
            }
            Name::Accepted => {
                let call = event.call.ok_or("it names no call")?;
                let id = event.id.ok_or("it names no id")?;
                let at = CallAt { run, turn, call };
                let call = self.call_or_new(at, id)?;
                call.accepted = true;
                call.read_only = event.read_only == Some(true);
                if call.came.is_none() {
                    self.heard_of(at);
                }
            }
            Name::Other => {}
            name @ (Name::Asking
            | Name::Cleared
            | Name::Refused
            | Name::Started
            | Name::Stopping
            | Name::Stored
            | Name::Emitted) => {
                let call = event.call.ok_or("it names no call")?;
                match self.find(CallAt { run, turn, call }) {
                    Some(call) => call.step(name, event.request, event.read_only)?,
                    None => self.gaps += 1,
                }
            }
        }
        Ok(())
    }

    fn turn_finished(&mut self, turn: (u32, TurnId)) {
        let Some(finished) = self.turns.remove(&turn) else {
            self.gaps += 1;
            return;
        };
        // It has finished all the same: every call was answered, or it would not have.
        self.gaps += finished.calls.values().filter(|it| !it.emitted).count() as u64;
        self.finished_turns += 1;
        for call in finished.calls.keys() {
            self.carriers.remove(&CallAt { run: turn.0, turn: turn.1, call: *call });
        }
        if finished.parent.is_none() && !finished.carries {
            self.recent.push((turn, finished));
        }
    }
}

impl CallState {
    fn step(
        &mut self,
        name: Name,
        request: Option<RequestId>,
        read_only: Option<bool>,
    ) -> Result<(), &'static str> {
        match name {
            Name::Asking => self.question = request,
            Name::Cleared => {
                self.question = None;
                self.read_only = read_only == Some(true);
            }
            Name::Refused => {
                self.question = None;
                self.refused = true;
            }
            Name::Stopping => self.stopped = true,
            Name::Started => self.started = true,
            Name::Stored => self.stored = true,
            Name::Emitted => {
                if std::mem::replace(&mut self.emitted, true) {
                    return Err("its result was handed out before");
                }
            }
            Name::TurnOpened
            | Name::Accepted
            | Name::Withdrawn
            | Name::TurnFinished
            | Name::StageFailed
            | Name::Other => {}
        }
        Ok(())
    }
}
