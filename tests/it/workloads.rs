//! Random workloads: whatever happens, each call has one result, in order, and one seed one history.

use harness::{Before, Reply, Stopping, Workload, texts, written};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolwright::{Cascade, TurnResults};
use toolwright_contract::{Event, history};

/// Runs a workload on a runtime of its own, under a paused clock.
fn run(workload: &Workload) -> (Vec<Event>, Option<TurnResults>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(workload.run())
}

/// A value now and then, so that most scripts stay plain.
fn rarely(value: impl Into<Value>) -> impl Strategy<Value = Value> {
    let value = value.into();
    prop_oneof![9 => Just(Value::Null), 1 => Just(value)]
}

fn any_script(nests: bool) -> BoxedStrategy<Value> {
    let nested = if nests {
        prop_oneof![
            7 => Just(Value::Null),
            1 => prop::collection::vec(any_script(false), 1..3).prop_map(Value::from),
        ]
        .boxed()
    } else {
        Just(Value::Null).boxed()
    };
    let kind = (any::<bool>(), any::<bool>(), any::<bool>(), 0_u64..30);
    let ending = (rarely("failed"), any::<bool>(), rarely("panicked"), rarely("invalid"));
    let time = (prop_oneof![8 => 0_u64..40, 1 => Just(4_000)], rarely(true), rarely(20_u64));
    let nesting = (nested, rarely(15_u64), any::<bool>(), rarely("start"));
    (kind, ending, time, nesting)
        .prop_map(|((alone, writes, block, yields), ending, (ms, deaf, check), nesting)| {
            let (fail, cascades, panic, invalid) = ending;
            let (nested, patience, split, panic_in) = nesting;
            let all = json!({
                "ms": ms, "yields": yields, "alone": alone, "writes": writes, "block": block, "deaf": deaf,
                "fail": fail, "cascades": cascades, "panic": panic, "invalid": invalid,
                "check_ms": check, "nested": nested, "patience": patience, "split": split,
                "panic_in": panic_in,
            });
            let Value::Object(all) = all else { unreachable!("written as an object") };
            let said = all.into_iter().filter(|(_, it)| !it.is_null() && *it != json!(false));
            Value::Object(said.collect::<Map<_, _>>())
        })
        .boxed()
}

fn any_before() -> impl Strategy<Value = Before> {
    prop_oneof![
        4 => Just(Before::Pass),
        1 => (0_u64..30).prop_map(Before::Think),
        1 => Just(Before::Deny),
        1 => Just(Before::Ask),
        1 => Just(Before::Panic),
        1 => Just(Before::Change(json!({"alone": true, "ms": 5}))),
        1 => Just(Before::Change(json!({"ms": "wrong"}))),
        1 => any_script(true).prop_map(Before::Change),
    ]
}

fn any_reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        3 => Just(Reply::Allow),
        1 => Just(Reply::Deny),
        1 => Just(Reply::Silence),
        1 => any_script(true).prop_map(Reply::AllowWith),
    ]
}

fn any_stop() -> impl Strategy<Value = Stopping> {
    prop_oneof![
        2 => Just(Stopping::Interrupt),
        3 => (0_usize..10).prop_map(Stopping::One),
        1 => Just(Stopping::Discard),
        1 => Just(Stopping::Shutdown),
    ]
}

fn any_workload() -> impl Strategy<Value = Workload> {
    let limits = (
        1_u16..5,
        1_u16..5,
        prop_oneof![Just(Cascade::Never), Just(Cascade::Declared), Just(Cascade::Any)],
        prop::option::weighted(0.3, 0_u64..60),
        prop_oneof![Just(0_u64), Just(1), Just(1_000)],
    );
    let tool = prop_oneof![8 => Just(0_usize), 2 => Just(1_usize), 1 => Just(2), 1 => Just(3)];
    let gap = prop_oneof![2 => Just(0_u64), 1 => 0_u64..20];
    let calls = prop::collection::vec((gap, tool, any_script(true)), 0..9);
    let hooks = (prop::collection::vec(any_before(), 0..5), prop::option::weighted(0.3, 0_u64..30));
    let replies = prop::collection::vec((0_u64..40, any_reply()), 0..4);
    let stops = prop::collection::vec((0_u64..60, any_stop()), 0..4);
    // Longer than anything here takes, and shorter than a turn may take before it counts as stuck.
    let sleeps = prop::collection::vec((0_u64..60, 10_000_u64..600_000), 0..3);
    let sleeps = prop_oneof![3 => Just(vec![]), 1 => sleeps];
    let patience = prop::option::weighted(0.1, 0_u64..60);
    (limits, calls, hooks, replies, stops, sleeps, patience).prop_map(
        |(limits, calls, (before, after), replies, mut stops, sleeps, patience)| {
            // A question to which nobody ever answers holds its turn until somebody stops it.
            let silent = |it: &(u64, Reply)| matches!(it.1, Reply::Silence);
            if replies.iter().any(silent) {
                stops.push((5_000, Stopping::Shutdown));
            }
            let (width, session_width, cascade, deadline, grace) = limits;
            Workload {
                width,
                session_width,
                cascade,
                deadline,
                grace,
                calls,
                before,
                after,
                replies,
                stops,
                sleeps,
                patience,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_call_has_one_result_in_order_and_the_house_is_empty_at_the_end(
        workload in any_workload(),
    ) {
        let (_, results) = run(&workload);
        if let Some(results) = results {
            let ids: Vec<_> = results.results.iter().map(|it| it.id.to_string()).collect();
            let expected: Vec<_> = (0..workload.calls.len()).map(|it| it.to_string()).collect();
            prop_assert_eq!(ids, expected);
                for text in texts(&results) {
                prop_assert!(!text.is_empty() && !text.contains("began after its stop"), "{text}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_workload_has_one_history_to_the_byte(workload in any_workload()) {
        let (one, _) = run(&workload);
        let (two, _) = run(&workload);
        let difference = history::first_difference(&one, &two);
        prop_assert!(difference.is_none(), "{}", difference.unwrap());
        prop_assert_eq!(written(&one), written(&two));
    }
}

/// Where a call is when something happens to it.
struct Stage {
    name: &'static str,
    tool: usize,
    script: Value,
    before: Vec<Before>,
    after: Option<u64>,
}

fn stages() -> Vec<Stage> {
    let stage = |name, script| Stage { name, tool: 0, script, before: vec![], after: None };
    let hook = vec![Before::Pass, Before::Think(50)];
    vec![
        stage("queued", json!({"alone": true})),
        stage("checking", json!({"check_ms": 50})),
        Stage { before: hook, ..stage("in a hook", json!({})) },
        Stage { tool: 1, ..stage("asking", json!({})) },
        stage("running", json!({"ms": 50})),
        stage("running, blocking", json!({"ms": 50, "block": true})),
        stage("running, deaf", json!({"ms": 5_000, "deaf": true})),
        stage("nesting", json!({"nested": [{"ms": 50}]})),
        Stage { after: Some(50), ..stage("after it ran", json!({})) },
    ]
}

/// One call of two, in each stage, to which each event happens while it is there.
#[test]
fn each_event_in_each_stage_leaves_one_result_and_an_empty_house() {
    let failing = json!({"ms": 10, "fail": "exit 1", "cascades": true});
    for stage in stages() {
        let calm = Workload {
            width: 10,
            session_width: 10,
            cascade: Cascade::Never,
            deadline: None,
            grace: 1_000,
            calls: vec![(0, 0, failing.clone()), (0, stage.tool, stage.script)],
            before: stage.before,
            after: stage.after,
            replies: vec![(50, Reply::Allow)],
            stops: vec![],
            sleeps: vec![],
            patience: None,
        };
        let stop = |it| vec![(15, it)];
        let events = [
            ("nothing", calm.clone()),
            ("its stop", Workload { stops: stop(Stopping::One(1)), ..calm.clone() }),
            ("an interrupt", Workload { stops: stop(Stopping::Interrupt), ..calm.clone() }),
            ("a discard", Workload { stops: stop(Stopping::Discard), ..calm.clone() }),
            ("a shutdown", Workload { stops: stop(Stopping::Shutdown), ..calm.clone() }),
            ("a failed sibling", Workload { cascade: Cascade::Declared, ..calm.clone() }),
            ("its deadline", Workload { deadline: Some(15), ..calm.clone() }),
            ("a sleep", Workload { sleeps: vec![(15, 600_000)], ..calm.clone() }),
            (
                "a sleep past its deadline",
                Workload { deadline: Some(40), sleeps: vec![(15, 600_000)], ..calm.clone() },
            ),
            ("its client's end", Workload { patience: Some(15), ..calm }),
        ];
        for (event, workload) in events {
            let told = format!("{}, {event}", stage.name);
            let (history, results) = run(&workload);
            assert!(results.is_some() || workload.patience.is_some(), "{told}");
            assert_eq!(results.map_or(2, |it| it.results.len()), 2, "{told}");
            assert_eq!(run(&workload).0, history, "{told}");
        }
    }
}
