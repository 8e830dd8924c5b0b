//! Caps that sessions share: who holds a place, who gets the next one, and who waits in vain.

use std::num::NonZeroU16;
use std::time::Duration;

use harness::{House, Scripted, asked, busy, call, call_of, texts};
use serde_json::{Value, json};
use tokio::time::Instant;
use toolwright::{Answer, Rules, Runtime, RuntimeBuilder, SessionBuilder};
use toolwright_contract::{AnyTool, Card, EventKind, HowEnded, Output, RunCx, Safety, Tool};

const MS: Duration = Duration::from_millis(1);

/// A runtime of two scripted tools.
fn two_tools() -> RuntimeBuilder {
    Runtime::builder().tools(["Scripted", "Other"].map(|it| AnyTool::new(Scripted::named(it))))
}

async fn house(runtime: &Runtime) -> House {
    house_with(runtime, |it| it.rules(Rules::allow_everything())).await
}

async fn house_with(
    runtime: &Runtime,
    set_up: impl FnOnce(SessionBuilder) -> SessionBuilder,
) -> House {
    House::of(set_up(runtime.session()).start().await.unwrap())
}

fn calls(tool: &str, count: usize, script: &Value) -> Vec<toolwright::ToolUse> {
    (0..count).map(|n| call_of(tool, &format!("{tool} {n}"), script.clone())).collect()
}

#[tokio::test(start_paused = true)]
async fn calls_of_all_sessions_together_keep_the_cap_of_the_runtime() {
    let runtime = two_tools().cap(2).build().unwrap();
    let (one, other) = (house(&runtime).await, house(&runtime).await);
    let began = Instant::now();
    let three = || calls("Scripted", 3, &json!({"ms": 10}));
    tokio::join!(one.run(three()), other.run(three()));
    assert_eq!(began.elapsed(), 30 * MS);
    one.close().await;
    other.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_calls_one_by_one_waits_for_one_call_of_a_busy_one_at_most() {
    let runtime = two_tools().cap(1).build().unwrap();
    let busy = house_with(&runtime, |it| it.rules(Rules::allow_everything()).turn_cap(1_000)).await;
    let single = house(&runtime).await;
    let busy_turn = busy.turn(calls("Scripted", 500, &json!({"ms": 10}))).await;
    for n in 0..20 {
        single.run([call(&n.to_string(), json!({"ms": 10}))]).await;
    }
    busy_turn.finish().await;
    let (busy, single) = (busy.close().await, single.close().await);
    let gated = single.iter().filter(|it| matches!(it.kind, EventKind::Gated { .. }));
    let started = single.iter().filter(|it| matches!(it.kind, EventKind::Started { .. }));
    for (from, to) in gated.zip(started).map(|(gated, started)| (gated.at_us, started.at_us)) {
        let passed = busy.iter().filter(|it| (from + 1..=to).contains(&it.at_us));
        let passed = passed.filter(|it| matches!(it.kind, EventKind::Started { .. })).count();
        assert!(passed <= 1, "{passed} calls of the busy session went first");
    }
}

#[tokio::test(start_paused = true)]
async fn the_cap_of_a_tool_counts_all_sessions_and_holds_up_no_other_tool() {
    let runtime = two_tools().tool_cap("Scripted", 1).build().unwrap();
    let (one, other) = (house(&runtime).await, house(&runtime).await);
    let began = Instant::now();
    let mixed = [calls("Scripted", 2, &json!({"ms": 10})), calls("Other", 2, &json!({"ms": 1}))];
    let turn = one.turn(mixed.concat()).await;
    other.run(calls("Other", 2, &json!({"ms": 1}))).await;
    assert_eq!(began.elapsed(), MS);
    other.run(calls("Scripted", 1, &json!({"ms": 10}))).await;
    turn.finish().await;
    assert_eq!(began.elapsed(), 30 * MS);
    let started = one.close().await;
    let others = started.iter().filter(|it| it.at_us == 0);
    let others = others.filter(|it| matches!(it.kind, EventKind::Started { .. })).count();
    assert_eq!(others, 3, "one of the capped tool, and both of the other");
    other.close().await;
}

/// A tool that says on its card how many of its calls may run at once.
struct Carded;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl Tool for Carded {
    type Input = Nothing;
    type Output = &'static str;

    fn card(&self) -> Card {
        let card = Card::new("Carded", "Takes a while.").alias("Former");
        card.cap(NonZeroU16::new(2).unwrap()).deadline(Duration::from_secs(60))
    }
    fn safety(&self, _: &Nothing) -> Safety {
        Safety::read_only()
    }
    async fn run(
        &self,
        _: Nothing,
        cx: RunCx,
    ) -> Result<Output<&'static str>, toolwright::ToolError> {
        cx.stop.or(busy(100 * MS)).await?;
        Ok("done".into())
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_has_the_cap_of_its_card_unless_the_runtime_says_otherwise() {
    for (said, takes) in [(None, 200 * MS), (Some(1), 400 * MS), (Some(4), 100 * MS)] {
        let builder = Runtime::builder().tools([AnyTool::new(Carded)]);
        let builder = said.into_iter().fold(builder, |it, cap| it.tool_cap("Former", cap));
        let house = house(&builder.build().unwrap()).await;
        let began = Instant::now();
        house.run(calls("Carded", 4, &json!({}))).await;
        assert_eq!(began.elapsed(), takes, "{said:?}");
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_has_the_deadline_of_its_card_unless_the_session_says_otherwise() {
    let runtime = Runtime::builder().tools([AnyTool::new(Carded)]);
    let runtime = runtime.each_session(|it| it.tool_deadline("Carded", 10 * MS)).build().unwrap();
    let long = house_with(&runtime, |it| it.tool_deadline("Former", None).deadline(5 * MS)).await;
    let short = house(&runtime).await;
    let began = Instant::now();
    assert_eq!(
        short.run(calls("Carded", 1, &json!({}))).await.ended,
        [HowEnded::StoppedMayHaveRun]
    );
    assert_eq!(began.elapsed(), 10 * MS);
    assert_eq!(long.run(calls("Carded", 1, &json!({}))).await.ended, [HowEnded::Ok]);
    long.close().await;
    short.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_person_is_asked_about_holds_no_place() {
    let runtime = two_tools().cap(1).tool_cap("Scripted", 1).build().unwrap();
    let asks = Rules { ask: ["Scripted"].into(), ..Rules::allow_everything() };
    let asking = house_with(&runtime, |it| it.rules(asks)).await;
    let mut questions = asking.session.questions();
    let turn = asking.turn([call("asked", json!({}))]).await;
    let ask = asked(&mut questions).await;
    let beside = house(&runtime).await;
    assert_eq!(texts(&beside.run([call("beside", json!({"ms": 10}))]).await), ["ran"]);
    asking.session.answer(ask.request, Answer::Allow);
    assert_eq!(texts(&turn.finish().await), ["ran"]);
    asking.close().await;
    beside.close().await;
}

#[tokio::test(start_paused = true)]
async fn calls_that_run_calls_never_wait_for_each_other() {
    let runtime = two_tools().cap(1).tool_cap("Scripted", 1).build().unwrap();
    let (one, two, three) = (house(&runtime).await, house(&runtime).await, house(&runtime).await);
    let deep = json!({"nested": [{"nested": [{"ms": 10}, {"ms": 10}]}, {"ms": 10}], "ms": 10});
    let run = |it| House::run(it, calls("Scripted", 3, &deep));
    let all = async { tokio::join!(run(&one), run(&two), run(&three)) };
    let all = tokio::time::timeout(Duration::from_secs(60), all).await.expect("no deadlock");
    assert_eq!([all.0.ended, all.1.ended, all.2.ended], [[HowEnded::Ok; 3]; 3].map(Vec::from));
    for house in [one, two, three] {
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn overdue_calls_of_one_session_keep_no_other_waiting_for_ever() {
    let runtime = two_tools().cap(1).each_session(|it| it.wait(7_000 * MS)).build().unwrap();
    let (mut deaf, other) = (house(&runtime).await, house(&runtime).await);
    let turn = deaf.turn([call("deaf", json!({"ms": 60_000, "deaf": true}))]).await;
    deaf.started(0).await;
    turn.stopper().interrupt();
    turn.finish().await;
    let began = Instant::now();
    let results = other.run([call("waits", json!({}))]).await;
    assert!(texts(&results)[0].contains("Timed out"), "{:?}", texts(&results));
    assert_eq!((results.ended, began.elapsed()), (vec![HowEnded::StoppedNotStarted], 7_000 * MS));
    deaf.until(|it| matches!(it, EventKind::Gone { .. })).await;
    assert_eq!(texts(&other.run([call("runs", json!({}))]).await), ["ran"]);
    deaf.close().await;
    other.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_the_calls_of_other_sessions_as_long_as_they_take() {
    let runtime = two_tools().cap(2).each_session(|it| it.wait(1_000 * MS)).build().unwrap();
    let (mut deaf, other) = (house(&runtime).await, house(&runtime).await);
    let turn = deaf.turn([call("deaf", json!({"ms": 600_000, "deaf": true}))]).await;
    deaf.started(0).await;
    turn.stopper().interrupt();
    turn.finish().await;
    let long = json!({"ms": 60_000});
    assert_eq!(other.run(calls("Scripted", 3, &long)).await.ended, [HowEnded::Ok; 3]);
    deaf.close().await;
    other.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_session_leaves_undone_costs_the_others_nothing() {
    let runtime = two_tools().cap(2).tool_cap("Scripted", 1).build().unwrap();
    let other = house(&runtime).await;
    for leave in [true, false] {
        let mut left = house(&runtime).await;
        let turn = left.turn(calls("Scripted", 50, &json!({"ms": 60_000}))).await;
        left.started(0).await;
        if leave {
            drop(turn);
            left.close().await;
        } else {
            drop((left.leave(), turn));
        }
    }
    let began = Instant::now();
    assert_eq!(other.run(calls("Scripted", 2, &json!({"ms": 10}))).await.ended, [HowEnded::Ok; 2]);
    assert_eq!(began.elapsed(), 20 * MS);
    other.close().await;
}
