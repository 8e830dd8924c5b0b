//! The writer thread: takes what is waiting, writes it as one frame, then answers for all of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError};
use tokio::sync::OwnedSemaphorePermit;

use crate::frame::{HEAD_BYTES, put_record};
use crate::tail::{Tail, Unwritten};

/// What an acknowledged record survives.
///
/// | | acknowledged when | the process is killed | the power fails |
/// |---|---|---|---|
/// | `None` | handed to the operating system | survives | may be lost, and so may any before it |
/// | `Batch` | handed to the operating system | survives | survives if older than [`SYNC_EVERY`] |
/// | `Always` | synced to the disk | survives | survives |
///
/// Records survive in order: never one without those before it. After a power failure under `None`
/// or `Batch`, what was not synced may have a hole in the middle, which is told as damage
/// ([`Corrupt::promised`](crate::Corrupt) is false then) and has to be repaired by hand; under
/// `Always` nothing is written behind what isn't synced, so there is no such hole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Handed to the operating system.
    None,
    /// Handed to the operating system, and synced soon after. The default.
    #[default]
    Batch,
    /// Synced before it is acknowledged; what waits meanwhile shares the next sync.
    Always,
}

/// How old a record may become under [`Durability::Batch`] before it is synced: short against a
/// model's turn, long against a sync (0.1 to 10 ms).
pub const SYNC_EVERY: Duration = Duration::from_millis(200);
/// How much is left unsynced under [`Durability::Batch`], in bytes: a sync of this takes some 10 ms.
pub const SYNC_BYTES: u64 = 4 * 1024 * 1024;
/// A group is written once it has so many bytes, though more is waiting: enough that the cost of a
/// write is lost in it.
const GROUP_BYTES: usize = 256 * 1024;

/// Where an acknowledged record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The number of the record, counted from 0 over the file.
    pub record: u64,
    /// Where its frame begins, in bytes from the start of the file.
    pub frame: u64,
}

/// Why a record was not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The queue is full.
    #[error("the journal has too much to write: wait for what is under way, then append again")]
    Busy,
    /// The record is longer than a reader would take.
    #[error("the record has {0} bytes, more than the journal takes: keep it in a file")]
    TooLong(usize),
    /// The redactor panicked.
    #[error("the redactor panicked, so the record was not written: mend the redactor")]
    Unredacted,
    /// It can't be made JSON.
    #[error("the record can't be written as JSON: {0}")]
    NotJson(String),
    /// This record was not written; later ones may be.
    #[error("the journal could not be written: {0}. Free space, or mend its folder")]
    NotWritten(String),
    /// Nothing is written any more. The record may be readable after the session is opened again,
    /// but nothing is promised of it.
    #[error("the journal is broken and takes nothing more: {0}. Open the session again")]
    Broken(String),
    /// The journal is closed.
    #[error("the journal is closed: open the session again")]
    Closed,
}

/// What is called with the answer, on the writer thread: it must not block.
pub(crate) type Reply = Box<dyn FnOnce(Result<Position, AppendError>) + Send>;

/// What the writer is told.
pub(crate) enum Job {
    /// Write this.
    Append(Append),
    /// Sync all before this, whatever the durability, then answer.
    Flush(Reply),
}

/// A record to write.
pub(crate) struct Append {
    pub(crate) kind: u16,
    pub(crate) flags: u16,
    pub(crate) payload: Vec<u8>,
    /// Its room in the queue, until it is written; none where it came at once, into a full one.
    pub(crate) room: Option<OwnedSemaphorePermit>,
    pub(crate) reply: Option<Reply>,
}

/// Runs until all senders are gone, then syncs and gives the file up.
pub(crate) fn run(mut tail: Tail, durability: Durability, jobs: &Receiver<Job>) {
    let mut frame = Vec::new();
    let mut due: Option<Instant> = None;
    loop {
        let job = match due {
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => jobs.recv_deadline(due),
        };
        match job {
            Ok(job) => write_group(&mut tail, durability, job, jobs, &mut frame),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if durability == Durability::Batch && tail.unsynced() > 0 && tail.check().is_ok() {
            let now = Instant::now();
            let due_at = *due.get_or_insert(now + SYNC_EVERY);
            if now >= due_at || tail.unsynced() >= SYNC_BYTES {
                due = None;
                // A failure is told with the next record: those before it were promised no more.
                drop(tail.sync());
            }
        } else {
            due = None;
        }
    }
    if durability != Durability::None {
        // Nobody is left to be told.
        drop(tail.sync());
    }
}

/// Writes what is waiting, and answers for it.
fn write_group(
    tail: &mut Tail,
    durability: Durability,
    first: Job,
    jobs: &Receiver<Job>,
    frame: &mut Vec<u8>,
) {
    let mut group = Vec::new();
    let mut flush = None;
    frame.clear();
    frame.resize(HEAD_BYTES, 0);
    let mut next = Some(first);
    while let Some(job) = next.take() {
        match job {
            Job::Append(append) => {
                put_record(frame, append.kind, append.flags, &append.payload);
                group.push((append.reply, append.room));
            }
            Job::Flush(reply) => {
                flush = Some(reply);
                break;
            }
        }
        // What is too long to share a frame was the first; one more may only come if it fits.
        if frame.len() < GROUP_BYTES {
            next = jobs.try_recv().ok();
        }
    }
    let (at, number) = (tail.end(), tail.next());
    let mut written = Ok(());
    if !group.is_empty() {
        written = tail.write(frame, group.len() as u64);
        if durability == Durability::Always && written.is_ok() {
            written = tail.sync();
        }
    }
    // One long record is no reason to keep its memory.
    frame.shrink_to(2 * GROUP_BYTES);
    let answer = written.map_err(told);
    for (record, (reply, room)) in (number..).zip(group) {
        drop(room);
        let answer = answer.clone().map(|()| Position { record, frame: at });
        answer_to(reply, answer);
    }
    if let Some(reply) = flush {
        let synced = tail.sync().map_err(told);
        let answer = synced.map(|()| Position { record: tail.next(), frame: tail.end() });
        answer_to(Some(reply), answer);
    }
}

/// A reply that panics is its owner's fault, and nobody else's.
fn answer_to(reply: Option<Reply>, answer: Result<Position, AppendError>) {
    if let Some(reply) = reply {
        drop(catch_unwind(AssertUnwindSafe(|| reply(answer))));
    }
}

fn told(why: Unwritten) -> AppendError {
    match why {
        Unwritten::ThisOne(why) => AppendError::NotWritten(why),
        Unwritten::Broken(why) => AppendError::Broken(why),
    }
}
