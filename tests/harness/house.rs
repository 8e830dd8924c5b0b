//! A session under test, with its history and the assertions at its end.

use tokio::sync::mpsc::UnboundedReceiver;
use toolwright::{Config, Registry, Rules, Session, TurnHandle, TurnResults};
use toolwright_contract::{AnyTool, Event, ToolUse};

use crate::Scripted;

/// See the module.
pub struct House {
    /// The session.
    pub session: Session,
    history: UnboundedReceiver<Event>,
    closed: bool,
}

impl House {
    /// A session with the scripted tool, in which everything may start.
    pub async fn open() -> Self {
        Self::with(|_| {}).await
    }

    /// The same, set up by `change`.
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let tools = Registry::new([AnyTool::new(Scripted)]).expect("one name");
        let mut config = Config { rules: Rules::allow_everything(), ..Config::new(tools) };
        change(&mut config);
        let session = Session::start(config).await.expect("starts");
        let history = session.history();
        Self { session, history, closed: false }
    }

    /// A turn with these calls, still open.
    pub async fn turn(&self, calls: impl IntoIterator<Item = ToolUse>) -> TurnHandle {
        let mut turn = self.session.open_turn().await.expect("opens");
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

    /// The events so far that nobody has taken.
    pub fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.history.try_recv().ok()).collect()
    }

    /// Ends the session and asserts that nothing is left of it. Gives the rest of the history.
    pub async fn close(mut self) -> Vec<Event> {
        self.closed = true;
        let left = self.session.clone().shutdown().await;
        assert_eq!(left.tasks, 0, "tasks are left");
        self.events()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        assert!(self.closed || std::thread::panicking(), "a test must close its house");
    }
}
