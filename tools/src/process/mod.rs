//! Runs one shell command, and leaves nothing of it behind.
//!
//! The only place that starts processes. With a [`Warden`], a command has a keeper that adopts and
//! ends all of it, also when this process is killed; without one it has a process group.

mod group;
#[cfg(target_os = "linux")]
mod kept;
#[cfg(target_os = "linux")]
mod warden;

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until, timeout};
use toolwright_contract::Stop;

use crate::capture::Capture;
use group::Group;
#[cfg(target_os = "linux")]
use kept::Kept;
#[cfg(target_os = "linux")]
pub use warden::Warden;

/// From asking a command to end until it is made to.
const GRACE: Duration = Duration::from_secs(1);
/// How long a killed process may take to go: longer only if the system holds on to it.
const KILLED: Duration = Duration::from_secs(2);
/// How long a keeper may take to say what has become of a command that it was to kill.
const KEEPER: Duration = Duration::from_secs(5);
/// After the command's end its output is read on until so long nothing has come.
const IDLE: Duration = Duration::from_millis(100);
/// And at most so long, whatever still comes from what it has left running.
const DRAIN: Duration = Duration::from_secs(2);
/// Bytes read from the pipe at once.
const CHUNK: usize = 64 << 10;

/// What is to be run, and where.
pub(crate) struct Asked<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) arguments: &'a [&'a OsStr],
    pub(crate) folder: &'a Path,
    /// How long it may take.
    pub(crate) time: Duration,
}

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
    /// Who watched over it was killed, and it with that.
    Lost,
}

/// What is left of a command that was killed.
enum Left {
    Nothing(ExitStatus),
    /// This process doesn't go.
    Stuck(i32),
}

/// How commands are run.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    #[cfg(target_os = "linux")]
    warden: Option<Warden>,
}

impl Processes {
    /// In process groups. What makes itself a session of its own (`setsid`) is not ended, and
    /// nothing is if this process is killed.
    #[must_use]
    pub fn in_groups() -> Self {
        Self::default()
    }

    /// With a warden: nothing is left behind.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn with(warden: Warden) -> Self {
        Self { warden: Some(warden) }
    }

    /// Runs a command until it ends, its time is over or the stop is told. Dropped, it kills the
    /// command.
    ///
    /// # Errors
    ///
    /// Why it could not be started.
    pub(crate) async fn run(&self, asked: &Asked<'_>, stop: &Stop) -> io::Result<Ended> {
        let until = Instant::now() + asked.time;
        let (reader, writer) = io::pipe()?;
        let mut running = self.start(asked, writer).await?;
        let mut pipe = pipe::Receiver::from_owned_fd(reader.into())?;
        let mut output = Capture::default();
        let how = running.see_through(&mut pipe, &mut output, until, stop).await;
        Ok(Ended { how, output })
    }

    #[cfg(target_os = "linux")]
    async fn start(&self, asked: &Asked<'_>, output: io::PipeWriter) -> io::Result<Running> {
        match &self.warden {
            Some(warden) => Kept::start(warden, asked, output).await.map(Running::Kept),
            None => Group::start(asked, output).map(Running::Group),
        }
    }

    #[cfg(not(target_os = "linux"))]
    async fn start(&self, asked: &Asked<'_>, output: io::PipeWriter) -> io::Result<Running> {
        Group::start(asked, output).map(Running::Group)
    }
}

/// A command that runs. Dropped, it is killed.
enum Running {
    Group(Group),
    #[cfg(target_os = "linux")]
    Kept(Kept),
}

impl Running {
    async fn see_through(
        &mut self,
        pipe: &mut pipe::Receiver,
        output: &mut Capture,
        until: Instant,
        stop: &Stop,
    ) -> How {
        let cut_short = tokio::select! {
            biased;
            ended = reading(pipe, output, self.ended()) => match ended {
                Ok(()) => None,
                Err(_) => return How::Lost,
            },
            () = stop.told() => Some(How::Stopped),
            () = sleep_until(until) => Some(How::TimedOut),
        };
        if cut_short.is_some() {
            self.ask_to_end().await;
            reading(pipe, output, self.grace()).await;
        } else {
            drain(pipe, output).await;
        }
        let left = reading(pipe, output, self.kill()).await;
        if cut_short.is_some() {
            drain(pipe, output).await;
        }
        match (left, cut_short) {
            (Ok(Left::Stuck(pid)), _) => How::Stuck(pid),
            (Ok(Left::Nothing(status)), None) => How::Itself(status),
            (Ok(Left::Nothing(_)), Some(how)) => how,
            (Err(_), _) => How::Lost,
        }
    }

    async fn ended(&mut self) -> io::Result<()> {
        match self {
            Self::Group(it) => it.ended().await,
            #[cfg(target_os = "linux")]
            Self::Kept(it) => it.ended().await,
        }
    }

    async fn ask_to_end(&mut self) {
        match self {
            Self::Group(it) => it.ask_to_end(),
            #[cfg(target_os = "linux")]
            Self::Kept(it) => it.ask_to_end().await,
        }
    }

    async fn grace(&mut self) {
        match self {
            Self::Group(it) => it.grace().await,
            #[cfg(target_os = "linux")]
            Self::Kept(it) => it.grace().await,
        }
    }

    async fn kill(&mut self) -> io::Result<Left> {
        match self {
            Self::Group(it) => it.kill().await,
            #[cfg(target_os = "linux")]
            Self::Kept(it) => it.kill().await,
        }
    }
}

/// Does something, and reads the output meanwhile: a full pipe would hold the command up.
async fn reading<T>(
    pipe: &mut pipe::Receiver,
    output: &mut Capture,
    work: impl Future<Output = T>,
) -> T {
    let mut open = true;
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            more = read(pipe, output), if open => open = more,
        }
    }
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
