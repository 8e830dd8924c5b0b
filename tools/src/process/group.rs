//! A command in a process group of its own: what can be had without a warden.
//!
//! A process that leaves the group (`setsid`) is not found here, and nobody ends the group if this
//! process is killed.

use std::io;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::{Asked, GRACE, KILLED, Left};

/// A process group that we have made. Dropped, it is killed.
pub(super) struct Group {
    child: Child,
    leader: Pid,
    /// Then its number may belong to somebody else.
    reaped: bool,
}

impl Group {
    /// Starts a process as the leader of a new group, both of its streams in one pipe.
    #[expect(clippy::disallowed_methods, reason = "this is the module that processes belong to")]
    pub(super) fn start(asked: &Asked<'_>, output: io::PipeWriter) -> io::Result<Self> {
        let child = Command::new(asked.program)
            .args(asked.arguments)
            .current_dir(asked.folder)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            // Not `pre_exec`, which forks: that takes 40 ms in a large process.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        // The command is dropped here, and our ends of the pipe with it.
        let pid = child.id().and_then(|it| i32::try_from(it).ok()).and_then(Pid::from_raw);
        let leader = pid.ok_or_else(|| io::Error::other("the process has no number"))?;
        Ok(Self { child, leader, reaped: false })
    }

    /// Waits for the leader to end. Safe to drop.
    pub(super) async fn ended(&mut self) -> io::Result<()> {
        leader_ended(self.leader, &mut self.child).await
    }

    /// Asks all of the group to end.
    pub(super) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills all of the group while its leader's number is still taken, and reaps the leader.
    pub(super) async fn kill(&mut self) -> io::Result<Left> {
        self.signal(Signal::KILL);
        match timeout(KILLED, self.ended()).await {
            Ok(ended) => ended?,
            Err(_) => return Ok(Left::Stuck(self.leader.as_raw_nonzero().get())),
        }
        let status = self.child.wait().await?;
        self.reaped = true;
        Ok(Left::Nothing(status))
    }

    /// Sends a signal to all of the group; one that has nobody left needs none.
    fn signal(&self, signal: Signal) {
        if !self.reaped {
            kill_process_group(self.leader, signal).unwrap_or_default();
        }
    }

    /// Waits until the leader has ended by itself or the time after which it is made to is over.
    pub(super) async fn grace(&mut self) {
        // Whether or not it went when asked, what is left of the group is killed.
        drop(timeout(GRACE, self.ended()).await);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Waits until a process has ended, and leaves it unreaped, so that its number stays taken.
#[cfg(target_os = "linux")]
#[expect(deprecated, reason = "unsound with a wrong `AsRawFd` only; that of `OwnedFd` is right")]
async fn leader_ended(leader: Pid, child: &mut Child) -> io::Result<()> {
    use rustix::process::{PidfdFlags, pidfd_open};
    use tokio::io::{Interest, unix::AsyncFd};
    let Ok(handle) = pidfd_open(leader, PidfdFlags::empty()) else {
        // An old kernel, or a sandbox: then as on other systems.
        return child.wait().await.map(drop);
    };
    let handle = AsyncFd::with_interest(handle, Interest::READABLE)?;
    handle.readable().await.map(drop)
}

/// Waits until a process has ended. It is reaped: for the moment until its group is killed, the
/// group keeps its number only if somebody is left in it.
#[cfg(not(target_os = "linux"))]
async fn leader_ended(_: Pid, child: &mut Child) -> io::Result<()> {
    child.wait().await.map(drop)
}
