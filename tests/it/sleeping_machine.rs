//! Hours that pass at once, as while the machine sleeps: each time that is over strikes once.
//!
//! Nothing here depends on the time of day: no code outside the tests may read it (`.clippy.toml`).

use std::time::Duration;

use harness::{House, Scripted, asked, call, call_of, ids, texts};
use serde_json::{Value, json};
use tokio::time::{Instant, advance};
use toolwright::{Answer, BeforeAnswer, Hook, Matcher, Rules};
use toolwright_contract::{AnyTool, Event, EventKind, HowEnded};

use HowEnded::{Ok, Refused, StoppedMayHaveRun, StoppedNotStarted};

const SECOND: Duration = Duration::from_secs(1);
const NIGHT: Duration = Duration::from_secs(8 * 3_600);

/// Longer than a night.
const LONG_MS: u64 = 16 * 3_600_000;

fn deaf() -> Value {
    json!({"ms": LONG_MS, "deaf": true})
}

/// A house in which calls may run for ten seconds, and which asks about one tool.
async fn hurried() -> House {
    let tools = ["Scripted", "Asked"].map(|it| AnyTool::new(Scripted::named(it)));
    House::with_tools(tools, |it| {
        it.deadline = Some(10 * SECOND);
        it.rules = Rules { ask: ["Asked"].into(), ..Rules::allow_everything() }.into();
    })
    .await
}

/// The calls that were told to stop, once for each time that they were.
fn stopped(events: &[Event]) -> Vec<u32> {
    let stopped = |it: &Event| {
        if let EventKind::Stopping { call, .. } = it.kind { Some(call) } else { None }
    };
    events.iter().filter_map(stopped).collect()
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_over_strikes_once_and_what_waited_has_all_of_its_own() {
    let mut house = hurried().await;
    let mut questions = house.session.questions();
    let turn = house
        .turn([
            call("late", json!({"ms": LONG_MS})),
            call("fast", json!({"ms": 9_000})),
            call_of("Asked", "asked", json!({"ms": 9_000})),
            call("waits", json!({"ms": 9_000, "alone": true})),
        ])
        .await;
    let ask = asked(&mut questions).await;
    house.started(1).await;
    advance(NIGHT).await;
    let began = Instant::now();
    // The question is as open as before, and a run that begins now has ten seconds.
    house.session.answer(ask.request, Answer::Allow);
    let results = turn.finish().await;
    assert_eq!(ids(&results), ["late", "fast", "asked", "waits"]);
    assert!(texts(&results)[0].contains("Timed out"), "{:?}", texts(&results));
    assert_eq!(results.ended, [StoppedMayHaveRun, Ok, Ok, Ok]);
    assert_eq!(began.elapsed(), 18 * SECOND);
    assert_eq!(stopped(&house.close().await), [0]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ignores_its_deadline_has_its_grace_after_the_night() {
    let mut house = hurried().await;
    let turn = house.turn([call("deaf", deaf())]).await;
    house.started(0).await;
    advance(NIGHT).await;
    let began = Instant::now();
    assert_eq!(turn.finish().await.ended, [StoppedMayHaveRun]);
    assert_eq!(began.elapsed(), 5 * SECOND);
    assert_eq!(stopped(&house.close().await), [0]);
}

#[tokio::test(start_paused = true)]
async fn what_is_done_when_the_machine_wakes_is_not_late() {
    let mut house = hurried().await;
    let turn = house.turn([call("a", json!({"ms": 9_000})), call("b", json!({"ms": 11_000}))]);
    let turn = turn.await;
    house.started(1).await;
    advance(NIGHT).await;
    assert_eq!(turn.finish().await.ended, [Ok; 2]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_behind_a_call_that_never_ends_is_over_after_a_night_and_told_once() {
    let mut house = hurried().await;
    let turn = house.turn([call("deaf", deaf())]).await;
    house.started(0).await;
    turn.stopper().interrupt();
    turn.finish().await;
    let turn = house.turn([call("waits", json!({"alone": true}))]).await;
    house.until(|it| matches!(it, EventKind::Accepted { .. })).await;
    advance(NIGHT).await;
    let results = turn.finish().await;
    assert_eq!(results.ended, [StoppedNotStarted], "{:?}", texts(&results));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_slept_through_its_time_has_its_call_refused_once() {
    let hook = Hook::before("hangs", Matcher::All, |_| async {
        tokio::time::timeout(2 * NIGHT, std::future::pending::<BeforeAnswer>())
            .await
            .unwrap_or_default()
    });
    let mut house = House::with(|it| it.hooks = vec![hook.timeout(60 * SECOND)]).await;
    let turn = house.turn([call("a", json!({}))]).await;
    house.until(|it| matches!(it, EventKind::Gated { .. } | EventKind::Accepted { .. })).await;
    advance(NIGHT).await;
    let results = turn.finish().await;
    assert!(texts(&results)[0].contains("did not answer in time"), "{:?}", texts(&results));
    assert_eq!(results.ended, [Refused]);
    house.close().await;
}
