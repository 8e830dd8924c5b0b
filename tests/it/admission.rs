//! Admission: who starts when, in a row of calls, and in which order results come out.

use std::num::NonZeroU16;
use std::time::Duration;

use harness::{House, call, ids, texts};
use serde_json::json;
use tokio::time::Instant;
use toolwright::ToolUse;
use toolwright_contract::{Event, EventKind};

fn safe(id: usize, ms: u64) -> ToolUse {
    call(&id.to_string(), json!({"ms": ms}))
}

fn alone(id: usize, ms: u64) -> ToolUse {
    call(&id.to_string(), json!({"ms": ms, "alone": true, "writes": true}))
}

fn width(width: u16) -> NonZeroU16 {
    NonZeroU16::new(width).unwrap()
}

fn starts(events: &[Event]) -> Vec<u32> {
    let started =
        |it: &Event| if let EventKind::Started { call } = it.kind { Some(call) } else { None };
    events.iter().filter_map(started).collect()
}

fn most_at_once(events: &[Event]) -> i32 {
    let (mut now, mut most) = (0, 0);
    for event in events {
        now += i32::from(matches!(event.kind, EventKind::Started { .. }));
        now -= i32::from(matches!(event.kind, EventKind::Returned { .. }));
        most = most.max(now);
    }
    most
}

#[tokio::test(start_paused = true)]
async fn calls_are_admitted_in_the_order_of_their_message() {
    let house = House::with(|it| it.width = width(2)).await;
    house.run((0..20).map(|n| if n % 7 == 3 { alone(n, 5) } else { safe(n, 5) })).await;
    let events = house.close().await;
    assert_eq!(starts(&events), (0..20).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn nobody_overtakes_a_waiting_unsafe_call_and_behind_it_safe_ones_overlap_again() {
    let house = House::open().await;
    let began = Instant::now();
    let row = [safe(0, 100), safe(1, 10), alone(2, 50), safe(3, 30), safe(4, 30), alone(5, 20)];
    let results = house.run(row).await;
    assert_eq!((began.elapsed(), results.results.len()), (Duration::from_millis(200), 6));
    let events = house.close().await;
    assert_eq!(starts(&events), [0, 1, 2, 3, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn an_unsafe_call_behind_a_stream_of_safe_ones_starts_after_those_before_it_alone() {
    let mut house = House::open().await;
    let mut turn = house.turn([safe(0, 10), alone(1, 10)]).await;
    house.started(0).await;
    for n in 2..500 {
        turn.submit(safe(n, 10)).await.unwrap();
    }
    turn.finish().await;
    assert_eq!(starts(&house.close().await)[..3], [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_run_at_once_than_the_cap() {
    for (cap, took) in [(1, 400), (10, 40), (40, 10), (1_000, 10)] {
        let house =
            House::with(|it| (it.width, it.session_width) = (width(cap), width(1_000))).await;
        let began = Instant::now();
        house.run((0..40).map(|n| safe(n, 10))).await;
        assert_eq!(began.elapsed(), Duration::from_millis(took), "cap {cap}");
        assert_eq!(most_at_once(&house.close().await), i32::from(cap.min(40)));
    }
}

#[tokio::test(start_paused = true)]
async fn the_cap_of_the_session_bounds_the_sum_of_its_turns() {
    let house = House::with(|it| (it.width, it.session_width) = (width(10), width(3))).await;
    let began = Instant::now();
    let one = house.turn((0..9).map(|n| safe(n, 10))).await;
    let two = house.turn((0..9).map(|n| safe(n, 10))).await;
    tokio::join!(one.finish(), two.finish());
    assert_eq!(began.elapsed(), Duration::from_millis(60));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn turns_do_not_wait_for_each_others_unsafe_calls() {
    let house = House::open().await;
    let began = Instant::now();
    let (one, two) = (house.turn([alone(0, 50)]).await, house.turn([alone(0, 50)]).await);
    tokio::join!(one.finish(), two.finish());
    assert_eq!(began.elapsed(), Duration::from_millis(50));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn results_come_in_the_order_of_the_calls_whatever_order_they_end_in() {
    let house = House::open().await;
    let results = house.run((0..10).map(|n| safe(n, 100 - 10 * n as u64))).await;
    assert_eq!(ids(&results), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    let events = house.close().await;
    let returned = events.iter().filter_map(|it| {
        if let EventKind::Returned { call, .. } = it.kind { Some(call) } else { None }
    });
    assert_eq!(returned.collect::<Vec<_>>(), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_call_starts_and_its_result_comes_before_the_message_ends() {
    let mut house = House::open().await;
    let mut turn = house.turn([call("a", json!({"say": "early"}))]).await;
    house.until(|it| matches!(it, EventKind::Emitted { call: 0, .. })).await;
    turn.submit(call("b", json!({}))).await.unwrap();
    house.until(|it| matches!(it, EventKind::Emitted { call: 1, .. })).await;
    assert_eq!(texts(&turn.finish().await), ["early", "ran"]);
    let events = house.close().await;
    let sealed = events.iter().position(|it| it.kind == EventKind::Sealed).unwrap();
    assert!(matches!(events[sealed - 1].kind, EventKind::Emitted { call: 1, .. }));
}

/// Q01: everything holds for a message of ten thousand calls.
async fn ten_thousand() {
    const CALLS: usize = 10_000;
    let house = House::open().await;
    let row = (0..CALLS).map(|n| if n % 100 == 50 { alone(n, 0) } else { safe(n, 0) });
    let results = house.run(row).await;
    assert_eq!(results.results.len(), CALLS);
    assert!(results.results.iter().zip(0..).all(|(it, n)| it.id.as_str() == n.to_string()));
    assert!(results.results.iter().all(|it| !it.is_error));
    let events = house.close().await;
    assert!(most_at_once(&events) <= 10);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_calls_in_one_message_are_answered_in_order_under_the_cap() {
    ten_thousand().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_on_several_threads_are_answered_in_order_under_the_cap() {
    ten_thousand().await;
}
