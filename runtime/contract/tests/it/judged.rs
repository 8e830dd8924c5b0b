//! What a call amounts to, for those who judge it: conduct, words, rules, and equal inputs.

use serde_json::{Value, json};
use toolwright_contract::{
    AnyTool, Card, Conduct, Look, Output, Registry, RunCx, Screened, Screening, Tool, ToolError,
    ToolUse,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Wish {
    path: String,
    #[serde(default)]
    panics: bool,
}

impl Wish {
    fn asked(&self) -> &Self {
        assert!(!self.panics, "it panics");
        self
    }
}

struct Delete;

impl Tool for Delete {
    type Input = Wish;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Delete", "Deletes a file.")
    }
    fn conduct(&self, it: &Wish) -> Conduct {
        let path = it.asked().path.clone();
        Conduct {
            destructive: true,
            for_classifier: Some(format!("delete {path}")),
            paths: vec![path.into()],
            ..Conduct::default()
        }
    }
    fn describe(&self, it: &Wish) -> std::borrow::Cow<'static, str> {
        format!("Deletes {}.", it.asked().path).into()
    }
    fn matches(&self, it: &Wish, specifier: &str) -> bool {
        it.asked().path.starts_with(specifier)
    }
    fn is_same(&self, one: &Wish, other: &Wish) -> bool {
        one.asked().path.trim_end_matches('/') == other.path.trim_end_matches('/')
    }
    async fn run(&self, _: Wish, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(String::new().into())
    }
}

/// A tool that says nothing beyond its name.
struct Silent;

impl Tool for Silent {
    type Input = Value;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Silent", "Is silent.")
    }
    async fn run(&self, _: Value, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(String::new().into())
    }
}

fn screened(tool: &str, input: Value) -> Screened {
    let tools = Registry::new([AnyTool::new(Delete), AnyTool::new(Silent)]).unwrap();
    match ToolUse::new("c0", tool, input).screen(&tools) {
        Screening::Passed(it) => *it,
        Screening::Failed(_, text) => panic!("{text}"),
    }
}

#[test]
fn a_tool_says_of_each_input_what_it_amounts_to() {
    let call = screened("Delete", json!({"path": "/a/b"}));
    assert_eq!(
        call.conduct(),
        Conduct {
            destructive: true,
            open_world: false,
            needs_user: false,
            look: Look::None,
            paths: vec!["/a/b".into()],
            for_classifier: Some("delete /a/b".into()),
        }
    );
    assert_eq!(call.describe(), "Deletes /a/b.");
    assert!(call.matches("/a") && !call.matches("/b"));
}

#[test]
fn two_inputs_are_the_same_if_their_tool_says_so() {
    let of = |path: &str| screened("Delete", json!({"path": path}));
    assert!(of("/a/b").is_same(&of("/a/b/")) && !of("/a/b").is_same(&of("/a/c")));
    assert!(!of("/a/b").is_same(&screened("Silent", json!({"path": "/a/b"}))));
}

#[test]
fn a_tool_that_says_nothing_claims_nothing_and_matches_no_rule() {
    let call = screened("Silent", json!({}));
    assert_eq!((call.conduct(), &*call.describe()), (Conduct::default(), "Is silent."));
    assert!(!call.matches("") && !call.is_same(&screened("Silent", json!({}))));
}

#[test]
fn a_tool_that_panics_is_taken_to_need_a_person_and_to_match_nothing() {
    let call = screened("Delete", json!({"path": "/a", "panics": true}));
    let conduct = call.conduct();
    assert!(conduct.destructive && conduct.needs_user);
    assert_eq!(call.describe(), "");
    assert!(!call.matches("/a") && !call.is_same(&screened("Delete", json!({"path": "/a"}))));
}
