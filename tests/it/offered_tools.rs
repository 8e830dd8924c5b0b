//! Which tools a session offers, and which a turn has: those on offer when it was opened.

use harness::{House, Scripted, call, texts};
use serde_json::json;
use toolwright::{AnyTool, Registry, Rules, SIMPLE_TOOLS, built_in_tools};
use toolwright_contract::{Gates, Pool};

fn names(tools: &[AnyTool]) -> Vec<&str> {
    tools.iter().map(|it| &*it.card().name).collect()
}

#[tokio::test(start_paused = true)]
async fn a_turn_keeps_the_tools_that_it_was_opened_with() {
    let house = House::open().await;
    let mut before = house.session.turn().await.unwrap();
    house.session.set_tools(Registry::default());
    before.submit(call("a", json!({}))).await.unwrap();
    assert_eq!(texts(&before.finish().await), ["ran"]);

    let gone = house.run([call("b", json!({}))]).await;
    assert!(texts(&gone)[0].contains("No such tool available: Scripted"), "{:?}", texts(&gone));

    house.session.set_tools(Registry::new([AnyTool::new(Scripted::new())]).unwrap());
    assert_eq!(texts(&house.run([call("c", json!({}))]).await), ["ran"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_finds_for_calls_of_its_own_the_tools_that_its_turn_has() {
    let house = House::open().await;
    let mut turn = house.session.turn().await.unwrap();
    house.session.set_tools(Registry::default());
    turn.submit(call("a", json!({"nested": [{"nested": [{"say": "b"}]}]}))).await.unwrap();
    assert_eq!(texts(&turn.finish().await), ["b"]);
    house.close().await;
}

#[test]
fn the_simple_mode_is_a_small_part_of_all_tools() {
    let gates = Gates { only: Some(SIMPLE_TOOLS.map(str::to_owned).into()), ..Gates::default() };
    let pool = Pool::assemble(built_in_tools(), &gates, |_| false);
    let simple: Vec<_> = pool.registry.iter().map(|it| &*it.card().name).collect();
    let expected = if cfg!(unix) { &["Bash", "Edit", "Read"][..] } else { &["Edit", "Read"] };
    assert_eq!(simple, expected);
}

#[test]
fn built_in_tools_are_listed_by_name_and_each_can_be_published() {
    let pool = Pool::assemble(built_in_tools(), &Gates::default(), |_| false);
    assert_eq!(pool.left_out, []);
    let offered: Vec<_> = pool.registry.iter().map(|it| it.card().name.to_string()).collect();
    assert_eq!(offered, names(&built_in_tools()));
}

#[test]
fn a_tool_that_a_rule_denies_as_a_whole_is_not_offered() {
    let rules = Rules { deny: ["Write", "Former", "Read(/etc/**)"].into(), ..Rules::default() };
    let old = AnyTool::new(Scripted::new().alias("Former"));
    let tools = built_in_tools().into_iter().chain([old]);
    let pool = Pool::assemble(tools, &Gates::default(), |card| rules.removes(card));
    let offered = |name: &str| pool.registry.get(name).is_some();
    assert!(!offered("Write") && !offered("Scripted") && offered("Read") && offered("Edit"));
}
