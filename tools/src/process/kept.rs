//! A command with a keeper of the warden: nothing of it is left behind, whatever it does.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::time::timeout;
use toolwright_warden::wire::{REPORT, Report, Spec, Word};

use super::warden::Warden;
use super::{Asked, GRACE, KEEPER, Left};

/// Whether somebody at the other end has died.
fn is_broken(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// A command and the control socket of its keeper. Dropped, the keeper kills all of it.
pub(super) struct Kept {
    control: UnixStream,
    /// A report as far as it has come.
    part: Vec<u8>,
    status: Option<ExitStatus>,
    gone: bool,
}

impl Kept {
    /// Starts a command.
    pub(super) async fn start(
        warden: &Warden,
        asked: &Asked<'_>,
        output: io::PipeWriter,
    ) -> io::Result<Self> {
        let spec = Spec {
            program: asked.program.into(),
            arguments: asked.arguments.iter().map(Into::into).collect(),
            folder: asked.folder.to_owned(),
            variables: Vec::new(),
        };
        let spec = spec.encode()?;
        // A warden that dies takes with it what it was handed and had not passed on: nothing has
        // been started then, and the next one may.
        let mut kept = match Self::hand_over(warden, &spec, &output).await {
            Err(error) if is_broken(&error) => Self::hand_over(warden, &spec, &output).await?,
            handed => handed?,
        };
        drop(output);
        match kept.report().await? {
            Report::Started(_) => Ok(kept),
            Report::Failed(errno) => Err(io::Error::from_raw_os_error(errno)),
            Report::Taken | Report::Ended(_) | Report::Gone | Report::Stuck(_) => {
                Err(io::ErrorKind::InvalidData.into())
            }
        }
    }

    /// Hands a command over, until its keeper has it.
    async fn hand_over(warden: &Warden, spec: &[u8], output: &io::PipeWriter) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let link = warden.hand_over(&theirs, output).await?;
        drop(theirs);
        ours.set_nonblocking(true)?;
        let control = UnixStream::from_std(ours)?;
        let mut kept = Self { control, part: Vec::new(), status: None, gone: false };
        let taken = async {
            kept.control.write_all(spec).await?;
            kept.report().await
        };
        match taken.await {
            Ok(Report::Taken) => Ok(kept),
            Ok(_) => Err(io::ErrorKind::InvalidData.into()),
            Err(error) => {
                warden.forget(&link);
                Err(error)
            }
        }
    }

    /// The next report. Safe to drop.
    async fn report(&mut self) -> io::Result<Report> {
        loop {
            let mut rest = [0; REPORT];
            let missing = REPORT - self.part.len();
            self.control.readable().await?;
            match self.control.try_read(&mut rest[..missing]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.part.extend(&rest[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error),
            }
            if let Ok(whole) = <[u8; REPORT]>::try_from(self.part.as_slice()) {
                self.part.clear();
                return Report::of(whole).ok_or_else(|| io::ErrorKind::InvalidData.into());
            }
        }
    }

    /// Waits for the command's own process to end. Safe to drop.
    pub(super) async fn ended(&mut self) -> io::Result<()> {
        while self.status.is_none() {
            let report = self.report().await?;
            self.take(report);
        }
        Ok(())
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Ended(status) => self.status = Some(ExitStatus::from_raw(status)),
            Report::Gone => self.gone = true,
            Report::Taken | Report::Started(_) | Report::Failed(_) | Report::Stuck(_) => {}
        }
    }

    /// Asks all of the command to end. A keeper that has gone needs no word.
    pub(super) async fn ask_to_end(&mut self) {
        self.control.write_all(&[Word::AskToEnd.byte()]).await.unwrap_or_default();
    }

    /// Waits until nothing of it is left by itself or the time after which it is made to is over.
    pub(super) async fn grace(&mut self) {
        let all_gone = async {
            while !self.gone {
                match self.report().await {
                    Ok(report) => self.take(report),
                    Err(_) => break,
                }
            }
        };
        drop(timeout(GRACE, all_gone).await);
    }

    /// Kills what is left of it.
    pub(super) async fn kill(&mut self) -> io::Result<Left> {
        let mut stuck = None;
        if !self.gone {
            // A keeper that has just gone by itself has said so.
            self.control.write_all(&[Word::Kill.byte()]).await.unwrap_or_default();
            let end = async {
                while !self.gone && stuck.is_none() {
                    match self.report().await? {
                        Report::Stuck(pid) => stuck = Some(pid),
                        report @ (Report::Taken
                        | Report::Started(_)
                        | Report::Failed(_)
                        | Report::Ended(_)
                        | Report::Gone) => {
                            self.take(report);
                        }
                    }
                }
                io::Result::Ok(())
            };
            timeout(KEEPER, end).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        }
        match (stuck, self.status) {
            (Some(pid), _) => Ok(Left::Stuck(pid)),
            (None, Some(status)) => Ok(Left::Nothing(status)),
            (None, None) => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
