//! A live message: bytes of the model's stream go in, calls start as their blocks complete.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use toolwright_actors::{SubmitError, TurnHandle, TurnResults};
use toolwright_contract::{RawInput, ToolUse, ToolUseId};
use toolwright_wire::{Input, MAX_PROBLEMS, Problem, SseDecoder, WireEvent};

/// Bytes that are read from the stream at once.
const READ: usize = 16 << 10;

/// A streamed message that becomes a turn.
///
/// Bytes may come in any chunking. A block that is incomplete when the stream ends never runs.
///
/// ```
/// use std::time::Duration;
/// use toolwright::{Runtime, StreamedTurn, built_in_tools};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder().tools(built_in_tools()).build()?;
/// let session = runtime.session().start().await?;
/// let body = br#"
/// data: {"type":"message_start","message":{"id":"msg","content":[]}}
///
/// data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"TodoWrite","input":{"todos":[]}}}
///
/// data: {"type":"content_block_stop","index":0}
///
/// data: {"type":"message_stop"}
///
/// "#;
/// let turn = StreamedTurn::new(session.turn().await?);
/// let (results, told, ended) = turn.read(&body[..], Duration::from_secs(60)).await;
/// ended?;
/// assert_eq!((told.calls, results.results.len()), (1, 1));
/// # session.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub struct StreamedTurn {
    turn: TurnHandle,
    decoder: SseDecoder,
    events: Vec<WireEvent>,
    told: Told,
    /// Something ended the message before its time.
    broke: bool,
}

/// What the stream has told so far, apart from its calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Calls that were taken.
    pub calls: usize,
    /// Why the message ended, once it has.
    pub stop_reason: Option<String>,
    /// Whether the message has ended.
    pub ended: bool,
    /// What is wrong with the stream: the first [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
    /// Blocks that repeated an id. Leave them out of the message that you send back.
    pub duplicates: Vec<ToolUseId>,
}

/// Why a stream ended before its message did. The calls that were complete keep their results.
#[derive(Debug, thiserror::Error)]
pub enum StreamBroke {
    /// Nothing came for too long.
    #[error("the stream was silent for {0:?}: send the request again, or raise the idle deadline")]
    Idle(Duration),
    /// It could not be read.
    #[error("the stream broke off ({0}): send the request again")]
    Read(#[from] io::Error),
    /// It ended inside the message, or the API reported an error.
    #[error("the stream ended before its message did: send the request again")]
    Cut,
}

impl StreamedTurn {
    /// A turn for the message that the stream will tell.
    #[must_use]
    pub fn new(turn: TurnHandle) -> Self {
        let (decoder, events) = (SseDecoder::new(), Vec::new());
        Self { turn, decoder, events, told: Told::default(), broke: false }
    }

    /// Takes the next bytes; each call that they complete is submitted. Waits only while the
    /// turn's mailbox is full; dropped meanwhile, the calls that were not submitted are lost.
    pub async fn push(&mut self, bytes: &[u8]) {
        self.decoder.push(bytes, &mut self.events);
        self.take_events().await;
    }

    /// What the stream has told so far.
    #[must_use]
    pub fn told(&self) -> &Told {
        &self.told
    }

    /// The turn, to stop it or its calls.
    #[must_use]
    pub fn turn(&self) -> &TurnHandle {
        &self.turn
    }

    /// The stream is over: waits until every call is answered. Dropped while it waits, the turn
    /// is discarded.
    pub async fn finish(mut self) -> (TurnResults, Told) {
        self.decoder.finish(&mut self.events);
        self.take_events().await;
        (self.turn.finish().await, self.told)
    }

    /// Reads a stream to the end of its message; what comes after that, an error of the connection
    /// included, is of no interest. `idle` bounds the silence between two reads; calls that run
    /// when it is over, or when the stream breaks off, are let finish.
    pub async fn read(
        mut self,
        mut stream: impl AsyncRead + Unpin,
        idle: Duration,
    ) -> (TurnResults, Told, Result<(), StreamBroke>) {
        let mut buffer = vec![0; READ];
        let read = loop {
            if self.told.ended {
                break Ok(());
            }
            match tokio::time::timeout(idle, stream.read(&mut buffer)).await {
                Ok(Ok(0)) => break Ok(()),
                Ok(Ok(bytes)) => self.push(&buffer[..bytes]).await,
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => break Err(StreamBroke::Read(error)),
                Err(_) => break Err(StreamBroke::Idle(idle)),
            }
        };
        let whole = self.told.ended;
        let (results, told) = self.finish().await;
        let ended = read.and(if whole { Ok(()) } else { Err(StreamBroke::Cut) });
        (results, told, ended)
    }

    async fn take_events(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            match event {
                WireEvent::MessageStarted { .. } => {}
                WireEvent::ToolUse(call) => match self.turn.submit(call_of(call)).await {
                    Ok(_) => self.told.calls += 1,
                    Err(SubmitError::DuplicateId(id)) => self.told.duplicates.push(id),
                    // Only `finish` seals, and it consumes the stream.
                    Err(SubmitError::Sealed) => {}
                },
                WireEvent::MessageEnded { stop_reason } => {
                    self.told.ended = !self.broke;
                    self.told.stop_reason = stop_reason;
                }
                WireEvent::Problem(problem) => {
                    self.broke |= ends_early(&problem);
                    if self.told.problems.len() < MAX_PROBLEMS {
                        self.told.problems.push(problem);
                    }
                }
            }
        }
        self.events = events;
    }
}

/// Whether a problem is the reason why the message ended.
fn ends_early(problem: &Problem) -> bool {
    use toolwright_wire::ProblemKind as Kind;
    matches!(problem.kind, Kind::StreamCut | Kind::StreamError { .. })
}

/// A decoded block as the runtime takes it.
#[must_use]
pub fn call_of(call: toolwright_wire::ToolUse) -> ToolUse {
    let input = match call.input {
        Input::Json(value) => RawInput::Json(value),
        Input::Malformed { raw, error } => RawInput::Malformed { raw, error },
    };
    ToolUse { id: call.id.into(), name: call.name, input }
}
