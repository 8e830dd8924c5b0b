//! The journal of a session: written before a call starts, read after a crash.
//!
//! ```text
//!            append                                     open
//!  session ─────────▶ queue ─▶ writer thread ─▶ file ─────────▶ scan ─▶ fold ─▶ Recovered
//!            ◀──ack──          one frame a group       frames    records   per turn and call
//! ```
//!
//! Frames and [`Scanner`] are bytes and nothing else, [`Recovered`] is a function of
//! records, and everything that touches a disk goes through [`Disk`]. So a crash or a fault
//! at any place can be tried without a machine.
//!
//! # Who writes what, and what waits for it
//!
//! | record | written when | who waits |
//! |---|---|---|
//! | [`Opened`] | the journal is opened | opening |
//! | [`CallCame`] | the call took its place, before its `accepted` event | nobody |
//! | events | they take effect, in their order | nobody |
//! | [`Starting`] | a call that isn't read-only was cleared | its start |
//! | [`Kept`] | the store has made the result what the model reads | `stored`, hence its emission |
//! | event `emitted` | before the result leaves the runtime | that result |
//! | [`Task`], [`Mode`] | the change has taken effect | nobody |
//!
//! All go through one queue, so the file holds a prefix of what happened, in its order: what is
//! lost to a kill is the end. That makes an absent `Starting` mean "not started". A read-only call
//! has none, and its last events may be lost with the end; whatever became of it, it changed
//! nothing, and it is told as one that may have run.
//!
//! An emission is written *before* the result is handed out: after a kill between the two, nobody
//! emits it again. It isn't lost: a resumed turn gives its emitted results too, for a host that
//! had no time to keep them ([`OpenTurn::results`]).

mod disk;
mod fold;
mod frame;
mod inspect;
mod journal;
mod name;
mod open;
mod record;
mod recovery;
mod redact;
mod scan;
mod tail;
#[cfg(test)]
mod tests;
mod writer;

pub use disk::{Disk, DiskFile, RealDisk};
pub use fold::Fold;
pub use frame::{BadHeader, FORMAT_VERSION, HEADER_BYTES, Header, MAX_PAYLOAD, RawRecord};
pub use inspect::{Damage, End, read, repair, walk};
pub use journal::{Ack, Journal, QUEUE_ROOM};
pub use name::{BadSessionName, SessionName};
pub use open::{FILE_NAME, OpenError, Options, Reading};
pub use record::{
    BadRecord, CallAt, CallCame, Input, Kept, KeptFile, Mode, Opened, Process, Record, SKIPPABLE,
    Starting, Task, TaskState, kind_name,
};
pub use recovery::{Duty, OpenCall, OpenTurn, Policy, Recovered, Resume};
pub use redact::{KeepAll, Redact};
pub use scan::{Corrupt, Fault, Frame, Scanner, Step, Torn};
pub use writer::{AppendError, Durability, Position, SYNC_BYTES, SYNC_EVERY};
