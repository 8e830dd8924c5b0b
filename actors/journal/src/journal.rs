//! The handle to a journal: appends without blocking, and tells each record's fate.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crossbeam::channel::Sender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::frame::MAX_PAYLOAD;
use crate::name::SessionName;
use crate::record::Record;
use crate::redact::Redact;
use crate::writer::{Append, AppendError, Job, Position, Reply};

/// Room in the queue, in units of a KiB begun: it bounds both the records (8,192) and the bytes
/// (8 MiB, and one record of any length) that wait. At 200 MB/s a disk has that in 40 ms.
pub const QUEUE_ROOM: u32 = 8_192;

/// A journal that is open for writing. Cheap to clone.
///
/// When the last clone is dropped, what waits is written, and then the file is given up;
/// [`close`](Self::close) waits for that.
#[derive(Clone)]
pub struct Journal {
    pub(crate) jobs: Sender<Job>,
    pub(crate) room: Arc<Semaphore>,
    pub(crate) redact: Arc<dyn Redact>,
    pub(crate) session: SessionName,
    pub(crate) run: u32,
    pub(crate) over: Arc<tokio::sync::watch::Receiver<()>>,
}

/// The fate of a record, to be waited for or not: it is written all the same.
#[derive(Debug)]
pub struct Ack(oneshot::Receiver<Result<Position, AppendError>>);

impl Ack {
    /// Waits for it on a thread of its own. Never on one that runs async tasks.
    ///
    /// # Errors
    ///
    /// Why the record was not written.
    pub fn wait(self) -> Result<Position, AppendError> {
        self.0.blocking_recv().unwrap_or(Err(AppendError::Closed))
    }
}

impl Future for Ack {
    type Output = Result<Position, AppendError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = Pin::new(&mut self.0).poll(cx);
        answer.map(|it| it.unwrap_or(Err(AppendError::Closed)))
    }
}

/// A record as it will be written.
struct Written {
    kind: u16,
    flags: u16,
    payload: Vec<u8>,
}

impl Journal {
    /// The session.
    #[must_use]
    pub fn session(&self) -> &SessionName {
        &self.session
    }

    /// Which process this is that opened the journal, counted from 1.
    #[must_use]
    pub fn run(&self) -> u32 {
        self.run
    }

    /// Appends a record and waits until it is acknowledged, which means what the durability says.
    /// Waits in line while the queue is full. Dropped before that, nothing is written; dropped
    /// later, the record is written all the same.
    ///
    /// # Errors
    ///
    /// [`AppendError`].
    pub async fn append(&self, record: Record) -> Result<Position, AppendError> {
        let (reply, ack) = reply();
        let written = self.encode(record)?;
        let room = self.room.clone().acquire_many_owned(room_for(&written)).await;
        self.send(written, room.map_err(|_| AppendError::Closed)?, Some(reply))?;
        ack.await
    }

    /// Appends a record if there is room for it at once, and gives its fate to wait for.
    ///
    /// # Errors
    ///
    /// [`AppendError::Busy`] while the queue is full, and what can be told at once.
    pub fn try_append(&self, record: Record) -> Result<Ack, AppendError> {
        let (reply, ack) = reply();
        let written = self.encode(record)?;
        let room = self.room.clone().try_acquire_many_owned(room_for(&written));
        self.send(written, room.map_err(|_| AppendError::Busy)?, Some(reply))?;
        Ok(ack)
    }

    /// Appends a record if there is room for it at once. `then` is called with its fate, at once if
    /// that is [`AppendError::Busy`] or the like, else on the writer thread, which it must not hold
    /// up. If that thread ends before, `then` is dropped.
    pub fn append_then(
        &self,
        record: Record,
        then: impl FnOnce(Result<Position, AppendError>) + Send + 'static,
    ) {
        let written = match self.encode(record) {
            Ok(written) => written,
            Err(error) => return then(Err(error)),
        };
        match self.room.clone().try_acquire_many_owned(room_for(&written)) {
            Ok(room) => drop(self.send(written, room, Some(Box::new(then)))),
            Err(_) => then(Err(AppendError::Busy)),
        }
    }

    /// Appends a record behind all others at once, even if the queue is full: for what follows from
    /// a record that had its room, and is bounded by it. `then` is called as by
    /// [`append_then`](Self::append_then).
    pub fn append_at_once(
        &self,
        record: Record,
        then: impl FnOnce(Result<Position, AppendError>) + Send + 'static,
    ) {
        match self.encode(record) {
            Ok(written) => {
                // What there is of room, it takes, so that others wait behind it.
                let room = self.room.clone().try_acquire_many_owned(room_for(&written)).ok();
                drop(self.send(written, room, Some(Box::new(then))));
            }
            Err(error) => then(Err(error)),
        }
    }

    /// Ends when there is room in the queue. Safe to drop and to call again.
    pub async fn ready(&self) {
        // The semaphore is never closed.
        drop(self.room.acquire().await);
    }

    /// Appends a record whose fate nobody waits for, in order with all others. Waits in line while
    /// the queue is full; dropped meanwhile, nothing is written.
    ///
    /// # Errors
    ///
    /// What can be told at once. What goes wrong with the file is told by the next record that is
    /// waited for, or by [`flush`](Self::flush) once it is broken.
    pub async fn note(&self, record: Record) -> Result<(), AppendError> {
        let written = self.encode(record)?;
        let room = self.room.clone().acquire_many_owned(room_for(&written)).await;
        self.send(written, room.map_err(|_| AppendError::Closed)?, None)
    }

    /// Syncs everything that was appended before, whatever the durability, and gives the end.
    /// Dropped meanwhile, it happens all the same.
    ///
    /// # Errors
    ///
    /// [`AppendError::Broken`] if that can't be promised.
    pub async fn flush(&self) -> Result<Position, AppendError> {
        let (reply, ack) = reply();
        self.jobs.send(Job::Flush(reply)).map_err(|_| AppendError::Closed)?;
        ack.await
    }

    /// Gives this handle up and waits until the file and its lock are free, once the other clones
    /// are dropped too.
    pub async fn close(self) {
        let mut over = (*self.over).clone();
        drop(self);
        // The sender is dropped with the file: that is the news.
        drop(over.changed().await);
    }

    /// Tells the reply, if there is one, what it gives.
    fn send(
        &self,
        written: Written,
        room: impl Into<Option<OwnedSemaphorePermit>>,
        reply: Option<Reply>,
    ) -> Result<(), AppendError> {
        let Written { kind, flags, payload } = written;
        let job = Job::Append(Append { kind, flags, payload, room: room.into(), reply });
        let Err(refused) = self.jobs.send(job) else { return Ok(()) };
        if let Job::Append(Append { reply: Some(reply), .. }) = refused.into_inner() {
            reply(Err(AppendError::Closed));
        }
        Err(AppendError::Closed)
    }

    fn encode(&self, mut record: Record) -> Result<Written, AppendError> {
        let redacted = catch_unwind(AssertUnwindSafe(|| record.redact(&*self.redact)));
        redacted.map_err(|_| AppendError::Unredacted)?;
        let encoded = record.encode().map_err(|it| AppendError::NotJson(it.to_string()));
        let (kind, flags, payload) = encoded?;
        if payload.len() > MAX_PAYLOAD {
            return Err(AppendError::TooLong(payload.len()));
        }
        Ok(Written { kind, flags, payload })
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, run, .. } = self;
        f.debug_struct("Journal")
            .field("session", session)
            .field("run", run)
            .finish_non_exhaustive()
    }
}

fn reply() -> (Reply, Ack) {
    let (sender, receiver) = oneshot::channel();
    // Who doesn't wait isn't told.
    (Box::new(move |answer| drop(sender.send(answer))), Ack(receiver))
}

fn room_for(written: &Written) -> u32 {
    let kib = u32::try_from(written.payload.len() / 1024).unwrap_or(QUEUE_ROOM);
    kib.saturating_add(1).min(QUEUE_ROOM)
}
