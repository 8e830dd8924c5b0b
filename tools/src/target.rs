//! The file that a call means to change: what it is now, and whether it may be changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_contract::{CheckCx, Reads, RunCx, SessionContext};

use crate::encoding::{Encoding, Misencoded};
use crate::fault::Fault;
use crate::options::{FileOptions, ReadFirst};
use crate::path_locks::lock;
use crate::paths;
use crate::replace::{Disk, Replacing};
use crate::text_file::{Known, Present};

/// What a call knows of the session's files.
pub(crate) struct Desk {
    pub(crate) session: Arc<SessionContext>,
    pub(crate) options: FileOptions,
    reads: Arc<Reads>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Target {
    /// The path without symbolic links.
    pub(crate) real: PathBuf,
    /// Nothing: the file doesn't exist yet.
    pub(crate) present: Option<Present>,
    pub(crate) encoding: Encoding,
    pub(crate) standing: Standing,
}

/// What the session knows of a file that it may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// All that it has to.
    Known,
    /// Nothing: it was never read.
    Unread,
    /// It has changed since it was read.
    Changed,
}

impl Desk {
    pub(crate) fn checking(cx: &CheckCx, options: &FileOptions) -> Self {
        Self { session: cx.session.clone(), reads: cx.reads.clone(), options: options.clone() }
    }

    pub(crate) fn running(cx: &RunCx, options: &FileOptions) -> Self {
        Self { session: cx.session.clone(), reads: cx.reads.clone(), options: options.clone() }
    }

    /// Looks at the file that a path leads to, and at nothing else, as a check before the start.
    ///
    /// # Errors
    ///
    /// Why it can't be changed.
    pub(crate) fn look(&self, sent: &str, needed: Known) -> Result<Target, Fault> {
        let real = self.real(sent)?;
        self.target(real, needed)
    }

    /// Looks at a file and changes it, while nobody else in the process can.
    ///
    /// # Errors
    ///
    /// Why it can't be changed, and what `change` says.
    pub(crate) fn change<T>(
        &self,
        sent: &str,
        needed: Known,
        change: impl FnOnce(Target) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let real = self.real(sent)?;
        let _alone = lock(&real);
        change(self.target(real, needed)?)
    }

    fn real(&self, sent: &str) -> Result<PathBuf, Fault> {
        let path = paths::absolute(sent, &self.session)?;
        paths::real(&path).map_err(Fault::io("find", &path))
    }

    fn target(&self, real: PathBuf, needed: Known) -> Result<Target, Fault> {
        let Some(present) = Present::read(&real)? else {
            let (encoding, standing) = (Encoding::UTF8, Standing::Known);
            return Ok(Target { real, present: None, encoding, standing });
        };
        let seen = self.reads.seen(&real);
        let standing = match present.is_known(seen, needed) {
            Ok(()) => Standing::Known,
            Err(Fault::Unread) if self.is_lenient(&real) => Standing::Unread,
            Err(Fault::Changed) if self.is_lenient(&real) && needed == Known::WhatWasRead => {
                Standing::Changed
            }
            Err(fault) => return Err(fault),
        };
        let remembered = seen.map_or("", |it| it.encoding);
        let encoding = Encoding::of(&present.bytes, true, remembered);
        let encoding = encoding.map_err(|_| Fault::Binary(real.clone()))?;
        Ok(Target { real, present: Some(present), encoding, standing })
    }

    /// Whether a file may be changed that the session doesn't know.
    fn is_lenient(&self, real: &Path) -> bool {
        let within = |it: &PathBuf| it.canonicalize().is_ok_and(|it| real.starts_with(it));
        self.options.read_first == ReadFirst::Relaxed
            && real.extension().is_none_or(|it| it != "ipynb")
            && self.session.allowed_directories().iter().any(within)
    }

    /// Writes a text into a file, which is then known to the session.
    ///
    /// # Errors
    ///
    /// Why it can't be written; the old file is left then.
    pub(crate) fn write(&self, target: &Target, text: &str) -> Result<(), Fault> {
        let Target { real, present, encoding, .. } = target;
        let bytes = encoding.encode(text).map_err(|it| target.fault(it))?;
        let old = present.as_ref();
        let checkpoints = self.options.checkpoints.as_deref();
        if let Some(checkpoints) = checkpoints {
            checkpoints.keep(real, old).map_err(Fault::io("keep a copy of", real))?;
        }
        let replacing = Replacing { real, bytes: &bytes, encoding: *encoding, old };
        let seen = Disk::REAL.replace(&replacing)?;
        if let Some(checkpoints) = checkpoints {
            checkpoints.changed(real, seen.digest);
        }
        self.reads.note(real.clone(), seen);
        if let Some(listener) = &self.options.listener {
            listener.written(real);
        }
        Ok(())
    }
}

impl Target {
    /// That it was written, under the path that was sent.
    pub(crate) fn written(&self, sent: &str) -> String {
        match self.present {
            Some(_) => format!("The file {sent} has been updated successfully."),
            None => format!("File created successfully at: {sent}"),
        }
    }

    /// The text of the file, empty if there is none yet.
    ///
    /// # Errors
    ///
    /// Why it can't be changed piece by piece.
    pub(crate) fn text(&self) -> Result<String, Fault> {
        let Some(present) = &self.present else { return Ok(String::new()) };
        self.encoding.decode(&present.bytes).map_err(|it| self.fault(it))
    }

    fn fault(&self, it: Misencoded) -> Fault {
        let (path, encoding) = (self.real.clone(), self.encoding.name());
        match it {
            Misencoded::Binary => Fault::Binary(path),
            Misencoded::Damaged { at } => Fault::Undecodable { path, encoding, at },
            Misencoded::Lacks { character } => Fault::Unencodable { path, encoding, character },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use tempfile::TempDir;

    use super::*;
    use crate::replacement::Replacement;
    use crate::revision::Revision;

    /// What one call does, whatever the session's order.
    fn edit(desk: &Desk, sent: &Path, old: &str, new: &str) -> Result<(), Fault> {
        desk.change(sent.to_str().unwrap(), Known::WhatWasRead, |target| {
            let revision = Revision::of(&target, &[Replacement { old, new, all: false }])?;
            desk.write(&target, &revision.new)
        })
    }

    /// No session orders these: its turns may run side by side.
    #[cfg(unix)]
    #[test]
    fn a_hundred_edits_side_by_side_under_many_names_lose_none() {
        let folder = TempDir::new().unwrap();
        let real = folder.path().canonicalize().unwrap().join("file");
        let content: String = (0..100).map(|it| format!("<{it}>\n")).collect();
        std::os::unix::fs::symlink(".", real.with_file_name("link")).unwrap();
        std::os::unix::fs::symlink("link/file", real.with_file_name("alias")).unwrap();
        let desk = Desk {
            session: Arc::default(),
            options: FileOptions::default(),
            reads: Arc::default(),
        };
        let target = desk.look(real.to_str().unwrap(), Known::Everything).unwrap();
        desk.write(&target, &content).unwrap();
        thread::scope(|scope| {
            for number in 0..100 {
                let (desk, folder) = (&desk, folder.path());
                scope.spawn(move || {
                    let around = Path::new("link/..").join(folder.file_name().unwrap());
                    let around = around.join("file");
                    let names =
                        [Path::new("file"), "link/file".as_ref(), "alias".as_ref(), &around];
                    let sent = folder.join(names[number % names.len()]);
                    edit(desk, &sent, &format!("<{number}>"), &format!("[{number}]")).unwrap();
                });
            }
        });
        let expected = content.replace('<', "[").replace('>', "]");
        assert_eq!(fs::read_to_string(&real).unwrap(), expected);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
