//! Breaches: which invariant was broken, where, and in what way.

use std::fmt;

use crate::ids::TurnId;

/// Most breaches that one check keeps: a broken emitter breaks a rule at every event.
pub const MAX_BREACHES: usize = 1_000;

/// What must hold of every history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Invariant {
    /// I1: every accepted call gets exactly one result, under its own id.
    OneResult,
    /// I2: results are handed out in the order of the calls.
    InOrder,
    /// I6: nothing runs without leave or twice, and a result knows whether its call has run.
    NoRunAfterNo,
    /// I7: a call's result is its own; only a stated policy lets one failure end another call.
    Independent,
    /// Q07: a call that must be alone is alone.
    Alone,
    /// No more shared calls at once than the turn's width.
    Width,
    /// No call overtakes one before it.
    Line,
    /// The history is one: dense, in order of time, each event where it can be.
    WellFormed,
}

impl Invariant {
    /// The short name, as in the list of invariants.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::OneResult => "I1",
            Self::InOrder => "I2",
            Self::NoRunAfterNo => "I6",
            Self::Independent => "I7",
            Self::Alone => "Q07",
            Self::Width => "width",
            Self::Line => "line",
            Self::WellFormed => "form",
        }
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// One place at which a history breaks an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// What was broken.
    pub invariant: Invariant,
    /// The event that broke it, or the last one if an event is missing.
    pub seq: u64,
    /// The turn.
    pub turn: TurnId,
    /// The call, if it concerns one.
    pub call: Option<u32>,
    /// What is wrong, as a sentence without its full stop.
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at event {}, turn {}", self.invariant, self.seq, self.turn.0)?;
        if let Some(call) = self.call {
            write!(f, ", call {call}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// Where breaches are written down, for one event.
pub(super) struct Notes<'a> {
    pub(super) breaches: &'a mut Vec<Breach>,
    pub(super) seq: u64,
    pub(super) turn: TurnId,
}

impl Notes<'_> {
    /// Whether nothing more is kept: looking for words is then in vain.
    pub(super) fn is_full(&self) -> bool {
        self.breaches.len() >= MAX_BREACHES
    }

    pub(super) fn breach(
        &mut self,
        invariant: Invariant,
        call: Option<u32>,
        what: fmt::Arguments<'_>,
    ) {
        if !self.is_full() {
            let (seq, turn) = (self.seq, self.turn);
            self.breaches.push(Breach { invariant, seq, turn, call, what: what.to_string() });
        }
    }

    /// Writes down the first of these that is true: the others follow from it.
    pub(super) fn first(&mut self, invariant: Invariant, call: u32, wrongs: &[(bool, &str)]) {
        if let Some((_, what)) = wrongs.iter().find(|(wrong, _)| *wrong) {
            self.breach(invariant, Some(call), format_args!("{what}"));
        }
    }
}
