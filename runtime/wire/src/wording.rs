//! How a recorded result's text tells what became of the call: the one table of such texts.

use serde_json::Value;

/// What became of a recorded call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordedEnding {
    /// It ran and succeeded.
    Ok,
    /// It ran and failed, or failed in a way that its text does not tell apart. A person's typed
    /// words and a hook's own words are such texts where the recording marks them in no other way.
    Error,
    /// A rule, a mode or a hook refused it, or nobody could be asked.
    Denied,
    /// A person refused it.
    Rejected,
    /// A failed sibling of its message took it down.
    SiblingCancelled,
    /// A person's interrupt, or the end of the session, stopped it.
    Interrupted,
    /// Its input was refused before it ran.
    InvalidInput,
    /// No tool has its name.
    UnknownTool,
}

/// Where a text must stand in the result.
#[derive(Clone, Copy)]
enum At {
    Start(&'static str),
    /// Both texts, the first at the start.
    StartAnd(&'static str, &'static str),
    /// Anywhere in the first [`SENTENCE_BYTES`].
    Within(&'static str),
}

/// How far into a result a sentence of the runtime's own may stand: past a path or a command that
/// it names first.
const SENTENCE_BYTES: usize = 4096;

/// First match counts. Observed in transcripts of versions 1.0 to 2.1; undocumented.
const TABLE: &[(At, RecordedEnding)] = {
    use At::{Start, StartAnd, Within};
    use RecordedEnding as E;
    &[
        (Start("Cancelled: parallel tool call "), E::SiblingCancelled),
        (Start("Sibling tool call errored"), E::SiblingCancelled),
        (Start("The user doesn't want to proceed with this tool use."), E::Rejected),
        (Start("The user doesn't want to take this action right now."), E::Rejected),
        (Start("[Request interrupted by user"), E::Interrupted),
        (Start("Permission prompt was aborted"), E::Interrupted),
        (Start("[Tool result missing"), E::Interrupted),
        (Start("InputValidationError:"), E::InvalidInput),
        (Start("Error: No such tool available"), E::UnknownTool),
        (Start("No such tool available"), E::UnknownTool),
        (Start("This command requires approval"), E::Denied),
        (StartAnd("Permission to use ", "has been denied"), E::Denied),
        (StartAnd("Claude requested permissions to ", "granted it yet"), E::Denied),
        (StartAnd("This Bash command contains multiple operations.", "require"), E::Denied),
        (StartAnd("Contains ", "cannot be statically analyzed"), E::Denied),
        (Start("Newline followed by # inside a quoted argument"), E::Denied),
        (Within(" was blocked. For security, Claude Code may only "), E::Denied),
        (StartAnd("PreToolUse:", "hook"), E::Denied),
    ]
};

/// Kinds of `tool_result_meta`, which newer versions write beside a call that did not run.
const META_KINDS: &[(&str, RecordedEnding)] = &[
    ("permission-rule", RecordedEnding::Denied),
    ("user-rejected", RecordedEnding::Rejected),
    ("cancelled", RecordedEnding::Interrupted),
];

const WRAPPER: &str = "<tool_use_error>";

/// What a result that is an error says became of its call.
pub(crate) fn ending_of_error(content: &Value) -> RecordedEnding {
    let text = leading_text(content);
    let text = text.strip_prefix(WRAPPER).unwrap_or(text);
    let head = &text[..text.floor_char_boundary(SENTENCE_BYTES)];
    TABLE
        .iter()
        .find(|(at, _)| match at {
            At::Start(start) => head.starts_with(start),
            At::StartAnd(start, then) => head.starts_with(start) && head.contains(then),
            At::Within(sentence) => head.contains(sentence),
        })
        .map_or(RecordedEnding::Error, |(_, ending)| *ending)
}

/// What a `non_execution_kind` says; the text decides where it only says that the call was
/// cancelled, and where the kind is not known.
pub(crate) fn ending_of_kind(kind: &str) -> Option<RecordedEnding> {
    META_KINDS.iter().find(|(name, _)| *name == kind).map(|(_, ending)| *ending)
}

/// Whether a result is an error. `is_error` is often left out; then the wrapper and the structured
/// result, which is the text `Error: ...` of a failed call, tell.
pub(crate) fn is_error(flag: Option<bool>, content: &Value, structured: Option<&Value>) -> bool {
    flag.unwrap_or_else(|| {
        leading_text(content).starts_with(WRAPPER)
            || structured.and_then(Value::as_str).is_some_and(|text| {
                text.starts_with("Error: ") || text.starts_with("InputValidationError: ")
            })
    })
}

/// The text of a result, or of its first text block.
fn leading_text(content: &Value) -> &str {
    match content {
        Value::String(text) => text,
        Value::Array(blocks) => {
            blocks.iter().find_map(|block| block.get("text")?.as_str()).unwrap_or("")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "",
    }
}
