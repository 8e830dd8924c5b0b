//! A Messages stream that is cut, corrupt or out of order: nothing half-assembled may run.

use serde_json::{Value, json};

use super::{
    block_start, block_stop, decode, delta, message_delta, message_start, message_stop, pairs,
    read, sse, told, tool_start,
};
use crate::{Input, MAX_INPUT_BYTES, MAX_LINE_BYTES, MAX_RAW_BYTES, ProblemKind, WireEvent};

fn told_of(events: &[Value]) -> Vec<String> {
    told(&decode(sse(events).as_bytes()))
}

#[test]
fn a_stream_that_breaks_keeps_its_complete_calls_and_drops_the_last_one() {
    let events = [
        message_start("m1"),
        tool_start(0, "t1", "A"),
        block_stop(0),
        tool_start(1, "t2", "B"),
        delta(1, "{\"a\":1}"),
    ];
    assert_eq!(
        told_of(&events),
        [
            "start m1",
            "t1 A {}",
            "! line 15: the stream ended before message_stop: complete calls are kept, send the rest again",
            "! line 15: the stream ended inside tool_use t2 (block 1): dropped, it will not run",
            "end -",
        ]
    );
}

#[test]
fn a_block_that_max_tokens_cut_never_runs() {
    let cut = [
        message_start("m1"),
        tool_start(0, "t1", "Write"),
        delta(0, "{\"text\":\"half"),
        message_delta("max_tokens"),
        message_stop(),
    ];
    assert_eq!(
        told_of(&cut),
        [
            "start m1",
            "! line 14: the stream ended inside tool_use t1 (block 0): dropped, it will not run",
            "end max_tokens",
        ]
    );
    let mut stopped = cut.to_vec();
    stopped.insert(3, block_stop(0));
    assert_eq!(
        told_of(&stopped),
        ["start m1", "t1 Write malformed {\"text\":\"half", "end max_tokens"]
    );
}

#[test]
fn input_that_is_not_json_never_runs_whatever_the_stop_reason_says() {
    for (piece, reason) in [("{", "end_turn"), ("{}{}", "tool_use"), ("{\"a\":", "tool_use")] {
        let events = [
            message_start("m1"),
            tool_start(0, "t1", "A"),
            delta(0, piece),
            block_stop(0),
            tool_start(1, "t2", "B"),
            block_stop(1),
            message_delta(reason),
            message_stop(),
        ];
        assert_eq!(
            told_of(&events)[1..],
            [format!("t1 A malformed {piece}"), "t2 B {}".to_owned(), format!("end {reason}")]
        );
    }
}

#[test]
fn a_message_that_starts_inside_another_ends_that_one_and_its_open_blocks() {
    let events = [
        message_start("m1"),
        tool_start(0, "t1", "A"),
        tool_start(1, "t2", "B"),
        message_start("m2"),
        tool_start(0, "t3", "C"),
        block_stop(0),
        message_stop(),
    ];
    assert_eq!(
        told_of(&events),
        [
            "start m1",
            "! line 11: a message started before the previous one ended: that one was ended here",
            "! line 11: the stream ended inside tool_use t1 (block 0): dropped, it will not run",
            "! line 11: the stream ended inside tool_use t2 (block 1): dropped, it will not run",
            "end -",
            "start m2",
            "t3 C {}",
            "end -",
        ]
    );
}

#[test]
fn an_error_event_keeps_complete_calls_and_ends_the_message() {
    let events = [
        message_start("m1"),
        tool_start(0, "t1", "A"),
        block_stop(0),
        tool_start(1, "t2", "B"),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ];
    let told = told_of(&events);
    assert_eq!(told[1], "t1 A {}");
    assert!(told[2].contains("reported overloaded_error (Overloaded)"), "{told:?}");
    assert!(told[3].contains("inside tool_use t2"), "{told:?}");
    assert_eq!(told[4..], ["end -"]);
}

#[test]
fn events_out_of_order_are_told_and_no_half_block_runs() {
    let start = |index| tool_start(index, "t1", "A");
    let cases: [(&str, Vec<Value>, &[&str]); 10] = [
        (
            "no start",
            vec![delta(0, "{}"), block_stop(0)],
            &[
                "! line 5: input for block 0, which did not start: the blocks that are open will not run",
                "! line 8: stop of block 0, which is not open: ignored",
            ],
        ),
        (
            "delta after stop",
            vec![start(0), block_stop(0), delta(0, "{}")],
            &[
                "t1 A {}",
                "! line 11: input for block 0 after its stop: the blocks that are open will not run",
            ],
        ),
        (
            "delta under the index of a block that stopped",
            vec![start(0), block_stop(0), tool_start(1, "t2", "B"), delta(0, "{}"), block_stop(1)],
            &[
                "t1 A {}",
                "! line 14: input for block 0 after its stop: the blocks that are open will not run",
                "t2 B malformed ",
            ],
        ),
        (
            "second stop",
            vec![start(0), block_stop(0), block_stop(0)],
            &["t1 A {}", "! line 11: stop of block 0, which is not open: ignored"],
        ),
        (
            "stop before start",
            vec![block_stop(0), start(0)],
            &[
                "! line 5: stop of block 0, which is not open: ignored",
                "! line 11: the stream ended inside tool_use t1 (block 0): dropped, it will not run",
            ],
        ),
        (
            "index gap",
            vec![start(3), block_stop(3)],
            &[
                "! line 5: block 3 came where 0 was due: kept, as a block can be complete alone",
                "t1 A {}",
            ],
        ),
        (
            "index again",
            vec![start(0), block_stop(0), tool_start(0, "t2", "B"), block_stop(0)],
            &[
                "t1 A {}",
                "! line 11: block 0 came where 1 was due: kept, as a block can be complete alone",
                "t2 B {}",
            ],
        ),
        (
            "started twice",
            vec![start(0), delta(0, "{"), tool_start(0, "t2", "B"), delta(0, "{}"), block_stop(0)],
            &[
                "! line 11: block 0 started again before its stop: neither of the two will run",
                "t2 B malformed {}",
            ],
        ),
        (
            "start without a block",
            vec![json!({"type": "content_block_start", "index": 0}), start(1), block_stop(1)],
            &[
                "! line 5: unreadable event (a block start without a block): skipped, and the blocks that were open will not run",
                "! line 8: block 1 came where 0 was due: kept, as a block can be complete alone",
                "t1 A {}",
            ],
        ),
        (
            "no id",
            vec![tool_start(0, "", "A"), block_stop(0)],
            &["! line 8: a tool_use with an empty or oversized id can't be answered: dropped"],
        ),
    ];
    for (what, middle, expected) in cases {
        let events = [vec![message_start("m1")], middle, vec![message_stop()]].concat();
        let told = told_of(&events);
        assert_eq!(&told[1..told.len() - 1], expected, "{what}");
    }
}

#[test]
fn a_block_outside_of_a_message_makes_one_without_an_id() {
    assert_eq!(
        told_of(&[tool_start(0, "t1", "A"), block_stop(0)])[..3],
        [
            "! line 2: a content block without a message_start: taken as a message without an id",
            "start -",
            "t1 A {}",
        ]
    );
}

#[test]
fn an_id_that_comes_twice_in_a_message_counts_once() {
    let twice = |second: &str| {
        told_of(&[
            message_start("m1"),
            tool_start(0, "t1", "A"),
            block_stop(0),
            tool_start(1, "t1", second),
            block_stop(1),
            message_stop(),
        ])
    };
    for second in ["A", "B"] {
        assert_eq!(
            twice(second)[1..3],
            [
                "t1 A {}",
                "! line 14: tool_use id t1 came twice in one message: the first counts, this one will not run",
            ]
        );
    }
}

#[test]
fn an_event_that_cannot_be_read_spoils_the_open_block_and_not_its_siblings() {
    let corrupt: [(&str, &[u8]); 5] = [
        ("json", b"data: {\"type\":\"content_block_delta\",\"ind\n\n"),
        ("utf-8", b"data: {\"type\":\"content_block_delta\",\"index\":1,\"x\":\"\xff\"}\n\n"),
        ("index", b"data: {\"type\":\"content_block_delta\",\"index\":\"one\"}\n\n"),
        ("no index", b"data: {\"type\":\"content_block_delta\",\"delta\":{}}\n\n"),
        ("fragment", b"data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"partial_json\":7}}\n\n"),
    ];
    for (what, bytes) in corrupt {
        let before = sse(&[
            message_start("m1"),
            tool_start(0, "t1", "A"),
            block_stop(0),
            tool_start(1, "t2", "B"),
            delta(1, "[1"),
        ]);
        let after = sse(&[delta(1, "]"), block_stop(1), tool_start(2, "t3", "C"), block_stop(2)]);
        let events = decode(&[before.as_bytes(), bytes, after.as_bytes()].concat());
        let told = told(&events);
        assert_eq!(told[1], "t1 A {}", "{what}");
        assert!(told[2].starts_with("! line 16: "), "{what}: {told:?}");
        assert_eq!(told[3..5], ["t2 B malformed [1]", "t3 C {}"], "{what}");
        let WireEvent::ToolUse(call) = &events[3] else { panic!("{events:?}") };
        let Input::Malformed { error, .. } = &call.input else { panic!("{call:?}") };
        assert!(error.contains("may be missing after line 16 of the stream"), "{error}");
    }
}

#[test]
fn input_past_the_bound_is_counted_and_not_kept() {
    let megabyte = "x".repeat(1 << 20);
    let mut events = vec![message_start("m1"), tool_start(0, "t1", "A"), delta(0, "\"")];
    events.extend((0..20).map(|_| delta(0, &megabyte)));
    events.extend([delta(0, "\""), block_stop(0), tool_start(1, "t2", "B"), block_stop(1)]);
    let events = decode(sse(&events).as_bytes());
    let WireEvent::ToolUse(call) = &events[1] else { panic!("{:?}", told(&events)) };
    let Input::Malformed { raw, error } = &call.input else { panic!("it parsed") };
    assert_eq!(raw.len(), MAX_RAW_BYTES);
    assert!(error.contains(&format!("has {} bytes", 20 * (1 << 20) + 2)), "{error}");
    assert!(error.contains(&MAX_INPUT_BYTES.to_string()));
    assert_eq!(told(&events)[2], "t2 B {}");
}

#[test]
fn what_is_kept_of_an_input_past_the_bound_is_its_beginning() {
    let long = "x".repeat(MAX_INPUT_BYTES);
    let pieces = ["[1,", &long, "2]"].map(|piece| delta(0, piece));
    let events =
        [&[message_start("m1"), tool_start(0, "t1", "A")], &pieces[..], &[block_stop(0)]].concat();
    assert_eq!(told_of(&events)[1], "t1 A malformed [1,");
}

#[test]
fn the_bound_of_an_input_holds_for_all_open_blocks_together() {
    let half = "x".repeat(MAX_INPUT_BYTES / 2);
    let events = [
        message_start("m1"),
        tool_start(0, "t1", "A"),
        tool_start(1, "t2", "B"),
        delta(0, &format!("\"{half}\"")),
        delta(1, &format!("\"{half}\"")),
        block_stop(0),
        block_stop(1),
    ];
    let runs: Vec<_> = decode(sse(&events).as_bytes())
        .into_iter()
        .filter_map(|event| match event {
            WireEvent::ToolUse(call) => Some(call.input.as_json().is_some()),
            WireEvent::MessageStarted { .. }
            | WireEvent::MessageEnded { .. }
            | WireEvent::Problem(_) => None,
        })
        .collect();
    assert_eq!(runs, [true, false]);
}

#[test]
fn input_that_comes_with_a_start_is_under_the_same_bound_and_so_is_a_name() {
    let half = "x".repeat(MAX_INPUT_BYTES / 2);
    let whole = |index: u64, id: &str, name: &str, input: &str| {
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {"a": input}});
        block_start(index, &block)
    };
    let events = [
        message_start("m1"),
        whole(0, "t1", "A", &half),
        whole(1, "t2", "B", &half),
        delta(1, "{}"),
        whole(2, "t3", &half, "small"),
        block_stop(0),
        block_stop(1),
        block_stop(2),
    ];
    let calls: Vec<_> = decode(sse(&events).as_bytes())
        .into_iter()
        .filter_map(|event| match event {
            WireEvent::ToolUse(call) => Some(call),
            WireEvent::MessageStarted { .. }
            | WireEvent::MessageEnded { .. }
            | WireEvent::Problem(_) => None,
        })
        .collect();
    let runs: Vec<_> = calls.iter().map(|call| call.input.as_json().is_some()).collect();
    assert_eq!(runs, [true, false, true]);
    let Input::Malformed { raw, error } = &calls[1].input else { panic!("it parsed") };
    assert!(raw.starts_with(r#"{"a":"xxx"#) && raw.len() <= MAX_RAW_BYTES);
    assert!(error.contains("write it to a file in parts"), "{error}");
    assert_eq!(calls[2].name.len(), MAX_RAW_BYTES);
}

#[test]
fn input_nested_a_million_levels_is_malformed() {
    let events = [
        message_start("m1"),
        tool_start(0, "t1", "A"),
        delta(0, &"[".repeat(1_000_000)),
        block_stop(0),
    ];
    let events = decode(sse(&events).as_bytes());
    let WireEvent::ToolUse(call) = &events[1] else { panic!("{:?}", told(&events)) };
    assert_eq!(call.input.as_json(), None);
    let whole = format!(
        "{{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"A\",\"input\":{}1{}}}",
        "[".repeat(1_000_000),
        "]".repeat(1_000_000)
    );
    let start = format!(
        "data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{whole}}}\n\n"
    );
    let body = sse(&[message_start("m1")]) + &start + &sse(&[block_stop(0)]);
    let events = decode(body.as_bytes());
    let WireEvent::ToolUse(call) = &events[1] else { panic!("{:?}", told(&events)) };
    assert_eq!(call.input.as_json(), None);
}

#[test]
fn a_body_without_any_message_is_told() {
    for body in ["", "{\"type\":\"error\"}", "event: ping\ndata: {\"type\":\"ping\"}\n\n"] {
        let told = told(&decode(body.as_bytes()));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("must be the body of a streamed Messages response"), "{told:?}");
    }
}

#[test]
fn what_a_problem_quotes_is_bounded() {
    let huge = "x".repeat(1_000_000);
    let events = [
        message_start("m1"),
        tool_start(0, &huge, "A"),
        json!({"type": "content_block_delta", "index": huge}),
        json!({"type": "error", "error": {"type": huge, "message": huge}}),
    ];
    for line in told_of(&events) {
        assert!(line.len() < 1000, "{} bytes", line.len());
    }
}

#[test]
fn open_blocks_are_bounded() {
    let mut events = vec![message_start("m1")];
    events.extend((0..65).map(|index| tool_start(index, &format!("t{index}"), "A")));
    let told = told_of(&events);
    assert_eq!(told[1], "! line 197: more than 64 blocks are open at once: this one was dropped");
}

#[test]
fn a_line_past_the_bound_is_told_and_counted_even_before_the_first_event_of_a_recording() {
    let long = format!("data: {}\n\n", "x".repeat(MAX_LINE_BYTES));
    let rest = sse(&[
        message_start("m"),
        tool_start(0, "t1", "Read"),
        block_stop(1),
        block_stop(0),
        message_stop(),
    ]);
    let recording = read(long + &rest);
    let told: Vec<_> = recording.problems.iter().map(ToString::to_string).collect();
    let too_long = format!("line 1: {}", ProblemKind::LineTooLong);
    assert_eq!(told, [&*too_long, "line 10: stop of block 1, which is not open: ignored"]);
    assert_eq!((pairs(&recording), recording.lines), (vec![vec!["t1".to_owned()]], 17));
}

#[test]
fn a_recorded_stream_keeps_each_message_as_a_turn_and_marks_the_one_that_was_cut() {
    let body = sse(&[
        message_start("m1"),
        block_start(0, &json!({"type": "text", "text": ""})),
        block_stop(0),
        tool_start(1, "t1", "A"),
        block_stop(1),
        tool_start(2, "t2", "A"),
        message_delta("max_tokens"),
        message_stop(),
        message_start("m2"),
        message_stop(),
        message_start("m1"),
        tool_start(0, "t1", "A"),
        block_stop(0),
        message_stop(),
    ]);
    let recording = read(&body);
    let turns: Vec<_> = recording
        .turns
        .iter()
        .map(|turn| (turn.message_id.as_deref(), turn.calls.len(), turn.truncated))
        .collect();
    assert_eq!(turns, [(Some("m1"), 1, true), (Some("m1"), 1, false)]);
    assert_eq!(recording.lines, body.lines().count());
    assert_eq!(recording.format.to_string(), "anthropic-sse");
}
