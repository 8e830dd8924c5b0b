//! The registry: names, aliases and order.

use toolwright_contract::{AnyTool, Card, Output, Registry, RunCx, Tool, ToolError};

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
