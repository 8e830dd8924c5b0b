//! The command `run` as a process: real pipes, interrupts, a reader that goes away.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "the process is what is tested")]

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolwright-under-test");

/// The program while it runs.
struct Run {
    child: Child,
    input: Option<ChildStdin>,
    lines: Option<Lines<BufReader<ChildStdout>>>,
}

impl Run {
    fn with(args: &[&str]) -> Self {
        let mut command = Command::new(PROGRAM);
        // A home in which there are no settings.
        command.arg("run").args(args).env("HOME", "/nonexistent").stdin(Stdio::piped());
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        let input = child.stdin.take();
        let lines = child.stdout.take().map(|it| BufReader::new(it).lines());
        Self { child, input, lines }
    }

    fn say(&mut self, text: &str) {
        let input = self.input.as_mut().expect("is open");
        input.write_all(text.as_bytes()).expect("is read");
    }

    fn call(&mut self, id: &str, tool: &str, input: &Value) {
        let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        self.say(&format!("{block}\n"));
    }

    /// A call that never ends by itself, once it runs.
    fn endless_call(&mut self, id: &str, folder: &Path) {
        let mark = folder.join("started");
        let command = format!("touch {}; sleep 1000", mark.display());
        self.call(id, "Bash", &json!({"command": command}));
        // The mark comes before the sleep, and the event before the mark.
        while !mark.exists() {
            std::thread::yield_now();
        }
    }

    fn line(&mut self) -> Value {
        let lines = self.lines.as_mut().expect("is read");
        let line = lines.next().expect("a line").expect("is read");
        serde_json::from_str(&line).expect("JSON")
    }

    fn rest(&mut self) -> Vec<Value> {
        let lines = self.lines.take().expect("is read");
        lines.map(|it| serde_json::from_str(&it.expect("is read")).expect("JSON")).collect()
    }

    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(id, signal).expect("is sent");
    }

    /// Its exit code and what it said beside its output.
    fn end(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        let mut errors = self.child.stderr.take().expect("is piped");
        errors.read_to_string(&mut said).expect("is read");
        (self.child.wait().expect("ends").code(), said)
    }
}

fn todo(run: &mut Run, id: &str) {
    run.call(id, "TodoWrite", &json!({"todos": []}));
}

#[test]
fn a_call_is_answered_before_the_input_ends() {
    let mut run = Run::with(&[]);
    todo(&mut run, "a");
    assert_eq!(run.line()["tool_use_id"], "a");
    todo(&mut run, "b");
    assert_eq!(run.line()["tool_use_id"], "b");
    run.say("\n");
    assert_eq!(run.line()["message"]["content"].as_array().map(Vec::len), Some(2));
    run.input = None;
    assert!(run.rest().is_empty());
    assert_eq!(run.end(), (Some(0), String::new()));
}

#[test]
fn calls_work_in_the_folder_that_is_named_and_only_those_that_are_allowed_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("text");
    let mut run = Run::with(&["--cwd", path, "--allow", "Bash"]);
    run.call("a", "Bash", &json!({"command": "touch here; pwd -P"}));
    let file = folder.path().join("new");
    run.call("b", "Write", &json!({"file_path": file, "content": "x"}));
    run.input = None;
    let said = run.rest();
    assert_ne!(said[0]["is_error"], true, "{}", said[0]);
    let denied = said[1]["content"].as_str().expect("text");
    assert!(denied.contains("--allow Write"), "{denied}");
    assert!(!file.exists());
    let real = folder.path().canonicalize().expect("is there");
    assert_eq!(said[0]["content"], real.to_str().expect("text"));
    assert_eq!(run.end(), (Some(0), String::new()));
}

#[test]
fn settings_of_the_folder_count_with_what_the_arguments_say_and_what_is_skipped_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("text");
    std::fs::create_dir(folder.path().join(".claude")).expect("a folder");
    let settings = json!({"permissions": {"deny": ["Bash(touch b)"], "allow": ["Bash(touch c)"]}});
    let file = folder.path().join(".claude/settings.json");
    std::fs::write(file, settings.to_string()).expect("a file");
    let mut run = Run::with(&["--cwd", path, "--allowedTools", "Bash(touch a), Bash(touch b)"]);
    for command in ["touch a", "touch b", "touch c"] {
        run.call(command, "Bash", &json!({"command": command}));
    }
    run.input = None;
    let said = run.rest();
    let failed: Vec<_> = said[..3].iter().map(|it| it["is_error"] == true).collect();
    assert_eq!(failed, [false, true, true], "{said:?}");
    assert!(said[1]["content"].to_string().contains("has been denied"), "{}", said[1]);
    let (_, told) = run.end();
    assert!(told.contains("Bash(touch c)") && told.contains("not been trusted"), "{told}");

    let mut run = Run::with(&["--cwd", path, "--setting-sources", "user", "--allow", "Bash"]);
    run.call("a", "Bash", &json!({"command": "touch b"}));
    run.input = None;
    assert_ne!(run.rest()[0]["is_error"], true);
    assert_eq!(run.end(), (Some(0), String::new()));
}

#[test]
fn what_is_not_understood_is_told_beside_the_results() {
    let mut run = Run::with(&[]);
    run.say("hello\n");
    todo(&mut run, "a");
    run.input = None;
    assert_eq!(run.rest().len(), 2);
    let (code, said) = run.end();
    assert_eq!(code, Some(0));
    assert!(said.starts_with("line 1: not a line of JSON"), "{said}");
}

#[test]
fn nothing_but_nonsense_and_a_wrong_argument_are_errors_of_usage() {
    let mut run = Run::with(&[]);
    run.say("hello\n");
    run.input = None;
    assert_eq!(run.end().0, Some(2));
    for args in [&["--allow", "Nope"], &["--cwd", "/no/such/folder"], &["--cap", "0"]] {
        let (code, said) = Run::with(args).end();
        assert_eq!(code, Some(2), "{args:?}");
        assert!(said.starts_with("error: "), "{said}");
    }
}

#[test]
fn an_interrupt_stops_and_answers_what_runs_while_the_input_stays_open() {
    for (signal, code, why) in [(Signal::INT, 130, "Interrupted by"), (Signal::TERM, 143, "ends")] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut run = Run::with(&["--allow-everything"]);
        run.endless_call("a", folder.path());
        run.signal(signal);
        let said = run.rest();
        let content = said[0]["content"].as_str().expect("text");
        assert!(content.contains(why), "{content}");
        assert_eq!(said[1]["message"]["content"][0]["tool_use_id"], "a");
        assert_eq!(run.end(), (Some(code), String::new()));
    }
}

#[test]
fn a_signal_ends_it_where_nothing_runs_and_the_input_stays_open() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut run = Run::with(&[]);
        // Once it answers, it listens.
        todo(&mut run, "a");
        assert_eq!(run.line()["tool_use_id"], "a");
        run.signal(signal);
        assert_eq!(run.rest()[0]["type"], "user");
        assert_eq!(run.end().0, Some(code));
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut run = Run::with(&["--events"]);
        // More lines than the pipe and all who wait can hold: it can't end well, as nobody reads.
        for at in 0..500 {
            todo(&mut run, &at.to_string());
        }
        // Once it answers, it listens.
        run.line();
        run.signal(signal);
        while run.child.try_wait().expect("is asked").is_none() {
            run.signal(signal);
            std::thread::yield_now();
        }
        assert_eq!(run.child.wait().expect("ends").code(), Some(code));
    }
}

#[test]
fn a_program_that_was_frozen_past_a_deadline_answers_each_call_once_when_it_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("started");
    let mut run = Run::with(&["--allow-everything", "--siblings", "none"]);
    let command = format!("touch {}; sleep 1000", mark.display());
    run.call("late", "Bash", &json!({"command": command, "timeout": 1_000}));
    todo(&mut run, "waits");
    while !mark.exists() {
        std::thread::yield_now();
    }
    run.signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(3));
    run.signal(Signal::CONT);
    run.input = None;
    let said = run.rest();
    let of = |id: &str| said.iter().filter(|it| it["tool_use_id"] == id).collect::<Vec<_>>();
    let (late, waits) = (of("late"), of("waits"));
    assert_eq!((late.len(), waits.len()), (1, 1), "{said:?}");
    let content = late[0]["content"].as_str().expect("text");
    assert!(content.contains("timed out after 1s"), "{content}");
    assert_ne!(waits[0]["is_error"], true, "{}", waits[0]);
    assert_eq!(run.end(), (Some(0), String::new()));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut run = Run::with(&[]);
    run.lines = None;
    todo(&mut run, "a");
    assert_eq!(run.end(), (Some(0), String::new()));
}

#[test]
fn the_example_of_the_help_works() {
    let help = Command::new(PROGRAM).args(["run", "--help"]).output().expect("runs");
    let help = String::from_utf8(help.stdout).expect("text");
    let example = help.lines().find(|it| it.trim_start().starts_with("echo ")).expect("an example");
    let example = example.replace("toolwright", PROGRAM);
    let output = Command::new("sh").args(["-c", &example]).output().expect("runs");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout.iter().filter(|it| **it == b'\n').count(), 2, "{output:?}");
}
