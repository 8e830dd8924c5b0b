//! Contexts outside a session, as the tests of a tool use them, and the state of the program.

use serde_json::json;
use toolwright_contract::{AppState, RunCx, ToolError, ToolUse};

#[derive(Debug, PartialEq)]
struct Database(&'static str);

#[test]
fn a_value_is_found_by_its_type_and_replaces_one_of_the_same() {
    let state = AppState::default().with(Database("old")).with(7_u8).with(Database("new"));
    assert_eq!(state.get(), Some(&Database("new")));
    assert_eq!(state.get(), Some(&7_u8));
    assert_eq!(state.get::<u16>(), None);
    assert_eq!(state.share::<Database>().as_deref(), Some(&Database("new")));
}

#[test]
fn a_copy_that_gets_more_leaves_the_first_as_it_was() {
    let first = AppState::default().with(1_u8);
    let second = first.clone().with(2_u8).with("more");
    assert_eq!((first.get::<u8>(), first.get::<&str>()), (Some(&1), None));
    assert_eq!((second.get::<u8>(), second.get::<&str>()), (Some(&2), Some(&"more")));
}

#[test]
fn what_is_missing_and_needed_fails_the_call_in_words() {
    let missing = AppState::default().need::<u8>().err();
    insta::assert_snapshot!(missing.unwrap(), @"The program around this session has not given its tools a u8, so this one can't work: tell the user.");
    assert_eq!(AppState::default().with(1_u8).need(), Ok::<_, ToolError>(&1_u8));
}

#[test]
fn no_value_is_shown_with_the_state() {
    let state = AppState::default().with("secret".to_owned()).with(1_u8);
    assert_eq!(format!("{state:?}"), r#"AppState(["alloc::string::String", "u8"])"#);
}

#[tokio::test]
async fn nested_calls_outside_a_session_are_answered_with_an_error() {
    let cx = RunCx::detached("c0");
    cx.progress("unheard");
    cx.notify("unheard");
    let results = cx.run_nested(vec![ToolUse::new("c1", "Read", json!({}))]).await;
    assert_eq!((results[0].id.as_str(), results[0].is_error), ("c1", true));
    assert!(!cx.stop.is_told() && cx.tools.iter().next().is_none());
}
