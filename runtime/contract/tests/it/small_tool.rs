//! Small tools: what a tool made of a function may leave out, and what it may say.

use serde_json::json;
use toolwright_contract::{
    AnyTool, CheckCx, InvalidInput, Registry, Safety, Screened, Screening, ToolUse, tool,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Said {
    text: String,
}

fn screened(tool: AnyTool, text: &str) -> Screened {
    let name = tool.card().name.to_string();
    let tools = Registry::new([tool]).unwrap();
    match ToolUse::new("c0", name, json!({"text": text})).screen(&tools) {
        Screening::Passed(it) => *it,
        Screening::Failed(_, text) => panic!("{text}"),
    }
}

#[test]
fn a_small_tool_that_says_nothing_of_its_safety_fails_closed() {
    let echo = tool("Echo", "Says it back.").run(async |it: Said, _| Ok(it.text));
    assert_eq!(screened(echo, "a").safety(), Safety::default());
}

#[test]
fn its_safety_is_fixed_or_a_function_of_the_input() {
    let reader = tool("Echo", "").read_only().run(async |it: Said, _| Ok(it.text));
    assert_eq!(screened(reader, "a").safety(), Safety::read_only());
    let judge = |it: &Said| if it.text == "rm" { Safety::default() } else { Safety::read_only() };
    let judged = tool("Echo", "").safety(judge).run(async |it: Said, _| Ok(it.text));
    assert_eq!(screened(judged.clone(), "rm").safety(), Safety::default());
    assert_eq!(screened(judged, "ls").safety(), Safety::read_only());
}

#[tokio::test]
async fn its_check_is_asked_with_the_session() {
    let echo = tool("Echo", "")
        .validate(|it: &Said, cx| {
            if cx.session.values.contains_key(&it.text) {
                Ok(())
            } else {
                Err(InvalidInput("unknown".into()))
            }
        })
        .run(async |it: Said, _| Ok(it.text));
    let refused = screened(echo, "a").validate(&CheckCx::default()).await;
    assert_eq!(refused, Err(InvalidInput("unknown".into())));
}

#[test]
fn its_card_can_say_more() {
    let echo = tool("Echo", "").card(|it| it.alias("Say")).run(async |it: Said, _| Ok(it.text));
    assert!(Registry::new([echo]).unwrap().get("Say").is_some());
}
