//! Whether the user trusts a folder, as `~/.claude.json` says it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolwright_permissions::Trust;

use super::git;

/// Longest file of the user's state that is read, in bytes: it holds a history too.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The folder that trust is kept for: the root of the repository, else the folder itself.
#[must_use]
pub fn trust_key(directory: &Path) -> PathBuf {
    git::root(directory).unwrap_or_else(|| directory.to_owned())
}

/// Reads whether a folder is trusted. What can't be read is not.
#[must_use]
pub fn is_trusted(state: &Path, directory: &Path) -> Trust {
    let is_short = fs::metadata(state).is_ok_and(|it| it.len() <= LONGEST);
    let text = is_short.then(|| fs::read_to_string(state).ok()).flatten().unwrap_or_default();
    let state: Value = serde_json::from_str(&text).unwrap_or_default();
    let key = trust_key(directory);
    let accepted = state["projects"][&*key.to_string_lossy()]["hasTrustDialogAccepted"].as_bool();
    if accepted == Some(true) { Trust::Trusted } else { Trust::Untrusted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_for_the_repository_and_not_for_its_neighbours() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().canonicalize().expect("its path");
        let root = base.join("app");
        fs::create_dir_all(root.join(".git")).expect("a folder");
        let state = base.join("state.json");
        assert_eq!(is_trusted(&state, &root), Trust::Untrusted);
        let text = serde_json::json!({"projects":
            {root.to_string_lossy(): {"hasTrustDialogAccepted": true}}});
        fs::write(&state, text.to_string()).expect("a file");
        assert_eq!(is_trusted(&state, &root.join("src")), Trust::Trusted);
        assert_eq!(is_trusted(&state, &base.join("app-evil")), Trust::Untrusted);
        assert_eq!(is_trusted(&state, &base), Trust::Untrusted);
    }
}
