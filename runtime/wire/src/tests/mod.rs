//! The decoders seen from outside: what each shape of stream says.

mod any_bytes;
mod broken_streams;
mod live_streams;
mod partial_messages;
mod repeated_entries;
mod result_endings;
mod subagents;
mod transcripts;

use serde_json::{Value, json};

use crate::{Input, ProblemKind, RecordedCall, Recording, SseDecoder, WireEvent, read_recording};

/// The body of a stream with these events.
fn sse(events: &[Value]) -> String {
    let name = |event: &Value| event["type"].as_str().unwrap_or("").to_owned();
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", name(event))).collect()
}

fn message_start(id: &str) -> Value {
    json!({"type": "message_start", "message": {"id": id, "role": "assistant", "content": []}})
}

fn message_delta(stop_reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": {}})
}

fn message_stop() -> Value {
    json!({"type": "message_stop"})
}

fn block_start(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn tool_start(index: u64, id: &str, name: &str) -> Value {
    block_start(index, &json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
}

fn delta(index: u64, piece: &str) -> Value {
    let delta = json!({"type": "input_json_delta", "partial_json": piece});
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn block_stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

/// What the decoder says of a whole stream.
fn decode(body: &[u8]) -> Vec<WireEvent> {
    let (mut decoder, mut out) = (SseDecoder::new(), Vec::new());
    decoder.push(body, &mut out);
    decoder.finish(&mut out);
    out
}

/// One short line per event.
fn told(events: &[WireEvent]) -> Vec<String> {
    events
        .iter()
        .map(|event| match event {
            WireEvent::MessageStarted { id } => format!("start {}", id.as_deref().unwrap_or("-")),
            WireEvent::ToolUse(call) => match &call.input {
                Input::Json(input) => format!("{} {} {input}", call.id, call.name),
                Input::Malformed { raw, .. } => {
                    format!("{} {} malformed {raw}", call.id, call.name)
                }
            },
            WireEvent::MessageEnded { stop_reason } => {
                format!("end {}", stop_reason.as_deref().unwrap_or("-"))
            }
            WireEvent::Problem(problem) => format!("! {problem}"),
        })
        .collect()
}

/// A file with one entry a line.
fn jsonl(entries: &[Value]) -> String {
    entries.iter().map(|entry| format!("{entry}\n")).collect()
}

fn read(file: impl AsRef<[u8]>) -> Recording {
    read_recording(file.as_ref()).expect("a format that is understood")
}

/// A transcript's entry with one block of an assistant message, `second` seconds into the minute.
fn block(message_id: &str, second: u32, block: &Value) -> Value {
    json!({
        "type": "assistant",
        "uuid": format!("u{second}"),
        "parentUuid": null,
        "sessionId": "s1",
        "version": "2.1.112",
        "isSidechain": false,
        "timestamp": format!("2026-01-01T00:00:{second:02}.000Z"),
        "message": {"id": message_id, "role": "assistant", "content": [block], "stop_reason": null},
    })
}

fn call(message_id: &str, second: u32, id: &str, name: &str, input: &Value) -> Value {
    let tool_use = json!({"type": "tool_use", "id": id, "name": name, "input": input});
    block(message_id, second, &tool_use)
}

/// A transcript's entry with a result.
fn result(second: u32, id: &str, content: &Value) -> Value {
    json!({
        "type": "user",
        "uuid": format!("r{second}"),
        "sessionId": "s1",
        "timestamp": format!("2026-01-01T00:00:{second:02}.000Z"),
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": content},
        ]},
    })
}

fn failed(second: u32, id: &str, text: &str) -> Value {
    let mut entry = result(second, id, &json!(text));
    entry["message"]["content"][0]["is_error"] = json!(true);
    entry["toolUseResult"] = json!(format!("Error: {text}"));
    entry
}

/// The calls of each turn, each as `id>content` or `id` where it has no result.
fn pairs(recording: &Recording) -> Vec<Vec<String>> {
    let pair = |call: &RecordedCall| match &call.result {
        Some(result) => format!("{}>{}", call.tool_use.id, result.content),
        None => call.tool_use.id.clone(),
    };
    recording.turns.iter().map(|turn| turn.calls.iter().map(pair).collect()).collect()
}

fn problems(recording: &Recording) -> Vec<ProblemKind> {
    recording.problems.iter().map(|problem| problem.kind.clone()).collect()
}
