//! A small house: drives the real kernel by a row of choices and writes the events of its turns.
//!
//! It stands for the actors, without tasks, and does in any order what they may do in any order.

use std::collections::BTreeSet;
use std::num::NonZeroU16;

use toolwright_contract::{
    CallIx, Cascade, EVENT_VERSION, Effects, Ending, Event, EventKind, Footprint, HowEnded,
    OnInterrupt, Progress, Refusal, RequestId, Returned, Safety, StopCause, StopName, ToolUseId,
    TurnId, Verdict,
};
use toolwright_kernel::{Admission, Fact, Order, Phase, Place, Policy, Turn};

/// The history of `turns` turns, one after the other, as these choices make it.
pub(crate) fn history(turns: u32, choices: Vec<u16>) -> Vec<Event> {
    let mut house = House { choices: choices.into_iter(), ..House::default() };
    let mut lanes = Admission::new(NonZeroU16::new(2).unwrap_or(NonZeroU16::MIN));
    for id in 0..turns {
        lanes = house.run_turn(TurnId(id), lanes);
    }
    house.events
}

/// A job that the kernel has ordered and whose answer it is owed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Job {
    Gate,
    Log,
    Run,
    Store,
}

#[derive(Default)]
struct House {
    events: Vec<Event>,
    choices: std::vec::IntoIter<u16>,
    /// Overdue calls that aren't gone, of earlier turns.
    left_behind: Vec<(TurnId, CallIx, Place)>,
    questions: u64,
}

/// What the house keeps beside the kernel while a turn is open.
struct Open {
    id: TurnId,
    turn: Turn,
    jobs: BTreeSet<(CallIx, Job)>,
    stopping: BTreeSet<CallIx>,
    asking: Vec<(CallIx, RequestId)>,
    overdue: BTreeSet<CallIx>,
    emitted: u32,
    still_to_come: u32,
    sealed: bool,
}

impl House {
    /// The next choice among `n`; 0 once they are used up, so that every turn comes to its end.
    fn pick(&mut self, n: usize) -> usize {
        self.choices.next().map_or(0, |it| usize::from(it) % n.max(1))
    }

    fn write(&mut self, turn: TurnId, kind: EventKind) {
        let seq = self.events.len() as u64;
        self.events.push(Event { seq, at_us: seq, turn, kind });
    }

    fn run_turn(&mut self, id: TurnId, lanes: Admission) -> Admission {
        let cascade = [Cascade::Declared, Cascade::Any, Cascade::Never][self.pick(3)];
        let opened = EventKind::TurnOpened {
            version: EVENT_VERSION,
            parent: None,
            cascade: cascade.into(),
            width: 2,
        };
        self.write(id, opened);
        let mut open = Open {
            id,
            turn: Turn::new(Policy { cascade, max_calls: 5 }, lanes),
            jobs: BTreeSet::new(),
            stopping: BTreeSet::new(),
            asking: Vec::new(),
            overdue: BTreeSet::new(),
            emitted: 0,
            still_to_come: 1 + self.pick(6) as u32,
            sealed: false,
        };
        while !open.turn.is_finished() {
            self.do_something(&mut open);
        }
        for &ix in &open.overdue {
            if let Some(place) = open.turn.calls()[ix.at()].place() {
                self.left_behind.push((id, ix, place));
            }
        }
        open.turn.lanes().clone()
    }

    fn do_something(&mut self, open: &mut Open) {
        match self.pick(12) {
            0..=2 if open.still_to_come > 0 => self.submit(open),
            0..=2 if !open.sealed => {
                open.sealed = true;
                self.write(open.id, EventKind::Sealed);
                self.tell(open, Fact::Sealed);
            }
            9 => self.stop(open),
            10 => self.let_one_go(open),
            11 => self.make_overdue(open),
            _ => self.work(open),
        }
    }

    fn submit(&mut self, open: &mut Open) {
        let call = open.turn.calls().len() as u32;
        open.still_to_come -= 1;
        let screened = match self.pick(8) {
            7 => Err(Refusal::UnknownTool),
            at => Ok(safety(at)),
        };
        let safety = screened.unwrap_or_default();
        let accepted = EventKind::Accepted {
            call,
            id: id_of(call),
            tool: "Tool".into(),
            exclusive: safety.footprint == Footprint::Exclusive,
            read_only: safety.effects == Effects::ReadOnly,
        };
        self.write(open.id, accepted);
        if let Err(why) = screened {
            self.write(open.id, EventKind::Refused { call, why: why.into() });
        }
        self.tell(open, Fact::Submitted(screened));
    }

    fn stop(&mut self, open: &mut Open) {
        if self.pick(3) == 0 {
            let cause = [StopCause::User, StopCause::Shutdown][self.pick(2)];
            return self.tell(open, Fact::StopAll(cause));
        }
        let calls = open.turn.calls().len();
        if calls > 0 {
            let ix = CallIx(self.pick(calls) as u32);
            let cause = [StopCause::Deadline, StopCause::User][self.pick(2)];
            self.tell(open, Fact::StopOne(ix, cause));
        }
    }

    fn make_overdue(&mut self, open: &mut Open) {
        let overdue = |it: &&(CallIx, Job)| open.stopping.contains(&it.0) && it.1 != Job::Store;
        if let Some(&(ix, job)) = open.jobs.iter().find(overdue) {
            self.take_questions_back(open, ix);
            self.write(open.id, EventKind::Overdue { call: ix.0 });
            open.jobs.remove(&(ix, job));
            open.overdue.insert(ix);
            self.tell(open, Fact::Overdue(ix));
        }
    }

    /// An overdue call really ends: one of this turn, or of an earlier one.
    fn let_one_go(&mut self, open: &mut Open) {
        if let Some((turn, ix, place)) = self.left_behind.pop() {
            self.write(turn, EventKind::Gone { call: ix.0 });
            self.tell(open, Fact::Freed(place));
        } else if let Some(ix) = open.overdue.pop_first() {
            self.write(open.id, EventKind::Gone { call: ix.0 });
            self.tell(open, Fact::Gone(ix));
        }
    }

    /// Answers one of the jobs, if there are any.
    fn work(&mut self, open: &mut Open) {
        let at = self.pick(open.jobs.len());
        let Some(&(ix, job)) = open.jobs.iter().nth(at) else {
            // Out of choices, with nobody at work: what is missing must be behind an overdue call.
            if open.still_to_come == 0 && open.sealed {
                self.let_one_go(open);
            }
            return;
        };
        match job {
            Job::Gate => self.answer_gate(open, ix),
            Job::Log => {
                open.jobs.remove(&(ix, job));
                self.write(open.id, EventKind::Logged { call: ix.0 });
                self.tell(open, Fact::Logged(ix));
            }
            Job::Run => self.answer_run(open, ix),
            Job::Store => {
                open.jobs.remove(&(ix, job));
                self.write(open.id, EventKind::Stored { call: ix.0, spilled: None });
                self.tell(open, Fact::Stored(ix));
            }
        }
    }

    fn answer_gate(&mut self, open: &mut Open, ix: CallIx) {
        let call = ix.0;
        let choice = self.pick(8);
        let asks = open.asking.iter().any(|it| it.0 == ix);
        if choice == 7 && !asks && !open.stopping.contains(&ix) {
            self.questions += 1;
            let request = RequestId(self.questions);
            open.asking.push((ix, request));
            self.write(open.id, EventKind::Asking { call, request });
            return self.tell(open, Fact::Asking(ix));
        }
        open.jobs.remove(&(ix, Job::Gate));
        open.asking.retain(|it| it.0 != ix);
        if choice == 6 {
            let why = Refusal::Denied;
            self.write(open.id, EventKind::Refused { call, why: why.into() });
            return self.tell(open, Fact::Refused(ix, why));
        }
        let safety = safety(self.pick(7));
        let cleared = EventKind::Cleared {
            call,
            exclusive: safety.footprint == Footprint::Exclusive,
            read_only: safety.effects == Effects::ReadOnly,
        };
        self.write(open.id, cleared);
        self.tell(open, Fact::Cleared(ix, safety));
    }

    fn answer_run(&mut self, open: &mut Open, ix: CallIx) {
        let call = ix.0;
        let verdict = match self.pick(9) {
            1 => Verdict::Bad { cascades: false },
            2 => Verdict::Bad { cascades: true },
            3 => Verdict::Crashed,
            4 => Verdict::Stopped,
            5 | 6 => return self.lend_or_claim(open, ix),
            _ => Verdict::Good,
        };
        open.jobs.remove(&(ix, Job::Run));
        let cascades = verdict == Verdict::Bad { cascades: true };
        self.write(open.id, EventKind::Returned { call, verdict: verdict.into(), cascades });
        self.tell(open, Fact::Returned(ix, verdict));
    }

    fn lend_or_claim(&mut self, open: &mut Open, ix: CallIx) {
        let before = open.turn.clone();
        if open.turn.tell(Fact::Lent(ix)).is_ok() {
            open.turn = before;
            self.write(open.id, EventKind::Lent { call: ix.0 });
            self.tell(open, Fact::Lent(ix));
        } else if open.turn.tell(Fact::Reclaimed(ix)).is_ok() {
            self.obey(open);
        }
    }

    fn tell(&mut self, open: &mut Open, fact: Fact) {
        if let Err(violation) = open.turn.tell(fact) {
            panic!("{violation}");
        }
        self.obey(open);
    }

    fn obey(&mut self, open: &mut Open) {
        while let Some(order) = open.turn.next_order() {
            match order {
                Order::Gate(ix) => {
                    self.write(open.id, EventKind::Gated { call: ix.0 });
                    open.jobs.insert((ix, Job::Gate));
                }
                Order::Log(ix) => drop(open.jobs.insert((ix, Job::Log))),
                Order::Run(ix) => {
                    self.write(open.id, EventKind::Started { call: ix.0 });
                    open.jobs.insert((ix, Job::Run));
                }
                Order::Resume(ix) => self.write(open.id, EventKind::Resumed { call: ix.0 }),
                Order::Stop(ix, cause) => self.tell_stop(open, ix, cause),
                Order::Store(ix, ending) => {
                    if let Ending::Stopped(cause, _) = ending {
                        self.tell_stop(open, ix, cause);
                    }
                    open.jobs.insert((ix, Job::Store));
                }
                Order::Finish => {
                    self.hand_out(open);
                    let calls = open.turn.calls().len() as u32;
                    self.write(open.id, EventKind::TurnFinished { calls });
                }
            }
        }
        self.hand_out(open);
    }

    fn tell_stop(&mut self, open: &mut Open, ix: CallIx, cause: StopCause) {
        if open.stopping.insert(ix) {
            let culprit = if let StopCause::Sibling(it) = cause { Some(it.0) } else { None };
            let cause = StopName::from(cause);
            self.write(open.id, EventKind::Stopping { call: ix.0, cause, culprit });
            self.take_questions_back(open, ix);
        }
    }

    fn take_questions_back(&mut self, open: &mut Open, ix: CallIx) {
        let asks = |it: &(CallIx, RequestId)| it.0 == ix;
        if let Some(at) = open.asking.iter().position(asks) {
            let (_, request) = open.asking[at];
            // It is kept in the list: the gate has asked, and doesn't ask again.
            if !self.events.iter().any(|it| it.kind == EventKind::Withdrawn { request }) {
                self.write(open.id, EventKind::Withdrawn { request });
            }
        }
    }

    fn hand_out(&mut self, open: &mut Open) {
        while let Some(Phase::Settled(settled)) = open.turn.calls().get(open.emitted as usize) {
            let Some(ending) = Phase::from(*settled).ending() else { return };
            let (call, ended) = (open.emitted, how(ending));
            let is_error = ended != HowEnded::Ok;
            self.write(open.id, EventKind::Emitted { call, id: id_of(call), ended, is_error });
            open.emitted += 1;
        }
    }
}

fn how(ending: Ending) -> HowEnded {
    match ending {
        Ending::Returned(Returned::Ok) => HowEnded::Ok,
        Ending::Returned(Returned::Error) => HowEnded::Error,
        Ending::Returned(Returned::Crashed) => HowEnded::Crashed,
        Ending::Refused(_) => HowEnded::Refused,
        Ending::Stopped(_, Progress::NotStarted) => HowEnded::StoppedNotStarted,
        Ending::Stopped(_, Progress::MayHaveRun) => HowEnded::StoppedMayHaveRun,
    }
}

fn safety(at: usize) -> Safety {
    match at {
        0..=3 => Safety::read_only(),
        4 => Safety { footprint: Footprint::Exclusive, ..Safety::read_only() },
        5 => Safety { effects: Effects::Writes, ..Safety::read_only() },
        _ => Safety { on_interrupt: OnInterrupt::Block, ..Safety::default() },
    }
}

fn id_of(call: u32) -> ToolUseId {
    format!("c{call}").as_str().into()
}
