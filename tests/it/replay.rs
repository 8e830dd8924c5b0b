//! The command `replay`, run in this process: what it prints and which status it gives.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anstream::adapter::strip_bytes;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolwright::cli::{Screen, run};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sample-session.jsonl");

/// A run that is over.
struct Ran {
    status: u8,
    out: String,
    err: String,
}

impl Ran {
    /// Each line of the output as JSON.
    fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|it| serde_json::from_str(it).expect("a line of JSON")).collect()
    }

    /// The output without what no two runs have in common: folders and processor time.
    fn scrubbed(&self) -> String {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/");
        let lines = self.out.lines().map(|line| match line.split_once(" µs of CPU a call") {
            Some(_) => "    overhead  [N] µs of CPU a call".to_owned(),
            None => line.replace(folder, ""),
        });
        lines.map(|it| it.trim_end().to_owned() + "\n").collect()
    }
}

fn replay<S: Into<OsString>>(args: impl IntoIterator<Item = S>) -> Ran {
    replay_until(&CancellationToken::new(), args)
}

fn replay_until<S: Into<OsString>>(
    stop: &CancellationToken,
    args: impl IntoIterator<Item = S>,
) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args =
        ["toolwright".into(), "replay".into()].into_iter().chain(args.into_iter().map(Into::into));
    let mut screen = Screen {
        out: &mut out,
        err: &mut err,
        columns: 100,
        draws_progress: false,
        processes: harness::processes(),
    };
    let status = run(args, &mut screen, stop);
    let plain = |bytes: Vec<u8>| String::from_utf8(strip_bytes(&bytes).into_vec()).expect("text");
    Ran { status, out: plain(out), err: plain(err) }
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("has a folder")).expect("is created");
    std::fs::write(&path, text).expect("is written");
    path
}

/// A transcript of one message with one answered call.
fn transcript(id: &str) -> String {
    let call = serde_json::json!({
        "type": "assistant", "uuid": "u1", "parentUuid": null, "sessionId": "s",
        "timestamp": "2026-01-01T00:00:00.000Z", "isSidechain": false,
        "message": {"id": format!("msg_{id}"), "role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}},
        ]},
    });
    let result = serde_json::json!({
        "type": "user", "uuid": "u2", "parentUuid": "u1", "sessionId": "s",
        "timestamp": "2026-01-01T00:00:02.500Z", "isSidechain": false,
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "done"},
        ]},
    });
    format!("{call}\n{result}\n")
}

#[test]
fn the_sample_session_is_shown_message_by_message() {
    let ran = replay([SAMPLE]);
    assert_eq!((ran.status, &*ran.err), (0, ""));
    insta::assert_snapshot!(ran.scrubbed(), @r"
    fixtures/sample-session.jsonl  transcript, Claude Code 2.1.114, session b3bda498-9985-479b-a801-45e9c4e5ac45

    message 1 · 4 calls · 642 ms instead of 1.28 s
       1 Glob(**/*.rs)                  ███████████████            413 ms
       2 Read(…/app/Cargo.toml)         █████                      132 ms
       3 Read(…/app/README.md)          ████                        98 ms
       4 Grep(Duration)                 ███████████████████████    642 ms

    message 2 · 6 calls · 1.24 s instead of 2.98 s
       1 Read(…/src/lib.rs)             ████                       186 ms
       2 Read(…/src/duration.rs)        █████                      239 ms
       3 Read(…/src/report.rs)          █████                      226 ms
       4 Read(…/tests/report.rs)        ████                       202 ms
       5 Grep(% 24|/ 24)                ███████████████████████    1.24 s
       6 Grep(\.hours\(\))              █████████████████          885 ms

    message 6 · 4 calls · 5.39 s
       1 Grep(Display for)              █                           77 ms
       2 Bash(cargo test --test report) ·██████████████████████    5.31 s  ✗ failed, stops the rest
       3 Read(…/src/entry.rs)           ·······················         –  ⊘ cancelled by 2, not started
       4 Bash(cargo clippy --all-targe… ·······················         –  ⊘ cancelled by 2, not started

    message 7 · 3 calls · 208 ms instead of 328 ms
       1 Edit(…/src/duration.rs)        █████████                   73 ms
       2 Read(…/src/duration.rs)        ·········██████████████    135 ms  waited 73 ms
       3 Read(…/src/report.rs)          ·········█████████████     120 ms  waited 73 ms

    message 9 · 3 calls · 414 ms instead of 804 ms
       1 Read(…/src/clock.rs)           ██                          24 ms  ✗ failed
       2 Grep(1440|24 \* 60)            ███████████████████████    414 ms
       3 Grep(u32)                      █████████████████████      366 ms

    message 10 · 5 calls · 2.67 s instead of 4.36 s
       1 Edit(…/src/duration.rs)        ███████                    763 ms
       2 Edit(…/src/duration.rs)        ·······████████            957 ms  waited 763 ms
       3 Read(…/src/duration.rs)        ···············████████    949 ms  waited 1.72 s
       4 Read(…/tests/report.rs)        ···············███████     826 ms  waited 1.72 s
       5 Grep(from_minutes)             ···············████████    869 ms  waited 1.72 s

    message 12 · 2 calls · 60 ms
       1 Write(…/docs/durations.md)     ███████████████████         47 ms
       2 TodoWrite                      ···················████     13 ms  waited 47 ms

    █ runs   · waits for its turn   ✗ failed   ⊘ cancelled
    6 messages with a single call not shown: see --verbose

           calls  33 in 13 messages, 5 of them with calls side by side, at most 6 at once
        of these  2 failed, 2 cancelled, 1 without a recorded result, longest wait 5.39 s
    side by side  5 messages took 5.17 s instead of 9.76 s
      one by one  59.53 s
        replayed  54.95 s, 1.08 times as fast
         at best  54.95 s, however many lanes there are
        overhead  [N] µs of CPU a call
               ✓  each of 33 tool_use got exactly one tool_result, in order
    ");
}

#[test]
fn with_verbose_every_message_is_shown() {
    let ran = replay([SAMPLE, "--verbose"]);
    assert_eq!(ran.out.matches("\nmessage ").count(), 13);
    assert!(ran.out.contains("? no recorded result"), "{}", ran.out);
    assert!(!ran.out.contains("not shown"), "{}", ran.out);
}

#[test]
fn several_files_are_a_table_with_its_sums() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a.jsonl", &transcript("a"));
    write(folder.path(), "b/c.jsonl", &transcript("c"));
    let ran = replay([SAMPLE.as_ref(), folder.path().as_os_str()]);
    let table: Vec<_> = ran.out.lines().take(5).map(str::trim_end).collect();
    assert!(table[1].contains("sample-session.jsonl"), "{}", ran.out);
    assert!(table[2].contains("/a.jsonl") && table[3].contains("/b/c.jsonl"), "{}", ran.out);
    let sums: Vec<_> = table[4].split_whitespace().collect();
    let expected = "3 sessions 35 15 5 2 6 1 m 04 s 59.95 s × 1.08";
    assert_eq!(sums.join(" "), expected, "{}", ran.out);
    assert!(ran.out.contains("each of 35 tool_use got exactly one tool_result"), "{}", ran.out);
}

#[test]
fn a_report_for_programs_has_a_line_a_session_and_one_with_the_sums() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = write(folder.path(), "a.jsonl", &transcript("a"));
    let ran = replay([SAMPLE.as_ref(), other.as_os_str(), "--json".as_ref()]);
    let lines = ran.lines();
    let fields = "file format calls results errors cancelled groups max_parallel serial_ms \
                  makespan_ms critical_path_ms bound_ms overhead_us_per_call violations";
    let order: Vec<_> =
        fields.split_whitespace().map(|it| ran.out.find(&format!("\"{it}\":"))).collect();
    assert!(order.is_sorted() && order[0].is_some(), "{}", ran.out);
    let counts = |line: &Value| {
        [
            "calls",
            "results",
            "errors",
            "cancelled",
            "groups",
            "max_parallel",
            "serial_ms",
            "makespan_ms",
        ]
        .map(|it| line[it].as_u64().expect("a whole number"))
    };
    assert_eq!(counts(&lines[0]), [33, 33, 5, 2, 13, 6, 59_534, 54_948]);
    assert_eq!(counts(&lines[1]), [1, 1, 0, 0, 1, 1, 2_500, 2_500]);
    assert_eq!(counts(&lines[2]), [34, 34, 5, 2, 14, 6, 62_034, 57_448]);
    assert_eq!((&lines[0]["format"], &lines[0]["file"]), (&"transcript".into(), &SAMPLE.into()));
    assert_eq!((&lines[2]["total"], &lines[2]["files"]), (&true.into(), &2.into()));
    assert_eq!(lines[2]["violations"], Value::Array(vec![]));
}

#[test]
fn the_same_seed_gives_the_same_report_but_for_processor_time() {
    let report = |seed| {
        // Without time, all of a message happens at one instant.
        let args = [SAMPLE, "--json", "--execute", "dry", "--seed", seed];
        let mut line = replay(args).lines().remove(0);
        line["overhead_us_per_call"] = Value::Null;
        line
    };
    assert_eq!(report("1"), report("1"));
    assert_ne!(report("1")["history"], report("2")["history"]);
}

#[test]
fn options_reach_the_replay() {
    let total = |options: &[&str]| {
        let mut args = vec![SAMPLE, "--json"];
        args.extend(options);
        replay(args).lines().pop().expect("the sums")
    };
    assert_eq!(total(&["--cap", "1"])["makespan_ms"], total(&[])["serial_ms"]);
    assert_eq!(total(&["--siblings", "none"])["cancelled"], 0);
    assert_eq!(total(&["--siblings", "any"])["cancelled"], 4);
    assert_eq!(total(&["--execute", "dry"])["serial_ms"], 0);
    assert_eq!(total(&["--max-call", "0.5"])["max_wait_ms"], 1_000);
}

#[test]
fn the_history_is_written_as_lines_of_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("events.jsonl");
    let ran = replay([SAMPLE.as_ref(), "--history".as_ref(), path.as_os_str()]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let text = std::fs::read_to_string(&path).expect("is written");
    let first: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&first["seq"], &first["event"]), (&0.into(), &"turn_opened".into()));
}

#[test]
fn a_history_that_cannot_be_written_is_an_error() {
    let ran = replay([SAMPLE, "--history", concat!(env!("CARGO_MANIFEST_DIR"), "/no/such/folder")]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.starts_with("error: cannot write "), "{}", ran.err);
}

#[test]
fn a_history_never_takes_the_place_of_a_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "a.jsonl", &transcript("a"));
    let link = folder.path().join("link");
    std::fs::hard_link(&path, &link).expect("is linked");
    let again = folder.path().join(".").join("a.jsonl");
    for (read, written) in [(&*path, &again), (folder.path(), &again), (&*path, &link)] {
        let ran = replay([read.as_os_str(), "--history".as_ref(), written.as_os_str()]);
        assert_eq!((ran.status, &*ran.out), (2, ""));
        assert!(ran.err.contains("it is one of the recordings: name another file"), "{}", ran.err);
    }
    assert_eq!(std::fs::read_to_string(&path).expect("is there"), transcript("a"));
}

#[test]
fn what_cannot_be_decoded_is_told_by_file_and_line_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let broken = format!("{}{{broken\n{}", transcript("a"), transcript("b"));
    let path = write(folder.path(), "broken.jsonl", &broken);
    let ran = replay([path.as_os_str(), "--json".as_ref()]);
    assert_eq!(ran.status, 0);
    assert!(ran.err.starts_with(&format!("{}:3: not an entry", path.display())), "{}", ran.err);
    assert_eq!((&ran.lines()[0]["calls"], &ran.lines()[0]["problems"]), (&2.into(), &1.into()));
}

#[cfg(unix)]
#[test]
fn the_name_of_a_file_does_not_steer_the_terminal_and_is_exact_for_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = "a\r\n\u{1b}[2J\u{9b}.jsonl";
    write(folder.path(), name, &(transcript("a") + "{broken\n"));
    write(folder.path(), &format!("other{name}"), "just words\n");
    let folder = folder.path().as_os_str();
    let missing = std::path::Path::new(folder).join(format!("missing{name}"));
    for args in [vec![folder], vec![folder, SAMPLE.as_ref()], vec![missing.as_os_str()]] {
        let ran = replay(args);
        let said = ran.out + &ran.err;
        assert!(!said.contains(['\r', '\u{1b}', '\u{9b}']), "{said:?}");
        assert!(said.contains("a\u{fffd}\u{fffd}\u{fffd}[2J\u{fffd}.jsonl"), "{said:?}");
    }
    let ran = replay([folder, "--json".as_ref()]);
    let file = ran.lines()[0]["file"].as_str().map(str::to_owned);
    assert!(file.is_some_and(|it| it.ends_with(&format!("/{name}"))), "{}", ran.out);
}

#[test]
fn in_a_folder_what_is_not_understood_is_skipped_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "notes.txt", "just words\n");
    write(folder.path(), "code.rs", "fn main() {}\n");
    write(folder.path(), "deep/er/session.JSONL", &transcript("a"));
    let ran = replay([folder.path().as_os_str(), "--json".as_ref()]);
    assert_eq!((ran.status, ran.lines().len()), (0, 2));
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains("notes.txt: skipped: not a format"), "{}", ran.err);
}

#[test]
fn a_named_file_that_is_not_understood_is_an_error_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let notes = write(folder.path(), "notes.txt", "just words\n");
    let missing = folder.path().join("missing.jsonl");
    let args = [notes.as_os_str(), missing.as_os_str(), SAMPLE.as_ref(), "--json".as_ref()];
    let ran = replay(args);
    assert_eq!((ran.status, ran.lines().len()), (0, 2));
    let errors: Vec<_> = ran.err.lines().collect();
    assert!(errors[0].starts_with("error: ") && errors[0].contains("notes.txt: not a format"));
    assert!(errors[1].starts_with("error: ") && errors[1].contains("missing.jsonl: "));
}

#[test]
fn an_empty_file_is_a_session_without_calls() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "empty.jsonl", "");
    let ran = replay([path.as_os_str()]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains("there was no tool_use to answer"), "{}", ran.out);
}

#[test]
fn nothing_to_read_is_an_error_of_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = replay([folder.path().as_os_str()]);
    assert_eq!((ran.status, &*ran.out), (2, ""));
    assert!(ran.err.contains("nothing to replay"), "{}", ran.err);
    assert_eq!(replay::<&str>([]).status, 2);
    assert_eq!(replay([SAMPLE, "--cap", "0"]).status, 2);
}

#[test]
fn help_has_examples_and_is_no_error() {
    let ran = replay(["--help"]);
    assert_eq!((ran.status, &*ran.err), (0, ""));
    assert!(ran.out.contains("toolwright replay tests/fixtures/sample-session.jsonl"));
}

#[test]
fn a_run_that_is_stopped_shows_what_it_has_and_says_so() {
    let stop = CancellationToken::new();
    stop.cancel();
    let ran = replay_until(&stop, [SAMPLE, "--json"]);
    assert_eq!(ran.status, 130);
    let lines = ran.lines();
    assert_eq!((lines.len(), &lines[0]["interrupted"]), (1, &true.into()));
}
