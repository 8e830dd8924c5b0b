//! The built-in tools, one file each.
//!
//! # Adding a tool
//!
//! 1. Copy `todo_write.rs`, rename it, change it.
//! 2. Add its `mod` line and its line in [`all`], both in alphabetical order.
//!
//! Nothing else in the repository names a tool.

mod todo_write;

use toolwright_contract::AnyTool;

/// Every built-in tool, by name.
#[must_use]
pub fn all() -> Vec<AnyTool> {
    vec![AnyTool::new(todo_write::TodoWrite)]
}
