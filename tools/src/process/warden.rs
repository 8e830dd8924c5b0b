//! The host's side of the warden: starts it when a command wants it, and hands commands over.

use std::ffi::OsString;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::process::{Child, Command};
use toolwright_warden::wire::HANDOVER;

/// Between two tries to hand a command to a warden that has much to do.
const AGAIN: Duration = Duration::from_millis(1);

/// The warden of a set of tools: one process, which is started when the first command is, and ends
/// when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Warden(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    program: PathBuf,
    arguments: Vec<OsString>,
    link: Mutex<Option<Arc<Link>>>,
}

/// A warden that runs, for as long as the socket is open.
#[derive(Debug)]
pub(super) struct Link {
    socket: UnixStream,
    /// Kept, so that it is reaped.
    _process: Child,
}

impl Warden {
    /// A warden that is started as this program, which must call `toolwright_warden::serve`.
    #[must_use]
    pub fn new(program: PathBuf, arguments: impl IntoIterator<Item = OsString>) -> Self {
        let arguments = arguments.into_iter().collect();
        Self(Arc::new(Inner { program, arguments, link: Mutex::default() }))
    }

    /// Hands the ends of a command over, and gives the warden that has them.
    pub(super) async fn hand_over(
        &self,
        control: &impl AsFd,
        output: &impl AsFd,
    ) -> io::Result<Arc<Link>> {
        let link = self.link()?;
        match link.send(control, output).await {
            Ok(()) => Ok(link),
            Err(error) => {
                self.forget(&link);
                Err(error)
            }
        }
    }

    fn link(&self) -> io::Result<Arc<Link>> {
        let mut link = self.lock();
        if let Some(link) = &*link {
            return Ok(link.clone());
        }
        let started = Arc::new(Link::start(&self.0)?);
        Ok(link.insert(started).clone())
    }

    /// Starts another warden for the next command: this one doesn't answer.
    pub(super) fn forget(&self, dead: &Arc<Link>) {
        let mut link = self.lock();
        if link.as_ref().is_some_and(|it| Arc::ptr_eq(it, dead)) {
            *link = None;
        }
    }

    /// A poisoned lock is taken all the same: every change is one step.
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Link>>> {
        self.0.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    #[expect(clippy::disallowed_methods, reason = "this is the module that processes belong to")]
    fn start(how: &Inner) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let process = Command::new(&how.program)
            .args(&how.arguments)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { socket, _process: process })
    }

    async fn send(&self, control: &impl AsFd, output: &impl AsFd) -> io::Result<()> {
        loop {
            match self.try_send(control, output) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    tokio::time::sleep(AGAIN).await;
                }
                sent => return sent,
            }
        }
    }

    fn try_send(&self, control: &impl AsFd, output: &impl AsFd) -> io::Result<()> {
        let ends = [control.as_fd(), output.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut handed = SendAncillaryBuffer::new(&mut space);
        if !handed.push(SendAncillaryMessage::ScmRights(&ends)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let word = [IoSlice::new(&[HANDOVER])];
        // A warden that has died is an error here, and no signal.
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        sendmsg(&self.socket, &word, &mut handed, flags)?;
        Ok(())
    }
}
