//! Nested turns: calls that a call runs on its own behalf.

use std::num::NonZeroU16;
use std::time::Duration;

use harness::{House, asked, call, texts};
use serde_json::{Value, json};
use tokio::time::Instant;
use toolwright::{Answer, TurnResults};
use toolwright_contract::{Event, EventKind, HowEnded, StopName};

const ONE: NonZeroU16 = NonZeroU16::MIN;

/// A house in which one call runs at a time, nested ones included.
async fn narrow() -> House {
    House::with(|it| (it.width, it.session_width) = (ONE, ONE)).await
}

async fn in_time(house: &House, calls: Vec<toolwright::ToolUse>) -> TurnResults {
    let running = house.run(calls);
    tokio::time::timeout(Duration::from_secs(3_600), running).await.expect("no deadlock")
}

fn kinds(events: &[Event], is_it: impl Fn(&EventKind) -> bool) -> usize {
    events.iter().filter(|it| is_it(&it.kind)).count()
}

#[tokio::test(start_paused = true)]
async fn a_call_gets_the_results_of_its_nested_calls_in_order() {
    let house = House::open().await;
    let nested = json!({"nested": [{"ms": 20, "say": "a"}, {"ms": 10, "say": "b"}, {"fail": "c"}]});
    let results = house.run([call("1", nested)]).await;
    assert_eq!(texts(&results), ["a|b|c"]);
    let events = house.close().await;
    let parent = |it: &EventKind| matches!(it, EventKind::TurnOpened { parent: Some(parent), .. } if parent.as_str() == "1");
    assert_eq!(kinds(&events, parent), 1);
    assert_eq!(kinds(&events, |it| matches!(it, EventKind::Lent { call: 0 })), 1);
    assert_eq!(kinds(&events, |it| matches!(it, EventKind::Resumed { call: 0 })), 1);
}

#[tokio::test(start_paused = true)]
async fn where_one_call_may_run_at_a_time_nested_calls_run_all_the_same() {
    let house = narrow().await;
    let nested = json!({"nested": [{"say": "a"}, {"nested": [{"say": "b"}, {"alone": true}]}]});
    let calls = vec![call("1", nested), call("2", json!({"ms": 10}))];
    assert_eq!(texts(&in_time(&house, calls).await), ["a|b|ran", "ran"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_alone_may_nest_too() {
    let house = narrow().await;
    let nested = json!({"alone": true, "nested": [{"alone": true, "say": "a"}]});
    let calls = vec![call("1", nested), call("2", json!({"alone": true}))];
    assert_eq!(texts(&in_time(&house, calls).await), ["a", "ran"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_lends_its_width_to_its_siblings_while_it_waits_and_takes_it_back_first() {
    let house = House::with(|it| it.width = ONE).await;
    let nested = json!({"ms": 10, "nested": [{"ms": 100}]});
    let began = Instant::now();
    let calls =
        vec![call("1", nested), call("2", json!({"ms": 150})), call("3", json!({"ms": 10}))];
    in_time(&house, calls).await;
    // The second runs beside the nested one; the first has its width back before the third.
    assert_eq!(began.elapsed(), Duration::from_millis(170));
    let events = house.close().await;
    let at = |is_it: &dyn Fn(&EventKind) -> bool| events.iter().position(|it| is_it(&it.kind));
    let resumed = at(&|it| matches!(it, EventKind::Resumed { call: 0 })).unwrap();
    let third = at(&|it| matches!(it, EventKind::Started { call: 2 })).unwrap();
    assert!(resumed < third);
}

#[tokio::test(start_paused = true)]
async fn several_nested_turns_of_one_call_may_run_at_once() {
    let house = narrow().await;
    let nested = json!({"split": true, "nested": [{"ms": 10}, {"ms": 30}, {"ms": 20}]});
    assert_eq!(texts(&in_time(&house, vec![call("1", nested)]).await), ["ran|ran|ran"]);
    let events = house.close().await;
    assert_eq!(kinds(&events, |it| matches!(it, EventKind::Lent { .. })), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_may_give_up_waiting_for_its_nested_calls_and_nest_again() {
    let house = narrow().await;
    let nested = json!({"patience": 10, "nested": [{"ms": 50, "say": "late"}]});
    let calls = vec![call("1", nested), call("2", json!({}))];
    assert_eq!(texts(&in_time(&house, calls).await), ["late", "ran"]);
    let events = house.close().await;
    let discarded = EventKind::Stopping { call: 0, cause: StopName::Discarded, culprit: None };
    assert_eq!(kinds(&events, |it| *it == discarded), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_on_without_its_nested_calls_has_its_width_back() {
    let mut house = narrow().await;
    let nested = json!({"patience": 10, "gives_up": true, "nested": [{"ms": 50}], "ms": 100});
    let turn = house.turn([call("1", nested), call("2", json!({"ms": 5}))]).await;
    house.until(|it| matches!(it, EventKind::Resumed { call: 0 })).await;
    assert_eq!(texts(&turn.finish().await), ["gave up", "ran"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_of_the_parent_reaches_the_calls_of_its_calls() {
    let mut house = House::open().await;
    let deep = json!({"nested": [{"nested": [{"ms": 60_000}]}]});
    let turn = house.turn([call("1", deep)]).await;
    let innermost =
        |it: &EventKind| matches!(it, EventKind::Accepted { id, .. } if id.as_str() == "1.0.0");
    house.until(innermost).await;
    house.started(0).await;
    let began = Instant::now();
    turn.stopper().interrupt();
    assert_eq!(turn.finish().await.ended, [HowEnded::StoppedMayHaveRun]);
    assert_eq!(began.elapsed(), Duration::ZERO);
    let events = house.close().await;
    let stopped = EventKind::Stopping { call: 0, cause: StopName::User, culprit: None };
    assert_eq!(kinds(&events, |it| *it == stopped), 3);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_stopped_while_it_waits_for_its_width_ends_at_once() {
    let mut house = House::with(|it| it.width = ONE).await;
    let turn = house
        .turn([call("1", json!({"nested": [{"ms": 10}]})), call("2", json!({"ms": 3_000}))])
        .await;
    let nested_over = |it: &EventKind| matches!(it, EventKind::TurnFinished { .. });
    house.until(nested_over).await;
    let stopper = turn.stopper();
    let began = Instant::now();
    let stopping = async {
        tokio::time::advance(Duration::from_secs(1)).await;
        stopper.stop(&"1".into());
    };
    let first_over = house.until(|it| matches!(it, EventKind::Emitted { call: 0, .. }));
    let (event, ()) = tokio::join!(first_over, stopping);
    let EventKind::Emitted { ended, .. } = event.kind else { panic!("emitted") };
    assert_eq!(ended, HowEnded::StoppedMayHaveRun);
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    turn.finish().await;
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn calls_nest_eight_deep_and_no_deeper() {
    let house = narrow().await;
    let deep = |levels: usize| {
        (0..levels).fold(json!({"say": "bottom"}), |it: Value, _| json!({"nested": [it]}))
    };
    let calls = vec![call("8", deep(8)), call("9", deep(9))];
    let told = texts(&in_time(&house, calls).await);
    assert_eq!(told[0], "bottom");
    assert!(told[1].contains("calls may nest at most 8 deep. It was not started."), "{}", told[1]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_cap_of_the_session_counts_nested_calls_and_not_who_waits_for_them() {
    let two = NonZeroU16::new(2).unwrap();
    let house = House::with(|it| it.session_width = two).await;
    let nested = json!({"nested": [{"ms": 10}, {"ms": 10}, {"ms": 10}, {"ms": 10}]});
    let began = Instant::now();
    in_time(&house, vec![call("1", nested.clone()), call("2", nested)]).await;
    assert_eq!(began.elapsed(), Duration::from_millis(40));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_nested_turn_that_is_opened_as_the_session_closes_is_told_so() {
    let mut house = House::open().await;
    let slow = json!({"ms": 10, "deaf": true, "nested": [{"ms": 600_000}]});
    let turn = house.turn([call("1", slow)]).await;
    house.started(0).await;
    house.started(0).await;
    let (results, events) = tokio::join!(turn.finish(), house.close());
    // It paid no heed, and finished in time.
    assert_eq!(results.ended, [HowEnded::Ok]);
    assert!(texts(&results)[0].contains("the session ends"), "{:?}", texts(&results));
    assert_eq!(kinds(&events, |it| matches!(it, EventKind::TurnFinished { .. })), 2);
}

/// Runs the calls where each may run for a second, and answers each question after so many hours.
async fn answered_late(calls: Vec<toolwright::ToolUse>, hours: &[u64]) -> TurnResults {
    let house = House::with(|it| it.deadline = Some(Duration::from_secs(1))).await;
    let mut questions = house.session.questions();
    let turn = house.turn(calls).await;
    let answering = async {
        for hours in hours {
            let ask = asked(&mut questions).await;
            for _ in 0..hours * 3_600 {
                tokio::time::advance(Duration::from_secs(1)).await;
            }
            house.session.answer(ask.request, Answer::Allow);
        }
    };
    let (results, ()) = tokio::join!(turn.finish(), answering);
    house.close().await;
    results
}

#[tokio::test(start_paused = true)]
async fn no_deadline_passes_while_a_person_is_asked_about_a_nested_call() {
    let asks = json!({"ms": 400, "person": true});
    let twice = json!({"ms": 100, "nested": [asks, {"nested": [asks]}]});
    let results = answered_late(vec![call("1", twice)], &[1, 2]).await;
    assert_eq!(texts(&results), ["ran|ran"]);
}

#[tokio::test(start_paused = true)]
async fn the_time_before_and_after_a_question_about_a_nested_call_counts_together() {
    let asks = json!({"ms": 600, "person": true});
    let before_and_after = json!({"nested": [{"alone": true, "ms": 600}, asks]});
    let began = Instant::now();
    let results = answered_late(vec![call("1", before_and_after)], &[1]).await;
    assert!(texts(&results)[0].contains("Timed out"), "{:?}", texts(&results));
    assert_eq!(began.elapsed(), Duration::from_millis(3_600_000 + 1_000));
}

#[tokio::test(start_paused = true)]
async fn a_question_about_a_nested_call_holds_up_no_call_beside_its_parent() {
    let asks = json!({"nested": [{"ms": 400, "person": true}]});
    let calls = vec![call("asks", asks), call("beside", json!({"ms": 5_000}))];
    let results = answered_late(calls, &[1]).await;
    assert_eq!(results.ended, [HowEnded::Ok, HowEnded::StoppedMayHaveRun]);
}
