//! Schemas from elsewhere: what is taken, what is refused, and what is never looked up.

use serde_json::{Value, json};
use toolwright_contract::{
    AnyTool, BadSchema, Card, Output, Registry, RunCx, Screening, Tool, ToolError, ToolUse,
};

struct Outside;

impl Tool for Outside {
    type Input = Value;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Outside", "Comes from elsewhere.")
    }
    async fn run(&self, input: Value, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(input.to_string().into())
    }
}

fn outside(schema: Value) -> Result<AnyTool, BadSchema> {
    AnyTool::with_schema(Outside, schema)
}

fn published(schema: Value) -> Value {
    outside(schema).unwrap().schema().cloned().unwrap()
}

fn told(schema: Value, input: Value) -> String {
    let tools = Registry::new([outside(schema).unwrap()]).unwrap();
    match ToolUse::new("c0", "Outside", input).screen(&tools) {
        Screening::Passed(_) => String::new(),
        Screening::Failed(_, text) => text,
    }
}

#[test]
fn inputs_are_held_against_it_as_it_stands() {
    let schema = json!({
        "type": "object",
        "properties": {"owner": {"type": "string"}, "page": {"type": "integer", "minimum": 1}},
        "required": ["owner"],
    });
    for input in [
        json!({"owner": "a"}),
        json!({"owner": "a", "page": "2"}),
        json!({"owner": "a", "whatever": [1]}),
    ] {
        assert_eq!(told(schema.clone(), input), "");
    }
    insta::assert_snapshot!(told(schema, json!({"page": 0})), @"
    <tool_use_error>InputValidationError: Outside failed due to the following issues:
    The required parameter `owner` is missing
    The parameter `page` value is expected as at least `1` but provided as `0`</tool_use_error>
    ");
}

#[test]
fn it_is_published_without_its_dialect_and_with_an_object_as_root() {
    let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {}});
    assert_eq!(published(schema), json!({"type": "object", "properties": {}}));
    assert_eq!(published(json!({"type": ["object", "null"]})), json!({"type": "object"}));
}

#[test]
fn alternatives_at_the_root_become_one_object_with_what_all_of_them_need() {
    let either = json!({
        "type": "object",
        "properties": {"repo": {"type": "string"}},
        "required": ["repo"],
        "oneOf": [
            {"properties": {"kind": {"const": "id"}, "id": {"type": "integer"}}, "required": ["kind", "id"]},
            {"properties": {"kind": {"const": "name"}, "name": {"type": "string"}}, "required": ["kind"]},
        ],
    });
    assert_eq!(
        published(either.clone()),
        json!({
            "type": "object",
            "properties": {
                "repo": {"type": "string"},
                "kind": {"enum": ["id", "name"]},
                "id": {"type": "integer"},
                "name": {"type": "string"},
            },
            "required": ["repo", "kind"],
        })
    );
    insta::assert_snapshot!(told(either, json!({"repo": "r", "kind": "id"})), @"
    <tool_use_error>InputValidationError: Outside failed due to the following issue:
    The required parameter `id` is missing</tool_use_error>
    ");
    let both = json!({
        "allOf": [
            {"$ref": "#/$defs/a"},
            {"properties": {"b": {"type": "string"}}, "required": ["b"]},
        ],
        "$defs": {"a": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}},
    });
    let flat = published(both);
    assert_eq!(flat["required"], json!(["a", "b"]));
    assert_eq!(flat["properties"], json!({"a": {"type": "string"}, "b": {"type": "string"}}));
}

#[test]
fn needs_without_fields_at_the_root_are_kept_for_inputs_and_not_shown() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    });
    assert_eq!(published(schema.clone()).get("anyOf"), None);
    assert_eq!(told(schema.clone(), json!({"b": "x"})), "");
    insta::assert_snapshot!(told(schema, json!({})), @"
    <tool_use_error>InputValidationError: Outside failed due to the following issue:
    The required parameter `a` or `b` is missing</tool_use_error>
    ");
}

#[test]
fn what_can_not_be_a_schema_of_inputs_is_refused_when_the_tool_is_made() {
    let chain = |n: usize| {
        let link = |at: usize| (format!("d{at}"), json!({"$ref": format!("#/$defs/d{}", at + 1)}));
        let mut defs: serde_json::Map<String, Value> = (0..n).map(link).collect();
        defs.insert(format!("d{n}"), json!({"type": "string"}));
        json!({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})
    };
    assert!(outside(chain(10)).is_ok());
    let wide = |below: &str| json!({"anyOf": vec![json!({"$ref": below}); 20]});
    let bush = json!({
        "properties": {"a": wide("#/$defs/b")},
        "$defs": {"b": wide("#/$defs/c"), "c": wide("#/$defs/d"), "d": wide("#/$defs/e"), "e": {}},
    });
    let told: Vec<_> = [
        json!(true),
        json!([]),
        json!({"type": "array"}),
        json!({"anyOf": [{"type": "string"}, {"type": "array"}]}),
        json!({"type": "object", "properties": {"a": {"type": "nonsense"}}}),
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "https://schemas.example/a"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/hostname"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}),
        json!({"$schema": "https://schemas.example/own", "type": "object"}),
        json!({"type": "object", "allOf": [{"$ref": "#"}]}),
        chain(20_000),
        bush,
        json!({"type": "object", "description": "x".repeat(1 << 20)}),
    ]
    .into_iter()
    .map(|it| outside(it).err().map_or_else(|| "taken".to_owned(), |it| it.to_string()))
    .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    its root isn't an object; wrap the input in a struct, or say `"type": "object"`
    its root isn't an object; wrap the input in a struct, or say `"type": "object"`
    its root isn't an object; wrap the input in a struct, or say `"type": "object"`
    its root isn't an object; wrap the input in a struct, or say `"type": "object"`
    it is no usable JSON Schema ("nonsense" is not valid under any of the schemas listed in the 'anyOf' keyword); correct it, and put what it refers to in `$defs`
    it is no usable JSON Schema ("(" is not a "regex"); correct it, and put what it refers to in `$defs`
    it is no usable JSON Schema (`https://schemas.example/a` leads nowhere within it); correct it, and put what it refers to in `$defs`
    it is no usable JSON Schema (`file:///etc/hostname` leads nowhere within it); correct it, and put what it refers to in `$defs`
    it is no usable JSON Schema (`#/$defs/gone` leads nowhere within it); correct it, and put what it refers to in `$defs`
    it is no usable JSON Schema (Unknown meta-schema: 'https://schemas.example/own'. Custom meta-schemas must be registered in the registry before use); correct it, and put what it refers to in `$defs`
    it is no usable JSON Schema (more than 16 schemas follow one another at one place); correct it, and put what it refers to in `$defs`
    it is no usable JSON Schema (more than 16 schemas follow one another at one place); correct it, and put what it refers to in `$defs`
    it is no usable JSON Schema (following it takes more than 100000 steps); correct it, and put what it refers to in `$defs`
    it has 1048610 bytes, more than 1048576; shorten it
    "#);
}

#[test]
fn a_pattern_that_takes_forever_is_a_misfit() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "^(?=(a+)+$)(a+)+b$"}},
    });
    let text = told(schema, json!({"a": "a".repeat(40) + "!"}));
    assert!(text.contains("The parameter `a`"), "{text}");
}

#[test]
fn what_no_input_or_no_value_can_fit_is_told_all_the_same() {
    let told: Vec<_> = [
        (json!({"type": "object", "minProperties": 2}), json!({"a": 1})),
        (json!({"type": "object", "not": {}}), json!({})),
        (json!({"type": "object", "properties": {"a": {"enum": []}}}), json!({"a": 1})),
    ]
    .into_iter()
    .map(|(schema, input)| told(schema, input).lines().skip(1).collect::<String>())
    .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    The input value is expected as at least `2` fields but provided as `1`</tool_use_error>
    The input is not accepted: {} is not allowed for {}</tool_use_error>
    The parameter `a` value is expected as absent but provided as `1`</tool_use_error>
    ");
}

#[test]
fn a_number_as_text_is_one_where_all_parts_of_a_schema_leave_no_choice() {
    let page = || json!({"properties": {"page": {"type": "integer"}}, "required": ["page"]});
    for composed in [
        json!({"type": "object", "allOf": [page(), {"type": "object"}]}),
        json!({"type": "object", "anyOf": [{"$ref": "#/$defs/p"}], "$defs": {"p": page()}}),
        json!({"type": "object", "required": ["page"], "$ref": "#/$defs/p", "$defs": {"p": page()}}),
    ] {
        assert_eq!(told(composed.clone(), json!({"page": "2"})), "", "{composed}");
        assert_ne!(told(composed, json!({"page": "two"})), "");
    }
    let chosen =
        json!({"type": "object", "anyOf": [page(), {"type": "object", "required": ["page"]}]});
    assert_eq!(told(chosen, json!({"page": "two"})), "");
}

#[test]
fn a_number_as_text_stays_text_where_the_schema_leaves_a_choice() {
    let passed = |schema: Value, input: Value| {
        let tools = Registry::new([outside(schema).unwrap()]).unwrap();
        matches!(ToolUse::new("c0", "Outside", input).screen(&tools), Screening::Passed(_))
    };
    let any = json!({"type": "object", "properties": {
        "a": {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 1}]},
        "b": {"type": "integer"},
    }});
    // The text is too long, and isn't made a number behind the model's back.
    assert!(!passed(any.clone(), json!({"a": "5000", "b": 1})));
    assert!(passed(any.clone(), json!({"a": "5", "b": "1"})));
    assert!(passed(any, json!({"a": 5000, "b": "1"})));
}
