//! How the file tools behave where a session may choose, and who is told of their changes.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::checkpoints::Checkpoints;

/// The choices of a session. The default is that of the newest Claude Code in its strict form.
#[derive(Clone, Default)]
pub struct FileOptions {
    /// What must have been read before it is changed.
    pub read_first: ReadFirst,
    /// How lines are numbered.
    pub line_numbers: LineNumbers,
    /// Who is told of each file that was changed, such as a language server.
    pub listener: Option<Arc<dyn FileListener>>,
    /// Where files are kept as they were before a turn has changed them.
    pub checkpoints: Option<Arc<Checkpoints>>,
}

impl fmt::Debug for FileOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileOptions")
            .field("read_first", &self.read_first)
            .field("line_numbers", &self.line_numbers)
            .field("listener", &self.listener.is_some())
            .field("checkpoints", &self.checkpoints)
            .finish()
    }
}

/// What must have been read before it is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadFirst {
    /// Every file, and it must not have changed since.
    #[default]
    Strict,
    /// Within the directories of the session, only files of which a part was shown, and notebooks
    /// (Claude Code 2.1.208 and 2.1.228, for newer models): an edit of anything else goes ahead if
    /// its text is there exactly and once.
    Relaxed,
}

/// How lines are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineNumbers {
    /// The number, then a tab (Claude Code since 2.1.86).
    #[default]
    Tab,
    /// The number in six places or more, then an arrow (before 2.1.86).
    Arrow,
}

/// Somebody who wants to know of changed files.
pub trait FileListener: Send + Sync {
    /// A tool has written a file, whose path is absolute and has no symbolic links. Called on a
    /// thread that may wait, before the call is answered: it should not take long.
    fn written(&self, path: &Path);
}
