//! The repository that a directory belongs to, believed only where both sides say so.

use std::fs;
use std::path::{Path, PathBuf};

/// Longest `.git` file that is read, in bytes: it holds one path.
const LONGEST: u64 = 8_192;

/// The root of the main checkout that a directory belongs to. A linked worktree counts only if the
/// repository names it in turn: else any folder could borrow the trust of another.
pub(super) fn root(directory: &Path) -> Option<PathBuf> {
    let root = directory.ancestors().find(|it| it.join(".git").symlink_metadata().is_ok())?;
    let mark = root.join(".git");
    if !mark.symlink_metadata().ok()?.is_file() {
        return Some(root.to_owned());
    }
    Some(main_checkout(root, &mark).unwrap_or_else(|| root.to_owned()))
}

fn main_checkout(root: &Path, mark: &Path) -> Option<PathBuf> {
    let named = read(mark)?;
    let folder = root.join(named.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let worktrees = folder.parent().filter(|it| it.ends_with("worktrees"))?;
    let git = worktrees.parent().filter(|it| it.ends_with(".git"))?;
    let back = folder.join(read(&folder.join("gitdir"))?.trim()).canonicalize().ok()?;
    (back == mark.canonicalize().ok()?).then(|| git.parent().map(Path::to_owned)).flatten()
}

fn read(file: &Path) -> Option<String> {
    let is_short = fs::metadata(file).is_ok_and(|it| it.is_file() && it.len() <= LONGEST);
    is_short.then(|| fs::read_to_string(file).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_belongs_to_the_repository_that_names_it_and_to_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().canonicalize().expect("its path");
        let (main, linked, thief) = (base.join("main"), base.join("linked"), base.join("thief"));
        let inner = main.join(".git/worktrees/linked");
        fs::create_dir_all(&inner).expect("a folder");
        for it in [&linked, &thief] {
            fs::create_dir(it).expect("a folder");
            fs::write(it.join(".git"), format!("gitdir: {}\n", inner.display())).expect("a file");
        }
        fs::write(inner.join("gitdir"), linked.join(".git").display().to_string()).expect("a file");
        assert_eq!(root(&main.join("src")), Some(main.clone()));
        assert_eq!(root(&linked), Some(main));
        assert_eq!(root(&thief), Some(thief));
        assert_eq!(root(&base), None);
    }
}
