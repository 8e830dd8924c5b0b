//! Decoding speed in bytes a second, against serde_json alone on the same bytes.
//!
//! The recordings are made here, in the proportions of real ones (results p50 188 bytes, p90
//! 3.8 KB; ten fragments a call), so that the benchmark needs no file.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use toolwright_wire::{SseDecoder, read_recording};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CALLS: usize = 2_000;

fn result_text(call: usize) -> String {
    let length = [60, 120, 188, 188, 400, 700, 1_200, 2_000, 3_800, 12_000][call % 10];
    "let answer = compute(\"input\", 42); // \u{e4}\n".chars().cycle().take(length).collect()
}

fn transcript() -> String {
    let mut lines = String::new();
    for call in 0..CALLS {
        let (id, message) = (format!("toolu_{call:06}"), format!("msg_{:06}", call / 2));
        let stamp =
            |ms: usize| format!("2026-03-01T10:{:02}:{:02}.{ms:03}Z", call / 60 % 60, call % 60);
        let used = json!({
            "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/srv/app",
            "sessionId": "s", "version": "2.1.114", "type": "assistant", "uuid": format!("u{call}"),
            "timestamp": stamp(10),
            "message": {"id": message, "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "tool_use", "id": id, "name": "Read",
                    "input": {"file_path": format!("/srv/app/src/file_{call}.rs")}}],
                "stop_reason": null, "usage": {"input_tokens": 2, "output_tokens": 1}},
        });
        let text = result_text(call);
        let answered = json!({
            "parentUuid": format!("u{call}"), "isSidechain": false, "type": "user",
            "uuid": format!("r{call}"), "timestamp": stamp(90), "sessionId": "s",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": text}]},
            "toolUseResult": {"type": "text", "file": {"content": text}},
        });
        lines.push_str(&format!("{used}\n{answered}\n"));
    }
    lines
}

fn stream() -> String {
    let mut body = String::new();
    let mut say =
        |it: Value| {
            body.push_str(&format!("event: e\ndata: {it}\n\n").replace(
                "event: e",
                &format!("event: {}", it["type"].as_str().unwrap_or_default()),
            ))
        };
    say(json!({"type": "message_start", "message": {"id": "msg_1", "content": []}}));
    for call in 0..CALLS {
        say(json!({"type": "content_block_start", "index": call, "content_block":
            {"type": "tool_use", "id": format!("toolu_{call:06}"), "name": "Edit", "input": {}}}));
        let input =
            json!({"file_path": "src/a.rs", "old_string": result_text(call % 6)}).to_string();
        let size = (input.len() / 9).max(5);
        let chars: Vec<char> = input.chars().collect();
        for part in chars.chunks(size) {
            let part: String = part.iter().collect();
            say(json!({"type": "content_block_delta", "index": call, "delta":
                {"type": "input_json_delta", "partial_json": part}}));
        }
        say(json!({"type": "content_block_stop", "index": call}));
    }
    say(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    say(json!({"type": "message_stop"}));
    body
}

fn decoding(criterion: &mut Criterion) {
    let transcript = transcript();
    let mut group = criterion.benchmark_group("transcript");
    group.throughput(Throughput::Bytes(transcript.len() as u64)).sample_size(30);
    group.bench_function("toolwright", |bench| {
        bench.iter(|| {
            let recording = read_recording(transcript.as_bytes()).expect("is understood");
            assert_eq!(recording.turns.len(), CALLS / 2);
        });
    });
    group.bench_function("serde_json_value", |bench| {
        bench.iter(|| {
            let values = transcript.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
            assert_eq!(values.count(), CALLS * 2);
        });
    });
    group.bench_function("serde_json_skip", |bench| {
        bench.iter(|| {
            let lines = transcript.lines();
            assert_eq!(
                lines.filter_map(|it| serde_json::from_str::<IgnoredAny>(it).ok()).count(),
                CALLS * 2
            );
        });
    });
    group.finish();

    let stream = stream();
    let mut group = criterion.benchmark_group("sse");
    group.throughput(Throughput::Bytes(stream.len() as u64)).sample_size(30);
    group.bench_function("toolwright", |bench| {
        bench.iter(|| {
            let (mut decoder, mut events) = (SseDecoder::new(), Vec::new());
            stream.as_bytes().chunks(16 << 10).for_each(|it| decoder.push(it, &mut events));
            decoder.finish(&mut events);
            assert_eq!(events.len(), CALLS + 2);
        });
    });
    group.bench_function("serde_json_value", |bench| {
        bench.iter(|| {
            let data = stream.lines().filter_map(|it| it.strip_prefix("data: "));
            assert!(data.filter_map(|it| serde_json::from_str::<Value>(it).ok()).count() > CALLS);
        });
    });
    group.finish();
}

criterion_group!(benches, decoding);
criterion_main!(benches);
