//! What became of a call, as its recorded result tells.

use serde_json::{Value, json};

use super::{call, failed, jsonl, read, result};
use crate::{RecordedEnding, RecordedResult};

/// The result of one call that is recorded like this.
fn recorded(entry: Value) -> RecordedResult {
    let mut recording = read(jsonl(&[call("m1", 1, "t1", "Bash", &json!({})), entry]));
    recording.turns.remove(0).calls.remove(0).result.expect("a result")
}

#[test]
fn the_text_of_an_error_tells_its_ending() {
    use RecordedEnding as E;
    let cases = [
        ("Exit code 1\nno such file", E::Error),
        ("no such file", E::Error),
        ("please add the other file too first", E::Error),
        ("<tool_use_error>File has not been read yet. Read it first.</tool_use_error>", E::Error),
        (
            "<tool_use_error>Cancelled: parallel tool call Bash(ls) errored</tool_use_error>",
            E::SiblingCancelled,
        ),
        ("Cancelled: parallel tool call Bash(ls…) errored", E::SiblingCancelled),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", E::SiblingCancelled),
        (
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            E::Rejected,
        ),
        ("The user doesn't want to take this action right now. STOP", E::Rejected),
        ("[Request interrupted by user for tool use]", E::Interrupted),
        ("Permission prompt was aborted.", E::Interrupted),
        ("[Tool result missing]", E::Interrupted),
        (
            "<tool_use_error>InputValidationError: Read failed due to the following issue:",
            E::InvalidInput,
        ),
        ("InputValidationError: Read failed", E::InvalidInput),
        ("<tool_use_error>Error: No such tool available: Foo</tool_use_error>", E::UnknownTool),
        ("This command requires approval", E::Denied),
        ("Permission to use Bash with command rm has been denied.", E::Denied),
        ("Claude requested permissions to write to /a, but you haven't granted it yet.", E::Denied),
        (
            "This Bash command contains multiple operations. The following part requires approval: x",
            E::Denied,
        ),
        ("ls in '/etc' was blocked. For security, Claude Code may only list files in", E::Denied),
        ("Contains shell syntax (string) that cannot be statically analyzed", E::Denied),
        ("PreToolUse:Bash hook error: no", E::Denied),
        // Only the runtime's own sentences count, not what a command printed further on.
        ("Exit code 1\nCancelled: parallel tool call Bash(ls) errored", E::Error),
        ("Exit code 1\nThis command requires approval", E::Error),
    ];
    for (text, ending) in cases {
        let result = recorded(failed(2, "t1", text));
        assert_eq!((result.is_error, result.ending), (true, ending), "{text}");
        let blocks = recorded({
            let mut entry = failed(2, "t1", text);
            entry["message"]["content"][0]["content"] = json!([{"type": "text", "text": text}]);
            entry
        });
        assert_eq!(blocks.ending, ending, "as blocks: {text}");
    }
}

#[test]
fn a_result_that_is_no_error_is_ok_whatever_it_says() {
    let result = recorded(result(2, "t1", &json!("This command requires approval")));
    assert_eq!((result.is_error, result.ending), (false, RecordedEnding::Ok));
}

#[test]
fn is_error_is_told_by_other_signs_where_it_is_absent_or_null() {
    let entry = |flag: Value, content: &str, structured: Value| {
        let mut entry = result(2, "t1", &json!(content));
        entry["message"]["content"][0]["is_error"] = flag;
        entry["toolUseResult"] = structured;
        entry
    };
    let cases = [
        (json!(true), "x", json!(null), true),
        (json!(false), "<tool_use_error>x</tool_use_error>", json!("Error: x"), false),
        (json!(null), "x", json!(null), false),
        (json!(null), "<tool_use_error>x</tool_use_error>", json!(null), true),
        (json!(null), "x", json!("Error: x"), true),
        (json!(null), "x", json!("InputValidationError: x"), true),
        // The listing of a folder is a string and no error.
        (json!(null), "- /a/\n", json!("- /a/\n"), false),
        (json!(null), "x", json!({"stdout": "Error: x"}), false),
    ];
    for (flag, content, structured, is_error) in cases {
        let told = format!("{flag} {content} {structured}");
        assert_eq!(recorded(entry(flag, content, structured)).is_error, is_error, "{told}");
    }
    let mut absent = result(2, "t1", &json!("x"));
    absent["message"]["content"][0].as_object_mut().expect("a block").remove("is_error");
    assert!(!recorded(absent).is_error);
}

#[test]
fn content_and_structured_result_are_kept_in_each_shape() {
    let contents = [
        json!(""),
        json!("text"),
        json!([]),
        json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        json!([{"type": "tool_reference", "tool_name": "mcp__x__y"}]),
        json!([{"type": "image", "source": {"type": "base64", "data": "aGk="}}]),
        json!(null),
    ];
    let structured = [json!({"stdout": ""}), json!("Error: x"), json!([{"type": "text"}])];
    for content in contents {
        for structured in &structured {
            let mut entry = result(2, "t1", &content);
            entry["message"]["content"][0]["is_error"] = json!(false);
            entry["toolUseResult"] = structured.clone();
            let result = recorded(entry);
            assert_eq!(result.content, content);
            assert_eq!(result.structured.as_ref(), Some(structured));
        }
    }
    let mut bare = result(2, "t1", &json!(null));
    bare["message"]["content"][0].as_object_mut().expect("a block").remove("content");
    let bare = recorded(bare);
    assert_eq!((bare.content, bare.structured), (json!(null), None));
}

#[test]
fn the_sidecar_tells_what_the_text_does_not() {
    use RecordedEnding as E;
    let cases = [
        ("permission-rule", "blocked by our hook", E::Denied),
        ("user-rejected", "use the other file", E::Rejected),
        ("cancelled", "stopped", E::Interrupted),
        ("cancelled", "Cancelled: parallel tool call Bash(ls) errored", E::SiblingCancelled),
        ("something-new", "x", E::Error),
    ];
    for (kind, text, ending) in cases {
        let mut entry = failed(2, "t1", text);
        entry["tool_result_meta"] = json!([
            {"id": "other", "non_execution_kind": "permission-rule"},
            "odd",
            {"id": "t1", "non_execution_kind": kind},
        ]);
        assert_eq!(recorded(entry).ending, ending, "{kind}: {text}");
    }
}

#[test]
fn a_denial_that_the_stream_lists_elsewhere_marks_its_call() {
    let denial = |id: &str| json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {}});
    let listed = json!({
        "type": "result", "session_id": "s",
        "permission_denials": ["odd", denial("t1"), denial("t3"), denial("t4")],
    });
    let denied =
        |id: &str| json!({"type": "system", "subtype": "permission_denied", "tool_use_id": id});
    let rejected = "The user doesn't want to proceed with this tool use.";
    for lines in [vec![listed], vec![denied("t1"), denied("t3"), denied("t4")]] {
        let mut entries: Vec<_> =
            (1..=4).map(|n| call("m1", n, &format!("t{n}"), "Bash", &json!({}))).collect();
        entries.extend([
            failed(5, "t1", "a hook's own words"),
            failed(6, "t2", "Exit code 1"),
            // What the result itself says goes first.
            failed(7, "t3", rejected),
            result(8, "t4", &json!("done after all")),
        ]);
        entries.extend(lines);
        let recording = read(jsonl(&entries));
        let endings: Vec<_> = recording.turns[0]
            .calls
            .iter()
            .map(|call| call.result.as_ref().expect("a result").ending)
            .collect();
        use RecordedEnding as E;
        assert_eq!(endings, [E::Denied, E::Error, E::Rejected, E::Ok]);
    }
}
