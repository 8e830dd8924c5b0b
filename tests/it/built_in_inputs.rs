//! Right and wrong inputs of every built-in tool, with the exact texts that a model reads.
//!
//! A tool has one row: an input that names every field. What is wrong is made of it: each field
//! left out, each with a value of another type, and one more field in each object.

use serde_json::{Value, json};
use toolwright::{Registry, ToolUse, built_in_tools};
use toolwright_contract::{Screened, Screening};

/// An input of each tool in which every field has a value of its type.
pub(crate) fn right() -> Vec<(&'static str, Value)> {
    let todo = json!({"content": "Do it", "status": "pending", "activeForm": "Doing it"});
    vec![
        #[cfg(unix)]
        (
            "Bash",
            json!({
                "command": "ls", "timeout": 5_000, "description": "Lists files",
                "run_in_background": false, "dangerouslyDisableSandbox": false,
            }),
        ),
        (
            "Edit",
            json!({"file_path": "/a", "old_string": "a", "new_string": "b", "replace_all": true}),
        ),
        ("Glob", json!({"pattern": "*.rs", "path": "/a"})),
        (
            "Grep",
            json!({
                "pattern": "a", "path": "/a", "glob": "*.rs", "type": "rust",
                "output_mode": "content", "-A": 1, "-B": 1, "-C": 1, "context": 1, "-n": true,
                "-i": true, "-o": true, "multiline": true, "head_limit": 10, "offset": 1,
            }),
        ),
        (
            "MultiEdit",
            json!({
                "file_path": "/a",
                "edits": [{"old_string": "a", "new_string": "b", "replace_all": true}],
            }),
        ),
        (
            "NotebookEdit",
            json!({
                "notebook_path": "/a.ipynb", "new_source": "a", "cell_id": "b",
                "cell_type": "code", "edit_mode": "insert",
            }),
        ),
        ("Read", json!({"file_path": "/a", "offset": 10, "limit": 20})),
        ("TodoWrite", json!({"todos": [todo]})),
        ("Write", json!({"file_path": "/a", "content": ""})),
    ]
}

fn screen(tool: &str, input: Value) -> Result<Box<Screened>, String> {
    let tools = Registry::new(built_in_tools()).unwrap();
    match ToolUse::new("c0", tool, input).screen(&tools) {
        Screening::Passed(it) => Ok(it),
        Screening::Failed(_, text) => Err(text),
    }
}

/// What is wrong, without the words around it.
fn issues(tool: &str, input: Value) -> String {
    let Err(text) = screen(tool, input) else { return "fits".to_owned() };
    let text = text.strip_prefix("<tool_use_error>InputValidationError: ").unwrap();
    let (head, issues) = text.strip_suffix("</tool_use_error>").unwrap().split_once('\n').unwrap();
    let kind = if issues.contains('\n') { "issues" } else { "issue" };
    assert_eq!(head, format!("{tool} failed due to the following {kind}:"));
    issues.replace('\n', "; ")
}

/// The places of an input, as pointers: each field and each item.
fn places(value: &Value, at: &str) -> Vec<String> {
    let below = |(key, it): (String, &Value)| {
        let at = format!("{at}/{key}");
        [vec![at.clone()], places(it, &at)].concat()
    };
    match value {
        Value::Object(map) => map.iter().flat_map(|(key, it)| below((key.clone(), it))).collect(),
        Value::Array(list) => {
            list.iter().enumerate().flat_map(|(n, it)| below((n.to_string(), it))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// A value that can't be meant for this one.
fn mistyped(value: &Value) -> Value {
    match value {
        Value::String(_) => json!(5),
        Value::Number(_) => json!("5s"),
        Value::Bool(_) => json!("yes"),
        Value::Array(_) => json!("[]"),
        Value::Object(_) => json!([]),
        Value::Null => json!({}),
    }
}

/// The same input with each number and each boolean as text.
fn as_text(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.to_string().into(),
        Value::Bool(truth) => truth.to_string().into(),
        Value::Array(list) => list.iter().map(as_text).collect(),
        Value::Object(map) => map.iter().map(|(name, it)| (name.clone(), as_text(it))).collect(),
        Value::Null | Value::String(_) => value.clone(),
    }
}

/// The inputs that differ from a right one in one place, with what differs.
fn wrong(right: &Value) -> Vec<(String, Value)> {
    let mut inputs = vec![("nothing at all".to_owned(), json!({}))];
    let mut change = |what: String, place: &str, new: Value| {
        let mut input = right.clone();
        *input.pointer_mut(place).unwrap() = new;
        inputs.push((what, input));
    };
    for place in std::iter::once(String::new()).chain(places(right, "")) {
        let here = right.pointer(&place).unwrap();
        if !place.is_empty() {
            change(format!("{place} mistyped"), &place, mistyped(here));
        }
        let Value::Object(map) = here else { continue };
        for left_out in map.keys() {
            let mut less = map.clone();
            less.remove(left_out);
            change(format!("{place}/{left_out} left out"), &place, Value::Object(less));
        }
        let mut more = map.clone();
        more.insert("extra".to_owned(), json!(1));
        change(format!("{place}/extra added"), &place, Value::Object(more));
    }
    inputs
}

#[test]
fn every_built_in_tool_has_its_row_and_the_row_names_every_field() {
    let tools = built_in_tools();
    let rows = right();
    let names = |it: &toolwright::AnyTool| it.card().name.to_string();
    assert_eq!(
        rows.iter().map(|it| it.0).collect::<Vec<_>>(),
        tools.iter().map(names).collect::<Vec<_>>(),
        "a new built-in tool needs a row in `right`"
    );
    for (tool, (_, row)) in tools.iter().zip(&rows) {
        let fields = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(fields(row), fields(&tool.schema().unwrap()["properties"]), "{tool:?}");
    }
}

#[test]
fn what_is_right_fits_and_so_it_does_with_numbers_and_booleans_as_text() {
    for (tool, row) in right() {
        for input in [row.clone(), as_text(&row)] {
            assert_eq!(screen(tool, input).map(|it| it.input().clone()), Ok(row.clone()), "{tool}");
        }
    }
}

#[test]
fn what_is_wrong_in_one_place_is_told_with_that_place() {
    let mut told = Vec::new();
    for (tool, row) in right() {
        told.push(tool.to_owned());
        for (what, input) in wrong(&row) {
            told.push(format!("  {what}: {}", issues(tool, input)));
        }
    }
    insta::assert_snapshot!(told.join("\n"), @"
    Bash
      nothing at all: The required parameter `command` is missing
      /command left out: The required parameter `command` is missing
      /dangerouslyDisableSandbox left out: fits
      /description left out: fits
      /run_in_background left out: fits
      /timeout left out: fits
      /extra added: An unexpected parameter `extra` was provided
      /command mistyped: The parameter `command` type is expected as `string` but provided as `number`
      /dangerouslyDisableSandbox mistyped: The parameter `dangerouslyDisableSandbox` type is expected as `boolean` but provided as `string`
      /description mistyped: The parameter `description` type is expected as `string` but provided as `number`
      /run_in_background mistyped: The parameter `run_in_background` type is expected as `boolean` but provided as `string`
      /timeout mistyped: The parameter `timeout` type is expected as `number` but provided as `string`
    Edit
      nothing at all: The required parameter `file_path` is missing; The required parameter `old_string` is missing; The required parameter `new_string` is missing
      /file_path left out: The required parameter `file_path` is missing
      /new_string left out: The required parameter `new_string` is missing
      /old_string left out: The required parameter `old_string` is missing
      /replace_all left out: fits
      /extra added: An unexpected parameter `extra` was provided
      /file_path mistyped: The parameter `file_path` type is expected as `string` but provided as `number`
      /new_string mistyped: The parameter `new_string` type is expected as `string` but provided as `number`
      /old_string mistyped: The parameter `old_string` type is expected as `string` but provided as `number`
      /replace_all mistyped: The parameter `replace_all` type is expected as `boolean` but provided as `string`
    Glob
      nothing at all: The required parameter `pattern` is missing
      /path left out: fits
      /pattern left out: The required parameter `pattern` is missing
      /extra added: An unexpected parameter `extra` was provided
      /path mistyped: The parameter `path` type is expected as `string` but provided as `number`
      /pattern mistyped: The parameter `pattern` type is expected as `string` but provided as `number`
    Grep
      nothing at all: The required parameter `pattern` is missing
      /-A left out: fits
      /-B left out: fits
      /-C left out: fits
      /-i left out: fits
      /-n left out: fits
      /-o left out: fits
      /context left out: fits
      /glob left out: fits
      /head_limit left out: fits
      /multiline left out: fits
      /offset left out: fits
      /output_mode left out: fits
      /path left out: fits
      /pattern left out: The required parameter `pattern` is missing
      /type left out: fits
      /extra added: An unexpected parameter `extra` was provided
      /-A mistyped: The parameter `-A` type is expected as `number` but provided as `string`
      /-B mistyped: The parameter `-B` type is expected as `number` but provided as `string`
      /-C mistyped: The parameter `-C` type is expected as `number` but provided as `string`
      /-i mistyped: The parameter `-i` type is expected as `boolean` but provided as `string`
      /-n mistyped: The parameter `-n` type is expected as `boolean` but provided as `string`
      /-o mistyped: The parameter `-o` type is expected as `boolean` but provided as `string`
      /context mistyped: The parameter `context` type is expected as `number` but provided as `string`
      /glob mistyped: The parameter `glob` type is expected as `string` but provided as `number`
      /head_limit mistyped: The parameter `head_limit` type is expected as `number` but provided as `string`
      /multiline mistyped: The parameter `multiline` type is expected as `boolean` but provided as `string`
      /offset mistyped: The parameter `offset` type is expected as `number` but provided as `string`
      /output_mode mistyped: The parameter `output_mode` type is expected as `string` but provided as `number`
      /path mistyped: The parameter `path` type is expected as `string` but provided as `number`
      /pattern mistyped: The parameter `pattern` type is expected as `string` but provided as `number`
      /type mistyped: The parameter `type` type is expected as `string` but provided as `number`
    MultiEdit
      nothing at all: The required parameter `file_path` is missing; The required parameter `edits` is missing
      /edits left out: The required parameter `edits` is missing
      /file_path left out: The required parameter `file_path` is missing
      /extra added: An unexpected parameter `extra` was provided
      /edits mistyped: The parameter `edits` type is expected as `array` but provided as `string`
      /edits/0 mistyped: The parameter `edits[0]` type is expected as `object` but provided as `array`
      /edits/0/new_string left out: The required parameter `edits[0].new_string` is missing
      /edits/0/old_string left out: The required parameter `edits[0].old_string` is missing
      /edits/0/replace_all left out: fits
      /edits/0/extra added: An unexpected parameter `edits[0].extra` was provided
      /edits/0/new_string mistyped: The parameter `edits[0].new_string` type is expected as `string` but provided as `number`
      /edits/0/old_string mistyped: The parameter `edits[0].old_string` type is expected as `string` but provided as `number`
      /edits/0/replace_all mistyped: The parameter `edits[0].replace_all` type is expected as `boolean` but provided as `string`
      /file_path mistyped: The parameter `file_path` type is expected as `string` but provided as `number`
    NotebookEdit
      nothing at all: The required parameter `notebook_path` is missing; The required parameter `new_source` is missing
      /cell_id left out: fits
      /cell_type left out: fits
      /edit_mode left out: fits
      /new_source left out: The required parameter `new_source` is missing
      /notebook_path left out: The required parameter `notebook_path` is missing
      /extra added: An unexpected parameter `extra` was provided
      /cell_id mistyped: The parameter `cell_id` type is expected as `string` but provided as `number`
      /cell_type mistyped: The parameter `cell_type` type is expected as `string` but provided as `number`
      /edit_mode mistyped: The parameter `edit_mode` type is expected as `string` but provided as `number`
      /new_source mistyped: The parameter `new_source` type is expected as `string` but provided as `number`
      /notebook_path mistyped: The parameter `notebook_path` type is expected as `string` but provided as `number`
    Read
      nothing at all: The required parameter `file_path` is missing
      /file_path left out: The required parameter `file_path` is missing
      /limit left out: fits
      /offset left out: fits
      /extra added: An unexpected parameter `extra` was provided
      /file_path mistyped: The parameter `file_path` type is expected as `string` but provided as `number`
      /limit mistyped: The parameter `limit` type is expected as `number` but provided as `string`
      /offset mistyped: The parameter `offset` type is expected as `number` but provided as `string`
    TodoWrite
      nothing at all: The required parameter `todos` is missing
      /todos left out: The required parameter `todos` is missing
      /extra added: An unexpected parameter `extra` was provided
      /todos mistyped: The parameter `todos` type is expected as `array` but provided as `string`
      /todos/0 mistyped: The parameter `todos[0]` type is expected as `object` but provided as `array`
      /todos/0/activeForm left out: The required parameter `todos[0].activeForm` is missing
      /todos/0/content left out: The required parameter `todos[0].content` is missing
      /todos/0/status left out: The required parameter `todos[0].status` is missing
      /todos/0/extra added: An unexpected parameter `todos[0].extra` was provided
      /todos/0/activeForm mistyped: The parameter `todos[0].activeForm` type is expected as `string` but provided as `number`
      /todos/0/content mistyped: The parameter `todos[0].content` type is expected as `string` but provided as `number`
      /todos/0/status mistyped: The parameter `todos[0].status` type is expected as `string` but provided as `number`
    Write
      nothing at all: The required parameter `file_path` is missing; The required parameter `content` is missing
      /content left out: The required parameter `content` is missing
      /file_path left out: The required parameter `file_path` is missing
      /extra added: An unexpected parameter `extra` was provided
      /content mistyped: The parameter `content` type is expected as `string` but provided as `number`
      /file_path mistyped: The parameter `file_path` type is expected as `string` but provided as `number`
    ");
}

#[test]
fn an_input_that_is_no_object_is_told_as_that() {
    for (tool, row) in right() {
        for input in [json!([row]), json!(row.to_string()), json!(null)] {
            assert_eq!(issues(tool, input), "The input must be a JSON object");
        }
    }
}
