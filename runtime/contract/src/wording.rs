//! The one table of what the model reads when a call has no output of its own.
//!
//! Shapes and openings are those of Claude Code (docs 2.1.240 and transcripts), so that a model
//! knows them; nothing in the runtime recognises a result by its text.

use toolwright_kernel::{Progress, StopCause};

use crate::card::Card;
use crate::ids::ToolUseId;
use crate::papers::OutcomeKind;

/// Longest part of a model's own text, or of a panic, that is quoted to it, in characters.
const QUOTE_CHARS: usize = 200;

/// The wrapper of errors that are not a tool's own.
#[must_use]
pub fn tool_use_error(text: &str) -> String {
    format!("<tool_use_error>{text}</tool_use_error>")
}

/// At most so many characters of `text` on one line, none of which steers a terminal.
#[must_use]
pub fn quote(text: &str, chars: usize) -> String {
    let is_kept = |it: &char| !it.is_control() && !turns_writing(*it);
    let shown = |it| if is_kept(&it) { it } else { char::REPLACEMENT_CHARACTER };
    let mut quoted: String = text.chars().take(chars).map(shown).collect();
    if text.chars().nth(chars).is_some() {
        quoted.push('…');
    }
    quoted
}

/// Whether a character turns the direction of writing, so that text reads as what it isn't.
pub(crate) fn turns_writing(it: char) -> bool {
    matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

pub(crate) fn unknown_tool(name: &str) -> String {
    tool_use_error(&format!("Error: No such tool available: {}", quote(name, QUOTE_CHARS)))
}

pub(crate) fn unparseable_input(tool: &str, raw: &str, error: &str) -> String {
    let sent = quote(raw, QUOTE_CHARS);
    tool_use_error(&format!(
        "InputValidationError: {tool} was called with input that could not be parsed as JSON \
         ({error}).\nYou sent ({} bytes): {sent}",
        raw.len()
    ))
}

/// An input that doesn't fit, with one line for each problem.
pub(crate) fn misfit_input(tool: &str, lines: &[String]) -> String {
    let issues = if lines.len() == 1 { "issue" } else { "issues" };
    format!(
        "InputValidationError: {tool} failed due to the following {issues}:\n{}",
        lines.join("\n")
    )
}

pub(crate) fn missing_parameter(path: &str) -> String {
    format!("The required parameter `{}` is missing", quote(path, QUOTE_CHARS))
}

pub(crate) fn mistyped_parameter(path: &str, expected: &str, provided: &str) -> String {
    let path = quote(path, QUOTE_CHARS);
    format!("The parameter `{path}` type is expected as `{expected}` but provided as `{provided}`")
}

pub(crate) fn unexpected_parameter(path: &str) -> String {
    format!("An unexpected parameter `{}` was provided", quote(path, QUOTE_CHARS))
}

/// A value of the right type that is out of range, or no option. `expected` has its own quotes.
pub(crate) fn misfit_parameter(path: &str, expected: &str, provided: &str) -> String {
    let provided = quote(provided, QUOTE_CHARS);
    let expected = quote(expected, 2 * QUOTE_CHARS);
    let place = place(path);
    format!("The {place} value is expected as {expected} but provided as `{provided}`")
}

pub(crate) fn refused_parameter(path: &str, why: &str) -> String {
    format!("The {} is not accepted: {}", place(path), quote(why, QUOTE_CHARS))
}

/// What a line is about; the root has no name.
fn place(path: &str) -> String {
    match path {
        "" => "input".to_owned(),
        path => format!("parameter `{}`", quote(path, QUOTE_CHARS)),
    }
}

pub(crate) fn one_of(options: &[String]) -> String {
    let options: Vec<_> = options.iter().map(|it| format!("`{it}`")).collect();
    if options.is_empty() { "absent".to_owned() } else { options.join(" or ") }
}

pub(crate) fn and_more(problems: usize) -> String {
    format!("and {problems} more")
}

/// What the type says where the schema has nothing to say.
pub(crate) fn not_understood(at: &str, error: &serde_json::Error) -> String {
    let place = if at == "." { String::new() } else { format!("`{}`: ", quote(at, QUOTE_CHARS)) };
    format!("{place}{}", quote(&error.to_string(), QUOTE_CHARS))
}

pub(crate) fn unusable_schema(tool: &str, why: &dyn std::fmt::Display) -> String {
    format!("InputValidationError: the schema of {tool} can't be used, so no input can: {why}")
}

pub(crate) fn not_an_object(tool: &str) -> String {
    format!(
        "InputValidationError: {tool} failed due to the following issue:\n\
         The input must be a JSON object"
    )
}

pub(crate) fn panicked_on_input(tool: &str, panic: &str) -> String {
    let panic = quote(panic, QUOTE_CHARS);
    format!("InputValidationError: {tool} crashed while it read its input: {panic}")
}

pub(crate) fn crashed(panic: &str) -> String {
    let panic = quote(panic, QUOTE_CHARS);
    let said = if panic.is_empty() { panic } else { format!(": {panic}") };
    tool_use_error(&format!("Error: the tool crashed{said}. What it had done by then is unknown."))
}

pub(crate) fn unmapped(panic: &str) -> String {
    let panic = quote(panic, QUOTE_CHARS);
    tool_use_error(&format!("The tool succeeded, but its output could not be shown: {panic}"))
}

/// A task that ended without a word.
#[must_use]
pub fn vanished() -> String {
    crashed("its task ended without a result")
}

/// What a person or a rule refused, if nobody gave a reason.
#[must_use]
pub fn denied(tool: &str) -> String {
    format!("Permission to use {tool} has been denied.")
}

/// Why a call of this tool was denied, in words: a model that reads nothing learns nothing.
#[must_use]
pub fn reason(given: &str, tool: &str) -> String {
    if given.trim().is_empty() { denied(tool) } else { given.to_owned() }
}

/// Nobody is there to be asked.
#[must_use]
pub fn needs_approval(tool: &str) -> String {
    format!("This use of {tool} requires approval, and nobody is there to give it.")
}

/// A person said yes to something that is something else by now.
pub const CHANGED_WHILE_ASKED: &str = "What this call would touch has changed since it was approved, so it was not started. Try again.";

/// A tool that panics when it is asked whether a call may start.
pub(crate) fn could_not_judge(tool: &str) -> String {
    format!("{tool} broke down when it was asked whether this call may start.")
}

/// A stage that should have decided broke down.
#[must_use]
pub fn stage_failed(stage: &str) -> String {
    tool_use_error(&format!("Error: the {stage} stage failed, so the call was not started."))
}

/// A hook after the call failed; the result stands.
#[must_use]
pub fn after_hook_failed(id: &ToolUseId, kind: OutcomeKind, hook: &str, fault: &str) -> String {
    let went = match kind {
        OutcomeKind::Success => "succeeded",
        OutcomeKind::Failure => "failed",
    };
    format!("The call {id} {went}; the hook {hook} after it {fault}.")
}

/// The stage that should have kept the result broke down; the result stands inline.
#[must_use]
pub fn store_failed() -> &'static str {
    "the stage that keeps results failed"
}

/// A tool's check of its input didn't end.
#[must_use]
pub fn check_took_too_long(limit: std::time::Duration) -> String {
    tool_use_error(&format!(
        "Error: the tool's check of its input took longer than {} s, so the call was not started.",
        limit.as_secs()
    ))
}

/// Calls within calls within calls.
#[must_use]
pub fn nested_too_deep(limit: u32) -> String {
    tool_use_error(&format!("Error: calls may nest at most {limit} deep. It was not started."))
}

/// The start record could not be written.
#[must_use]
pub fn unrecorded(why: &str) -> String {
    tool_use_error(&format!(
        "Error: the start of this call could not be recorded ({why}), so it was not started."
    ))
}

/// A result whose content was blank.
#[must_use]
pub fn no_output() -> &'static str {
    "(no output)"
}

/// The scheduler of the turn is gone.
#[must_use]
pub fn interrupted(progress: Progress) -> String {
    tool_use_error(&format!("Interrupted: the runtime lost this call. {}", told(progress)))
}

/// A call that was stopped. `culprit` describes the sibling that failed.
#[must_use]
pub fn stopped(cause: StopCause, progress: Progress, culprit: Option<&str>) -> String {
    let why = match cause {
        StopCause::Sibling(_) => {
            format!("Cancelled: parallel tool call {} errored.", culprit.unwrap_or("beside it"))
        }
        StopCause::User => "Interrupted by the user.".to_owned(),
        StopCause::Deadline => "Timed out: the call's deadline passed.".to_owned(),
        StopCause::Discarded => {
            "Cancelled: the message that asked for this call broke off and is discarded.".to_owned()
        }
        StopCause::Shutdown => "Cancelled: the session ends.".to_owned(),
        StopCause::TooManyCalls => {
            "Refused: the message has too many tool calls; send fewer in one message.".to_owned()
        }
    };
    tool_use_error(&format!("{why} {}", told(progress)))
}

fn told(progress: Progress) -> &'static str {
    match progress {
        Progress::NotStarted => "This call had not started.",
        Progress::MayHaveRun => "This call had started; what it has done is unknown.",
    }
}

/// A short description of a call, for the results of its siblings: `Bash(cargo test)`.
#[must_use]
pub fn call_in_short(card: &Card, input: &serde_json::Value) -> String {
    const SHORT: usize = 40;
    let text = card.telling_text(input).map(|it| quote(it, SHORT)).unwrap_or_default();
    format!("{}({text})", card.name)
}
