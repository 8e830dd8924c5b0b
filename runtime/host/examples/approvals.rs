//! Questions to a person: answered out of order, and one taken back when its call is stopped.
//!
//! Run it with `cargo run --example approvals`.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use serde_json::json;
use toolwright::{
    Answer, AnyTool, Card, Output, Question, RunCx, Runtime, Safety, Tool, ToolError, ToolUse,
};

/// Sends a letter: it changes the world, so a person is asked. Letters may go side by side.
struct Send;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Letter {
    to: String,
}

impl Tool for Send {
    type Input = Letter;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Send", "Sends a letter.").telling(&["to"])
    }
    fn safety(&self, _: &Letter) -> Safety {
        Safety { footprint: toolwright::Footprint::Shared, ..Safety::default() }
    }
    async fn run(&self, letter: Letter, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(format!("sent to {}", letter.to).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::builder().tools([AnyTool::new(Send)]).build()?;
    let session = runtime.session().start().await?;
    // Without a listener, every question is answered with no.
    let mut questions = session.questions();

    let mut turn = session.turn().await?;
    let stopper = turn.stopper();
    for (id, to) in [("toolu_1", "Rome"), ("toolu_2", "Oslo"), ("toolu_3", "Lima")] {
        turn.submit(ToolUse::new(id, "Send", json!({"to": to}))).await?;
    }
    let mut asked = Vec::new();
    while asked.len() < 3 {
        match questions.recv().await {
            Some(Question::Asked(ask)) => asked.push(ask),
            Some(Question::Withdrawn(_) | Question::NotKept(..)) | None => {}
        }
    }
    // Calls that run side by side ask side by side, in no order: a question names its call.
    asked.sort_by_key(|it| it.id.clone());

    // The user stops the second call, and answers the third before the first.
    stopper.stop(&asked[1].id);
    session.answer(asked[2].request, Answer::Deny("Lima is too far.".to_owned()));
    session.answer(asked[0].request, Answer::Allow);

    let results = turn.finish().await;
    let withdrawn = matches!(questions.recv().await, Some(Question::Withdrawn(_)));
    for result in &results.results {
        println!("{} error: {}  {}", result.id, result.is_error, result.content.text());
    }
    println!("taken back: {withdrawn}");
    session.shutdown().await;
    Ok(())
}
