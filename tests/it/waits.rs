//! Waits behind calls that were answered without ending: none is for ever, and none is unfounded.

use std::num::NonZeroU16;
use std::time::Duration;

use harness::{House, Scripted, asked, call, call_of, texts};
use serde_json::{Value, json};
use tokio::time::Instant;
use toolwright::{Answer, Rules};
use toolwright_actors::Config;
use toolwright_contract::{AnyTool, EventKind, HowEnded};

const SECOND: Duration = Duration::from_secs(1);
const ONE: NonZeroU16 = NonZeroU16::MIN;

fn deaf() -> Value {
    json!({"ms": 600_000, "deaf": true})
}

/// A house in which a call waits seven seconds behind an overdue one, and which asks about one tool.
async fn patient(change: impl FnOnce(&mut Config)) -> House {
    let tools = ["Scripted", "Asked"].map(|it| AnyTool::new(Scripted::named(it)));
    House::with_tools(tools, |it| {
        it.wait = 7 * SECOND;
        it.rules = Rules { ask: ["Asked"].into(), ..Rules::allow_everything() }.into();
        change(it);
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_asked_about_waits_no_longer_than_it_may() {
    let mut house = patient(|it| it.width = ONE).await;
    let mut questions = house.session.questions();
    let turn = house.turn([call_of("Asked", "a", json!({})), call("deaf", deaf())]).await;
    let ask = asked(&mut questions).await;
    house.started(1).await;
    turn.stopper().stop(&"deaf".into());
    house.until(|it| matches!(it, EventKind::Overdue { .. })).await;
    house.session.answer(ask.request, Answer::Allow);
    let began = Instant::now();
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::StoppedNotStarted, HowEnded::StoppedMayHaveRun]);
    assert!(texts(&results)[0].contains("Timed out"), "{:?}", texts(&results));
    assert_eq!(began.elapsed(), 7 * SECOND);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_lent_its_width_waits_no_longer_than_it_may_for_it() {
    let mut house = patient(|it| it.width = ONE).await;
    let nested = json!({"nested": [{"ms": 20}]});
    let turn = house.turn([call("lends", nested), call("deaf", deaf())]).await;
    house.started(1).await;
    turn.stopper().stop(&"deaf".into());
    let began = Instant::now();
    let results = turn.finish().await;
    assert_eq!(results.ended, [HowEnded::StoppedMayHaveRun; 2]);
    assert!(texts(&results)[0].contains("Timed out"), "{:?}", texts(&results));
    assert_eq!(began.elapsed(), 12 * SECOND);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn where_overdue_calls_hold_every_share_of_the_session_nobody_waits_for_ever() {
    let mut house = patient(|it| it.session_width = ONE).await;
    let turn = house.turn([call("deaf", deaf())]).await;
    house.started(0).await;
    turn.stopper().interrupt();
    turn.finish().await;
    let mut questions = house.session.questions();
    let turn = house.turn([call("next", json!({}))]).await;
    let began = Instant::now();
    let next = turn.finish().await;
    assert!(texts(&next)[0].contains("Timed out"), "{:?}", texts(&next));
    assert_eq!((next.ended, began.elapsed()), (vec![HowEnded::StoppedNotStarted], 7 * SECOND));
    assert!(questions.try_recv().is_err());
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_its_own_siblings_as_long_as_they_take() {
    let mut house = patient(|_| {}).await;
    let mut other = house.turn([call("0", json!({"ms": 60_000, "alone": true}))]).await;
    let turn = house.turn([call("deaf", deaf())]).await;
    house.started(0).await;
    house.started(0).await;
    turn.stopper().interrupt();
    turn.finish().await;
    assert_eq!(house.session.overdue(), 1);
    other.submit(call("1", json!({"alone": true}))).await.unwrap();
    assert_eq!(other.finish().await.ended, [HowEnded::Ok; 2]);
    house.close().await;
}
