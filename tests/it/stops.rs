//! Stops of every kind: whom they reach, how soon, and what a call that pays no heed keeps.

use std::time::Duration;

use harness::{House, OnStart, Scripted, asked, call, call_of, texts};
use serde_json::json;
use tokio::time::Instant;
use toolwright::{Answer, Otherwise, Rules, StartAck};
use toolwright_contract::{AnyTool, Event, EventKind, HowEnded, StopName};

const SECOND: Duration = Duration::from_secs(1);

fn starts(events: &[Event]) -> usize {
    events.iter().filter(|it| matches!(it.kind, EventKind::Started { .. })).count()
}

fn deaf(seconds: u64) -> serde_json::Value {
    json!({"ms": seconds * 1_000, "deaf": true})
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_stops_what_waits_and_what_runs_and_passes_by_who_asked_to_finish() {
    let mut house = House::open().await;
    let turn = house
        .turn([
            call("runs", json!({"ms": 60_000})),
            call("blocks", json!({"ms": 100, "block": true})),
            call("waits", json!({"alone": true})),
        ])
        .await;
    house.started(1).await;
    turn.stopper().interrupt();
    let results = turn.finish().await;
    let told = texts(&results);
    assert!(told[0].contains("Interrupted by the user. This call had started"), "{}", told[0]);
    assert_eq!(told[1], "ran");
    assert!(told[2].contains("Interrupted by the user. This call had not started"), "{}", told[2]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_arrives_after_an_interrupt_never_starts() {
    let house = House::open().await;
    let mut turn = house.turn([]).await;
    turn.stopper().interrupt();
    turn.submit(call("a", json!({"block": true}))).await.unwrap();
    assert_eq!(turn.finish().await.ended, [HowEnded::StoppedNotStarted]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_of_the_session_reaches_every_turn() {
    let mut house = House::open().await;
    let one = house.turn([call("a", json!({"ms": 60_000}))]).await;
    let two = house.turn([call("b", json!({"ms": 60_000}))]).await;
    house.started(0).await;
    house.started(0).await;
    house.session.interrupt();
    for turn in [one, two] {
        assert_eq!(turn.finish().await.ended, [HowEnded::StoppedMayHaveRun]);
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn one_call_can_be_stopped_in_each_stage() {
    let mut house = House::open().await;
    let turn = house
        .turn([
            call("checks", json!({"check_ms": 60_000})),
            call("runs", json!({"ms": 60_000, "block": true})),
            call("waits", json!({"alone": true})),
            call("stays", json!({"ms": 50})),
        ])
        .await;
    house.started(1).await;
    for id in ["checks", "runs", "waits"] {
        turn.stopper().stop(&id.into());
    }
    let results = turn.finish().await;
    use HowEnded::{Ok, StoppedMayHaveRun, StoppedNotStarted};
    assert_eq!(results.ended, [StoppedNotStarted, StoppedMayHaveRun, StoppedNotStarted, Ok]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_of_a_call_that_its_scheduler_has_not_seen_yet_is_kept_for_it() {
    let house = House::open().await;
    let turn = house.turn([call("a", json!({"ms": 60_000}))]).await;
    // Nothing has run between the submit and this.
    turn.stopper().stop(&"a".into());
    assert_eq!(turn.finish().await.ended, [HowEnded::StoppedNotStarted]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn stops_that_come_twice_too_late_or_for_nobody_do_nothing() {
    let mut house = House::open().await;
    let turn = house.turn([call("a", json!({})), call("b", json!({"ms": 50}))]).await;
    let stopper = turn.stopper();
    house.until(|it| matches!(it, EventKind::Emitted { call: 0, .. })).await;
    for id in ["a", "nobody", "b", "b"] {
        stopper.stop(&id.into());
    }
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::Ok, HowEnded::StoppedMayHaveRun]);
    stopper.interrupt();
    stopper.stop(&"b".into());
    stopper.discard();
    assert_eq!(house.run([call("c", json!({}))]).await.ended, [HowEnded::Ok]);
    let events = house.close().await;
    let stops = events.iter().filter(|it| matches!(it.kind, EventKind::Stopping { .. })).count();
    assert_eq!(stops, 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_finished_before_it_heard_its_stop_keeps_its_true_result() {
    let mut house = House::open().await;
    let turn = house.turn([call("a", json!({"ms": 50, "deaf": true, "say": "true"}))]).await;
    house.started(0).await;
    turn.stopper().interrupt();
    let results = turn.finish().await;
    assert_eq!((texts(&results), results.ended[0]), (vec!["true".into()], HowEnded::Ok));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_discarded_message_stops_everything_blocking_calls_too() {
    let mut house = House::open().await;
    let turn = house
        .turn([call("a", json!({"ms": 60_000, "block": true})), call("b", json!({"alone": true}))])
        .await;
    house.started(0).await;
    turn.stopper().discard();
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun, HowEnded::StoppedNotStarted]);
    assert!(texts(&results)[0].contains("broke off and is discarded"));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn dropping_the_handle_discards_its_turn() {
    let mut house = House::open().await;
    let turn = house.turn([call("a", json!({"ms": 60_000}))]).await;
    house.started(0).await;
    drop(turn);
    house.until(|it| matches!(it, EventKind::TurnFinished { calls: 1 })).await;
    let events = house.close().await;
    let stopping = EventKind::Stopping { call: 0, cause: StopName::Discarded, culprit: None };
    assert!(events.iter().any(|it| it.kind == stopping));
}

#[tokio::test(start_paused = true)]
async fn dropping_the_wait_for_the_results_discards_the_turn() {
    let mut house = House::open().await;
    let turn = house.turn([call("a", json!({"ms": 60_000}))]).await;
    let waited = tokio::time::timeout(SECOND, turn.finish()).await;
    assert!(waited.is_err());
    house.until(|it| matches!(it, EventKind::TurnFinished { calls: 1 })).await;
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_at_its_tools_deadline_or_else_at_the_sessions() {
    let tools =
        [AnyTool::new(Scripted::new()), AnyTool::new(Scripted::named("Hasty").deadline(SECOND))];
    let house = House::with_tools(tools, |it| it.deadline = Some(3 * SECOND)).await;
    for (tool, seconds) in [("Hasty", 1), ("Scripted", 3)] {
        let began = Instant::now();
        let results = house.run([call_of(tool, "a", json!({"ms": 60_000}))]).await;
        assert_eq!(began.elapsed(), seconds * SECOND);
        let told = &texts(&results)[0];
        assert!(told.contains("Timed out: the call's deadline passed."), "{told}");
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn no_deadline_passes_while_a_call_waits_or_a_person_is_asked() {
    let rules = Rules { otherwise: Otherwise::Ask, ..Rules::default() };
    let house = House::with(|it| (it.deadline, it.rules) = (Some(SECOND), rules.into())).await;
    let mut questions = house.session.questions();
    let turn = house
        .turn([
            call("asks", json!({"ms": 900, "writes": true, "alone": true})),
            call("waits", json!({"ms": 900})),
        ])
        .await;
    let ask = asked(&mut questions).await;
    let answering = async {
        tokio::time::advance(3_600 * SECOND).await;
        house.session.answer(ask.request, Answer::Allow);
    };
    let (results, ()) = tokio::join!(turn.finish(), answering);
    assert_eq!(texts(&results), ["ran", "ran"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn times_of_nothing_and_of_for_ever_are_times() {
    for time in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX] {
        let tools = [AnyTool::new(Scripted::named("Timed").deadline(time))];
        let house = House::with_tools(tools, |it| {
            (it.deadline, it.grace, it.wait) = (Some(time), time, time);
        })
        .await;
        let results = house.run([call_of("Timed", "a", json!({"ms": 10}))]).await;
        let ended = if time == Duration::MAX { HowEnded::Ok } else { HowEnded::StoppedMayHaveRun };
        assert_eq!(results.ended, [ended], "{time:?}");
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_queue_behind_ten_thousand_calls() {
    let house = House::with(|it| it.width = std::num::NonZeroU16::MIN).await;
    let began = Instant::now();
    let mut turn = house.session.turn().await.unwrap();
    let stopper = turn.stopper();
    for n in 0..10_000 {
        turn.submit(call(&n.to_string(), json!({"ms": 10}))).await.unwrap();
        if n == 1_000 {
            // Most of what was submitted so far still lies in the mailbox.
            stopper.interrupt();
        }
    }
    let results = turn.finish().await;
    assert_eq!((results.results.len(), began.elapsed()), (10_000, Duration::ZERO));
    assert!(starts(&house.close().await) <= 1);
}

#[tokio::test(start_paused = true)]
async fn an_overdue_call_keeps_its_lane_until_it_ends() {
    let mut house = House::open().await;
    let began = Instant::now();
    let turn = house.turn([call("deaf", deaf(20)), call("alone", json!({"alone": true}))]).await;
    house.started(0).await;
    turn.stopper().stop(&"deaf".into());
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun, HowEnded::Ok]);
    assert_eq!(began.elapsed(), 20 * SECOND);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_overdue_call_keeps_its_lane_across_turns() {
    let mut house = House::open().await;
    let began = Instant::now();
    let turn = house.turn([call("deaf", deaf(20))]).await;
    house.started(0).await;
    turn.stopper().interrupt();
    assert_eq!(turn.finish().await.ended, [HowEnded::StoppedMayHaveRun]);
    assert_eq!((began.elapsed(), house.session.overdue()), (5 * SECOND, 1));
    let results = house.run([call("safe", json!({})), call("alone", json!({"alone": true}))]).await;
    assert_eq!(results.ended, [HowEnded::Ok, HowEnded::Ok]);
    assert_eq!((began.elapsed(), house.session.overdue()), (20 * SECOND, 0));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn who_waits_behind_an_overdue_call_ends_by_deadline() {
    let mut house = House::with(|it| it.wait = 7 * SECOND).await;
    let turn = house.turn([call("deaf", deaf(600)), call("alone", json!({"alone": true}))]).await;
    house.started(0).await;
    turn.stopper().stop(&"deaf".into());
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun, HowEnded::StoppedNotStarted]);
    let began = Instant::now();
    let next = house.run([call("next", json!({"alone": true}))]).await;
    assert!(texts(&next)[0].contains("Timed out"), "{:?}", texts(&next));
    assert_eq!(began.elapsed(), 7 * SECOND);
    house.close().await;
}

/// A log that never answers.
#[derive(Default)]
struct Silent(std::sync::Mutex<Vec<StartAck>>);

#[tokio::test(start_paused = true)]
async fn a_call_whose_start_record_never_comes_can_be_stopped_and_never_starts() {
    let log = std::sync::Arc::new(Silent::default());
    let journal = log.clone();
    let silent = move |_, ack| journal.0.lock().unwrap().push(ack);
    let house = House::with(|it| it.log = Some(std::sync::Arc::new(OnStart(silent)))).await;
    let turn = house.turn([call("a", json!({"writes": true}))]).await;
    let stopper = turn.stopper();
    let stopping = async {
        tokio::time::advance(SECOND).await;
        stopper.interrupt();
    };
    let (results, ()) = tokio::join!(turn.finish(), stopping);
    assert_eq!(results.ended, [HowEnded::StoppedNotStarted]);
    assert_eq!(house.session.overdue(), 1);
    // The record comes after all: the call stays answered, and its lane is free.
    log.0.lock().unwrap().drain(..).for_each(StartAck::written);
    tokio::time::advance(SECOND).await;
    assert_eq!(house.session.overdue(), 0);
    assert_eq!(starts(&house.close().await), 0);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_stops_each_stage_and_is_bounded() {
    let rules = Rules { ask: ["Asker"].into(), ..Rules::allow_everything() };
    let tools = || [AnyTool::new(Scripted::new()), AnyTool::new(Scripted::named("Asker"))];
    for (stage, tool, script, ended) in [
        ("queued", "Scripted", json!({"alone": true}), HowEnded::StoppedNotStarted),
        ("checking", "Scripted", json!({"check_ms": 600_000}), HowEnded::StoppedNotStarted),
        ("asking", "Asker", json!({}), HowEnded::StoppedNotStarted),
        ("running", "Scripted", json!({"ms": 600_000}), HowEnded::StoppedMayHaveRun),
        (
            "blocking",
            "Scripted",
            json!({"ms": 600_000, "block": true}),
            HowEnded::StoppedMayHaveRun,
        ),
        ("deaf", "Scripted", deaf(600), HowEnded::StoppedMayHaveRun),
        ("nested", "Scripted", json!({"nested": [deaf(600)]}), HowEnded::StoppedMayHaveRun),
    ] {
        let mut house = House::with_tools(tools(), |it| it.rules = rules.clone().into()).await;
        let _questions = house.session.questions();
        let turn =
            house.turn([call("first", json!({"ms": 600_000})), call_of(tool, "a", script)]).await;
        house.started(0).await;
        tokio::time::advance(SECOND).await;
        let began = Instant::now();
        let (results, events) = tokio::join!(turn.finish(), house.close());
        assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun, ended], "{stage}");
        assert!(began.elapsed() <= 12 * SECOND, "{stage} took {:?}", began.elapsed());
        assert!(!events.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_a_message_that_never_ends() {
    let mut house = House::open().await;
    let mut turn = house.turn([call("a", json!({"ms": 600_000}))]).await;
    house.started(0).await;
    let (session, began) = (house.session.clone(), Instant::now());
    assert_eq!(session.shutdown().await.tasks, 0);
    assert_eq!(began.elapsed(), Duration::ZERO);
    // Calls that come all the same are answered.
    turn.submit(call("late", json!({}))).await.unwrap();
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun, HowEnded::StoppedNotStarted]);
    assert!(house.session.turn().await.is_err());
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_clone_of_a_session_ends_its_turns() {
    let mut house = House::open().await;
    let turn = house.turn([call("a", json!({"ms": 600_000})), call("b", json!({"alone": true}))]);
    let turn = turn.await;
    house.started(0).await;
    let session = house.leave();
    drop(session);
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun, HowEnded::StoppedNotStarted]);
}

#[tokio::test(start_paused = true)]
async fn a_session_may_be_shut_down_twice_at_once_and_again() {
    let mut house = House::open().await;
    let turn = house.turn([call("a", json!({"ms": 600_000}))]).await;
    house.started(0).await;
    let (one, two) = (house.session.clone(), house.session.clone());
    let (one, two, results) = tokio::join!(one.shutdown(), two.shutdown(), turn.finish());
    assert_eq!((one.tasks, two.tasks), (0, 0));
    assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun]);
    house.close().await;
}
