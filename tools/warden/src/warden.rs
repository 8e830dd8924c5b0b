//! The warden: forks a keeper for each command, and ends what a keeper that was killed left.

use std::collections::HashMap;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open, set_child_subreaper, setsid};

use crate::sys::{Forked, close_inherited, fork};
use crate::{keeper, tree};

/// How long keepers may take to end their commands, once the host has gone.
const LAST: Duration = Duration::from_secs(3);

/// Between two looks at them.
const LOOK: Duration = Duration::from_millis(10);

/// Serves the host until it has gone.
pub(crate) fn serve() -> io::Result<()> {
    close_inherited();
    let host = std::io::stdin();
    let host = host.as_fd();
    // It may lead a session already, as a service.
    setsid().map(drop).unwrap_or_default();
    set_child_subreaper(Some(getpid()))?;
    let mut keepers = Keepers::new();
    while let Some(wanted) = next(host, &mut keepers)? {
        match fork()? {
            Forked::Child => {
                // The host's socket is the warden's alone.
                let nothing = std::fs::File::open("/dev/null")?;
                rustix::stdio::dup2_stdin(nothing)?;
                return keeper::keep(wanted.control, wanted.output);
            }
            Forked::Parent(keeper) => {
                keepers.insert(keeper, pidfd_open(keeper, PidfdFlags::empty()).ok());
            }
        }
    }
    end(&mut keepers);
    Ok(())
}

/// The keepers, each with a handle that says when it has ended, where the system has those.
type Keepers = HashMap<Pid, Option<OwnedFd>>;

/// What the host hands over for a command.
struct Wanted {
    control: OwnedFd,
    output: OwnedFd,
}

/// Waits for the host to want a keeper, and tends to those that are there. `None` once it has gone.
fn next(host: BorrowedFd<'_>, keepers: &mut Keepers) -> io::Result<Option<Wanted>> {
    let mut orphans = false;
    let blind = keepers.values().any(Option::is_none);
    loop {
        let mut polled = vec![PollFd::from_borrowed_fd(host, PollFlags::IN)];
        polled.extend(keepers.values().flatten().map(|it| PollFd::new(it, PollFlags::IN)));
        let look = Timespec::try_from(LOOK).map_err(io::Error::other)?;
        match poll(&mut polled, (orphans || blind).then_some(&look)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let said = !polled[0].revents().is_empty();
        let ended = polled[1..].iter().any(|it| !it.revents().is_empty());
        drop(polled);
        if ended || orphans || blind {
            orphans = tend(keepers);
        }
        if said {
            return receive(host);
        }
    }
}

/// Reaps keepers that have ended. One that was killed has left its command to us: there is nobody
/// else to end it. Whether anything of such a command may be left.
fn tend(keepers: &mut Keepers) -> bool {
    let mut killed = false;
    tree::reap(|pid, status| {
        killed |= keepers.remove(&pid).is_none() || status.exit_status() != Some(0);
    });
    // The rule is a keeper that has ended by itself and has left nothing.
    killed && tree::kill_children(|it| !keepers.contains_key(&it))
}

fn receive(host: BorrowedFd<'_>) -> io::Result<Option<Wanted>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut handed = RecvAncillaryBuffer::new(&mut space);
    let mut word = [0];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let read = recvmsg(host, &mut [IoSliceMut::new(&mut word)], &mut handed, flags)?;
    if read.bytes == 0 {
        return Ok(None);
    }
    let mut ends: Vec<OwnedFd> = Vec::new();
    for message in handed.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            ends.extend(rights);
        }
    }
    let mut ends = ends.into_iter();
    match (ends.next(), ends.next()) {
        (Some(control), Some(output)) => Ok(Some(Wanted { control, output })),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Waits for the keepers, who have seen that the host has gone, and ends what is left then.
fn end(keepers: &mut Keepers) {
    let until = Instant::now() + LAST;
    while tree::reap(|pid, _| drop(keepers.remove(&pid))) && Instant::now() < until {
        tree::kill_children(|it| !keepers.contains_key(&it));
        std::thread::sleep(LOOK);
    }
    tree::kill(|_, _| {});
}
