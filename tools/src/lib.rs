//! The built-in tools, one file each.
//!
//! # Adding a tool
//!
//! 1. Copy `todo_write.rs`, rename it, change it.
//! 2. Add its `mod` line and its line in [`all`], both in alphabetical order.
//!
//! Nothing else in the repository names a tool.

#[cfg(unix)]
mod bash;
#[cfg(unix)]
mod capture;
mod edit;
#[cfg(unix)]
mod exit_code;
mod fault;
mod page;
mod patch;
mod paths;
#[cfg(unix)]
mod process;
mod read;
mod replacement;
mod text_file;
mod todo_write;
mod write;

use toolwright_contract::AnyTool;

#[cfg(unix)]
pub use process::Processes;
#[cfg(target_os = "linux")]
pub use process::Warden;
#[cfg(target_os = "linux")]
pub use toolwright_warden::serve as serve_as_warden;

/// Every built-in tool, by name. Commands run in process groups.
#[must_use]
pub fn all() -> Vec<AnyTool> {
    all_with(
        #[cfg(unix)]
        &Processes::in_groups(),
    )
}

/// Every built-in tool, by name, with commands run as is said.
#[must_use]
pub fn all_with(#[cfg(unix)] processes: &Processes) -> Vec<AnyTool> {
    [
        #[cfg(unix)]
        AnyTool::new(bash::Bash(processes.clone())),
        AnyTool::new(edit::Edit),
        AnyTool::new(read::Read),
        AnyTool::new(todo_write::TodoWrite),
        AnyTool::new(write::Write),
    ]
    .into()
}
