//! What the benchmarks share: a tool that does as little as it can, a session, a CPU clock.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

mod cpu;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolwright::{
    AnyTool, Card, Output, Rules, RunCx, Runtime, Safety, Session, SessionBuilder, Tool, ToolError,
    ToolUse, TurnResults,
};

pub use cpu::CpuTime;

/// Sizes of a message over which cost should grow in proportion.
pub const SIZES: [usize; 5] = [1, 10, 100, 1_000, 10_000];

/// Does nothing, or waits.
pub struct Noop;

/// What to wait for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// Milliseconds; 0 returns at once.
    ms: u64,
    /// Whether to run alone.
    #[serde(default)]
    alone: bool,
}

impl Tool for Noop {
    type Input = Wait;
    type Output = &'static str;

    fn card(&self) -> Card {
        Card::new("Noop", "Does nothing, or waits.")
    }

    fn safety(&self, it: &Wait) -> Safety {
        if it.alone { Safety::default() } else { Safety::read_only() }
    }

    async fn run(&self, it: Wait, cx: RunCx) -> Result<Output<&'static str>, ToolError> {
        if it.ms > 0 {
            cx.stop.or(tokio::time::sleep(Duration::from_millis(it.ms))).await?;
        }
        Ok("done".into())
    }
}

/// The runtime of every benchmark: two workers, as on the machine of the targets.
///
/// # Panics
///
/// If it can't be started.
#[must_use]
pub fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_time().build().expect("starts")
}

/// A session with [`Noop`], in which everything may start.
///
/// # Panics
///
/// If it can't be started.
pub async fn session() -> Session {
    session_with(Noop, |it| it).await
}

/// A session with this tool, in which everything may start, set up further by `change`.
///
/// # Panics
///
/// If it can't be started.
pub async fn session_with(
    tool: impl Tool,
    change: impl FnOnce(SessionBuilder) -> SessionBuilder,
) -> Session {
    let runtime = Runtime::builder().tools([AnyTool::new(tool)]).build().expect("one name");
    let session = change(runtime.session().rules(Rules::allow_everything()));
    session.start().await.expect("starts")
}

/// `n` calls that return at once.
#[must_use]
pub fn noops(n: usize) -> Vec<ToolUse> {
    (0..n).map(|i| ToolUse::new(format!("toolu_{i:05}"), "Noop", json!({"ms": 0}))).collect()
}

/// Runs `size` no-ops once and holds the history against every invariant, so that what is timed
/// afterwards is known to be right.
///
/// # Panics
///
/// If an invariant is broken.
pub async fn prove(session: &Session, size: usize) {
    let mut history = session.history();
    drop(run(session, noops(size)).await);
    let events: Vec<_> = std::iter::from_fn(|| history.try_recv().ok()).collect();
    let breaches = toolwright::contract::history::check(&events);
    assert!(breaches.is_empty() && events.len() > size, "{breaches:?}");
}

/// Runs calls as one turn.
///
/// # Panics
///
/// If a call is not taken, or has no result.
pub async fn run(session: &Session, calls: Vec<ToolUse>) -> TurnResults {
    let count = calls.len();
    let mut turn = session.turn().await.expect("opens");
    for call in calls {
        turn.submit(call).await.expect("is taken");
    }
    let results = turn.finish().await;
    assert_eq!(results.results.len(), count);
    results
}
