//! Calls through a pipe: blocks come in as bytes, run as turns of a session, and lines go out.
//!
//! This is `toolwright run` without its process: the smallest embedding, for any language.

mod input;
mod output;
mod service;

use std::io;

use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{Resumed, ResumedTurn, Session, SessionClosed};

pub use output::Line;
use service::Service;

/// What becomes of a call that no rule decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asking {
    /// It is denied, and the model reads how it could be allowed.
    #[default]
    Headless,
    /// A line asks, and a line of the input answers. A question is denied once no answer can come:
    /// at the end of the input, when the next message begins, and in a stream of the Messages API.
    ByLine,
}

/// What ends a service before its input does.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    /// The user interrupts: what waits never starts, what runs is told to stop unless it asked to
    /// be let finish, and everything is answered.
    pub interrupt: CancellationToken,
    /// The process must end: the session is shut down, and everything is answered.
    pub terminate: CancellationToken,
}

/// How a service went.
#[derive(Debug)]
pub struct Served {
    /// Calls that were taken.
    pub calls: usize,
    /// What could not be understood.
    pub faults: usize,
    /// Why it ended.
    pub end: End,
}

/// Why a service ended.
#[derive(Debug)]
pub enum End {
    /// Its input did.
    Input,
    /// Its input could not be read further.
    Unreadable(io::Error),
    /// It was interrupted.
    Interrupted,
    /// It was terminated.
    Terminated,
    /// Nobody reads what it says.
    Unread,
}

/// Runs what `input` asks for as turns of `session`, which is shut down at the end, and says to `out` what came of it: results
/// in the order of their calls as soon as they are there, then the next user message; with
/// `events`, every event too.
///
/// A call starts when its block is complete, and a message when the one before it is answered.
/// While `out` is full, no further result or input is taken. Dropped, it stops everything.
///
/// ```
/// use tokio::sync::mpsc;
/// use toolwright::pipe::{Asking, Line, Stops, serve};
/// use toolwright::{Runtime, built_in_tools};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder().tools(built_in_tools()).build()?;
/// let session = runtime.session().start().await?;
/// let input = br#"{"type":"tool_use","id":"t1","name":"TodoWrite","input":{"todos":[]}}"#;
///
/// let (out, mut lines) = mpsc::channel(8);
/// let served = serve(session, Asking::Headless, false, &input[..], out, &Stops::default()).await?;
/// assert_eq!((served.calls, served.faults), (1, 0));
/// let Some(Line::Said(result)) = lines.recv().await else { return Ok(()) };
/// assert!(result.contains(r#""tool_use_id":"t1""#));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`SessionClosed`] if the session did not stay.
pub async fn serve(
    session: Session,
    asking: Asking,
    events: bool,
    input: impl AsyncRead + Unpin,
    out: mpsc::Sender<Line>,
    stops: &Stops,
) -> Result<Served, SessionClosed> {
    serve_from((session, Vec::new()), asking, events, input, out, stops).await
}

/// The same for a session that was resumed: first comes what its turns are owed, results that are
/// emitted now and then the user message of each turn, with `"resumed"` saying which turn it was.
/// Where the process before had time to say that message, it comes a second time.
///
/// # Errors
///
/// [`SessionClosed`] if the session did not stay.
pub async fn serve_resumed(
    resumed: Resumed,
    asking: Asking,
    events: bool,
    input: impl AsyncRead + Unpin,
    out: mpsc::Sender<Line>,
    stops: &Stops,
) -> Result<Served, SessionClosed> {
    serve_from((resumed.session, resumed.turns), asking, events, input, out, stops).await
}

async fn serve_from(
    (session, resumed): (Session, Vec<ResumedTurn>),
    asking: Asking,
    events: bool,
    input: impl AsyncRead + Unpin,
    out: mpsc::Sender<Line>,
    stops: &Stops,
) -> Result<Served, SessionClosed> {
    let mut service = Service::new(session.clone(), resumed, asking, events, out);
    let end = service.work(input, stops).await;
    let (calls, faults) = service.counts();
    // A turn that is still open is of no use to anybody.
    drop(service);
    session.shutdown().await;
    Ok(Served { calls, faults, end: end? })
}
