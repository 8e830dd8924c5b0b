//! Whose turn it is, in each of the places where subagents are recorded.

use serde_json::{Value, json};

use super::{call, jsonl, pairs, read, result};
use crate::Thread;

fn threads(entries: &[Value]) -> Vec<Thread> {
    read(jsonl(entries)).turns.into_iter().map(|turn| turn.thread).collect()
}

fn sub(id: &str) -> Thread {
    Thread::Sub { id: id.into() }
}

/// An entry of a sidechain that names no agent, as 1.x writes them into the session's file.
fn side(mut entry: Value, uuid: &str, parent: Value) -> Value {
    entry["isSidechain"] = json!(true);
    entry["uuid"] = json!(uuid);
    entry["parentUuid"] = parent;
    entry
}

#[test]
fn sidechains_in_the_main_file_are_told_apart_by_their_first_entry() {
    let text = |uuid: &str| {
        let mut entry = result(1, "t", &json!(""));
        entry["message"]["content"] = json!("Look for it.");
        side(entry, uuid, json!(null))
    };
    let entries = [
        call("m1", 1, "task1", "Task", &json!({"prompt": "a"})),
        call("m1", 2, "task2", "Task", &json!({"prompt": "b"})),
        text("root1"),
        text("root2"),
        side(call("m2", 3, "t1", "Grep", &json!({})), "a1", json!("root1")),
        side(call("m3", 4, "t2", "Grep", &json!({})), "b1", json!("root2")),
        side(result(5, "t1", &json!("x")), "a2", json!("a1")),
        side(call("m4", 6, "t3", "Read", &json!({})), "a3", json!("a2")),
        result(7, "task1", &json!("found")),
        call("m5", 8, "t4", "Read", &json!({})),
    ];
    let expected = [Thread::Main, sub("root1"), sub("root2"), sub("root1"), Thread::Main];
    assert_eq!(threads(&entries), expected);
}

#[test]
fn a_parent_may_stand_further_on_and_a_cycle_ends() {
    let entries = [
        side(call("m1", 1, "t1", "A", &json!({})), "a", json!("root")),
        side(call("m2", 2, "t2", "A", &json!({})), "root", json!("elsewhere")),
        side(call("m3", 3, "t3", "A", &json!({})), "x", json!("y")),
        side(call("m4", 4, "t4", "A", &json!({})), "y", json!("x")),
    ];
    let threads = threads(&entries);
    assert_eq!(threads[..2], [sub("root"), sub("root")]);
    assert_eq!(threads.len(), 4);
}

#[test]
fn an_agent_file_names_its_agent() {
    let mut entry = side(call("m1", 1, "t1", "Read", &json!({})), "u", json!(null));
    entry["agentId"] = json!("a36efb2a");
    assert_eq!(threads(&[entry]), [sub("a36efb2a")]);
}

#[test]
fn stream_json_names_the_call_that_started_the_agent() {
    let line = |message_id: &str, id: &str, parent: Value| {
        json!({
            "type": "assistant", "session_id": "s1", "parent_tool_use_id": parent,
            "message": {"id": message_id, "content": [
                {"type": "tool_use", "id": id, "name": "Agent", "input": {}},
            ]},
        })
    };
    let lines = [line("m1", "t1", json!(null)), line("m2", "t2", json!("t1"))];
    assert_eq!(threads(&lines), [Thread::Main, sub("t1")]);
}

#[test]
fn what_a_background_agent_reports_later_is_not_a_second_result() {
    let mut report = result(9, "t", &json!(""));
    report["message"]["content"] = json!("<task-notification>t1 is done</task-notification>");
    let recording = read(jsonl(&[
        call("m1", 1, "t1", "Agent", &json!({})),
        result(2, "t1", &json!("Async agent launched successfully. agentId: a1")),
        json!({"type": "queue-operation", "operation": "enqueue", "sessionId": "s1", "content": "t1"}),
        report,
    ]));
    assert_eq!(pairs(&recording), [[r#"t1>"Async agent launched successfully. agentId: a1""#]]);
    assert_eq!(recording.problems, []);
}
