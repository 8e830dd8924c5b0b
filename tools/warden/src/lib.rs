//! The warden: a small process that commands are children of, so that none is left behind.
//!
//! A process that makes itself a session of its own leaves every group that it could be ended
//! with, and on its parent's death it goes to the process that has declared itself the *subreaper*
//! of its tree. An embedder's process must not be that (it would reap what isn't ours), and it
//! can't outlive its own death. So there is a process between:
//!
//! ```text
//! host ── socket ──▶ warden         one for all commands; forks, and does nothing else
//!   │                  └─ keeper    one for each command; adopts what the command leaves behind
//!   └── control ─────────▶ │
//!                          └─ command
//! ```
//!
//! The warden is small and has one thread, so that a fork costs little and is safe. A keeper ends
//! all below it when it is told so, and when the host has gone, which it sees by its closed
//! control socket. [`wire`] has what is said.

#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod warden;
pub mod wire;

use std::process::ExitCode;

/// Serves the host at the other end of standard input, until that is closed. Call it first of all
/// in `main`, before anything has started a thread or opened a file: all other descriptors are
/// closed.
#[cfg(target_os = "linux")]
#[must_use]
pub fn serve() -> ExitCode {
    match warden::serve() {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody is there to be told more: the host sees a closed socket.
        Err(_) => ExitCode::FAILURE,
    }
}

/// There is no warden for this system: a host runs commands in process groups of their own.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn serve() -> ExitCode {
    ExitCode::FAILURE
}
