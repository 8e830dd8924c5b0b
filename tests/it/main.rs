//! The integration tests: each file is a behaviour, each function a sentence.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "in a test program a panic is the report, in its own functions too"
)]

mod crashes;
mod hooks;
mod input;
mod lanes;
mod permissions;
mod results;
mod siblings;
mod stops;
mod streaming;
mod tidy;
mod todo_write;
