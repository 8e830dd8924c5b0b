//! Calls through a pipe: what comes in as bytes runs as turns, and goes out as lines.

use std::time::Duration;

use harness::Scripted;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;
use toolwright::pipe::{Asking, End, Line, Served, Stops, serve};
use toolwright::{AnyTool, Cascade, Runtime, SessionBuilder};

/// A service under test.
struct Pipe {
    /// Until the input is ended.
    input: Option<DuplexStream>,
    lines: mpsc::Receiver<Line>,
    stops: Stops,
    served: oneshot::Receiver<Served>,
}

impl Pipe {
    fn open(asking: Asking) -> Self {
        Self::with(asking, false, |it| it)
    }

    fn with(
        asking: Asking,
        events: bool,
        change: impl FnOnce(SessionBuilder) -> SessionBuilder,
    ) -> Self {
        let runtime = Runtime::builder().tools([AnyTool::new(Scripted::new())]);
        let session = change(runtime.build().expect("one tool").session());
        let (input, theirs) = duplex(1 << 16);
        // A single line waits: so that no test depends on more.
        let (out, lines) = mpsc::channel(1);
        let (done, served) = oneshot::channel();
        let stops = Stops::default();
        let heard = stops.clone();
        TaskTracker::new().spawn(async move {
            let session = session.start().await.expect("starts");
            let served = serve(session, asking, events, theirs, out, &heard).await.expect("serves");
            // A test that doesn't wait for the end is none of its business.
            done.send(served).unwrap_or_default();
        });
        Self { input: Some(input), lines, stops, served }
    }

    async fn say(&mut self, text: &str) {
        let input = self.input.as_mut().expect("is open");
        input.write_all(text.as_bytes()).await.expect("is read");
    }

    async fn line(&mut self) -> Value {
        self.lines.recv().await.map(value).expect("a line")
    }

    async fn rest(mut self) -> (Vec<Value>, Served) {
        let mut said = Vec::new();
        while let Some(line) = self.lines.recv().await {
            said.push(value(line));
        }
        (said, self.served.await.expect("ends"))
    }

    async fn end(mut self) -> (Vec<Value>, Served) {
        self.input = None;
        self.rest().await
    }
}

fn value(line: Line) -> Value {
    match line {
        Line::Said(line) => serde_json::from_str(&line).expect("JSON"),
        Line::Fault(what) => json!({"type": "fault", "what": what}),
        Line::Await(_) => unreachable!("without a journal nothing waits"),
    }
}

fn call(id: &str, script: Value) -> String {
    let script = json!({"type": "tool_use", "id": id, "name": "Scripted", "input": script});
    format!("{script}\n")
}

/// A line in short: its kind, and what it is about.
fn short(line: &Value) -> String {
    match line["type"].as_str().expect("a kind") {
        "tool_result" => {
            let content = text(&line["content"]);
            let content = content.replace("<tool_use_error>", "").replace("</tool_use_error>", "");
            format!("{} {content}", text(&line["tool_use_id"]))
        }
        "user" => {
            let blocks = line["message"]["content"].as_array().expect("blocks");
            let ids: Vec<_> = blocks.iter().map(|it| text(&it["tool_use_id"])).collect();
            format!("user {}", ids.join(" "))
        }
        "event" => text(&line["event"]),
        "fault" => text(&line["what"]),
        kind => kind.to_owned(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn shorts(lines: &[Value]) -> Vec<String> {
    lines.iter().map(short).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_starts_at_its_line_and_its_result_comes_before_the_message_ends() {
    let mut pipe = Pipe::open(Asking::Headless);
    pipe.say(&call("a", json!({"say": "early"}))).await;
    assert_eq!(short(&pipe.line().await), "a early");
    pipe.say(&call("b", json!({}))).await;
    assert_eq!(short(&pipe.line().await), "b ran");
    let (rest, served) = pipe.end().await;
    assert_eq!(shorts(&rest), ["user a b"]);
    assert!(matches!(served, Served { calls: 2, faults: 0, end: End::Input }), "{served:?}");
}

#[tokio::test(start_paused = true)]
async fn results_come_in_the_order_of_the_calls() {
    let mut pipe = Pipe::open(Asking::Headless);
    let calls = [("a", 30), ("b", 10), ("c", 20)];
    let lines: String = calls.iter().map(|(id, ms)| call(id, json!({"ms": ms}))).collect();
    pipe.say(&lines).await;
    assert_eq!(shorts(&pipe.end().await.0), ["a ran", "b ran", "c ran", "user a b c"]);
}

#[tokio::test(start_paused = true)]
async fn a_blank_line_or_a_message_stop_ends_a_message_and_the_next_one_waits_for_it() {
    for end in ["\n", "  \r\n", "{\"type\":\"message_stop\"}\n", "\n\n\n"] {
        let mut pipe = Pipe::open(Asking::Headless);
        let slow = call("a", json!({"ms": 1_000}));
        pipe.say(&format!("{slow}{end}{}", call("a", json!({"say": "again"})))).await;
        let said = shorts(&pipe.end().await.0);
        assert_eq!(said, ["a ran", "user a", "a again", "user a"], "{end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_ended_by_a_line_is_answered_while_the_input_stays_open() {
    let mut pipe = Pipe::open(Asking::Headless);
    pipe.say(&(call("a", json!({})) + "\n")).await;
    assert_eq!(short(&pipe.line().await), "a ran");
    let message = pipe.line().await;
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "ran"});
    assert_eq!(message, json!({"type": "user", "message": {"role": "user", "content": [result]}}));
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_no_call_is_told_with_its_number_and_the_rest_goes_on() {
    let mut pipe = Pipe::open(Asking::Headless);
    let repeated = call("a", json!({}));
    let lines = [
        "{\"type\":\"text\",\"text\":\"hi\"}\n",
        "not json\n",
        "{\"type\":1}\n",
        "{\"type\":\"tool_use\",\"name\":\"Scripted\",\"input\":{}}\n",
        &repeated,
        &repeated,
        "{\"type\":\"permission_answer\",\"allow\":true}\n",
        "{\"type\":\"tool_use\",\"id\":\"b\"",
    ];
    pipe.say(&lines.concat()).await;
    let (said, served) = pipe.end().await;
    let faults: Vec<_> = said.iter().filter(|it| it["type"] == "fault").map(short).collect();
    insta::assert_snapshot!(faults.join("\n"), @r#"
    line 1: neither a tool_use block, nor a permission_answer, nor the end of a message (a blank line or a message_stop): skipped; send nothing else
    line 2: not a line of JSON that is understood (expected ident at line 1 column 2): write each block on one line
    line 3: neither a tool_use block, nor a permission_answer, nor the end of a message (a blank line or a message_stop): skipped; send nothing else
    line 4: a tool_use without a usable id: skipped; give it one of 1 to 1024 bytes
    line 6: the message has two tool_use blocks with the id a: leave the second one out
    line 7: a permission_answer without its number or its decision: skipped; give "request" the number that was asked under, and "allow" true or false
    line 8: not a line of JSON that is understood (EOF while parsing an object at line 1 column 27): write each block on one line
    "#);
    let rest: Vec<_> = said.iter().filter(|it| it["type"] != "fault").map(short).collect();
    assert_eq!(rest, ["a ran", "user a"]);
    assert_eq!((served.calls, served.faults), (1, 7));
}

#[tokio::test(start_paused = true)]
async fn a_block_with_an_id_is_answered_whatever_else_is_wrong_with_it() {
    let mut pipe = Pipe::open(Asking::Headless);
    pipe.say("{\"type\":\"tool_use\",\"id\":\"a\"}\n").await;
    pipe.say("{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"Scripted\"}\n").await;
    pipe.say(&call("c", json!([1]))).await;
    pipe.say("{\"type\":\"tool_use\",\"id\":\"d\",\"name\":5,\"input\":{}}\n").await;
    let half_an_emoji =
        r#"{"type":"tool_use","id":"e","name":"Scripted","input":{"say":"\ud83d"}}"#;
    pipe.say(&format!("{half_an_emoji}\n")).await;
    let (said, _) = pipe.end().await;
    assert!(said[..5].iter().all(|it| it["is_error"] == true), "{said:?}");
    assert!(
        short(&said[4]).contains(r#"You sent (16 bytes): {"say":"\ud83d"}"#),
        "{}",
        short(&said[4])
    );
    assert_eq!(short(&said[5]), "user a b c d e");
}

#[tokio::test(start_paused = true)]
async fn fields_of_another_kind_of_line_are_nobodys_business() {
    let mut pipe = Pipe::open(Asking::Headless);
    let more = json!({
        "type": "tool_use", "id": "a", "name": "Scripted", "input": {},
        "request": "r", "allow": "yes", "message": {"role": "assistant"},
    });
    pipe.say(&format!("{more}\n")).await;
    let (said, served) = pipe.end().await;
    assert_eq!((shorts(&said), served.faults), (vec!["a ran".to_owned(), "user a".to_owned()], 0));
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_the_api_is_told_from_its_first_bytes_in_any_chunking() {
    let data = |value: Value| format!("data: {value}\n\n");
    let message = |id: &str| {
        [
            json!({"type": "message_start", "message": {"id": id, "content": []}}),
            json!({"type": "content_block_start", "index": 0, "content_block":
                {"type": "tool_use", "id": "a", "name": "Scripted", "input": {"say": id}}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_stop"}),
        ]
        .map(data)
        .concat()
    };
    let stream = format!("\n{}{}", message("one"), message("two"));
    for chunk in [1, 3, 1_000] {
        let mut pipe = Pipe::open(Asking::Headless);
        for bytes in stream.as_bytes().chunks(chunk) {
            pipe.say(std::str::from_utf8(bytes).expect("ASCII")).await;
        }
        let (said, served) = pipe.end().await;
        assert_eq!(shorts(&said), ["a one", "user a", "a two", "user a"], "{chunk}");
        assert_eq!(served.faults, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_answers_its_whole_calls_and_says_so() {
    let mut pipe = Pipe::open(Asking::Headless);
    let block = json!({"type": "tool_use", "id": "a", "name": "Scripted", "input": {}});
    for (index, stops) in [(0, true), (1, false)] {
        let start = json!({"type": "content_block_start", "index": index, "content_block": block});
        pipe.say(&format!("data: {start}\n\n")).await;
        if stops {
            let stop = json!({"type": "content_block_stop", "index": index});
            pipe.say(&format!("data: {stop}\n\n")).await;
        }
    }
    let (said, served) = pipe.end().await;
    let rest: Vec<_> = said.iter().filter(|it| it["type"] != "fault").map(short).collect();
    assert_eq!(rest, ["a ran", "user a"]);
    assert!(served.faults > 0);
}

#[tokio::test(start_paused = true)]
async fn without_anybody_to_ask_a_call_that_writes_is_denied_with_the_flag_that_allows_it() {
    let mut pipe = Pipe::open(Asking::Headless);
    pipe.say(&call("a", json!({"writes": true}))).await;
    let denied = pipe.line().await;
    let says = "a This use of Scripted requires approval, and nobody is there to give it: this run \
                starts only calls that read. Whoever started it can allow the tool with --allow \
                Scripted.";
    assert_eq!(short(&denied), says);
    assert_eq!(denied["is_error"], true);
}

#[tokio::test(start_paused = true)]
async fn a_question_goes_out_as_a_line_and_a_line_answers_it() {
    let mut pipe = Pipe::open(Asking::ByLine);
    pipe.say(&call("a", json!({"writes": true, "alone": true}))).await;
    pipe.say(&call("b", json!({"writes": true, "alone": true}))).await;
    pipe.say(&call("c", json!({"writes": true, "alone": true}))).await;
    let asked = pipe.line().await;
    assert_eq!(
        (short(&asked), &asked["tool_use_id"], &asked["name"], &asked["input"]["writes"]),
        ("permission_request".into(), &json!("a"), &json!("Scripted"), &json!(true))
    );
    let answer = |asked: &Value, rest: &str| {
        format!("{{\"type\":\"permission_answer\",\"request\":{},{rest}}}\n", asked["request"])
    };
    pipe.say(&answer(&asked, "\"allow\":true")).await;
    assert_eq!(short(&pipe.line().await), "a ran");
    let asked = pipe.line().await;
    pipe.say(&answer(&asked, "\"allow\":false,\"message\":\"not today\"")).await;
    assert_eq!(short(&pipe.line().await), "b not today");
    let asked = pipe.line().await;
    pipe.say(&answer(&asked, "\"allow\":true,\"input\":{\"say\":\"other\"}")).await;
    assert_eq!(short(&pipe.line().await), "c other");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_no_line_can_answer_any_more_is_denied() {
    let asking = call("a", json!({"writes": true}));
    let next_message = format!("\n{}", call("b", json!({})));
    for (then, rest) in [("", &["user a"][..]), (&next_message, &["user a", "b ran", "user b"])] {
        let mut pipe = Pipe::open(Asking::ByLine);
        pipe.say(&asking).await;
        assert_eq!(short(&pipe.line().await), "permission_request");
        pipe.say(then).await;
        let (said, _) = pipe.end().await;
        let said = shorts(&said);
        assert_eq!(said[0], "a This call requires approval, and no answer came in time.");
        assert_eq!(said[1..], *rest);
    }
}

#[tokio::test(start_paused = true)]
async fn events_come_before_what_they_are_about_and_all_of_them_come() {
    let mut pipe = Pipe::with(Asking::Headless, true, |it| it);
    pipe.say(&call("a", json!({}))).await;
    let (said, _) = pipe.end().await;
    let numbers = said.iter().filter(|it| it["type"] == "event").map(|it| it["seq"].as_u64());
    assert!(numbers.eq((0..).map(Some).take(said.len() - 2)), "{said:?}");
    let said = shorts(&said);
    let at = |what: &str| said.iter().position(|it| it == what).expect(what);
    assert!(at("emitted") < at("a ran") && at("turn_finished") < at("user a"), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_stops_the_turn_answers_it_and_leaves_the_rest_of_the_input() {
    let mut pipe = Pipe::open(Asking::Headless);
    pipe.say(&call("a", json!({}))).await;
    pipe.say(&call("b", json!({"ms": 3_600_000}))).await;
    pipe.say(&format!("\n{}", call("c", json!({})))).await;
    assert_eq!(short(&pipe.line().await), "a ran");
    pipe.stops.interrupt.cancel();
    let (said, served) = pipe.rest().await;
    assert!(text(&said[0]["content"]).contains("Interrupted by the user."), "{said:?}");
    assert_eq!(shorts(&said[1..]), ["user a b"]);
    assert!(matches!(served.end, End::Interrupted), "{served:?}");
}

#[tokio::test(start_paused = true)]
async fn a_termination_answers_even_calls_that_an_interrupt_lets_finish() {
    let mut pipe = Pipe::open(Asking::Headless);
    pipe.say(&call("a", json!({}))).await;
    pipe.say(&call("b", json!({"ms": 3_600_000, "block": true}))).await;
    assert_eq!(short(&pipe.line().await), "a ran");
    pipe.stops.interrupt.cancel();
    tokio::time::advance(Duration::from_secs(60)).await;
    pipe.stops.terminate.cancel();
    let (said, served) = pipe.rest().await;
    assert!(text(&said[0]["content"]).contains("the session ends"), "{said:?}");
    assert_eq!(shorts(&said[1..]), ["user a b"]);
    assert!(matches!(served.end, End::Terminated), "{served:?}");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_goes_away_ends_everything() {
    let mut pipe = Pipe::open(Asking::Headless);
    pipe.say(&call("a", json!({}))).await;
    pipe.say(&call("b", json!({"ms": 3_600_000}))).await;
    pipe.lines.close();
    let served = pipe.served.await.expect("ends");
    assert!(matches!(served.end, End::Unread), "{served:?}");
}

#[tokio::test(start_paused = true)]
async fn the_sibling_policy_is_that_of_the_configuration() {
    let mut pipe = Pipe::with(Asking::Headless, false, |it| it.cascade(Cascade::Any));
    pipe.say(&call("a", json!({"ms": 10, "fail": "no"}))).await;
    pipe.say(&call("b", json!({"ms": 3_600_000}))).await;
    let (said, _) = pipe.end().await;
    assert!(text(&said[1]["content"]).contains("errored"), "{said:?}");
}
