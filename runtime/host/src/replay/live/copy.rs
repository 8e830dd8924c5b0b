//! The copy of a tree: links stay links, and nothing outside of the tree is read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// Why a copy could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// There is no such tree.
    #[error("{0} is no folder that can be read ({1}): name another one with --tree")]
    Tree(PathBuf, #[source] io::Error),
    /// The copy would take the place of something.
    #[error("{0} is not an empty folder: name one with --into that is, or that doesn't exist")]
    Taken(PathBuf),
    /// There is no place for it.
    #[error("the folder {0} can't be made ({1}): name another one with --into")]
    Place(PathBuf, #[source] io::Error),
    /// The copy would be a part of itself.
    #[error("{0} and {1} are in one another: name a folder with --into that is outside the tree")]
    Nested(PathBuf, PathBuf),
    /// Something in the tree can't be copied.
    #[error("{0} can't be copied ({1}): take it out of the tree, and name another --into")]
    Entry(PathBuf, #[source] io::Error),
}

/// The real path that the copy will have. Nothing is made yet.
pub(super) fn destination(tree: &Path, into: &Path) -> Result<PathBuf, CopyError> {
    let unread = |error| CopyError::Tree(tree.to_owned(), error);
    let source = tree.canonicalize().map_err(unread)?;
    fs::read_dir(&source).map_err(unread)?;
    let unmade = |error| CopyError::Place(into.to_owned(), error);
    let place = match into.canonicalize() {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let absolute = std::path::absolute(into).map_err(unmade)?;
            let name = absolute.file_name();
            let parent = absolute.parent().and_then(|it| it.canonicalize().ok());
            let (Some(parent), Some(name)) = (parent, name) else { return Err(unmade(error)) };
            parent.join(name)
        }
        Err(error) => return Err(unmade(error)),
    };
    if place.starts_with(&source) || source.starts_with(&place) {
        return Err(CopyError::Nested(source, place));
    }
    match fs::read_dir(&place) {
        Ok(mut entries) => match entries.next() {
            None => Ok(place),
            Some(_) => Err(CopyError::Taken(into.to_owned())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(place),
        Err(_) => Err(CopyError::Taken(into.to_owned())),
    }
}

/// Copies the tree to its place, which is empty or made now.
pub(super) fn copy(tree: &Path, place: &Path) -> Result<(), CopyError> {
    let tree = tree.canonicalize().map_err(|it| CopyError::Tree(tree.to_owned(), it))?;
    match fs::create_dir(place) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(CopyError::Place(place.to_owned(), error));
        }
        Ok(()) | Err(_) => {}
    }
    for entry in WalkDir::new(&tree).min_depth(1).follow_links(false) {
        let entry = entry.map_err(|it| {
            let path = it.path().unwrap_or(&tree).to_owned();
            CopyError::Entry(path, it.into())
        })?;
        let failed = |error| CopyError::Entry(entry.path().to_owned(), error);
        // Below the tree by construction.
        let below = entry.path().strip_prefix(&tree).map_err(|it| failed(io::Error::other(it)))?;
        let target = place.join(below);
        let kind = entry.file_type();
        if kind.is_dir() {
            fs::create_dir(&target).map_err(failed)?;
        } else if kind.is_symlink() {
            let leads_to = fs::read_link(entry.path()).map_err(failed)?;
            link(&leads_to, &target).map_err(failed)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target).map_err(failed)?;
        } else {
            return Err(failed(io::Error::other("it is no file, folder or link")));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(leads_to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(leads_to, at)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::other("links can't be copied on this system"))
}
