//! A turn's ledger: which calls were accepted, started and answered. It belongs to the session.
//!
//! ractor hands no state of a dead actor on, so what must survive a scheduler is kept here: when
//! it dies, its open calls are answered from the ledger. A result can be claimed once.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc};
use toolwright_contract::{CallIx, HowEnded, Progress, ToolResult, ToolUseId, wording};

/// The ledger of one turn.
#[derive(Default)]
pub(crate) struct Ledger {
    book: Mutex<Book>,
    /// Locked after the book, where both are.
    out: Mutex<Out>,
    changed: Notify,
}

#[derive(Default)]
struct Book {
    entries: Vec<Entry>,
    ids: HashMap<ToolUseId, CallIx>,
    duplicates: Vec<ToolUseId>,
    notes: Vec<String>,
    /// Every entry before this one has been emitted.
    told: usize,
    finished: bool,
    /// No further call will come.
    sealed: bool,
    /// Nobody answers calls any more.
    orphaned: bool,
    /// Told to be over without its scheduler.
    ended: bool,
}

/// The results that were handed out: all that were emitted, unless their emissions are written
/// down first.
#[derive(Default)]
struct Out {
    /// How many.
    handed: usize,
    /// Results that came before one ahead of them.
    early: BTreeMap<usize, ToolResult>,
    /// Who reads them.
    reader: Option<mpsc::UnboundedSender<ToolResult>>,
}

/// When an emitted result is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handing {
    /// With its emission.
    Now,
    /// When [`Ledger::hand_out`] is told.
    Later,
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
    /// The tool it asks for, until its scheduler has looked at it.
    unseen: Option<Box<str>>,
    run: Run,
    /// It has its ending, and somebody owes its result.
    owed: bool,
    answer: Option<(ToolResult, HowEnded)>,
}

/// How far a call's tool has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    NotStarted,
    Started,
    Ended,
}

/// What a dead scheduler leaves behind.
#[derive(Debug)]
pub(crate) struct Remains {
    /// Calls that came in and that it hasn't looked at, with the tools they ask for.
    pub(crate) unseen: Vec<(CallIx, ToolUseId, Box<str>)>,
    /// Calls whose tools have started and haven't ended.
    pub(crate) running: Vec<CallIx>,
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
    /// Gives the call its place, and tells `came` of it before anybody else can hear of it.
    pub(crate) fn accept(&self, id: &ToolUseId, tool: &str, came: impl FnOnce(CallIx)) -> Accepted {
        let mut book = self.book();
        let ix = CallIx(book.entries.len() as u32);
        if book.ids.contains_key(id) {
            book.duplicates.push(id.clone());
            return Accepted::Duplicate;
        }
        book.ids.insert(id.clone(), ix);
        let unseen = (!book.orphaned).then(|| tool.into());
        book.entries.push(Entry {
            id: id.clone(),
            unseen,
            run: Run::NotStarted,
            owed: false,
            answer: None,
        });
        came(ix);
        if book.orphaned { Accepted::Orphan(ix) } else { Accepted::At(ix) }
    }

    /// The place of a call.
    pub(crate) fn find(&self, id: &ToolUseId) -> Option<CallIx> {
        self.book().ids.get(id).copied()
    }

    /// The scheduler looks at a call, and is given the name of its tool.
    pub(crate) fn see(&self, ix: CallIx) -> Box<str> {
        let mut book = self.book();
        book.entries.get_mut(ix.at()).and_then(|it| it.unseen.take()).unwrap_or_default()
    }

    pub(crate) fn started(&self, ix: CallIx) {
        self.run(ix, Run::Started);
    }

    pub(crate) fn ended(&self, ix: CallIx) {
        self.run(ix, Run::Ended);
    }

    fn run(&self, ix: CallIx, run: Run) {
        if let Some(entry) = self.book().entries.get_mut(ix.at()) {
            entry.run = run;
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
        mut emit: impl FnMut(CallIx, &ToolResult, HowEnded) -> Handing,
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
            if emit(CallIx(book.told as u32), result, *ended) == Handing::Now {
                self.out().hand(result);
            }
            book.told += 1;
        }
        if book.told == book.entries.len() {
            self.changed.notify_waiters();
        }
    }

    /// A reader of the results, those that were emitted already included, in order.
    pub(crate) fn read_by(&self, reader: mpsc::UnboundedSender<ToolResult>) {
        let (book, mut out) = (self.book(), self.out());
        let handed = book.entries.iter().take(out.handed);
        for (result, _) in handed.filter_map(|it| it.answer.as_ref()) {
            reader.send(result.clone()).unwrap_or_default();
        }
        out.reader = Some(reader);
    }

    /// Hands out an emitted result, after those before it. May be called in the course of its
    /// emission.
    pub(crate) fn hand_out(&self, ix: CallIx, result: ToolResult) {
        let mut out = self.out();
        out.early.insert(ix.at(), result);
        let next = |out: &mut Out| out.early.remove(&out.handed);
        while let Some(result) = next(&mut out) {
            out.hand(&result);
        }
        drop(out);
        self.changed.notify_waiters();
    }

    /// A job has the ending of this call and owes its result, whatever becomes of the scheduler.
    pub(crate) fn owed(&self, ix: CallIx) {
        if let Some(entry) = self.book().entries.get_mut(ix.at()) {
            entry.owed = true;
        }
    }

    /// No further call will come. Gives whether the scheduler is gone.
    pub(crate) fn seal(&self) -> bool {
        let mut book = self.book();
        book.sealed = true;
        book.orphaned
    }

    /// Whether the scheduler is gone and nothing more will come: true once.
    pub(crate) fn is_at_its_end(&self) -> bool {
        let mut book = self.book();
        let end = book.orphaned && book.sealed && book.told == book.entries.len();
        end && !std::mem::replace(&mut book.ended, true)
    }

    /// Closes the turn, once: calls `emit` with the number of its calls, and who waits for it goes
    /// on.
    pub(crate) fn finish(&self, emit: impl FnOnce(u32)) {
        let mut book = self.book();
        if !std::mem::replace(&mut book.finished, true) {
            // The number of entries fits: `accept` has checked it.
            emit(book.entries.len() as u32);
            self.changed.notify_waiters();
        }
    }

    /// The scheduler is gone: calls that come from now on are answered by who brings them.
    pub(crate) fn orphan(&self) -> Remains {
        let mut book = self.book();
        book.orphaned = true;
        let entries = (0..).map(CallIx).zip(&mut book.entries);
        let unseen = entries.filter_map(|(ix, it)| Some((ix, it.id.clone(), it.unseen.take()?)));
        let unseen = unseen.collect();
        let entries = (0..).map(CallIx).zip(&book.entries);
        let running = entries.filter(|(_, it)| it.run == Run::Started).map(|(ix, _)| ix).collect();
        Remains { unseen, running }
    }

    /// Answers every call as interrupted whose result nobody owes; `keep` is told of each before
    /// it is emitted.
    pub(crate) fn interrupt(
        &self,
        keep: impl Fn(CallIx, &ToolResult, HowEnded),
        mut emit: impl FnMut(CallIx, &ToolResult, HowEnded) -> Handing,
    ) {
        for (ix, id, run) in self.open() {
            let (progress, ended) = match run {
                Run::Started | Run::Ended => (Progress::MayHaveRun, HowEnded::StoppedMayHaveRun),
                Run::NotStarted => (Progress::NotStarted, HowEnded::StoppedNotStarted),
            };
            let content = wording::interrupted(progress).into();
            let result = ToolResult { id, content, is_error: true };
            keep(ix, &result, ended);
            self.answer(ix, result, ended, Vec::new(), &mut emit);
        }
    }

    fn open(&self) -> Vec<(CallIx, ToolUseId, Run)> {
        let book = self.book();
        let entries = (0..).map(CallIx).zip(&book.entries);
        let open = entries.filter(|(_, it)| it.answer.is_none() && !it.owed);
        open.map(|(ix, it)| (ix, it.id.clone(), it.run)).collect()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.book().finished
    }

    /// Ends when the turn is closed and its results are handed out. Safe to drop and to call again.
    pub(crate) async fn closed(&self) {
        self.until(|book, handed| book.finished && handed >= book.entries.len()).await;
    }

    /// Ends when every result so far is handed out, whether or not more may come. Safe to drop and
    /// to call again.
    pub(crate) async fn answered(&self) {
        self.until(|book, handed| handed >= book.entries.len()).await;
    }

    async fn until(&self, is_so: impl Fn(&Book, usize) -> bool) {
        loop {
            let woken = self.changed.notified();
            tokio::pin!(woken);
            // Registered before the look, so that a change between the two isn't missed.
            woken.as_mut().enable();
            if self.is_so(&is_so) {
                return;
            }
            woken.await;
        }
    }

    fn is_so(&self, is_so: impl Fn(&Book, usize) -> bool) -> bool {
        let (book, out) = (self.book(), self.out());
        is_so(&book, out.handed)
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

    /// As [`book`](Self::book).
    fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Out {
    fn hand(&mut self, result: &ToolResult) {
        if let Some(reader) = &self.reader {
            // A reader that has gone wants nothing more.
            reader.send(result.clone()).unwrap_or_default();
        }
        self.handed += 1;
    }
}
