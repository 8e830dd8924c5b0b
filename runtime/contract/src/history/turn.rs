//! One turn as its events have shown it: its row of calls, and which step each event is.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use toolwright_kernel::Place;

use super::breach::{Invariant, Notes};
use super::call::{Call, Mark};
use super::ending::{Around, wrong_ending};
use super::lanes::Lanes;
use crate::event::{CascadeName, EventKind, HowEnded, StageName, StopName, VerdictName};
use crate::ids::{RequestId, ToolUseId};

/// An open turn.
pub(super) struct Turn {
    opened: u64,
    nested: bool,
    pub(super) cascade: CascadeName,
    width: u16,
    pub(super) calls: Vec<Call>,
    by_id: HashMap<ToolUseId, u32>,
    /// Ids that were left out as duplicates before the first of that id was seen: whoever submits
    /// may be ahead of the scheduler.
    unmatched: Vec<ToolUseId>,
    pub(super) lanes: Lanes,
    /// Calls that were let through and wait for the lane that they need, and since which event.
    pub(super) rejoining: BTreeMap<u32, u64>,
    /// Open questions.
    pub(super) questions: BTreeSet<RequestId>,
    /// Every call before this one has left the line.
    frontier: usize,
    /// Every call before this one was emitted.
    emitted: usize,
    sealed: bool,
    pub(super) around: Around,
}

impl Turn {
    pub(super) fn new(opened: u64, nested: bool, cascade: CascadeName, width: u16) -> Self {
        Self {
            opened,
            nested,
            cascade,
            width,
            calls: Vec::new(),
            by_id: HashMap::new(),
            unmatched: Vec::new(),
            lanes: Lanes::new(width),
            rejoining: BTreeMap::new(),
            questions: BTreeSet::new(),
            frontier: 0,
            emitted: 0,
            sealed: false,
            around: Around { given_up: false, lost: false, cut: false },
        }
    }

    pub(super) fn opened(&self) -> u64 {
        self.opened
    }

    pub(super) fn is_nested(&self) -> bool {
        self.nested
    }

    pub(super) fn is_alive(&self, id: &ToolUseId) -> bool {
        self.by_id.get(id).is_some_and(|&call| self.calls[call as usize].is_alive())
    }

    pub(super) fn inherit(&mut self, places: impl Iterator<Item = Place>) {
        for place in places {
            self.lanes.join(place);
        }
    }

    pub(super) fn disinherit(&mut self, place: Place) {
        self.lanes.leave(place);
    }

    /// What overdue calls hold on to.
    pub(super) fn left_behind(&self) -> BTreeMap<u32, (ToolUseId, Place)> {
        let calls = (0..).zip(&self.calls);
        calls.filter_map(|(call, it)| Some((call, (it.id.clone(), it.left_behind()?)))).collect()
    }

    /// How many results are still to come.
    pub(super) fn owed(&self) -> usize {
        self.calls[self.emitted..].iter().filter(|it| !it.has(Mark::Emitted)).count()
    }

    /// Takes in an event of this turn, other than its opening and its finish.
    pub(super) fn step(&mut self, kind: &EventKind, notes: &mut Notes<'_>) {
        if let EventKind::Accepted { call, id, exclusive, read_only, .. } = kind {
            return self.accepted(*call, Call::new(id.clone(), *exclusive, *read_only), notes);
        }
        if let Some(call) = kind.call()
            && self.calls.len() <= call as usize
        {
            let emitted = matches!(kind, EventKind::Emitted { .. });
            let broken = if emitted { Invariant::OneResult } else { Invariant::WellFormed };
            return notes.breach(broken, Some(call), format_args!("no such call was accepted"));
        }
        match kind {
            EventKind::Accepted { .. }
            | EventKind::TurnOpened { .. }
            | EventKind::TurnFinished { .. } => {}
            EventKind::Duplicate { id } => {
                if !self.by_id.contains_key(id) {
                    self.unmatched.push(id.clone());
                }
            }
            EventKind::Gated { call } => self.gated(*call, notes),
            EventKind::Asking { call, request } => self.asking(*call, *request, notes),
            EventKind::Withdrawn { request } => self.withdrawn(*request, notes),
            EventKind::Cleared { call, exclusive, read_only } => {
                self.cleared(*call, *exclusive, *read_only, notes);
            }
            EventKind::Refused { call, .. } => self.refused(*call, notes),
            EventKind::Logged { call } => self.logged(*call, notes),
            EventKind::Started { call } => self.started(*call, notes),
            EventKind::Progressed { call, .. }
            | EventKind::Notified { call, .. }
            | EventKind::Stalled { call, .. } => {
                let started = self.calls[*call as usize].has(Mark::Started);
                let what = "its tool was seen at work before it started";
                notes.first(Invariant::WellFormed, *call, &[(!started, what)]);
            }
            EventKind::Lent { call } => self.lent(*call, notes),
            EventKind::Resumed { call } => self.resumed(*call, notes),
            EventKind::Stopping { call, cause, culprit } => {
                self.stopping(*call, *cause, *culprit, notes);
            }
            EventKind::Returned { call, verdict, cascades } => {
                self.returned(*call, *verdict, *cascades, notes);
            }
            EventKind::Overdue { call } => self.overdue(*call, notes),
            EventKind::Gone { call } => self.gone(*call, notes),
            EventKind::ContextChanged { call, ignored } => {
                self.context_changed(*call, ignored.is_none(), notes);
            }
            EventKind::Stored { call, .. } => self.stored(*call, notes),
            EventKind::Emitted { call, id, ended, is_error } => {
                self.emitted(*call, id, *ended, *is_error, notes);
            }
            EventKind::Sealed => {
                if std::mem::replace(&mut self.sealed, true) {
                    notes.breach(Invariant::WellFormed, None, format_args!("it is sealed already"));
                }
            }
            EventKind::StageFailed { stage, .. } => {
                self.around.cut |= *stage == StageName::Host;
                self.around.lost |= *stage == StageName::Scheduler || self.around.cut;
            }
        }
    }

    fn accepted(&mut self, call: u32, new: Call, notes: &mut Notes<'_>) {
        let next = self.calls.len();
        if call as usize != next {
            let what = format_args!("it was accepted where call {next} was the next");
            return notes.breach(Invariant::WellFormed, Some(call), what);
        }
        let wrong = [(self.sealed, "it was accepted after the turn had been sealed")];
        notes.first(Invariant::WellFormed, call, &wrong);
        let twice = self.by_id.insert(new.id.clone(), call).is_some();
        let wrong = [(twice, "its id belongs to an earlier call of the turn")];
        notes.first(Invariant::OneResult, call, &wrong);
        self.calls.push(new);
    }

    /// The first call that stands in line before this one, if any does.
    pub(super) fn ahead_of(&mut self, call: u32) -> Option<usize> {
        while self.calls.get(self.frontier).is_some_and(Call::has_moved) {
            self.frontier += 1;
        }
        (self.frontier < call as usize).then_some(self.frontier)
    }

    /// Takes a place, and says whom it disturbs.
    pub(super) fn occupy(&mut self, call: u32, place: Place, notes: &mut Notes<'_>) {
        self.calls[call as usize].place = Some(place);
        let Some(broken) = self.lanes.join(place) else { return };
        if notes.is_full() {
            return;
        }
        let holds = |it: &Call| it.place.is_some() && !it.has(Mark::Loose);
        let other = (0..).zip(&self.calls).find(|(at, it)| *at != call && holds(it));
        let (width, call) = (self.width, Some(call));
        match (broken, other) {
            (Invariant::Width, _) => {
                notes.breach(broken, call, format_args!("more than {width} calls run at once"));
            }
            (_, Some((other, _))) => {
                let what = format_args!("it is in the lanes with call {other}; one must be alone");
                notes.breach(broken, call, what);
            }
            (_, None) => {
                let what = format_args!("an overdue call of an earlier turn still holds its lane");
                notes.breach(broken, call, what);
            }
        }
    }

    /// Gives its place back, if it has one that is certain.
    pub(super) fn vacate(&mut self, call: u32) {
        let it = &mut self.calls[call as usize];
        let loose = it.has(Mark::Loose);
        it.unset(Mark::Loose);
        if let Some(place) = it.place.take()
            && !loose
        {
            self.lanes.leave(place);
        }
    }

    fn emitted(
        &mut self,
        call: u32,
        id: &ToolUseId,
        ended: HowEnded,
        is_error: bool,
        notes: &mut Notes<'_>,
    ) {
        let it = &mut self.calls[call as usize];
        let twice = it.has(Mark::Emitted);
        let wrong = [
            (twice, "it was given a second result"),
            (it.id != *id, "its result carries another id"),
        ];
        notes.first(Invariant::OneResult, call, &wrong);
        if twice {
            return;
        }
        let unsafe_yet = !it.has(Mark::Stored) && !self.around.lost;
        let wrong = [(unsafe_yet, "its result was handed out before it was stored")];
        notes.first(Invariant::WellFormed, call, &wrong);
        if let Some((broken, what)) = wrong_ending(it, ended, self.around) {
            notes.breach(broken, Some(call), format_args!("{what}"));
        }
        let wrong = [(is_error != (ended != HowEnded::Ok), "only a success is no error")];
        notes.first(Invariant::Independent, call, &wrong);
        it.set(Mark::Emitted);
        let left_over = it.left_behind().is_some();
        if self.emitted < call as usize {
            let what = format_args!("its result came before that of call {}", self.emitted);
            notes.breach(Invariant::InOrder, Some(call), what);
        }
        while self.calls.get(self.emitted).is_some_and(|it| it.has(Mark::Emitted)) {
            self.emitted += 1;
        }
        if !left_over {
            self.vacate(call);
        }
    }

    pub(super) fn finish(&mut self, calls: u32, notes: &mut Notes<'_>) {
        let owed = self.owed();
        if owed > 0 {
            let first = u32::try_from(self.emitted).ok();
            let what = format_args!("the turn finished, but owes {owed} of its results");
            notes.breach(Invariant::OneResult, first, what);
        }
        for id in self.unmatched.iter().filter(|it| !self.by_id.contains_key(it)) {
            let what = format_args!("{id} was left out as a duplicate, but nothing has that id");
            notes.breach(Invariant::OneResult, None, what);
        }
        let mut wrong = |wrong: bool, what: std::fmt::Arguments<'_>| {
            if wrong {
                notes.breach(Invariant::WellFormed, None, what);
            }
        };
        let count = self.calls.len();
        wrong(
            calls as usize != count,
            format_args!("the turn finished with {calls} calls, but had {count}"),
        );
        wrong(
            !self.sealed && !self.around.lost,
            format_args!("the turn finished before it was sealed"),
        );
    }

    /// Whether this verdict takes the siblings along under the turn's policy.
    pub(super) fn takes_along(&self, call: u32, verdict: VerdictName, cascades: bool) -> bool {
        match (self.cascade, verdict) {
            (CascadeName::Never, _) | (_, VerdictName::Ok) => false,
            // Unless it had been told to, it has failed as a crash does.
            (CascadeName::Any, VerdictName::Stopped) => {
                !self.calls[call as usize].has(Mark::Stopping)
            }
            (CascadeName::Declared, VerdictName::Stopped) => false,
            (CascadeName::Any, VerdictName::Error | VerdictName::Crashed) => true,
            (CascadeName::Declared, VerdictName::Error) => cascades,
            (CascadeName::Declared, VerdictName::Crashed) => false,
        }
    }

    /// A stop that is put on a sibling names one that has failed so.
    pub(super) fn blame(
        &self,
        call: u32,
        cause: StopName,
        culprit: Option<u32>,
        notes: &mut Notes<'_>,
    ) {
        let sibling = cause == StopName::Sibling;
        let Some(culprit) = culprit else {
            if sibling {
                let what = format_args!("it was stopped for a sibling that isn't named");
                notes.breach(Invariant::Independent, Some(call), what);
            }
            return;
        };
        let guilty = call != culprit
            && self.calls.get(culprit as usize).is_some_and(|it| it.has(Mark::TookAlong));
        if !sibling {
            let what = format_args!("call {culprit} is named for a stop that isn't a sibling's");
            notes.breach(Invariant::WellFormed, Some(call), what);
        } else if !guilty {
            let what = format_args!("call {culprit} is blamed, but hasn't failed in such a way");
            notes.breach(Invariant::Independent, Some(call), what);
        }
    }
}
