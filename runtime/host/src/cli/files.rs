//! Which files a replay reads: those that are named, and those that a folder holds.

use std::path::{Path, PathBuf};

use toolwright_contract::wording;
use walkdir::WalkDir;

/// How the names of recordings end.
const ENDINGS: [&str; 4] = ["jsonl", "ndjson", "sse", "txt"];

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    /// Whether the user named it, and not only its folder.
    pub(super) was_named: bool,
}

/// The files, in the order of the arguments, those of a folder by path; and what can't be looked
/// at, in words. A folder that leads back into itself is one of those.
pub(super) fn find(paths: &[PathBuf]) -> (Vec<Found>, Vec<String>) {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_dir() {
            let bytes = path.metadata().map_or(0, |it| it.len());
            found.push(Found { path: path.clone(), bytes, was_named: true });
            continue;
        }
        for entry in WalkDir::new(path).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(it) if it.file_type().is_file() && is_recording(it.path()) => {
                    let bytes = it.metadata().map_or(0, |it| it.len());
                    found.push(Found { path: it.into_path(), bytes, was_named: false });
                }
                Ok(_) => {}
                Err(error) => {
                    let path = shown(error.path().unwrap_or(path));
                    failed.push(match (error.loop_ancestor(), error.io_error()) {
                        (Some(above), _) => {
                            format!("{path}: leads back to {}: skipped", shown(above))
                        }
                        (None, Some(error)) => format!("{path}: {error}: skipped"),
                        (None, None) => format!("{path}: can't be looked at: skipped"),
                    });
                }
            }
        }
    }
    (found, failed)
}

/// A path for a person to read: a name may hold anything, and must not steer the terminal.
pub(super) fn shown(path: &Path) -> String {
    wording::quote(&path.display().to_string(), usize::MAX)
}

fn is_recording(path: &Path) -> bool {
    let ending = path.extension().and_then(|it| it.to_str());
    ending.is_some_and(|it| ENDINGS.iter().any(|one| it.eq_ignore_ascii_case(one)))
}
