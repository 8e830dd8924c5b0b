//! What every integration test needs: a scripted tool, a house to run it in, an oracle.
//!
//! Dropping a [`House`] unfinished fails the test; [`House::close`] asserts an empty house (no
//! task, overdue call, process, descriptor or temporary file is left, and nothing holds the
//! session) and a history that keeps every invariant.
#![allow(clippy::expect_used, reason = "in a test program a panic is the report")]

mod folder;
mod house;
mod on_start;
mod premises;
mod script;
mod scripted;
mod workload;

pub use folder::{Folder, processes};
pub use house::{House, asked, written};
pub use on_start::OnStart;
pub use premises::Premises;
pub use script::{Script, call, call_of, ids, step_aside, texts};
pub use scripted::{PIXEL, Scripted, busy};
pub use workload::{Before, Reply, Stopping, TOOLS, Workload};
