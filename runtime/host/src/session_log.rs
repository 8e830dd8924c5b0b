//! A session's log in a journal: which record each thing becomes, and what waits for it.

use std::sync::{PoisonError, RwLock};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use toolwright_actors::{Came, Earlier, HandOut, KeptResult, SessionLog, StartAck, StartRecord};
use toolwright_contract::{CallIx, Event, EventKind, TurnId};
use toolwright_journal::{
    AppendError, CallAt, CallCame, Journal, Kept, Position, Record, Starting,
};

/// Writes all that a session does in its journal.
///
/// A call starts once its record is acknowledged, so "not started" is true of every call without
/// one, under [`Durability::Always`](toolwright_journal::Durability::Always) after a power failure
/// too. A call whose record could not be written is refused with the reason: while the disk is
/// full, only calls that read go on, and their results are handed out all the same.
///
/// While the queue of the journal is full, further calls wait before they are taken. What the calls
/// that were taken do is written all the same; only what they say of their progress is left out.
#[derive(Debug)]
pub(crate) struct JournaledSession {
    run: u32,
    /// None once it is closed.
    journal: RwLock<Option<Journal>>,
}

impl JournaledSession {
    /// Writes it in this journal.
    pub(crate) fn new(journal: Journal) -> Self {
        Self { run: journal.run(), journal: RwLock::new(Some(journal)) }
    }

    fn at(&self, turn: TurnId, call: CallIx) -> CallAt {
        CallAt { run: self.run, turn, call: call.0 }
    }

    /// A poisoned lock is taken all the same: every change is one step.
    fn journal(&self) -> Option<Journal> {
        self.journal.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes a record behind all before it, and calls `then` with its fate.
    pub(crate) fn append(
        &self,
        record: Record,
        then: impl FnOnce(Result<Position, AppendError>) + Send + 'static,
    ) {
        match &*self.journal.read().unwrap_or_else(PoisonError::into_inner) {
            Some(journal) => journal.append_at_once(record, then),
            None => then(Err(AppendError::Closed)),
        }
    }

    /// Who waits for nothing is told nothing: the next who does hears of it.
    fn note(&self, record: Record) {
        self.append(record, |_| {});
    }
}

impl SessionLog for JournaledSession {
    fn ready(&self) -> BoxFuture<'_, ()> {
        let journal = self.journal();
        async move {
            if let Some(journal) = journal {
                journal.ready().await;
            }
        }
        .boxed()
    }

    fn came(&self, came: Came<'_>) {
        let Came { turn, call, tool_use, carries_on } = came;
        self.note(Record::Call(CallCame {
            at: self.at(turn, call),
            id: tool_use.id.clone(),
            tool: tool_use.name.clone(),
            input: tool_use.input.clone().into(),
            carries_on: carries_on.map(place),
        }));
    }

    fn event(&self, event: &Event) {
        let record = Record::Event { run: self.run, event: event.clone() };
        let is_chat =
            matches!(event.kind, EventKind::Progressed { .. } | EventKind::Notified { .. });
        if !is_chat {
            self.note(record);
        } else if let Some(journal) = self.journal() {
            journal.append_then(record, |_| {});
        }
    }

    fn emitted(&self, event: &Event, out: HandOut) {
        let record = Record::Event { run: self.run, event: event.clone() };
        self.append(record, move |_| drop(out));
    }

    fn start(&self, record: StartRecord, ack: StartAck) {
        let StartRecord { turn, call, id, tool, input } = record;
        // No tool can declare yet that running it twice is running it once.
        let start = Starting { at: self.at(turn, call), id, tool, input, idempotent: false };
        self.append(Record::Start(start), |written| match written {
            Ok(_) => ack.written(),
            Err(error) => ack.failed(&error.to_string()),
        });
    }

    fn kept(&self, kept: KeptResult) {
        let Some((result, ended, notes)) = kept.result() else { return };
        let at = self.at(kept.turn(), kept.call());
        let record = Kept { notes: notes.to_vec(), ..Kept::of(at, result, ended) };
        self.append(Record::Result(record), |written| match written {
            Ok(_) => kept.written(),
            Err(error) => kept.failed(&error.to_string()),
        });
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        let journal = self.journal.write().unwrap_or_else(PoisonError::into_inner).take();
        async move {
            if let Some(journal) = journal {
                journal.close().await;
            }
        }
        .boxed()
    }
}

fn place(earlier: Earlier) -> CallAt {
    let Earlier { run, turn, call } = earlier;
    CallAt { run, turn, call: call.0 }
}
