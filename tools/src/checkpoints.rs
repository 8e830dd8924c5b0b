//! What files were before a turn changed them, so that its changes can be taken back.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;
use toolwright_contract::Digest;

use crate::encoding::Encoding;
use crate::path_locks::lock;
use crate::replace::{Disk, Replacing};
use crate::text_file::{Present, digest};

/// Most turns that are kept; the oldest go first.
const TURNS: usize = 100;
/// Most bytes of copies that are kept, but for those of the latest turn: 2 GiB.
const BYTES: u64 = 2 << 30;

/// Copies of files as they were before the built-in tools changed them, turn by turn. They are
/// kept in a folder, readable for its user alone, and go with this value.
#[derive(Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    kept: Mutex<Kept>,
}

/// A turn whose changes can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Checkpoint(u64);

/// Why a turn's changes were not taken back.
#[derive(Debug, thiserror::Error)]
pub enum NotRewound {
    /// Nothing is known of the turn, or not any more.
    #[error("nothing is kept of that turn any more: its files can't be taken back")]
    Forgotten,
    /// Files have changed since, so that more would be lost than the turn's changes. None was
    /// taken back.
    #[error("files have changed since the turn, so none was taken back; look at them first: {}", listed(.0))]
    Changed(Vec<PathBuf>),
    /// One could not be written; those before it, in the order of their paths, were taken back.
    #[error("could not take back {}: {why}; deal with that and rewind again", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
}

#[derive(Debug, Default)]
struct Kept {
    turns: VecDeque<(Checkpoint, BTreeMap<PathBuf, Change>)>,
    next: u64,
}

/// What a turn has done to a file.
#[derive(Debug)]
struct Change {
    /// The copy and its length. Nothing: the file did not exist.
    before: Option<(TempPath, u64)>,
    /// What the turn has left. Nothing: it has not written yet.
    after: Option<Digest>,
}

impl Checkpoints {
    /// Checkpoints in a folder, which is made when it is needed.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), kept: Mutex::default() }
    }

    /// A turn begins: what is changed from now on belongs to it.
    pub fn begin(&self) -> Checkpoint {
        let mut kept = self.kept();
        let turn = Checkpoint(kept.next);
        kept.next += 1;
        kept.turns.push_back((turn, BTreeMap::new()));
        kept.forget_oldest();
        turn
    }

    /// Takes back all that a turn has changed, if all of it is as the turn left it. A file that
    /// the turn made goes. The turn must be over. Blocks the thread.
    ///
    /// # Errors
    ///
    /// [`NotRewound`].
    pub fn rewind(&self, turn: Checkpoint) -> Result<Vec<PathBuf>, NotRewound> {
        // Not while the table is held: those who hold a file wait for it.
        let taken = self.kept().take(turn);
        let mut changes = taken.ok_or(NotRewound::Forgotten)?;
        let rewound = take_back(&mut changes);
        if rewound.is_err() {
            self.kept().put_back(turn, changes);
        }
        rewound
    }

    /// Keeps what a file is before its first change in the turn.
    pub(crate) fn keep(&self, real: &Path, old: Option<&Present>) -> io::Result<()> {
        let mut kept = self.kept();
        let Some((_, changes)) = kept.turns.back_mut() else { return Ok(()) };
        if changes.contains_key(real) {
            return Ok(());
        }
        let before = old.map(|it| self.copy(&it.bytes)).transpose()?;
        changes.insert(real.to_owned(), Change { before, after: None });
        kept.forget_oldest();
        Ok(())
    }

    /// A file was changed.
    pub(crate) fn changed(&self, real: &Path, after: Digest) {
        let mut kept = self.kept();
        let change = kept.turns.back_mut().and_then(|it| it.1.get_mut(real));
        if let Some(change) = change {
            change.after = Some(after);
        }
    }

    fn copy(&self, bytes: &[u8]) -> io::Result<(TempPath, u64)> {
        if !self.folder.is_dir() {
            make_private(&self.folder)?;
        }
        let mut copy = tempfile::Builder::new().prefix("before-").tempfile_in(&self.folder)?;
        copy.write_all(bytes)?;
        Ok((copy.into_temp_path(), bytes.len() as u64))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Each change of it is complete at once.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take_back(changes: &mut BTreeMap<PathBuf, Change>) -> Result<Vec<PathBuf>, NotRewound> {
    changes.retain(|_, it| it.after.is_some());
    let other = changes.iter().filter(|(path, it)| !it.is_as_left(path));
    let other: Vec<_> = other.map(|(path, _)| path.clone()).collect();
    if !other.is_empty() {
        return Err(NotRewound::Changed(other));
    }
    let mut done = Vec::new();
    while let Some(change) = changes.first_entry() {
        change.get().take_back(change.key())?;
        done.push(change.remove_entry().0);
    }
    Ok(done)
}

impl Kept {
    fn take(&mut self, turn: Checkpoint) -> Option<BTreeMap<PathBuf, Change>> {
        let at = self.turns.iter().position(|it| it.0 == turn)?;
        self.turns.remove(at).map(|it| it.1)
    }

    fn put_back(&mut self, turn: Checkpoint, changes: BTreeMap<PathBuf, Change>) {
        let at = self.turns.partition_point(|it| it.0 < turn);
        self.turns.insert(at, (turn, changes));
    }

    fn forget_oldest(&mut self) {
        let bytes = |turns: &VecDeque<(Checkpoint, BTreeMap<PathBuf, Change>)>| {
            let changes = turns.iter().flat_map(|it| it.1.values());
            changes.filter_map(|it| it.before.as_ref()).map(|it| it.1).sum::<u64>()
        };
        while self.turns.len() > 1 && (self.turns.len() > TURNS || bytes(&self.turns) > BYTES) {
            self.turns.pop_front();
        }
    }
}

impl Change {
    fn is_as_left(&self, path: &Path) -> bool {
        let now = Present::read(path).ok().flatten();
        now.map(|it| digest(&it.bytes)) == self.after
    }

    fn take_back(&self, path: &Path) -> Result<(), NotRewound> {
        let failed = |why: String| NotRewound::Failed { path: path.to_owned(), why };
        let _alone = lock(path);
        if !self.is_as_left(path) {
            return Err(failed("it has just changed".to_owned()));
        }
        let Some((copy, _)) = &self.before else {
            return fs::remove_file(path).map_err(|it| failed(it.to_string()));
        };
        let bytes = fs::read(copy).map_err(|it| failed(it.to_string()))?;
        let old = Present::read(path).map_err(|it| failed(it.to_string()))?;
        let (encoding, old) = (Encoding::UTF8, old.as_ref());
        let replacing = Replacing { real: path, bytes: &bytes, encoding, old };
        Disk::REAL.replace(&replacing).map_err(|it| failed(it.to_string()))?;
        Ok(())
    }
}

#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(", ")
}
