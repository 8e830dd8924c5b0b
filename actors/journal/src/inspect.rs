//! Reads a journal that nobody writes: to look at it, to check it, to repair it.

use std::io;
use std::path::Path;

use crate::disk::{Disk, ReadFrom};
use crate::fold::Fold;
use crate::frame::{HEADER_BYTES, Header, RawRecord};
use crate::name::SessionName;
use crate::open::{OpenError, Reading, Scanned, While as _, read_header, scan};
use crate::scan::{Corrupt, Scanner, Step, Torn};
use crate::tail::write_all;

/// How much of a copy is held at once, in bytes.
const COPY_CHUNK: usize = 256 * 1024;

/// Reads a journal without opening it for writing, and without a lock: what is being written
/// meanwhile may look torn.
///
/// # Errors
///
/// [`OpenError`].
pub fn read(disk: &dyn Disk, path: &Path) -> Result<Reading<Option<Header>>, OpenError> {
    let mut file = disk.open(path).doing("opening its file")?;
    let Some(header) = read_header(&mut *file)? else {
        return Ok(Reading { journal: None, recovered: Fold::default().finish()?, torn: None });
    };
    let Scanned { fold, torn, .. } = scan(&mut *file, header.clone())?;
    Ok(Reading { journal: Some(header), recovered: fold.finish()?, torn })
}

/// The header and all records of a journal, in order, as far as its bytes are good; `each` is given
/// the number of a record too, and may end it early with no. Without a lock.
///
/// # Errors
///
/// [`OpenError`].
pub fn walk(
    disk: &dyn Disk,
    path: &Path,
    mut each: impl FnMut(u64, RawRecord<'_>) -> bool,
) -> Result<End, OpenError> {
    let mut file = disk.open(path).doing("opening its file")?;
    let Some(header) = read_header(&mut *file)? else {
        return Ok(End { session: None, records: 0, end: 0, damage: None });
    };
    let session = Some(header.session.clone());
    let source = ReadFrom { file: &mut *file, at: HEADER_BYTES as u64 };
    let mut scanner = Scanner::new(source, header);
    let damage = 'damage: loop {
        match scanner.step().doing("reading it")? {
            Step::Frame(frame) => {
                for (number, record) in (frame.first..).zip(frame.records()) {
                    if !each(number, record) {
                        break 'damage None;
                    }
                }
            }
            Step::End => break None,
            Step::Torn(torn) => break Some(Damage::Torn(torn)),
            Step::Corrupt(corrupt) => break Some(Damage::Corrupt(corrupt)),
        }
    };
    let end = damage.map_or(scanner.offset(), |it| it.at());
    Ok(End { session, records: scanner.next_record(), end, damage })
}

/// How a walk ended.
#[derive(Debug)]
pub struct End {
    /// The session; none in a file whose making was interrupted.
    pub session: Option<SessionName>,
    /// Records that are good.
    pub records: u64,
    /// Where the good bytes end.
    pub end: u64,
    /// What is wrong there.
    pub damage: Option<Damage>,
}

/// What is wrong with the end, or the middle, of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The tail was not written whole.
    Torn(Torn),
    /// The middle is damaged.
    Corrupt(Corrupt),
}

impl Damage {
    /// Where, in bytes from the start of the file.
    #[must_use]
    pub fn at(&self) -> u64 {
        match self {
            Self::Torn(it) => it.at,
            Self::Corrupt(it) => it.at,
        }
    }
}

/// Cuts a damaged journal off where the damage begins, and keeps a copy of the whole at `copy`,
/// which must not hold anything yet. Gives what was wrong; if nothing was, nothing is done.
///
/// # Errors
///
/// [`OpenError`]; the journal is then as it was.
pub fn repair(disk: &dyn Disk, path: &Path, copy: &Path) -> Result<End, OpenError> {
    let mut file = disk.open(path).doing("opening its file")?;
    if !file.try_lock().doing("locking it")? {
        return Err(OpenError::InUse);
    }
    let end = walk(disk, path, |_, _| true)?;
    if end.damage.is_some() {
        let mut kept = disk.open(copy).doing("opening the copy")?;
        let mut chunk = vec![0; COPY_CHUNK];
        if kept.read(0, &mut chunk).doing("looking at the copy")? > 0 {
            let why = io::ErrorKind::AlreadyExists.into();
            return Err(OpenError::Io { doing: "making the copy", why });
        }
        let mut at = 0;
        loop {
            let read = file.read(at, &mut chunk).doing("reading it")?;
            if read == 0 {
                break;
            }
            write_all(&mut *kept, at, &chunk[..read]).doing("writing the copy")?;
            at += read as u64;
        }
        kept.sync().doing("syncing the copy")?;
        if let Some(folder) = copy.parent() {
            disk.sync_folder(folder).doing("syncing the folder of the copy")?;
        }
        file.cut(end.end).doing("cutting it")?;
        file.sync().doing("syncing it")?;
    }
    Ok(end)
}
