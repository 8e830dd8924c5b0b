//! What the benchmarks share: tools that do as little as they can, and a session around them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolwright::{
    AnyTool, Card, Config, Output, Registry, Rules, RunCx, Safety, Session, Tool, ToolError,
    ToolUse, TurnResults,
};

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

/// A session with the tool above, in which everything may start.
///
/// # Panics
///
/// If the session can't be started.
pub async fn session() -> Session {
    #[expect(clippy::expect_used, reason = "a benchmark that can't start has nothing to say")]
    let tools = Registry::new([AnyTool::new(Noop)]).expect("one name");
    let config = Config { rules: Rules::allow_everything(), ..Config::new(tools) };
    #[expect(clippy::expect_used, reason = "a benchmark that can't start has nothing to say")]
    Session::start(config).await.expect("starts")
}

/// `n` calls that return at once.
#[must_use]
pub fn noops(n: usize) -> Vec<ToolUse> {
    (0..n).map(|i| ToolUse::new(format!("toolu_{i:05}"), "Noop", json!({"ms": 0}))).collect()
}

/// Runs calls as one turn.
///
/// # Panics
///
/// If the session is closed.
pub async fn run(session: &Session, calls: Vec<ToolUse>) -> TurnResults {
    #[expect(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]
    let mut turn = session.open_turn().await.expect("opens");
    for call in calls {
        #[expect(clippy::expect_used, reason = "ids are distinct")]
        turn.submit(call).await.expect("is taken");
    }
    turn.finish().await
}

/// CPU time of this process so far.
#[must_use]
pub fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}
