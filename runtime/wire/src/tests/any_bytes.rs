//! Properties over any chunking, any cut and any bytes.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{
    block_start, block_stop, call, decode, delta, failed, jsonl, message_delta, message_start,
    message_stop, result, sse, tool_start,
};
use crate::{Format, SseDecoder, ToolUse, WireEvent, read_recording};

/// A stream with calls, text beyond ASCII, escapes, problems and loose framing.
fn stream() -> Vec<u8> {
    let text = json!({"type": "text", "text": "Ich prüfe 日本 😀"});
    let good = [
        message_start("m1"),
        block_start(0, &text),
        block_stop(0),
        tool_start(1, "t1", "Bash"),
        delta(1, ""),
        delta(1, r#"{"command":"echo é😀 \"#),
        delta(1, r#"n \ud83d\ude00 C:\\x"}"#),
        block_stop(1),
        tool_start(2, "t2", "Read"),
        delta(2, "{\"a\": 1"),
        block_stop(2),
        tool_start(3, "t1", "Read"),
        block_stop(3),
        tool_start(4, "t3", "Read"),
        message_delta("max_tokens"),
        message_stop(),
    ];
    let loose = sse(&[message_start("m2"), tool_start(0, "t4", "Glob"), block_stop(0)]);
    let halves =
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"x\":\"\\ud83d\"}\r\r: x\r\n";
    let mut body = sse(&good).into_bytes();
    body.extend_from_slice(loose.replace('\n', "\r\n").as_bytes());
    body.extend_from_slice(halves.as_bytes());
    body.extend_from_slice(b"data: {\"type\":\"content_block_delta\",\"index\":9,\"\xff\":1}\n\n");
    body
}

fn transcript() -> Vec<u8> {
    jsonl(&[
        json!({"type": "summary", "summary": "é😀", "leafUuid": "u"}),
        call("m1", 1, "t1", "Bash", &json!({"command": "echo é😀"})),
        call("m1", 2, "t2", "Read", &json!({"file_path": "C:\\x"})),
        failed(3, "t1", "Exit code 1"),
        result(4, "t2", &json!([{"type": "text", "text": "日本"}])),
        call("m2", 5, "t3", "Read", &json!({})),
    ])
    .into_bytes()
}

fn in_chunks(body: &[u8], ends: &[usize]) -> Vec<WireEvent> {
    let (mut decoder, mut out) = (SseDecoder::new(), Vec::new());
    let mut at = 0;
    for &end in ends.iter().chain([&body.len()]) {
        decoder.push(&body[at..end], &mut out);
        at = end;
    }
    decoder.finish(&mut out);
    out
}

fn calls(events: Vec<WireEvent>) -> Vec<ToolUse> {
    events
        .into_iter()
        .filter_map(|event| match event {
            WireEvent::ToolUse(call) => Some(call),
            WireEvent::MessageStarted { .. }
            | WireEvent::MessageEnded { .. }
            | WireEvent::Problem(_) => None,
        })
        .collect()
}

fn recorded_calls(file: &[u8]) -> Vec<ToolUse> {
    let turns = read_recording(file).map(|recording| recording.turns).unwrap_or_default();
    turns.into_iter().flat_map(|turn| turn.calls).map(|call| call.tool_use).collect()
}

#[test]
fn a_stream_in_two_chunks_or_in_single_bytes_says_the_same() {
    let body = stream();
    let whole = decode(&body);
    assert_eq!(calls(whole.clone()).len(), 3);
    for at in 0..=body.len() {
        assert_eq!(in_chunks(&body, &[at]), whole, "cut at {at}");
    }
    assert_eq!(in_chunks(&body, &(0..body.len()).collect::<Vec<_>>()), whole);
}

#[test]
fn a_stream_cut_at_any_byte_yields_only_calls_of_the_whole() {
    let body = stream();
    let whole = calls(decode(&body));
    for at in 0..=body.len() {
        let cut = calls(decode(&body[..at]));
        assert!(whole.starts_with(&cut), "cut at {at}: {cut:?}");
    }
}

#[test]
fn a_recording_cut_at_any_byte_yields_only_calls_of_the_whole() {
    for body in [transcript(), stream()] {
        let whole = recorded_calls(&body);
        assert_eq!(whole.len(), 3);
        for at in 0..=body.len() {
            let cut = recorded_calls(&body[..at]);
            assert!(whole.starts_with(&cut), "cut at {at}: {cut:?}");
        }
    }
}

#[test]
fn the_format_of_a_file_does_not_change_as_more_of_it_is_seen() {
    for (body, format) in [(transcript(), Format::Transcript), (stream(), Format::AnthropicSse)] {
        let seen: Vec<_> = (0..=body.len()).map(|at| Format::detect(&body[..at])).collect();
        let first = seen.iter().position(Option::is_some).expect("told at last");
        assert!(seen[first..].iter().all(|one| *one == Some(format)));
    }
}

#[test]
fn a_corrupt_byte_around_the_pieces_never_makes_a_shorter_input_run() {
    // Without any one of its inner pieces this input would still be JSON.
    let pieces = [r#"{"command":"rm -r "#, "build/", "cache/", "old", r#""}"#];
    let mut events = vec![message_start("m1"), tool_start(0, "t1", "Bash")];
    events.extend(pieces.iter().map(|piece| delta(0, piece)));
    events.extend([block_stop(0), message_stop()]);
    let body = sse(&events).into_bytes();
    let whole = calls(decode(&body));
    let begin = body.windows(8).position(|bytes| bytes == b"\"delta\":").expect("a delta");
    let contents: Vec<_> = ["build/", "cache/", "old", "command", "rm -r ", "t1", "Bash"]
        .iter()
        .flat_map(|text| {
            let at = body.windows(text.len()).position(|bytes| bytes == text.as_bytes());
            at.map_or(0..0, |at| at..at + text.len())
        })
        .collect();
    assert!(begin > 0 && contents.len() > 30);
    for at in (0..body.len()).filter(|at| !contents.contains(at)) {
        for byte in *b"X7 \"{\n\r:" {
            let mut corrupt = body.clone();
            corrupt[at] = byte;
            for call in calls(decode(&corrupt)) {
                let runs = call.input.as_json().is_some();
                assert!(
                    !runs || call.input == whole[0].input,
                    "{:?} at {at}: {:?}",
                    char::from(byte),
                    call.input
                );
            }
        }
    }
}

/// One line of a file: an entry, an event, a piece of one, or noise.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let entry = prop_oneof![
        Just(call("m1", 1, "t1", "A", &json!({}))),
        Just(call("m1", 2, "t1", "B", &json!([1]))),
        Just(result(3, "t1", &json!("x"))),
        Just(json!({"type": "stream_event", "session_id": "s", "event": delta(0, "{")})),
        Just(json!({"type": "stream_event", "session_id": "s", "event": tool_start(0, "t2", "A")})),
    ];
    let event = prop_oneof![
        Just(message_start("m1")),
        (0..3u64).prop_map(|index| tool_start(index, "t1", "A")),
        (0..3u64).prop_map(|index| delta(index, "{")),
        (0..3u64).prop_map(|index| delta(index, "}")),
        (0..3u64).prop_map(block_stop),
        Just(message_stop()),
    ];
    let event_lines = event.prop_map(|event| format!("data: {event}\n\n").into_bytes());
    prop_oneof![
        entry.prop_map(|entry: Value| format!("{entry}\n").into_bytes()),
        event_lines,
        vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #[test]
    fn any_chunking_of_any_stream_says_the_same(
        lines in vec(line(), 0..20),
        cuts in vec(any::<proptest::sample::Index>(), 0..20),
    ) {
        let body = lines.concat();
        let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        ends.sort_unstable();
        prop_assert_eq!(in_chunks(&body, &ends), decode(&body));
    }

    #[test]
    fn each_message_that_starts_ends_and_yields_an_id_once(lines in vec(line(), 0..30)) {
        let mut open: Option<Vec<String>> = None;
        for event in decode(&lines.concat()) {
            match event {
                WireEvent::MessageStarted { .. } => {
                    prop_assert_eq!(open.replace(Vec::new()), None);
                }
                WireEvent::MessageEnded { .. } => assert!(open.take().is_some()),
                WireEvent::ToolUse(call) => {
                    let ids = open.as_mut().expect("inside a message");
                    assert!(!ids.contains(&call.id), "{}", call.id);
                    ids.push(call.id);
                }
                WireEvent::Problem(_) => {}
            }
        }
        prop_assert_eq!(open, None);
    }

    #[test]
    fn reading_any_bytes_ends_and_says_the_same_each_time(
        lines in vec(line(), 0..30),
        noise in vec(any::<u8>(), 0..200),
    ) {
        for body in [lines.concat(), [transcript(), noise.clone()].concat(), noise] {
            let read = || read_recording(body.as_slice()).ok();
            prop_assert_eq!(read(), read());
        }
    }
}
