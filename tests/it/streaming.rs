//! A message that streams in: what starts when, and what becomes of a stream that breaks off.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use harness::{House, ids, texts};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf};
use toolwright::{StreamBroke, StreamedTurn};
use toolwright_contract::EventKind;

const IDLE: Duration = Duration::from_secs(30);

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

fn start() -> String {
    event(&json!({"type": "message_start", "message": {"id": "msg_1", "content": []}}))
}

fn block(index: u64, id: &str, input: &str) -> String {
    let start = json!({"type": "content_block_start", "index": index, "content_block":
        {"type": "tool_use", "id": id, "name": "Scripted", "input": {}}});
    let delta = json!({"type": "content_block_delta", "index": index, "delta":
        {"type": "input_json_delta", "partial_json": input}});
    let stop = json!({"type": "content_block_stop", "index": index});
    [start, delta, stop].iter().map(event).collect()
}

fn stop(reason: &str) -> String {
    event(&json!({"type": "message_delta", "delta": {"stop_reason": reason}}))
        + &event(&json!({"type": "message_stop"}))
}

async fn streamed(house: &House) -> StreamedTurn {
    StreamedTurn::new(house.session.turn().await.unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_call_starts_when_its_block_is_complete_and_the_message_is_not() {
    let mut house = House::open().await;
    let mut turn = streamed(&house).await;
    turn.push((start() + &block(0, "a", r#"{"say":"early"}"#)).as_bytes()).await;
    tokio::time::advance(Duration::from_millis(1)).await;
    tokio::task::yield_now().await;
    let emitted = |it: &toolwright_contract::Event| matches!(it.kind, EventKind::Emitted { .. });
    while !house.events().iter().any(emitted) {
        tokio::task::yield_now().await;
    }
    turn.push(stop("tool_use").as_bytes()).await;
    let (results, told) = turn.finish().await;
    assert_eq!((texts(&results), told.ended, told.calls), (vec!["early".into()], true, 1));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn every_chunking_gives_the_same_results() {
    let house = House::open().await;
    let body = start()
        + &block(0, "a", r#"{"say":"a\ud83d\ude00ä😀"}"#)
        + &block(1, "b", "")
        + &block(2, "c", r#"{"say": "#)
        + &stop("max_tokens");
    for size in [1, 2, 3, 7, 64, body.len()] {
        let mut turn = streamed(&house).await;
        for chunk in body.as_bytes().chunks(size) {
            turn.push(chunk).await;
        }
        let (results, told) = turn.finish().await;
        assert_eq!((ids(&results), told.calls), (vec!["a", "b", "c"], 3), "chunks of {size}");
        let texts = texts(&results);
        assert_eq!((&*texts[0], &*texts[1]), ("a😀ä😀", "ran"), "chunks of {size}");
        assert!(texts[2].contains("could not be parsed as JSON"), "{}", texts[2]);
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_inside_a_block_keeps_the_calls_before_it() {
    let house = House::open().await;
    let whole = start() + &block(0, "a", "{}") + &block(1, "b", r#"{"ms":5}"#);
    let cut = &whole.as_bytes()[..whole.len() - 20];
    let (results, told, ended) = streamed(&house).await.read(cut, IDLE).await;
    assert_eq!((ids(&results), told.ended), (vec!["a"], false));
    assert!(matches!(ended, Err(StreamBroke::Cut)), "{ended:?}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_error_event_keeps_the_calls_before_it() {
    let house = House::open().await;
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
    let body = start() + &block(0, "a", "{}") + &event(&error);
    let (results, told, ended) = streamed(&house).await.read(body.as_bytes(), IDLE).await;
    assert_eq!(ids(&results), ["a"]);
    assert!(matches!(ended, Err(StreamBroke::Cut)), "{ended:?}, {told:?}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_given_up_and_its_running_calls_finish() {
    let house = House::open().await;
    let (mut model, stream) = tokio::io::duplex(64 << 10);
    let calls = start() + &block(0, "a", r#"{"ms":60000}"#);
    model.write_all(calls.as_bytes()).await.unwrap();
    let (results, _, ended) = streamed(&house).await.read(stream, IDLE).await;
    assert_eq!(texts(&results), ["ran"]);
    assert!(matches!(ended, Err(StreamBroke::Idle(_))), "{ended:?}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_stays_open_after_its_message_keeps_nobody_waiting() {
    let house = House::open().await;
    let (mut model, stream) = tokio::io::duplex(4096);
    let body = start() + &block(0, "a", "{}") + &stop("tool_use");
    model.write_all(body.as_bytes()).await.unwrap();
    let began = tokio::time::Instant::now();
    let (results, told, ended) = streamed(&house).await.read(stream, IDLE).await;
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!((ids(&results), told.ended), (vec!["a"], true));
    assert!(began.elapsed() < IDLE);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_after_its_message_asks_for_no_second_request() {
    let house = House::open().await;
    let body = start() + &block(0, "a", "{}") + &stop("tool_use");
    let stream = body.as_bytes().chain(Reset);
    let (results, _, ended) = streamed(&house).await.read(stream, IDLE).await;
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(ids(&results), ["a"]);
    house.close().await;
}

/// A connection that the other side has closed.
struct Reset;

impl AsyncRead for Reset {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_told_of_a_stream_that_is_all_wrong_is_bounded() {
    let house = House::open().await;
    let wrong = event(&json!({"type": "content_block_stop", "index": 9}));
    let body = start() + &wrong.repeat(1_050) + &block(0, "a", "{}");
    let (results, told, ended) = streamed(&house).await.read(body.as_bytes(), IDLE).await;
    assert!(matches!(ended, Err(StreamBroke::Cut)), "{ended:?}");
    assert_eq!((ids(&results), told.ended), (vec!["a"], false));
    assert_eq!(told.problems.len(), 1_000);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_repeated_id_is_told_and_runs_once() {
    let house = House::open().await;
    let body = start() + &block(0, "a", "{}") + &block(1, "a", "{}") + &stop("tool_use");
    let (results, told, ended) = streamed(&house).await.read(body.as_bytes(), IDLE).await;
    assert_eq!(ids(&results), ["a"]);
    assert!(ended.is_ok() && !told.problems.is_empty(), "{told:?}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_without_calls_has_no_results_to_send() {
    let house = House::open().await;
    let body = start() + &stop("tool_use");
    let (results, _, ended) = streamed(&house).await.read(body.as_bytes(), IDLE).await;
    assert!(ended.is_ok());
    assert_eq!(results.to_message(), None);
    house.close().await;
}
