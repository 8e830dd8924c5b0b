//! A transcript's order and shapes: grouping by message, pairing by id, times.

use serde_json::{Value, json};

use super::{block, call, failed, jsonl, pairs, problems, read, result};
use crate::{Format, Input, MAX_LINE_BYTES, ProblemKind, RecordedEnding, Thread};

#[test]
fn results_between_the_blocks_of_a_message_do_not_split_it() {
    let mut entries = vec![
        call("m1", 1, "t1", "Read", &json!({})),
        result(2, "t1", &json!("one")),
        json!({"type": "attachment", "uuid": "a", "attachment": {"type": "task_reminder"}}),
        call("m1", 3, "t2", "Read", &json!({})),
        result(4, "t2", &json!("two")),
        call("m2", 5, "t3", "Read", &json!({})),
    ];
    // The parent links run through the results.
    entries[3]["parentUuid"] = json!("r2");
    let recording = read(jsonl(&entries));
    assert_eq!(pairs(&recording), [vec![r#"t1>"one""#, r#"t2>"two""#], vec!["t3"]]);
    assert_eq!(recording.problems, []);
}

#[test]
fn a_result_may_stand_before_its_call() {
    let recording = read(jsonl(&[
        call("m1", 1, "t1", "Read", &json!({})),
        result(4, "t2", &json!("two")),
        call("m1", 3, "t2", "Read", &json!({})),
        result(5, "t1", &json!("one")),
    ]));
    assert_eq!(pairs(&recording), [[r#"t1>"one""#, r#"t2>"two""#]]);
}

#[test]
fn a_message_is_grouped_by_its_id_whatever_its_stop_reasons_say() {
    let text = json!({"type": "text", "text": "I will look."});
    for reason in [json!(null), json!("tool_use")] {
        let mut entries = [
            block("m1", 1, &json!({"type": "thinking", "thinking": "", "signature": ""})),
            block("m1", 2, &text),
            call("m1", 3, "t1", "Read", &json!({})),
            call("m1", 4, "t2", "Read", &json!({})),
        ];
        for entry in &mut entries {
            entry["message"]["stop_reason"] = reason.clone();
        }
        assert_eq!(pairs(&read(jsonl(&entries))), [["t1", "t2"]]);
    }
}

#[test]
fn an_entry_may_hold_several_blocks() {
    let mut uses = call("m1", 1, "t1", "Read", &json!({}));
    let second = json!({"type": "tool_use", "id": "t2", "name": "Read", "input": {}});
    let blocks = uses["message"]["content"].as_array_mut().expect("a list");
    blocks.extend([json!("loose text"), second]);
    let mut results = result(2, "t2", &json!("two"));
    results["toolUseResult"] = json!({"belongs": "to which?"});
    let first = json!({"type": "tool_result", "tool_use_id": "t1", "content": "one"});
    results["message"]["content"].as_array_mut().expect("a list").push(first);
    let recording = read(jsonl(&[uses, results]));
    assert_eq!(pairs(&recording), [[r#"t1>"one""#, r#"t2>"two""#]]);
    let structured = recording.turns[0]
        .calls
        .iter()
        .map(|call| call.result.as_ref().expect("a result").structured.clone());
    assert!(structured.into_iter().all(|value| value.is_none()));
}

#[test]
fn results_pair_by_id_and_not_by_order() {
    let mut entries: Vec<_> =
        (1..=3).map(|n| call("m1", n, &format!("t{n}"), "Grep", &json!({"n": n}))).collect();
    entries.extend([3, 1, 2].map(|n| result(10 + n, &format!("t{n}"), &json!(n.to_string()))));
    assert_eq!(pairs(&read(jsonl(&entries))), [[r#"t1>"1""#, r#"t2>"2""#, r#"t3>"3""#]]);
}

#[test]
fn a_cancelled_sibling_is_told_from_the_failure_and_from_what_had_finished() {
    let cancelled =
        "<tool_use_error>Cancelled: parallel tool call Bash(make) errored</tool_use_error>";
    let recording = read(jsonl(&[
        call("m1", 1, "t1", "Read", &json!({})),
        result(2, "t1", &json!("text")),
        call("m1", 3, "t2", "Bash", &json!({"command": "make"})),
        call("m1", 4, "t3", "TaskUpdate", &json!({})),
        failed(5, "t2", "Exit code 2\nmake: *** No rule"),
        failed(6, "t3", cancelled),
    ]));
    let endings: Vec<_> = recording.turns[0]
        .calls
        .iter()
        .map(|call| call.result.as_ref().expect("a result").ending)
        .collect();
    assert_eq!(
        endings,
        [RecordedEnding::Ok, RecordedEnding::Error, RecordedEnding::SiblingCancelled]
    );
}

#[test]
fn a_call_on_a_branch_that_was_left_is_a_call_without_a_result() {
    let mut resumed = result(9, "t1", &json!("unused"));
    resumed["message"]["content"] = json!("go on");
    resumed["parentUuid"] = json!("r2");
    let mut synthetic =
        block("0b5c", 10, &json!({"type": "text", "text": "No response requested."}));
    synthetic["message"]["model"] = json!("<synthetic>");
    let recording = read(jsonl(&[
        call("m1", 1, "t1", "Read", &json!({})),
        result(2, "t1", &json!("one")),
        call("m2", 3, "t2", "Bash", &json!({"command": "sleep 99"})),
        resumed,
        synthetic,
        call("m3", 11, "t3", "Read", &json!({})),
        result(12, "t3", &json!("three")),
    ]));
    assert_eq!(pairs(&recording), [[r#"t1>"one""#], ["t2"], [r#"t3>"three""#]]);
    assert_eq!(recording.problems, []);
}

#[test]
fn an_orphan_result_is_a_problem_with_its_line() {
    let mut nameless = result(3, "t1", &json!("x"));
    nameless["message"]["content"][0]["tool_use_id"] = json!(null);
    let recording = read(jsonl(&[
        call("m1", 1, "t1", "Read", &json!({})),
        result(2, "t9", &json!("whose?")),
        nameless,
    ]));
    let told: Vec<_> = recording.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 2: a tool_result for t9, which nothing called: left out",
            "line 3: a tool_result for no id, which nothing called: left out",
        ]
    );
}

#[test]
fn session_version_and_directory_are_the_first_that_are_named() {
    let mut later = call("m2", 2, "t2", "Read", &json!({}));
    later["cwd"] = json!("/project/below");
    later["version"] = json!("2.1.200");
    later["sessionId"] = json!("s2");
    let summary = json!({"type": "summary", "summary": "Tidy", "leafUuid": "u1"});
    let mut first = call("m1", 1, "t1", "Read", &json!({}));
    first["cwd"] = json!("/project");
    let recording = read(jsonl(&[summary, first, later]));
    assert_eq!(recording.session_id.as_deref(), Some("s1"));
    assert_eq!(recording.cwd.as_deref(), Some("/project"));
    assert_eq!(recording.version.as_deref(), Some("2.1.112"));
    assert_eq!(recording.format, Format::Transcript);
}

#[test]
fn entries_without_message_uuid_or_time_and_of_any_type_are_normal() {
    let mut bare = call("m1", 1, "t1", "Read", &json!({}));
    for field in ["uuid", "timestamp", "parentUuid", "version", "isSidechain"] {
        bare.as_object_mut().expect("an object").remove(field);
    }
    let mut odd = result(2, "t1", &json!("one"));
    for field in ["uuid", "timestamp", "parentUuid", "isSidechain", "toolUseResult"] {
        odd[field] = json!([1, {"deep": null}]);
    }
    let mut entries = vec![json!({"type": "mode", "sessionId": "s1"})];
    entries.extend(
        [
            "queue-operation",
            "progress",
            "last-prompt",
            "file-history-snapshot",
            "cost-state",
            "new",
        ]
        .map(
            |kind| json!({"type": kind, "message": {"content": [{"type": "tool_use", "id": "x"}]}}),
        ),
    );
    entries.extend([json!({}), json!({"type": 7}), bare, odd]);
    let recording = read(jsonl(&entries));
    assert_eq!(pairs(&recording), [[r#"t1>"one""#]]);
    assert_eq!(recording.turns[0].calls[0].duration_ms(), None);
    assert_eq!(recording.problems, []);
}

#[test]
fn a_message_without_an_id_is_a_turn_of_its_own() {
    let mut entries =
        [call("m1", 1, "t1", "Read", &json!({})), call("m1", 2, "t2", "Read", &json!({}))];
    for entry in &mut entries {
        entry["message"]["id"] = json!(null);
    }
    assert_eq!(pairs(&read(jsonl(&entries))), [["t1"], ["t2"]]);
}

#[test]
fn corrupt_lines_are_skipped_and_told() {
    let good = |n: u32| call(&format!("m{n}"), n, &format!("t{n}"), "Read", &json!({})).to_string();
    let file = [
        good(1).as_bytes(),
        b"{\"type\":\"assistant\",\"mess",
        b"\0\0\0\0",
        b"{\"type\":\"user\",\"text\":\"\xff\"}",
        b"[1]",
        b"{\"type\":\"user\",\"message\":7}",
        b"",
        good(2).as_bytes(),
        b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id",
    ]
    .join(&b'\n');
    let recording = read(&file);
    assert_eq!(pairs(&recording), [["t1"], ["t2"]]);
    let lines: Vec<_> = recording.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 9]);
    assert_eq!(problems(&recording)[2], ProblemKind::NotUtf8);
    assert_eq!(problems(&recording)[5], ProblemKind::CutLine);
    assert_eq!(recording.lines, 9);
}

#[test]
fn what_is_told_of_a_corrupt_line_is_about_that_line() {
    let good = call("m1", 1, "t1", "Read", &json!({})).to_string();
    let told = |line: &str| {
        let recording = read(format!("{good}\n{line}\r\n{good}\n"));
        recording.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    for (line, what) in [
        (
            r#"{"type":"assis"#,
            "not an entry (EOF while parsing a string at line 1 column 14): skipped",
        ),
        (
            "7",
            "not an entry (invalid type: integer `7`, expected an object at line 1 column 1): skipped",
        ),
        (
            r#"{"type":"user","message":7}"#,
            "not an entry (its message: invalid type: integer `7`, expected an object at line 1 \
             column 1): skipped",
        ),
    ] {
        assert_eq!(told(line), format!("line 2: {what}"));
    }
}

#[test]
fn a_line_past_the_bound_is_skipped_and_told() {
    let long = call("m1", 1, "t1", "Write", &json!("x".repeat(MAX_LINE_BYTES)));
    let recording = read(jsonl(&[
        call("m0", 0, "t0", "Read", &json!({})),
        long,
        call("m2", 2, "t2", "Read", &json!({})),
    ]));
    assert_eq!(pairs(&recording), [["t0"], ["t2"]]);
    assert_eq!(recording.problems.len(), 1);
    assert_eq!(
        (recording.problems[0].line, &recording.problems[0].kind),
        (2, &ProblemKind::LineTooLong)
    );
}

#[test]
fn the_last_line_needs_no_newline_and_lines_may_end_in_crlf() {
    let entries = [call("m1", 1, "t1", "Read", &json!({})), result(2, "t1", &json!("one"))];
    let file = jsonl(&entries);
    for file in [file.trim_end().to_owned(), file.replace('\n', "\r\n"), format!("\u{feff}{file}")]
    {
        let recording = read(&file);
        assert_eq!(pairs(&recording), [[r#"t1>"one""#]]);
        assert_eq!(recording.problems, []);
    }
}

#[test]
fn windows_paths_stay_as_they_are() {
    let input = json!({"file_path": "C:\\Users\\new\\u0041.txt"});
    let mut entry = call("m1", 1, "t1", "Read", &input);
    entry["cwd"] = json!("C:\\Users\\new");
    let recording = read(jsonl(&[entry]));
    assert_eq!(recording.turns[0].calls[0].tool_use.input, Input::Json(input));
}

#[test]
fn input_is_kept_as_recorded_and_text_that_never_parsed_is_malformed() {
    let unparsed = json!({"__unparsedToolInput": {"raw": "{\"file_path\": \"a\"}}", "len": 20}});
    let cases: [(Value, Option<Value>); 4] = [
        (json!("{\"edits\": []}"), Some(json!("{\"edits\": []}"))),
        (json!({"edits": "[{}]"}), Some(json!({"edits": "[{}]"}))),
        (json!(null), Some(json!(null))),
        (unparsed, None),
    ];
    for (input, kept) in cases {
        let recording = read(jsonl(&[call("m1", 1, "t1", "MultiEdit", &input)]));
        assert_eq!(recording.turns[0].calls[0].tool_use.input.as_json(), kept.as_ref());
    }
}

#[test]
fn an_input_nested_too_deep_is_malformed_and_the_rest_is_read() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let entry = call("m1", 1, "t1", "A", &json!("DEEP")).to_string().replace("\"DEEP\"", &deep);
    let file = format!("{entry}\n{}", jsonl(&[call("m1", 2, "t2", "A", &json!({}))]));
    let recording = read(&file);
    assert_eq!(pairs(&recording), [["t1", "t2"]]);
    assert_eq!(recording.turns[0].calls[0].tool_use.input.as_json(), None);
}

#[test]
fn a_duration_runs_from_call_to_result_and_is_never_negative() {
    let timed = |used: u32, answered: u32| {
        let entries =
            [call("m1", used, "t1", "Bash", &json!({})), result(answered, "t1", &json!(""))];
        read(jsonl(&entries)).turns.remove(0).calls.remove(0)
    };
    assert_eq!(timed(1, 43).duration_ms(), Some(42_000));
    assert_eq!(timed(43, 1).duration_ms(), Some(0));
    assert_eq!(timed(1, 2).used_at_ms, Some(1_767_225_601_000));
}

#[test]
fn an_empty_file_is_an_empty_transcript() {
    for file in ["", "\n", " \r\n\n"] {
        let recording = read(file);
        assert_eq!((recording.format, recording.turns.len()), (Format::Transcript, 0));
        assert_eq!(recording.problems, []);
    }
}

#[test]
fn a_file_in_another_format_is_refused_with_what_is_understood() {
    let files = [
        "[{\"type\":\"user\",\"sessionId\":\"s\"}]",
        "[\n{\"type\":\"user\",\"sessionId\":\"s\"}\n]",
        "data: {\"choices\":[]}\n\n",
        "hello",
    ];
    for file in files {
        let error = crate::read_recording(file.as_bytes()).expect_err("refused");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
        assert!(error.to_string().starts_with("not a format that is understood: give"), "{error}");
    }
}

#[test]
fn the_main_thread_is_what_no_subagent_is_named_for() {
    let recording = read(jsonl(&[call("m1", 1, "t1", "Read", &json!({}))]));
    assert_eq!(recording.turns[0].thread, Thread::Main);
}
