//! Published schemas: what the model and the API get to see of a type.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_contract::{
    ACCEPTED_NAME_CHARS, AnyTool, BadSchema, Card, EMITTED_NAME_CHARS, Output, RunCx, Tool,
    ToolError, Unpublishable, check_name, schema_of, tool,
};

#[expect(dead_code, reason = "only its shape counts")]
#[derive(Deserialize, JsonSchema)]
struct Shape {
    /// Where to look.
    path: String,
    #[serde(default)]
    limit: Option<u64>,
    #[serde(default)]
    sort: Option<Order>,
    inner: Inner,
    #[serde(skip)]
    internal: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    Up,
    Down,
}

#[expect(dead_code, reason = "only its shape counts")]
#[derive(Deserialize, JsonSchema)]
struct Inner {
    ratio: f32,
    any: Value,
}

fn of<I: serde::de::DeserializeOwned + JsonSchema + Send + Sync + 'static>() -> AnyTool {
    tool("Shape", "Has a shape.").run(async |_: I, _| Ok(""))
}

#[test]
fn a_schema_shows_fields_and_nothing_of_rust() {
    let tool = of::<Shape>();
    insta::assert_snapshot!(serde_json::to_string_pretty(tool.schema().unwrap()).unwrap(), @r#"
    {
      "additionalProperties": false,
      "properties": {
        "inner": {
          "additionalProperties": false,
          "properties": {
            "any": true,
            "ratio": {
              "type": "number"
            }
          },
          "required": [
            "ratio",
            "any"
          ],
          "type": "object"
        },
        "limit": {
          "minimum": 0,
          "type": "integer"
        },
        "path": {
          "description": "Where to look.",
          "type": "string"
        },
        "sort": {
          "enum": [
            "up",
            "down"
          ],
          "type": "string"
        }
      },
      "required": [
        "path",
        "inner"
      ],
      "type": "object"
    }
    "#);
    assert_eq!(tool.check(), Ok(()));
}

#[test]
fn a_schema_has_the_same_bytes_each_time_and_from_each_copy_of_the_tool() {
    let tool = of::<Shape>();
    let bytes = |it: &AnyTool| serde_json::to_string(it.schema().unwrap()).unwrap();
    let first = bytes(&tool);
    assert!(std::ptr::eq(tool.schema().unwrap(), tool.clone().schema().unwrap()));
    assert_eq!(
        [bytes(&tool), bytes(&tool.clone()), bytes(&of::<Shape>())],
        [(); 3].map(|()| first.clone())
    );
}

#[expect(dead_code, reason = "only its shape counts")]
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
enum Choice {
    Open { path: String, line: u64 },
    Close { path: String },
}

#[test]
fn alternatives_at_the_root_are_shown_as_one_object_and_still_told_apart() {
    let tool = of::<Choice>();
    insta::assert_snapshot!(serde_json::to_string(tool.schema().unwrap()).unwrap(), @r#"
    {"additionalProperties":false,"properties":{"action":{"enum":["open","close"],"type":"string"},"line":{"minimum":0,"type":"integer"},"path":{"type":"string"}},"required":["action","path"],"type":"object"}
    "#);
    assert_eq!(tool.check(), Ok(()));
}

#[expect(dead_code, reason = "only its shape counts")]
#[derive(Deserialize, JsonSchema)]
struct Tree {
    #[serde(default)]
    children: Vec<Tree>,
}

#[test]
fn a_type_that_holds_itself_is_shown_by_reference_within_the_schema() {
    let items = json!({"type": "array", "items": {"$ref": "#"}});
    assert_eq!(
        of::<Tree>().schema(),
        Ok(&json!({
            "type": "object",
            "properties": {"children": items},
            "additionalProperties": false,
        }))
    );
}

#[test]
fn any_json_is_shown_as_any_object() {
    let schema = of::<Value>().schema().cloned().unwrap();
    assert_eq!(schema, json!({"type": "object", "additionalProperties": true}));
}

#[test]
fn a_type_that_is_no_object_can_not_be_an_input() {
    for tool in [of::<String>(), of::<Vec<String>>(), of::<Order>()] {
        assert_eq!(tool.schema(), Err(&BadSchema::RootNotObject));
        let message = tool.check().unwrap_err().to_string();
        assert!(message.contains("wrap the input in a struct"), "{message}");
    }
}

#[expect(dead_code, reason = "only its shape counts")]
#[derive(Deserialize, JsonSchema)]
struct HalfHidden {
    shown: String,
    #[serde(default)]
    #[schemars(skip)]
    simulated: bool,
}

#[test]
fn a_field_that_is_only_hidden_from_the_schema_is_found() {
    let hidden = Unpublishable::HiddenField { tool: "Shape".into(), field: "simulated".into() };
    assert_eq!(of::<HalfHidden>().check(), Err(hidden));
}

#[test]
fn a_name_is_what_the_api_takes() {
    let longest = "n".repeat(64);
    for good in ["a", "Read", "mcp__server__tool-2", &longest] {
        assert_eq!(check_name(good, EMITTED_NAME_CHARS), Ok(()));
    }
    let too_long = "n".repeat(65);
    for bad in ["", "a b", "a.b", "a/b", "ä", "a\n", &too_long] {
        assert!(check_name(bad, EMITTED_NAME_CHARS).is_err(), "{bad:?}");
    }
    assert_eq!(check_name(&"n".repeat(128), ACCEPTED_NAME_CHARS), Ok(()));
    assert!(check_name(&"n".repeat(129), ACCEPTED_NAME_CHARS).is_err());
}

#[test]
fn a_tool_is_checked_by_its_name_and_its_former_names() {
    let named = |name: &'static str, alias: &'static str| {
        tool(name, "").card(|it| it.alias(alias)).run(async |_: Shape, _| Ok(""))
    };
    assert_eq!(named("a", "b").check(), Ok(()));
    for bad in [named("a b", "c"), named("a", "b.c")] {
        assert!(matches!(bad.check(), Err(Unpublishable::Name(_))));
    }
}

struct Counting;

#[derive(serde::Serialize, JsonSchema)]
struct Counted {
    lines: u32,
}

impl From<Counted> for toolwright_contract::Content {
    fn from(it: Counted) -> Self {
        it.lines.to_string().into()
    }
}

impl Tool for Counting {
    type Input = Value;
    type Output = Counted;

    fn card(&self) -> Card {
        Card::new("Counting", "Counts.")
    }
    fn output_schema(&self) -> Option<Value> {
        Some(schema_of::<Counted>())
    }
    async fn run(&self, _: Value, _: RunCx) -> Result<Output<Counted>, ToolError> {
        Ok(Counted { lines: 1 }.into())
    }
}

#[test]
fn a_tool_may_show_the_schema_of_its_output() {
    assert_eq!(
        AnyTool::new(Counting).output_schema(),
        Some(&json!({
            "type": "object",
            "properties": {"lines": {"type": "integer", "minimum": 0}},
            "required": ["lines"],
        }))
    );
    assert_eq!(of::<Shape>().output_schema(), None);
}

struct Promising(Value);

impl Tool for Promising {
    type Input = Value;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Promising", "Promises.")
    }
    fn output_schema(&self) -> Option<Value> {
        Some(self.0.clone())
    }
    async fn run(&self, _: Value, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(String::new().into())
    }
}

#[test]
fn an_output_schema_that_is_none_is_found() {
    let check = |schema| AnyTool::new(Promising(schema)).check();
    assert_eq!(check(json!({"type": "array"})), Ok(()));
    for bad in [json!({"type": "text"}), json!({"$ref": "https://elsewhere.invalid/a.json"})] {
        let found = check(bad);
        assert!(matches!(found, Err(Unpublishable::OutputSchema { .. })), "{found:?}");
    }
}
