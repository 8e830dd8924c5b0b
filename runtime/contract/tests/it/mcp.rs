//! Tools of MCP servers: names, metadata of tools, and metadata of results.

use serde_json::{Value, json};
use toolwright_contract::{
    AnyTool, Card, Loading, MOST_RESULT_CHARS, Origin, Outcome, Output, Permit, Registry,
    ResultLimit, RunCx, Screening, Tool, ToolError, ToolUse, mcp_name,
};

#[test]
fn a_servers_tool_is_named_by_both_and_by_characters_that_a_name_may_have() {
    for (server, tool, name) in [
        ("github", "get_issue", "mcp__github__get_issue"),
        ("my server", "look.up/all", "mcp__my_server__look_up_all"),
        ("größe", "messen", "mcp__gr__e__messen"),
    ] {
        assert_eq!(mcp_name(server, tool), name);
    }
}

#[test]
fn a_card_keeps_its_origin_as_the_server_says_it() {
    let card = Card::of_mcp("my server", "look up", "Looks up.", None);
    let origin = Origin::Mcp { server: "my server".into(), tool: "look up".into() };
    assert_eq!((card.origin.clone(), card.is_deferred(), card.meta.clone()), (origin, true, None));
}

#[test]
fn metadata_says_how_a_tool_is_loaded_found_and_how_long_its_results_are() {
    let card = |meta: &Value| Card::of_mcp("s", "t", "", Some(meta.clone()));
    let meta = json!({
        "anthropic/alwaysLoad": true,
        "anthropic/searchHint": "tickets",
        "anthropic/maxResultSizeChars": 70_000,
        "other": {"kept": 1},
    });
    let told = card(&meta);
    assert_eq!((told.loading, told.is_deferred()), (Loading::Always, false));
    assert_eq!((&*told.search_hint, told.result_limit), ("tickets", ResultLimit::Chars(70_000)));
    assert_eq!(told.meta.as_deref(), Some(&meta));
}

#[test]
fn metadata_of_the_wrong_shape_or_beyond_the_limit_changes_little() {
    let odd = json!({
        "anthropic/alwaysLoad": "true",
        "anthropic/searchHint": 5,
        "anthropic/maxResultSizeChars": 9_999_999_999_u64,
    });
    let told = Card::of_mcp("s", "t", "", Some(odd));
    assert_eq!((told.loading, &*told.search_hint), (Loading::Usual, ""));
    assert_eq!(told.result_limit, ResultLimit::Chars(MOST_RESULT_CHARS));
    let none = Card::of_mcp("s", "t", "", Some(json!([1])));
    assert_eq!(none.result_limit, ResultLimit::default());
}

struct Remote;

impl Tool for Remote {
    type Input = Value;
    type Output = String;

    fn card(&self) -> Card {
        Card::of_mcp("s", "t", "Is remote.", None)
    }
    async fn run(&self, _: Value, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(Output::from("two".to_owned()).structured(json!({"n": 2})).meta(json!({"took": 5})))
    }
}

#[tokio::test]
async fn metadata_of_a_result_reaches_its_outcome_beside_the_structured_content() {
    let tools = Registry::new([AnyTool::new(Remote)]).unwrap();
    let outcome: Outcome = match ToolUse::new("c0", "mcp__s__t", json!({})).screen(&tools) {
        Screening::Passed(it) => it.clear(Permit::granted()).run(RunCx::detached("c0")).await,
        Screening::Failed(_, text) => panic!("{text}"),
    };
    assert_eq!(
        (outcome.structured, outcome.meta),
        (Some(json!({"n": 2})), Some(json!({"took": 5})))
    );
}
