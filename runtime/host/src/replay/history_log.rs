//! The log of a replay's events: checks them, condenses them to a number, and writes them down.

use std::fmt;
use std::io::{self, Write};

use toolwright_contract::Event;
use toolwright_contract::history::{Breach, Checker};

/// Where the events of replays go: to the history checker, into a digest, and to a writer.
#[derive(Default)]
pub struct HistoryLog {
    checker: Checker,
    digest: Fnv,
    line: Vec<u8>,
    writer: Option<Box<dyn Write + Send>>,
    error: Option<io::Error>,
}

impl HistoryLog {
    /// A log that also writes each event as a line of JSON. A session begins at `seq` 0.
    pub fn written_to(writer: impl Write + Send + 'static) -> Self {
        Self { writer: Some(Box::new(writer)), ..Self::default() }
    }

    /// Writes out what is left, and says whether everything was written.
    ///
    /// # Errors
    ///
    /// The first error of the writer.
    pub fn close(mut self) -> io::Result<()> {
        match (self.error.take(), &mut self.writer) {
            (Some(error), _) => Err(error),
            (None, Some(writer)) => writer.flush(),
            (None, None) => Ok(()),
        }
    }

    /// Begins another session.
    pub(super) fn begin(&mut self) {
        (self.checker, self.digest) = (Checker::new(), Fnv::default());
    }

    pub(super) fn step(&mut self, event: &Event) {
        self.checker.step(event);
        self.line.clear();
        let written = serde_json::to_writer(&mut self.line, event);
        self.line.push(b'\n');
        self.digest.add(&self.line);
        let written = written.map_err(io::Error::from).and_then(|()| match &mut self.writer {
            Some(writer) if self.error.is_none() => writer.write_all(&self.line),
            Some(_) | None => Ok(()),
        });
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }

    /// Ends the session: its breaches, and the digest of its lines.
    pub(super) fn end(&mut self) -> (Vec<Breach>, u64) {
        (std::mem::take(&mut self.checker).finish(), self.digest.0)
    }
}

impl fmt::Debug for HistoryLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HistoryLog").field("digest", &self.digest.0).finish_non_exhaustive()
    }
}

/// FNV-1a, 64 bits: the same on every machine and in every version.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    }
}
