//! What a model may send: bad JSON, wrong shapes, unknown tools, ids that come again.

use harness::{House, call, call_of, ids, texts};
use serde_json::json;
use toolwright::{SubmitError, ToolUse};
use toolwright_contract::{EventKind, HowEnded, RawInput};

use HowEnded::{Ok, Refused};

#[tokio::test(start_paused = true)]
async fn input_that_is_not_json_is_answered_with_the_position_and_its_siblings_run() {
    let house = House::open().await;
    let raw = r#"{"ms": 1"#.to_owned();
    let error = serde_json::from_str::<serde_json::Value>(&raw).unwrap_err().to_string();
    let input = RawInput::Malformed { raw, error };
    let broken = ToolUse { id: "a".into(), name: "Scripted".into(), input };
    let results = house.run([broken, call("b", json!({}))]).await;
    assert_eq!(results.ended, [Refused, Ok]);
    assert!(texts(&results)[0].contains("EOF while parsing an object at line 1 column 8"));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn input_of_the_wrong_shape_is_answered_before_anything_is_asked() {
    let house = House::open().await;
    let wrong =
        [json!({"ms": "x"}), json!({"more": 1}), json!({"ms": -1}), json!({"ms": null}), json!(1)];
    let results =
        house.run(wrong.into_iter().enumerate().map(|(n, it)| call(&n.to_string(), it))).await;
    assert_eq!(results.ended, [Refused; 5]);
    assert!(texts(&results).iter().all(|it| it.contains("InputValidationError")));
    let events = house.close().await;
    assert!(!events.iter().any(|it| matches!(it.kind, EventKind::Gated { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_block_whose_id_the_message_has_used_is_reported_and_never_runs() {
    let mut house = House::open().await;
    let mut turn = house.turn([call("a", json!({"say": "first"}))]).await;
    let again = turn.submit(call("a", json!({"say": "second"}))).await;
    assert_eq!(again, Err(SubmitError::DuplicateId("a".into())));
    turn.submit(call("b", json!({}))).await.unwrap();
    let results = turn.finish().await;
    assert_eq!(
        (ids(&results), texts(&results)),
        (vec!["a", "b"], vec!["first".into(), "ran".into()])
    );
    assert_eq!(results.duplicates, ["a".into()]);
    let events = house.events();
    assert!(events.iter().any(|it| it.kind == EventKind::Duplicate { id: "a".into() }));
    // The next message is none the worse for it.
    assert_eq!(texts(&house.run([call("a", json!({"say": "later"}))]).await), ["later"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_name_that_no_tool_has_is_answered_and_the_others_finish() {
    let house = House::open().await;
    let endless = "n".repeat(10_000);
    let names = ["", "Nobody", "Scripted ", "scripted", "a\u{0}\u{1b}[31m\nb", &endless];
    let calls = names.iter().enumerate().map(|(n, it)| call_of(it, &n.to_string(), json!({})));
    let results = house.run(calls.chain([call("fine", json!({}))])).await;
    assert_eq!(results.ended[..6], [Refused; 6]);
    assert_eq!(results.ended[6], Ok);
    for text in &texts(&results)[..6] {
        assert!(text.contains("Error: No such tool available: "), "{text}");
        assert!(text.len() < 1_000 && !text.contains(|it: char| it.is_control()), "{text:?}");
    }
    let events = house.close().await;
    let longest = events.iter().filter_map(|it| {
        if let EventKind::Accepted { tool, .. } = &it.kind {
            Some(tool.chars().count())
        } else {
            None
        }
    });
    assert!(longest.max().unwrap() <= 129);
}

#[tokio::test(start_paused = true)]
async fn a_message_without_calls_has_no_message_to_answer_it() {
    let house = House::open().await;
    let results = house.run([]).await;
    assert_eq!((results.results.len(), results.to_message()), (0, None));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_sealed_turn_takes_no_call() {
    let house = House::open().await;
    let mut turn = house.turn([call("a", json!({}))]).await;
    turn.seal();
    turn.seal();
    assert_eq!(turn.submit(call("b", json!({}))).await, Err(SubmitError::Sealed));
    assert_eq!(ids(&turn.finish().await), ["a"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_with_more_calls_than_the_limit_is_refused_as_a_whole() {
    let house = House::with(|it| it.max_calls = 3).await;
    let results = house.run((0..5).map(|n| call(&n.to_string(), json!({"ms": 60_000})))).await;
    let told = texts(&results);
    assert_eq!(told.len(), 5);
    assert!(told.iter().all(|it| it.contains("the message has too many tool calls")), "{told:?}");
    assert!(!results.ended.contains(&Ok));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_message_of_results_carries_each_id_once_and_says_which_failed() {
    let house = House::open().await;
    let results = house.run([call("a", json!({})), call("b", json!({"fail": "no"}))]).await;
    assert_eq!(
        results.to_message().unwrap(),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "ran"},
            {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": true},
        ]})
    );
    house.close().await;
}
