//! The system calls for which no safe function exists.
#![expect(unsafe_code, reason = "a process with threads, or with other descriptors, may not do it")]

use std::io;

use rustix::process::Pid;

/// Who goes on after a fork.
pub(crate) enum Forked {
    /// The process that has forked, with its child.
    Parent(Pid),
    /// The child.
    Child,
}

/// Forks.
///
/// # Errors
///
/// Why the system didn't.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the child of a process with several threads may only call what is safe in a signal
    // handler. The warden and its keepers have one thread: they are started by `serve` in a
    // process of their own, and nothing in this crate starts another one.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => Ok(Forked::Child),
        _ => Pid::from_raw(pid.max(0)).map(Forked::Parent).ok_or_else(io::Error::last_os_error),
    }
}

/// Closes whatever this process was given beside its three streams: a command must not have it.
pub(crate) fn close_inherited() {
    const FIRST: libc::c_uint = 3;
    const LAST: libc::c_uint = libc::c_uint::MAX;
    // SAFETY: called first of all, before this process has opened anything, so that no owner of
    // one of these descriptors exists in it.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, FIRST, LAST, 0) };
    // A kernel before 5.9 has no such call: what the host passes on by mistake is passed on.
    debug_assert!(closed <= 0);
}
