//! A tool of one's own, with everything that a tool can say of itself.
//!
//! Run it with `cargo run --example custom_tool`.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::borrow::Cow;
use std::time::Duration;

use serde_json::json;
use toolwright::contract::{CheckCx, Conduct, InvalidInput, Look};
use toolwright::{AnyTool, Card, Output, RunCx, Runtime, Safety, Tool, ToolError, ToolUse};

/// Counts down, one number at a time.
struct CountDown;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct From {
    /// The first number.
    from: u32,
}

impl Tool for CountDown {
    type Input = From;
    type Output = String;

    // Identity and limits; what isn't said has the careful default.
    fn card(&self) -> Card {
        Card::new("CountDown", "Counts down from a number.")
            .alias("Countdown")
            .telling(&["from"])
            .deadline(Duration::from_secs(5))
    }

    // Pure functions of the parsed input.
    fn safety(&self, _: &From) -> Safety {
        Safety::read_only()
    }
    fn conduct(&self, _: &From) -> Conduct {
        Conduct { look: Look::List, ..Conduct::default() }
    }
    fn describe(&self, input: &From) -> Cow<'static, str> {
        format!("count down from {}", input.from).into()
    }

    // A look at the world, once earlier calls of the message are over.
    async fn validate(&self, input: &From, _: &CheckCx) -> Result<(), InvalidInput> {
        match input.from {
            0..=100 => Ok(()),
            more => Err(InvalidInput(format!("{more} is too far away: start at 100 or below"))),
        }
    }

    // The work: it shows progress and heeds the stop.
    async fn run(&self, input: From, cx: RunCx) -> Result<Output<String>, ToolError> {
        let mut said = Vec::new();
        for number in (0..=input.from).rev() {
            cx.stop.or(tokio::time::sleep(Duration::from_millis(1))).await?;
            cx.progress(number.to_string());
            said.push(number.to_string());
        }
        Ok(Output::from(said.join(" ")).note("The count is over."))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::builder().tools([AnyTool::new(CountDown)]).build()?;
    let session = runtime.session().start().await?;
    let mut turn = session.turn().await?;
    for (id, input) in [
        ("toolu_1", json!({"from": 3})),
        ("toolu_2", json!({"from": 1_000})),
        ("toolu_3", json!({"from": "three"})),
    ] {
        turn.submit(ToolUse::new(id, "CountDown", input)).await?;
    }
    if let Some(message) = turn.finish().await.to_message() {
        println!("{message:#}");
    }
    session.shutdown().await;
    Ok(())
}
