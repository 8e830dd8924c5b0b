//! `stream-json`: whole messages, and their parts where partial messages are included.

use serde_json::{Value, json};

use super::{
    block_stop, delta, jsonl, message_delta, message_start, message_stop, pairs, problems, read,
    tool_start,
};
use crate::{Format, ProblemKind, Thread};

fn init() -> Value {
    json!({
        "type": "system", "subtype": "init", "session_id": "s1", "cwd": "project",
        "claude_code_version": "2.1.143", "tools": ["Bash"], "uuid": "u0",
    })
}

fn part(parent: &Value, event: Value) -> Value {
    json!({
        "type": "stream_event", "session_id": "s1", "parent_tool_use_id": parent, "event": event,
    })
}

fn whole(parent: &Value, message_id: &str, id: &str, input: &Value) -> Value {
    json!({
        "type": "assistant", "session_id": "s1", "parent_tool_use_id": parent,
        "message": {"id": message_id, "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": input},
        ]},
    })
}

fn answer(id: &str) -> Value {
    json!({
        "type": "user", "session_id": "s1", "parent_tool_use_id": null,
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": false},
        ]},
        "tool_use_result": {"stdout": "done"},
    })
}

#[test]
fn lines_give_session_version_calls_and_structured_results_and_no_times() {
    let input = json!({"command": "ls"});
    let lines = [
        json!({"type": "system", "subtype": "hook_started", "session_id": "s1"}),
        init(),
        whole(&json!(null), "m1", "t1", &input),
        json!({"type": "tool_progress", "tool_use_id": "t1", "session_id": "s1"}),
        answer("t1"),
        json!({"type": "result", "subtype": "success", "session_id": "s1", "duration_ms": 9}),
    ];
    let recording = read(jsonl(&lines));
    assert_eq!(recording.format, Format::StreamJson);
    assert_eq!(recording.session_id.as_deref(), Some("s1"));
    assert_eq!(recording.version.as_deref(), Some("2.1.143"));
    assert_eq!(recording.cwd.as_deref(), Some("project"));
    assert_eq!(pairs(&recording), [[r#"t1>"done""#]]);
    let call = &recording.turns[0].calls[0];
    assert_eq!((call.used_at_ms, call.duration_ms()), (None, None));
    let structured = call.result.as_ref().and_then(|result| result.structured.as_ref());
    assert_eq!(structured, Some(&json!({"stdout": "done"})));
}

#[test]
fn a_block_that_comes_in_parts_and_then_whole_counts_once() {
    let (main, agent) = (json!(null), json!("t0"));
    let input = json!({"command": "ls"});
    // Two threads stream at once.
    let lines = [
        init(),
        part(&main, message_start("m1")),
        part(&agent, message_start("m2")),
        part(&main, tool_start(0, "t1", "Bash")),
        part(&agent, tool_start(0, "t2", "Bash")),
        part(&main, delta(0, r#"{"command":"#)),
        part(&agent, delta(0, "{}")),
        part(&main, delta(0, r#""ls"}"#)),
        whole(&main, "m1", "t1", &input),
        part(&main, block_stop(0)),
        part(&agent, block_stop(0)),
        whole(&agent, "m2", "t2", &json!({})),
        answer("t1"),
        part(&main, message_delta("tool_use")),
        part(&main, message_stop()),
    ];
    let recording = read(jsonl(&lines));
    assert_eq!(pairs(&recording), [vec![r#"t1>"done""#], vec!["t2"]]);
    assert_eq!(recording.turns[1].thread, Thread::Sub { id: "t0".into() });
    assert_eq!(recording.problems, []);
}

#[test]
fn a_block_that_comes_in_parts_only_is_a_call() {
    let main = json!(null);
    let lines = [
        init(),
        part(&main, message_start("m1")),
        part(&main, tool_start(0, "t1", "Bash")),
        part(&main, block_stop(0)),
        part(&main, tool_start(1, "t2", "Bash")),
        part(&main, block_stop(1)),
    ];
    let recording = read(jsonl(&lines));
    assert_eq!(pairs(&recording), [["t1", "t2"]]);
    assert!(!recording.turns[0].truncated);
}

#[test]
fn parts_that_stop_inside_a_block_truncate_the_turn_unless_the_whole_came() {
    let main = json!(null);
    let cut = vec![
        init(),
        part(&main, message_start("m1")),
        part(&main, tool_start(0, "t1", "Bash")),
        part(&main, delta(0, "{")),
    ];
    let recording = read(jsonl(&cut));
    assert!(recording.turns[0].truncated && recording.turns[0].calls.is_empty());
    let unfinished = ProblemKind::UnfinishedBlock { index: 0, id: "t1".into() };
    assert_eq!(problems(&recording), [unfinished]);

    let healed = [cut, vec![whole(&main, "m1", "t1", &json!({}))]].concat();
    let recording = read(jsonl(&healed));
    assert_eq!(pairs(&recording), [["t1"]]);
    assert!(!recording.turns[0].truncated);
    assert_eq!(recording.problems, []);
}

#[test]
fn a_line_that_was_lost_spoils_the_parts_and_not_the_whole() {
    let main = json!(null);
    let begun =
        [init(), part(&main, message_start("m1")), part(&main, tool_start(0, "t1", "Bash"))];
    let ended = [part(&main, delta(0, r#"{"command":"ls"}"#)), part(&main, block_stop(0))];
    let parts = jsonl(&begun) + "{\"type\":\"stream_ev\n" + &jsonl(&ended);
    let input = json!({"command": "ls -a"});
    let recorded = |file: &str| read(file).turns.remove(0).calls.remove(0).tool_use.input;
    assert_eq!(recorded(&parts).as_json(), None);
    let whole = parts + &jsonl(&[whole(&main, "m1", "t1", &input)]);
    assert_eq!(recorded(&whole).as_json(), Some(&input));
}
