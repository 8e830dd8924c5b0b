//! A Messages stream that is as it should be, in all the shapes that this has.

use serde_json::json;

use super::{
    block_start, block_stop, decode, delta, message_delta, message_start, message_stop, sse, told,
    tool_start,
};
use crate::{Input, SseDecoder, WireEvent};

#[test]
fn a_call_is_yielded_when_its_block_stops_and_not_when_the_message_does() {
    let (mut decoder, mut out) = (SseDecoder::new(), Vec::new());
    let begun = [message_start("m1"), tool_start(0, "t1", "Bash"), delta(0, r#"{"command":"ls"}"#)];
    decoder.push(sse(&begun).as_bytes(), &mut out);
    assert_eq!(told(&out), ["start m1"]);
    decoder.push(sse(&[block_stop(0)]).as_bytes(), &mut out);
    assert_eq!(told(&out)[1..], [r#"t1 Bash {"command":"ls"}"#]);
}

#[test]
fn the_input_is_the_joined_fragments_wherever_they_are_cut() {
    let pieces =
        ["", r#"{"path":"C:\"#, r#"\tmp","te"#, r#"xt":"\u00"#, r#"e9\"#, r#"n 日"#, "本\"}"];
    let mut events = vec![message_start("m1"), tool_start(0, "t1", "Write")];
    events.extend(pieces.iter().map(|piece| delta(0, piece)));
    events.extend([block_stop(0), message_delta("tool_use"), message_stop()]);
    let input = json!({"path": "C:\\tmp", "text": "é\n 日本"});
    assert_eq!(
        told(&decode(sse(&events).as_bytes())),
        ["start m1", &format!("t1 Write {input}"), "end tool_use"]
    );
}

#[test]
fn fragments_that_are_empty_in_all_are_the_empty_object() {
    let events = [message_start("m1"), tool_start(0, "t1", "A"), delta(0, ""), block_stop(0)];
    assert_eq!(told(&decode(sse(&events).as_bytes()))[1], "t1 A {}");
    let without_delta = [message_start("m1"), tool_start(0, "t1", "A"), block_stop(0)];
    assert_eq!(told(&decode(sse(&without_delta).as_bytes()))[1], "t1 A {}");
}

#[test]
fn a_surrogate_pair_may_be_split_between_two_fragments() {
    let body = format!(
        "{}{}{}{}",
        sse(&[message_start("m1"), tool_start(0, "t1", "A"), delta(0, "[\"")]),
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"partial_json\":\"\\ud83d\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"partial_json\":\"\\ude00\"}}\n\n",
        sse(&[delta(0, "\"]"), block_stop(0)]),
    );
    assert_eq!(told(&decode(body.as_bytes()))[1], "t1 A [\"😀\"]");
}

#[test]
fn half_of_a_surrogate_pair_is_malformed_and_never_runs() {
    for half in ["\\ud83d", "\\ude00"] {
        let lone = format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"partial_json\":\"[\\\"{half}\\\"]\"}}}}\n\n"
        );
        let body =
            [sse(&[message_start("m1"), tool_start(0, "t1", "A")]), lone, sse(&[block_stop(0)])]
                .concat();
        let events = decode(body.as_bytes());
        let WireEvent::ToolUse(call) = &events[1] else { panic!("{events:?}") };
        let Input::Malformed { error, .. } = &call.input else { panic!("{call:?}") };
        assert!(error.contains("stands alone at byte 2"), "{error}");
    }
}

#[test]
fn input_may_come_whole_with_the_start() {
    let start = block_start(
        0,
        &json!({
            "type": "tool_use", "id": "t1", "name": "query", "input": {"sql": "select 1"},
            "caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"},
        }),
    );
    let events = [message_start("m1"), start, block_stop(0), message_stop()];
    assert_eq!(told(&decode(sse(&events).as_bytes()))[1], r#"t1 query {"sql":"select 1"}"#);
}

#[test]
fn what_the_api_runs_itself_is_not_yielded() {
    let mut events = vec![message_start("m1")];
    let kinds = [
        "server_tool_use",
        "mcp_tool_use",
        "web_search_tool_result",
        "mcp_tool_result",
        "compaction",
        "fallback",
        "thinking",
        "text",
    ];
    for (index, kind) in (0..).zip(kinds) {
        let block = json!({"type": kind, "id": format!("srvtoolu_{index}"), "name": "web_search"});
        events.extend([block_start(index, &block), delta(index, r#"{"query":"x"}"#)]);
        events.push(block_stop(index));
    }
    events.extend([tool_start(8, "t1", "Read"), delta(8, "{}"), block_stop(8), message_stop()]);
    assert_eq!(told(&decode(sse(&events).as_bytes())), ["start m1", "t1 Read {}", "end -"]);
}

#[test]
fn pings_comments_and_what_is_not_known_are_passed_over() {
    let unknown_delta = json!({
        "type": "content_block_delta", "index": 0, "delta": {"type": "mood_delta", "mood": [1]},
    });
    let body = [
        ": keep-alive\n\nretry: 10\nid: 7\n\n".to_owned(),
        sse(&[
            json!({"type": "ping"}),
            message_start("m1"),
            json!({"type": "novelty", "delta": "text", "index": "first", "message": 3}),
            tool_start(0, "t1", "A"),
            json!({"type": "ping"}),
            unknown_delta,
            delta(0, "{}"),
            block_stop(0),
            message_delta("tool_use"),
            message_stop(),
        ]),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    assert_eq!(told(&decode(body.as_bytes())), ["start m1", "t1 A {}", "end tool_use"]);
}

#[test]
fn framing_may_be_loose() {
    let events = [
        message_start("m1"),
        tool_start(0, "t1", "A"),
        delta(0, "{}"),
        block_stop(0),
        message_stop(),
    ];
    let strict = sse(&events);
    let data_lines = strict.lines().filter(|line| line.starts_with("data:"));
    let bodies = [
        ("strict", strict.clone()),
        ("crlf", strict.replace('\n', "\r\n")),
        ("cr", strict.replace('\n', "\r")),
        ("byte order mark", format!("\u{feff}{strict}")),
        ("no last blank line", strict.trim_end().to_owned()),
        ("no space after the colon", strict.replace("data: ", "data:")),
        ("no event names", data_lines.clone().map(|line| format!("{line}\n\n")).collect()),
        ("data lines only", data_lines.map(|line| format!("{line}\n")).collect()),
        ("no blank lines", strict.replace("\n\n", "\n")),
        ("no types", strict.replace(r#","type":"message_stop""#, "")),
    ];
    for (how, body) in bodies {
        assert_eq!(told(&decode(body.as_bytes())), ["start m1", "t1 A {}", "end -"], "{how}");
    }
}

#[test]
fn a_stream_may_hold_several_messages_that_use_the_same_ids() {
    let one = |id: &str| {
        sse(&[
            message_start(id),
            tool_start(0, "toolu_REDACTED_1", "A"),
            block_stop(0),
            message_delta("tool_use"),
            message_stop(),
        ])
    };
    let told = told(&decode((one("m1") + &one("m2")).as_bytes()));
    let call = "toolu_REDACTED_1 A {}";
    assert_eq!(told, ["start m1", call, "end tool_use", "start m2", call, "end tool_use"]);
}

#[test]
fn blocks_may_be_interleaved() {
    let events = [
        message_start("m1"),
        tool_start(0, "t1", "A"),
        tool_start(1, "t2", "B"),
        delta(1, "[2"),
        delta(0, "[1"),
        delta(1, "]"),
        block_stop(1),
        delta(0, "]"),
        block_stop(0),
        message_stop(),
    ];
    assert_eq!(told(&decode(sse(&events).as_bytes()))[1..3], ["t2 B [2]", "t1 A [1]"]);
}

#[test]
fn any_name_is_passed_on_for_the_runtime_to_refuse() {
    for name in ["", "a\u{0}b\n", "名前", &"x".repeat(10_000)] {
        let events = [message_start("m1"), tool_start(0, "t1", name), block_stop(0)];
        let events = decode(sse(&events).as_bytes());
        let WireEvent::ToolUse(call) = &events[1] else { panic!("{events:?}") };
        assert_eq!(call.name, name);
    }
}

#[test]
fn a_decoder_that_has_finished_takes_another_stream() {
    let (mut decoder, mut out) = (SseDecoder::new(), Vec::new());
    decoder.push(sse(&[message_start("m1"), tool_start(0, "t1", "A")]).as_bytes(), &mut out);
    decoder.finish(&mut out);
    out.clear();
    decoder.push(sse(&[message_start("m2"), message_stop()]).as_bytes(), &mut out);
    decoder.finish(&mut out);
    assert_eq!(told(&out), ["start m2", "end -"]);
}
