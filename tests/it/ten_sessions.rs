//! Ten sessions of a thousand calls each in one process: fair, capped, and nothing mixed up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use harness::{House, busy};
use serde_json::json;
use toolwright::{Rules, Runtime, ToolUse, tool};
use toolwright_contract::{AnyTool, Event, EventKind};

const SESSIONS: usize = 10;
const CALLS: usize = 1_000;
const CAP: usize = 16;
const TURN_CAP: usize = 10;

/// How many calls run, as the tools themselves see it.
#[derive(Default)]
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Number {
    n: usize,
}

/// A tool of one session, which says whose it is.
fn says(session: usize, gauge: &Arc<Gauge>) -> AnyTool {
    let gauge = gauge.clone();
    tool("Says", "Says whose it is.").read_only().run(move |it: Number, _| {
        let gauge = gauge.clone();
        async move {
            let now = gauge.now.fetch_add(1, Ordering::SeqCst) + 1;
            gauge.most.fetch_max(now, Ordering::SeqCst);
            busy(Duration::from_millis(10)).await;
            gauge.now.fetch_sub(1, Ordering::SeqCst);
            Ok(format!("{session}:{}", it.n))
        }
    })
}

/// What a session does in one instant of the paused clock: how many of its calls begin to wait for a
/// place, and how many get one.
#[derive(Clone, Copy, Default)]
struct Instant {
    gated: usize,
    started: usize,
}

fn instants(events: &[Event]) -> BTreeMap<u64, Instant> {
    let mut instants = BTreeMap::<_, Instant>::new();
    for event in events {
        let instant = instants.entry(event.at_us).or_default();
        match event.kind {
            EventKind::Gated { .. } => instant.gated += 1,
            EventKind::Started { .. } => instant.started += 1,
            _ => {}
        }
    }
    instants
}

/// The bound: while calls of all sessions wait, from one instant to the next, no session gets two
/// places more than another one. Gives how many places were handed out under the bound.
fn assert_fair(histories: &[Vec<Event>]) -> usize {
    let histories: Vec<_> = histories.iter().map(|it| instants(it)).collect();
    let times: BTreeSet<_> = histories.iter().flat_map(BTreeMap::keys).copied().collect();
    let (mut waiting, mut served) = ([0; SESSIONS], [0; SESSIONS]);
    let (mut all_wait, mut under_the_bound) = (false, 0);
    for at in times {
        let steps: Vec<_> =
            histories.iter().map(|it| it.get(&at).copied().unwrap_or_default()).collect();
        for (session, it) in steps.iter().enumerate() {
            waiting[session] = waiting[session] + it.gated - it.started;
        }
        let all_waited = std::mem::replace(&mut all_wait, waiting.iter().all(|it| *it > 0));
        if !(all_waited && all_wait) {
            served = [0; SESSIONS];
            continue;
        }
        for (session, it) in steps.iter().enumerate() {
            served[session] += it.started;
            under_the_bound += it.started;
        }
        let (least, most) = (served.iter().min().unwrap(), served.iter().max().unwrap());
        assert!(most - least <= 1, "at {at}: {served:?}");
    }
    under_the_bound
}

#[tokio::test(start_paused = true)]
async fn ten_sessions_of_a_thousand_calls_are_fair_capped_and_not_mixed_up() {
    let gauge = Arc::new(Gauge::default());
    let runtime = Runtime::builder()
        .cap(CAP as u16)
        .each_session(|it| it.rules(Rules::allow_everything()).turn_cap(TURN_CAP as u16));
    let runtime = runtime.build().unwrap();
    let mut houses = Vec::new();
    let mut turns = Vec::new();
    for session in 0..SESSIONS {
        let session = runtime.session().tools([says(session, &gauge)]).start().await.unwrap();
        houses.push(House::of(session));
    }
    for house in &houses {
        // The same ids in each session.
        let calls = (0..CALLS).map(|n| ToolUse::new(format!("toolu_{n}"), "Says", json!({"n": n})));
        turns.push(house.turn(calls).await);
    }
    for (session, turn) in turns.into_iter().enumerate() {
        let results = turn.finish().await.results;
        assert_eq!(results.len(), CALLS);
        for (n, result) in results.iter().enumerate() {
            assert_eq!(result.id.as_str(), format!("toolu_{n}"));
            assert_eq!(result.content.text(), format!("{session}:{n}"));
        }
    }
    assert_eq!(gauge.most.load(Ordering::SeqCst), CAP, "never above, and no place is left idle");
    assert_eq!(gauge.now.load(Ordering::SeqCst), 0);
    let mut histories = Vec::new();
    for house in houses {
        histories.push(house.close().await);
    }
    let under_the_bound = assert_fair(&histories);
    assert!(under_the_bound > SESSIONS * CALLS * 9 / 10, "{under_the_bound} of all calls");
}
