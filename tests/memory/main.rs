//! What a process holds in memory after very many turns, and after very many sessions: no more.
//!
//! A program of its own, since what is counted belongs to the whole process, whose tests take
//! turns. By default they are short; `TOOLWRIGHT_TURNS=100000` and `TOOLWRIGHT_SESSIONS=100000`
//! make them long. Time is virtual: the deadlines and waits of a turn take none.
#![allow(clippy::expect_used, reason = "in a test program a panic is the report")]

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use harness::{Scripted, call, call_of};
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};
use tokio::time::advance;
use toolwright::{
    AfterAnswer, Answer, AnyTool, BeforeAnswer, Hook, Matcher, Question, Registry, ResultLimit,
    Rules, Session, ToolUse, TurnHandle,
};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Bytes by which what is held may differ between two looks, however much lies between them: what
/// the test program notes for itself. A leak of a byte in a turn, or of three in a session, is more.
const SLACK: usize = 4 << 10;

/// One test at a time.
static TURN: Mutex<()> = Mutex::new(());

/// How many times, unless a variable of the environment says otherwise.
#[expect(clippy::disallowed_methods, reason = "the rim of this program")]
fn times(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |it| it.parse().expect("a number"))
}

/// Runs `work` under a virtual clock, alone, and without a word on the panics that are meant.
fn alone(work: impl Future<Output = ()>) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload_as_str() != Some("it panics") {
            loud(info);
        }
    }));
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().expect("starts");
    runtime.block_on(work);
}

fn config(results: &Path) -> toolwright_actors::Config {
    let tools = ["Scripted", "Asked", "Denied"].map(Scripted::named);
    let tools = tools.map(|it| AnyTool::new(it.limit(ResultLimit::Chars(30))));
    let mut config = toolwright_actors::Config::new(Registry::new(tools).expect("distinct names"));
    let (ask, deny) = (["Asked"].into(), ["Denied"].into());
    config.rules = Rules { ask, deny, ..Rules::allow_everything() }.into();
    config.hooks = vec![
        Hook::before("before", Matcher::All, |_| async { BeforeAnswer::default() }),
        Hook::after("after", Matcher::All, |_| async { AfterAnswer::default() }),
    ];
    config.deadline = Some(Duration::from_secs(30));
    config.grace = Duration::from_secs(1);
    config.results = Some(results.to_owned());
    config
}

/// The calls of a turn: something of everything over four turns.
fn calls(turn: usize) -> Vec<ToolUse> {
    let say = |id: &str, script: Value| call(id, script);
    let mut calls = vec![say("a", json!({})), say("b", json!({"ms": 5, "note": "a note"}))];
    calls.extend(match turn % 4 {
        0 => vec![
            say("c", json!({"nested": [{"ms": 1}, {"fail": "no"}, {"nested": [{}]}]})),
            say("d", json!({"ms": 60_000})),
            say("e", json!({"alone": true, "bad_change": "error", "progress": "on its way"})),
        ],
        1 => vec![
            call_of("Asked", "c", json!({})),
            call_of("Asked", "d", json!({"nested": [{}], "image": true})),
            call_of("Denied", "e", json!({})),
            call_of("Nobody", "f", json!({})),
        ],
        2 => vec![
            say("c", json!({"panic": "it panics"})),
            say("d", json!({"ms": "wrong"})),
            say("d", json!({})),
            say("e", json!({"ms": 50, "fail": "no", "cascades": true})),
            say("f", json!({"ms": 60_000, "alone": true})),
        ],
        _ => vec![say("c", json!({"ms": 40_000, "deaf": true})), say("d", json!({"alone": true}))],
    });
    if turn.is_multiple_of(100) {
        calls.push(say("long", json!({"say": "a result of more than thirty characters"})));
    }
    calls
}

async fn run(session: &Session, turn: usize) {
    let mut open = session.turn().await.expect("opens");
    for call in calls(turn) {
        // A duplicate is part of it.
        drop(open.submit(call).await);
    }
    match turn % 8 {
        0 => open.stopper().stop(&"d".into()),
        3 => return abandon(session, open).await,
        4 => open.stopper().interrupt(),
        6 => open.stopper().discard(),
        _ => {}
    }
    assert!(open.finish().await.results.len() >= 4);
}

/// Lets go of a turn while its calls run, and waits until they have ended.
async fn abandon(session: &Session, turn: TurnHandle) {
    tokio::task::yield_now().await;
    drop(turn);
    while session.tasks() > 0 {
        advance(Duration::from_secs(10)).await;
    }
}

/// Says yes to one question and no to the next.
async fn answer(session: Session) {
    let mut questions = session.questions();
    while let Some(question) = questions.recv().await {
        let Question::Asked(ask) = question else { continue };
        let yes = ask.request.0.is_multiple_of(2);
        let answer = if yes { Answer::Allow } else { Answer::Deny("no".to_owned()) };
        session.answer(ask.request, answer);
    }
}

/// Bytes held now, once what has ended has gone: by the clock of the runtime, and for the watchdog,
/// which lets go of calls four times a second, by the real one.
async fn held() -> usize {
    for _ in 0..100 {
        advance(Duration::from_secs(1)).await;
    }
    std::thread::park_timeout(Duration::from_millis(600));
    ALLOCATOR.current_usage()
}

/// Calls `step` with each number from one on, and asserts that at the half and at the end no more
/// is held than after the first tenth.
#[expect(clippy::print_stdout, reason = "the figures are what a long run is for")]
async fn assert_flat(times: usize, mut step: impl AsyncFnMut(usize)) {
    let began = Instant::now();
    let mut looks = Vec::with_capacity(3);
    for at in 1..=times {
        step(at).await;
        if [times / 10, times / 2, times].contains(&at) {
            looks.push((at, held().await));
        }
    }
    let told: Vec<_> = looks.iter().map(|(at, bytes)| format!("{bytes} after {at}")).collect();
    println!("bytes held: {} ({:.0?})", told.join(", "), began.elapsed());
    let grown = |(_, bytes): &(usize, usize)| *bytes > looks[0].1 + SLACK;
    assert!(!looks.iter().any(grown), "what is held grows: {told:?}");
}

#[test]
fn a_session_holds_no_more_after_many_turns_than_after_a_few() {
    alone(async {
        let folder = tempfile::tempdir().expect("is made");
        let session = toolwright_actors::start(config(folder.path())).await.expect("starts");
        let answering = tokio::task::JoinSet::from_iter([answer(session.clone())]);
        let (mut history, _subscriber) = (session.history(), session.subscribe());
        assert_flat(times("TOOLWRIGHT_TURNS", 10_000), async |turn| {
            run(&session, turn).await;
            while history.try_recv().is_ok() {}
            if turn.is_multiple_of(100) {
                std::fs::remove_dir_all(folder.path()).expect("is there");
            }
        })
        .await;
        drop(answering);
        assert_eq!(session.shutdown().await.tasks, 0);
    });
}

#[test]
fn a_process_holds_no_more_after_many_sessions_than_after_a_few() {
    alone(async {
        let folder = tempfile::tempdir().expect("is made");
        assert_flat(times("TOOLWRIGHT_SESSIONS", 2_000), async |at| {
            let session = toolwright_actors::start(config(folder.path())).await.expect("starts");
            let mut answering = tokio::task::JoinSet::from_iter([answer(session.clone())]);
            // Not the turn with a long result: here no file is of interest.
            run(&session, at % 99 + 1).await;
            answering.shutdown().await;
            match at % 3 {
                // One that is dropped ends by itself.
                0 => drop(session),
                _ => assert_eq!(session.shutdown().await.tasks, 0),
            }
        })
        .await;
    });
}
