//! `toolwright run`: runs the calls that come through standard input.

use std::io;
use std::path::PathBuf;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolwright_contract::{Registry, Unregistrable};
use toolwright_journal::Policy;

use super::run_args::RunArgs;
use super::run_settings::RunSettings;
use super::{INTERRUPTED, Screen, TERMINATED, USAGE, files};
use crate::pipe::{End, Line, Served, Stops, serve, serve_resumed};
use crate::{AnyTool, Runtime, SessionBuilder, SessionClosed, SetupError};

/// Lines that wait for their reader before no more are made.
const WAITING: usize = 64;

/// Why the command can't run.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("cannot work in {0}: {1}; name another folder with --cwd")]
    Cwd(String, io::Error),
    #[error("there is no tool `{name}`: {flag} takes some of {known}")]
    NoSuchTool { flag: &'static str, name: String, known: String },
    #[error(transparent)]
    Tools(#[from] Unregistrable),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error("the runtime could not be started ({0}): free some memory or threads, and try again")]
    Runtime(io::Error),
    #[error(transparent)]
    Closed(#[from] SessionClosed),
}

/// Runs the command and gives its exit status.
///
/// # Errors
///
/// An error of `screen`.
pub(super) fn run(
    args: &RunArgs,
    screen: &mut Screen<'_>,
    stop: &CancellationToken,
) -> io::Result<u8> {
    let session = match cwd_of(args) {
        Ok(cwd) => {
            let settings = RunSettings::of(args, &cwd, screen)?;
            session(args, screen.built_in_tools(), settings)
        }
        Err(error) => Err(error),
    };
    let served = match session {
        Ok(session) => pass_through(args, session, screen, stop)?,
        Err(error) => Err(error),
    };
    let Served { calls, faults, end } = match served {
        Ok(served) => served,
        Err(error) => {
            writeln!(screen.err, "error: {error}")?;
            return Ok(USAGE);
        }
    };
    Ok(match end {
        End::Unreadable(error) => {
            writeln!(screen.err, "error: the input broke off ({error}): send the rest again")?;
            USAGE
        }
        End::Input if calls == 0 && faults > 0 => {
            writeln!(
                screen.err,
                "error: nothing to run: see `toolwright run --help` for the input"
            )?;
            USAGE
        }
        End::Input | End::Unread => 0,
        End::Interrupted => INTERRUPTED,
        End::Terminated => TERMINATED,
    })
}

/// Lets the service work on threads of its own, and writes what it says on this one.
fn pass_through(
    args: &RunArgs,
    session: SessionBuilder,
    screen: &mut Screen<'_>,
    stop: &CancellationToken,
) -> io::Result<Result<Served, RunError>> {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Ok(Err(RunError::Runtime(error))),
    };
    let stops = Stops { interrupt: stop.clone(), terminate: CancellationToken::new() };
    if let Err(error) = hear_termination(&runtime, &stops.terminate) {
        return Ok(Err(RunError::Runtime(error)));
    }
    let (asking, events, resume) = (args.asking(), args.events, args.resume);
    let (sender, mut lines) = mpsc::channel(WAITING);
    let serving = runtime.spawn(async move {
        let input = tokio::io::stdin();
        Ok::<_, RunError>(if resume {
            let resumed = session.resume(Policy::default()).await?;
            serve_resumed(resumed, asking, events, input, sender, &stops).await?
        } else {
            serve(session.start().await?, asking, events, input, sender, &stops).await?
        })
    });
    let mut written = Ok(());
    while let Some(line) = lines.blocking_recv() {
        written = write(screen, line, lines.is_empty());
        if written.is_err() {
            break;
        }
    }
    // The service hears that nobody reads it, and stops what runs.
    drop(lines);
    let served = runtime.block_on(serving);
    // An input that never ends, and a tool that never does, keep their threads.
    runtime.shutdown_background();
    written?;
    // The task is neither cancelled nor does it panic, but for a defect of ours.
    Ok(served.unwrap_or_else(|it| Err(RunError::Runtime(io::Error::other(it)))))
}

fn write(screen: &mut Screen<'_>, line: Line, is_last: bool) -> io::Result<()> {
    match line {
        Line::Said(line) => {
            screen.out.write_all(line.as_bytes())?;
            screen.out.write_all(b"\n")?;
            if is_last { screen.out.flush() } else { Ok(()) }
        }
        // It may quote the input, which must not steer the terminal.
        Line::Fault(what) => {
            let what = toolwright_contract::wording::quote(&what, super::LONGEST_PROBLEM);
            writeln!(screen.err, "{what}")
        }
        Line::Await(told) => {
            screen.out.flush()?;
            // Whoever waited may have gone.
            told.send(()).unwrap_or_default();
            Ok(())
        }
    }
}

/// The first request to end is told; the second one ends the process at once.
#[cfg(unix)]
fn hear_termination(runtime: &tokio::runtime::Runtime, told: &CancellationToken) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let _inside = runtime.enter();
    let mut requests = signal(SignalKind::terminate())?;
    let told = told.clone();
    runtime.spawn(async move {
        requests.recv().await;
        told.cancel();
        requests.recv().await;
        std::process::exit(i32::from(TERMINATED))
    });
    Ok(())
}

#[cfg(not(unix))]
fn hear_termination(_: &tokio::runtime::Runtime, _: &CancellationToken) -> io::Result<()> {
    Ok(())
}

fn cwd_of(args: &RunArgs) -> Result<PathBuf, RunError> {
    let cwd = args.cwd.canonicalize().and_then(|it| match it.is_dir() {
        true => Ok(it),
        false => Err(io::Error::from(io::ErrorKind::NotADirectory)),
    });
    cwd.map_err(|error| RunError::Cwd(files::shown(&args.cwd), error))
}

fn session(
    args: &RunArgs,
    tools: Vec<AnyTool>,
    settings: RunSettings,
) -> Result<SessionBuilder, RunError> {
    let tools = Registry::new(tools)?;
    for (flag, names) in [("--allow", &args.allow), ("--deny", &args.deny)] {
        if let Some(name) = names.iter().find(|it| tools.get(it).is_none()) {
            let known: Vec<_> = tools.iter().map(|it| &*it.card().name).collect();
            let (name, known) = (name.clone(), known.join(", "));
            return Err(RunError::NoSuchTool { flag, name, known });
        }
    }
    let runtime = Runtime::builder().each_session(|it| {
        let it = settings.of_session(it).registry(tools).turn_cap(args.cap.get());
        it.cascade(args.siblings.cascade()).deadline(args.deadline).results(args.results.clone())
    });
    let session = runtime.build()?.session();
    Ok(match (&args.data, &args.session) {
        (Some(data), Some(name)) => session.journal_in(data, name, args.durability.durability()),
        _ => session,
    })
}
