//! The program as a process: interrupts, a reader that goes away, links that lead in circles.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "the process is what is tested")]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolwright-under-test");
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sample-session.jsonl");

fn replay(args: &[&str]) -> Child {
    let mut command = Command::new(PROGRAM);
    command.arg("replay").args(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

fn interrupt(child: &Child) {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(id, Signal::INT).expect("is sent");
}

#[test]
fn the_first_interrupt_ends_a_replay_cleanly_with_what_it_has() {
    // The first session takes no time; the second would take a minute.
    let empty = tempfile::NamedTempFile::new().expect("a file");
    let empty = empty.path().to_str().expect("text");
    let mut child = replay(&[empty, SAMPLE, "--json", "--clock", "real"]);
    let mut lines = BufReader::new(child.stdout.take().expect("is piped")).lines();
    lines.next().expect("a line").expect("is read");
    interrupt(&child);
    let lines: Vec<Value> =
        lines.map(|it| serde_json::from_str(&it.expect("is read")).expect("JSON")).collect();
    let total = lines.last().expect("the sums");
    assert_eq!((&total["total"], &total["interrupted"]), (&true.into(), &true.into()));
    assert_eq!((&total["calls"], &total["violations"]), (&total["results"], &Value::Array(vec![])));
    assert_eq!(child.wait().expect("ends").code(), Some(130));
}

#[test]
fn an_interrupt_ends_a_replay_that_waits_for_a_pipe() {
    let empty = tempfile::NamedTempFile::new().expect("a file");
    let empty = empty.path().to_str().expect("text");
    for silent in ["/dev/stdin", "/dev/zero"] {
        let mut command = Command::new(PROGRAM);
        command.args(["replay", empty, silent, "--json"]).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("starts");
        let mut lines = BufReader::new(child.stdout.take().expect("is piped")).lines();
        lines.next().expect("a line").expect("is read");
        interrupt(&child);
        let last = lines.next().expect("a line").expect("is read");
        assert!(last.starts_with(r#"{"total":true,"files":1,"#), "{last}");
        assert_eq!(child.wait().expect("ends").code(), Some(130));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = replay(&[SAMPLE, "--verbose"]);
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("is piped").read_to_string(&mut said).expect("is read");
    assert_eq!((child.wait().expect("ends").code(), &*said), (Some(0), ""));
}

#[test]
fn output_for_no_terminal_has_no_colours_and_no_progress_bar() {
    let output = replay(&[SAMPLE, SAMPLE]).wait_with_output().expect("ends");
    assert!(output.status.success());
    assert!(!output.stdout.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_folder_that_leads_back_into_itself_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(SAMPLE, folder.path().join("a.jsonl")).expect("is copied");
    symlink(folder.path(), folder.path().join("loop")).expect("is linked");
    symlink(folder.path().join("nowhere"), folder.path().join("gone.jsonl")).expect("is linked");
    let path = folder.path().to_str().expect("text");
    let output = replay(&[path, "--json"]).wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("loop: leads back to "), "{said}");
    assert!(said.contains("gone.jsonl: "), "{said}");
    assert_eq!(output.stdout.split_inclusive(|it| *it == b'\n').count(), 2);
}
