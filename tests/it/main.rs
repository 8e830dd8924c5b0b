//! The integration tests: each file is a behaviour, each function a sentence.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "in a test program a panic is the report, in its own functions too"
)]

mod lanes;
mod replay;
mod slow_replay_cli;
mod streaming;
mod tidy;
mod todo_write;
