//! The end of a journal's file: where groups are written, whole or not at all.

use std::io;

use crate::disk::DiskFile;
use crate::frame::{HEAD_BYTES, Header, seal_frame};

/// The end of an open file, and what is known of it.
pub(crate) struct Tail {
    file: Box<dyn DiskFile>,
    header: Header,
    /// Where the next frame goes: every byte before it is of whole frames.
    end: u64,
    /// The number of the next record.
    next: u64,
    /// Everything before this is synced.
    synced: u64,
    /// Why nothing more may be written.
    broken: Option<String>,
}

/// Why a group was not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unwritten {
    /// The file is as it was; a later group may fit.
    ThisOne(String),
    /// Nothing may be written any more.
    Broken(String),
}

impl Tail {
    pub(crate) fn new(file: Box<dyn DiskFile>, header: Header, end: u64, next: u64) -> Self {
        Self { file, header, end, next, synced: 0, broken: None }
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The number of the next record.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn unsynced(&self) -> u64 {
        self.end - self.synced
    }

    pub(crate) fn check(&self) -> Result<(), Unwritten> {
        self.broken.as_ref().map_or(Ok(()), |it| Err(Unwritten::Broken(it.clone())))
    }

    /// Writes a frame of so many records, whose head was left free.
    ///
    /// Where the file can't be brought back to its last whole frame, nothing more is written:
    /// what follows a torn frame would make it look like damage.
    pub(crate) fn write(&mut self, frame: &mut [u8], records: u64) -> Result<(), Unwritten> {
        self.check()?;
        debug_assert!(frame.len() > HEAD_BYTES, "a frame has a record");
        seal_frame(frame, &self.header, self.end, self.next, self.synced);
        if let Err(error) = write_all(&mut *self.file, self.end, frame) {
            return Err(match self.file.cut(self.end) {
                Ok(()) => Unwritten::ThisOne(error.to_string()),
                Err(then) => {
                    self.break_down(format!("{error}, and then its tail could not be cut: {then}"))
                }
            });
        }
        self.end += frame.len() as u64;
        self.next += records;
        Ok(())
    }

    /// Makes durable what was written. Once this fails it never succeeds again: the operating
    /// system may have dropped what it could not write, and would report the next attempt as good.
    pub(crate) fn sync(&mut self) -> Result<(), Unwritten> {
        self.check()?;
        if self.unsynced() > 0 {
            match self.file.sync() {
                Ok(()) => self.synced = self.end,
                Err(error) => {
                    return Err(self.break_down(format!("it could not be synced: {error}")));
                }
            }
        }
        Ok(())
    }

    fn break_down(&mut self, why: String) -> Unwritten {
        self.broken = Some(why.clone());
        Unwritten::Broken(why)
    }
}

/// Completes what comes short, and goes on after a signal.
pub(crate) fn write_all(file: &mut dyn DiskFile, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(at, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = bytes.get(written..).unwrap_or_default();
                at += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
