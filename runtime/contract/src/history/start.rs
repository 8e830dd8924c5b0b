//! From the line to the start: gate, questions, refusals and start records.

use toolwright_kernel::{Footprint, Place};

use super::breach::{Invariant, Notes};
use super::call::{Mark, footprint};
use super::turn::Turn;
use crate::ids::RequestId;

impl Turn {
    pub(super) fn gated(&mut self, call: u32, notes: &mut Notes<'_>) {
        let given_up = self.around.given_up;
        if let Some(ahead) = self.ahead_of(call) {
            let what = format_args!("it was admitted before call {ahead}, which stands in line");
            notes.breach(Invariant::Line, Some(call), what);
        }
        let it = &mut self.calls[call as usize];
        let again = it.has(Mark::Gated);
        notes.first(Invariant::WellFormed, call, &[(again, "it was admitted twice")]);
        let wrong = [
            (it.has(Mark::Refused), "it was admitted after its refusal"),
            (it.has(Mark::Stopping), "it was admitted after its stop"),
            (it.is_over(), "it was admitted after its end"),
            (given_up, "it was admitted after the turn was given up"),
        ];
        notes.first(Invariant::NoRunAfterNo, call, &wrong);
        it.set(Mark::Gated);
        let place = Place::Lane(it.footprint);
        if again || it.is_over() {
            return;
        }
        // Who waits for its lane comes before those behind it.
        self.rejoin_up_to(call, notes.seq, notes);
        self.occupy(call, place, notes);
    }

    pub(super) fn asking(&mut self, call: u32, request: RequestId, notes: &mut Notes<'_>) {
        let it = &mut self.calls[call as usize];
        let wrong = [
            (!it.has(Mark::Gated), "a person was asked about it before it was admitted"),
            (it.has(Mark::Asked), "a person was asked about it twice"),
            (it.has(Mark::Cleared), "a person was asked about it after it was let through"),
            (it.is_over(), "a person was asked about it after its end"),
        ];
        notes.first(Invariant::WellFormed, call, &wrong);
        it.set(Mark::Asked);
        it.question = Some(request);
        let rests = it.place == Some(Place::Lane(Footprint::Shared));
        let new = self.questions.insert(request);
        notes.first(Invariant::WellFormed, call, &[(!new, "its question has a number in use")]);
        if rests {
            self.rest(call, notes);
        }
    }

    /// Gives back the width of a shared call, not its place.
    pub(super) fn rest(&mut self, call: u32, notes: &mut Notes<'_>) {
        if self.calls[call as usize].has(Mark::Loose) {
            self.calls[call as usize].place = Some(Place::Resting);
        } else {
            self.vacate(call);
            self.occupy(call, Place::Resting, notes);
        }
    }

    pub(super) fn withdrawn(&mut self, request: RequestId, notes: &mut Notes<'_>) {
        if !self.questions.remove(&request) {
            let what = format_args!("question {} was taken back, but isn't open", request.0);
            notes.breach(Invariant::WellFormed, None, what);
        }
    }

    pub(super) fn cleared(
        &mut self,
        call: u32,
        exclusive: bool,
        read_only: bool,
        notes: &mut Notes<'_>,
    ) {
        let it = &mut self.calls[call as usize];
        let wrong = [
            (!it.has(Mark::Gated), "it was let through before it was admitted"),
            (it.has(Mark::Refused), "it was let through after its refusal"),
            (it.is_over(), "it was let through after its end"),
        ];
        notes.first(Invariant::NoRunAfterNo, call, &wrong);
        let wrong = [
            (it.has(Mark::Cleared), "it was let through twice"),
            (it.has(Mark::Started), "it was let through after its start"),
        ];
        notes.first(Invariant::WellFormed, call, &wrong);
        it.set(Mark::Cleared);
        it.read_only = read_only;
        if let Some(question) = it.question.take() {
            self.questions.remove(&question);
        }
        // A call that turned out narrower keeps the wider lane.
        let keeps = it.place == Some(Place::Lane(Footprint::Exclusive));
        if !keeps {
            it.footprint = footprint(exclusive);
        }
        let stays = keeps || it.place == Some(Place::Lane(it.footprint));
        if it.place.is_some() && !stays && !it.has(Mark::Stopping) && !it.is_over() {
            self.vacate(call);
            self.rejoining.insert(call, notes.seq);
        }
    }

    pub(super) fn refused(&mut self, call: u32, notes: &mut Notes<'_>) {
        let it = &mut self.calls[call as usize];
        let started = [(it.has(Mark::Started), "it was refused after its start")];
        notes.first(Invariant::NoRunAfterNo, call, &started);
        let wrong = [
            (it.has(Mark::Refused), "it was refused twice"),
            (it.is_over(), "it was refused after its end"),
        ];
        notes.first(Invariant::WellFormed, call, &wrong);
        if let Some(question) = it.question.take() {
            self.questions.remove(&question);
        }
        if it.is_over() || it.has(Mark::Started) {
            return;
        }
        if !it.has(Mark::Stopping) {
            it.set(Mark::Refused);
        }
        self.rejoining.remove(&call);
        self.vacate(call);
    }

    pub(super) fn logged(&mut self, call: u32, notes: &mut Notes<'_>) {
        let it = &mut self.calls[call as usize];
        let wrong = [
            (!it.has(Mark::Cleared), "its start was recorded before it was let through"),
            (it.has(Mark::Logged), "its start was recorded twice"),
            (it.has(Mark::Started), "its start was recorded after it"),
            (it.is_over(), "its start was recorded after its end"),
        ];
        notes.first(Invariant::WellFormed, call, &wrong);
        it.set(Mark::Logged);
        self.rejoin(call, notes);
    }

    pub(super) fn started(&mut self, call: u32, notes: &mut Notes<'_>) {
        let it = &mut self.calls[call as usize];
        let (asked, cleared) = (it.has(Mark::Asked), it.has(Mark::Cleared));
        let wrong = [
            (it.has(Mark::Started), "it was started twice"),
            (it.has(Mark::Refused), "it was started after its refusal"),
            (it.has(Mark::Stopping), "it was started after its stop"),
            (it.is_over(), "it was started after its end"),
            (self.around.given_up, "it was started after the turn was given up"),
            (!it.has(Mark::Gated), "it was started before it was admitted"),
            (asked && !cleared, "it was started while a person was asked about it"),
            (!cleared, "it was started before it was let through"),
            (!it.read_only && !it.has(Mark::Logged), "it was started before its start record"),
        ];
        notes.first(Invariant::NoRunAfterNo, call, &wrong);
        it.set(Mark::Started);
        self.rejoin(call, notes);
    }

    /// The call goes on: if it waited for its lane, it has joined it, and so has everybody before
    /// it in line who waited already when it began to.
    fn rejoin(&mut self, call: u32, notes: &mut Notes<'_>) {
        if let Some(&since) = self.rejoining.get(&call) {
            self.rejoin_up_to(call, since, notes);
        }
    }

    fn rejoin_up_to(&mut self, last: u32, since: u64, notes: &mut Notes<'_>) {
        let waited = self.rejoining.range(..=last).filter(|(_, it)| **it <= since);
        for call in waited.map(|(call, _)| *call).collect::<Vec<_>>() {
            self.rejoining.remove(&call);
            self.occupy(call, Place::Lane(self.calls[call as usize].footprint), notes);
        }
    }
}
