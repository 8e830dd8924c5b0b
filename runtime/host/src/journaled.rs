//! Where a session's journal is, how it is opened, and the process that opens it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use toolwright_contract::EVENT_VERSION;
use toolwright_journal::{
    Durability, FILE_NAME, HEADER_BYTES, Journal, OpenError, Opened, Options, Process, Reading,
    Redact, SessionName,
};

use crate::SetupError;

/// The folder of a session's results, beside its journal.
const RESULTS: &str = "tool-results";

/// Where a session is kept: `<data>/<session>/journal.twj`, and its results beside it.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) data: PathBuf,
    pub(crate) session: SessionName,
    pub(crate) durability: Durability,
    pub(crate) redact: Option<Arc<dyn Redact>>,
}

impl Place {
    fn folder(&self) -> PathBuf {
        self.data.join(self.session.as_str())
    }

    pub(crate) fn results(&self) -> PathBuf {
        self.folder().join(RESULTS)
    }

    /// Opens the journal of a session that doesn't exist yet, or of one that does.
    pub(crate) async fn open(
        self,
        is_new: bool,
        cwd: PathBuf,
    ) -> Result<Reading<Journal>, SetupError> {
        // A scan reads the whole file.
        let opening = tokio::task::spawn_blocking(move || self.open_now(is_new, cwd));
        opening.await.map_err(|it| SetupError::Journal(it.to_string()))?
    }

    fn open_now(self, is_new: bool, cwd: PathBuf) -> Result<Reading<Journal>, SetupError> {
        let folder = self.folder();
        let bytes = std::fs::metadata(folder.join(FILE_NAME)).map(|it| it.len());
        // Of a process that was killed at once, a part of a header may be there.
        if is_new && bytes.as_ref().is_ok_and(|it| *it >= HEADER_BYTES as u64) {
            return Err(SetupError::SessionExists(self.session.to_string()));
        }
        if !is_new && bytes.is_err() {
            return Err(SetupError::NoSuchSession(self.session.to_string()));
        }
        let opened = Opened {
            run: 0,
            at_ms: now_ms(),
            event_version: EVENT_VERSION,
            process: this_process(),
            cwd: Some(cwd.display().to_string()),
        };
        let mut options = Options::new(folder, self.session.clone(), opened);
        options.durability = self.durability;
        if let Some(redact) = self.redact {
            options.redact = redact;
        }
        Journal::open(options).map_err(|error| match error {
            OpenError::InUse => SetupError::SessionInUse(self.session.to_string()),
            OpenError::OtherSession(_)
            | OpenError::Header(_)
            | OpenError::Corrupt(_)
            | OpenError::Record(_)
            | OpenError::Io { .. }
            | OpenError::NotWritten(_) => SetupError::Journal(error.to_string()),
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "for people, who think in the time of day")]
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// This process, told from a later one with its number.
fn this_process() -> Option<Process> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in brackets, may hold anything; the start is the 20th field behind it.
    let started = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    Some(Process { pid: std::process::id(), started })
}
