//! A turn's ledger: which calls were accepted, started and answered. It belongs to the session.
//!
//! ractor hands no state of a dead actor on, so what must survive a scheduler is kept here: when
//! it dies, its open calls are answered from the ledger. A result can be claimed once.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use toolwright_contract::{CallIx, HowEnded, Progress, ToolResult, ToolUseId, wording};

/// The ledger of one turn.
#[derive(Default)]
pub(crate) struct Ledger {
    book: Mutex<Book>,
    finished: Notify,
}

#[derive(Default)]
struct Book {
    entries: Vec<Entry>,
    ids: HashSet<ToolUseId>,
    duplicates: Vec<ToolUseId>,
    notes: Vec<String>,
    /// Every entry before this one has been emitted.
    told: usize,
    finished: bool,
    /// Nobody answers calls any more.
    orphaned: bool,
}

/// What became of a call that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// It has this place.
    At(CallIx),
    /// It has this place, but its scheduler is gone: whoever brought it must answer it.
    Orphan(CallIx),
    /// Its id is taken in this message.
    Duplicate,
}

struct Entry {
    id: ToolUseId,
    started: bool,
    answer: Option<(ToolResult, HowEnded)>,
}

/// What a turn came to.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    pub(crate) results: Vec<ToolResult>,
    pub(crate) ended: Vec<HowEnded>,
    pub(crate) notes: Vec<String>,
    pub(crate) duplicates: Vec<ToolUseId>,
}

impl Ledger {
    /// Gives the call its place.
    pub(crate) fn accept(&self, id: &ToolUseId) -> Accepted {
        let mut book = self.book();
        if !book.ids.insert(id.clone()) {
            book.duplicates.push(id.clone());
            return Accepted::Duplicate;
        }
        let ix = CallIx(book.entries.len() as u32);
        book.entries.push(Entry { id: id.clone(), started: false, answer: None });
        if book.orphaned { Accepted::Orphan(ix) } else { Accepted::At(ix) }
    }

    pub(crate) fn len(&self) -> u32 {
        self.book().entries.len() as u32
    }

    /// The place of a call.
    pub(crate) fn find(&self, id: &ToolUseId) -> Option<CallIx> {
        let book = self.book();
        let at = book.entries.iter().position(|it| it.id == *id)?;
        Some(CallIx(u32::try_from(at).ok()?))
    }

    pub(crate) fn started(&self, ix: CallIx) {
        if let Some(entry) = self.book().entries.get_mut(ix.at()) {
            entry.started = true;
        }
    }

    /// Answers a call and calls `emit` for each result whose turn it is now, in order.
    /// The second answer to a call is dropped.
    pub(crate) fn answer(
        &self,
        ix: CallIx,
        result: ToolResult,
        ended: HowEnded,
        notes: Vec<String>,
        mut emit: impl FnMut(CallIx, &ToolResult, HowEnded),
    ) {
        let mut book = self.book();
        let book = &mut *book;
        match book.entries.get_mut(ix.at()) {
            Some(entry) if entry.answer.is_none() => entry.answer = Some((result, ended)),
            Some(_) | None => return,
        }
        book.notes.extend(notes);
        while let Some(Entry { answer: Some((result, ended)), .. }) = book.entries.get(book.told) {
            // The number of entries fits: `accept` has checked it.
            emit(CallIx(book.told as u32), result, *ended);
            book.told += 1;
        }
    }

    /// Closes the turn: who waits for it goes on.
    pub(crate) fn finish(&self) {
        self.book().finished = true;
        self.finished.notify_waiters();
    }

    /// Answers every open call as interrupted and closes the turn. Gives the calls that had
    /// started and may still run.
    pub(crate) fn interrupt(
        &self,
        mut emit: impl FnMut(CallIx, &ToolResult, HowEnded),
    ) -> Vec<CallIx> {
        let mut running = Vec::new();
        for (ix, id, started) in self.orphan() {
            let (progress, ended) = match started {
                true => (Progress::MayHaveRun, HowEnded::StoppedMayHaveRun),
                false => (Progress::NotStarted, HowEnded::StoppedNotStarted),
            };
            running.extend(started.then_some(ix));
            let content = wording::interrupted(progress).into();
            let result = ToolResult { id, content, is_error: true };
            self.answer(ix, result, ended, Vec::new(), &mut emit);
        }
        self.finish();
        running
    }

    fn orphan(&self) -> Vec<(CallIx, ToolUseId, bool)> {
        let mut book = self.book();
        book.orphaned = true;
        let entries = book.entries.iter().enumerate();
        let open = entries.filter(|(_, it)| it.answer.is_none());
        open.map(|(at, it)| (CallIx(at as u32), it.id.clone(), it.started)).collect()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.book().finished
    }

    /// Ends when the turn is closed. Safe to drop and to call again.
    pub(crate) async fn closed(&self) {
        loop {
            let woken = self.finished.notified();
            tokio::pin!(woken);
            // Registered before the look, so that a close between the two isn't missed.
            woken.as_mut().enable();
            if self.is_finished() {
                return;
            }
            woken.await;
        }
    }

    /// Takes what the turn came to, once it is closed.
    pub(crate) fn take(&self) -> Closed {
        let mut book = self.book();
        let (results, ended) =
            std::mem::take(&mut book.entries).into_iter().filter_map(|it| it.answer).unzip();
        Closed {
            results,
            ended,
            notes: std::mem::take(&mut book.notes),
            duplicates: std::mem::take(&mut book.duplicates),
        }
    }

    /// A poisoned lock is taken all the same: the book is changed in whole steps.
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
