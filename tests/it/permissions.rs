//! Permission: rules about whole tools, and questions with answers in any order or never.

use std::time::Duration;

use harness::{House, Scripted, asked, call, call_of, ids, step_aside, texts};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use toolwright::{Answer, Ask, Names, Otherwise, Question, Rules};
use toolwright_contract::{AnyTool, Event, EventKind, HowEnded, RequestId, ToolUse};

use HowEnded::{Ok, Refused, StoppedNotStarted};

fn tools() -> [AnyTool; 4] {
    let named = |name| AnyTool::new(Scripted::named(name));
    [AnyTool::new(Scripted::new()), named("Denied"), named("Asked"), named("Allowed")]
}

fn rules() -> Rules {
    Rules {
        deny: ["Denied"].into(),
        ask: ["Asked"].into(),
        allow: ["Allowed"].into(),
        otherwise: Otherwise::Ask,
    }
}

async fn strict() -> House {
    House::with_tools(tools(), |it| it.rules = rules().into()).await
}

/// A call about which a person is asked.
fn doubtful(id: &str) -> ToolUse {
    call_of("Asked", id, json!({}))
}

async fn asks(questions: &mut UnboundedReceiver<Question>, count: usize) -> Vec<Ask> {
    let mut asks = Vec::new();
    for _ in 0..count {
        asks.push(asked(questions).await);
    }
    asks
}

fn starts(events: &[Event]) -> Vec<u32> {
    let started =
        |it: &Event| if let EventKind::Started { call } = it.kind { Some(call) } else { None };
    events.iter().filter_map(started).collect()
}

#[tokio::test(start_paused = true)]
async fn names_are_denied_asked_about_and_allowed() {
    let house = strict().await;
    let mut questions = house.session.questions();
    let writes = json!({"writes": true});
    let turn = house
        .turn([
            call_of("Denied", "denied", json!({})),
            call_of("Allowed", "allowed", writes.clone()),
            call_of("Asked", "asked", json!({})),
            call("reads", json!({})),
            call("writes", writes),
        ])
        .await;
    let asks = asks(&mut questions, 2).await;
    let told: Vec<_> = asks.iter().map(|it| (it.id.as_str(), it.message.as_str())).collect();
    assert_eq!(
        told,
        [
            ("asked", "Asked needs a yes: the ask rule `Asked` of this session."),
            ("writes", "Scripted needs a yes: no rule allows it."),
        ]
    );
    house.session.answer(asks[0].request, Answer::Allow);
    house.session.answer(asks[1].request, Answer::Deny("not now".into()));
    let results = turn.finish().await;
    assert_eq!(results.ended, [Refused, Ok, Ok, Ok, Refused]);
    let told = texts(&results);
    assert_eq!(
        told[0],
        "<tool_use_error>Permission to use Denied has been denied.</tool_use_error>"
    );
    assert_eq!(told[4], "<tool_use_error>not now</tool_use_error>");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_rule_for_a_former_name_counts_and_a_call_by_it_too() {
    let deny = Rules { deny: ["OldScripted"].into(), ..Rules::allow_everything() };
    let house = House::with(|it| it.rules = deny.into()).await;
    let calls = [call("a", json!({})), call_of("OldScripted", "b", json!({}))];
    assert_eq!(house.run(calls).await.ended, [Refused, Refused]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_deny_with_arguments_has_every_call_of_its_tool_asked_about() {
    let deny = Rules { deny: ["Scripted(x)"].into(), ..Rules::allow_everything() };
    let house = House::with(|it| it.rules = deny.into()).await;
    assert_eq!(house.run([call("a", json!({}))]).await.ended, [Refused]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn answers_may_come_in_any_order() {
    let house = strict().await;
    let mut questions = house.session.questions();
    let turn = house.turn(["a", "b", "c"].map(doubtful)).await;
    let asks = asks(&mut questions, 3).await;
    for (at, answer) in [(2, Answer::Allow), (0, Answer::Deny("no".into())), (1, Answer::Allow)] {
        house.session.answer(asks[at].request, answer);
    }
    let results = turn.finish().await;
    assert_eq!(
        (ids(&results), results.ended.clone()),
        (vec!["a", "b", "c"], vec![Refused, Ok, Ok])
    );
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_twice_late_or_for_nobody_is_ignored() {
    let house = strict().await;
    let mut questions = house.session.questions();
    let turn = house.turn(["a", "b"].map(doubtful)).await;
    let asks = asks(&mut questions, 2).await;
    house.session.answer(RequestId(99), Answer::Allow);
    house.session.answer(asks[0].request, Answer::Deny("no".into()));
    house.session.answer(asks[0].request, Answer::Allow);
    turn.stopper().stop(&"b".into());
    assert_eq!(questions.recv().await, Some(Question::Withdrawn(asks[1].request)));
    house.session.answer(asks[1].request, Answer::Allow);
    assert_eq!(turn.finish().await.ended, [Refused, StoppedNotStarted]);
    assert!(starts(&house.close().await).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_no_without_a_reason_says_that_it_is_one() {
    let house = strict().await;
    let mut questions = house.session.questions();
    let turn = house.turn([doubtful("a")]).await;
    let ask = asks(&mut questions, 1).await.remove(0);
    house.session.answer(ask.request, Answer::Deny(" ".into()));
    let results = turn.finish().await;
    let text = results.results[0].content.text();
    assert!(text.contains(&format!("Permission to use {} has been denied", ask.tool)), "{text}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_withdraws_the_question() {
    let house = strict().await;
    let mut questions = house.session.questions();
    let turn = house.turn([doubtful("a")]).await;
    let ask = asked(&mut questions).await;
    turn.stopper().interrupt();
    assert_eq!(questions.recv().await, Some(Question::Withdrawn(ask.request)));
    assert_eq!(turn.finish().await.ended, [StoppedNotStarted]);
    let events = house.close().await;
    let of = |kind: &EventKind| events.iter().filter(|it| it.kind == *kind).count();
    assert_eq!(of(&EventKind::Withdrawn { request: ask.request }), 1);
    assert_eq!(of(&EventKind::Asking { call: 0, request: ask.request }), 1);
}

#[tokio::test(start_paused = true)]
async fn while_nobody_listens_a_call_that_needs_an_answer_is_denied_at_once() {
    let house = strict().await;
    let needs = "<tool_use_error>This use of Asked requires approval, and nobody is there to give \
                 it.</tool_use_error>";
    assert_eq!(texts(&house.run([doubtful("a")]).await), [needs]);
    drop(house.session.questions());
    assert_eq!(texts(&house.run([doubtful("a")]).await), [needs]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_attaches_again_hears_the_open_questions_once() {
    let house = strict().await;
    let mut questions = house.session.questions();
    let turn = house.turn([doubtful("a")]).await;
    let first = asked(&mut questions).await;
    drop(questions);
    let mut questions = house.session.questions();
    let again = asked(&mut questions).await;
    assert_eq!(again, first);
    house.session.answer(again.request, Answer::Allow);
    assert_eq!(turn.finish().await.ended, [Ok]);
    house.close().await;
    assert_eq!(questions.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_attaches_while_a_question_is_on_its_way_hears_it_once() {
    let house = strict().await;
    let turn = house.turn([doubtful("a")]).await;
    let mut questions = house.session.questions();
    let ask = asked(&mut questions).await;
    house.session.answer(ask.request, Answer::Allow);
    assert_eq!(turn.finish().await.ended, [Ok]);
    house.close().await;
    assert_eq!(questions.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_withdraws_what_nobody_has_answered() {
    let house = strict().await;
    let mut questions = house.session.questions();
    let turn = house.turn([doubtful("a")]).await;
    let ask = asked(&mut questions).await;
    let (results, events) = tokio::join!(turn.finish(), house.close());
    assert_eq!(results.ended, [StoppedNotStarted]);
    assert_eq!(questions.recv().await, Some(Question::Withdrawn(ask.request)));
    assert!(starts(&events).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_thousand_questions_are_open_at_once_each_under_its_own_number() {
    let house = strict().await;
    let mut questions = house.session.questions();
    let turn = house.turn((0..1_000).map(|n| doubtful(&n.to_string()))).await;
    let asks = asks(&mut questions, 1_000).await;
    let mut requests: Vec<_> = asks.iter().map(|it| it.request).collect();
    requests.dedup();
    assert_eq!(requests.len(), 1_000);
    for (n, request) in requests.into_iter().enumerate().rev() {
        let deny = Answer::Deny(format!("no {n}"));
        house.session.answer(request, if n % 2 == 0 { Answer::Allow } else { deny });
    }
    let results = turn.finish().await;
    for (n, text) in texts(&results).iter().enumerate() {
        let no = format!("<tool_use_error>no {n}</tool_use_error>");
        assert_eq!(*text, if n % 2 == 0 { "ran".to_owned() } else { no });
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn rules_that_change_decide_open_questions_again() {
    for (changed, ended) in [
        (Rules { ask: Names::default(), allow: ["Asked"].into(), ..rules() }, Ok),
        (Rules { deny: ["Asked"].into(), ..rules() }, Refused),
    ] {
        let house = strict().await;
        let mut questions = house.session.questions();
        let turn = house.turn([doubtful("a"), call("b", json!({"writes": true}))]).await;
        let asks = asks(&mut questions, 2).await;
        house.session.set_rules(changed);
        // The other one stays open, under its number.
        assert_eq!(questions.recv().await, Some(Question::Withdrawn(asks[0].request)));
        house.session.answer(asks[1].request, Answer::Allow);
        assert_eq!(turn.finish().await.ended, [ended, Ok]);
        house.close().await;
        assert_eq!(questions.recv().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_another_input_is_checked_like_the_models_own() {
    let house = strict().await;
    let mut questions = house.session.questions();
    for (input, says) in [
        (json!({"say": "changed"}), "changed"),
        (json!({"ms": "x"}), "InputValidationError: Asked failed"),
        (json!({"invalid": "the world says no"}), "the world says no"),
    ] {
        let turn = house.turn([doubtful("a")]).await;
        let ask = asked(&mut questions).await;
        house.session.answer(ask.request, Answer::AllowWith(input));
        let told = texts(&turn.finish().await);
        assert!(told[0].contains(says), "{told:?}");
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_check_of_an_answers_input_that_hangs_can_be_stopped() {
    let mut house = strict().await;
    let mut questions = house.session.questions();
    let turn = house.turn([doubtful("a")]).await;
    let ask = asked(&mut questions).await;
    house.until(|it| matches!(it, EventKind::Asking { .. })).await;
    house.session.answer(ask.request, Answer::AllowWith(json!({"check_ms": 50_000})));
    let (stopper, began) = (turn.stopper(), tokio::time::Instant::now());
    let stopping = async {
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        stopper.interrupt();
    };
    let (results, ()) = tokio::join!(turn.finish(), stopping);
    assert_eq!((results.ended, began.elapsed().as_secs()), (vec![StoppedNotStarted], 1));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_safe_call_that_asks_gives_back_its_width_and_keeps_its_place() {
    let width = std::num::NonZeroU16::MIN;
    let mut house =
        House::with_tools(tools(), |it| (it.rules, it.width) = (rules().into(), width)).await;
    let mut questions = house.session.questions();
    let turn = house
        .turn([
            doubtful("asks"),
            call("passes", json!({})),
            call("alone", json!({"alone": true})),
            call("behind", json!({})),
        ])
        .await;
    let ask = asked(&mut questions).await;
    // The one beside it runs and finishes; what must be alone waits for the answer.
    house.until(|it| matches!(it, EventKind::Stored { call: 1, .. })).await;
    house.session.answer(ask.request, Answer::Allow);
    assert_eq!(turn.finish().await.ended, [Ok; 4]);
    assert_eq!(starts(&house.close().await), [1, 0, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn an_unsafe_call_that_asks_holds_the_line() {
    let mut house = strict().await;
    let mut questions = house.session.questions();
    let alone = call_of("Asked", "asks", json!({"alone": true}));
    let turn = house.turn([call("before", json!({})), alone, call("behind", json!({}))]).await;
    let ask = asked(&mut questions).await;
    house.until(|it| matches!(it, EventKind::Asking { .. })).await;
    tokio::time::advance(std::time::Duration::from_secs(3_600)).await;
    house.session.answer(ask.request, Answer::Allow);
    assert_eq!(turn.finish().await.ended, [Ok; 3]);
    assert_eq!(starts(&house.close().await), [0, 1, 2]);
}

/// Interrupts the turn after so long, and after so many others have run at that instant.
async fn interrupt(stopper: toolwright::Stopper, after: Duration, yields: u32) {
    tokio::time::timeout(after, std::future::pending::<()>()).await.ok();
    for _ in 0..yields {
        step_aside().await;
    }
    stopper.interrupt();
}

#[tokio::test(start_paused = true)]
async fn a_stop_at_any_step_of_the_way_to_a_question_leaves_none_open() {
    let check = Duration::from_millis(10);
    for (first, yields) in (0..160).map(|n| (n % 2 == 0, n / 2)) {
        // Where a call that is stopped is overdue at once, its question may still be on its way.
        let grace = Duration::from_secs(if yields < 40 { 5 } else { 0 });
        let house =
            House::with_tools(tools(), |it| (it.rules, it.grace) = (rules().into(), grace)).await;
        let mut questions = house.session.questions();
        let mut stopping = tokio::task::JoinSet::new();
        let mut turn = house.session.turn().await.unwrap();
        let interrupting = interrupt(turn.stopper(), check, yields % 40);
        if first {
            stopping.spawn(interrupting);
            tokio::task::yield_now().await;
            turn.submit(call_of("Asked", "a", json!({"check_ms": 10}))).await.unwrap();
        } else {
            turn.submit(call_of("Asked", "a", json!({"check_ms": 10}))).await.unwrap();
            while house.session.tasks() == 0 {
                tokio::task::yield_now().await;
            }
            tokio::task::yield_now().await;
            stopping.spawn(interrupting);
        }
        let began = tokio::time::Instant::now();
        assert_eq!(turn.finish().await.ended, [StoppedNotStarted]);
        assert!(began.elapsed() < Duration::from_secs(1), "it was overdue");
        let heard = std::iter::from_fn(|| questions.try_recv().ok()).count();
        assert!(heard.is_multiple_of(2), "a question stays open");
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_needs_a_person_is_asked_about_whatever_allows_it() {
    let house = House::open().await;
    let results = house.run([call("a", json!({"person": true}))]).await;
    assert!(texts(&results)[0].contains("requires approval"), "{:?}", texts(&results));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_says_what_the_call_does_and_amounts_to() {
    let house = House::open().await;
    let mut questions = house.session.questions();
    let turn = house.turn([call("a", json!({"person": true}))]).await;
    let answering = async {
        let ask = asked(&mut questions).await;
        house.session.answer(ask.request, Answer::Allow);
        (ask.description, ask.conduct.needs_user, ask.conduct.for_classifier)
    };
    let (_, told) = tokio::join!(turn.finish(), answering);
    assert_eq!(told, ("Does what its input says.".to_owned(), true, Some("run".to_owned())));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_tool_says_of_its_own_call_is_heard() {
    let house = House::with(|it| it.rules = Rules::default().into()).await;
    let of = |id: &str, more: Value| {
        let mut script = json!({"writes": true});
        script.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(id, script)
    };
    let results = house
        .run([
            of("a", json!({"permission": "allow"})),
            of("b", json!({"permission": "never"})),
            of("c", json!({"permission": "it is late"})),
            of("d", json!({"permission": "allow", "panic_in": "permission"})),
        ])
        .await;
    assert_eq!(results.ended, [Ok, Refused, Refused, Refused]);
    assert_eq!(texts(&results)[1], "<tool_use_error>never</tool_use_error>");
    assert!(texts(&results)[2..].iter().all(|it| it.contains("requires approval")));
    house.close().await;
}
