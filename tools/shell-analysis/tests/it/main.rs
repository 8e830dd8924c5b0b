//! What is understood of shell commands: each file is a question, each function a sentence.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "in a test a panic is the report")]
#![allow(clippy::disallowed_methods, reason = "a test may spawn; it ends what it starts")]

mod scripts;
#[cfg(unix)]
mod slow_bash_agrees;
