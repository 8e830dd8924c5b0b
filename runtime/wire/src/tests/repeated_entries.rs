//! Entries that come again, after a resume or by a retry: each call and result counts once.

use serde_json::json;

use super::{call, jsonl, pairs, problems, read, result};
use crate::{MAX_PROBLEMS, ProblemKind};

#[test]
fn entries_that_a_resume_writes_again_count_once() {
    let once =
        [call("m1", 1, "t1", "Read", &json!({"file_path": "a"})), result(2, "t1", &json!("one"))];
    let mut again = once.clone();
    again[0]["sessionId"] = json!("s2");
    again[0]["uuid"] = json!("other");
    again[0]["timestamp"] = json!("2026-02-02T00:00:00Z");
    let recording = read(jsonl(&[once, again].concat()));
    assert_eq!(pairs(&recording), [[r#"t1>"one""#]]);
    assert_eq!(recording.turns[0].calls[0].duration_ms(), Some(1000));
    assert_eq!(recording.problems, []);
}

#[test]
fn a_repetition_adds_the_time_that_the_first_entry_lacks() {
    let timed = call("m1", 1, "t1", "Read", &json!({}));
    let mut bare = timed.clone();
    bare["timestamp"] = json!(null);
    let recording = read(jsonl(&[bare, timed, result(2, "t1", &json!("one"))]));
    assert_eq!(pairs(&recording), [[r#"t1>"one""#]]);
    assert_eq!(recording.turns[0].calls[0].duration_ms(), Some(1000));
}

#[test]
fn a_response_that_was_written_twice_counts_once_even_under_another_message_id() {
    let recording = read(jsonl(&[
        call("m1", 1, "t1", "Read", &json!({"file_path": "a"})),
        call("m2", 1, "t1", "Read", &json!({"file_path": "a"})),
    ]));
    assert_eq!(pairs(&recording), [["t1"]]);
    assert_eq!(recording.problems, []);
}

#[test]
fn another_block_with_the_same_id_in_one_message_never_becomes_a_call() {
    let recording = read(jsonl(&[
        call("m1", 1, "t1", "Bash", &json!({"command": "ls"})),
        call("m1", 2, "t1", "Bash", &json!({"command": "rm -r x"})),
        result(3, "t1", &json!("one")),
    ]));
    assert_eq!(pairs(&recording), [[r#"t1>"one""#]]);
    assert_eq!(
        recording.turns[0].calls[0].tool_use.input.as_json(),
        Some(&json!({"command": "ls"}))
    );
    assert_eq!(problems(&recording), [ProblemKind::DuplicateId { id: "t1".into() }]);
}

#[test]
fn an_id_that_a_later_message_uses_for_another_call_is_a_call_of_its_own() {
    let id = "toolu_REDACTED_1";
    let recording = read(jsonl(&[
        call("m1", 1, id, "Read", &json!({"file_path": "a"})),
        result(2, id, &json!("same")),
        call("m2", 3, id, "Read", &json!({"file_path": "b"})),
        result(4, id, &json!("same")),
    ]));
    let answered = format!("{id}>\"same\"");
    assert_eq!(pairs(&recording), [[answered.clone()], [answered]]);
    assert_eq!(problems(&recording), [ProblemKind::ReusedId { id: id.into() }]);
}

/// With a look at each use of the id for each call, and at each call for each result, this would
/// take minutes.
#[test]
fn an_id_that_every_message_uses_is_read_as_quickly_as_any_other() {
    const CALLS: usize = 20_000;
    let use_of = |n: usize| call(&format!("m{n}"), 1, "t1", "Read", &json!({"offset": n}));
    let answer = |n: usize| result(2, "t1", &json!(n.to_string()));
    let mut entries: Vec<_> = (0..CALLS).map(use_of).chain((0..CALLS).map(answer)).collect();
    // The first call again, and the first answer, which is no second one.
    entries.extend([use_of(0), answer(0)]);
    let recording = read(jsonl(&entries));
    assert_eq!(recording.turns.len(), CALLS);
    assert!(recording.turns.iter().all(|turn| turn.calls[0].result.is_some()));
    let omitted = CALLS - 1 - MAX_PROBLEMS;
    assert_eq!(problems(&recording)[MAX_PROBLEMS], ProblemKind::Omitted { count: omitted });
}

#[test]
fn ids_are_opaque() {
    let ids = ["call_1f", "7d793037a0760186574b0282f2f435e7", "toolu_x", "1", "é"];
    let entries: Vec<_> =
        (1..).zip(ids).map(|(n, id)| call("m1", n, id, "A", &json!({}))).collect();
    assert_eq!(pairs(&read(jsonl(&entries))), [ids]);
}

#[test]
fn a_second_result_counts_as_a_problem_only_if_it_says_something_else() {
    let first = [call("m1", 1, "t1", "Read", &json!({})), result(2, "t1", &json!("one"))];
    let with = |content: &str| {
        let more = [result(3, "t1", &json!(content))];
        read(jsonl(&[first.as_slice(), &more].concat()))
    };
    assert_eq!(with("one").problems, []);
    let differing = with("two");
    assert_eq!(pairs(&differing), [[r#"t1>"one""#]]);
    assert_eq!(problems(&differing), [ProblemKind::DuplicateResult { id: "t1".into() }]);
}

#[test]
fn a_call_without_a_usable_id_is_told() {
    let mut nameless = call("m1", 1, "", "Read", &json!({}));
    nameless["message"]["content"][0]["id"] = json!(5);
    let long = call("m1", 2, &"x".repeat(2000), "Read", &json!({}));
    let recording = read(jsonl(&[nameless, long]));
    assert_eq!(problems(&recording), [ProblemKind::UnusableId, ProblemKind::UnusableId]);
    assert!(recording.turns.is_empty());
}

#[test]
fn problems_are_bounded_and_the_rest_is_counted() {
    let orphans = (0..MAX_PROBLEMS + 5).map(|n| result(1, &format!("t{n}"), &json!("")));
    let recording = read(jsonl(&orphans.collect::<Vec<_>>()));
    assert_eq!(recording.problems.len(), MAX_PROBLEMS + 1);
    assert_eq!(problems(&recording)[MAX_PROBLEMS], ProblemKind::Omitted { count: 5 });
}
