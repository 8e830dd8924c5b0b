//! The history checker: says which invariants a history of events breaks.
//!
//! Tests, soak runs, replays and benchmarks share this one oracle. It knows the events and
//! nothing else: it counts lanes and endings again instead of asking the kernel.
//!
//! ```
//! use toolwright_contract::history::{self, Invariant};
//! use toolwright_contract::{CascadeName, EVENT_VERSION, Event, EventKind, TurnId};
//!
//! let opened = EventKind::TurnOpened {
//!     version: EVENT_VERSION,
//!     parent: None,
//!     cascade: CascadeName::Declared,
//!     width: 10,
//! };
//! let history = [Event { seq: 0, at_us: 0, turn: TurnId(0), kind: opened }];
//! assert_eq!(history::check(&history)[0].invariant, Invariant::OneResult);
//! ```
//!
//! # What it can't see
//!
//! A call that is told to stop while its gate or its start record is pending leaves its lane when
//! that answer comes, which no event shows. It is taken to have left at once; if it turns out to
//! be overdue, it is taken to have stayed. A call that is let through but needs another lane
//! than it holds is taken to have joined it at the latest when it goes on, or when a call behind it
//! is admitted. An answer to a question has no event of its own either: a question of a stopped call
//! that is never taken back may have been answered just then.

mod breach;
mod call;
mod difference;
mod ending;
mod lanes;
mod run;
mod start;
mod turn;

use std::collections::BTreeMap;

use toolwright_kernel::Place;

use crate::event::{EVENT_VERSION, Event, EventKind};
use crate::ids::{ToolUseId, TurnId};
use breach::Notes;
pub use breach::{Breach, Invariant, MAX_BREACHES};
pub use difference::{Difference, first_difference};
use turn::Turn;

/// The breaches of a complete history, in the order of the events; none if it is good.
///
/// Reads each event once. At most [`MAX_BREACHES`] are kept.
#[must_use]
pub fn check(history: &[Event]) -> Vec<Breach> {
    let mut checker = Checker::new();
    for event in history {
        checker.step(event);
    }
    checker.finish()
}

/// The checker for a history that is still being made.
///
/// Its memory grows with the calls of open turns and with calls that are overdue, not with the
/// length of the history.
#[derive(Default)]
pub struct Checker {
    breaches: Vec<Breach>,
    last: Option<(u64, u64)>,
    newest_turn: Option<TurnId>,
    open: BTreeMap<TurnId, Turn>,
    left_behind: BTreeMap<TurnId, LeftBehind>,
}

/// What a finished turn left in the lanes.
struct LeftBehind {
    /// When the turn finished: turns that opened later take its lanes over.
    finished: u64,
    nested: bool,
    calls: BTreeMap<u32, (ToolUseId, Place)>,
}

impl LeftBehind {
    fn is_inherited(&self, nested: bool, opened: u64) -> bool {
        !self.nested && !nested && opened > self.finished
    }
}

impl Checker {
    /// A checker that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The breaches so far.
    #[must_use]
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// Takes in the next event.
    pub fn step(&mut self, event: &Event) {
        let mut breaches = std::mem::take(&mut self.breaches);
        let mut notes = Notes { breaches: &mut breaches, seq: event.seq, turn: event.turn };
        self.keep_time(event, &mut notes);
        match (&event.kind, self.open.get_mut(&event.turn)) {
            (EventKind::TurnOpened { .. }, _) => self.open_turn(event, &mut notes),
            (EventKind::TurnFinished { calls }, Some(turn)) => {
                turn.finish(*calls, &mut notes);
                self.close_turn(event);
            }
            (kind, Some(turn)) => turn.step(kind, &mut notes),
            (kind, None) => self.step_outside(event.turn, kind, &mut notes),
        }
        self.breaches = breaches;
    }

    /// Ends the history: what is owed now will never come.
    #[must_use]
    pub fn finish(mut self) -> Vec<Breach> {
        let seq = self.last.map_or(0, |(seq, _)| seq);
        for (&id, turn) in &self.open {
            let mut notes = Notes { breaches: &mut self.breaches, seq, turn: id };
            let owed = turn.owed();
            notes.breach(
                Invariant::OneResult,
                None,
                format_args!(
                    "the history ends before the turn does, which owes {owed} of its results"
                ),
            );
        }
        self.breaches
    }

    fn keep_time(&mut self, event: &Event, notes: &mut Notes<'_>) {
        if let Some((seq, at_us)) = self.last {
            if seq.checked_add(1) != Some(event.seq) {
                notes.breach(
                    Invariant::WellFormed,
                    None,
                    format_args!("event {} follows event {seq}", event.seq),
                );
            }
            if event.at_us < at_us {
                notes.breach(
                    Invariant::WellFormed,
                    None,
                    format_args!("its time, {} us, is before the last, {at_us} us", event.at_us),
                );
            }
        }
        self.last = Some((event.seq, event.at_us));
    }

    fn open_turn(&mut self, event: &Event, notes: &mut Notes<'_>) {
        let EventKind::TurnOpened { version, parent, cascade, width } = &event.kind else {
            return;
        };
        let mut wrong = |what: std::fmt::Arguments<'_>| {
            notes.breach(Invariant::WellFormed, None, what);
        };
        if !(1..=EVENT_VERSION).contains(version) {
            wrong(format_args!("schema version {version} is unknown; {EVENT_VERSION} is known"));
        }
        if *width == 0 {
            wrong(format_args!("a turn of width 0 can't run anything shared"));
        }
        if parent.as_ref().is_some_and(|it| !self.is_alive(it)) {
            wrong(format_args!("its parent isn't a running call"));
        }
        if self.newest_turn.is_some_and(|it| it >= event.turn) {
            wrong(format_args!("a turn with this or a later number has been opened before"));
            return;
        }
        self.newest_turn = Some(event.turn);
        let (opened, nested) = (event.seq, parent.is_some());
        let mut turn = Turn::new(opened, nested, *cascade, *width);
        for left in self.left_behind.values().filter(|it| it.is_inherited(nested, opened)) {
            turn.inherit(left.calls.values().map(|(_, place)| *place));
        }
        self.open.insert(event.turn, turn);
    }

    fn is_alive(&self, id: &ToolUseId) -> bool {
        let mut left = self.left_behind.values().flat_map(|it| it.calls.values());
        self.open.values().any(|it| it.is_alive(id)) || left.any(|(it, _)| it == id)
    }

    fn close_turn(&mut self, event: &Event) {
        let Some(turn) = self.open.remove(&event.turn) else { return };
        let calls = turn.left_behind();
        if !calls.is_empty() {
            let left = LeftBehind { finished: event.seq, nested: turn.is_nested(), calls };
            self.left_behind.insert(event.turn, left);
        }
    }

    /// An event of a turn that isn't open: an overdue call may still end, and a stage may fail.
    fn step_outside(&mut self, id: TurnId, kind: &EventKind, notes: &mut Notes<'_>) {
        if let EventKind::StageFailed { .. } = kind {
            return;
        }
        if let EventKind::Gone { call } = kind
            && let Some(left) = self.left_behind.get_mut(&id)
            && let Some((_, place)) = left.calls.remove(call)
        {
            for turn in self.open.values_mut() {
                if left.is_inherited(turn.is_nested(), turn.opened()) {
                    turn.disinherit(place);
                }
            }
            if left.calls.is_empty() {
                self.left_behind.remove(&id);
            }
            return;
        }
        let known = self.newest_turn.is_some_and(|it| it >= id);
        let what = if known { "its turn has finished" } else { "its turn was never opened" };
        notes.breach(Invariant::WellFormed, kind.call(), format_args!("{what}"));
    }
}
