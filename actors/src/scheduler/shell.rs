//! The scheduler actor: turns messages into facts and orders into jobs. It decides nothing.

use std::collections::{BTreeMap, VecDeque};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::oneshot;
use toolwright_contract::{
    CallIx, EventKind, Footprint, Outcome, Screening, Stop, StopCause, ToolUse, Verdict,
};
use toolwright_kernel::{Effects, Fact, PhaseName, Safety, Turn};

use super::slip::{Paper, Slip};
use super::{SchedulerArgs, SchedulerMsg};
use crate::inbox::{Kept, News, StopWish, Timer};

/// The scheduler of one turn.
pub(crate) struct Scheduler;

/// What the scheduler remembers.
pub(crate) struct State {
    pub(super) args: SchedulerArgs,
    pub(super) turn: Turn,
    pub(super) slips: Vec<Slip>,
    facts: VecDeque<Fact>,
    news: Vec<(CallIx, News)>,
    /// Stops of calls that are still in the mailbox.
    early_stops: BTreeMap<CallIx, StopCause>,
    /// Overdue calls of this turn that haven't gone yet.
    overdue: usize,
}

impl Actor for Scheduler {
    type Msg = SchedulerMsg;
    type State = State;
    type Arguments = SchedulerArgs;

    async fn pre_start(
        &self,
        _: ActorRef<SchedulerMsg>,
        args: SchedulerArgs,
    ) -> Result<State, ActorProcessingErr> {
        let turn = Turn::new(args.policy, args.lanes.clone());
        Ok(State {
            args,
            turn,
            slips: Vec::new(),
            facts: VecDeque::new(),
            news: Vec::new(),
            early_stops: BTreeMap::new(),
            overdue: 0,
        })
    }

    async fn handle(
        &self,
        me: ActorRef<SchedulerMsg>,
        msg: SchedulerMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        #[cfg(test)]
        crate::faults::strike(toolwright_contract::StageName::Scheduler);
        if matches!(msg, SchedulerMsg::Wake) {
            state.args.inbox.awake();
        }
        // Before the message, so that no stop waits behind a flood of submits.
        state.take_stops()?;
        match msg {
            SchedulerMsg::Submit(ix, call, room) => {
                drop(room);
                state.submitted(ix, *call);
            }
            SchedulerMsg::Seal => {
                state.emit(|| EventKind::Sealed);
                state.facts.push_back(Fact::Sealed);
            }
            SchedulerMsg::Wake => state.take_news()?,
        }
        state.settle_facts()?;
        if state.turn.is_finished() && state.overdue == 0 {
            me.stop(None);
        }
        Ok(())
    }
}

impl State {
    fn take_stops(&mut self) -> Result<(), ActorProcessingErr> {
        while let Some(wish) = self.args.inbox.next_stop() {
            match wish {
                StopWish::All(cause) => self.facts.push_back(Fact::StopAll(cause)),
                StopWish::One(id, cause) => match self.args.ledger.find(&id) {
                    Some(ix) if ix.at() < self.slips.len() => {
                        self.facts.push_back(Fact::StopOne(ix, cause));
                    }
                    // It is still in the mailbox.
                    Some(ix) => {
                        self.early_stops.entry(ix).or_insert(cause);
                    }
                    None => {}
                },
            }
        }
        self.settle_facts()
    }

    fn submitted(&mut self, ix: CallIx, call: ToolUse) {
        let tool = self.args.tools.get(&call.name).cloned();
        let (id, name) = (call.id.clone(), self.args.ledger.see(ix).into_string());
        let (fact, stage) = match call.screen(&self.args.tools) {
            Screening::Passed(it) => (Ok(it.safety()), Paper::Screened(it)),
            Screening::Failed(why, text) => (Err(why), Paper::Refusal(text)),
        };
        let safety = fact.unwrap_or_default();
        self.emit(|| EventKind::Accepted {
            call: ix.0,
            id: id.clone(),
            tool: name,
            exclusive: safety.footprint == Footprint::Exclusive,
            read_only: safety.effects == Effects::ReadOnly,
        });
        if let Err(why) = fact {
            self.emit(|| EventKind::Refused { call: ix.0, why: why.into() });
        }
        let slip = Slip::new(id, tool, stage, Stop::child_of(&self.args.orphaned));
        self.slips.push(slip);
        self.facts.push_back(Fact::Submitted(fact));
        let stop = self.early_stops.remove(&ix);
        self.facts.extend(stop.map(|cause| Fact::StopOne(ix, cause)));
        if self.lanes_are_held() {
            self.arm_wait(ix);
        }
    }

    fn take_news(&mut self) -> Result<(), ActorProcessingErr> {
        while let Some(place) = self.args.inbox.next_freed() {
            self.facts.push_back(Fact::Freed(place));
        }
        let mut news = std::mem::take(&mut self.news);
        self.args.inbox.take_news(&mut news);
        for (ix, it) in news.drain(..) {
            self.take_in(ix, it);
            self.settle_facts()?;
            self.rejoins(ix);
        }
        self.news = news;
        Ok(())
    }

    fn take_in(&mut self, ix: CallIx, news: News) {
        let Some(slip) = self.slips.get_mut(ix.at()) else { return };
        let fact = match news {
            // Whatever an overdue job has to say comes too late, but for its results being kept.
            News::Cleared(_) | News::Refused(..) | News::Logged | News::Returned(_)
                if slip.overdue =>
            {
                return self.gone(ix);
            }
            News::Asking(request) => {
                // Where it comes too late, its withdrawal is under way.
                if self.turn.calls()[ix.at()].name() != PhaseName::Gating {
                    return;
                }
                slip.asked = Some(request);
                self.emit(|| EventKind::Asking { call: ix.0, request });
                Fact::Asking(ix)
            }
            News::Withdrawn(request) => {
                let asked = slip.asked.take().is_some();
                if asked && !self.turn.is_finished() {
                    self.emit(|| EventKind::Withdrawn { request });
                }
                return;
            }
            News::Cleared(pass) => {
                let safety = pass.cleared.safety();
                slip.stage = Paper::Cleared(pass);
                self.tell_cleared(ix, safety);
                Fact::Cleared(ix, safety)
            }
            News::Refused(why, text) => {
                slip.stage = Paper::Refusal(text);
                // Of a call that was told to stop, the stop is told and no more.
                if !slip.stop.is_told() {
                    self.emit(|| EventKind::Refused { call: ix.0, why: why.into() });
                }
                Fact::Refused(ix, why)
            }
            News::Logged => {
                self.emit(|| EventKind::Logged { call: ix.0 });
                Fact::Logged(ix)
            }
            News::Lent => return self.lent(ix),
            News::Reclaimed(resume) => return self.reclaimed(ix, resume),
            News::Returned(outcome) => self.returned(ix, outcome),
            News::Stored(kept) => {
                self.stored(ix, *kept);
                Fact::Stored(ix)
            }
            News::Late(which) => return self.late(ix, which),
        };
        self.facts.push_back(fact);
    }

    /// A call that waits for its lane holds no share meanwhile: those that it waits for may
    /// need it.
    fn rejoins(&mut self, ix: CallIx) {
        if self.phase(ix) == Some(PhaseName::Rejoining)
            && let Paper::Cleared(pass) = &mut self.slips[ix.at()].stage
        {
            pass.share = None;
            if self.lanes_are_held() {
                self.arm_wait(ix);
            }
        }
    }

    fn tell_cleared(&self, ix: CallIx, safety: Safety) {
        self.emit(|| EventKind::Cleared {
            call: ix.0,
            exclusive: safety.footprint == Footprint::Exclusive,
            read_only: safety.effects == Effects::ReadOnly,
        });
    }

    fn lent(&mut self, ix: CallIx) {
        let runs = self.phase(ix) == Some(PhaseName::Running);
        // It may have lent it before and given up waiting for it.
        if runs && !std::mem::replace(&mut self.slips[ix.at()].lent, true) {
            self.emit(|| EventKind::Lent { call: ix.0 });
            self.facts.push_back(Fact::Lent(ix));
        }
    }

    fn reclaimed(&mut self, ix: CallIx, resume: oneshot::Sender<()>) {
        let slip = &mut self.slips[ix.at()];
        // Where it holds its width, or was answered meanwhile, the sender is dropped, and the
        // call goes on.
        if slip.lent && self.turn.calls()[ix.at()].name() == PhaseName::Running {
            let claims = slip.resume.replace(resume).is_some();
            self.facts.extend((!claims).then_some(Fact::Reclaimed(ix)));
            if self.lanes_are_held() {
                self.arm_wait(ix);
            }
        }
    }

    fn returned(&mut self, ix: CallIx, outcome: Box<Outcome>) -> Fact {
        let verdict = outcome.verdict;
        self.args.ledger.ended(ix);
        let slip = &mut self.slips[ix.at()];
        slip.stage = Paper::Outcome(outcome);
        slip.timers.drain(..).for_each(|it| it.abort());
        self.emit(|| EventKind::Returned {
            call: ix.0,
            verdict: verdict.into(),
            cascades: matches!(verdict, Verdict::Bad { cascades: true }),
        });
        Fact::Returned(ix, verdict)
    }

    fn stored(&mut self, ix: CallIx, kept: Kept) {
        let Kept { result, ended, notes, spilled, unwritten } = kept;
        self.args.house.wrote(self.args.lineage.turn, unwritten.as_deref());
        self.emit(|| EventKind::Stored { call: ix.0, spilled });
        let ledger = &self.args.ledger;
        let tell = self.args.house.emit_answers(self.args.lineage.turn, ledger);
        ledger.answer(ix, result, ended, notes, tell);
    }

    fn late(&mut self, ix: CallIx, which: Timer) {
        match (which, self.phase(ix)) {
            (Timer::Deadline, _) => self.facts.push_back(Fact::StopOne(ix, StopCause::Deadline)),
            (Timer::Grace, Some(PhaseName::Gating | PhaseName::Logging | PhaseName::Running)) => {
                self.overdue(ix)
            }
            (Timer::Wait, Some(PhaseName::Waiting | PhaseName::Rejoining))
                if self.lanes_are_held() =>
            {
                self.facts.push_back(Fact::StopOne(ix, StopCause::Deadline));
            }
            (Timer::Wait, Some(PhaseName::Running))
                if self.lanes_are_held() && self.slips[ix.at()].resume.is_some() =>
            {
                self.facts.push_back(Fact::StopOne(ix, StopCause::Deadline));
            }
            (Timer::Grace | Timer::Wait, _) => {}
        }
    }

    /// Answers a call that was told to stop and didn't; what it holds is held until it is gone.
    fn overdue(&mut self, ix: CallIx) {
        let Some(place) = self.turn.calls().get(ix.at()).and_then(|it| it.place()) else { return };
        self.slips[ix.at()].overdue = true;
        self.overdue += 1;
        self.emit(|| EventKind::Overdue { call: ix.0 });
        self.args.house.hold((self.args.lineage.turn, ix), place);
        self.facts.push_back(Fact::Overdue(ix));
        let calls = self.turn.calls().iter().zip(&self.slips).enumerate();
        let waiting: Vec<_> = calls
            .filter(|(_, (it, slip))| {
                it.ending().is_none() && (it.place().is_none() || slip.resume.is_some())
            })
            .map(|(at, _)| CallIx(at as u32))
            .collect();
        waiting.into_iter().for_each(|it| self.arm_wait(it));
    }

    fn gone(&mut self, ix: CallIx) {
        self.slips[ix.at()].overdue = false;
        self.overdue -= 1;
        self.args.ledger.ended(ix);
        self.emit(|| EventKind::Gone { call: ix.0 });
        self.args.house.desk.free((self.args.lineage.turn, ix));
        self.facts.push_back(Fact::Gone(ix));
    }

    fn lanes_are_held(&self) -> bool {
        self.overdue > 0 || self.turn.inherits()
    }

    /// Tells the kernel what has happened and carries its orders out, until there is no more.
    fn settle_facts(&mut self) -> Result<(), ActorProcessingErr> {
        while let Some(fact) = self.facts.pop_front() {
            // A bug of this shell: the session answers for the turn, and the calls are told as
            // interrupted.
            self.turn.tell(fact)?;
            while let Some(order) = self.turn.next_order() {
                self.obey(order);
            }
        }
        Ok(())
    }

    pub(super) fn phase(&self, ix: CallIx) -> Option<PhaseName> {
        Some(self.turn.calls().get(ix.at())?.name())
    }

    pub(super) fn emit(&self, kind: impl FnOnce() -> EventKind) {
        self.args.house.bus.emit(self.args.lineage.turn, kind);
    }
}

impl Drop for State {
    /// No timer outlives its turn.
    fn drop(&mut self) {
        for timer in self.slips.iter_mut().flat_map(|it| it.timers.drain(..)) {
            timer.abort();
        }
    }
}
