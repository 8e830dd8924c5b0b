//! Paths as decisions see them: absolute, without `.` and `..`, with where links lead.

use std::path::{Component, Path, PathBuf};

/// What only the file system knows. The package has no I/O: whoever asks for a decision answers.
pub trait Links {
    /// Where a path leads once every link in it is followed; for what doesn't exist, with those in
    /// the longest part that does. The path is absolute.
    fn real(&self, path: &Path) -> PathBuf;

    /// Whether the file has other names (hard links), so that its path doesn't say what it is.
    fn has_other_names(&self, _path: &Path) -> bool {
        false
    }
}

/// A file system without links.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLinks;

impl Links for NoLinks {
    fn real(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// Where a session works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    cwd: Root,
    home: Option<Root>,
    /// The directory in which the session began, and those that were added.
    roots: Vec<Root>,
}

/// A directory, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Root {
    pub(crate) given: PathBuf,
    pub(crate) real: PathBuf,
}

impl Root {
    /// As it is given, and where that leads if it is somewhere else.
    pub(crate) fn each(&self) -> impl Iterator<Item = &Path> {
        let real = (self.real != self.given).then_some(self.real.as_path());
        std::iter::once(self.given.as_path()).chain(real)
    }

    pub(crate) fn new(path: &Path, links: &dyn Links) -> Self {
        let given = settled(path);
        let real = if given.is_absolute() { links.real(&given) } else { given.clone() };
        Self { given, real }
    }
}

impl Places {
    /// A session that begins in a directory. A relative one stands for nothing: nothing is in it.
    #[must_use]
    pub fn new(cwd: &Path, home: Option<&Path>, links: &dyn Links) -> Self {
        let home = home.filter(|it| it.is_absolute()).map(|it| Root::new(it, links));
        let mut places = Self { cwd: Root::new(cwd, links), home, roots: Vec::new() };
        places.add(cwd, links);
        places
    }

    /// Adds a directory in which the session may work.
    pub fn add(&mut self, directory: &Path, links: &dyn Links) {
        let root = Root::new(&self.cwd.given.join(directory), links);
        if root.given.is_absolute() {
            self.roots.push(root);
        }
    }

    /// The same session after a change of directory.
    #[must_use]
    pub fn at(mut self, cwd: &Path, links: &dyn Links) -> Self {
        self.cwd = Root::new(&self.cwd.given.join(cwd), links);
        self
    }

    /// The directory that relative paths start at, now.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd.given
    }

    /// The user's home.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_ref().map(|it| it.given.as_path())
    }

    pub(crate) fn cwd_root(&self) -> &Root {
        &self.cwd
    }

    pub(crate) fn home_root(&self) -> Option<&Root> {
        self.home.as_ref()
    }

    /// The file that a text means, seen from the working directory.
    #[must_use]
    pub fn touched(&self, given: &str, links: &dyn Links) -> Touched {
        Touched::new(given, self.cwd(), self.home(), links)
    }

    /// The directories in which the session works.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|it| it.given.as_path())
    }

    /// Whether a file is in one of the directories, by its path and where that leads.
    #[must_use]
    pub(crate) fn contain(&self, it: &Touched) -> bool {
        let lies_in = |path: &Path| {
            self.roots
                .iter()
                .any(|root| path.starts_with(&root.given) || path.starts_with(&root.real))
        };
        let really_lies_in = self.roots.iter().any(|root| it.real.starts_with(&root.real));
        lies_in(&it.path) && really_lies_in
    }
}

/// A file that a call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// As it was given.
    pub given: String,
    /// Absolute, without `.` and `..`.
    pub path: PathBuf,
    /// Where it leads.
    pub real: PathBuf,
    /// Why its meaning is not sure.
    pub flaw: Option<Flaw>,
}

/// Why it isn't sure which file a path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// There is no text.
    #[error("the path is empty")]
    Empty,
    /// No path can hold it.
    #[error("the path holds a NUL character")]
    Nul,
    /// It can't be seen in what a person is shown.
    #[error("the path holds a control character")]
    Control,
    /// A network share, or a device path of Windows.
    #[error("the path is one of a network share or device")]
    Share,
    /// A file is meant, and the path is that of a folder.
    #[error("the path ends like that of a folder")]
    Folder,
    /// It depends on the process that looks.
    #[error("the path means something else for each process")]
    Process,
    /// The file has other names.
    #[error("the file has other names (hard links), so its path doesn't say what it is")]
    OtherNames,
    /// It starts at a directory that isn't known.
    #[error("the path is relative, and the directory isn't known")]
    Relative,
}

impl Touched {
    /// The file that a text means, seen from `cwd`.
    #[must_use]
    pub fn new(given: &str, cwd: &Path, home: Option<&Path>, links: &dyn Links) -> Self {
        let spelled = drive_path(given).unwrap_or_else(|| given.to_owned());
        let mut flaw = flaw_of(&spelled);
        let path = match spelled.strip_prefix("~/").or_else(|| (spelled == "~").then_some("")) {
            Some(rest) => match home {
                Some(home) => home.join(rest),
                None => PathBuf::from(&spelled),
            },
            None => cwd.join(&spelled),
        };
        let path = settled(&path);
        if !path.is_absolute() {
            flaw = flaw.or(Some(Flaw::Relative));
        }
        let real = match flaw {
            Some(Flaw::Nul | Flaw::Relative | Flaw::Empty) => path.clone(),
            Some(_) | None => links.real(&path),
        };
        let of_process = |it: &Path| it.starts_with("/proc") || it.starts_with("/dev/fd");
        if of_process(&path) || of_process(&real) {
            flaw = flaw.or(Some(Flaw::Process));
        }
        Self { given: given.to_owned(), path, real, flaw }
    }

    /// The same as a file that is written.
    #[must_use]
    pub fn written(mut self, links: &dyn Links) -> Self {
        if self.given.ends_with('/') || self.given.ends_with("/.") {
            self.flaw = self.flaw.or(Some(Flaw::Folder));
        }
        if self.flaw.is_none() && links.has_other_names(&self.real) {
            self.flaw = Some(Flaw::OtherNames);
        }
        self
    }
}

fn flaw_of(given: &str) -> Option<Flaw> {
    if given.is_empty() {
        Some(Flaw::Empty)
    } else if given.contains('\0') {
        Some(Flaw::Nul)
    } else if given.chars().any(char::is_control) {
        Some(Flaw::Control)
    } else if given.starts_with("\\\\") || given.starts_with("\\??\\") {
        Some(Flaw::Share)
    } else {
        None
    }
}

/// The path without `.` and `..`, by its text alone.
#[must_use]
pub fn settled(path: &Path) -> PathBuf {
    let mut settled = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                settled.pop();
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => {
                settled.push(component);
            }
        }
    }
    settled
}

/// `C:\a` as `/c/a`.
pub(crate) fn drive_path(text: &str) -> Option<String> {
    let (drive, rest) = text.split_once(":\\")?;
    let is_drive = drive.len() == 1 && drive.bytes().all(|it| it.is_ascii_alphabetic());
    is_drive.then(|| format!("/{}/{}", drive.to_ascii_lowercase(), rest.replace('\\', "/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(given: &str) -> Touched {
        let home = Path::new("/u/ann");
        Touched::new(given, Path::new("/w/app"), Some(home), &NoLinks)
    }

    #[test]
    fn paths_are_compared_by_component_once_they_are_settled() {
        let places = Places::new(Path::new("/w/app"), None, &NoLinks);
        for (given, is_in) in [
            ("src/a.rs", true),
            ("/w/app", true),
            ("/w//app/./x", true),
            ("/w/app/../app-evil/x", false),
            ("/w/app-evil/x", false),
            ("../app/x", true),
            ("/W/app/x", false),
            ("~/x", false),
            ("/etc/passwd", false),
        ] {
            assert_eq!(places.contain(&touched(given)), is_in, "{given}");
        }
    }

    #[test]
    fn a_link_out_of_the_directory_is_out_of_it() {
        struct Link;
        impl Links for Link {
            fn real(&self, path: &Path) -> PathBuf {
                let rest = path.strip_prefix("/w/app/out");
                rest.map_or_else(|_| path.to_owned(), |it| Path::new("/etc").join(it))
            }
        }
        let cwd = Path::new("/w/app");
        let places = Places::new(cwd, None, &Link);
        assert!(!places.contain(&Touched::new("out/passwd", cwd, None, &Link)));
        assert!(places.contain(&Touched::new("in/passwd", cwd, None, &Link)));
    }

    #[test]
    fn a_directory_that_is_itself_a_link_contains_its_files() {
        struct Tmp;
        impl Links for Tmp {
            fn real(&self, path: &Path) -> PathBuf {
                let rest = path.strip_prefix("/tmp");
                rest.map_or_else(|_| path.to_owned(), |it| Path::new("/private/tmp").join(it))
            }
        }
        let cwd = Path::new("/tmp/app");
        let places = Places::new(cwd, None, &Tmp);
        for given in ["x", "/tmp/app/x", "/private/tmp/app/x"] {
            assert!(places.contain(&Touched::new(given, cwd, None, &Tmp)), "{given}");
        }
    }

    #[test]
    fn a_path_that_may_mean_something_else_has_a_flaw() {
        for (given, flaw) in [
            ("", Flaw::Empty),
            ("/w/app/a\0b", Flaw::Nul),
            ("/w/app/a\nb", Flaw::Control),
            (r"\\host\share", Flaw::Share),
            ("/proc/self/environ", Flaw::Process),
        ] {
            assert_eq!(touched(given).flaw, Some(flaw), "{given:?}");
        }
        assert_eq!(touched("x/").written(&NoLinks).flaw, Some(Flaw::Folder));
        assert_eq!(touched("x").written(&NoLinks).flaw, None);
    }
}
