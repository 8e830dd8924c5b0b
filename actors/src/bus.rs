//! The event bus: numbers each step of a session and hands it to whoever listens.
//!
//! Nothing that a listener does can hold up a call: subscribers read from a ring and lose the
//! oldest when they lag; a history is an unbounded queue that its reader owns; the session's log is
//! told under the lock that numbers the event, so that it has them in their order, and must not
//! block.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{broadcast, mpsc};
use tokio::time::Instant;
use toolwright_contract::{Event, EventKind, TurnId};

use crate::journal::{HandOut, SessionLog, tell};
use crate::limits::EVENT_RING;

/// The bus of one session.
pub(crate) struct Bus {
    began: Instant,
    /// Whether anybody listens: while nobody does, no event is built.
    heard: AtomicBool,
    log: Option<Arc<dyn SessionLog>>,
    line: Mutex<Line>,
}

struct Line {
    next: u64,
    ring: broadcast::Sender<Event>,
    histories: Vec<mpsc::UnboundedSender<Event>>,
}

impl Bus {
    pub(crate) fn new(log: Option<Arc<dyn SessionLog>>) -> Self {
        let line = Line { next: 0, ring: broadcast::Sender::new(EVENT_RING), histories: vec![] };
        let heard = AtomicBool::new(log.is_some());
        Self { began: Instant::now(), heard, log, line: Mutex::new(line) }
    }

    /// Whether events are written down.
    pub(crate) fn is_logged(&self) -> bool {
        self.log.is_some()
    }

    /// Builds and hands out an event, if anybody listens.
    pub(crate) fn emit(&self, turn: TurnId, kind: impl FnOnce() -> EventKind) {
        if self.heard.load(Ordering::Relaxed) {
            self.tell(turn, kind(), None);
        }
    }

    /// Hands out the event of an emission; its result follows once that is written.
    pub(crate) fn emit_result(&self, turn: TurnId, kind: EventKind, out: HandOut) {
        self.tell(turn, kind, Some(out));
    }

    fn tell(&self, turn: TurnId, kind: EventKind, out: Option<HandOut>) {
        let mut line = self.line();
        let at_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let event = Event { seq: line.next, at_us, turn, kind };
        line.next += 1;
        if let Some(log) = &self.log {
            tell(&**log, |log| match out {
                Some(out) => log.emitted(&event, out),
                None => log.event(&event),
            });
        }
        line.histories.retain(|it| it.send(event.clone()).is_ok());
        // An error only says that there is no subscriber at the moment.
        if line.ring.send(event).is_err() && line.histories.is_empty() {
            self.heard.store(self.log.is_some(), Ordering::Relaxed);
        }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Event> {
        let line = self.line();
        self.heard.store(true, Ordering::Relaxed);
        line.ring.subscribe()
    }

    pub(crate) fn history(&self) -> mpsc::UnboundedReceiver<Event> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut line = self.line();
        self.heard.store(true, Ordering::Relaxed);
        line.histories.push(sender);
        receiver
    }

    /// A poisoned lock is taken all the same: every state of the line is a good one.
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
