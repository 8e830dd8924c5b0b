//! What a session has read of files, so that a change is made only to what is known.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use quick_cache::sync::Cache;

/// A SHA-256.
pub type Digest = [u8; 32];

/// What was read of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// How many bytes were read, from the start of the file.
    pub bytes: u64,
    /// The digest of those bytes.
    pub digest: Digest,
    /// The length of the file then, in bytes.
    pub length: u64,
    /// When the file had last been modified, where the file system says so.
    pub modified: Option<SystemTime>,
    /// Whether less was shown than was asked for: then the file doesn't count as read.
    pub partial: bool,
}

/// The files that a session has read, by their real paths. It forgets what was long not used, and
/// a forgotten file counts as one that was never read.
pub struct Reads(Cache<PathBuf, SeenFile>);

impl Reads {
    /// Most files that are remembered: some 300 bytes each, and more than a session works on.
    pub const MOST: usize = 4_096;

    /// What was read of the file at a real path (absolute, without symbolic links).
    #[must_use]
    pub fn seen(&self, path: &Path) -> Option<SeenFile> {
        self.0.get(path)
    }

    /// Remembers what was read of a file; it replaces what was known.
    pub fn note(&self, path: PathBuf, seen: SeenFile) {
        self.0.insert(path, seen);
    }
}

impl Default for Reads {
    fn default() -> Self {
        Self(Cache::new(Self::MOST))
    }
}

impl fmt::Debug for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reads").field("files", &self.0.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(bytes: u64) -> SeenFile {
        SeenFile { bytes, digest: [0; 32], length: bytes, modified: None, partial: false }
    }

    #[test]
    fn the_last_note_counts() {
        let reads = Reads::default();
        assert_eq!(reads.seen(Path::new("/a")), None);
        reads.note("/a".into(), seen(1));
        reads.note("/a".into(), seen(2));
        assert_eq!(reads.seen(Path::new("/a")), Some(seen(2)));
    }

    #[test]
    fn a_session_that_reads_without_end_does_not_grow_without_end() {
        let reads = Reads::default();
        for file in 0..3 * Reads::MOST {
            reads.note(format!("/{file}").into(), seen(1));
        }
        assert!(reads.0.len() <= Reads::MOST, "{reads:?}");
    }
}
