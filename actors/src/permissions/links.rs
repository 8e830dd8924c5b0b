//! Where links lead, on the file system of this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toolwright_permissions::Links;

/// The file system of this machine, asked each time: what it says holds for that moment only.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealLinks;

/// Most links of a chain that are followed (Linux follows 40).
const MOST_LINKS: usize = 40;

impl Links for RealLinks {
    fn real(&self, path: &Path) -> PathBuf {
        resolve(path, MOST_LINKS)
    }

    #[cfg(unix)]
    fn has_other_names(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        path.symlink_metadata().is_ok_and(|it| it.is_file() && it.nlink() > 1)
    }
}

/// The longest part that exists, with its links followed, and the rest as it is. A link to what
/// doesn't exist is followed too: a write through it makes the target.
fn resolve(path: &Path, most: usize) -> PathBuf {
    let mut rest: Vec<OsString> = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(real) = existing.canonicalize() {
            return rest.iter().rev().fold(real, |path, name| path.join(name));
        }
        if let Ok(target) = existing.read_link()
            && most > 0
        {
            let folder = existing.parent().unwrap_or(Path::new("/"));
            let target = toolwright_permissions::settled(&folder.join(target));
            let target = rest.iter().rev().fold(target, |path, name| path.join(name));
            return resolve(&target, most - 1);
        }
        let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
            return path.to_owned();
        };
        rest.push(name.to_owned());
        existing = parent;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_where_the_end_does_not_exist() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("its path");
        std::fs::create_dir(root.join("out")).expect("a folder");
        symlink(root.join("out"), root.join("in")).expect("a link");
        symlink("in/new", root.join("dangling")).expect("a link");
        assert_eq!(RealLinks.real(&root.join("in/a/b")), root.join("out/a/b"));
        assert_eq!(RealLinks.real(&root.join("dangling")), root.join("out/new"));
        assert_eq!(RealLinks.real(&root.join("none/x")), root.join("none/x"));
    }

    #[test]
    fn a_ring_of_links_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("its path");
        symlink("b", root.join("a")).expect("a link");
        symlink("a", root.join("b")).expect("a link");
        assert!(RealLinks.real(&root.join("a")).starts_with(&root));
    }

    #[test]
    fn a_hard_link_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        std::fs::write(&one, "x").expect("a file");
        assert!(!RealLinks.has_other_names(&one));
        std::fs::hard_link(&one, &two).expect("a link");
        assert!(RealLinks.has_other_names(&one));
    }
}
