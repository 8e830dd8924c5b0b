//! What goes out through the pipe.

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolwright_contract::{Event, ToolResult, TurnId};
use toolwright_permissions::Suggestion;

use crate::{Ask, TurnResults};

/// One thing that a service says.
#[derive(Debug)]
pub enum Line {
    /// A line of JSON, without its end.
    Said(String),
    /// What could not be understood of the input, and what to do about it.
    Fault(String),
    /// Nothing: dropped or answered once all before it is where it can't be lost. Only from a
    /// session that keeps a journal, whose next message waits for it: what was said of the last one
    /// is taken to be heard then.
    Await(oneshot::Sender<()>),
}

#[derive(Serialize)]
struct EventLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    event: &'a Event,
}

fn suggested(suggestion: &Suggestion) -> Value {
    match suggestion {
        Suggestion::Allow(rules) => json!({"allow": rules}),
        Suggestion::Mode(mode) => json!({"mode": mode}),
    }
}

impl Line {
    pub(super) fn event(event: &Event) -> Self {
        let line = serde_json::to_string(&EventLine { kind: "event", event });
        line.map_or_else(
            |it| Self::Fault(format!("an event could not be written: {it}")),
            Self::Said,
        )
    }

    pub(super) fn result(result: &ToolResult) -> Self {
        Self::Said(result.to_block().to_string())
    }

    /// The next user message; nothing if it would say nothing. Of a turn that was resumed, it says
    /// which, since it may have been said before.
    pub(super) fn message(results: &TurnResults, of: Option<(u32, TurnId)>) -> Option<Self> {
        let message = results.to_message()?;
        let mut line = json!({"type": "user", "message": message});
        if let Some((run, turn)) = of {
            line["resumed"] = json!({"run": run, "turn": turn});
        }
        Some(Self::Said(line.to_string()))
    }

    pub(super) fn question(ask: &Ask) -> Self {
        let Ask { request, turn, id, tool, input, message, suggestions, .. } = ask;
        let suggestions: Vec<Value> = suggestions.iter().map(suggested).collect();
        let line: Value = json!({
            "type": "permission_request",
            "request": request,
            "turn": turn,
            "tool_use_id": id,
            "name": tool,
            "input": input,
            "message": message,
            "suggestions": suggestions,
        });
        Self::Said(line.to_string())
    }

    pub(super) fn withdrawal(request: toolwright_contract::RequestId) -> Self {
        Self::Said(json!({"type": "permission_withdrawn", "request": request}).to_string())
    }

    /// What is wrong at a line of the input.
    pub(super) fn fault(line: Option<usize>, what: &str) -> Self {
        Self::Fault(match line {
            Some(line) => format!("line {line}: {what}"),
            None => what.to_owned(),
        })
    }
}
