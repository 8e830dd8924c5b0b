//! From the start to the store: width, stops, verdicts, and calls that don't end in time.

use toolwright_kernel::{Footprint, Place};

use super::breach::{Invariant, Notes};
use super::call::Mark;
use super::turn::Turn;
use crate::event::{StopName, VerdictName};

impl Turn {
    pub(super) fn lent(&mut self, call: u32, notes: &mut Notes<'_>) {
        let it = &mut self.calls[call as usize];
        let wrong = [
            (!it.is_running(), "it gave its width back, but doesn't run"),
            (it.has(Mark::Lent), "it gave its width back twice"),
        ];
        notes.first(Invariant::WellFormed, call, &wrong);
        it.set(Mark::Lent);
        if it.place == Some(Place::Lane(Footprint::Shared)) {
            self.rest(call, notes);
        }
    }

    pub(super) fn resumed(&mut self, call: u32, notes: &mut Notes<'_>) {
        let it = &mut self.calls[call as usize];
        let wrong = [
            (!it.is_running(), "it was given its width, but doesn't run"),
            (!it.has(Mark::Lent), "it was given a width that it hadn't given back"),
        ];
        notes.first(Invariant::WellFormed, call, &wrong);
        it.unset(Mark::Lent);
        if it.place == Some(Place::Resting) {
            self.vacate(call);
            self.occupy(call, Place::Lane(Footprint::Shared), notes);
        }
    }

    pub(super) fn stopping(
        &mut self,
        call: u32,
        cause: StopName,
        culprit: Option<u32>,
        notes: &mut Notes<'_>,
    ) {
        self.blame(call, cause, culprit, notes);
        let it = &mut self.calls[call as usize];
        let over = it.is_over();
        notes.first(Invariant::Independent, call, &[(over, "it was stopped after its end")]);
        let again = it.has(Mark::Stopping);
        notes.first(Invariant::WellFormed, call, &[(again, "it was stopped twice")]);
        self.around.given_up |= stops_all(cause);
        if over || again {
            return;
        }
        it.set(Mark::Stopping);
        self.rejoining.remove(&call);
        if !it.has(Mark::Started)
            && let Some(place) = it.place
        {
            it.set(Mark::Loose);
            self.lanes.leave(place);
        }
    }

    pub(super) fn returned(
        &mut self,
        call: u32,
        verdict: VerdictName,
        cascades: bool,
        notes: &mut Notes<'_>,
    ) {
        let takes_along = self.takes_along(call, verdict, cascades);
        let it = &mut self.calls[call as usize];
        let started = it.has(Mark::Started);
        notes.first(Invariant::NoRunAfterNo, call, &[(!started, "it returned, but never started")]);
        let wrong = [
            (it.has(Mark::Returned), "it returned twice"),
            (it.has(Mark::Overdue), "it returned after it was answered as overdue"),
            (it.is_over(), "it returned after its end"),
        ];
        notes.first(Invariant::WellFormed, call, &wrong);
        if it.is_over() {
            return;
        }
        it.set(Mark::Returned);
        it.verdict = Some(verdict);
        if takes_along {
            it.set(Mark::TookAlong);
            self.around.given_up = true;
        }
    }

    pub(super) fn overdue(&mut self, call: u32, notes: &mut Notes<'_>) {
        let it = &mut self.calls[call as usize];
        let wrong = [
            (!it.has(Mark::Stopping), "it is overdue, but wasn't told to stop"),
            (!it.has(Mark::Gated), "it is overdue, but nothing of it was at work"),
            (it.has(Mark::Overdue), "it became overdue twice"),
            (it.is_over(), "it became overdue after its end"),
        ];
        notes.first(Invariant::WellFormed, call, &wrong);
        if it.is_over() {
            return;
        }
        it.set(Mark::Overdue);
        let stayed = it.has(Mark::Loose) || it.place.is_none() && it.has(Mark::Gated);
        let place = it.place.unwrap_or(Place::Lane(it.footprint));
        it.unset(Mark::Loose);
        if stayed {
            self.occupy(call, place, notes);
        }
    }

    pub(super) fn gone(&mut self, call: u32, notes: &mut Notes<'_>) {
        let it = &mut self.calls[call as usize];
        let wrong = [
            (!it.has(Mark::Overdue), "it is gone, but wasn't overdue"),
            (it.has(Mark::Gone), "it is gone a second time"),
        ];
        notes.first(Invariant::WellFormed, call, &wrong);
        it.set(Mark::Gone);
        self.vacate(call);
    }

    pub(super) fn context_changed(&mut self, call: u32, made: bool, notes: &mut Notes<'_>) {
        let it = &self.calls[call as usize];
        let early = !it.has(Mark::Returned);
        let what = "it changed the session's context before it returned";
        notes.first(Invariant::WellFormed, call, &[(early, what)]);
        let beside_others = made && it.footprint == Footprint::Shared;
        let what = "it changed the session's context, but wasn't alone";
        notes.first(Invariant::Alone, call, &[(beside_others, what)]);
    }

    pub(super) fn stored(&mut self, call: u32, notes: &mut Notes<'_>) {
        let around = self.around;
        let it = &mut self.calls[call as usize];
        let stopped = it.has(Mark::Stopping) || around.given_up;
        let has_ended = it.has(Mark::Refused)
            || it.has(Mark::Returned)
            || it.has(Mark::Overdue)
            || around.lost
            || stopped && !it.has(Mark::Started);
        let wrong = [
            (it.has(Mark::Stored), "its result was stored twice"),
            (it.has(Mark::Emitted) && !around.lost, "its result was stored after it was emitted"),
            (!has_ended, "its result was stored before its end"),
        ];
        notes.first(Invariant::WellFormed, call, &wrong);
        it.set(Mark::Stored);
        if it.left_behind().is_none() {
            self.rejoining.remove(&call);
            self.vacate(call);
        }
    }
}

/// Whether a stop for this cause is never one call's alone.
fn stops_all(cause: StopName) -> bool {
    match cause {
        StopName::Sibling | StopName::Discarded | StopName::Shutdown | StopName::TooManyCalls => {
            true
        }
        StopName::User | StopName::Deadline => false,
    }
}
