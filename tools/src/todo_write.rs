//! `TodoWrite`: replaces the session's list of things to do.
//!
//! The list lives in the session's context, so a call runs alone, although nothing outside the
//! session changes. Input as in Claude Code docs 2.1.240.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_contract::{
    Card, CheckCx, ContextChange, Effects, Footprint, InvalidInput, OnInterrupt, Output, RunCx,
    Safety, Tool, ToolError,
};

/// The name of the list in the session's context.
const KEY: &str = "todos";

pub(crate) struct TodoWrite;

/// The whole list: what is left out is gone.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The list from now on.
    todos: Vec<Todo>,
}

/// One thing to do.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Todo {
    /// What is to be done, as an order: "Run the tests".
    content: String,
    /// How far it is.
    status: Status,
    /// The same while it is being done: "Running the tests".
    active_form: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

impl Tool for TodoWrite {
    type Input = Input;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("TodoWrite", "Replaces the list of things to do in this session.")
            .doing("Updating the list of things to do")
    }

    fn safety(&self, _: &Input) -> Safety {
        Safety {
            footprint: Footprint::Exclusive,
            effects: Effects::ReadOnly,
            on_interrupt: OnInterrupt::Block,
        }
    }

    async fn validate(&self, input: &Input, _: &CheckCx) -> Result<(), InvalidInput> {
        match input.todos.iter().position(|it| it.content.trim().is_empty()) {
            Some(at) => Err(InvalidInput(format!("todos[{at}].content is empty: say what to do"))),
            None => Ok(()),
        }
    }

    async fn run(&self, input: Input, _: RunCx) -> Result<Output<String>, ToolError> {
        let count = |status| input.todos.iter().filter(|it| it.status == status).count();
        let told = format!(
            "The list is updated: {} pending, {} in progress, {} completed.",
            count(Status::Pending),
            count(Status::InProgress),
            count(Status::Completed)
        );
        let list =
            serde_json::to_value(&input.todos).map_err(|it| ToolError::failed(it.to_string()))?;
        Ok(Output::from(told).changing(ContextChange::new(move |mut context| {
            context.values.insert(KEY.to_owned(), list);
            Ok(context)
        })))
    }
}
