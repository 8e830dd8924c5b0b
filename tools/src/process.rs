//! Runs one shell command in a process group of its own, and leaves nothing of the group behind.
//!
//! The only place that starts processes. A process that leaves the group (`setsid`) is not found
//! here: ending it needs a parent that adopts it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until, timeout};
use toolwright_contract::Stop;

use crate::capture::Capture;

/// From asking a group to end until it is made to.
const GRACE: Duration = Duration::from_secs(1);
/// How long a killed process may take to go: longer only if the system holds on to it.
const KILLED: Duration = Duration::from_secs(2);
/// After the command's end its output is read on until so long nothing has come.
const IDLE: Duration = Duration::from_millis(100);
/// And at most so long, whatever still comes from what it has left running.
const DRAIN: Duration = Duration::from_secs(2);
/// Bytes read from the pipe at once.
const CHUNK: usize = 64 << 10;

/// How a command went.
pub(crate) struct Ended {
    pub(crate) how: How,
    /// Both streams, in the order in which they were written.
    pub(crate) output: Capture,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By itself, or by a signal of somebody else.
    Itself(ExitStatus),
    /// Its time was over; it was ended.
    TimedOut,
    /// It was told to stop; it was ended.
    Stopped,
    /// It had to end, and the system would not let it go.
    Stuck(i32),
}

/// Runs `program` with `arguments` in `folder` until it ends, its time is over or the stop is
/// told. Dropped, it kills the group.
///
/// # Errors
///
/// Why it could not be started.
pub(crate) async fn run(
    program: &str,
    arguments: &[&OsStr],
    folder: &Path,
    time: Duration,
    stop: &Stop,
) -> io::Result<Ended> {
    let until = Instant::now() + time;
    let (mut group, mut pipe) = spawn(program, arguments, folder)?;
    let mut output = Capture::default();
    let cut_short = tokio::select! {
        biased;
        ended = group.ended(&mut pipe, &mut output) => ended.map(|()| None)?,
        () = stop.told() => Some(How::Stopped),
        () = sleep_until(until) => Some(How::TimedOut),
    };
    let how = match cut_short {
        None => {
            drain(&mut pipe, &mut output).await;
            // What is left of the group is killed while its leader's number is still taken.
            group.signal(Signal::KILL);
            How::Itself(group.reap().await?)
        }
        Some(how) if group.end(&mut pipe, &mut output).await? => how,
        Some(_) => How::Stuck(group.leader.as_raw_nonzero().get()),
    };
    Ok(Ended { how, output })
}

/// Starts a process as the leader of a new group, both of its streams in one pipe.
#[expect(clippy::disallowed_methods, reason = "this is the module that processes belong to")]
fn spawn(
    program: &str,
    arguments: &[&OsStr],
    folder: &Path,
) -> io::Result<(Group, pipe::Receiver)> {
    let (reader, writer) = io::pipe()?;
    let child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        // Not `pre_exec`, which forks: that takes 40 ms in a large process.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    // The command is dropped here, and our ends of the pipe with it.
    let pid = child.id().and_then(|it| i32::try_from(it).ok()).and_then(Pid::from_raw);
    let leader = pid.ok_or_else(|| io::Error::other("the process has no number"))?;
    let group = Group { child, leader, reaped: false };
    Ok((group, pipe::Receiver::from_owned_fd(reader.into())?))
}

/// A process group that we have made. Dropped, it is killed.
struct Group {
    child: Child,
    leader: Pid,
    /// Then its number may belong to somebody else.
    reaped: bool,
}

impl Group {
    /// Waits for the leader to end, and reads its output meanwhile. Safe to drop.
    async fn ended(&mut self, pipe: &mut pipe::Receiver, output: &mut Capture) -> io::Result<()> {
        let mut open = true;
        let leader = leader_ended(self.leader, &mut self.child);
        tokio::pin!(leader);
        loop {
            tokio::select! {
                ended = &mut leader => return ended,
                more = read(pipe, output), if open => open = more,
            }
        }
    }

    /// Ends the group: first by asking, then by force. Whether its leader has gone.
    async fn end(&mut self, pipe: &mut pipe::Receiver, output: &mut Capture) -> io::Result<bool> {
        self.signal(Signal::TERM);
        // Whether or not it went when asked, what is left of the group is killed.
        drop(timeout(GRACE, self.ended(pipe, output)).await);
        self.signal(Signal::KILL);
        match timeout(KILLED, self.ended(pipe, output)).await {
            Ok(ended) => ended?,
            Err(_) => return Ok(false),
        }
        drain(pipe, output).await;
        self.reap().await?;
        Ok(true)
    }

    /// Sends a signal to all of the group; one that has nobody left needs none.
    fn signal(&self, signal: Signal) {
        if !self.reaped {
            kill_process_group(self.leader, signal).unwrap_or_default();
        }
    }

    async fn reap(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        self.reaped = true;
        Ok(status)
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

/// Reads what is there or comes next. Whether more may come. Safe to drop.
async fn read(pipe: &mut pipe::Receiver, output: &mut Capture) -> bool {
    if pipe.readable().await.is_err() {
        return false;
    }
    let mut chunk = [0; CHUNK];
    match pipe.try_read(&mut chunk) {
        Ok(0) => false,
        Ok(length) => {
            output.push(&chunk[..length]);
            true
        }
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}

/// Reads on after the end, but not for long: somebody may hold the pipe for ever.
async fn drain(pipe: &mut pipe::Receiver, output: &mut Capture) {
    let until = Instant::now() + DRAIN;
    while Instant::now() < until && timeout(IDLE, read(pipe, output)).await == Ok(true) {}
}
