//! The API of an agent loop: its errors say what to do, and a session works on after each of them.

use std::time::Duration;

use harness::{House, Scripted, call, ids, texts};
use serde_json::json;
use toolwright::{
    Answer, Registry, RequestId, Rules, Runtime, RuntimeBuilder, SessionBuilder, SetupError,
    StreamBroke, StreamedTurn, SubmitError,
};
use toolwright_contract::AnyTool;

fn scripted() -> RuntimeBuilder {
    Runtime::builder().tools([AnyTool::new(Scripted::new())])
}

async fn house(runtime: &Runtime) -> House {
    House::of(runtime.session().rules(Rules::allow_everything()).start().await.unwrap())
}

/// Runs a call, which must succeed.
async fn works_on(house: &House) {
    assert_eq!(texts(&house.run([call("works", json!({}))]).await), ["ran"]);
}

#[test]
fn what_cannot_be_right_is_told_with_its_remedy_and_builds_nothing() {
    let twice = || [AnyTool::new(Scripted::new()), AnyTool::new(Scripted::new())];
    let each = |set_up: fn(SessionBuilder) -> SessionBuilder| scripted().each_session(set_up);
    let told = [
        scripted().tools(twice()),
        scripted().tool_cap("Skripted", 1),
        scripted().tool_cap("Scripted", 0),
        scripted().cap(0),
        each(|it| it.cap(0)),
        each(|it| it.turn_cap(0)),
        each(|it| it.max_calls(0)),
        each(|it| it.tool_deadline("Skripted", Duration::from_secs(1))),
        each(|it| it.tool_deadline("Scripted", Duration::ZERO)),
        each(|it| it.deadline(Duration::ZERO)),
    ];
    let told = told.map(|it| it.build().expect_err("it can't be right").to_string()).join("\n");
    insta::assert_snapshot!(told, @r"
    two tools answer to the name `Scripted`: rename one of them or drop its alias
    a cap is set for `Skripted`, but there is no such tool: name one of [Scripted]
    the cap of a tool is 0, so that no call could ever run: give 1 or more
    the cap of the runtime is 0, so that no call could ever run: give 1 or more
    the cap of the session is 0, so that no call could ever run: give 1 or more
    the cap of a turn is 0, so that no call could ever run: give 1 or more
    the cap of a message is 0, so that no call could ever run: give 1 or more
    a deadline is set for `Skripted`, but there is no such tool: name one of [Scripted]
    a deadline is 0, so that no call could do anything: give it time, or leave it out
    a deadline is 0, so that no call could do anything: give it time, or leave it out
    ");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_set_up_wrongly_leaves_its_runtime_as_it_was() {
    let runtime = scripted().cap(1).build().unwrap();
    let wrong = runtime.session().cap(0).start().await.expect_err("it can't be right");
    assert_eq!(wrong, SetupError::ZeroCap("of the session"));
    let house = house(&runtime).await;
    works_on(&house).await;
    house.close().await;
}

#[test]
fn a_session_that_is_started_outside_tokio_says_so() {
    let runtime = scripted().build().unwrap();
    let mut starting = std::pin::pin!(runtime.session().start());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = starting.as_mut().poll(&mut cx) else {
        panic!("it has no runtime to start on")
    };
    assert_eq!(error, SetupError::NoTokio);
}

#[test]
fn a_session_that_is_started_without_timers_says_so() {
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let started = tokio.block_on(scripted().build().unwrap().session().start());
    let error = started.expect_err("it could keep no deadline");
    assert_eq!(error, SetupError::NoTimers);
    assert!(error.to_string().contains("`enable_time`"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_taken_leaves_its_turn_and_its_session_as_they_were() {
    let house = house(&scripted().build().unwrap()).await;
    let mut turn = house.session.turn().await.unwrap();
    turn.submit(call("a", json!({}))).await.unwrap();
    let twice = turn.submit(call("a", json!({}))).await;
    assert_eq!(twice, Err(SubmitError::DuplicateId("a".into())));
    turn.submit(call("b", json!({}))).await.unwrap();
    turn.seal();
    assert_eq!(turn.submit(call("c", json!({}))).await, Err(SubmitError::Sealed));
    let results = turn.finish().await;
    assert_eq!(ids(&results), ["a", "b"]);
    works_on(&house).await;
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn answers_and_stops_for_what_is_not_there_do_nothing() {
    let house = house(&scripted().build().unwrap()).await;
    let turn = house.turn([call("a", json!({"ms": 10}))]).await;
    house.session.answer(RequestId(7), Answer::Allow);
    house.session.answer(RequestId(0), Answer::Deny("late".to_owned()));
    turn.stopper().stop(&"unknown".into());
    let stopper = turn.stopper();
    assert_eq!(texts(&turn.finish().await), ["ran"]);
    stopper.stop(&"a".into());
    stopper.interrupt();
    stopper.discard();
    works_on(&house).await;
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_leaves_its_session_as_it_was() {
    let house = house(&scripted().build().unwrap()).await;
    let streamed = || async { StreamedTurn::new(house.session.turn().await.unwrap()) };
    let second = Duration::from_secs(1);
    let (_, _, ended) =
        streamed().await.read(&b"data: {\"type\":\"message_start\""[..], second).await;
    assert!(matches!(ended, Err(StreamBroke::Cut)), "{ended:?}");
    let (silent, _open) = tokio::io::duplex(64);
    let (_, _, ended) = streamed().await.read(silent, second).await;
    assert!(matches!(ended, Err(StreamBroke::Idle(_))), "{ended:?}");
    works_on(&house).await;
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn tools_that_cannot_be_offered_replace_none() {
    let house = house(&scripted().build().unwrap()).await;
    let twice = [AnyTool::new(Scripted::new()), AnyTool::new(Scripted::new())];
    assert!(Registry::new(twice).unwrap_err().to_string().contains("rename one of them"));
    works_on(&house).await;
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_closed_says_so_and_the_others_work_on() {
    let runtime = scripted().cap(1).build().unwrap();
    let (closed, other) = (house(&runtime).await, house(&runtime).await);
    let session = closed.leave();
    assert_eq!(session.clone().shutdown().await.tasks, 0);
    let error = session.turn().await.expect_err("it is closed");
    assert_eq!(error.to_string(), "the session is closed: start another one");
    works_on(&other).await;
    other.close().await;
}
