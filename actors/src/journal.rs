//! The journal's seam: where the start of a call that may change something is written first.

use toolwright_contract::{CallIx, ToolUseId, TurnId};

use crate::owed::{Log, Owed};

/// What is written before a call starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartRecord {
    /// The turn.
    pub turn: TurnId,
    /// The place of the call in it.
    pub call: CallIx,
    /// Its id.
    pub id: ToolUseId,
    /// The tool.
    pub tool: String,
}

/// Writes start records. A call that isn't read-only starts only once its record is written, so
/// that "not started" is true after a crash.
pub trait StartLog: Send + Sync + 'static {
    /// Writes `record` and answers `ack`, now or later. Must not block. An `ack` that is dropped
    /// means that the record was not written, and the call is not started.
    fn log(&self, record: StartRecord, ack: StartAck);
}

/// The answer that a [`StartLog`] owes.
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

/// Keeps no record: for sessions that need not survive a crash.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl StartLog for NoJournal {
    fn log(&self, _: StartRecord, ack: StartAck) {
        ack.written();
    }
}
