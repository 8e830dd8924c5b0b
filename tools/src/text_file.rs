//! A file on disk: opened only if that can't block, and known to the session or not.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use toolwright_contract::{SeenFile, SessionContext};

use crate::fault::Fault;

/// Largest file that is changed, in bytes: its whole content is held in memory.
pub(crate) const LARGEST: u64 = 1 << 30;

/// Opens a regular file for reading, if there is one. The path must have no symbolic links.
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
    let file = without_links(path).map_err(Fault::io("read", path))?;
    let metadata = file.metadata().map_err(Fault::io("read", path))?;
    regular(path, &metadata)?;
    Ok(Some((file, metadata)))
}

/// Opens a path that was found to have no symbolic links, and fails if it has got one since: what
/// was checked is what is opened.
#[cfg(target_os = "linux")]
fn without_links(path: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // The kernel is older than 5.6, or a sandbox forbids the call.
        Err(Errno::NOSYS | Errno::PERM) => not_a_link(path),
        opened => Ok(opened?.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn without_links(path: &Path) -> io::Result<File> {
    not_a_link(path)
}

/// The same for the last name of the path alone.
#[cfg(unix)]
fn not_a_link(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn not_a_link(path: &Path) -> io::Result<File> {
    without_waiting().open(path)
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
#[derive(Debug)]
pub(crate) struct Present {
    pub(crate) bytes: Vec<u8>,
    file: File,
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
        let Some((mut file, metadata)) = open(real)? else { return Ok(None) };
        let path = || real.to_owned();
        let too_big = |bytes| Fault::TooBig { path: path(), bytes, limit: LARGEST };
        if metadata.len() > LARGEST {
            return Err(too_big(metadata.len()));
        }
        if metadata.permissions().readonly() || !may_be_written(real) {
            return Err(Fault::ReadOnly(path()));
        }
        let mut bytes = Vec::new();
        (&mut file).take(LARGEST + 1).read_to_end(&mut bytes).map_err(Fault::io("read", real))?;
        // It may have grown, or be one of those that don't know their length.
        if bytes.len() as u64 > LARGEST {
            return Err(too_big(bytes.len() as u64));
        }
        Ok(Some(Self { bytes, file, metadata }))
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

    /// What the system knew of the file when it was opened.
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The file, still open.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Whether no other path leads to the file than through symbolic links.
    #[cfg(unix)]
    pub(crate) fn has_one_name(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        self.metadata.nlink() <= 1
    }

    /// Whether no other path leads to the file than through symbolic links.
    #[cfg(not(unix))]
    pub(crate) fn has_one_name(&self) -> bool {
        true
    }
}

/// Whether this process may write to a file: what it may not, it could still replace.
#[cfg(unix)]
fn may_be_written(path: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

#[cfg(not(unix))]
fn may_be_written(_: &Path) -> bool {
    true
}

/// The SHA-256 of bytes.
pub(crate) fn digest(bytes: &[u8]) -> toolwright_contract::Digest {
    Sha256::digest(bytes).into()
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_link_that_has_come_into_a_path_since_is_not_followed() {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("real")).unwrap();
        fs::write(root.join("real/file"), "text").unwrap();
        symlink("real", root.join("folder")).unwrap();
        symlink("file", root.join("real/link")).unwrap();
        for opens in [without_links, not_a_link] {
            let mut text = String::new();
            opens(&root.join("real/file")).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "text");
            assert!(opens(&root.join("real/link")).is_err());
        }
        let through = without_links(&root.join("folder/file"));
        assert_eq!(through.is_err(), cfg!(target_os = "linux"));
    }
}
