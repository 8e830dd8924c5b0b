//! A call that fails and its siblings, at each stage and under each policy.

use harness::{House, asked, call, texts};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;
use toolwright::{BeforeAnswer, Cascade, Hook, Matcher, Otherwise, Question, Rules};
use toolwright_actors::Config;
use toolwright_contract::{Event, EventKind, HowEnded, StopName};

const NOT_STARTED: &str = "This call had not started.";
const STARTED: &str = "This call had started; what it has done is unknown.";

/// A call that fails after 10 ms so that its siblings are stopped where failures say so.
fn bad() -> Value {
    json!({"ms": 10, "fail": "exit 1", "cascades": true})
}

async fn under(cascade: Cascade) -> House {
    House::with(|it| it.cascade = cascade).await
}

/// The stopped sibling says who failed and whether it had itself started.
fn assert_cancelled(text: &str, how_far: &str) {
    assert_eq!(
        text,
        format!(
            "<tool_use_error>Cancelled: parallel tool call Scripted(exit 1) errored. {how_far}\
             </tool_use_error>"
        )
    );
}

fn starts(events: &[Event]) -> Vec<u32> {
    let started =
        |it: &Event| if let EventKind::Started { call } = it.kind { Some(call) } else { None };
    events.iter().filter_map(started).collect()
}

#[tokio::test(start_paused = true)]
async fn a_queued_sibling_never_starts() {
    let house = House::open().await;
    let results = house.run([call("a", bad()), call("b", json!({"alone": true}))]).await;
    assert_cancelled(&texts(&results)[1], NOT_STARTED);
    assert_eq!(starts(&house.close().await), [0]);
}

#[tokio::test(start_paused = true)]
async fn a_sibling_in_a_hook_is_cancelled_and_its_hook_is_dropped() {
    let think = |it: &mut Config| {
        it.hooks = vec![Hook::before("thinker", Matcher::All, |call| async move {
            if call.id.as_str() == "b" {
                std::future::pending::<()>().await;
            }
            BeforeAnswer::default()
        })];
    };
    let house = House::with(think).await;
    let began = Instant::now();
    let results = house.run([call("a", bad()), call("b", json!({}))]).await;
    assert_cancelled(&texts(&results)[1], NOT_STARTED);
    assert_eq!(began.elapsed(), Duration::from_millis(10));
    assert_eq!(starts(&house.close().await), [0]);
}

#[tokio::test(start_paused = true)]
async fn the_question_of_a_sibling_is_withdrawn_and_a_late_answer_ignored() {
    let house = House::with(|it| {
        it.rules = Rules { otherwise: Otherwise::Ask, ..Rules::default() }.into();
    })
    .await;
    let mut questions = house.session.questions();
    let turn = house.turn([call("a", bad()), call("b", json!({"writes": true}))]).await;
    let ask = asked(&mut questions).await;
    let results = turn.finish().await;
    assert_eq!(questions.recv().await, Some(Question::Withdrawn(ask.request)));
    house.session.answer(ask.request, toolwright::Answer::Allow);
    assert_cancelled(&texts(&results)[1], NOT_STARTED);
    let events = house.close().await;
    assert_eq!(starts(&events), [0]);
    let withdrawn = EventKind::Withdrawn { request: ask.request };
    assert!(events.iter().any(|it| it.kind == withdrawn));
}

#[tokio::test(start_paused = true)]
async fn a_running_sibling_is_stopped() {
    let house = House::open().await;
    let began = Instant::now();
    let results = house.run([call("a", bad()), call("b", json!({"ms": 60_000}))]).await;
    assert_cancelled(&texts(&results)[1], STARTED);
    assert_eq!(began.elapsed(), Duration::from_millis(10));
    let events = house.close().await;
    let stopping = EventKind::Stopping { call: 1, cause: StopName::Sibling, culprit: Some(0) };
    assert!(events.iter().any(|it| it.kind == stopping));
}

#[tokio::test(start_paused = true)]
async fn a_running_sibling_that_blocks_a_users_interrupt_is_stopped_all_the_same() {
    let house = House::open().await;
    let results =
        house.run([call("a", bad()), call("b", json!({"ms": 60_000, "block": true}))]).await;
    assert_cancelled(&texts(&results)[1], STARTED);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_deaf_sibling_is_answered_after_the_grace_period_and_tracked_until_it_ends() {
    let mut house = House::open().await;
    let began = Instant::now();
    let results =
        house.run([call("a", bad()), call("b", json!({"ms": 60_000, "deaf": true}))]).await;
    assert_cancelled(&texts(&results)[1], STARTED);
    assert_eq!(began.elapsed(), Duration::from_millis(5_010));
    assert_eq!(house.session.overdue(), 1);
    house.until(|it| matches!(it, EventKind::Gone { call: 1 })).await;
    assert_eq!((began.elapsed(), house.session.overdue()), (Duration::from_secs(60), 0));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_sibling_whose_result_is_being_kept_keeps_it() {
    let slow = Hook::after("slow", Matcher::All, |_| async {
        tokio::time::timeout(Duration::from_millis(500), std::future::pending::<()>()).await.ok();
        toolwright::AfterAnswer::default()
    });
    let house = House::with(|it| it.hooks = vec![slow]).await;
    let results = house.run([call("a", bad()), call("b", json!({"ms": 5}))]).await;
    assert_eq!(texts(&results), ["exit 1", "ran"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_finished_sibling_is_unchanged() {
    let mut house = House::open().await;
    let mut turn = house.turn([call("a", json!({"say": "first"}))]).await;
    house.until(|it| matches!(it, EventKind::Emitted { call: 0, .. })).await;
    turn.submit(call("b", bad())).await.unwrap();
    assert_eq!(texts(&turn.finish().await), ["first", "exit 1"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_arrives_after_the_failure_is_cancelled_too() {
    let mut house = House::open().await;
    let mut turn = house.turn([call("a", bad())]).await;
    house.until(|it| matches!(it, EventKind::Emitted { call: 0, .. })).await;
    turn.submit(call("b", json!({}))).await.unwrap();
    assert_cancelled(&texts(&turn.finish().await)[1], NOT_STARTED);
    assert_eq!(starts(&house.close().await), [0]);
}

#[tokio::test(start_paused = true)]
async fn the_nested_calls_of_a_sibling_are_stopped_with_it() {
    let house = House::open().await;
    let began = Instant::now();
    let nested = json!({"nested": [{"ms": 60_000}, {"ms": 60_000, "nested": [{"ms": 60_000}]}]});
    let results = house.run([call("a", bad()), call("b", nested)]).await;
    assert_cancelled(&texts(&results)[1], STARTED);
    assert_eq!(began.elapsed(), Duration::from_millis(10));
    let stopped = EventKind::Stopping { call: 0, cause: StopName::Discarded, culprit: None };
    let events = house.close().await;
    assert_eq!(events.iter().filter(|it| it.kind == stopped).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_failure_inside_a_nested_turn_concerns_that_turn_alone() {
    let house = House::open().await;
    let nested = json!({"nested": [bad(), {"ms": 20}], "ms": 20});
    let results = house.run([call("a", nested), call("b", json!({"ms": 50}))]).await;
    assert_eq!(results.ended, [HowEnded::Ok, HowEnded::Ok]);
    let told = texts(&results);
    assert!(told[0].starts_with("exit 1|<tool_use_error>Cancelled"), "{}", told[0]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn two_that_fail_at_one_instant_keep_their_own_errors_and_the_others_name_the_first() {
    let house = House::open().await;
    let fails = |say: &str| json!({"ms": 10, "fail": say, "cascades": true});
    let results = house
        .run([
            call("a", json!({"ms": 60_000})),
            call("b", fails("exit 1")),
            call("c", fails("exit 2")),
            call("d", json!({"alone": true})),
        ])
        .await;
    let told = texts(&results);
    assert_eq!(told[1..3], ["exit 1", "exit 2"]);
    assert_cancelled(&told[0], STARTED);
    assert_cancelled(&told[3], NOT_STARTED);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn under_never_no_sibling_is_touched_at_any_stage() {
    let ask = |it: &mut Config| {
        it.cascade = Cascade::Never;
        it.rules = Rules { otherwise: Otherwise::Ask, ..Rules::default() }.into();
    };
    let house = House::with(ask).await;
    let mut questions = house.session.questions();
    let turn = house
        .turn([
            call("a", bad()),
            call("b", json!({"writes": true})),
            call("c", json!({"ms": 50})),
            call("d", json!({"alone": true})),
        ])
        .await;
    let ask = asked(&mut questions).await;
    let answering = async {
        tokio::time::advance(Duration::from_millis(100)).await;
        house.session.answer(ask.request, toolwright::Answer::Allow);
    };
    let (results, ()) = tokio::join!(turn.finish(), answering);
    assert_eq!(texts(&results), ["exit 1", "ran", "ran", "ran"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn under_any_a_failure_that_says_nothing_and_a_crash_stop_siblings_too() {
    for failing in [json!({"ms": 10, "fail": "x"}), json!({"ms": 10, "panic": "x"})] {
        let house = under(Cascade::Any).await;
        let results = house.run([call("a", failing), call("b", json!({"ms": 60_000}))]).await;
        assert_eq!(results.ended[1], HowEnded::StoppedMayHaveRun);
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn under_declared_a_crash_and_a_failure_that_says_nothing_concern_nobody_else() {
    for failing in [json!({"ms": 10, "fail": "x"}), json!({"ms": 10, "panic": "x"})] {
        let house = under(Cascade::Declared).await;
        let results = house.run([call("a", failing), call("b", json!({"ms": 50}))]).await;
        assert_eq!(results.ended[1], HowEnded::Ok);
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_ran_stops_nobody_even_under_any() {
    let deny = |it: &mut Config| {
        it.cascade = Cascade::Any;
        it.hooks = vec![Hook::before("no", Matcher::All, |call| async move {
            let no = toolwright::HookDecision::Deny("no".into());
            let decision = (call.id.as_str() == "denied").then_some(no);
            BeforeAnswer { decision, ..BeforeAnswer::default() }
        })];
    };
    let house = House::with(deny).await;
    let results = house
        .run([
            call("denied", json!({})),
            call("invalid", json!({"invalid": "no"})),
            call("misfit", json!({"ms": "x"})),
            harness::call_of("Nobody", "unknown", json!({})),
            call("fine", json!({"ms": 50})),
        ])
        .await;
    assert_eq!(results.ended[4], HowEnded::Ok);
    assert!(results.ended[..4].iter().all(|it| *it == HowEnded::Refused));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn one_that_is_stopped_by_the_user_stops_nobody() {
    let mut house = under(Cascade::Any).await;
    let turn = house.turn([call("a", json!({"ms": 60_000})), call("b", json!({"ms": 50}))]).await;
    house.started(1).await;
    turn.stopper().stop(&"a".into());
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun, HowEnded::Ok]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_has_not_begun_when_its_stop_is_told_never_begins() {
    // A sibling fails while the call is on its way to its start, at each step of that way.
    for yields in 0..40 {
        let house = House::open().await;
        let failing = json!({"ms": 10, "yields": yields, "fail": "exit 1", "cascades": true});
        let results = house.run([call("a", json!({"check_ms": 10})), call("b", failing)]).await;
        assert!(!texts(&results)[0].contains("it began after its stop"), "{yields} yields");
        house.close().await;
    }
}
