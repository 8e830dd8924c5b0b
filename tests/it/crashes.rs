//! Panics and hangs of what an embedder brings: tools, hooks, start logs.

use std::sync::Arc;
use std::time::Duration;

use harness::{House, OnStart, call, call_of, texts};
use serde_json::json;
use tokio::time::Instant;
use toolwright::ToolError::Stopped;
use toolwright::{AfterAnswer, BeforeAnswer, Hook, Matcher, StartAck, StartRecord, tool};
use toolwright_contract::{EventKind, HowEnded};

#[tokio::test(start_paused = true)]
async fn a_tool_that_ends_as_if_stopped_though_nobody_stopped_it_is_told_as_crashed() {
    let lies = tool("Lies", "Gives up.").run(async |_: Nothing, _| Err::<String, _>(Stopped));
    let house = House::with_tools([lies], |_| {}).await;
    let results = house.run([call_of("Lies", "a", json!({}))]).await;
    assert_eq!(results.ended, [HowEnded::Crashed]);
    assert!(texts(&results)[0].contains("nobody had stopped it"), "{:?}", texts(&results));
    house.close().await;
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test(start_paused = true)]
async fn a_panic_in_any_part_of_a_tool_concerns_its_call_alone() {
    let house = House::open().await;
    let results = house
        .run([
            call("safety", json!({"panic_in": "safety"})),
            call("validate", json!({"panic_in": "validate"})),
            call("start", json!({"panic_in": "start"})),
            call("await", json!({"ms": 10, "panic": "after the await"})),
            call("output", json!({"panic_in": "output"})),
            call("beside", json!({"ms": 20})),
        ])
        .await;
    use HowEnded::{Crashed, Ok, Refused};
    assert_eq!(results.ended, [Refused, Refused, Crashed, Crashed, Ok, Ok]);
    let told = texts(&results);
    assert!(told[0].contains("crashed while it read its input"), "{}", told[0]);
    assert!(told[1].contains("crashed while it read its input"), "{}", told[1]);
    assert!(told[2].contains("the tool crashed: it panics in start"), "{}", told[2]);
    assert!(told[3].contains("the tool crashed: after the await"), "{}", told[3]);
    assert!(
        told[4].contains("The tool succeeded, but its output could not be shown"),
        "{}",
        told[4]
    );
    assert_eq!(told[5], "ran");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_hook_before_that_panics_or_hangs_denies_the_call() {
    let hook = Hook::before("guard", Matcher::All, |call| async move {
        match call.id.as_str() {
            "panics" => panic!("the hook panics"),
            "hangs" => std::future::pending().await,
            _ => BeforeAnswer::default(),
        }
    });
    let eager = Hook::before("eager", Matcher::All, |call: toolwright::BeforeCall| {
        assert!(call.id.as_str() != "eager", "it panics before it makes a future");
        async { BeforeAnswer::default() }
    });
    let hooks = vec![hook.timeout(Duration::from_secs(3)), eager];
    let house = House::with(|it| it.hooks = hooks).await;
    let began = Instant::now();
    let ids = ["panics", "hangs", "eager", "fine"];
    let results = house.run(ids.map(|id| call(id, json!({})))).await;
    use HowEnded::{Ok, Refused};
    assert_eq!(results.ended, [Refused, Refused, Refused, Ok]);
    let told = texts(&results);
    assert!(
        told[0].contains("The hook guard crashed, so the call was not started."),
        "{}",
        told[0]
    );
    assert!(told[1].contains("The hook guard did not answer in time"), "{}", told[1]);
    assert!(told[2].contains("The hook eager crashed"), "{}", told[2]);
    assert_eq!(began.elapsed(), Duration::from_secs(3));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_hook_after_that_panics_or_hangs_leaves_the_result_as_it_is_and_says_so() {
    let hook = Hook::after("critic", Matcher::All, |call| async move {
        match call.id.as_str() {
            "panics" => panic!("the hook panics"),
            "hangs" => std::future::pending().await,
            _ => AfterAnswer::default(),
        }
    });
    let house = House::with(|it| it.hooks = vec![hook.timeout(Duration::from_secs(3))]).await;
    let calls = [call("panics", json!({})), call("hangs", json!({"fail": "no"}))];
    let results = house.run(calls).await;
    assert_eq!(results.ended, [HowEnded::Ok, HowEnded::Error]);
    assert_eq!(texts(&results), ["ran", "no"]);
    assert_eq!(
        results.notes,
        [
            "The call panics succeeded; the hook critic after it crashed.",
            "The call hangs failed; the hook critic after it did not answer in time.",
        ]
    );
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_hook_after_that_hangs_does_not_hold_up_a_shutdown() {
    let hook = Hook::after("hangs", Matcher::All, |_| std::future::pending());
    let mut house = House::with(|it| it.hooks = vec![hook.timeout(Duration::MAX)]).await;
    let turn = house.turn([call("a", json!({}))]).await;
    house.until(|it| matches!(it, EventKind::Returned { .. })).await;
    let (results, events) = tokio::join!(turn.finish(), house.close());
    assert_eq!(results.ended, [HowEnded::Ok]);
    assert!(!events.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_log_that_panics_keeps_its_call_from_starting_and_nothing_else() {
    let broken = |_: StartRecord, _: StartAck| panic!("the log panics");
    let house = House::with(|it| it.log = Some(Arc::new(OnStart(broken)))).await;
    let results = house.run([call("a", json!({"writes": true})), call("b", json!({}))]).await;
    assert_eq!(results.ended, [HowEnded::Refused, HowEnded::Ok]);
    assert!(texts(&results)[0].contains("the start of this call could not be recorded"));
    house.close().await;
}
