//! What a session has read of files, so that a change is made only to what is known.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
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
    /// The name of its encoding in the WHATWG standard, such as `UTF-8`.
    pub encoding: &'static str,
    /// What the model was shown of it as it is, if that still stands in the conversation.
    pub shown: Option<View>,
}

/// Some lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The number of the first one, from 1.
    pub first: u64,
    /// How many there may be at most.
    pub lines: u64,
}

/// The files that a session has read, by their real paths. It forgets what was long not used, and
/// a forgotten file counts as one that was never read.
pub struct Reads {
    files: Cache<PathBuf, (u64, SeenFile)>,
    /// How often the conversation was cut.
    cuts: AtomicU64,
}

impl Reads {
    /// Most files that are remembered: some 300 bytes each, and more than a session works on.
    pub const MOST: usize = 4_096;

    /// What was read of the file at a real path (absolute, without symbolic links).
    #[must_use]
    pub fn seen(&self, path: &Path) -> Option<SeenFile> {
        let (cuts, seen) = self.files.get(path)?;
        let shown = seen.shown.filter(|_| cuts == self.cuts.load(Ordering::Relaxed));
        Some(SeenFile { shown, ..seen })
    }

    /// Remembers what was read of a file; it replaces what was known.
    pub fn note(&self, path: PathBuf, seen: SeenFile) {
        self.files.insert(path, (self.cuts.load(Ordering::Relaxed), seen));
    }

    /// Forgets what the model was shown, but not what was read: the conversation has been cut or
    /// summed up, so that a file has to be shown again even if it is unchanged.
    pub fn forget_views(&self) {
        self.cuts.fetch_add(1, Ordering::Relaxed);
    }
}

impl Default for Reads {
    fn default() -> Self {
        Self { files: Cache::new(Self::MOST), cuts: AtomicU64::new(0) }
    }
}

impl fmt::Debug for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reads").field("files", &self.files.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(bytes: u64) -> SeenFile {
        SeenFile {
            bytes,
            digest: [0; 32],
            length: bytes,
            modified: None,
            partial: false,
            encoding: "UTF-8",
            shown: Some(View { first: 1, lines: 9 }),
        }
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
    fn a_cut_conversation_shows_nothing_any_more_but_was_read() {
        let reads = Reads::default();
        reads.note("/a".into(), seen(1));
        reads.forget_views();
        reads.note("/b".into(), seen(2));
        assert_eq!(reads.seen(Path::new("/a")), Some(SeenFile { shown: None, ..seen(1) }));
        assert_eq!(reads.seen(Path::new("/b")), Some(seen(2)));
    }

    #[test]
    fn a_session_that_reads_without_end_does_not_grow_without_end() {
        let reads = Reads::default();
        for file in 0..3 * Reads::MOST {
            reads.note(format!("/{file}").into(), seen(1));
        }
        assert!(reads.files.len() <= Reads::MOST, "{reads:?}");
    }
}
