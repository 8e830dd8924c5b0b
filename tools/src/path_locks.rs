//! Changes of one file one after another, whichever sessions of the process make them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks that all paths share: two files that have one by chance wait for each other, which takes
/// some milliseconds.
const LOCKS: usize = 64;

static TABLE: [Mutex<()>; LOCKS] = [const { Mutex::new(()) }; LOCKS];

/// Waits until nobody else changes the file at a real path (without symbolic links). Blocks the
/// thread. Never wait for a second one while the first is held.
pub(crate) fn lock(real: &Path) -> MutexGuard<'static, ()> {
    // Some file systems take names that differ in case for one, so all are taken for one here.
    let mut hasher = DefaultHasher::new();
    real.to_string_lossy().to_lowercase().hash(&mut hasher);
    let at = usize::try_from(hasher.finish() % LOCKS as u64).unwrap_or_default();
    // It guards no data that a panic could have left in disorder.
    TABLE[at].lock().unwrap_or_else(PoisonError::into_inner)
}
