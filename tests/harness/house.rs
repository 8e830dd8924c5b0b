//! A session under test, with its history and the assertions at its end.

use tokio::sync::mpsc::UnboundedReceiver;
use toolwright::{Ask, Question, Registry, Rules, Session, TurnHandle, TurnResults};
use toolwright_actors::{Config, start};
use toolwright_contract::{AnyTool, Event, EventKind, ToolUse, history};

use crate::premises::soon;
use crate::{Premises, Scripted};

/// See the module.
pub struct House {
    /// The session.
    pub session: Session,
    history: UnboundedReceiver<Event>,
    seen: Vec<Event>,
    /// Events before this one were taken or waited for.
    read: usize,
    premises: Premises,
    unclosed: Unclosed,
}

impl House {
    /// A session with the scripted tool, in which everything may start.
    pub async fn open() -> Self {
        Self::with(|_| {}).await
    }

    /// The same, set up by `change`.
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        Self::with_tools([AnyTool::new(Scripted::new())], change).await
    }

    /// A session with these tools, in which everything may start, set up by `change`.
    pub async fn with_tools(
        tools: impl IntoIterator<Item = AnyTool>,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let tools = Registry::new(tools).expect("each name is its own");
        let mut config = Config { rules: Rules::allow_everything().into(), ..Config::new(tools) };
        change(&mut config);
        let premises = Premises::of(&config);
        let session = start(config).await.expect("starts");
        Self { premises, ..Self::of(session) }
    }

    /// A session that was set up elsewhere, and was lent no folder.
    #[must_use]
    pub fn of(session: Session) -> Self {
        let (history, premises) = (session.history(), Premises::default());
        Self { session, history, seen: Vec::new(), read: 0, premises, unclosed: Unclosed(true) }
    }

    /// A turn with these calls, still open.
    pub async fn turn(&self, calls: impl IntoIterator<Item = ToolUse>) -> TurnHandle {
        let mut turn = self.session.turn().await.expect("opens");
        for call in calls {
            // A duplicate is part of what is tested.
            drop(turn.submit(call).await);
        }
        turn
    }

    /// Runs these calls as a turn.
    pub async fn run(&self, calls: impl IntoIterator<Item = ToolUse>) -> TurnResults {
        self.turn(calls).await.finish().await
    }

    /// The events so far that nobody has taken or waited for.
    pub fn events(&mut self) -> Vec<Event> {
        self.take_in();
        let read = std::mem::replace(&mut self.read, self.seen.len());
        self.seen[read..].to_vec()
    }

    /// Waits for an event of this kind, the first that nobody has waited for.
    pub async fn until(&mut self, is_it: impl Fn(&EventKind) -> bool) -> Event {
        loop {
            while let Some(event) = self.seen.get(self.read) {
                self.read += 1;
                if is_it(&event.kind) {
                    return event.clone();
                }
            }
            let event = self.history.recv().await.expect("the session is alive");
            self.seen.push(event);
        }
    }

    /// Waits until the call at this place has started.
    pub async fn started(&mut self, at: u32) {
        self.until(|it| matches!(it, EventKind::Started { call } if *call == at)).await;
    }

    /// Ends the session and asserts that nothing is left of it and that its history keeps every
    /// invariant. Gives the whole history. Whoever holds the session by then has to let go of it.
    pub async fn close(mut self) -> Vec<Event> {
        self.unclosed.0 = false;
        let left = self.session.clone().shutdown().await;
        assert_eq!(left.tasks, 0, "tasks are left");
        assert_eq!(self.session.overdue(), 0, "calls are left");
        self.premises.assert_empty().await;
        let Self { session, mut history, mut seen, .. } = self;
        drop(session);
        let gone = soon(|| history.is_closed()).await;
        assert!(gone, "somebody still holds the session: its memory leaks");
        seen.extend(std::iter::from_fn(|| history.try_recv().ok()));
        let breaches = history::check(&seen);
        let breaches: Vec<_> = breaches.iter().map(ToString::to_string).collect();
        assert!(breaches.is_empty(), "{}\n{}", breaches.join("\n"), written(&seen));
        seen
    }

    /// Gives the session away, unclosed, without a look at its history.
    #[must_use]
    pub fn leave(self) -> Session {
        let Self { session, mut unclosed, .. } = self;
        unclosed.0 = false;
        session
    }

    fn take_in(&mut self) {
        self.seen.extend(std::iter::from_fn(|| self.history.try_recv().ok()));
    }
}

/// Fails the test if a house is dropped before it was closed.
struct Unclosed(bool);

impl Drop for Unclosed {
    fn drop(&mut self) {
        assert!(!self.0 || std::thread::panicking(), "a test must close its house");
    }
}

/// The next question, which must come.
pub async fn asked(questions: &mut UnboundedReceiver<Question>) -> Ask {
    match questions.recv().await.expect("the session is alive") {
        Question::Asked(ask) => ask,
        Question::Withdrawn(request) => panic!("{request:?} was withdrawn"),
        Question::NotKept(request, why) => panic!("{request:?} was not kept: {why}"),
    }
}

/// A history as text, a line an event: what two runs of one seed have in common to the byte.
#[must_use]
pub fn written(history: &[Event]) -> String {
    let lines = history.iter().map(|it| serde_json::to_string(it).expect("an event is plain data"));
    lines.collect::<Vec<_>>().join("\n")
}
