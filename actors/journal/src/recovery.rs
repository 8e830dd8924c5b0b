//! Recovery: what must happen to each call that a dead process left open, and the records of that.
//!
//! Pure: [`Recovered`] is made from records and says what to write. What it says is written in the
//! same journal and folds into the same state, so a crash in the middle of a recovery is nothing
//! special: the next one goes on from there.

use std::collections::BTreeMap;

use toolwright_contract::{
    Event, EventKind, HowEnded, Progress, RequestId, StageName, ToolResult, ToolUseId, TurnId,
    wording,
};

use crate::fold::{CallState, Clock, Fold, Held, TurnState};
use crate::record::{BadRecord, CallAt, CallCame, Input, Kept, Opened, Record, Starting, Task};

/// What the records of a session say about what is open.
#[derive(Debug)]
pub struct Recovered {
    /// The newest process that had it open.
    pub last_opened: Option<Opened>,
    /// Turns that owe something, in the order of opening.
    pub turns: Vec<OpenTurn>,
    /// Turns that owe nothing, but that no later turn shows to have been heard of.
    pub recent: Vec<OpenTurn>,
    /// What runs in the background, as far as is known.
    pub tasks: Vec<Task>,
    /// The permission mode, if one was recorded.
    pub mode: Option<String>,
    /// Turns that finished.
    pub finished_turns: u64,
    /// Records that were read.
    pub records: u64,
    /// Records that speak of what was not recorded, as they do after a full disk.
    pub gaps: u64,
    /// Where the events of each run have got to.
    clocks: BTreeMap<u32, Clock>,
}

/// A turn that a process left behind.
#[derive(Debug)]
pub struct OpenTurn {
    /// The run that opened it.
    pub run: u32,
    /// Its number in that run.
    pub turn: TurnId,
    /// The call on whose behalf it was opened. Nobody waits for its results any more.
    pub parent: Option<ToolUseId>,
    /// Its calls carry on those of an earlier run, which have their results.
    pub carries: bool,
    /// Its calls, in order.
    pub calls: Vec<OpenCall>,
    lost: bool,
    settled: bool,
    clock: Clock,
}

/// A call of such a turn.
#[derive(Debug)]
pub struct OpenCall {
    /// Where it was.
    pub at: CallAt,
    /// Its id.
    pub id: ToolUseId,
    /// How it came, if that was recorded.
    pub came: Option<CallCame>,
    /// The record of its start.
    pub start: Option<Starting>,
    /// Its result, if it has one.
    pub kept: Option<Kept>,
    /// Whether its result was handed out.
    pub emitted: bool,
    /// The question to a person that was open.
    pub question: Option<RequestId>,
    read_only: bool,
    started: bool,
    refused: bool,
    stopped: bool,
    accepted: bool,
    stored: bool,
}

/// What must happen to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Nothing: its result was handed out.
    Nothing,
    /// Its result is durable and has to be handed out, once.
    Emit,
    /// It has no result: it is answered as interrupted.
    Answer(Progress),
    /// It is run (again), in a call that carries it on ([`CallCame::carries_on`]), whose result is
    /// then its own. An open question is asked again on the way.
    Run {
        /// The question that was open.
        question: Option<RequestId>,
    },
}

/// Whether calls of a kind are answered or run when a session is resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resume {
    /// They are answered as interrupted, and the model decides. The default.
    #[default]
    Answer,
    /// They are run.
    Run,
}

/// What to do with calls that have no result. No policy runs a call again that may have run,
/// unless it was declared to be read-only or idempotent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Calls that have not started.
    pub not_started: Resume,
    /// Calls that have not started because a person was being asked (default: run, so that the
    /// question is asked again).
    pub asked: Resume,
    /// Calls that may have run, and were declared to be read-only or idempotent.
    pub repeatable: Resume,
}

impl Default for Policy {
    fn default() -> Self {
        Self { not_started: Resume::Answer, asked: Resume::Run, repeatable: Resume::Answer }
    }
}

impl OpenCall {
    /// How far it came. A call that isn't read-only has not started without its start record; of
    /// a read-only one nobody can tell.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let may = self.start.is_some() || self.started || (self.read_only && !self.refused);
        if may { Progress::MayHaveRun } else { Progress::NotStarted }
    }

    /// Whether running it twice is declared to do no harm.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        self.start.as_ref().map_or(self.read_only, |it| it.idempotent)
    }

    /// The input that it runs with: as it came, or as it was when it was let through.
    #[must_use]
    pub fn input(&self) -> Option<Input> {
        let changed = self.start.as_ref().and_then(|it| it.input.clone()).map(Input::Json);
        changed.or_else(|| self.came.as_ref().map(|it| it.input.clone()))
    }

    /// What must happen to it.
    #[must_use]
    pub fn duty(&self, policy: Policy) -> Duty {
        if self.emitted {
            return Duty::Nothing;
        }
        if self.kept.is_some() {
            return Duty::Emit;
        }
        let progress = self.progress();
        let resume = match progress {
            Progress::MayHaveRun if self.is_repeatable() => policy.repeatable,
            Progress::MayHaveRun => Resume::Answer,
            // Why it was refused is lost, but not that it was; and who stopped it meant it.
            Progress::NotStarted if self.refused || self.stopped => Resume::Answer,
            Progress::NotStarted if self.question.is_some() => policy.asked,
            Progress::NotStarted => policy.not_started,
        };
        match resume {
            Resume::Run if self.came.is_some() => Duty::Run { question: self.question },
            // What it was to run with is not known.
            Resume::Run | Resume::Answer => Duty::Answer(progress),
        }
    }

    /// Its result as interrupted.
    fn interrupted(&self, progress: Progress) -> Kept {
        let content = wording::interrupted(progress).into();
        let result = ToolResult { id: self.id.clone(), content, is_error: true };
        let ended = match progress {
            Progress::MayHaveRun => HowEnded::StoppedMayHaveRun,
            Progress::NotStarted => HowEnded::StoppedNotStarted,
        };
        Kept::of(self.at, &result, ended)
    }
}

impl OpenTurn {
    /// The results that were handed out so far, in order.
    pub fn results(&self) -> impl Iterator<Item = ToolResult> {
        let emitted = self.calls.iter().filter(|it| it.emitted);
        emitted.filter_map(|it| it.kept.as_ref()).map(Kept::result)
    }

    /// Whether a model is to read its results: not those of nested turns, nor of turns that carry
    /// calls on.
    #[must_use]
    pub fn is_for_the_model(&self) -> bool {
        self.parent.is_none() && !self.carries
    }

    /// The calls that have to be run, in order.
    pub fn to_run(&self, policy: Policy) -> impl Iterator<Item = &OpenCall> {
        let policy = self.policy(policy);
        self.calls.iter().filter(move |it| matches!(it.duty(policy), Duty::Run { .. }))
    }

    /// Nobody would hear of a call that is run for a turn to which nobody listens.
    fn policy(&self, policy: Policy) -> Policy {
        const NONE: Policy = Policy {
            not_started: Resume::Answer,
            asked: Resume::Answer,
            repeatable: Resume::Answer,
        };
        if self.is_for_the_model() { policy } else { NONE }
    }

    /// What to write so that this turn owes nothing more, up to the first call that has to be run;
    /// after its result was [taken](Self::take_result), ask again. Each result is handed out once
    /// its `emitted` event is acknowledged; the turn is taken to be told so.
    pub fn settle(&mut self, policy: Policy) -> Vec<Record> {
        let policy = self.policy(policy);
        let mut records = Vec::new();
        if self.settled {
            return records;
        }
        if !std::mem::replace(&mut self.lost, true) {
            records.push(self.clock.event(
                self.run,
                self.turn,
                EventKind::StageFailed {
                    stage: StageName::Host,
                    why: "the process that ran the session has ended".to_owned(),
                    restarted: true,
                },
            ));
        }
        let (run, turn) = (self.run, self.turn);
        for call in &mut self.calls {
            match call.duty(policy) {
                Duty::Nothing => continue,
                Duty::Run { .. } => return records,
                Duty::Emit => {}
                Duty::Answer(progress) => {
                    let kept = call.interrupted(progress);
                    records.push(Record::Result(kept.clone()));
                    call.kept = Some(kept);
                }
            }
            let mut event = |kind| records.push(self.clock.event(run, turn, kind));
            let Some(kept) = &call.kept else { continue };
            let (ix, id) = (call.at.call, call.id.clone());
            if !std::mem::replace(&mut call.accepted, true) {
                let tool = call.came.as_ref().map(|it| it.tool.clone()).unwrap_or_default();
                let (exclusive, read_only, id) = (true, false, id.clone());
                event(EventKind::Accepted { call: ix, id, tool, exclusive, read_only });
            }
            if !std::mem::replace(&mut call.stored, true) {
                event(EventKind::Stored {
                    call: ix,
                    spilled: kept.file.as_ref().map(|it| it.bytes),
                });
            }
            let (ended, is_error) = (kept.ended, kept.is_error);
            event(EventKind::Emitted { call: ix, id, ended, is_error });
            call.emitted = true;
        }
        // The number of calls was a `u32` when they came.
        let calls = self.calls.len() as u32;
        self.settled = true;
        records.push(self.clock.event(run, turn, EventKind::TurnFinished { calls }));
        records
    }

    /// Whether it owes nothing more.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Takes the result of a call that carried one of these on.
    pub fn take_result(&mut self, call: u32, kept: Kept) {
        if let Some(it) = self.calls.iter_mut().find(|it| it.at.call == call) {
            it.kept = Some(kept);
        }
    }
}

impl Clock {
    fn event(&mut self, run: u32, turn: TurnId, kind: EventKind) -> Record {
        let seq = self.next_seq;
        self.next_seq += 1;
        Record::Event { run, event: Event { seq, at_us: self.at_us, turn, kind } }
    }
}

impl Recovered {
    pub(crate) fn of(fold: Fold) -> Result<Self, BadRecord> {
        let clock = |run: u32| fold.clocks.get(&run).copied().unwrap_or_default();
        let open = |((run, turn), state)| OpenTurn::of(run, turn, state, clock(run));
        Ok(Self {
            last_opened: fold.last_opened,
            turns: fold.turns.into_iter().map(open).collect::<Result<_, _>>()?,
            recent: fold.recent.into_iter().map(open).collect::<Result<_, _>>()?,
            tasks: fold.tasks.into_values().collect(),
            mode: fold.mode,
            finished_turns: fold.finished_turns,
            records: fold.records,
            gaps: fold.gaps,
            clocks: BTreeMap::new(),
        })
    }

    /// Settles every turn as far as that goes, one after the other: what to write, in this order.
    /// After results were taken, ask again.
    pub fn settle(&mut self, policy: Policy) -> Vec<Record> {
        let mut records = Vec::new();
        for turn in &mut self.turns {
            // Turns of one run share its clock.
            let clock = self.clocks.entry(turn.run).or_insert(turn.clock);
            turn.clock = *clock;
            records.extend(turn.settle(policy));
            *clock = turn.clock;
        }
        records
    }
}

impl OpenTurn {
    fn of(run: u32, turn: TurnId, state: TurnState, clock: Clock) -> Result<Self, BadRecord> {
        let TurnState { parent, carries, calls, lost } = state;
        let of = |(call, it)| OpenCall::of(CallAt { run, turn, call }, it);
        let calls = calls.into_iter().map(of).collect::<Result<_, _>>()?;
        Ok(Self { run, turn, parent, carries, calls, lost, settled: false, clock })
    }
}

impl OpenCall {
    fn of(at: CallAt, state: CallState) -> Result<Self, BadRecord> {
        fn parsed<T: serde::de::DeserializeOwned>(
            held: Option<Held>,
        ) -> Result<Option<T>, BadRecord> {
            let Some(Held { number, payload }) = held else { return Ok(None) };
            let parsed = serde_json::from_slice(&payload);
            parsed.map(Some).map_err(|it| BadRecord::Payload(number, it))
        }
        Ok(Self {
            at,
            id: state.id,
            came: parsed(state.came)?,
            start: parsed(state.start)?,
            // That of a call which carries this one on names its own place.
            kept: parsed::<Kept>(state.kept)?.map(|it| Kept { at, ..it }),
            emitted: state.emitted,
            question: state.question,
            read_only: state.read_only,
            started: state.started,
            refused: state.refused,
            stopped: state.stopped,
            accepted: state.accepted,
            stored: state.stored,
        })
    }
}
