//! Faults put into the actors on purpose, and what must hold all the same.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use toolwright_contract::{
    AnyTool, CallIx, Card, Effects, Event, EventKind, Footprint, HowEnded, Output, Registry,
    ResultLimit, RunCx, Safety, StageName, Tool, ToolError, ToolUse, history,
};

use crate::inbox::News;
use crate::limits::RESTARTS;
use crate::{
    AfterAnswer, BeforeAnswer, Config, Hook, Matcher, Otherwise, Question, Rules, Session,
    TurnResults,
};

thread_local! {
    /// The stage to crash, how many of its messages to spare, and how many to crash at then.
    static PLAN: Cell<Option<(StageName, u32, u32)>> = const { Cell::new(None) };
}

/// Called by each stage at each message: panics where the test's plan says so.
pub(crate) fn strike(stage: StageName) {
    let Some((target, spare, times)) = PLAN.get() else { return };
    if stage != target {
        return;
    }
    if spare > 0 {
        PLAN.set(Some((target, spare - 1, times)));
    } else if times > 0 {
        PLAN.set(Some((target, 0, times - 1)));
        panic!("a fault was put into {stage:?}");
    }
}

/// Whether the planned faults have all come.
fn struck() -> bool {
    matches!(PLAN.take(), Some((_, 0, 0)))
}

/// A tool that counts its runs and takes its time.
struct Counter(Arc<AtomicUsize>);

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct Count {
    ms: u64,
    alone: bool,
    writes: bool,
    deaf: bool,
    chars: usize,
}

impl Tool for Counter {
    type Input = Count;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Counter", "Counts its runs.").result_limit(ResultLimit::Chars(100))
    }

    fn safety(&self, it: &Count) -> Safety {
        let footprint = if it.alone { Footprint::Exclusive } else { Footprint::Shared };
        let effects = if it.writes { Effects::Writes } else { Effects::ReadOnly };
        Safety { footprint, effects, ..Safety::read_only() }
    }

    async fn run(&self, it: Count, cx: RunCx) -> Result<Output<String>, ToolError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let time = tokio::time::timeout(Duration::from_millis(it.ms), std::future::pending::<()>());
        if it.deaf {
            time.await.ok();
        } else {
            cx.stop.or(time).await?.ok();
        }
        Ok("x".repeat(it.chars.max(1)).into())
    }
}

/// A session under test and the runs of its tool.
struct Lab {
    session: Session,
    history: UnboundedReceiver<Event>,
    runs: Arc<AtomicUsize>,
}

impl Lab {
    async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let runs = Arc::new(AtomicUsize::new(0));
        let tools = Registry::new([AnyTool::new(Counter(runs.clone()))]).unwrap();
        let mut config = Config { rules: Rules::allow_everything().into(), ..Config::new(tools) };
        change(&mut config);
        let session = crate::start(config).await.unwrap();
        let history = session.history();
        Self { session, history, runs }
    }

    async fn open() -> Self {
        Self::with(|_| {}).await
    }

    async fn run(&self, scripts: impl IntoIterator<Item = Value>) -> TurnResults {
        let mut turn = self.session.turn().await.unwrap();
        for (n, script) in scripts.into_iter().enumerate() {
            turn.submit(ToolUse::new(n.to_string(), "Counter", script)).await.unwrap();
        }
        turn.finish().await
    }

    /// Ends the session: nothing is left, and the history keeps every invariant.
    async fn close(mut self) -> Vec<Event> {
        assert_eq!(self.session.shutdown().await.tasks, 0);
        let events: Vec<_> = std::iter::from_fn(|| self.history.try_recv().ok()).collect();
        let breaches = history::check(&events);
        assert!(breaches.is_empty(), "{breaches:#?}\n{events:#?}");
        events
    }
}

fn mixed() -> Vec<Value> {
    vec![
        json!({"ms": 10}),
        json!({"ms": 30, "writes": true}),
        json!({"ms": 5, "chars": 1_000}),
        json!({"alone": true, "writes": true}),
        json!({"ms": 10}),
        json!({"ms": 10, "deaf": true}),
    ]
}

fn failures(events: &[Event], stage: StageName) -> Vec<bool> {
    let restarted = |it: &Event| {
        let EventKind::StageFailed { stage: of, restarted, .. } = it.kind else { return None };
        (of == stage).then_some(restarted)
    };
    events.iter().filter_map(restarted).collect()
}

/// Crashes a stage at its first message, then at its second, and so on until a run is over before.
async fn at_every_message(stage: StageName, check: impl Fn(&TurnResults)) -> u32 {
    for spare in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().to_owned();
        let lab = Lab::with(|it| {
            it.results = Some(results);
            it.hooks = vec![
                Hook::before("before", Matcher::All, |_| async { BeforeAnswer::default() }),
                Hook::after("after", Matcher::All, |_| async { AfterAnswer::default() }),
            ];
        })
        .await;
        PLAN.set(Some((stage, spare, 1)));
        let results = lab.run(mixed()).await;
        let struck = struck();
        assert_eq!(results.results.len(), 6);
        assert!(results.results.iter().zip(0..).all(|(it, n)| it.id.as_str() == n.to_string()));
        let runs = lab.runs.load(Ordering::Relaxed);
        let ran = |it: &&HowEnded| !matches!(it, HowEnded::Refused | HowEnded::StoppedNotStarted);
        assert!(runs <= results.ended.iter().filter(ran).count(), "a call ran twice, or untold");
        check(&results);
        // The session goes on, and whatever still ran has given its lane back.
        let after = lab.run([json!({"alone": true})]).await;
        assert_eq!(after.ended, [HowEnded::Ok]);
        let events = lab.close().await;
        assert_eq!(failures(&events, stage).len(), usize::from(struck));
        if !struck {
            return spare;
        }
    }
    unreachable!("a run has an end")
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_that_crashes_at_any_message_loses_no_call_and_runs_none_twice() {
    let messages = at_every_message(StageName::Scheduler, |_| {}).await;
    assert!(messages > 20, "{messages}");
}

#[tokio::test(start_paused = true)]
async fn a_hook_stage_that_crashes_denies_what_it_held_before_and_keeps_what_it_held_after() {
    at_every_message(StageName::Hooks, |results| {
        assert_refused_by("hook", results);
        assert!(!results.ended.contains(&HowEnded::Crashed));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_permission_stage_that_crashes_denies_what_it_held() {
    let messages = at_every_message(StageName::Permissions, |results| {
        assert_refused_by("permission", results);
    })
    .await;
    assert!(messages >= 6, "{messages}");
}

/// What was refused was with the stage, or on its way to it, when it crashed.
fn assert_refused_by(stage: &str, results: &TurnResults) {
    for (result, ended) in results.results.iter().zip(&results.ended) {
        let text = result.content.text();
        let by_stage = text.contains(&format!("the {stage} stage failed"));
        assert!(*ended != HowEnded::Refused || by_stage, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_crashes_leaves_the_result_inline() {
    at_every_message(StageName::Store, |results| {
        assert_eq!(results.ended, [HowEnded::Ok; 6]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_still_runs_when_a_scheduler_dies_keeps_everything_out_until_it_ends() {
    let lab = Lab::open().await;
    let mut turn = lab.session.turn().await.unwrap();
    let deaf = json!({"ms": 20_000, "deaf": true});
    turn.submit(ToolUse::new("0", "Counter", deaf)).await.unwrap();
    let began = Instant::now();
    while lab.runs.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    PLAN.set(Some((StageName::Scheduler, 0, 1)));
    let results = turn.finish().await;
    assert!(struck());
    assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun]);
    assert_eq!(lab.session.overdue(), 1);
    let next = lab.run([json!({})]).await;
    assert_eq!(next.ended, [HowEnded::Ok]);
    assert_eq!((began.elapsed().as_secs(), lab.session.overdue()), (20, 0));
    lab.close().await;
}

#[tokio::test(start_paused = true)]
async fn calls_that_come_after_their_scheduler_has_died_are_answered_at_once() {
    let lab = Lab::open().await;
    PLAN.set(Some((StageName::Scheduler, 1, 1)));
    let mut turn = lab.session.turn().await.unwrap();
    turn.submit(ToolUse::new("0", "Counter", json!({}))).await.unwrap();
    while failures_so_far(&lab) == 0 {
        tokio::task::yield_now().await;
    }
    assert!(struck());
    turn.submit(ToolUse::new("1", "Counter", json!({}))).await.unwrap();
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::StoppedNotStarted; 2]);
    assert_eq!(lab.runs.load(Ordering::Relaxed), 0);
    lab.close().await;
}

fn failures_so_far(lab: &Lab) -> usize {
    lab.history.len().saturating_sub(1)
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_crashes_at_every_message_is_given_up_and_each_call_still_answered() {
    for stage in [StageName::Hooks, StageName::Permissions, StageName::Store] {
        let lab = Lab::open().await;
        PLAN.set(Some((stage, 0, u32::MAX)));
        let calls = 2 * RESTARTS;
        for _ in 0..calls {
            let results = lab.run([json!({"alone": true})]).await;
            assert_eq!(results.results.len(), 1);
        }
        PLAN.take();
        let failures = failures(&lab.close().await, stage);
        let restarted = failures.iter().filter(|it| **it).count();
        assert_eq!((restarted, failures.len()), (RESTARTS, RESTARTS + 1), "{stage:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_scheduler_crashes_ends_each_turn_with_a_result_for_each_call() {
    let lab = Lab::open().await;
    PLAN.set(Some((StageName::Scheduler, 0, u32::MAX)));
    for _ in 0..20 {
        let results = lab.run(mixed()).await;
        assert_eq!(results.ended, [HowEnded::StoppedNotStarted; 6]);
    }
    PLAN.take();
    assert_eq!(lab.run([json!({})]).await.ended, [HowEnded::Ok]);
    lab.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_permission_stage_that_crashes_takes_its_open_questions_back() {
    let ask = Rules { otherwise: Otherwise::Ask, ..Rules::default() };
    let lab = Lab::with(|it| it.rules = ask.into()).await;
    let mut questions = lab.session.questions();
    let mut turn = lab.session.turn().await.unwrap();
    turn.submit(ToolUse::new("0", "Counter", json!({"writes": true}))).await.unwrap();
    let Some(Question::Asked(asked)) = questions.recv().await else { panic!("nobody asks") };
    PLAN.set(Some((StageName::Permissions, 0, 1)));
    lab.session.answer(asked.request, crate::Answer::Allow);
    let results = turn.finish().await;
    assert!(struck());
    assert_eq!(questions.recv().await, Some(Question::Withdrawn(asked.request)));
    assert_eq!(results.ended, [HowEnded::Refused]);
    assert!(results.results[0].content.text().contains("the permission stage failed"));
    lab.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_fact_that_cannot_be_true_ends_its_turn_and_nothing_else() {
    let lab = Lab::open().await;
    let mut turn = lab.session.turn().await.unwrap();
    turn.submit(ToolUse::new("0", "Counter", json!({"ms": 60_000}))).await.unwrap();
    tokio::time::advance(Duration::from_secs(1)).await;
    turn.inbox().push(CallIx(0), News::Logged);
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun]);
    assert_eq!(lab.run([json!({"alone": true})]).await.ended, [HowEnded::Ok]);
    let mut events = lab.history_with_false_log().await;
    let told = |it: &Event| {
        let EventKind::StageFailed { why, .. } = &it.kind else { return None };
        Some(why.clone())
    };
    let why = events.drain(..).find_map(|it| told(&it)).unwrap();
    assert!(why.contains("cannot be true here"), "{why}");
}

impl Lab {
    /// The history of a session in which a test has told a lie, which no checker can bear.
    async fn history_with_false_log(mut self) -> Vec<Event> {
        assert_eq!(self.session.shutdown().await.tasks, 0);
        std::iter::from_fn(|| self.history.try_recv().ok()).collect()
    }
}
