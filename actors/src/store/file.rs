//! Files of results: written in one step, for the owner alone, the same content once.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::name::file_name;
use crate::limits::{KNOWN_CONTENTS, NAMES};

type ContentHash = [u8; 32];

/// The folder of a session's results.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Where a content is already. A file may be gone or changed by now.
    known: Arc<Mutex<HashMap<ContentHash, PathBuf>>>,
}

impl Folder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, known: Arc::default() }
    }

    /// Keeps bytes under the name of a call, and makes the folder if need be. What is kept already
    /// takes no more space. Blocks.
    pub(super) fn keep(&self, id: &str, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        make_private(&self.path)?;
        let hash: ContentHash = Sha256::digest(bytes).into();
        let known = self.known().get(&hash).cloned();
        if let Some(path) = known.and_then(|it| self.link(&it, id, extension, bytes)) {
            return Ok(path);
        }
        let mut file = tempfile::Builder::new().prefix(".result-").tempfile_in(&self.path)?;
        file.write_all(bytes)?;
        file.as_file().sync_data()?;
        // Held while it is named, since the same content may have come at the same time.
        let mut contents = self.known();
        let known = contents.get(&hash).cloned();
        if let Some(path) = known.and_then(|it| self.link(&it, id, extension, bytes)) {
            return Ok(path);
        }
        let path = self.name(file, id, extension)?;
        if contents.len() >= KNOWN_CONTENTS {
            contents.clear();
        }
        contents.insert(hash, path.clone());
        Ok(path)
    }

    /// Gives a file that is there a further name, if it still holds these bytes.
    fn link(&self, known: &Path, id: &str, extension: &str, bytes: &[u8]) -> Option<PathBuf> {
        if !holds(known, bytes) {
            return None;
        }
        // A file system without links keeps it twice.
        self.first_free(id, extension, |path| fs::hard_link(known, path)).ok()
    }

    /// Renames a temporary file to a name that nobody has.
    fn name(&self, file: NamedTempFile, id: &str, extension: &str) -> io::Result<PathBuf> {
        let mut file = Some(file);
        self.first_free(id, extension, |path| {
            let Some(unnamed) = file.take() else { return Err(io::ErrorKind::NotFound.into()) };
            unnamed.persist_noclobber(path).map(drop).map_err(|failed| {
                file = Some(failed.file);
                failed.error
            })
        })
    }

    /// The first name of the call that `take` can have.
    fn first_free(
        &self,
        id: &str,
        extension: &str,
        mut take: impl FnMut(&Path) -> io::Result<()>,
    ) -> io::Result<PathBuf> {
        for attempt in 0..NAMES {
            let path = self.path.join(file_name(id, attempt, extension));
            match take(&path) {
                Ok(()) => return Ok(path),
                Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => {}
                Err(failed) => return Err(failed),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "every name for this result is taken"))
    }

    /// A poisoned lock is taken all the same: every change is one step.
    fn known(&self) -> MutexGuard<'_, HashMap<ContentHash, PathBuf>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a file holds just these bytes now: it is not believed to be as it was written.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    const PIECE: usize = 64 * 1024;
    let Ok(mut file) = fs::File::open(path) else { return false };
    if !file.metadata().is_ok_and(|it| it.is_file() && it.len() == bytes.len() as u64) {
        return false;
    }
    let mut piece = vec![0; PIECE];
    let mut rest = bytes;
    loop {
        match file.read(&mut piece) {
            Ok(0) => return rest.is_empty(),
            Ok(read) if rest.starts_with(&piece[..read]) => rest = &rest[read..],
            Ok(_) | Err(_) => return false,
        }
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
