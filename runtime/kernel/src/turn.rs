//! One turn: a row of calls, the lanes they take, and the orders that follow.

use std::collections::VecDeque;

use crate::admission::Admission;
use crate::call::{Phase, Storing, Waiting};
use crate::words::{
    CallIx, Cascade, Ending, Fact, Order, Policy, Refusal, Returned, Safety, StopCause, Verdict,
    Violation,
};

/// All calls of one assistant message.
///
/// Tell it [`Fact`]s with [`tell`](Self::tell), then drain [`next_order`](Self::next_order).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    policy: Policy,
    calls: Vec<Phase>,
    orders: VecDeque<Order>,
    lanes: Admission,
    /// The part of `lanes` that overdue calls of earlier turns hold.
    inherited: Admission,
    /// Every call before this one has passed its lane's door.
    frontier: usize,
    /// Calls that want their lent width back, in the order of their wish.
    claiming: VecDeque<CallIx>,
    unsettled: usize,
    sealed: bool,
    given_up: Option<StopCause>,
    finished: bool,
}

impl Turn {
    /// An empty turn in these lanes.
    #[must_use]
    pub fn new(policy: Policy, lanes: Admission) -> Self {
        Self {
            policy,
            calls: Vec::new(),
            orders: VecDeque::new(),
            inherited: lanes.clone(),
            lanes,
            frontier: 0,
            claiming: VecDeque::new(),
            unsettled: 0,
            sealed: false,
            given_up: None,
            finished: false,
        }
    }

    /// The phases, in arrival order.
    #[must_use]
    pub fn calls(&self) -> &[Phase] {
        &self.calls
    }

    /// The lanes as they are now: after [`Order::Finish`], what overdue calls still hold.
    #[must_use]
    pub fn lanes(&self) -> &Admission {
        &self.lanes
    }

    /// Whether overdue calls of earlier turns hold a part of the lanes.
    #[must_use]
    pub fn inherits(&self) -> bool {
        !self.inherited.is_empty()
    }

    /// Whether [`Order::Finish`] has been given.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The next thing to do outside, if any.
    pub fn next_order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// Takes in what has happened.
    ///
    /// # Errors
    ///
    /// A [`Violation`] if the fact cannot be true here; the turn is then unchanged.
    pub fn tell(&mut self, fact: Fact) -> Result<(), Violation> {
        self.take_in(fact).ok_or(Violation(fact))?;
        self.admit();
        if self.sealed && self.unsettled == 0 && !self.finished {
            self.finished = true;
            self.orders.push_back(Order::Finish);
        }
        Ok(())
    }

    /// `None` if the fact cannot be true here.
    fn take_in(&mut self, fact: Fact) -> Option<()> {
        match fact {
            Fact::Submitted(screened) => self.submitted(screened),
            Fact::Sealed => (!std::mem::replace(&mut self.sealed, true)).then_some(()),
            Fact::Asking(ix) => self.step(ix, self.phase(ix)?.gating()?.ask()?),
            Fact::Cleared(ix, safety) => self.step(ix, self.phase(ix)?.gating()?.cleared(safety)),
            Fact::Refused(ix, why) => self.refused(ix, why),
            Fact::Logged(ix) => self.step(ix, self.phase(ix)?.logging()?.logged()),
            Fact::Lent(ix) => self.step(ix, self.phase(ix)?.running()?.lend()?),
            Fact::Reclaimed(ix) => {
                self.step(ix, self.phase(ix)?.running()?.claim()?)?;
                self.claiming.push_back(ix);
                Some(())
            }
            Fact::Returned(ix, verdict) => self.returned(ix, verdict),
            Fact::Stored(ix) => self.step(ix, self.phase(ix)?.storing()?.stored()),
            Fact::StopOne(ix, cause) => {
                if self.phase(ix).is_some() {
                    self.stop(ix, cause);
                }
                Some(())
            }
            Fact::StopAll(cause) => {
                self.stop_all(cause);
                Some(())
            }
            Fact::Overdue(ix) => self.overdue(ix),
            Fact::Gone(ix) => self.step(ix, self.phase(ix)?.gone()?),
            Fact::Freed(place) => {
                (self.inherited.leave(Some(place)) && self.lanes.leave(Some(place))).then_some(())
            }
        }
    }

    fn phase(&self, ix: CallIx) -> Option<Phase> {
        self.calls.get(ix.at()).copied()
    }

    fn submitted(&mut self, screened: Result<Safety, Refusal>) -> Option<()> {
        let ix = CallIx(u32::try_from(self.calls.len()).ok()?);
        if self.sealed {
            return None;
        }
        // Once is enough: a call that arrives later finds the turn given up.
        if ix.0 == self.policy.max_calls {
            self.stop_all(StopCause::TooManyCalls);
        }
        let (phase, ending) = match (self.given_up, screened) {
            (_, Err(why)) => {
                let storing = Storing::refused_at_once(why);
                (Phase::from(storing), Some(storing.ending))
            }
            (Some(cause), Ok(_)) => {
                let storing = Storing::stopped_at_once(cause);
                (Phase::from(storing), Some(storing.ending))
            }
            (None, Ok(safety)) => (Waiting { safety }.into(), None),
        };
        self.calls.push(phase);
        self.unsettled += 1;
        if let Some(ending) = ending {
            self.orders.push_back(Order::Store(ix, ending));
        }
        Some(())
    }

    fn refused(&mut self, ix: CallIx, why: Refusal) -> Option<()> {
        match self.phase(ix)? {
            Phase::Gating(it) => self.step(ix, it.refused(why)),
            Phase::Logging(it) => self.step(ix, it.refused(why)),
            Phase::Waiting(_)
            | Phase::Rejoining(_)
            | Phase::Running(_)
            | Phase::Storing(_)
            | Phase::Settled(_) => None,
        }
    }

    fn returned(&mut self, ix: CallIx, verdict: Verdict) -> Option<()> {
        let storing = self.phase(ix)?.running()?.returned(verdict);
        self.enter(ix, storing);
        if self.takes_siblings_along(verdict, storing.ending) {
            self.stop_all(StopCause::Sibling(ix));
        }
        Some(())
    }

    fn takes_siblings_along(&self, verdict: Verdict, ending: Ending) -> bool {
        match (self.policy.cascade, ending) {
            (Cascade::Never, _) => false,
            (Cascade::Declared, _) => verdict == Verdict::Bad { cascades: true },
            (Cascade::Any, Ending::Returned(Returned::Error | Returned::Crashed)) => true,
            (
                Cascade::Any,
                Ending::Returned(Returned::Ok) | Ending::Refused(_) | Ending::Stopped(..),
            ) => false,
        }
    }

    fn overdue(&mut self, ix: CallIx) -> Option<()> {
        match self.phase(ix)? {
            Phase::Gating(it) => self.step(ix, it.overdue()?),
            Phase::Logging(it) => self.step(ix, it.overdue()?),
            Phase::Running(it) => self.step(ix, it.overdue()?),
            Phase::Waiting(_) | Phase::Rejoining(_) | Phase::Storing(_) | Phase::Settled(_) => None,
        }
    }

    fn stop_all(&mut self, cause: StopCause) {
        if self.given_up.is_none() {
            self.given_up = Some(cause);
        }
        for index in 0..self.calls.len() {
            let spared = self.calls[index].running().is_some_and(|it| it.outlasts(cause));
            if !spared {
                self.stop(CallIx(index as u32), cause);
            }
        }
    }

    /// A stop reaches every phase; a call that has its ending keeps it.
    fn stop(&mut self, ix: CallIx, cause: StopCause) {
        let told = match self.calls[ix.at()] {
            Phase::Waiting(it) => return self.enter(ix, it.stopped(cause)),
            Phase::Rejoining(it) => return self.enter(ix, it.stopped(cause)),
            Phase::Gating(it) => it.stopping(cause).map(Phase::from),
            Phase::Logging(it) => it.stopping(cause).map(Phase::from),
            Phase::Running(it) => it.stopping(cause).map(Phase::from),
            Phase::Storing(_) | Phase::Settled(_) => None,
        };
        if let Some(phase) = told {
            self.enter(ix, phase);
            self.orders.push_back(Order::Stop(ix, cause));
        }
    }

    /// Lets calls into their lanes, strictly in line: a call never overtakes one before it.
    fn admit(&mut self) {
        self.resume();
        while let Some(&phase) = self.calls.get(self.frontier) {
            let ix = CallIx(self.frontier as u32);
            match phase {
                Phase::Waiting(it) if self.lanes.has_room_for(it.safety.footprint) => {
                    self.enter(ix, it.admit());
                }
                Phase::Rejoining(it) if self.lanes.has_room_for(it.safety.footprint) => {
                    self.enter(ix, it.admit());
                }
                Phase::Waiting(_) | Phase::Rejoining(_) => return,
                Phase::Gating(_)
                | Phase::Logging(_)
                | Phase::Running(_)
                | Phase::Storing(_)
                | Phase::Settled(_) => self.frontier += 1,
            }
        }
    }

    /// Gives lent width back before anybody new is let in: who holds a place comes first. An
    /// exclusive call is alone, so it always finds width.
    fn resume(&mut self) {
        while let Some(&ix) = self.claiming.front() {
            // Otherwise it has ended while it waited for its width.
            if let Some(it) = self.calls[ix.at()].running() {
                if !self.lanes.has_width() {
                    return;
                }
                self.enter(ix, it.resume());
                self.orders.push_back(Order::Resume(ix));
            }
            self.claiming.pop_front();
        }
    }

    fn step(&mut self, ix: CallIx, phase: impl Into<Phase>) -> Option<()> {
        self.enter(ix, phase);
        Some(())
    }

    /// Entering a phase is what gives orders, and the only place that keeps the counts.
    fn enter(&mut self, ix: CallIx, phase: impl Into<Phase>) {
        let phase = phase.into();
        let before = std::mem::replace(&mut self.calls[ix.at()], phase);
        let left = self.lanes.leave(before.place());
        debug_assert!(left, "a call leaves only a place that it has taken");
        self.lanes.join(phase.place());
        if before.name() == phase.name() {
            return;
        }
        match phase {
            Phase::Gating(_) => self.orders.push_back(Order::Gate(ix)),
            Phase::Logging(_) => self.orders.push_back(Order::Log(ix)),
            Phase::Running(_) => self.orders.push_back(Order::Run(ix)),
            Phase::Storing(it) => self.orders.push_back(Order::Store(ix, it.ending)),
            // It is behind the frontier: the line forms behind it again.
            Phase::Rejoining(_) => self.frontier = self.frontier.min(ix.at()),
            Phase::Settled(_) => self.unsettled -= 1,
            Phase::Waiting(_) => {}
        }
    }
}
