//! Tools that leave something behind: tasks that nest calls, inputs whose end panics.

use std::num::NonZeroU16;
use std::time::Duration;

use harness::{House, Scripted, call, step_aside, texts};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::task::TaskTracker;
use toolwright::{Card, HowEnded, Output, Rules, RunCx, Safety, Tool, ToolError, ToolUse};
use toolwright_contract::{AnyTool, EventKind};

const ONE: NonZeroU16 = NonZeroU16::MIN;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Lets so many milliseconds of the virtual clock pass.
async fn pass(ms: u64) {
    let never = std::future::pending::<()>();
    tokio::time::timeout(Duration::from_millis(ms), never).await.unwrap_or_default();
}

/// Nests a call, and a second one from a task of its own so many steps later.
struct Forks;

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: usize,
}

impl Tool for Forks {
    type Input = Steps;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Forks", "Nests two calls.")
    }

    fn safety(&self, _: &Steps) -> Safety {
        Safety::read_only()
    }

    async fn run(&self, it: Steps, cx: RunCx) -> Result<Output<String>, ToolError> {
        let second = cx.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            for _ in 0..it.steps {
                step_aside().await;
            }
            second.run_nested(vec![call("second", json!({}))]).await
        });
        let first = cx.run_nested(vec![call("first", json!({}))]).await;
        let second = tasks.join_all().await.concat();
        Ok(format!("{}|{}", first[0].content.text(), second[0].content.text()).into())
    }
}

#[tokio::test(start_paused = true)]
async fn nested_turns_that_begin_as_others_end_never_wait_for_their_own_parents_share() {
    for steps in 0..100 {
        let tools = [AnyTool::new(Forks), AnyTool::new(Scripted::new())];
        let house = House::with_tools(tools, |it| it.session_width = ONE).await;
        let running = house.run([ToolUse::new("0", "Forks", json!({"steps": steps}))]);
        let results = tokio::time::timeout(Duration::from_secs(60), running).await;
        assert_eq!(texts(&results.expect("no deadlock")), ["ran|ran"], "{steps} steps");
        house.close().await;
    }
}

/// Ends, and leaves a task behind that has begun to nest a call, and one that will.
struct Leaves(mpsc::UnboundedSender<String>, TaskTracker);

impl Tool for Leaves {
    type Input = Nothing;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Leaves", "Leaves tasks behind.")
    }

    fn safety(&self, _: &Nothing) -> Safety {
        Safety::read_only()
    }

    async fn run(&self, _: Nothing, cx: RunCx) -> Result<Output<String>, ToolError> {
        for (id, ms) in [("early", 0), ("late", 20)] {
            let (cx, told) = (cx.clone(), self.0.clone());
            self.1.spawn(async move {
                pass(ms).await;
                let results = cx.run_nested(vec![call(id, json!({"ms": 50}))]).await;
                told.send(results[0].content.text()).expect("the test listens");
            });
        }
        pass(10).await;
        Ok("ended".to_owned().into())
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_call_that_has_ended_are_stopped_and_none_begins() {
    let (told, mut tells) = mpsc::unbounded_channel();
    let tools = [AnyTool::new(Leaves(told, TaskTracker::new())), AnyTool::new(Scripted::new())];
    let house = House::with_tools(tools, |_| {}).await;
    let results = house.run([ToolUse::new("0", "Leaves", json!({}))]).await;
    assert_eq!(texts(&results), ["ended"]);
    let (early, late) = (tells.recv().await.unwrap(), tells.recv().await.unwrap());
    assert!(early.contains("discarded. This call had started"), "{early}");
    assert!(late.contains("discarded. This call had not started"), "{late}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_of_the_session_lets_a_blocking_call_finish_with_its_nested_calls() {
    let mut house = House::open().await;
    let nested = json!({"block": true, "nested": [{"ms": 20}]});
    let turn = house.turn([call("0", nested)]).await;
    house.started(0).await;
    house.started(0).await;
    house.session.interrupt();
    assert_eq!(texts(&turn.finish().await), ["ran"]);
    house.close().await;
}

#[derive(Deserialize, JsonSchema)]
struct Brittle {}

impl Drop for Brittle {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "the input's end panics");
    }
}

/// A tool whose input can't be dropped in peace.
struct Breaks;

impl Tool for Breaks {
    type Input = Brittle;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Breaks", "Breaks at its end.")
    }

    async fn run(&self, _: Brittle, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok("ran".to_owned().into())
    }
}

#[tokio::test(start_paused = true)]
async fn an_input_whose_end_panics_concerns_its_call_alone() {
    let tools = [AnyTool::new(Breaks), AnyTool::new(Scripted::new())];
    let rules = Rules { deny: ["Breaks"].into(), ..Rules::allow_everything() };
    let house = House::with_tools(tools, |it| it.rules = rules.into()).await;
    let breaks = |id: &str| ToolUse::new(id, "Breaks", json!({}));
    let results = house.run([breaks("0"), call("1", json!({}))]).await;
    assert_eq!(results.ended, [HowEnded::Refused, HowEnded::Ok]);
    house.session.set_rules(Rules::allow_everything());
    let turn = house.turn([call("2", json!({"ms": 10})), breaks("3")]).await;
    turn.stopper().stop(&"3".into());
    assert_eq!(turn.finish().await.ended, [HowEnded::Ok, HowEnded::StoppedNotStarted]);
    assert_eq!(house.run([breaks("4")]).await.ended, [HowEnded::Crashed]);
    let events = house.close().await;
    assert!(!events.iter().any(|it| matches!(it.kind, EventKind::StageFailed { .. })));
}
