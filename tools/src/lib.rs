//! The built-in tools, one file each.
//!
//! Two features, both on by default, decide which are compiled: `files` (those that read and change
//! files) and `shell` (the one that runs commands; on Unix alone). Which of them a session offers is
//! decided by the gates of its [pool](toolwright_contract::Pool::assemble).
//!
//! # Adding a tool
//!
//! 1. Copy `todo_write.rs`, rename it, change it.
//! 2. Add its `mod` line and its line in [`all_with`], both in alphabetical order.
//!
//! Nothing else in the repository names a tool.

#[cfg(all(unix, feature = "shell"))]
mod bash;
#[cfg(unix)]
#[cfg_attr(not(feature = "shell"), expect(dead_code, reason = "no tool runs commands"))]
mod capture;
#[cfg(feature = "files")]
mod changes;
#[cfg(feature = "files")]
mod checkpoints;
#[cfg(feature = "files")]
mod edit;
#[cfg(feature = "files")]
mod encoding;
#[cfg(all(unix, feature = "shell"))]
mod exit_code;
#[cfg(feature = "files")]
mod fault;
#[cfg(feature = "files")]
mod forgiving;
#[cfg(feature = "files")]
mod glob;
#[cfg(feature = "files")]
mod grep;
#[cfg(feature = "files")]
mod multi_edit;
#[cfg(feature = "files")]
mod notebook;
#[cfg(feature = "files")]
mod notebook_change;
#[cfg(feature = "files")]
mod notebook_edit;
#[cfg(feature = "files")]
mod notebook_view;
#[cfg(feature = "files")]
mod options;
#[cfg(feature = "files")]
mod page;
#[cfg(feature = "files")]
mod patch;
#[cfg(feature = "files")]
mod path_locks;
#[cfg(feature = "files")]
mod paths;
#[cfg(feature = "files")]
mod pattern;
#[cfg(feature = "files")]
mod picture;
#[cfg(unix)]
#[cfg_attr(not(feature = "shell"), expect(dead_code, reason = "no tool runs commands"))]
mod process;
#[cfg(feature = "files")]
mod ranking;
#[cfg(feature = "files")]
mod read;
#[cfg(feature = "files")]
mod read_formats;
#[cfg(feature = "files")]
mod replace;
#[cfg(feature = "files")]
mod replacement;
#[cfg(feature = "files")]
mod revision;
#[cfg(feature = "files")]
mod target;
#[cfg(feature = "files")]
mod text_file;
#[cfg(feature = "files")]
mod text_view;
mod todo_write;
#[cfg(feature = "files")]
mod walk;
#[cfg(feature = "files")]
mod write;

use toolwright_contract::AnyTool;

#[cfg(feature = "files")]
pub use checkpoints::{Checkpoint, Checkpoints, NotRewound};
#[cfg(feature = "files")]
pub use options::{FileListener, FileOptions, LineNumbers, ReadFirst};
#[cfg(unix)]
pub use process::Processes;
#[cfg(target_os = "linux")]
pub use process::Warden;
#[cfg(target_os = "linux")]
pub use toolwright_warden::serve as serve_as_warden;

/// The tools of the simple mode, for [`Gates::only`](toolwright_contract::Gates::only): commands,
/// editing and reading (Claude Code docs 2.1.240).
pub const SIMPLE: [&str; 3] = ["Bash", "Edit", "Read"];

/// Every built-in tool that was compiled, by name. Commands run in process groups, and files have
/// the default options.
#[must_use]
pub fn all() -> Vec<AnyTool> {
    all_with(
        #[cfg(feature = "files")]
        &FileOptions::default(),
        #[cfg(unix)]
        &Processes::in_groups(),
    )
}

/// Every built-in tool that was compiled, by name, with files dealt with and commands run as is
/// said.
#[must_use]
#[cfg_attr(
    all(unix, not(feature = "shell")),
    expect(unused_variables, reason = "no tool runs commands")
)]
pub fn all_with(
    #[cfg(feature = "files")] files: &FileOptions,
    #[cfg(unix)] processes: &Processes,
) -> Vec<AnyTool> {
    [
        #[cfg(all(unix, feature = "shell"))]
        AnyTool::new(bash::Bash(processes.clone())),
        #[cfg(feature = "files")]
        AnyTool::new(edit::Edit(files.clone())),
        #[cfg(feature = "files")]
        AnyTool::new(glob::Glob::default()),
        #[cfg(feature = "files")]
        AnyTool::new(grep::Grep::default()),
        #[cfg(feature = "files")]
        AnyTool::new(multi_edit::MultiEdit(files.clone())),
        #[cfg(feature = "files")]
        AnyTool::new(notebook_edit::NotebookEdit(files.clone())),
        #[cfg(feature = "files")]
        AnyTool::new(read::Read(files.clone())),
        AnyTool::new(todo_write::TodoWrite),
        #[cfg(feature = "files")]
        AnyTool::new(write::Write(files.clone())),
    ]
    .into()
}
