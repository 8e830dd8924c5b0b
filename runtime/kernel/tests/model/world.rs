//! The outside of a turn: what it knows, and what each fact makes of that.

use toolwright_kernel::{
    Admission, CallIx, Cascade, Fact, Footprint, Order, Place, Policy, Refusal, Safety, StopCause,
    Turn, Verdict,
};

use super::call::{Answer, Call, Stage, Width};
use super::laws::{self, Law, hold};
use super::sights::{Sight, Sights};

/// What is agreed before the turn begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Policy,
    pub(crate) width: u16,
}

#[derive(Clone, Debug)]
pub(crate) struct World<'r> {
    pub(crate) rules: &'r Rules,
    pub(crate) turn: Turn,
    pub(crate) calls: Vec<Call>,
    /// Calls that want their lent width back, in the order of their wish.
    pub(crate) claims: Vec<CallIx>,
    /// What overdue calls of earlier turns still hold.
    pub(crate) inherited: Vec<Place>,
    pub(crate) sealed: bool,
    pub(crate) finished: bool,
    given_up: Option<StopCause>,
    /// What the last fact showed.
    pub(crate) sights: Sights,
}

/// Lanes in which exactly these places are taken, made the way a session makes them: by calls of
/// an earlier turn that are overdue.
fn lanes_with(width: u16, places: &[Place]) -> Admission {
    let lanes = Admission::new(width.try_into().unwrap());
    let mut earlier = Turn::new(Policy::default(), lanes);
    let safe = Safety { footprint: Footprint::Shared, ..Safety::default() };
    // Who rests makes room for who follows.
    let mut places = places.to_vec();
    places.sort_by_key(|&place| place != Place::Resting);
    for (at, place) in places.into_iter().enumerate() {
        let ix = CallIx(u32::try_from(at).unwrap());
        let alone = place == Place::Lane(Footprint::Exclusive);
        let safety = if alone { Safety::default() } else { safe };
        earlier.tell(Fact::Submitted(Ok(safety))).unwrap();
        if place == Place::Resting {
            earlier.tell(Fact::Asking(ix)).unwrap();
        }
        earlier.tell(Fact::StopOne(ix, StopCause::Deadline)).unwrap();
        earlier.tell(Fact::Overdue(ix)).unwrap();
        earlier.tell(Fact::Stored(ix)).unwrap();
    }
    earlier.lanes().clone()
}

impl<'r> World<'r> {
    pub(crate) fn new(rules: &'r Rules, inherited: &[Place]) -> Self {
        Self {
            rules,
            turn: Turn::new(rules.policy, lanes_with(rules.width, inherited)),
            calls: Vec::new(),
            claims: Vec::new(),
            inherited: inherited.to_vec(),
            sealed: false,
            finished: false,
            given_up: None,
            sights: Sights::default(),
        }
    }

    /// Everything that tells two worlds apart.
    pub(crate) fn hash(&self, hasher: &mut impl core::hash::Hasher) {
        use core::hash::Hash;
        (&self.turn, &self.calls, &self.claims, &self.inherited).hash(hasher);
        (self.sealed, self.finished, self.given_up).hash(hasher);
    }

    /// Whether the fact can be true and make a difference.
    pub(crate) fn allows(&self, fact: Fact) -> bool {
        let stage = |ix: CallIx| self.calls.get(ix.at()).map(|call| call.stage);
        let call = |ix: CallIx| self.calls.get(ix.at());
        match fact {
            Fact::Submitted(_) | Fact::Sealed => !self.sealed,
            Fact::Asking(ix) => stage(ix) == Some(Stage::Gate { asked: false }),
            Fact::Cleared(ix, _) => matches!(stage(ix), Some(Stage::Gate { .. })),
            Fact::Refused(ix, _) => matches!(stage(ix), Some(Stage::Gate { .. } | Stage::Log)),
            Fact::Logged(ix) => stage(ix) == Some(Stage::Log),
            Fact::Lent(ix) => stage(ix) == Some(Stage::Run(Width::Held)),
            Fact::Reclaimed(ix) => stage(ix) == Some(Stage::Run(Width::Lent)),
            Fact::Returned(ix, _) => matches!(stage(ix), Some(Stage::Run(_))),
            Fact::Stored(ix) => stage(ix) == Some(Stage::Store),
            Fact::StopOne(ix, _) => call(ix).is_some_and(|it| !it.is_over()),
            Fact::StopAll(_) => true,
            Fact::Overdue(ix) => call(ix).is_some_and(|it| it.told && it.is_worked_on()),
            Fact::Gone(ix) => call(ix).is_some_and(|it| it.late),
            Fact::Freed(place) => self.inherited.contains(&place),
        }
    }

    /// Tells the kernel, obeys it, and holds it to the laws.
    pub(crate) fn tell(&mut self, fact: Fact) -> Result<(), Law> {
        self.sights = Sights::default();
        let waited = !self.claims.is_empty();
        self.note(fact);
        let stops = matches!(fact, Fact::StopOne(..) | Fact::StopAll(_));
        let over: Vec<_> = (0..self.calls.len())
            .filter(|&at| stops && self.calls[at].is_over())
            .map(|at| (at, self.turn.calls()[at]))
            .collect();
        self.turn.tell(fact).map_err(|_| laws::HONEST)?;
        hold(over.iter().all(|&(at, it)| self.turn.calls()[at] == it), laws::DONE_IS_DONE)?;
        while let Some(order) = self.turn.next_order() {
            hold(!self.finished, laws::FINISH_ONCE)?;
            if let Order::Resume(_) = order {
                self.sights.note(Sight::AClaimIsServedLater, waited);
            }
            self.obey(order)?;
        }
        self.look_around();
        self.check()
    }

    /// What the outside knows of itself once the fact is true.
    fn note(&mut self, fact: Fact) {
        match fact {
            Fact::Submitted(screened) => self.arrive(screened),
            Fact::Sealed => self.sealed = true,
            Fact::Asking(ix) => {
                self.at(ix).stage = Stage::Gate { asked: true };
                self.at(ix).rest();
            }
            Fact::Cleared(ix, safety) => {
                let stopped = self.at(ix).stop.is_some();
                self.sights.note(Sight::AStopOvertakesTheGate, stopped);
                self.at(ix).clear(safety);
            }
            Fact::Refused(ix, why) => self.at(ix).stage = Stage::Over(Answer::Refused(why)),
            Fact::Logged(ix) => {
                let stopped = self.at(ix).stop.is_some();
                self.sights.note(Sight::AStopOvertakesTheRecord, stopped);
                self.at(ix).stage = Stage::Through { recorded: true };
            }
            Fact::Lent(ix) => {
                self.at(ix).stage = Stage::Run(Width::Lent);
                self.at(ix).rest();
            }
            Fact::Reclaimed(ix) => {
                self.at(ix).stage = Stage::Run(Width::Claimed);
                self.claims.push(ix);
            }
            Fact::Returned(ix, verdict) => self.come_back(ix, verdict),
            Fact::Stored(ix) => {
                let call = self.at(ix);
                call.held = call.held.filter(|_| call.late);
                call.forget(Stage::Stored);
            }
            Fact::StopOne(ix, cause) => {
                if let Some(call) = self.calls.get_mut(ix.at()) {
                    call.cover(cause);
                }
            }
            Fact::StopAll(cause) => self.cover_all(cause),
            Fact::Overdue(ix) => {
                self.at(ix).stage = Stage::Over(Answer::Late);
                self.at(ix).late = true;
                self.claims.retain(|&it| it != ix);
            }
            Fact::Gone(ix) => {
                self.at(ix).late = false;
                self.at(ix).held = None;
            }
            Fact::Freed(place) => {
                let at = self.inherited.iter().position(|&it| it == place).unwrap();
                self.inherited.remove(at);
            }
        }
    }

    pub(super) fn at(&mut self, ix: CallIx) -> &mut Call {
        &mut self.calls[ix.at()]
    }

    fn arrive(&mut self, screened: Result<Safety, Refusal>) {
        if self.calls.len() >= self.rules.policy.max_calls as usize {
            self.cover_all(StopCause::TooManyCalls);
        }
        let mut call = Call::new(screened);
        if let Some(cause) = self.given_up {
            call.cover(cause);
            self.sights.note(Sight::ALatecomerIsStopped, true);
        }
        self.calls.push(call);
    }

    fn come_back(&mut self, ix: CallIx, verdict: Verdict) {
        let told = self.at(ix).told;
        let after_failure = matches!(self.at(ix).stop, Some(StopCause::Sibling(_)));
        self.sights.note(Sight::AToldToolKeepsItsResult, told && verdict == Verdict::Good);
        self.sights.note(Sight::AToolSaysStoppedUntold, !told && verdict == Verdict::Stopped);
        self.sights.note(Sight::AClaimantEndsUnserved, self.claims.contains(&ix));
        self.at(ix).stage = Stage::Over(Answer::Returned(verdict));
        self.claims.retain(|&it| it != ix);
        let cascades = match (self.rules.policy.cascade, verdict) {
            (Cascade::Never, _) | (_, Verdict::Good) => false,
            (Cascade::Declared, Verdict::Bad { cascades }) => cascades,
            (Cascade::Declared, Verdict::Stopped | Verdict::Crashed) => false,
            (Cascade::Any, Verdict::Bad { .. } | Verdict::Crashed) => true,
            // Who says "stopped" without having been told to has crashed.
            (Cascade::Any, Verdict::Stopped) => !told,
        };
        if cascades {
            self.sights.note(Sight::TwoFailAtOnce, after_failure);
            self.cover_all(StopCause::Sibling(ix));
        }
    }

    fn cover_all(&mut self, cause: StopCause) {
        self.given_up.get_or_insert(cause);
        for call in &mut self.calls {
            if call.outlasts(cause) {
                self.sights.note(Sight::ABlockCallOutlastsTheUser, true);
            } else {
                call.cover(cause);
            }
        }
    }
}
