//! One call as it looks from outside.

use toolwright_kernel::{Footprint, OnInterrupt, Place, Refusal, Safety, StopCause, Verdict};

/// What was ordered and told about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    pub(crate) safety: Safety,
    pub(crate) stage: Stage,
    /// What it takes up in the lanes.
    pub(crate) held: Option<Place>,
    /// The first cause to stop it that was told while it was not over.
    pub(crate) stop: Option<StopCause>,
    /// Whether whoever works on it was ordered to stop.
    pub(crate) told: bool,
    pub(crate) ran: bool,
    /// It was answered while somebody was still at work on it.
    pub(crate) late: bool,
    /// It was exclusive and is stored.
    pub(crate) was_barrier: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    /// Has its place in line.
    Queued,
    /// The gate owes an answer.
    Gate {
        asked: bool,
    },
    /// Let through, but waits in line for the lane it needs.
    Rejoining,
    /// Let through or even recorded: the next order is due at once.
    Through {
        recorded: bool,
    },
    /// The record is owed.
    Log,
    /// The tool owes its verdict.
    Run(Width),
    /// Over: the order to store is due at once.
    Over(Answer),
    /// The store owes its receipt.
    Store,
    Stored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Width {
    Held,
    Lent,
    Claimed,
}

/// The last word of whoever worked on the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    Refused(Refusal),
    Returned(Verdict),
    /// None came in time.
    Late,
}

impl Call {
    pub(crate) fn new(screened: Result<Safety, Refusal>) -> Self {
        Self {
            safety: screened.unwrap_or_default(),
            stage: screened.map_or_else(|why| Stage::Over(Answer::Refused(why)), |_| Stage::Queued),
            held: None,
            stop: None,
            told: false,
            ran: false,
            late: false,
            was_barrier: false,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over(_) | Stage::Store | Stage::Stored)
    }

    /// Whether gate, record or tool is at work on it.
    pub(crate) fn is_worked_on(&self) -> bool {
        matches!(self.stage, Stage::Gate { .. } | Stage::Log | Stage::Run(_))
    }

    pub(crate) fn waits_in_line(&self) -> bool {
        matches!(self.stage, Stage::Queued | Stage::Rejoining)
    }

    pub(crate) fn runs(&self) -> bool {
        matches!(self.stage, Stage::Run(_))
    }

    /// Whether a stop of the whole turn passes it by.
    pub(crate) fn outlasts(&self, cause: StopCause) -> bool {
        let blocks = self.safety.on_interrupt == OnInterrupt::Block;
        cause == StopCause::User && blocks && self.runs()
    }

    pub(crate) fn cover(&mut self, cause: StopCause) {
        if !self.is_over() {
            self.stop.get_or_insert(cause);
        }
    }

    /// Gives its width back, not its place; an exclusive call keeps all it has.
    pub(crate) fn rest(&mut self) {
        if self.held == Some(Place::Lane(Footprint::Shared)) {
            self.held = Some(Place::Resting);
        }
    }

    pub(crate) fn wake(&mut self) {
        if self.held == Some(Place::Resting) {
            self.held = Some(Place::Lane(Footprint::Shared));
        }
    }

    /// The gate let it through: it goes on in the lane it holds if that is the one it needs, or a
    /// stricter one.
    pub(crate) fn clear(&mut self, safety: Safety) {
        let (held, needed) = (self.held, safety.footprint);
        self.safety = safety;
        let strict = held == Some(Place::Lane(Footprint::Exclusive));
        if strict || held == Some(Place::Lane(needed)) {
            if strict {
                self.safety.footprint = Footprint::Exclusive;
            }
            self.stage = Stage::Through { recorded: false };
        } else {
            self.held = None;
            self.stage = Stage::Rejoining;
        }
    }

    pub(crate) fn enter_lane(&mut self) {
        self.held = Some(Place::Lane(self.safety.footprint));
    }

    /// What is over needs no memory; so turns that differ only in the past are one.
    pub(crate) fn forget(&mut self, stage: Stage) {
        let ran_alone = self.ran && self.safety.footprint == Footprint::Exclusive;
        *self = Self {
            stage,
            held: self.held,
            late: self.late,
            was_barrier: self.was_barrier || ran_alone,
            ..Self::new(Ok(Safety::default()))
        };
    }
}
