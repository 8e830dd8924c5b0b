//! The replay as a specification: what each option does to a recording.

use std::sync::Mutex;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolwright_contract::{Event, EventKind, HowEnded, RefusalName};
use toolwright_wire::{Input, RecordedCall, RecordedEnding, RecordedResult, RecordedTurn, Thread};

use super::*;

/// A call that took so many milliseconds and ended so.
fn call(id: &str, tool: &str, ms: i64, ending: RecordedEnding) -> RecordedCall {
    let result = RecordedResult {
        at_ms: Some(1_000 + ms),
        content: json!(format!("said {id}")),
        is_error: ending != RecordedEnding::Ok,
        ending,
        structured: None,
    };
    RecordedCall {
        tool_use: toolwright_wire::ToolUse {
            id: id.to_owned(),
            name: tool.to_owned(),
            input: Input::Json(json!({"of": id})),
        },
        used_at_ms: Some(1_000),
        result: Some(result),
    }
}

fn ok(id: &str, tool: &str, ms: i64) -> RecordedCall {
    call(id, tool, ms, RecordedEnding::Ok)
}

fn recording(turns: impl IntoIterator<Item = Vec<RecordedCall>>) -> Recording {
    let turn =
        |calls| RecordedTurn { message_id: None, thread: Thread::Main, calls, truncated: false };
    Recording {
        format: Format::Transcript,
        session_id: None,
        version: None,
        cwd: None,
        turns: turns.into_iter().map(turn).collect(),
        problems: vec![],
        lines: 0,
    }
}

fn quiet() -> Watcher {
    Arc::new(|_| {})
}

fn played(recording: Recording, options: Options) -> Replayed {
    let stop = CancellationToken::new();
    let (replayed, _) =
        replay(recording, options, HistoryLog::default(), &stop, quiet()).expect("is replayed");
    assert_eq!(replayed.figures.violations, Vec::<String>::new());
    assert!(!replayed.interrupted);
    replayed
}

/// Each call of the first turn: how it ended, and when, in milliseconds.
fn ends(replayed: &Replayed) -> Vec<(HowEnded, u64)> {
    let calls = replayed.turns[0].calls.iter();
    calls.map(|it| (it.ended.expect("has ended"), it.ended_us / 1_000)).collect()
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The history of a replay as it is written.
fn history(recording: Recording, options: Options) -> (Vec<u8>, u64) {
    let written = Shared::default();
    let log = HistoryLog::written_to(written.clone());
    let stop = CancellationToken::new();
    let (replayed, log) = replay(recording, options, log, &stop, quiet()).expect("is replayed");
    assert_eq!(replayed.figures.violations, Vec::<String>::new());
    log.close().expect("is written");
    let bytes = written.0.lock().unwrap().clone();
    (bytes, replayed.figures.history.expect("has a digest"))
}

#[test]
fn readers_run_side_by_side_and_all_else_alone() {
    let turn = vec![
        ok("a", "Read", 300),
        ok("b", "Grep", 200),
        ok("c", "Edit", 50),
        ok("d", "mcp__files__read", 50),
        ok("e", "Read", 10),
    ];
    let replayed = played(recording([turn]), Options::default());
    let times: Vec<_> = ends(&replayed).into_iter().map(|(_, ms)| ms).collect();
    assert_eq!(times, [300, 200, 350, 400, 410]);
    let figures = &replayed.figures;
    assert_eq!((figures.serial_us, figures.makespan_us), (610_000, 410_000));
    assert_eq!((figures.max_parallel, figures.parallel_groups), (2, 1));
    assert_eq!(figures.max_wait_us, 400_000);
}

#[test]
fn turns_follow_one_another_and_their_makespans_add_up() {
    let turns = [vec![ok("a", "Read", 100)], vec![], vec![ok("b", "Bash", 50), ok("c", "Read", 7)]];
    let replayed = played(recording(turns), Options::default());
    assert_eq!(replayed.figures.groups, 2, "a message that lost its calls is none");
    assert_eq!(replayed.figures.makespan_us, 157_000);
    assert_eq!(replayed.turns[1].calls[0].started_us, Some(100_000));
}

#[test]
fn the_cap_bounds_how_many_run_at_once() {
    let turn: Vec<_> = (0..5).map(|it| ok(&it.to_string(), "Read", 10)).collect();
    for (cap, makespan, bound) in [(1, 50, 50), (2, 30, 30), (5, 10, 10), (900, 10, 10)] {
        let options = Options { cap: NonZeroU16::new(cap).unwrap(), ..Options::default() };
        let figures = played(recording([turn.clone()]), options).figures;
        let got = (figures.makespan_us, figures.bound_us, figures.critical_path_us);
        assert_eq!(got, (makespan * 1_000, bound * 1_000, 10_000), "cap {cap}");
    }
}

/// `Bash` fails, what follows was cancelled with it; a `Grep` beside them failed by itself.
fn with_cancelled_siblings(failure: RecordedEnding) -> Recording {
    recording([vec![
        call("a", "Grep", 10, RecordedEnding::Error),
        call("b", "Bash", 100, failure),
        call("c", "Read", 0, RecordedEnding::SiblingCancelled),
        call("d", "Bash", 0, RecordedEnding::SiblingCancelled),
    ]])
}

#[test]
fn a_recorded_cancellation_is_repeated_by_the_command_that_caused_it() {
    use HowEnded::{Error, StoppedNotStarted};
    for failure in [RecordedEnding::Error, RecordedEnding::Denied] {
        let replayed = played(with_cancelled_siblings(failure), Options::default());
        let expected =
            [(Error, 10), (Error, 110), (StoppedNotStarted, 110), (StoppedNotStarted, 110)];
        assert_eq!(ends(&replayed), expected, "{failure:?}");
        assert_eq!(replayed.turns[0].calls[3].stopped.unwrap().culprit, Some(1));
        assert_eq!((replayed.figures.errors, replayed.figures.cancelled), (4, 2));
    }
}

#[test]
fn a_recorded_cancellation_among_readers_waits_for_its_stop() {
    let turn = vec![
        call("a", "Read", 100, RecordedEnding::Error),
        call("b", "Read", 5, RecordedEnding::SiblingCancelled),
        ok("c", "Read", 50),
    ];
    let replayed = played(recording([turn]), Options::default());
    use HowEnded::{Error, Ok, StoppedMayHaveRun};
    assert_eq!(ends(&replayed), [(Error, 100), (StoppedMayHaveRun, 100), (Ok, 50)]);
}

#[test]
fn a_recorded_cancellation_waits_for_its_stop_even_where_the_culprit_takes_the_longest() {
    let turn = [
        call("a", "Read", 90_000, RecordedEnding::Error),
        call("b", "Read", 5, RecordedEnding::SiblingCancelled),
    ];
    for (limit, seed) in [(0, 0), (0, 1), (60, 0), (60, 1), (60, 2), (60, 3)] {
        let max_call = Duration::from_secs(limit);
        let options = Options { max_call, seed, ..Options::default() };
        let figures = played(recording([turn.to_vec()]), options).figures;
        let times = (figures.makespan_us, figures.serial_us);
        let limit_us = limit * 1_000_000;
        assert_eq!((figures.cancelled, times), (1, (limit_us, 2 * limit_us)), "seed {seed}");
    }
}

#[test]
fn a_recorded_cancellation_that_nothing_explains_ends_by_itself() {
    let turn = vec![ok("a", "Read", 10), call("b", "Read", 5, RecordedEnding::SiblingCancelled)];
    let replayed = played(recording([turn]), Options::default());
    assert_eq!(ends(&replayed), [(HowEnded::Ok, 10), (HowEnded::Error, 5)]);
}

#[test]
fn a_failure_without_recorded_cancellations_stops_nothing() {
    let turn = vec![call("a", "Bash", 10, RecordedEnding::Error), ok("b", "Read", 10)];
    let replayed = played(recording([turn]), Options::default());
    assert_eq!(ends(&replayed), [(HowEnded::Error, 10), (HowEnded::Ok, 20)]);
}

#[test]
fn the_other_sibling_policies_hold_for_every_turn() {
    use RecordedEnding::{Denied, Error};
    //    policy          the call that fails, how  siblings that were cancelled
    for (siblings, tool, failure, cancelled) in [
        (Siblings::Bash, "Bash", Error, 2),
        (Siblings::Bash, "Bash", Denied, 0),
        (Siblings::Bash, "Read", Error, 0),
        (Siblings::Any, "Bash", Error, 2),
        (Siblings::Any, "Bash", Denied, 2),
        (Siblings::Any, "Read", Error, 2),
        (Siblings::None, "Bash", Error, 0),
        (Siblings::None, "Read", Error, 0),
    ] {
        let turn = vec![call("a", tool, 10, failure), ok("b", "Read", 50), ok("c", "Edit", 5)];
        let options = Options { siblings, ..Options::default() };
        let figures = played(recording([turn]), options).figures;
        assert_eq!(figures.cancelled, cancelled, "{siblings:?} {tool} {failure:?}");
    }
}

#[test]
fn recorded_cancellations_are_answered_as_recorded_where_nothing_is_stopped() {
    let options = Options { siblings: Siblings::None, ..Options::default() };
    let figures = played(with_cancelled_siblings(RecordedEnding::Error), options).figures;
    assert_eq!((figures.errors, figures.cancelled), (4, 0));
}

#[test]
fn a_dry_replay_takes_no_time_and_fails_nowhere() {
    let options = Options { execute: Execute::Dry, ..Options::default() };
    let figures = played(with_cancelled_siblings(RecordedEnding::Error), options).figures;
    assert_eq!((figures.calls, figures.results, figures.errors), (4, 4, 0));
    assert_eq!((figures.serial_us, figures.makespan_us), (0, 0));
}

#[test]
fn no_call_takes_longer_than_the_limit() {
    let turn = vec![ok("a", "Bash", 3_600_000), ok("b", "Bash", 59_999)];
    let limit = |seconds| Options { max_call: Duration::from_secs(seconds), ..Options::default() };
    for (options, expected) in [(Options::default(), 119_999), (limit(1), 2_000), (limit(0), 0)] {
        let figures = played(recording([turn.clone()]), options).figures;
        assert_eq!(figures.makespan_us, expected * 1_000);
    }
}

#[test]
fn without_time_stamps_the_structured_result_tells_the_time() {
    for (structured, ms) in [
        (json!({"durationMs": 12}), Some(12)),
        (json!({"totalDurationMs": 340.4}), Some(340)),
        (json!({"durationSeconds": 1.5}), Some(1_500)),
        (json!({"durationMs": -5}), None),
        (json!({"durationSeconds": "long"}), None),
        (json!("Error: no"), None),
    ] {
        let mut call = ok("a", "WebFetch", 7);
        call.used_at_ms = None;
        call.result.as_mut().unwrap().structured = Some(structured.clone());
        let figures = played(recording([vec![call]]), Options::default()).figures;
        let expected = (ms.unwrap_or(0) * 1_000, usize::from(ms.is_none()));
        assert_eq!((figures.serial_us, figures.untimed), expected, "{structured}");
    }
}

#[test]
fn a_call_without_a_recorded_result_is_answered_that_there_is_none() {
    let open = RecordedCall { result: None, ..ok("a", "Bash", 0) };
    let replayed = played(recording([vec![open, ok("b", "Read", 1)]]), Options::default());
    assert_eq!(ends(&replayed), [(HowEnded::Error, 0), (HowEnded::Ok, 1)]);
    assert_eq!((replayed.figures.unanswered, replayed.figures.errors), (1, 1));
}

#[test]
fn malformed_input_and_unknown_tools_are_refused_by_the_runtime() {
    let mut malformed = ok("a", "Read", 5);
    let error = "line 1 column 2".to_owned();
    malformed.tool_use.input = Input::Malformed { raw: "{".into(), error };
    let unknown = call("b", "Raed", 5, RecordedEnding::UnknownTool);
    let nameless = ok("c", "", 5);
    let replayed = played(recording([vec![malformed, unknown, nameless]]), Options::default());
    let refused: Vec<_> = replayed.turns[0].calls.iter().map(|it| it.refused).collect();
    let expected = [Some(RefusalName::InvalidInput), Some(RefusalName::UnknownTool), None];
    assert_eq!(refused, expected);
}

#[test]
fn an_id_that_comes_twice_in_a_message_gets_one_result_and_one_that_comes_later_another() {
    let turns = [
        vec![ok("a", "Read", 5), ok("a", "Bash", 50), ok("b", "Read", 5)],
        vec![ok("a", "Read", 9)],
    ];
    let figures = played(recording(turns), Options::default()).figures;
    assert_eq!((figures.calls, figures.results, figures.makespan_us), (3, 3, 14_000));
}

#[test]
fn a_subagents_message_says_so() {
    let mut recording = recording([vec![ok("a", "Agent", 5)], vec![ok("b", "Read", 1)]]);
    recording.turns[1].thread = Thread::Sub { id: "a".to_owned() };
    let replayed = played(recording, Options::default());
    let by_subagent: Vec<_> = replayed.turns.iter().map(|it| it.by_subagent).collect();
    assert_eq!(by_subagent, [false, true]);
}

/// A session and a turn of these calls, ready to be played.
async fn staged(calls: Vec<RecordedCall>) -> (Session, ScriptedTurn) {
    let options = Options::default();
    let mut script = script::write(recording([calls]).turns, &options);
    let playbook = Arc::new(Playbook::default());
    let (log, stop) = (HistoryLog::default(), CancellationToken::new());
    let mut stage = Stage { options, workplace: None, log, stop, watcher: quiet() };
    let session = stage.session(&script, &playbook).unwrap().start().await.unwrap();
    let mut turn = script.turns.remove(0);
    playbook.lay_open(std::mem::take(&mut turn.parts));
    (session, turn)
}

#[tokio::test(start_paused = true)]
async fn a_call_answers_what_was_recorded() {
    let content = [
        json!("text"),
        json!([{"type": "text", "text": "a"}, {"type": "image", "source": {}}]),
        json!("x".repeat(200_000)),
        json!(null),
        json!({"odd": 1}),
    ];
    let mut turn: Vec<_> = (0..5).map(|it| ok(&it.to_string(), "Read", 1)).collect();
    turn.push(call("e", "Read", 1, RecordedEnding::Error));
    for (call, content) in turn.iter_mut().zip(&content) {
        call.result.as_mut().unwrap().content = content.clone();
    }
    let (session, turn) = staged(turn).await;
    let answers = play_turn(&session, turn, &CancellationToken::new()).await.unwrap();
    let said: Vec<_> =
        answers.results.iter().map(|it| (it.content.to_json(), it.is_error)).collect();
    let [text, blocks, long, _, _] = content;
    let expected = [
        (text, false),
        (blocks, false),
        (long, false),
        (json!("(no output)"), false),
        (json!(r#"{"odd":1}"#), false),
        (json!("said e"), true),
    ];
    assert_eq!(said, expected);
    session.shutdown().await;
}

#[test]
fn a_stop_ends_the_replay_between_turns_and_says_so() {
    let turns = (0..5).map(|it| vec![ok(&it.to_string(), "Read", 10)]);
    let stop = CancellationToken::new();
    let (told, seen) = (stop.clone(), Arc::new(Mutex::new(Vec::new())));
    let parts = seen.clone();
    let watcher: Watcher = Arc::new(move |part| {
        parts.lock().unwrap().push(part);
        if part >= 0.4 {
            told.cancel();
        }
    });
    let log = HistoryLog::default();
    let (replayed, _) =
        replay(recording(turns), Options::default(), log, &stop, watcher).expect("is replayed");
    assert!(replayed.interrupted);
    assert_eq!((replayed.turns.len(), replayed.figures.results), (2, 2));
    assert_eq!(*seen.lock().unwrap(), [0.2, 0.4]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_calls_run_answers_each_of_them() {
    let (session, turn) = staged(vec![ok("a", "Read", 50_000), ok("b", "Edit", 50_000)]).await;
    let (mut history, stop) = (session.history(), CancellationToken::new());
    let stopping = async {
        while let Some(event) = history.recv().await {
            if matches!(event.kind, EventKind::Started { .. }) {
                return stop.cancel();
            }
        }
    };
    let (answers, ()) = tokio::join!(play_turn(&session, turn, &stop), stopping);
    let answers = answers.unwrap();
    assert_eq!(answers.breach(), None);
    let said: Vec<_> = answers.results.iter().map(|it| it.content.text()).collect();
    assert!(said[0].contains("discarded. This call had started"), "{}", said[0]);
    assert!(said[1].contains("discarded. This call had not started"), "{}", said[1]);
    session.shutdown().await;
}

#[test]
fn on_the_real_clock_recorded_time_is_divided_by_the_speed() {
    let speed = Speed::new(1_000.0).unwrap();
    let options = Options { clock: Clock::Real { speed }, ..Options::default() };
    let turn = vec![ok("a", "Read", 20_000), ok("b", "Read", 10_000), ok("c", "Edit", 10_000)];
    let figures = played(recording([turn]), options).figures;
    assert!(figures.serial_us >= 40_000, "{figures:?}");
    assert!(figures.makespan_us >= figures.critical_path_us, "{figures:?}");
}

/// Many calls that end at the same instants, some of which stop others.
fn with_ties() -> Recording {
    let turn = |at: usize| {
        let call = |it: usize| {
            let ending = if it == 9 { RecordedEnding::Error } else { RecordedEnding::Ok };
            let tool = if it == 9 { "Bash" } else { "Read" };
            call(&format!("{at}.{it}"), tool, (it % 3 * 10) as i64, ending)
        };
        (0..12).map(call).collect()
    };
    recording((0..8).map(turn))
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_another_order() {
    let of = |seed| Options { seed, siblings: Siblings::Bash, ..Options::default() };
    let histories: Vec<_> = (0..4).map(|seed| history(with_ties(), of(seed))).collect();
    for (seed, first) in histories.iter().enumerate() {
        assert_eq!(*first, history(with_ties(), of(seed as u64)), "seed {seed}");
    }
    assert!(histories[1..].iter().all(|it| *it != histories[0]));
}

#[test]
fn the_written_history_is_a_line_an_event_and_is_what_the_digest_is_of() {
    let (bytes, digest) = history(with_ties(), Options::default());
    let lines = bytes.split_inclusive(|it| *it == b'\n');
    let events: Vec<Event> = lines.map(|it| serde_json::from_slice(it).unwrap()).collect();
    assert!(events.iter().map(|it| it.seq).eq(0..events.len() as u64));
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!(digest, fnv);
}

fn any_recording() -> impl Strategy<Value = Recording> {
    use RecordedEnding as E;
    let tool = prop::sample::select(vec!["Read", "Grep", "Agent", "Bash", "Edit", "mcp__x__y"]);
    let ending = prop::sample::select(vec![
        E::Ok,
        E::Ok,
        E::Ok,
        E::Error,
        E::Denied,
        E::Rejected,
        E::SiblingCancelled,
        E::Interrupted,
        E::InvalidInput,
        E::UnknownTool,
    ]);
    let lot = (tool, 0_i64..200, ending, prop::bool::weighted(0.9));
    let turns = prop::collection::vec(prop::collection::vec(lot, 0..9), 0..6);
    turns.prop_map(|turns| {
        recording(turns.into_iter().enumerate().map(|(turn, calls)| {
            let calls = calls.into_iter().enumerate();
            let calls = calls.map(|(at, (tool, ms, ending, answered))| {
                let call = call(&format!("{turn}.{at}"), tool, ms, ending);
                if answered { call } else { RecordedCall { result: None, ..call } }
            });
            calls.collect()
        }))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_recording_keeps_the_invariants_under_any_option(
        recording in any_recording(),
        siblings in prop::sample::select(vec![
            Siblings::Recorded, Siblings::Bash, Siblings::None, Siblings::Any,
        ]),
        dry in any::<bool>(),
        cap in 1_u16..12,
        seed in any::<u64>(),
    ) {
        let execute = if dry { Execute::Dry } else { Execute::Recorded };
        let cap = NonZeroU16::new(cap).unwrap();
        let options = Options { execute, siblings, cap, seed, ..Options::default() };
        let calls: usize = recording.turns.iter().map(|it| it.calls.len()).sum();
        let figures = played(recording, options).figures;
        prop_assert_eq!((figures.calls, figures.results), (calls, calls));
        prop_assert!(figures.critical_path_us <= figures.bound_us);
        prop_assert!(figures.bound_us <= figures.makespan_us);
        prop_assert!(figures.makespan_us <= figures.serial_us);
    }

    #[test]
    fn without_stops_a_turn_takes_exactly_its_bound(
        recording in any_recording(),
        cap in 1_u16..12,
        seed in any::<u64>(),
    ) {
        let (siblings, cap) = (Siblings::None, NonZeroU16::new(cap).unwrap());
        let figures = played(recording, Options { siblings, cap, seed, ..Options::default() }).figures;
        prop_assert_eq!(figures.cancelled, 0);
        prop_assert_eq!(figures.makespan_us, figures.bound_us);
    }
}

#[test]
fn a_line_of_figures_has_its_fields_in_order_and_whole_milliseconds_as_integers() {
    let mut figures = played(recording([vec![ok("a", "Read", 5)]]), Options::default()).figures;
    figures.makespan_us = 1_500;
    let line = serde_json::to_string(&figures).unwrap();
    let begin = r#"{"calls":1,"results":1,"errors":0,"cancelled":0,"groups":1,"max_parallel":1,"serial_ms":5,"makespan_ms":1.5,"critical_path_ms":5,"bound_ms":5,"overhead_us_per_call":"#;
    assert!(line.starts_with(begin), "{line}");
    let fields: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(fields["violations"], json!([]));
    assert_eq!(fields["history"].as_str().map(str::len), Some(16));
}
