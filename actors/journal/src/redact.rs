//! Redaction: what must not be written is taken out before a record leaves the caller.

use std::borrow::Cow;

use serde_json::Value;
use toolwright_contract::EventKind;

use crate::record::{Input, Record, TaskState};

/// Takes secrets out of texts. Called on the thread that appends, for each text that a model, a
/// tool or a person wrote: inputs with the names of their fields, results, notes, progress, names
/// of tools. Ids stay, since a result must find its call. A redactor that panics keeps the
/// record from being written.
///
/// What is taken out is gone from recovery and replay too: a result that was stored but not handed
/// out when the process died is handed out as it was written.
pub trait Redact: Send + Sync + 'static {
    /// The text as it may be written.
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str>;
}

/// Writes everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepAll;

impl Redact for KeepAll {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(text)
    }
}

impl Record {
    /// Takes out of all texts what `by` wants out.
    pub(crate) fn redact(&mut self, by: &dyn Redact) {
        match self {
            Self::Opened(it) => it.cwd.iter_mut().for_each(|it| redact_text(it, by)),
            Self::Event { event, .. } => redact_event(&mut event.kind, by),
            Self::Call(it) => {
                redact_text(&mut it.tool, by);
                match &mut it.input {
                    Input::Json(value) => redact_value(value, by),
                    Input::Malformed { raw, error } => {
                        redact_text(raw, by);
                        redact_text(error, by);
                    }
                }
            }
            Self::Start(it) => {
                redact_text(&mut it.tool, by);
                it.input.iter_mut().for_each(|it| redact_value(it, by));
            }
            Self::Result(it) => {
                redact_value(&mut it.content, by);
                it.structured.iter_mut().for_each(|it| redact_value(it, by));
                it.notes.iter_mut().for_each(|it| redact_text(it, by));
            }
            Self::Task(it) => match &mut it.state {
                TaskState::Ended(words) => redact_text(words, by),
                TaskState::Running(_) => {}
            },
            Self::Mode(_) => {}
        }
    }
}

fn redact_event(kind: &mut EventKind, by: &dyn Redact) {
    // No other event has a text.
    if let EventKind::Accepted { tool: text, .. }
    | EventKind::Progressed { text, .. }
    | EventKind::ContextChanged { ignored: Some(text), .. }
    | EventKind::StageFailed { why: text, .. } = kind
    {
        redact_text(text, by);
    }
}

/// Also called from within inputs and results, however deep: JSON that was parsed is bounded.
fn redact_value(value: &mut Value, by: &dyn Redact) {
    match value {
        Value::String(text) => redact_text(text, by),
        Value::Array(items) => items.iter_mut().for_each(|it| redact_value(it, by)),
        Value::Object(fields) => {
            let renamed = |name: &String| matches!(by.redact(name), Cow::Owned(_));
            if fields.keys().any(renamed) {
                let old = std::mem::take(fields);
                let new = old.into_iter().map(|(name, it)| (by.redact(&name).into_owned(), it));
                fields.extend(new);
            }
            fields.values_mut().for_each(|it| redact_value(it, by));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn redact_text(text: &mut String, by: &dyn Redact) {
    if let Cow::Owned(new) = by.redact(text) {
        *text = new;
    }
}
