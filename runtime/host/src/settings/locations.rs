//! Where settings are, for a session that starts in a directory.

use std::fs;
use std::path::{Path, PathBuf};

use toolwright_permissions::{Mode, Scope};

use super::git;

/// The folders that belong to the machine and the user, not to the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlatformFolders {
    /// The administrator's.
    pub managed: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's settings, if they aren't in `.claude` of the home (`CLAUDE_CONFIG_DIR`).
    pub config: Option<PathBuf>,
}

impl PlatformFolders {
    /// Those of this platform (Claude Code docs 2.1.240).
    #[must_use]
    pub fn usual(home: Option<PathBuf>, config: Option<PathBuf>) -> Self {
        let managed = if cfg!(target_os = "macos") {
            "/Library/Application Support/ClaudeCode"
        } else if cfg!(windows) {
            r"C:\Program Files\ClaudeCode"
        } else {
            "/etc/claude-code"
        };
        Self { managed: Some(managed.into()), home, config }
    }
}

/// What arguments of the program say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// `--settings`: a file, or the text itself.
    pub settings: Option<String>,
    /// `--allowedTools`
    pub allowed: Vec<String>,
    /// `--disallowedTools`
    pub disallowed: Vec<String>,
    /// `--permission-mode`
    pub mode: Option<Mode>,
    /// `--add-dir`
    pub directories: Vec<PathBuf>,
    /// `--setting-sources`: which of the user's, the project's and the local files are read. Without
    /// it all are; the administrator's are in any case.
    pub sources: Option<Vec<Scope>>,
}

/// Where each scope's settings are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locations {
    /// The administrator's folder.
    pub managed: Option<PathBuf>,
    /// The user's settings folder.
    pub user: Option<PathBuf>,
    /// Where the user's trust is kept.
    pub state: Option<PathBuf>,
    /// The directory in which the session starts.
    pub start: PathBuf,
    /// The local files: that of the repository's root, and one that an older version left in the
    /// directory of the start.
    pub local: Vec<PathBuf>,
    /// What arguments say.
    pub command_line: CommandLine,
}

/// The folder of a project's settings.
const FOLDER: &str = ".claude";
/// The name of a settings file.
const SHARED: &str = "settings.json";
/// The name of a user's own settings for a project.
const LOCAL: &str = "settings.local.json";

impl Locations {
    /// Those of a session that starts in a directory.
    #[must_use]
    pub fn of(start: &Path, folders: &PlatformFolders, command_line: CommandLine) -> Self {
        let home = folders.home.as_deref();
        let mut local = vec![start.join(FOLDER).join(LOCAL)];
        // A repository that is the home would make its settings those of every folder.
        let root = git::root(start).filter(|it| Some(it.as_path()) != home && owns(it));
        if let Some(root) = root.filter(|it| it != start) {
            local.insert(0, root.join(FOLDER).join(LOCAL));
        }
        Self {
            managed: folders.managed.clone(),
            user: folders.config.clone().or_else(|| Some(home?.join(FOLDER))),
            state: home.map(|it| it.join(".claude.json")),
            start: start.to_owned(),
            local,
            command_line,
        }
    }

    /// The local file where nothing says that it is somewhere else.
    pub(super) fn usual_local(&self) -> PathBuf {
        self.start.join(FOLDER).join(LOCAL)
    }

    /// Whether the files of a scope are read.
    pub(super) fn reads(&self, scope: Scope) -> bool {
        self.command_line.sources.as_ref().is_none_or(|it| it.contains(&scope))
    }

    /// The project's shared file.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.start.join(FOLDER).join(SHARED)
    }

    /// The user's file.
    #[must_use]
    pub fn user_file(&self) -> Option<PathBuf> {
        Some(self.user.as_ref()?.join(SHARED))
    }

    /// The administrator's files: the one, then those of the drop-in folder by name.
    #[must_use]
    pub fn managed_files(&self) -> Vec<PathBuf> {
        let Some(folder) = &self.managed else { return Vec::new() };
        let dropped = fs::read_dir(folder.join("managed-settings.d"));
        let dropped = dropped.into_iter().flatten().flatten().map(|it| it.path());
        let mut files: Vec<PathBuf> =
            dropped.filter(|it| it.extension().is_some_and(|it| it == "json")).collect();
        files.sort();
        files.insert(0, folder.join("managed-settings.json"));
        files
    }
}

/// Whether a repository's own folders are the user's, so that nobody else has put settings there.
#[cfg(unix)]
fn owns(root: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    [root.to_owned(), root.join(".git"), root.join(FOLDER)]
        .iter()
        .all(|it| it.metadata().map_or(it.ends_with(FOLDER), |it| it.uid() == user))
}

#[cfg(not(unix))]
fn owns(_: &Path) -> bool {
    false
}
