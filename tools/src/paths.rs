//! From the path that a model sends to the file that it means.

use std::io;
use std::path::{Path, PathBuf};

use toolwright_contract::SessionContext;

use crate::fault::Fault;

/// Most symbolic links without a target that are followed one after another, as in Linux.
const LINKS: u32 = 40;

/// The path that a model has sent, which must be absolute.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn absolute(sent: &str, session: &SessionContext) -> Result<PathBuf, Fault> {
    if sent.trim().is_empty() {
        return Err(Fault::NoPath);
    }
    if sent.contains('\0') {
        return Err(Fault::NulInPath);
    }
    let path = Path::new(sent);
    if path.is_absolute() {
        return if sent.ends_with('/') {
            Err(Fault::Directory(path.into()))
        } else {
            Ok(path.into())
        };
    }
    let sent = sent.to_owned();
    if sent.starts_with('~') {
        return Err(Fault::Tilde(sent));
    }
    let instead = session.cwd.join(&sent);
    Err(Fault::Relative { path: sent, instead })
}

/// The path of the file that a path leads to, which need not exist: every symbolic link is
/// followed, and of what does not exist yet the longest parent that does.
///
/// # Errors
///
/// What the system says; links that never end; `..` below what does not exist.
pub(crate) fn real(path: &Path) -> io::Result<PathBuf> {
    follow(path, LINKS)
}

fn follow(path: &Path, links: u32) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(missing);
            };
            let parent = follow(parent, links)?;
            let path = parent.join(name);
            match path.read_link() {
                Ok(_) if links == 0 => Err(io::Error::other("too many symbolic links")),
                Ok(target) => follow(&parent.join(target), links - 1),
                Err(_) => Ok(path),
            }
        }
        found => found,
    }
}
