//! The processes below this one: who they are, and how they are ended.

use std::fs;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process, pidfd_open,
    pidfd_send_signal, wait,
};

/// How long what was killed may take to go: longer only if the system holds on to it.
const KILLED: Duration = Duration::from_secs(2);

/// Between two looks at what was killed.
const LOOK: Duration = Duration::from_millis(2);

/// How the end of the processes below this one came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Gone,
    Stuck(Pid),
}

/// Reaps every child that has ended, and tells of each. Whether there are children left.
pub(crate) fn reap(mut ended: impl FnMut(Pid, WaitStatus)) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => ended(pid, status),
            Ok(None) => return true,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Sends a signal to all below this process.
pub(crate) fn signal(signal: Signal) {
    for below in descendants(getpid()) {
        below.signal(signal);
    }
}

/// Kills all below this process until nothing is left. What a killed process leaves behind becomes
/// a child of this one, so that it can't get away.
pub(crate) fn kill(mut ended: impl FnMut(Pid, WaitStatus)) -> End {
    let until = Instant::now() + KILLED;
    loop {
        if !reap(&mut ended) {
            return End::Gone;
        }
        let below = descendants(getpid());
        // Stopped first: what can't run makes no further process.
        below.iter().for_each(|it| it.signal(Signal::STOP));
        below.iter().for_each(|it| it.signal(Signal::KILL));
        if let Some(first) = below.first()
            && Instant::now() > until
        {
            return End::Stuck(first.pid);
        }
        std::thread::sleep(LOOK);
    }
}

/// Kills those children of this process that are meant, with all below them. Whether there were
/// any: what they leave behind comes here then.
pub(crate) fn kill_children(is_meant: impl Fn(Pid) -> bool) -> bool {
    let me = getpid();
    let all = children_of_all();
    let meant: Vec<_> =
        all.iter().filter(|(pid, parent)| *parent == me && is_meant(*pid)).collect();
    for &&(pid, parent) in &meant {
        let below = descendants_in(&all, pid);
        let tree = std::iter::once(Below { pid, parent }).chain(below);
        tree.for_each(|it| it.signal(Signal::KILL));
    }
    !meant.is_empty()
}

/// A process that was below this one when it was looked at.
struct Below {
    pid: Pid,
    parent: Pid,
}

impl Below {
    /// Sends it a signal, unless its number belongs to another process by now.
    fn signal(&self, signal: Signal) {
        let handle = pidfd_open(self.pid, PidfdFlags::empty());
        // The handle stands for who has the number now. If that is the child of the same parent,
        // or of this process, to which orphans come, it is below us.
        let parent = parent_of(self.pid);
        if parent == Some(self.parent) || parent == Some(getpid()) {
            let sent = match handle {
                Ok(handle) => pidfd_send_signal(handle, signal),
                // An old kernel, or a sandbox: then by its number, which was right a moment ago.
                Err(Errno::NOSYS | Errno::PERM) => kill_process(self.pid, signal),
                Err(gone) => Err(gone),
            };
            // One that has just ended needs none.
            sent.unwrap_or_default();
        }
    }
}

/// All below a process, from above.
fn descendants(of: Pid) -> Vec<Below> {
    descendants_in(&children_of_all(), of)
}

fn descendants_in(all: &[(Pid, Pid)], of: Pid) -> Vec<Below> {
    let mut found = Vec::new();
    let mut parents = vec![of];
    while let Some(parent) = parents.pop() {
        for &(pid, _) in all.iter().filter(|(_, its_parent)| *its_parent == parent) {
            found.push(Below { pid, parent });
            parents.push(pid);
        }
    }
    found
}

/// Every process of the system, with its parent.
fn children_of_all() -> Vec<(Pid, Pid)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|it| it.file_name().to_str()?.parse().ok());
    numbers.filter_map(Pid::from_raw).filter_map(|it| Some((it, parent_of(it)?))).collect()
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name of a process stands in brackets and may hold anything, brackets too.
    let after_name = &stat[stat.iter().rposition(|it| *it == b')')? + 1..];
    let parent = after_name.split(|it| *it == b' ').filter(|it| !it.is_empty()).nth(1)?;
    Pid::from_raw(std::str::from_utf8(parent).ok()?.parse().ok()?)
}
