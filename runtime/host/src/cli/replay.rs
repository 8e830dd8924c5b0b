//! `toolwright replay`: reads recordings, replays one after the other, and says how they went.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use same_file::is_same_file;
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use toolwright_contract::wording;
use toolwright_wire::{Recording, read_recording};

use super::args::ReplayArgs;
use super::differences;
use super::files::{self, Found};
use super::summary::{self, Session};
use super::{INTERRUPTED, LONGEST_PROBLEM, Screen, USAGE, VIOLATED};
use crate::replay::{
    Clock, Compared, Figures, HistoryLog, Live, Options, ReplayError, Replayed, replay, replay_live,
};

/// Above so many bytes of recordings, a progress bar is worth its line: a second's work.
const LONG_WORK: u64 = 32 << 20;

/// Runs the command and gives its exit status.
///
/// # Errors
///
/// An error of `screen`.
pub(super) fn run(
    args: ReplayArgs,
    screen: &mut Screen<'_>,
    stop: &CancellationToken,
) -> io::Result<u8> {
    let (files, failed) = files::find(&args.paths);
    let live = match args.live(screen.built_in_tools()) {
        Ok(Some(_)) if files.len() != 1 => Err("a live replay takes one recording"),
        live => live,
    };
    let live = match live {
        Ok(live) => live,
        Err(error) => {
            writeln!(screen.err, "error: {error}")?;
            return Ok(USAGE);
        }
    };
    let log = match &args.history {
        None => HistoryLog::default(),
        Some(path) => match create(path, &files) {
            Ok(file) => HistoryLog::written_to(BufWriter::new(file)),
            Err(error) => {
                writeln!(screen.err, "error: cannot write {}: {error}", files::shown(path))?;
                return Ok(USAGE);
            }
        },
    };
    let options = args.options();
    let bar = progress(&files, &options, screen.draws_progress);
    let shows_turns = args.verbose || (files.len() == 1 && !args.json);
    let sessions = Vec::new();
    let mut run =
        Run { args, live, options, screen, stop, bar, shows_turns, sessions, broke: false };
    for line in failed {
        run.tell(format_args!("{line}"))?;
    }
    let mut log = log;
    let mut read = 0;
    for file in &files {
        if stop.is_cancelled() {
            break;
        }
        log = run.file(file, read, log)?;
        read += file.bytes;
        run.bar.set_position(read);
    }
    run.finish(log)
}

/// A run of the command.
struct Run<'a, 'screen> {
    args: ReplayArgs,
    live: Option<Live>,
    options: Options,
    screen: &'a mut Screen<'screen>,
    stop: &'a CancellationToken,
    bar: ProgressBar,
    shows_turns: bool,
    sessions: Vec<Session>,
    /// Whether a replay broke down, which is worse than any violation.
    broke: bool,
}

/// A session in the report for programs.
#[derive(Serialize)]
struct SessionLine<'a> {
    file: &'a str,
    format: String,
    #[serde(flatten)]
    figures: &'a Figures,
    problems: usize,
    interrupted: bool,
    /// Calls that really ran, if the replay was live.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<&'a [Compared]>,
}

/// The sums in the report for programs.
#[derive(Serialize)]
struct TotalLine<'a> {
    total: bool,
    files: usize,
    #[serde(flatten)]
    figures: &'a Figures,
    problems: usize,
    interrupted: bool,
}

impl Run<'_, '_> {
    /// Reads and replays one file. `read` is how many bytes of files have been replayed.
    fn file(&mut self, file: &Found, read: u64, log: HistoryLog) -> io::Result<HistoryLog> {
        let name = files::shown(&file.path);
        self.bar.set_message(summary::short_name(&name, 40));
        let recording = match decode(&file.path, self.stop) {
            Ok(Some(recording)) => recording,
            Ok(None) => return Ok(log),
            Err(error) if file.was_named => {
                self.tell(format_args!("error: {name}: {error}"))?;
                return Ok(log);
            }
            Err(error) => {
                self.tell(format_args!("{name}: skipped: {error}"))?;
                return Ok(log);
            }
        };
        for problem in &recording.problems {
            // It may quote the recording, which must not steer the terminal.
            let what = wording::quote(&problem.kind.to_string(), LONGEST_PROBLEM);
            self.tell(format_args!("{name}:{}: {what}", problem.line))?;
        }
        let bar = self.bar.clone();
        let bytes = file.bytes as f64;
        let watcher = Arc::new(move |part: f64| bar.set_position(read + (bytes * part) as u64));
        let replayed = match &self.live {
            Some(live) => replay_live(recording, live, self.options, log, self.stop, watcher),
            None => replay(recording, self.options, log, self.stop, watcher),
        };
        match replayed {
            Ok((replayed, log)) => {
                self.show(file.path.display().to_string(), replayed)?;
                Ok(log)
            }
            Err(error) => {
                // A live replay that can't begin has been asked for the wrong thing.
                self.broke |= !matches!(error, ReplayError::Live(_));
                self.tell(format_args!("error: {name}: {error}"))?;
                // What was being written is lost with the replay that wrote it.
                Ok(HistoryLog::default())
            }
        }
    }

    fn show(&mut self, name: String, replayed: Replayed) -> io::Result<()> {
        let session = Session::new(name, &replayed);
        let is_live = self.live.is_some();
        let out = &mut *self.screen.out;
        let (columns, verbose, shows_turns) =
            (self.screen.columns, self.args.verbose, self.shows_turns);
        self.bar.suspend(|| {
            if self.args.json {
                let differences = is_live.then_some(&*replayed.compared);
                return json_line(out, &session_line(&session, differences));
            }
            if shows_turns {
                summary::turns(out, &session, &replayed, columns, verbose)?;
                summary::figures(out, &session.figures, session.problems, &self.options)?;
            }
            if is_live {
                differences::table(out, &replayed.compared)?;
            }
            Ok(())
        })?;
        self.sessions.push(session);
        Ok(())
    }

    /// Tells something beside the report.
    fn tell(&mut self, what: std::fmt::Arguments<'_>) -> io::Result<()> {
        let err = &mut *self.screen.err;
        self.bar.suspend(|| writeln!(err, "{what}"))
    }

    fn finish(self, log: HistoryLog) -> io::Result<u8> {
        self.bar.finish_and_clear();
        let Self { args, live, options, screen, stop, sessions, shows_turns, broke, .. } = self;
        let total = summary::total(&sessions);
        let problems = sessions.iter().map(|it| it.problems).sum();
        let interrupted = stop.is_cancelled();
        if args.json {
            let (figures, files) = (&total, sessions.len());
            let line = TotalLine { total: true, files, figures, problems, interrupted };
            json_line(screen.out, &line)?;
        } else if sessions.len() > 1 || (!shows_turns && !sessions.is_empty()) {
            summary::table(screen.out, &sessions, &total, screen.columns)?;
            summary::figures(screen.out, &total, problems, &options)?;
        }
        if interrupted && !args.json {
            writeln!(screen.out, "Interrupted: this is what was replayed until then.")?;
        }
        if let Err(error) = log.close() {
            writeln!(screen.err, "error: the history is not complete: {error}")?;
            return Ok(USAGE);
        }
        Ok(match () {
            () if broke || !total.violations.is_empty() => VIOLATED,
            () if interrupted => INTERRUPTED,
            // It has been told why.
            () if sessions.is_empty() && live.is_some() => USAGE,
            () if sessions.is_empty() => {
                writeln!(screen.err, "error: nothing to replay: no recording could be read")?;
                USAGE
            }
            () => 0,
        })
    }
}

fn session_line<'a>(session: &'a Session, differences: Option<&'a [Compared]>) -> SessionLine<'a> {
    SessionLine {
        file: &session.file,
        format: session.format.to_string(),
        figures: &session.figures,
        problems: session.problems,
        interrupted: session.interrupted,
        differences,
    }
}

fn json_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()
}

/// Creates the file of the history, which must not take the place of what is to be read.
fn create(path: &Path, files: &[Found]) -> io::Result<File> {
    let is_same = |it: &Found| it.path.is_file() && is_same_file(&it.path, path).is_ok_and(|it| it);
    if path.is_file() && files.iter().any(is_same) {
        return Err(io::Error::other("it is one of the recordings: name another file"));
    }
    File::create(path)
}

/// Reads a recording; `None` if `stop` was cancelled before.
///
/// What is no file may keep its reader waiting for ever, or never end. A thread reads it, which an
/// interrupt leaves behind.
fn decode(path: &Path, stop: &CancellationToken) -> io::Result<Option<Recording>> {
    /// How often an interrupt is looked for: sooner than a person notices.
    const LOOK: Duration = Duration::from_millis(50);
    let read = |path: &Path| read_recording(BufReader::with_capacity(1 << 16, File::open(path)?));
    if path.is_file() {
        return read(path).map(Some);
    }
    let (done, is_done) = mpsc::sync_channel(1);
    let path = path.to_owned();
    // An error of the channel says that nobody waits any longer.
    let reader = move || done.send(read(&path)).unwrap_or_default();
    thread::Builder::new().name("pipe".to_owned()).spawn(reader)?;
    loop {
        match is_done.recv_timeout(LOOK) {
            Ok(recording) => return recording.map(Some),
            Err(RecvTimeoutError::Timeout) if stop.is_cancelled() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("its reader broke down: please report it"));
            }
        }
    }
}

/// A bar over the bytes of the files, for work that takes a while.
fn progress(files: &[Found], options: &Options, draws: bool) -> ProgressBar {
    let bytes = files.iter().map(|it| it.bytes).sum();
    let is_long = files.len() > 100 || bytes > LONG_WORK || options.clock != Clock::Virtual;
    if !draws || !is_long {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{elapsed} {wide_bar} {percent:>3} %  {msg}");
    // The template is a constant; a bar of the default style is a bar too.
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
