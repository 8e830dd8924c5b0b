//! A file on disk: opened only if that can't block, known or not, and replaced in one step.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use toolwright_contract::{SeenFile, SessionContext};

use crate::fault::Fault;

/// Largest file that is changed, in bytes: its whole content is held in memory.
pub(crate) const LARGEST: u64 = 1 << 30;

/// Opens a regular file for reading, if there is one.
///
/// # Errors
///
/// Why it can't be read.
pub(crate) fn open(path: &Path) -> Result<Option<(File, Metadata)>, Fault> {
    let looked = fs::metadata(path);
    if looked.as_ref().is_err_and(|it| it.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    // Opening a device or a pipe may do something or wait, so it is looked at first; and once
    // more when it is open, since it may have become another file between the two.
    regular(path, &looked.map_err(Fault::io("read", path))?)?;
    let file = without_waiting().open(path).map_err(Fault::io("read", path))?;
    let metadata = file.metadata().map_err(Fault::io("read", path))?;
    regular(path, &metadata)?;
    Ok(Some((file, metadata)))
}

/// Opens for reading, and never waits for the other end of a pipe.
#[cfg(unix)]
pub(crate) fn without_waiting() -> fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let mut options = fs::OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

/// Opens for reading, and never waits for the other end of a pipe.
#[cfg(not(unix))]
pub(crate) fn without_waiting() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    options
}

fn regular(path: &Path, metadata: &Metadata) -> Result<(), Fault> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        return Err(Fault::Directory(path.to_owned()));
    }
    Err(Fault::Special { path: path.to_owned(), kind: special(kind) })
}

/// What kind of file it is that is neither a regular one nor a folder.
#[cfg(unix)]
pub(crate) fn special(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        _ if kind.is_fifo() => "a named pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// What kind of file it is that is neither a regular one nor a folder.
#[cfg(not(unix))]
pub(crate) fn special(_: fs::FileType) -> &'static str {
    "a device"
}

/// The fault of a file that isn't there.
pub(crate) fn missing(path: PathBuf, session: &SessionContext) -> Fault {
    Fault::Missing { path, cwd: session.cwd.clone() }
}

/// The whole content of a file that is to be changed.
pub(crate) struct Present {
    pub(crate) bytes: Vec<u8>,
    metadata: Metadata,
}

/// How much of a file must be known before it is changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// What was read must be as it was.
    WhatWasRead,
    /// Nothing at all may have changed.
    Everything,
}

impl Present {
    /// Reads a file, if there is one.
    ///
    /// # Errors
    ///
    /// Why it can't be read or must not be changed.
    pub(crate) fn read(real: &Path) -> Result<Option<Self>, Fault> {
        let Some((file, metadata)) = open(real)? else { return Ok(None) };
        let path = || real.to_owned();
        let too_big = |bytes| Fault::TooBig { path: path(), bytes, limit: LARGEST };
        if metadata.len() > LARGEST {
            return Err(too_big(metadata.len()));
        }
        if metadata.permissions().readonly() {
            return Err(Fault::ReadOnly(path()));
        }
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(Fault::io("read", real))?;
        // It may have grown, or be one of those that don't know their length.
        if bytes.len() as u64 > LARGEST {
            return Err(too_big(bytes.len() as u64));
        }
        Ok(Some(Self { bytes, metadata }))
    }

    /// Whether the session knows the file well enough to change it. What counts is the content:
    /// a new time of modification alone is no change.
    ///
    /// # Errors
    ///
    /// [`Fault::Unread`], [`Fault::ReadInPart`], [`Fault::Changed`].
    pub(crate) fn is_known(&self, seen: Option<SeenFile>, needed: Known) -> Result<(), Fault> {
        let seen = seen.ok_or(Fault::Unread)?;
        if seen.partial {
            return Err(Fault::ReadInPart);
        }
        let read = usize::try_from(seen.bytes).ok().and_then(|it| self.bytes.get(..it));
        let same = read.is_some_and(|it| digest(it) == seen.digest);
        let to_the_end = seen.bytes >= seen.length;
        let rest = match needed {
            _ if to_the_end => self.bytes.len() as u64 == seen.bytes,
            Known::WhatWasRead => true,
            Known::Everything => {
                let modified = self.metadata.modified().ok();
                (self.metadata.len(), modified) == (seen.length, seen.modified)
            }
        };
        if same && rest { Ok(()) } else { Err(Fault::Changed) }
    }
}

/// The SHA-256 of bytes.
pub(crate) fn digest(bytes: &[u8]) -> toolwright_contract::Digest {
    Sha256::digest(bytes).into()
}

/// Replaces a file, or makes it with the folders above it, in one step: whatever happens, there
/// is the old file or the new one. Permissions are kept. Gives what is known of it now.
///
/// # Errors
///
/// What the system says; no temporary file is left then.
pub(crate) fn replace(
    real: &Path,
    content: &[u8],
    old: Option<&Present>,
) -> Result<SeenFile, Fault> {
    write(real, content, old).map_err(Fault::io("write", real))
}

fn write(real: &Path, content: &[u8], old: Option<&Present>) -> io::Result<SeenFile> {
    let folder = real.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let mut temporary = new_file().tempfile_in(folder)?;
    temporary.write_all(content)?;
    if let Some(old) = old {
        temporary.as_file().set_permissions(old.metadata.permissions())?;
    }
    temporary.as_file().sync_all()?;
    let metadata = temporary.as_file().metadata()?;
    temporary.persist(real)?;
    // The new name must last as well; where a folder can't be synced, it lasts all the same.
    drop(File::open(folder).and_then(|it| it.sync_all()));
    Ok(SeenFile {
        bytes: content.len() as u64,
        digest: digest(content),
        length: content.len() as u64,
        modified: metadata.modified().ok(),
        partial: false,
    })
}

/// A temporary file with the permissions of any new file.
fn new_file() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".toolwright-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As for `open`, the process's mask takes away what it takes from every new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}
