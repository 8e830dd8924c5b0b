//! An answer that can't be forgotten.

use std::sync::Arc;

use toolwright_contract::{
    CallIx, Cleared, Content, HowEnded, Outcome, Refusal, RequestId, ResultLimit, ToolResult,
    Verdict, wording,
};

use crate::asked::OpenQuestion;
use crate::inbox::{Inbox, Kept, News, Pass, Share, Timer};
use crate::store::{Room, unkept};

/// The duty to tell the scheduler how one step of a call ended.
///
/// Paid once; a duty dropped unpaid (its task panicked or was aborted, its actor died with the
/// message in its mailbox) pays what its kind says. So every order is answered by exactly one
/// fact, whatever happens.
pub(crate) struct Owed<K: Kind> {
    ix: CallIx,
    to: Arc<Inbox>,
    /// What is paid if nobody pays.
    unpaid: Option<K>,
}

/// A kind of duty: it knows what to say if it is dropped.
pub(crate) trait Kind {
    fn unpaid(self, ix: CallIx, to: &Arc<Inbox>);
}

impl<K: Kind> Owed<K> {
    pub(crate) fn new(ix: CallIx, to: Arc<Inbox>, unpaid: K) -> Self {
        Self { ix, to, unpaid: Some(unpaid) }
    }

    fn send(mut self, news: News) {
        self.unpaid = None;
        self.to.push(self.ix, news);
    }
}

impl<K: Kind> Drop for Owed<K> {
    fn drop(&mut self) {
        if let Some(unpaid) = self.unpaid.take() {
            unpaid.unpaid(self.ix, &self.to);
        }
    }
}

/// The gate's answer; unpaid, the call is denied, and the stage that held it is named.
pub(crate) struct Gate(pub(crate) &'static str);

impl Kind for Gate {
    fn unpaid(self, ix: CallIx, to: &Arc<Inbox>) {
        to.push(ix, News::Refused(Refusal::StageFailed, wording::stage_failed(self.0)));
    }
}

impl Owed<Gate> {
    pub(crate) fn clear(self, cleared: Cleared, notes: Vec<String>, share: Share) {
        self.send(News::Cleared(Box::new(Pass { cleared, notes, share })));
    }

    pub(crate) fn refuse(self, why: Refusal, text: String) {
        self.send(News::Refused(why, text));
    }

    /// Says that a person is asked, for as long as the question is kept.
    #[must_use]
    pub(crate) fn asking(&self, request: RequestId) -> OpenQuestion {
        let question = OpenQuestion::about(self.to.asked());
        self.to.push(self.ix, News::Asking(request));
        question
    }

    pub(crate) fn withdrawn(&self, request: RequestId) {
        self.to.push(self.ix, News::Withdrawn(request));
    }

    /// The call has waited for too long.
    pub(crate) fn late(&self) {
        self.to.push(self.ix, News::Late(Timer::Deadline));
    }

    /// Says which stage the duty goes to.
    pub(crate) fn held_by(&mut self, stage: &'static str) {
        self.unpaid = Some(Gate(stage));
    }

    pub(crate) fn ix(&self) -> CallIx {
        self.ix
    }

    /// Whether the call belongs to the turn with this inbox.
    pub(crate) fn is_of(&self, inbox: &Arc<Inbox>) -> bool {
        Arc::ptr_eq(&self.to, inbox)
    }
}

/// The journal's answer; unpaid, the call must not start.
pub(crate) struct Log;

impl Kind for Log {
    fn unpaid(self, ix: CallIx, to: &Arc<Inbox>) {
        let why = wording::unrecorded("the journal gave no answer");
        to.push(ix, News::Refused(Refusal::Unrecorded, why));
    }
}

impl Owed<Log> {
    pub(crate) fn logged(self) {
        self.send(News::Logged);
    }

    pub(crate) fn failed(self, why: &str) {
        self.send(News::Refused(Refusal::Unrecorded, wording::unrecorded(why)));
    }
}

/// The worker's answer; unpaid, the tool has crashed.
pub(crate) struct Run;

impl Kind for Run {
    fn unpaid(self, ix: CallIx, to: &Arc<Inbox>) {
        to.push(ix, News::Returned(Box::new(Outcome::new(Verdict::Crashed, wording::vanished()))));
    }
}

impl Owed<Run> {
    pub(crate) fn returned(self, outcome: Outcome) {
        self.send(News::Returned(Box::new(outcome)));
    }
}

/// The last stages' answer. The duty holds the result itself: unpaid, it stands as it is then,
/// cut to its limit.
pub(crate) struct Keep {
    pub(crate) result: ToolResult,
    pub(crate) ended: HowEnded,
    pub(crate) limit: ResultLimit,
    pub(crate) notes: Vec<String>,
}

impl Kind for Keep {
    fn unpaid(self, ix: CallIx, to: &Arc<Inbox>) {
        let Keep { mut result, ended, limit, notes } = self;
        result.content = unkept(&result.content, limit, wording::store_failed());
        to.stored(ix, Kept { result, ended, notes, spilled: None, unwritten: None });
    }
}

impl Owed<Keep> {
    /// What is left of the message that the result goes into.
    pub(crate) fn room(&self) -> &Arc<Room> {
        self.to.room()
    }

    /// The result as it is so far; none only once it is paid.
    pub(crate) fn paper(&self) -> Option<&Keep> {
        self.unpaid.as_ref()
    }

    pub(crate) fn add_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        if let Some(keep) = &mut self.unpaid {
            keep.notes.extend(notes);
        }
    }

    /// Pays with the content as `change` makes it; `spilled` is what went to a file, in bytes.
    pub(crate) fn kept(mut self, spilled: Option<u64>, change: impl FnOnce(Content) -> Content) {
        if let Some(Keep { mut result, ended, notes, .. }) = self.unpaid.take() {
            result.content = change(result.content);
            self.to.stored(self.ix, Kept { result, ended, notes, spilled, unwritten: None });
        }
    }
}
