//! Where a rule comes from: scope, file, and what its rooted paths start at.

use std::fmt;
use std::path::PathBuf;

/// A level of settings, the highest first (Claude Code docs 2.1.240).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The administrator's files.
    Managed,
    /// Arguments of the program.
    CommandLine,
    /// What was decided in this session, and is kept nowhere.
    Session,
    /// `.claude/settings.local.json` of a project.
    Local,
    /// `.claude/settings.json` of a project, shared by all who work on it.
    Project,
    /// The user's own file.
    User,
}

impl Scope {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed settings",
            Self::CommandLine => "the command line",
            Self::Session => "this session",
            Self::Local => "local settings",
            Self::Project => "project settings",
            Self::User => "user settings",
        }
    }
}

/// Where rules come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The level.
    pub scope: Scope,
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// What `/path` in a rule starts at: the project's root for its file, the settings folder for
    /// the user's, the file's own folder for `--settings`, else the directory that the session
    /// began in.
    pub root: PathBuf,
}

impl Source {
    /// A source without a file.
    #[must_use]
    pub fn new(scope: Scope, root: impl Into<PathBuf>) -> Self {
        Self { scope, file: None, root: root.into() }
    }

    /// Adds the file.
    #[must_use]
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{} ({})", self.scope.name(), file.display()),
            None => f.write_str(self.scope.name()),
        }
    }
}
