//! A whole agent loop: a model streams messages, its calls run, the results go back.
//!
//! The model is a script that speaks the wire format of the Messages API; put an HTTP client in
//! its place and the loop stays the same. Run it with `cargo run --example agent_loop`.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use serde_json::{Value, json};
use toolwright::{Runtime, StreamedTurn, ToolError, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Terms {
    a: i64,
    b: i64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let add = tool("Add", "Adds two numbers.").read_only().run(async |it: Terms, _| {
        let sum =
            it.a.checked_add(it.b).ok_or_else(|| ToolError::failed("the sum is too large"))?;
        Ok(sum.to_string())
    });
    let runtime = Runtime::builder().tools([add]).build()?;
    let session = runtime.session().start().await?;
    let mut messages = vec![json!({"role": "user", "content": "What is 1 + 2, and 30 + 40?"})];

    loop {
        // The calls of the message start while it is still being read.
        let turn = StreamedTurn::new(session.turn().await?);
        let (stream, said) = model(&messages);
        let idle = Duration::from_secs(60);
        let (results, _, ended) = turn.read(stream.as_bytes(), idle).await;
        ended?;

        messages.push(json!({"role": "assistant", "content": said}));
        match results.to_message() {
            Some(answers) => messages.push(answers),
            None => break,
        }
    }
    for message in &messages {
        println!("{message}");
    }
    session.shutdown().await;
    Ok(())
}

/// A model that asks for two sums at once, and then says them.
fn model(messages: &[Value]) -> (String, Vec<Value>) {
    let last = &messages[messages.len() - 1]["content"];
    let said = if last.is_string() {
        let call = |id, a, b| json!({"type": "tool_use", "id": id, "name": "Add", "input": {"a": a, "b": b}});
        vec![call("toolu_1", 1, 2), call("toolu_2", 30, 40)]
    } else {
        let sum = |at: usize| last[at]["content"].as_str().unwrap_or("?").to_owned();
        vec![json!({"type": "text", "text": format!("{} and {}.", sum(0), sum(1))})]
    };
    let mut events =
        vec![json!({"type": "message_start", "message": {"id": "msg", "content": []}})];
    for (index, block) in said.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_stop"}));
    (events.iter().map(|it| format!("data: {it}\n\n")).collect(), said)
}
