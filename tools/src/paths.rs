//! The one place for paths: from what a model sends to the file or folder that it means.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use toolwright_contract::SessionContext;

use crate::fault::Fault;
use crate::text_file::special;

/// Most symbolic links without a target that are followed one after another, as in Linux.
const LINKS: u32 = 40;
/// Most names of a folder that are looked at for one that was meant: some milliseconds.
const NAMES: usize = 4_096;
/// How like a name must be to be taken for the one that was meant, from 0 to 1 (Jaro-Winkler).
const LIKE: f64 = 0.85;

/// The path that a model has sent, which must be absolute.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn absolute(sent: &str, session: &SessionContext) -> Result<PathBuf, Fault> {
    if sent.trim().is_empty() {
        return Err(Fault::NoPath);
    }
    refuse_unusable(sent)?;
    let path = Path::new(sent);
    if path.is_absolute() {
        return if sent.ends_with('/') {
            Err(Fault::Directory(path.into()))
        } else {
            Ok(path.into())
        };
    }
    let instead = session.cwd.join(sent);
    Err(Fault::Relative { path: sent.to_owned(), instead })
}

/// Refuses what no path is, absolute or not.
///
/// # Errors
///
/// [`Fault::NulInPath`], [`Fault::Tilde`].
pub(crate) fn refuse_unusable(sent: &str) -> Result<(), Fault> {
    if sent.contains('\0') {
        return Err(Fault::NulInPath);
    }
    if sent.starts_with('~') { Err(Fault::Tilde(sent.to_owned())) } else { Ok(()) }
}

/// Where a search begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// Absolute, without `.` and `..`, and with the symbolic links that the model knows it by.
    pub(crate) path: PathBuf,
    /// The same without symbolic links.
    pub(crate) real: PathBuf,
    /// Whether it is a folder, and not a regular file.
    pub(crate) is_folder: bool,
}

/// The file or folder that a search should begin with: what was sent, from the working directory
/// on if it is relative, or the working directory itself.
///
/// # Errors
///
/// What is wrong with it, with the path that may have been meant where there is nothing.
pub(crate) fn start(sent: Option<&str>, session: &SessionContext) -> Result<Start, Fault> {
    let sent = sent.unwrap_or_default();
    refuse_unusable(sent)?;
    let path = session.cwd.join(sent);
    if !path.is_absolute() {
        return Err(Fault::NoFolder);
    }
    // Where `..` leads depends on the links before it, which only the file system knows.
    let ascends = path.components().any(|it| it == Component::ParentDir);
    let looked = path.canonicalize().and_then(|it| Ok((fs::metadata(&it)?.file_type(), it)));
    let (kind, real) = match looked {
        Ok(found) => found,
        Err(error) if is_missing(&error) => {
            let instead = meant(&path, &session.cwd);
            return Err(Fault::NotThere {
                path: sent.to_owned(),
                cwd: session.cwd.clone(),
                instead,
            });
        }
        Err(error) => return Err(Fault::io("find", &path)(error)),
    };
    if !kind.is_file() && !kind.is_dir() {
        return Err(Fault::Special { path, kind: special(kind) });
    }
    let path = if ascends { real.clone() } else { path.components().collect() };
    Ok(Start { path, real, is_folder: kind.is_dir() })
}

/// Whether there is nothing at a path, or could be nothing.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// What exists and may have been meant by a path that doesn't: its end below the working
/// directory, or a name like the first that is missing.
fn meant(path: &Path, cwd: &Path) -> Option<PathBuf> {
    let parts: Vec<_> = path.components().skip(1).collect();
    let mut ends = (1..parts.len()).map(|from| cwd.join(parts[from..].iter().collect::<PathBuf>()));
    if let Some(end) = ends.find(|it| it != path && it.exists()) {
        return Some(end);
    }
    let there = path.ancestors().find(|it| it.is_dir())?;
    let missing = path.strip_prefix(there).ok()?.components().next()?.as_os_str().to_str()?;
    let likeness = |name: &str| {
        let (name, missing) = (name.to_lowercase(), missing.to_lowercase());
        strsim::jaro_winkler(&name, &missing)
    };
    let names = fs::read_dir(there).ok()?.take(NAMES).flatten();
    let names = names.filter_map(|it| it.file_name().into_string().ok());
    let mut like: Vec<_> =
        names.map(|it| (likeness(&it), it)).filter(|(it, _)| *it >= LIKE).collect();
    like.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| a.cmp(b)));
    like.into_iter().next().map(|(_, name)| there.join(name))
}

/// A path as a search shows it: from the working directory on, if it is below that.
pub(crate) fn shown<'a>(path: &'a Path, cwd: &Path) -> &'a Path {
    path.strip_prefix(cwd).ok().filter(|it| !it.as_os_str().is_empty()).unwrap_or(path)
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
