//! The registry: names, aliases and order.

use toolwright_contract::{AnyTool, Card, Output, Registry, RunCx, Tool, ToolError, tool};

struct Named(&'static str, &'static [&'static str]);

impl Tool for Named {
    type Input = serde_json::Value;
    type Output = String;

    fn card(&self) -> Card {
        self.1.iter().fold(Card::new(self.0, "A name."), |card, it| card.alias(*it))
    }
    async fn run(&self, _: Self::Input, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(String::new().into())
    }
}

fn registry(tools: Vec<Named>) -> Result<Registry, String> {
    Registry::new(tools.into_iter().map(AnyTool::new)).map_err(|it| it.to_string())
}

#[test]
fn a_tool_answers_to_its_name_and_its_former_names() {
    let tools = registry(vec![Named("Agent", &["Task", "Sub"]), Named("Read", &[])]).unwrap();
    let found = |name| tools.get(name).map(|it| it.card().name.to_string());
    for (asked, answers) in [
        ("Agent", Some("Agent")),
        ("Task", Some("Agent")),
        ("Sub", Some("Agent")),
        ("Read", Some("Read")),
        ("read", None),
        ("Read ", None),
        ("", None),
    ] {
        assert_eq!(found(asked).as_deref(), answers, "{asked:?}");
    }
}

#[test]
fn tools_keep_their_order_and_aliases_are_not_listed() {
    let tools = registry(vec![Named("Write", &["Put"]), Named("Agent", &[])]).unwrap();
    let names: Vec<_> = tools.iter().map(|it| it.card().name.to_string()).collect();
    assert_eq!(names, ["Write", "Agent"]);
}

#[test]
fn two_tools_of_one_name_are_refused() {
    let taken = |name| {
        Err(format!("two tools answer to the name `{name}`: rename one of them or drop its alias"))
    };
    for (tools, expected) in [
        (vec![Named("Read", &[]), Named("Read", &[])], taken("Read")),
        (vec![Named("Agent", &["Task"]), Named("Task", &[])], taken("Task")),
        (vec![Named("A", &["C"]), Named("B", &["C"])], taken("C")),
        (vec![Named("A", &["A"])], taken("A")),
    ] {
        assert_eq!(registry(tools).map(drop), expected);
    }
}

#[test]
fn a_tool_that_can_not_be_published_is_refused_with_the_remedy() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its shape counts")]
    struct Hidden {
        #[serde(default)]
        #[schemars(skip)]
        secret: String,
    }
    let hides = || tool("Hides", "").run(async |_: Hidden, _| Ok(""));
    let dotted = || AnyTool::new(Named("my.tool", &[]));
    let refused = |it: AnyTool| Registry::new([it]).unwrap_err().to_string();
    insta::assert_snapshot!([refused(hides()), refused(dotted())].join("\n"), @"
    the input of the tool `Hides` takes a field `secret` that its schema doesn't show; mark it `#[serde(skip)]`, or show it
    `my.tool` can't name a tool: use 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`
    ");
    assert!(Registry::unpublished([hides(), dotted()]).is_ok());
}
