//! One call as its events have shown it so far.

use toolwright_kernel::{Footprint, Place};

use crate::event::VerdictName;
use crate::ids::{RequestId, ToolUseId};

/// Something that has happened to a call.
#[derive(Clone, Copy)]
#[repr(u16)]
pub(super) enum Mark {
    Gated = 1,
    Asked = 1 << 1,
    Cleared = 1 << 2,
    /// Refused before it was told to stop: the first of the two is its ending.
    Refused = 1 << 3,
    Logged = 1 << 4,
    Started = 1 << 5,
    Lent = 1 << 6,
    Stopping = 1 << 7,
    Returned = 1 << 8,
    Overdue = 1 << 9,
    Gone = 1 << 10,
    Stored = 1 << 11,
    Emitted = 1 << 12,
    /// Failed so that it takes its siblings along.
    TookAlong = 1 << 14,
    /// Told to stop before it started: when it leaves its lane can't be seen.
    Loose = 1 << 13,
}

/// What is known of a call.
pub(super) struct Call {
    pub(super) id: ToolUseId,
    /// The lane that it takes, or will take.
    pub(super) footprint: Footprint,
    pub(super) read_only: bool,
    pub(super) verdict: Option<VerdictName>,
    pub(super) question: Option<RequestId>,
    /// What it takes up; meaningless while it is [`Mark::Loose`].
    pub(super) place: Option<Place>,
    marks: u16,
}

impl Call {
    pub(super) fn new(id: ToolUseId, exclusive: bool, read_only: bool) -> Self {
        let footprint = footprint(exclusive);
        Self { id, footprint, read_only, verdict: None, question: None, place: None, marks: 0 }
    }

    pub(super) fn has(&self, mark: Mark) -> bool {
        self.marks & mark as u16 != 0
    }

    pub(super) fn set(&mut self, mark: Mark) {
        self.marks |= mark as u16;
    }

    pub(super) fn unset(&mut self, mark: Mark) {
        self.marks &= !(mark as u16);
    }

    /// Whether it no longer stands in line: anything at all has happened to it.
    pub(super) fn has_moved(&self) -> bool {
        self.marks != 0
    }

    /// Whether it has an ending that nothing may change.
    pub(super) fn is_over(&self) -> bool {
        [Mark::Refused, Mark::Returned, Mark::Overdue, Mark::Stored, Mark::Emitted]
            .into_iter()
            .any(|it| self.has(it))
    }

    /// Whether its tool runs, as far as anybody was told.
    pub(super) fn is_running(&self) -> bool {
        self.has(Mark::Started) && !self.is_over()
    }

    /// Whether its tool runs, answered or not.
    pub(super) fn is_alive(&self) -> bool {
        self.has(Mark::Started) && !self.has(Mark::Returned) && !self.has(Mark::Gone)
    }

    /// What it still takes up as an overdue call that isn't gone.
    pub(super) fn left_behind(&self) -> Option<Place> {
        (self.has(Mark::Overdue) && !self.has(Mark::Gone)).then_some(self.place?)
    }
}

pub(super) fn footprint(exclusive: bool) -> Footprint {
    if exclusive { Footprint::Exclusive } else { Footprint::Shared }
}
