//! Settings files: where they are, what they say about permissions, and what holds of it together.
//!
//! Scopes, precedence and trust are those of Claude Code docs 2.1.240. Where a file can't be read,
//! every call is asked about instead of the file being skipped.

mod file;
mod git;
mod load;
mod locations;
mod owner;
mod saved;
mod trust;

#[cfg(test)]
mod tests;

pub use file::{FileSettings, SettingsError, SettingsWarning};
pub use load::{Loaded, load, reload};
pub use locations::{CommandLine, Locations, PlatformFolders};
pub use saved::{NotSaved, SavedRules};
pub use trust::{is_trusted, trust_key};
