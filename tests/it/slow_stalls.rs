//! Tools that keep their thread: the watchdog names them by real time, and by no other.

use std::time::Duration;

use harness::{House, call, texts};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolwright::{Card, Output, RunCx, Safety, Tool, ToolError, ToolUse};
use toolwright_contract::{AnyTool, Event, EventKind, HowEnded};

fn stalled(events: &[Event]) -> Vec<(u32, u64)> {
    let stalled = |it: &Event| {
        if let EventKind::Stalled { call, for_ms } = it.kind { Some((call, for_ms)) } else { None }
    };
    events.iter().filter_map(stalled).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_tool_is_named_once_and_those_beside_it_are_not_held_up() {
    let mut house = House::open().await;
    let turn = house
        .turn([call("beside", json!({"ms": 1_000})), call("busy", json!({"busy": 2_500}))])
        .await;
    let finishing = turn.finish();
    let told = house.until(|it| matches!(it, EventKind::Stalled { .. }));
    let (results, told) = tokio::join!(finishing, told);
    assert_eq!(texts(&results), ["ran", "ran"]);
    let EventKind::Stalled { call: 1, for_ms } = told.kind else { panic!("{told:?}") };
    assert!(for_ms >= 1_000);
    assert_eq!(stalled(&house.close().await).len(), 1);
}

#[tokio::test]
async fn a_busy_tool_is_named_even_where_it_keeps_the_only_thread() {
    let house = House::open().await;
    house.run([call("busy", json!({"busy": 2_000}))]).await;
    assert_eq!(stalled(&house.close().await).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn where_time_is_virtual_nothing_is_told_that_depends_on_real_time() {
    let house = House::open().await;
    house.run([call("busy", json!({"busy": 1_600})), call("beside", json!({"ms": 5_000}))]).await;
    assert!(stalled(&house.close().await).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_deaf_on_a_blocking_thread_is_answered_and_its_lane_kept_until_it_ends() {
    let grace = Duration::from_millis(100);
    let mut house = House::with(|it| it.grace = grace).await;
    let turn = house.turn([call("a", json!({"blocking": 1_500, "progress": "begun"}))]).await;
    house.until(|it| matches!(it, EventKind::Progressed { .. })).await;
    turn.stopper().interrupt();
    assert_eq!(turn.finish().await.ended, [HowEnded::StoppedMayHaveRun]);
    assert_eq!(house.session.overdue(), 1);
    let next = house.run([call("next", json!({"alone": true}))]).await;
    assert_eq!((next.ended, house.session.overdue()), (vec![HowEnded::Ok], 0));
    let events = house.close().await;
    let gone = events.iter().position(|it| matches!(it.kind, EventKind::Gone { call: 0 }));
    let next = events.iter().rposition(|it| matches!(it.kind, EventKind::Gated { call: 0 }));
    assert!(gone.unwrap() < next.unwrap());
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A tool that keeps the scheduler at the question how safe it is.
struct Hesitates;

impl Tool for Hesitates {
    type Input = Nothing;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Hesitates", "Is slow to say how safe it is.")
    }

    fn safety(&self, _: &Nothing) -> Safety {
        let began = std::time::Instant::now();
        while began.elapsed() < Duration::from_millis(150) {
            std::thread::yield_now();
        }
        Safety::read_only()
    }

    async fn run(&self, _: Nothing, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok("ran".to_owned().into())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_shutdown_answers_for_no_scheduler_that_is_still_at_work() {
    let tools = [AnyTool::new(Hesitates)];
    let mut house = House::with_tools(tools, |it| it.grace = Duration::ZERO).await;
    let turn =
        house.turn((0..3).map(|n| ToolUse::new(n.to_string(), "Hesitates", json!({})))).await;
    house.until(|it| matches!(it, EventKind::TurnOpened { .. })).await;
    // That nothing is told of a turn that is over, and all of it when the shutdown ends, is the
    // history's to say.
    let (results, _) = tokio::join!(turn.finish(), house.close());
    assert_eq!(results.results.len(), 3);
}
