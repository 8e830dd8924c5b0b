//! The journal's seam: what a session writes down, and what waits for it.
//!
//! A session without a log builds no record and waits for nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;
use toolwright_contract::{CallIx, Event, HowEnded, ToolResult, ToolUse, ToolUseId, TurnId};

use crate::inbox::{Inbox, Kept, News};
use crate::ledger::Ledger;
use crate::owed::{Log, Owed};

/// Where a session writes what a later process needs in order to resume it.
///
/// What it is told, it writes in that order. But for [`ready`](Self::ready) and
/// [`close`](Self::close), nothing may block: some of it is called under the session's locks. It
/// has to find room for all it is told, since a session that has gone on can't go back; that is
/// bounded by the calls that are under way.
///
/// | told | before | what waits |
/// |---|---|---|
/// | [`came`](Self::came) | the call's `accepted` | nothing |
/// | [`event`](Self::event) | anybody hears of it | nothing |
/// | [`start`](Self::start) | `logged`, of a call that isn't read-only | its start |
/// | [`kept`](Self::kept) | `stored` | that, hence its emission |
/// | [`emitted`](Self::emitted) | the result is handed out | that result |
///
/// A start that can't be written refuses its call. A result that can't be is handed out all the
/// same, and the session says so in an event ([`StageName::Journal`]).
///
/// [`StageName::Journal`]: toolwright_contract::StageName::Journal
pub trait SessionLog: Send + Sync + 'static {
    /// Ends when there is room for further calls; each is waited for so. Must be safe to drop.
    fn ready(&self) -> BoxFuture<'_, ()>;

    /// A call has its place.
    fn came(&self, came: Came<'_>);

    /// Something has happened.
    fn event(&self, event: &Event);

    /// A result is to be handed out, as `event` tells: once `out` is dropped. To be dropped when
    /// the event is written, or can't be.
    fn emitted(&self, event: &Event, out: HandOut);

    /// A call is about to start. An `ack` that is dropped means that the record was not written,
    /// and the call is not started.
    fn start(&self, record: StartRecord, ack: StartAck);

    /// A call has the result that the model will read.
    fn kept(&self, kept: KeptResult);

    /// The session is over: ends when all is written and what was held is free.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A call that came in.
#[derive(Clone, Copy, Debug)]
pub struct Came<'a> {
    /// The turn.
    pub turn: TurnId,
    /// Its place in it.
    pub call: CallIx,
    /// As it came.
    pub tool_use: &'a ToolUse,
    /// The call of a dead process that it carries on.
    pub carries_on: Option<Earlier>,
}

/// A call of an earlier process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Which process, counted from 1.
    pub run: u32,
    /// Its turn.
    pub turn: TurnId,
    /// Its place in that.
    pub call: CallIx,
}

/// What is written before a call starts.
#[derive(Clone, Debug, PartialEq)]
pub struct StartRecord {
    /// The turn.
    pub turn: TurnId,
    /// The place of the call in it.
    pub call: CallIx,
    /// Its id.
    pub id: ToolUseId,
    /// The tool.
    pub tool: String,
    /// The input that it runs with, if that isn't as it came.
    pub input: Option<Value>,
}

/// The answer that a start record owes.
pub struct StartAck(pub(crate) Owed<Log>);

impl StartAck {
    /// The record is written.
    pub fn written(self) {
        self.0.logged();
    }

    /// The record could not be written; the call will say why it was not started.
    pub fn failed(self, why: &str) {
        self.0.failed(why);
    }
}

/// A result, and who waits until it is written. Dropped unanswered, it stands all the same, and the
/// session says that it was not written.
pub struct KeptResult {
    turn: TurnId,
    call: CallIx,
    /// None once it is answered.
    kept: Option<Kept>,
    /// None if nobody waits for it.
    to: Option<Arc<Inbox>>,
}

impl KeptResult {
    pub(crate) fn new(turn: TurnId, call: CallIx, kept: Kept, to: Option<Arc<Inbox>>) -> Self {
        Self { turn, call, kept: Some(kept), to }
    }

    /// The turn.
    #[must_use]
    pub fn turn(&self) -> TurnId {
        self.turn
    }

    /// The place of the call in it.
    #[must_use]
    pub fn call(&self) -> CallIx {
        self.call
    }

    /// The result, how its call ended, and the notes for the model beside it.
    #[must_use]
    pub fn result(&self) -> Option<(&ToolResult, HowEnded, &[String])> {
        // Before it is answered there is one.
        self.kept.as_ref().map(|it| (&it.result, it.ended, &*it.notes))
    }

    /// It is written.
    pub fn written(mut self) {
        self.answer(None);
    }

    /// It could not be written.
    pub fn failed(mut self, why: &str) {
        self.answer(Some(why));
    }

    fn answer(&mut self, why: Option<&str>) {
        let (Some(mut kept), Some(to)) = (self.kept.take(), &self.to) else { return };
        kept.unwritten = why.map(str::to_owned);
        to.push(self.call, News::Stored(Box::new(kept)));
    }
}

impl Drop for KeptResult {
    fn drop(&mut self) {
        self.answer(Some("the journal gave no answer"));
    }
}

/// A result that is handed out when this is dropped, after those before it.
pub struct HandOut {
    ledger: Arc<Ledger>,
    call: CallIx,
    /// None once it is handed out.
    result: Option<ToolResult>,
}

impl HandOut {
    pub(crate) fn new(ledger: Arc<Ledger>, call: CallIx, result: ToolResult) -> Self {
        Self { ledger, call, result: Some(result) }
    }
}

impl Drop for HandOut {
    fn drop(&mut self) {
        if let Some(result) = self.result.take() {
            self.ledger.hand_out(self.call, result);
        }
    }
}

/// Tells a log something. One that panics has dropped what it owed on the way.
pub(crate) fn tell(log: &dyn SessionLog, what: impl FnOnce(&dyn SessionLog)) {
    if catch_unwind(AssertUnwindSafe(|| what(log))).is_err() {
        tracing::error!("the session's log panicked");
    }
}
