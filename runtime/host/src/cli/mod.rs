//! The command line, as a function that a test can call.

mod args;
mod differences;
mod files;
mod interrupt;
mod journal;
mod journal_args;
mod permissions;
mod permissions_args;
mod replay;
mod run;
mod run_args;
mod run_settings;
mod summary;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser as _;
use tokio_util::sync::CancellationToken;

use args::{Cli, Command};

#[cfg(unix)]
use crate::Processes;
#[cfg(target_os = "linux")]
use crate::Warden;
use crate::{AnyTool, built_in_tools_with};

/// The argument with which this program starts itself as its warden.
#[cfg(target_os = "linux")]
const WARDEN: &str = "warden";

/// The status of a run in which an invariant was violated.
const VIOLATED: u8 = 1;

/// The status of a run that had nothing to do, or was told nonsense.
const USAGE: u8 = 2;

/// The status of a run that the user ended: 128 and the number of the interrupt.
const INTERRUPTED: u8 = 130;

/// The status of a run that was told to end: 128 and the number of the signal.
const TERMINATED: u8 = 143;

/// Longest text of a problem, in characters.
const LONGEST_PROBLEM: usize = 500;

/// Columns of a line where the output is no terminal.
const COLUMNS: usize = 100;

/// Where a run says things, and what it may assume of the place.
pub struct Screen<'a> {
    /// What the user asked for.
    pub out: &'a mut dyn Write,
    /// What the user should know beside it.
    pub err: &'a mut dyn Write,
    /// Columns of a line.
    pub columns: usize,
    /// Whether a progress bar may be drawn on the standard error output.
    pub draws_progress: bool,
    /// How commands are run.
    #[cfg(unix)]
    pub processes: Processes,
}

impl Screen<'_> {
    fn built_in_tools(&self) -> Vec<AnyTool> {
        built_in_tools_with(
            #[cfg(feature = "files")]
            &crate::FileOptions::default(),
            #[cfg(unix)]
            &self.processes,
        )
    }
}

/// This program is its own warden, where there is one.
#[cfg(unix)]
fn processes() -> Processes {
    #[cfg(target_os = "linux")]
    if let Ok(program) = std::env::current_exe() {
        return Processes::with(Warden::new(program, [WARDEN.into()]));
    }
    Processes::in_groups()
}

/// Runs the program for this process: its arguments, its outputs, its interrupts.
pub fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|it| it == WARDEN) {
        return crate::serve_as_warden();
    }
    let stop = interrupt::listen();
    let terminal = console::Term::stdout();
    let columns = terminal.size_checked().map_or(COLUMNS, |(_, columns)| usize::from(columns));
    let mut screen = Screen {
        out: &mut anstream::stdout(),
        err: &mut anstream::stderr(),
        columns,
        draws_progress: console::Term::stderr().is_term(),
        #[cfg(unix)]
        processes: processes(),
    };
    ExitCode::from(run(std::env::args_os(), &mut screen, &stop))
}

/// Runs the program, and gives its exit status: 0; 1 if an invariant was violated; 2 if the
/// arguments are wrong or nothing could be read; 130 if `stop` was cancelled before the end;
/// 143 if `run` was told to end.
/// If the reader of `out` goes away, it ends with 0 and says nothing.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    screen: &mut Screen<'_>,
    stop: &CancellationToken,
) -> u8 {
    let done = match Cli::try_parse_from(args) {
        Ok(Cli { command: Command::Replay(args) }) => replay::run(args, screen, stop),
        Ok(Cli { command: Command::Journal(args) }) => journal::run(&args, screen),
        Ok(Cli { command: Command::Run(args) }) => run::run(&args, screen, stop),
        Ok(Cli { command: Command::Permissions(args) }) => permissions::run(&args, screen),
        Err(error) => {
            let text = error.render();
            match error.exit_code() {
                0 => write!(screen.out, "{}", text.ansi()).map(|()| 0),
                _ => write!(screen.err, "{}", text.ansi()).map(|()| USAGE),
            }
        }
    };
    match done {
        Ok(status) => status,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            // If this can't be said either, the status says it.
            writeln!(screen.err, "error: cannot write the output: {error}").unwrap_or_default();
            USAGE
        }
    }
}
