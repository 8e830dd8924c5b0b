//! A keeper: starts one command, adopts what it leaves behind, and ends all of it.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitStatus, getpid, pidfd_open, set_child_subreaper, setsid,
};

use crate::tree::{self, End};
use crate::wire::{Report, Spec, Word};

/// Between two looks for children that have ended, where nothing else wakes.
const LOOK: Duration = Duration::from_millis(500);

/// Keeps the command that the host asks for on `control`, until nothing of it is left or the host
/// has gone.
pub(crate) fn keep(control: OwnedFd, output: OwnedFd) -> io::Result<()> {
    // A session of its own has no terminal, and no signal of a terminal reaches it.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    let mut control = UnixStream::from(control);
    let spec = Spec::read(&mut control)?;
    tell(&control, Report::Taken)?;
    let started = start(&spec, output);
    drop(spec);
    match started {
        Ok(command) => {
            tell(&control, Report::Started(command.as_raw_nonzero().get()))?;
            Keeper { control, command, ended: false }.stay()
        }
        Err(error) => tell(&control, Report::Failed(error.raw_os_error().unwrap_or_default())),
    }
}

/// Starts the command as the leader of a group, so that what it sends to its group stays there.
#[expect(clippy::disallowed_methods, reason = "this is the process that commands belong to")]
fn start(spec: &Spec, output: OwnedFd) -> io::Result<Pid> {
    let mut command = Command::new(&spec.program);
    command.args(&spec.arguments).current_dir(&spec.folder).process_group(0);
    for (name, value) in &spec.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let errors = output.try_clone()?;
    let child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::Error::other("the process has no number"))
}

fn tell(mut control: &UnixStream, report: Report) -> io::Result<()> {
    control.write_all(&report.bytes())
}

struct Keeper {
    control: UnixStream,
    command: Pid,
    ended: bool,
}

impl Keeper {
    fn stay(mut self) -> io::Result<()> {
        let handle = pidfd_open(self.command, PidfdFlags::empty()).ok();
        loop {
            let mut ended = None;
            let left = tree::reap(|pid, status| ended = ended.or(self.of_command(pid, status)));
            self.tell_end(ended)?;
            if !left {
                return tell(&self.control, Report::Gone);
            }
            let handle = handle.as_ref().filter(|_| !self.ended);
            if wait(&self.control, handle)? && self.heed()? {
                return Ok(());
            }
        }
    }

    /// Does what the host says. Whether it is over.
    fn heed(&mut self) -> io::Result<bool> {
        let mut word = [0];
        if self.control.read(&mut word)? == 0 {
            // The host has gone, and nobody wants to know.
            tree::kill(|_, _| {});
            return Ok(true);
        }
        match Word::of(word[0]) {
            Some(Word::AskToEnd) => {
                tree::signal(Signal::TERM);
                // What is stopped hears it when it goes on.
                tree::signal(Signal::CONT);
                Ok(false)
            }
            Some(Word::Kill) | None => self.kill(),
        }
    }

    fn kill(&mut self) -> io::Result<bool> {
        let mut ended = None;
        let end = tree::kill(|pid, status| ended = ended.or(self.of_command(pid, status)));
        self.tell_end(ended)?;
        match end {
            End::Gone => tell(&self.control, Report::Gone).map(|()| true),
            End::Stuck(pid) => {
                tell(&self.control, Report::Stuck(pid.as_raw_nonzero().get())).map(|()| false)
            }
        }
    }

    /// The wait status, if it is that of the command itself.
    fn of_command(&self, pid: Pid, status: WaitStatus) -> Option<i32> {
        // Its number may come again, once it is reaped.
        (pid == self.command && !self.ended).then(|| status.as_raw())
    }

    fn tell_end(&mut self, status: Option<i32>) -> io::Result<()> {
        let Some(status) = status else { return Ok(()) };
        self.ended = true;
        tell(&self.control, Report::Ended(status))
    }
}

/// Waits for the host or for the command's end, but not for long. Whether the host has said
/// something or has gone.
fn wait(control: &UnixStream, command: Option<&OwnedFd>) -> io::Result<bool> {
    let mut polled = vec![PollFd::new(control, PollFlags::IN)];
    polled.extend(command.map(|it| PollFd::from_borrowed_fd(it.as_fd(), PollFlags::IN)));
    let look = Timespec::try_from(LOOK).map_err(io::Error::other)?;
    match poll(&mut polled, Some(&look)) {
        Ok(_) => Ok(!polled[0].revents().is_empty()),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
