//! Start records in a journal: a call that may change something waits for its own.

use toolwright_actors::{StartAck, StartLog, StartRecord};
use toolwright_journal::{CallAt, Journal, Record, Starting};

/// The starts of calls, in a session's journal.
///
/// A call starts once its record is acknowledged, so "not started" is true of every call without
/// one, under [`Durability::Always`](toolwright_journal::Durability::Always) after a power failure
/// too. A call whose record could not be written is refused with the reason: while the disk is
/// full, only calls that read go on.
#[derive(Clone, Debug)]
pub struct JournaledStarts(Journal);

impl JournaledStarts {
    /// Writes them in this journal.
    #[must_use]
    pub fn new(journal: Journal) -> Self {
        Self(journal)
    }
}

impl StartLog for JournaledStarts {
    fn log(&self, record: StartRecord, ack: StartAck) {
        let StartRecord { turn, call, id, tool } = record;
        let at = CallAt { run: self.0.run(), turn, call: call.0 };
        // No tool can declare yet that running it twice is running it once.
        let start = Starting { at, id, tool, input: None, idempotent: false };
        self.0.append_then(Record::Start(start), |written| match written {
            Ok(_) => ack.written(),
            Err(error) => ack.failed(&error.to_string()),
        });
    }
}
