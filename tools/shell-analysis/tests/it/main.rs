//! What is understood of shell commands: each file is a question, each function a sentence.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "in a test a panic is the report")]
#![allow(clippy::disallowed_methods, reason = "a test may spawn; it ends what it starts")]

mod bounds;
mod carried;
mod constructs;
mod doubts;
mod files;
mod meanings;
mod properties;
mod reading;
mod scripts;
#[cfg(unix)]
mod slow_bash_agrees;
mod words;

use toolwright_shell_analysis::{Reason, understand};

/// The programs of a command that has to be understood fully, joined by blanks.
fn programs(command: &str) -> String {
    let understanding = understand(command);
    assert!(understanding.is_full(), "{command:?}: {:?}", understanding.doubts);
    understanding.programs().collect::<Vec<_>>().join(" ")
}

/// The first doubt about a command.
fn doubt(command: &str) -> Option<Reason> {
    understand(command).doubts.into_iter().next().map(|it| it.reason)
}
