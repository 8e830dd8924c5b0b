//! The loop of a service: one thing at a time comes in, happens, or goes out.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::{mpsc, oneshot};
use toolwright_contract::{Event, RequestId, ToolResult, ToolUse, TurnId};

use super::input::{Decoder, Fed};
use super::{Asking, End, Line, Stops};
use crate::{
    Answer, Ask, Left, Question, ResumedTurn, Session, SessionClosed, SubmitError, TurnHandle,
    TurnResults,
};

/// Bytes that are read at once.
const READ: usize = 64 << 10;

/// Lines that wait to be written before no more are made: enough to keep a writer busy.
const OUTBOX: usize = 256;

/// See the module.
pub(super) struct Service {
    session: Session,
    asking: Asking,
    out: mpsc::Sender<Line>,
    /// Only if events are wanted.
    history: Option<mpsc::UnboundedReceiver<Event>>,
    questions: mpsc::UnboundedReceiver<Question>,
    /// Questions that wait for a line of the input.
    asked: BTreeSet<RequestId>,
    decoder: Decoder,
    /// What came in and has not been done.
    inbox: VecDeque<Fed>,
    outbox: VecDeque<Line>,
    turn: Turn,
    /// Turns that a dead process left, and that come first.
    resumed: VecDeque<ResumedTurn>,
    /// Pending while the end of the last message may not have been heard.
    unheard: Option<oneshot::Receiver<()>>,
    /// Why nothing more is read, once that is so.
    end: Option<End>,
    /// The end of the session, if it ends before its input does.
    shutdown: Option<Pin<Box<dyn Future<Output = Left> + Send>>>,
    calls: usize,
    faults: usize,
}

/// The turn of the message.
enum Turn {
    /// It has had no call yet.
    None,
    /// It may have more calls.
    Open { handle: TurnHandle, results: mpsc::UnboundedReceiver<ToolResult> },
    /// It has all its calls.
    Sealed {
        finished: Pin<Box<dyn Future<Output = TurnResults> + Send>>,
        results: mpsc::UnboundedReceiver<ToolResult>,
        /// Where it was, if a dead process left it.
        of: Option<(u32, TurnId)>,
    },
}

/// What comes next.
enum Next {
    Interrupt,
    Terminate,
    Down,
    Written,
    Unread,
    Event(Event),
    Result(ToolResult),
    Question(Question),
    Finished(TurnResults),
    Heard,
    Read(std::io::Result<usize>),
}

impl Service {
    pub(super) fn new(
        session: Session,
        resumed: Vec<ResumedTurn>,
        asking: Asking,
        events: bool,
        out: mpsc::Sender<Line>,
    ) -> Self {
        Self {
            history: events.then(|| session.history()),
            questions: session.questions(),
            session,
            asking,
            out,
            asked: BTreeSet::new(),
            decoder: Decoder::default(),
            inbox: VecDeque::new(),
            outbox: VecDeque::new(),
            turn: Turn::None,
            resumed: resumed.into(),
            unheard: None,
            end: None,
            shutdown: None,
            calls: 0,
            faults: 0,
        }
    }

    /// How many calls were taken, and how much could not be understood.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.calls, self.faults)
    }

    /// Works until everything that came in is answered and written.
    pub(super) async fn work(
        &mut self,
        mut input: impl AsyncRead + Unpin,
        stops: &Stops,
    ) -> Result<End, SessionClosed> {
        let mut buffer = vec![0; READ];
        loop {
            self.go_on();
            self.take_in().await?;
            if matches!(self.turn, Turn::None)
                && self.outbox.is_empty()
                && self.shutdown.is_none()
                && let Some(end) = self.end.take()
            {
                return Ok(end);
            }
            match self.next(&mut input, &mut buffer, stops).await {
                Next::Interrupt => self.stop(End::Interrupted),
                Next::Terminate => self.stop(End::Terminated),
                Next::Down => self.shutdown = None,
                Next::Heard => self.unheard = None,
                Next::Written => {}
                Next::Unread => return Ok(End::Unread),
                Next::Event(event) => self.outbox.push_back(Line::event(&event)),
                Next::Result(result) => self.outbox.push_back(Line::result(&result)),
                Next::Question(Question::Asked(ask)) => self.ask(&ask),
                Next::Question(Question::Withdrawn(request)) => {
                    if self.asked.remove(&request) {
                        self.outbox.push_back(Line::withdrawal(request));
                    }
                }
                Next::Question(Question::NotKept(_, why)) => {
                    let what = format!("what was allowed for always counts until the end: {why}");
                    self.outbox.push_back(Line::fault(None, &what));
                }
                Next::Finished(results) => self.end_turn(&results),
                Next::Read(Ok(0)) => {
                    self.decoder.finish(&mut self.inbox);
                    self.end = Some(End::Input);
                }
                Next::Read(Ok(bytes)) => self.decoder.push(&buffer[..bytes], &mut self.inbox),
                Next::Read(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Next::Read(Err(error)) => {
                    self.decoder.finish(&mut self.inbox);
                    self.end = Some(End::Unreadable(error));
                }
            }
        }
    }

    /// Waits for what comes next; safe to drop.
    async fn next(
        &mut self,
        input: &mut (impl AsyncRead + Unpin),
        buffer: &mut [u8],
        stops: &Stops,
    ) -> Next {
        let has_room = self.outbox.len() < OUTBOX;
        let reads = self.end.is_none() && self.inbox.is_empty() && has_room;
        let may_be_interrupted = !matches!(self.end, Some(End::Interrupted | End::Terminated));
        let may_be_terminated = !matches!(self.end, Some(End::Terminated));
        let Self { history, questions, outbox, out, turn, shutdown, unheard, .. } = self;
        let (results, finished) = match turn {
            Turn::None => (None, None),
            Turn::Open { results, .. } => (Some(results), None),
            Turn::Sealed { finished, results, .. } => (Some(results), Some(finished)),
        };
        tokio::select! {
            biased;
            () = stops.terminate.cancelled(), if may_be_terminated => Next::Terminate,
            () = stops.interrupt.cancelled(), if may_be_interrupted => Next::Interrupt,
            Some(_) = on(shutdown.as_mut()) => Next::Down,
            () = out.closed() => Next::Unread,
            // One that was dropped was heard too.
            Some(_) = on(unheard.as_mut()) => Next::Heard,
            room = out.reserve(), if !outbox.is_empty() => match (room, outbox.pop_front()) {
                (Ok(room), Some(line)) => {
                    room.send(line);
                    Next::Written
                }
                (Ok(_), None) => Next::Written,
                (Err(_), _) => Next::Unread,
            },
            // An event is told before what it is about.
            Some(event) = received(history.as_mut()), if has_room => Next::Event(event),
            Some(question) = questions.recv() => Next::Question(question),
            Some(result) = received(results), if has_room => Next::Result(result),
            Some(results) = on(finished), if has_room => Next::Finished(results),
            read = input.read(buffer), if reads => Next::Read(read),
        }
    }

    /// Does what came in, as far as it may be done now.
    async fn take_in(&mut self) -> Result<(), SessionClosed> {
        while let Some(fed) = self.inbox.pop_front() {
            match fed {
                Fed::Call { line, call } => {
                    if matches!(self.turn, Turn::Sealed { .. }) || self.unheard.is_some() {
                        self.inbox.push_front(Fed::Call { line, call });
                        self.deny_asked();
                        break;
                    }
                    self.submit(line, call).await?;
                }
                Fed::End => self.seal(),
                Fed::Answer(request, answer) => {
                    self.asked.remove(&request);
                    self.session.answer(request, answer);
                }
                Fed::Fault { line, what } => self.fault(Some(line), &what),
            }
        }
        if self.end.is_some() {
            self.deny_asked();
        }
        Ok(())
    }

    async fn submit(&mut self, line: Option<usize>, call: ToolUse) -> Result<(), SessionClosed> {
        if let Turn::None = self.turn {
            let handle = self.session.turn().await?;
            let results = handle.emitted();
            self.turn = Turn::Open { handle, results };
        }
        let Turn::Open { handle, .. } = &mut self.turn else { return Ok(()) };
        match handle.submit(call).await {
            Ok(_) => self.calls += 1,
            Err(error @ SubmitError::DuplicateId(_)) => self.fault(line, &error.to_string()),
            // Only `seal` seals, and it leaves no handle.
            Err(SubmitError::Sealed) => {}
        }
        Ok(())
    }

    fn seal(&mut self) {
        self.turn = match std::mem::replace(&mut self.turn, Turn::None) {
            Turn::Open { handle, results } => {
                Turn::Sealed { finished: Box::pin(handle.finish()), results, of: None }
            }
            turn @ (Turn::None | Turn::Sealed { .. }) => turn,
        };
    }

    /// Goes on with a turn that a dead process left, before anything new.
    fn go_on(&mut self) {
        if let Turn::None = self.turn
            && let Some(mut turn) = self.resumed.pop_front()
        {
            let (results, of) = (turn.emitted(), Some((turn.run, turn.turn)));
            // Where the session is closed, the turn stays open for the next who resumes it.
            let finished = Box::pin(async { turn.finish().await.unwrap_or_default() });
            self.turn = Turn::Sealed { finished, results, of };
        }
    }

    fn end_turn(&mut self, results: &TurnResults) {
        // All of it is there: the turn has ended.
        while let Some(event) = self.history.as_mut().and_then(|it| it.try_recv().ok()) {
            self.outbox.push_back(Line::event(&event));
        }
        let mut resumed = None;
        if let Turn::Sealed { results, of, .. } = &mut self.turn {
            resumed = *of;
            while let Ok(result) = results.try_recv() {
                self.outbox.push_back(Line::result(&result));
            }
        }
        self.outbox.extend(Line::message(results, resumed));
        if self.session.keeps_log() {
            let (tell, told) = oneshot::channel();
            self.outbox.push_back(Line::Await(tell));
            self.unheard = Some(told);
        }
        self.turn = Turn::None;
    }

    fn stop(&mut self, end: End) {
        match end {
            End::Terminated => {
                self.shutdown = Some(Box::pin(self.session.clone().shutdown()));
            }
            End::Input | End::Unreadable(_) | End::Interrupted | End::Unread => {
                self.session.interrupt();
            }
        }
        // What came in after the message that is stopped will not be done.
        self.inbox.clear();
        self.seal();
        self.end = Some(end);
    }

    fn ask(&mut self, ask: &Ask) {
        let later = self.inbox.iter().any(|it| matches!(it, Fed::Call { .. }));
        let hears = self.end.is_none() && !later && self.decoder.takes_answers();
        match self.asking {
            Asking::ByLine if hears => {
                self.asked.insert(ask.request);
                self.outbox.push_back(Line::question(ask));
            }
            Asking::ByLine => self.session.answer(ask.request, unanswered()),
            Asking::Headless => self.session.answer(ask.request, headless(&ask.tool)),
        }
    }

    /// No answer can come any more.
    fn deny_asked(&mut self) {
        for request in std::mem::take(&mut self.asked) {
            self.session.answer(request, unanswered());
        }
    }

    fn fault(&mut self, line: Option<usize>, what: &str) {
        self.faults += 1;
        self.outbox.push_back(Line::fault(line, what));
    }
}

fn headless(tool: &str) -> Answer {
    Answer::Deny(format!(
        "This use of {tool} requires approval, and nobody is there to give it: this run starts \
         only calls that read. Whoever started it can allow the tool with --allow {tool}."
    ))
}

fn unanswered() -> Answer {
    Answer::Deny("This call requires approval, and no answer came in time.".to_owned())
}

async fn on<F: Future + Unpin>(future: Option<&mut F>) -> Option<F::Output> {
    match future {
        Some(future) => Some(future.await),
        None => None,
    }
}

async fn received<T>(receiver: Option<&mut mpsc::UnboundedReceiver<T>>) -> Option<T> {
    receiver?.recv().await
}
