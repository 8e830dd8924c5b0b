//! Changes of the session's context: whose count, in which order, and what a bad one breaks.

use std::time::Duration;

use harness::{House, Scripted, call, call_of, texts};
use serde_json::{Value, json};
use toolwright::{AnyTool, AppState, Identity, Registry};
use toolwright_contract::{Event, EventKind};

fn trail(house: &House) -> Option<Value> {
    house.session.context().values.get("trail").cloned()
}

fn changes(events: &[Event]) -> Vec<(u32, Option<&str>)> {
    let changed = |it: &'_ Event| matches!(it.kind, EventKind::ContextChanged { .. });
    let changes = events.iter().filter(|it| changed(it));
    changes
        .filter_map(|it| {
            if let EventKind::ContextChanged { call, ignored } = &it.kind {
                Some((*call, ignored.as_deref()))
            } else {
                None
            }
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn changes_of_calls_that_run_alone_are_made_in_the_order_of_the_calls() {
    let house = House::open().await;
    let change = |id, mark| call(id, json!({"alone": true, "trail": mark, "ms": 10}));
    house.run([change("1", "a"), change("2", "b"), change("3", "c")]).await;
    assert_eq!(trail(&house), Some(json!("abc")));
    assert_eq!(changes(&house.close().await), [(0, None), (1, None), (2, None)]);
}

#[tokio::test(start_paused = true)]
async fn a_later_call_sees_the_change_of_an_earlier_one() {
    let house = House::open().await;
    house.run([call("1", json!({"alone": true, "trail": "a"}))]).await;
    house.run([call("2", json!({"alone": true, "trail": "b"}))]).await;
    assert_eq!(trail(&house), Some(json!("ab")));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn changes_of_safe_calls_are_left_out_and_reported_whatever_order_they_end_in() {
    for times in [[10, 20], [20, 10]] {
        let house = House::open().await;
        let calls = times.map(|ms| call(&ms.to_string(), json!({"trail": "x", "ms": ms})));
        let results = house.run(calls).await;
        assert_eq!((texts(&results), trail(&house)), (vec!["ran".into(), "ran".into()], None));
        let events = house.close().await;
        let mut changes = changes(&events);
        changes.sort_unstable();
        let why = Some("it did not run alone");
        assert_eq!(changes, [(0, why), (1, why)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_that_fails_or_panics_is_left_out_and_reported_and_the_result_stands() {
    let house = House::open().await;
    let results = house
        .run([
            call("1", json!({"alone": true, "bad_change": "error"})),
            call("2", json!({"alone": true, "bad_change": "panic"})),
            call("3", json!({"alone": true, "trail": "a"})),
        ])
        .await;
    assert_eq!(texts(&results), ["ran", "ran", "ran"]);
    assert_eq!(trail(&house), Some(json!("a")));
    let events = house.close().await;
    let told = changes(&events);
    assert_eq!(told, [(0, Some("the change fails")), (1, Some("it crashed")), (2, None)]);
}

#[tokio::test(start_paused = true)]
async fn the_change_of_a_call_that_failed_is_never_asked_for() {
    let house = House::open().await;
    house.run([call("1", json!({"alone": true, "trail": "a", "fail": "no"}))]).await;
    assert_eq!(trail(&house), None);
    assert!(changes(&house.close().await).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_of_two_turns_at_once_are_all_made() {
    const CALLS: usize = 50;
    let house = House::open().await;
    let calls = || (0..CALLS).map(|n| call(&n.to_string(), json!({"alone": true, "trail": "x"})));
    tokio::join!(house.run(calls()), house.run(calls()));
    let context = house.session.context();
    assert_eq!(context.values["trail"].as_str().map(str::len), Some(2 * CALLS));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_told_whose_call_it_is_and_what_it_may_use() {
    let house = House::with_tools(
        [
            AnyTool::new(Scripted::new()),
            AnyTool::new(Scripted::named("Timed").deadline(Duration::from_secs(9))),
        ],
        |it| {
            it.identity = Identity { session: "s1".into(), agent: Some("a1".into()) };
            it.state = AppState::default().with("shared".to_owned()).with(5_u8);
            it.deadline = Some(Duration::from_secs(60));
        },
    )
    .await;
    let mut turn = house.turn([]).await;
    // A turn is told of its own tools, whatever is on offer by now.
    house.session.set_tools(Registry::default());
    let script = json!({"tells_context": true});
    turn.submit(call("a", script.clone())).await.unwrap();
    turn.submit(call_of("Timed", "b", script)).await.unwrap();
    insta::assert_snapshot!(texts(&turn.finish().await).join("\n"), @r#"
    s1 Some("a1") ["Scripted", "Timed"] Some(60s) Some("shared")
    s1 Some("a1") ["Scripted", "Timed"] Some(9s) Some("shared")
    "#);
    house.close().await;
}
