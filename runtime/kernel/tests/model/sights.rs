//! What a walk must have come by, so that a law that holds has had a chance to break.

use toolwright_kernel::{Footprint, Place};

use super::call::{Call, Stage};
use super::world::World;

/// Something worth seeing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    ToolsOverlap,
    SafeCallsOverlapAfterABarrier,
    AnUnsafeCallWaits,
    ACallWidensWhileAnotherRuns,
    ACallThatAskedWaitsForWidth,
    ASafeCallRunsWhileAnotherRests,
    AClaimWaits,
    AClaimIsServedLater,
    AClaimantEndsUnserved,
    AToldToolKeepsItsResult,
    AToolSaysStoppedUntold,
    ASiblingIsStoppedBeforeItStarts,
    ASiblingIsStoppedWhileItRuns,
    TwoFailAtOnce,
    AStopOvertakesTheGate,
    AStopOvertakesTheRecord,
    ABlockCallOutlastsTheUser,
    AnOverdueCallIsAnswered,
    AnOverdueCallOutlivesTheTurn,
    AnOverdueCallKeepsTheNextWaiting,
    TooManyCalls,
    ALatecomerIsStopped,
    ARecordIsRefused,
    AnInheritedLaneHoldsACallUp,
}

/// A set of sights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sights(u32);

impl Sights {
    pub(crate) fn note(&mut self, sight: Sight, seen: bool) {
        self.0 |= u32::from(seen) << sight as u32;
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(crate) fn has(self, sight: Sight) -> bool {
        self.0 >> sight as u32 & 1 == 1
    }
}

impl World<'_> {
    pub(super) fn look_around(&mut self) {
        let calls = &self.calls;
        let taken = self.taken();
        let any = |is: &dyn Fn(&Call) -> bool| calls.iter().any(is);
        let running = calls.iter().filter(|call| call.runs()).count();
        let barrier = calls.iter().position(|call| call.was_barrier);
        let after = |from: usize| calls[from..].iter().filter(|call| call.runs()).count();
        let first = calls.iter().find(|call| call.waits_in_line());
        let alone = first.is_some_and(|it| it.safety.footprint == Footprint::Exclusive);
        let rejoins = first.is_some_and(|it| it.stage == Stage::Rejoining);
        let asks = any(&|call| call.held == Some(Place::Resting) && call.is_worked_on());
        let late = any(&|call| call.late);
        let overtaken = any(&|call| call.late && call.stage == Stage::Store);
        let seen = [
            (Sight::ToolsOverlap, running >= 2),
            (Sight::SafeCallsOverlapAfterABarrier, barrier.is_some_and(|at| after(at) >= 2)),
            (Sight::AnUnsafeCallWaits, alone && running > 0),
            (Sight::ACallWidensWhileAnotherRuns, alone && rejoins && running > 0),
            (Sight::ACallThatAskedWaitsForWidth, !alone && rejoins && taken.shared > 0),
            (Sight::ASafeCallRunsWhileAnotherRests, asks && taken.shared > 0 && running > 0),
            (Sight::AClaimWaits, !self.claims.is_empty()),
            (Sight::AnOverdueCallIsAnswered, overtaken),
            (Sight::AnOverdueCallOutlivesTheTurn, late && self.finished),
            (Sight::AnOverdueCallKeepsTheNextWaiting, late && first.is_some() && running == 0),
            (Sight::AnInheritedLaneHoldsACallUp, first.is_some() && taken.is(&self.inherited)),
        ];
        for (sight, seen) in seen {
            self.sights.note(sight, seen);
        }
    }
}
