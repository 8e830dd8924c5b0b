//! What the model reads when a call has no output of its own.

use serde_json::json;
use toolwright_contract::wording::{
    call_in_short, denied, interrupted, needs_approval, no_output, quote, stage_failed, stopped,
    unrecorded, vanished,
};
use toolwright_contract::{CallIx, Card, Progress, StopCause};

#[test]
fn a_stopped_call_says_why_and_how_far_it_had_come() {
    let causes = [
        StopCause::Sibling(CallIx(3)),
        StopCause::User,
        StopCause::Deadline,
        StopCause::Discarded,
        StopCause::Shutdown,
        StopCause::TooManyCalls,
    ];
    let mut texts: Vec<String> =
        causes.iter().map(|it| stopped(*it, Progress::NotStarted, Some("Bash(make)"))).collect();
    texts.push(stopped(StopCause::User, Progress::MayHaveRun, None));
    texts.push(stopped(StopCause::Sibling(CallIx(3)), Progress::MayHaveRun, None));
    insta::assert_snapshot!(texts.join("\n"), @"
    <tool_use_error>Cancelled: parallel tool call Bash(make) errored. This call had not started.</tool_use_error>
    <tool_use_error>Interrupted by the user. This call had not started.</tool_use_error>
    <tool_use_error>Timed out: the call's deadline passed. This call had not started.</tool_use_error>
    <tool_use_error>Cancelled: the message that asked for this call broke off and is discarded. This call had not started.</tool_use_error>
    <tool_use_error>Cancelled: the session ends. This call had not started.</tool_use_error>
    <tool_use_error>Refused: the message has too many tool calls; send fewer in one message. This call had not started.</tool_use_error>
    <tool_use_error>Interrupted by the user. This call had started; what it has done is unknown.</tool_use_error>
    <tool_use_error>Cancelled: parallel tool call beside it errored. This call had started; what it has done is unknown.</tool_use_error>
    ");
}

#[test]
fn a_call_that_was_lost_or_not_let_through_says_what_happened() {
    let texts = [
        vanished(),
        interrupted(Progress::NotStarted),
        interrupted(Progress::MayHaveRun),
        denied("Bash"),
        needs_approval("Bash"),
        stage_failed("permission"),
        unrecorded("no space left on device"),
        no_output().to_owned(),
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    <tool_use_error>Error: the tool crashed: its task ended without a result. What it had done by then is unknown.</tool_use_error>
    <tool_use_error>Interrupted: the runtime lost this call. This call had not started.</tool_use_error>
    <tool_use_error>Interrupted: the runtime lost this call. This call had started; what it has done is unknown.</tool_use_error>
    Permission to use Bash has been denied.
    This use of Bash requires approval, and nobody is there to give it.
    <tool_use_error>Error: the permission stage failed, so the call was not started.</tool_use_error>
    <tool_use_error>Error: the start of this call could not be recorded (no space left on device), so it was not started.</tool_use_error>
    (no output)
    ");
}

#[test]
fn a_quote_is_cut_at_a_character_and_shows_control_characters() {
    for (text, chars, quoted) in [
        ("short", 5, "short"),
        ("longer", 5, "longe…"),
        ("äöüß", 3, "äöü…"),
        ("👩‍💻", 1, "👩…"),
        ("a\u{0}b\n\u{1b}[31m", 20, "a\u{fffd}b\u{fffd}\u{fffd}[31m"),
        ("txt\u{202e}gpj.exe", 20, "txt\u{fffd}gpj.exe"),
        ("", 0, ""),
        ("x", 0, "…"),
    ] {
        assert_eq!(quote(text, chars), quoted, "{text:?} at {chars}");
    }
}

#[test]
fn a_call_in_short_shows_what_tells_it_apart() {
    let bash = Card::new("Bash", "").telling(&["command", "description"]);
    let long = "x".repeat(50);
    for (input, short) in [
        (json!({"a": "first", "command": "cargo test"}), "Bash(cargo test)".to_owned()),
        (json!({"command": 5, "description": "runs"}), "Bash(runs)".to_owned()),
        (json!({"timeout": 5, "zeal": "the only text"}), "Bash(the only text)".to_owned()),
        (json!({"content": "one text", "path": "of two"}), "Bash()".to_owned()),
        (json!({"command": "a\nb"}), "Bash(a\u{fffd}b)".to_owned()),
        (json!({"command": long}), format!("Bash({}…)", "x".repeat(40))),
        (json!({}), "Bash()".to_owned()),
        (json!(["a"]), "Bash()".to_owned()),
        (json!(null), "Bash()".to_owned()),
    ] {
        assert_eq!(call_in_short(&bash, &input), short);
    }
}
