//! Observation: subscribers, histories and traces, none of which a call waits for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use harness::{House, call};
use serde_json::json;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use toolwright_contract::{Event, EventKind, HowEnded};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};

fn few() -> impl Iterator<Item = toolwright::ToolUse> {
    (0..5).map(|n| call(&n.to_string(), json!({"ms": n})))
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_lags_loses_the_oldest_events_is_told_so_and_holds_nobody_up() {
    let house = House::open().await;
    let mut slow = house.session.subscribe();
    let results = house.run((0..1_000).map(|n| call(&n.to_string(), json!({})))).await;
    assert_eq!(results.ended, vec![HowEnded::Ok; 1_000]);
    let Err(RecvError::Lagged(lost)) = slow.recv().await else { panic!("it has lost nothing") };
    let first = slow.recv().await.unwrap();
    assert_eq!(first.seq, lost);
    let events = house.close().await;
    assert_eq!(first, events[lost as usize]);
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_goes_away_is_forgotten() {
    let house = House::open().await;
    drop(house.session.subscribe());
    drop(house.session.history());
    assert_eq!(house.run(few()).await.ended, [HowEnded::Ok; 5]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn who_subscribes_later_hears_from_then_on() {
    let mut house = House::open().await;
    house.run(few()).await;
    let before = house.events().len() as u64;
    let mut late = house.session.subscribe();
    assert_eq!(late.try_recv(), Err(TryRecvError::Empty));
    house.run(few()).await;
    assert_eq!(late.recv().await.unwrap().seq, before);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn events_of_turns_that_overlap_are_one_dense_history() {
    let house = House::open().await;
    let (one, two) = (house.turn(few()).await, house.turn(few()).await);
    tokio::join!(one.finish(), two.finish());
    let events = house.close().await;
    assert!(events.iter().zip(0..).all(|(it, seq)| it.seq == seq));
    let of = |turn| events.iter().filter(|it| it.turn.0 == turn).count();
    assert_eq!((of(0), of(0) + of(1)), (of(1), events.len()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_is_complete_and_dense_on_several_threads() {
    let house = House::open().await;
    let turns = [house.turn(few()).await, house.turn(few()).await, house.turn(few()).await];
    for turn in turns {
        assert_eq!(turn.finish().await.ended, [HowEnded::Ok; 5]);
    }
    let events = house.close().await;
    let emitted = events.iter().filter(|it| matches!(it.kind, EventKind::Emitted { .. }));
    assert_eq!(emitted.count(), 15);
}

#[tokio::test(start_paused = true)]
async fn progress_is_told_cut_and_clean() {
    let house = House::open().await;
    let long = format!("\u{1b}[1m{}", "p".repeat(2_000));
    house.run([call("a", json!({"progress": long}))]).await;
    let events = house.close().await;
    let told = events.iter().find_map(|it| {
        if let EventKind::Progressed { call: 0, text } = &it.kind {
            Some(text.clone())
        } else {
            None
        }
    });
    let told = told.unwrap();
    assert!(told.chars().count() <= 501 && !told.contains('\u{1b}'), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_notification_outlasts_its_call_and_is_no_part_of_the_result() {
    let house = House::open().await;
    let results = house.run([call("a", json!({"notify": "\u{1b}log in again"}))]).await;
    assert_eq!(harness::texts(&results), ["ran"]);
    let told = |it: &Event| {
        let text = "\u{fffd}log in again".to_owned();
        it.kind == EventKind::Notified { call: 0, text }
    };
    assert_eq!(house.close().await.iter().filter(|it| told(it)).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn results_that_nobody_waits_for_are_kept_in_the_history_all_the_same() {
    let mut house = House::open().await;
    let mut turn = house.turn([call("a", json!({}))]).await;
    turn.seal();
    house.until(|it| matches!(it, EventKind::TurnFinished { .. })).await;
    drop(turn);
    let events = house.close().await;
    let emitted = |it: &Event| matches!(it.kind, EventKind::Emitted { ended: HowEnded::Ok, .. });
    assert!(events.iter().any(emitted));
}

/// A tracing subscriber that keeps the fields of each span of a call whose id begins with this.
/// It is the program's own: one for a thread is missed where another thread comes first.
const TRACED: &str = "traced ";

/// See [`TRACED`].
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<BTreeMap<u64, BTreeMap<String, String>>>>);

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl tracing::Subscriber for Spans {
    fn enabled(&self, it: &tracing::Metadata<'_>) -> bool {
        it.is_span() && it.target().starts_with("toolwright")
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut spans = self.0.lock().unwrap();
        let mut fields = BTreeMap::new();
        span.record(&mut Fields(&mut fields));
        if !fields.get("gen_ai.tool.call.id").is_some_and(|it| it.starts_with(TRACED)) {
            return Id::from_u64(u64::MAX);
        }
        let id = spans.len() as u64 + 1;
        spans.insert(id, fields);
        Id::from_u64(id)
    }
    fn record(&self, span: &Id, values: &Record<'_>) {
        if let Some(fields) = self.0.lock().unwrap().get_mut(&span.into_u64()) {
            values.record(&mut Fields(fields));
        }
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &tracing::Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test(start_paused = true)]
async fn each_run_is_a_span_by_the_conventions_for_generative_models() {
    let spans = Spans::default();
    tracing::subscriber::set_global_default(spans.clone()).unwrap();
    let house = House::open().await;
    house
        .run([
            call(&format!("{TRACED}a"), json!({})),
            call(&format!("{TRACED}b"), json!({"fail": "no"})),
            call(&format!("{TRACED}c"), json!({"panic": "no"})),
            call(&format!("{TRACED}d"), json!({"invalid": "never runs"})),
        ])
        .await;
    house.close().await;
    let spans = spans.0.lock().unwrap();
    let mut told: Vec<_> = spans
        .values()
        .map(|it| {
            let field = |name: &str| it.get(name).map_or("-", String::as_str).to_owned();
            let names = ["otel.name", "gen_ai.operation.name", "gen_ai.tool.name"];
            let names = names.map(field).join(", ");
            format!("{names}, {}, {}", field("gen_ai.tool.call.id"), field("error.type"))
        })
        .collect();
    told.sort();
    assert_eq!(
        told,
        [
            "execute_tool Scripted, execute_tool, Scripted, traced a, -",
            "execute_tool Scripted, execute_tool, Scripted, traced b, tool_error",
            "execute_tool Scripted, execute_tool, Scripted, traced c, crashed",
        ]
    );
}
