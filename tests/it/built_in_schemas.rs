//! The schemas of the built-in tools, and what a model reads whose input doesn't fit one.

use serde_json::{Value, json};
use toolwright::{AnyTool, Registry, ToolUse, built_in_tools};
use toolwright_contract::{Deferral, EMITTED_NAME_CHARS, Screening, ToolList, check_name};

fn schemas() -> Vec<(String, Value)> {
    let schema = |it: &AnyTool| (it.card().name.to_string(), it.schema().unwrap().clone());
    built_in_tools().iter().map(schema).collect()
}

/// The lines of the refusal, `fits` if there is none.
fn screened(tool: &str, input: Value) -> String {
    let tools = Registry::new(built_in_tools()).unwrap();
    match ToolUse::new("c0", tool, input).screen(&tools) {
        Screening::Passed(_) => "fits".to_owned(),
        Screening::Failed(_, text) => text,
    }
}

#[test]
fn every_built_in_tool_can_be_published_and_hides_no_field() {
    for tool in built_in_tools() {
        assert_eq!(tool.check(), Ok(()));
    }
}

#[test]
fn every_schema_is_one_of_draft_2020_12() {
    for (tool, schema) in schemas() {
        if let Err(error) = jsonschema::draft202012::meta::validate(&schema) {
            panic!("{tool}: {error}");
        }
    }
}

#[test]
fn every_schema_keeps_the_restrictions_of_the_api() {
    for (tool, schema) in schemas() {
        assert_eq!(schema["type"], "object", "{tool}");
        for keyword in ["anyOf", "oneOf", "allOf", "$ref", "$schema", "title"] {
            assert!(schema.get(keyword).is_none(), "{tool}: {keyword}");
        }
        assert_eq!(schema["additionalProperties"], false, "{tool}");
        assert!(!schema.to_string().contains("\"uint"), "{tool}: {schema}");
    }
}

#[test]
fn every_output_schema_is_one_of_draft_2020_12() {
    for tool in built_in_tools() {
        if let Some(Err(error)) = tool.output_schema().map(jsonschema::draft202012::meta::validate)
        {
            panic!("{tool:?}: {error}");
        }
    }
}

#[test]
fn every_definition_has_the_fields_that_the_api_knows() {
    let list = ToolList::new(&Registry::new(built_in_tools()).unwrap(), Deferral::Honoured);
    let list = serde_json::to_value(&list).unwrap();
    let mut names = std::collections::BTreeSet::new();
    for definition in list.as_array().unwrap() {
        let known = ["name", "description", "input_schema", "strict", "defer_loading"];
        for field in definition.as_object().unwrap().keys() {
            assert!(known.contains(&field.as_str()), "{field}");
        }
        assert_ne!(definition["description"], "", "a model chooses by it");
        let name = definition["name"].as_str().unwrap();
        assert!(check_name(name, EMITTED_NAME_CHARS).is_ok() && names.insert(name), "{name}");
    }
    assert_eq!(names.len(), built_in_tools().len());
}

#[test]
fn the_schemas_have_the_same_bytes_whenever_they_are_made() {
    assert_eq!(
        serde_json::to_string(&schemas()).unwrap(),
        serde_json::to_string(&schemas()).unwrap()
    );
}

#[test]
fn what_does_not_fit_the_list_of_things_to_do_is_told_in_full() {
    let todo = |status: Value| json!({"content": "Do it", "status": status, "activeForm": "Doing"});
    let told: Vec<_> = [
        json!({"todos": []}),
        json!({"todos": [todo(json!("in_progress"))]}),
        json!({}),
        json!({"todos": "[]"}),
        json!({"todos": [todo(json!("done"))], "merge": true}),
        json!({"todos": [todo(json!(1)), {"content": "Do it", "active_form": "Doing"}]}),
    ]
    .into_iter()
    .map(|it| screened("TodoWrite", it))
    .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    fits
    fits
    <tool_use_error>InputValidationError: TodoWrite failed due to the following issue:
    The required parameter `todos` is missing</tool_use_error>
    <tool_use_error>InputValidationError: TodoWrite failed due to the following issue:
    The parameter `todos` type is expected as `array` but provided as `string`</tool_use_error>
    <tool_use_error>InputValidationError: TodoWrite failed due to the following issues:
    The parameter `todos[0].status` value is expected as `pending` or `in_progress` or `completed` but provided as `done`
    An unexpected parameter `merge` was provided</tool_use_error>
    <tool_use_error>InputValidationError: TodoWrite failed due to the following issues:
    The required parameter `todos[1].status` is missing
    The required parameter `todos[1].activeForm` is missing
    The parameter `todos[0].status` type is expected as `string` but provided as `number`
    An unexpected parameter `todos[1].active_form` was provided</tool_use_error>
    ");
}

#[test]
fn what_fits_no_tool_of_files_and_commands_is_told_in_full() {
    let told: Vec<_> = [
        ("Bash", json!({"command": "ls", "timeout": "5000", "run_in_background": "false"})),
        ("Bash", json!({"command": ["ls"], "timeout": "5s", "background": true})),
        ("Read", json!({"file_path": "/a", "offset": " 10", "limit": "+10"})),
        ("Read", json!({"path": "/a", "offset": "ten"})),
        (
            "Edit",
            json!({"file_path": "/a", "old_string": "a", "new_string": "b", "replace_all": "true"}),
        ),
        ("Edit", json!({"file_path": "/a", "edits": "[]", "replace_all": 1})),
        ("Write", json!({"file_path": "/a", "content": ""})),
        ("Write", json!({"file_path": null, "content": {"a": 1}})),
    ]
    .into_iter()
    .map(|(tool, input)| screened(tool, input))
    .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    fits
    <tool_use_error>InputValidationError: Bash failed due to the following issues:
    The parameter `command` type is expected as `string` but provided as `array`
    The parameter `timeout` type is expected as `number` but provided as `string`
    An unexpected parameter `background` was provided</tool_use_error>
    fits
    <tool_use_error>InputValidationError: Read failed due to the following issues:
    The required parameter `file_path` is missing
    The parameter `offset` type is expected as `number` but provided as `string`
    An unexpected parameter `path` was provided</tool_use_error>
    fits
    <tool_use_error>InputValidationError: Edit failed due to the following issues:
    The required parameter `old_string` is missing
    The required parameter `new_string` is missing
    The parameter `replace_all` type is expected as `boolean` but provided as `number`
    An unexpected parameter `edits` was provided</tool_use_error>
    fits
    <tool_use_error>InputValidationError: Write failed due to the following issues:
    The parameter `content` type is expected as `string` but provided as `object`
    The parameter `file_path` type is expected as `string` but provided as `null`</tool_use_error>
    ");
}
