//! Hooks: what callbacks may deny, change, ask for and add, before and after a call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::{House, asked, call, call_of, texts};
use serde_json::{Value, json};
use toolwright::{
    AfterAnswer, AfterCall, Answer, AnyTool, BeforeAnswer, BeforeCall, Card, Hook, HookDecision,
    Matcher, Otherwise, Output, Rules, RunCx, Tool, ToolError,
};
use toolwright_actors::Config;
use toolwright_contract::{Event, EventKind, HowEnded, OnInterrupt};

use HowEnded::{Error, Ok, Refused};

/// A hook that says the same before every call.
fn says(name: &'static str, answer: BeforeAnswer) -> Hook {
    Hook::before(name, Matcher::All, move |_| std::future::ready(answer.clone()))
}

fn decides(decision: HookDecision) -> BeforeAnswer {
    BeforeAnswer { decision: Some(decision), ..BeforeAnswer::default() }
}

fn gives(input: Value) -> BeforeAnswer {
    BeforeAnswer { input: Some(input), ..BeforeAnswer::default() }
}

fn adds(context: &str) -> BeforeAnswer {
    BeforeAnswer { context: Some(context.into()), ..BeforeAnswer::default() }
}

async fn with(hooks: Vec<Hook>) -> House {
    House::with(|it| it.hooks = hooks).await
}

fn starts(events: &[Event]) -> usize {
    events.iter().filter(|it| matches!(it.kind, EventKind::Started { .. })).count()
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_never_runs() {
    let house = with(vec![says("no", decides(HookDecision::Deny("not here".into())))]).await;
    let results = house.run([call("a", json!({}))]).await;
    assert_eq!(texts(&results), ["<tool_use_error>not here</tool_use_error>"]);
    assert_eq!(results.ended, [Refused]);
    assert_eq!(starts(&house.close().await), 0);
}

#[tokio::test(start_paused = true)]
async fn a_hook_hears_the_tools_it_is_for_and_their_checked_input() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = heard.clone();
    let hook =
        Hook::before("log", Matcher::Names(vec!["Other".into()]), move |call: BeforeCall| {
            log.lock().unwrap().push((call.id.to_string(), call.tool, call.input));
            std::future::ready(BeforeAnswer::default())
        });
    let tools = ["Scripted", "Other"]
        .map(|name| toolwright_contract::AnyTool::new(harness::Scripted::named(name)));
    let house = House::with_tools(tools, |it| it.hooks = vec![hook]).await;
    house
        .run([
            call("a", json!({})),
            harness::call_of("Other", "b", json!({"say": "x"})),
            harness::call_of("Other", "c", json!({"ms": "x"})),
            harness::call_of("Other", "d", json!({"invalid": "no"})),
        ])
        .await;
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    assert_eq!(heard, [("b".into(), "Other".into(), json!({"say": "x"}))]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_hook_for_a_former_name_hears_the_tool_of_today() {
    let deny = decides(HookDecision::Deny("no".into()));
    let names = Matcher::Names(vec!["OldScripted".into()]);
    let hook = Hook::before("old", names, move |_| std::future::ready(deny.clone()));
    let house = with(vec![hook]).await;
    assert_eq!(house.run([call("a", json!({}))]).await.ended, [Refused]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_input_that_a_hook_gives_is_the_one_that_runs() {
    let house = with(vec![says("change", gives(json!({"say": "changed"})))]).await;
    assert_eq!(texts(&house.run([call("a", json!({}))]).await), ["changed"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_input_that_does_not_fit_or_that_the_check_rejects_is_refused() {
    for (input, says_so) in [
        (json!({"ms": "x"}), "InputValidationError: Scripted failed"),
        (json!({"invalid": "the world says no"}), "the world says no"),
        (json!({"check_ms": 90_000}), "longer than 60 s"),
    ] {
        let house = with(vec![says("change", gives(input))]).await;
        let results = house.run([call("a", json!({}))]).await;
        assert_eq!(results.ended, [Refused]);
        assert!(texts(&results)[0].contains(says_so), "{:?}", texts(&results));
        assert_eq!(starts(&house.close().await), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_check_of_a_hooks_input_that_hangs_can_be_stopped() {
    let mut house = with(vec![says("change", gives(json!({"check_ms": 50_000})))]).await;
    let turn = house.turn([call("a", json!({}))]).await;
    house.until(|it| matches!(it, EventKind::Gated { .. })).await;
    let (stopper, began) = (turn.stopper(), tokio::time::Instant::now());
    let stopping = async {
        tokio::time::advance(Duration::from_secs(1)).await;
        stopper.interrupt();
    };
    let (results, ()) = tokio::join!(turn.finish(), stopping);
    assert_eq!(results.ended, [HowEnded::StoppedNotStarted]);
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    house.close().await;
}

/// A hook that makes the call `wide` run alone.
fn widens() -> Hook {
    Hook::before("widen", Matcher::All, |call: BeforeCall| {
        let alone = gives(json!({"alone": true, "ms": 10, "say": "alone"}));
        let answer = if call.id.as_str() == "wide" { alone } else { BeforeAnswer::default() };
        std::future::ready(answer)
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_made_unsafe_keeps_its_place_and_waits_to_be_alone() {
    let house = with(vec![widens()]).await;
    let began = tokio::time::Instant::now();
    let results = house
        .run([
            call("first", json!({"ms": 100})),
            call("wide", json!({})),
            call("beside", json!({"ms": 30})),
            call("queued", json!({"alone": true, "ms": 10})),
        ])
        .await;
    assert_eq!(texts(&results), ["ran", "alone", "ran", "ran"]);
    assert_eq!(began.elapsed(), Duration::from_millis(120));
    // That it was alone is the history's to say.
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_made_unsafe_does_not_keep_the_sessions_last_share_from_those_it_waits_for() {
    let one = std::num::NonZeroU16::MIN;
    let house =
        House::with(|it: &mut Config| (it.hooks, it.session_width) = (vec![widens()], one)).await;
    let running = house.run([call("wide", json!({})), call("beside", json!({"ms": 30}))]);
    let results =
        tokio::time::timeout(Duration::from_secs(60), running).await.expect("no deadlock");
    assert_eq!(texts(&results), ["alone", "ran"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_hook_can_have_a_person_asked() {
    let house = with(vec![says("ask", decides(HookDecision::Ask("sure?".into())))]).await;
    let mut questions = house.session.questions();
    let turn = house.turn([call("a", json!({}))]).await;
    let ask = asked(&mut questions).await;
    assert_eq!(ask.message, "sure?");
    house.session.answer(ask.request, Answer::Allow);
    assert_eq!(turn.finish().await.ended, [Ok]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_hooks_allow_spares_the_default_question_and_no_rule() {
    let allow = || vec![says("allow", decides(HookDecision::Allow))];
    for (rules, ended) in [
        (Rules { otherwise: Otherwise::Ask, ..Rules::default() }, Ok),
        (Rules { otherwise: Otherwise::Deny, ..Rules::default() }, Ok),
        (Rules { deny: ["Scripted"].into(), ..Rules::default() }, Refused),
        // Nobody listens, so what a rule asks is denied.
        (Rules { ask: ["Scripted"].into(), ..Rules::default() }, Refused),
    ] {
        let house = House::with(|it| (it.hooks, it.rules) = (allow(), rules.clone().into())).await;
        let results = house.run([call("a", json!({"writes": true}))]).await;
        assert_eq!(results.ended, [ended], "{rules:?}");
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn of_several_hooks_a_deny_wins_and_the_last_input_counts_whoever_is_quicker() {
    let slow = |answer: BeforeAnswer| {
        Hook::before("slow", Matcher::All, move |_| {
            let answer = answer.clone();
            async move {
                let pause = std::future::pending::<()>();
                tokio::time::timeout(Duration::from_millis(50), pause).await.ok();
                answer
            }
        })
    };
    let first = || gives(json!({"say": "first"}));
    let second = || gives(json!({"say": "second"}));
    let deny = || decides(HookDecision::Deny("no".into()));
    let allow = || decides(HookDecision::Allow);
    for (hooks, text) in [
        (vec![slow(first()), says("b", second())], "second"),
        (vec![says("a", first()), slow(second())], "second"),
        (vec![slow(deny()), says("b", allow())], "<tool_use_error>no</tool_use_error>"),
        (vec![says("a", allow()), slow(deny())], "<tool_use_error>no</tool_use_error>"),
    ] {
        let house = with(hooks).await;
        assert_eq!(texts(&house.run([call("a", json!({}))]).await), [text]);
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_hooks_and_tools_add_follows_all_results() {
    let after = Hook::after("after", Matcher::All, |_| async {
        AfterAnswer { context: Some("after".into()) }
    });
    let house = with(vec![says("before", adds("before")), after]).await;
    let results =
        house.run([call("a", json!({"note": "of the tool"})), call("b", json!({}))]).await;
    let message = results.to_message().unwrap();
    let kinds: Vec<_> =
        message["content"].as_array().unwrap().iter().map(|it| it["type"].clone()).collect();
    let text = || json!("text");
    assert_eq!(kinds[..2], [json!("tool_result"), json!("tool_result")]);
    assert!(kinds[2..].iter().all(|it| *it == text()));
    assert_eq!(results.notes, ["before", "of the tool", "after", "before", "after"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_hook_after_a_call_hears_how_it_went_and_the_input_that_ran() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = heard.clone();
    let after = Hook::after("log", Matcher::All, move |call: AfterCall| {
        let line = format!("{} {:?} {} {}", call.id, call.kind, call.input, call.content.text());
        log.lock().unwrap().push(line);
        std::future::ready(AfterAnswer::default())
    });
    let change = Hook::before("change", Matcher::All, |call: BeforeCall| {
        let answer = gives(json!({"say": "changed"}));
        std::future::ready(if call.id.as_str() == "b" { answer } else { BeforeAnswer::default() })
    });
    let house = with(vec![change, after]).await;
    let results = house
        .run([
            call("a", json!({"fail": "no", "alone": true})),
            call("b", json!({"alone": true})),
            call("c", json!({"invalid": "never ran"})),
        ])
        .await;
    assert_eq!(results.ended, [Error, Ok, Refused]);
    assert_eq!(
        *heard.lock().unwrap(),
        [r#"a Failure {"alone":true,"fail":"no"} no"#, r#"b Success {"say":"changed"} changed"#,]
    );
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_changes_how_a_call_takes_an_interrupt_is_heeded() {
    let block = says("block", gives(json!({"ms": 100, "block": true})));
    let mut house = with(vec![block]).await;
    let turn = house.turn([call("a", json!({"ms": 100}))]).await;
    house.started(0).await;
    turn.stopper().interrupt();
    assert_eq!(turn.finish().await.ended, [Ok], "{:?}", OnInterrupt::Block);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_judges_a_call_sees_the_input_that_its_tool_gets() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (before, after) = (seen.clone(), seen.clone());
    let hooks = vec![
        Hook::before("before", Matcher::All, move |call: BeforeCall| {
            before.lock().unwrap().push(call.input);
            std::future::ready(gives(json!({"ms": " 5", "writes": "true"})))
        }),
        Hook::after("after", Matcher::All, move |call: AfterCall| {
            after.lock().unwrap().push(call.input);
            std::future::ready(AfterAnswer::default())
        }),
    ];
    let house = House::with(|it| {
        it.hooks = hooks;
        it.rules = Rules::default().into();
    })
    .await;
    let mut questions = house.session.questions();
    let turn = house.turn([call("a", json!({"ms": "7", "alone": "true", "say": "8"}))]).await;
    let answering = async {
        let ask = asked(&mut questions).await;
        seen.lock().unwrap().push(ask.input);
        house.session.answer(ask.request, Answer::Allow);
    };
    let (results, ()) = tokio::join!(turn.finish(), answering);
    assert_eq!(results.ended, [Ok]);
    let changed = json!({"ms": 5, "writes": true});
    let sent = json!({"ms": 7, "alone": true, "say": "8"});
    assert_eq!(*seen.lock().unwrap(), [sent, changed.clone(), changed]);
    house.close().await;
}

/// A tool of a server, whose result says more than its text.
struct Remote;

impl Tool for Remote {
    type Input = Value;
    type Output = String;

    fn card(&self) -> Card {
        Card::of_mcp("server", "tool", "Is remote.", None)
    }
    async fn run(&self, _: Value, _: RunCx) -> Result<Output<String>, ToolError> {
        Result::Ok(
            Output::from("two".to_owned()).structured(json!({"n": 2})).meta(json!({"took": 5})),
        )
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_after_a_call_hears_what_the_result_says_to_programs() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = heard.clone();
    let after = Hook::after("log", Matcher::All, move |call: AfterCall| {
        log.lock().unwrap().extend([call.structured, call.meta]);
        std::future::ready(AfterAnswer::default())
    });
    let house = House::with_tools([AnyTool::new(Remote)], |it| it.hooks = vec![after]).await;
    house.run([call_of("mcp__server__tool", "a", json!({}))]).await;
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    let heard: Vec<_> = heard.into_iter().map(|it| (*it.unwrap()).clone()).collect();
    assert_eq!(heard, [json!({"n": 2}), json!({"took": 5})]);
    house.close().await;
}
