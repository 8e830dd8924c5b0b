//! How far a walk goes: which facts may happen in it.

use toolwright_kernel::{
    CallIx, Cascade, Effects, Fact, Footprint, OnInterrupt, Place, Policy, Refusal, Safety,
    StopCause, Verdict,
};

use super::call::Stage;
use super::world::{Rules, World};

pub(crate) const fn safety(
    footprint: Footprint,
    effects: Effects,
    on_interrupt: OnInterrupt,
) -> Safety {
    Safety { footprint, effects, on_interrupt }
}

pub(crate) const READ: Safety = safety(Footprint::Shared, Effects::ReadOnly, OnInterrupt::Cancel);
pub(crate) const WRITE: Safety = safety(Footprint::Exclusive, Effects::Writes, OnInterrupt::Block);

/// What the gate makes of the call's safety when it lets it through.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clearing {
    Same,
    As(Safety),
}

/// The facts that a walk tells, where they can be true.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) size: usize,
    pub(crate) rules: Rules,
    pub(crate) inherited: &'static [Place],
    /// Whether calls arrive while others are under way, or all at once.
    pub(crate) streams: bool,
    pub(crate) screened: &'static [Result<Safety, Refusal>],
    pub(crate) cleared: &'static [Clearing],
    pub(crate) denied: &'static [Refusal],
    pub(crate) unrecorded: &'static [Refusal],
    pub(crate) verdicts: &'static [Verdict],
    pub(crate) stop_one: &'static [StopCause],
    pub(crate) stop_all: &'static [StopCause],
    pub(crate) asks: bool,
    pub(crate) lends: bool,
    pub(crate) overdue: bool,
}

impl Scope {
    /// Calls that run to their end, one kind of each answer.
    pub(crate) const PLAIN: Self = Self {
        size: 2,
        rules: Rules {
            policy: Policy { cascade: Cascade::Declared, max_calls: Policy::MAX_CALLS },
            width: 2,
        },
        inherited: &[],
        streams: true,
        screened: &[Ok(READ), Ok(WRITE)],
        cleared: &[Clearing::Same],
        denied: &[],
        unrecorded: &[],
        verdicts: &[Verdict::Good],
        stop_one: &[],
        stop_all: &[],
        asks: false,
        lends: false,
        overdue: false,
    };

    /// Every fact of this scope that can be true now.
    pub(crate) fn facts(&self, world: &World<'_>, facts: &mut Vec<Fact>) {
        let to_come = world.calls.len() < self.size;
        if to_come {
            facts.extend(self.screened.iter().map(|&it| Fact::Submitted(it)));
        } else if !world.sealed {
            facts.push(Fact::Sealed);
        }
        if !self.streams && !world.sealed {
            return;
        }
        for at in 0..world.calls.len() {
            self.facts_about(CallIx(u32::try_from(at).unwrap()), world, facts);
        }
        facts.extend(self.stop_all.iter().map(|&cause| Fact::StopAll(cause)));
        let mut places = world.inherited.clone();
        places.dedup();
        facts.extend(places.into_iter().map(Fact::Freed));
    }

    /// Every fact of this scope that can be true of this call now.
    pub(crate) fn facts_about(&self, ix: CallIx, world: &World<'_>, facts: &mut Vec<Fact>) {
        let call = &world.calls[ix.at()];
        let from = facts.len();
        facts.extend(self.cleared.iter().map(|it| match it {
            Clearing::Same => Fact::Cleared(ix, call.safety),
            Clearing::As(safety) => Fact::Cleared(ix, *safety),
        }));
        let refused =
            if call.ran || call.stage == Stage::Log { self.unrecorded } else { self.denied };
        facts.extend(refused.iter().map(|&why| Fact::Refused(ix, why)));
        facts.extend(self.verdicts.iter().map(|&verdict| Fact::Returned(ix, verdict)));
        facts.extend(self.stop_one.iter().map(|&cause| Fact::StopOne(ix, cause)));
        facts.extend([Fact::Logged(ix), Fact::Stored(ix)]);
        if self.asks {
            facts.push(Fact::Asking(ix));
        }
        if self.lends {
            facts.extend([Fact::Lent(ix), Fact::Reclaimed(ix)]);
        }
        if self.overdue {
            facts.extend([Fact::Overdue(ix), Fact::Gone(ix)]);
        }
        let mut at = from;
        while at < facts.len() {
            if world.allows(facts[at]) {
                at += 1;
            } else {
                facts.remove(at);
            }
        }
    }
}
