//! Inputs: what a model may send for a schema, what is taken for it, and how the rest is told.

use std::collections::BTreeMap;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_contract::{
    AnyTool, Refusal, Registry, RunCx, Screening, ToolError, ToolUse, tool, wording,
};

/// One of each kind of field that built-in tools have.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Probe {
    file_path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(default)]
    #[schemars(range(max = 600_000))]
    timeout: u32,
    #[serde(default)]
    ratio: f64,
    #[serde(default)]
    multiline: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    #[serde(default)]
    edits: Vec<Edit>,
    #[serde(default)]
    #[schemars(length(max = 3))]
    tags: Vec<String>,
    #[serde(default)]
    limits: BTreeMap<String, i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<Target>,
    #[serde(skip)]
    secret: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    Count,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
struct Edit {
    #[schemars(length(min = 1))]
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Target {
    Line { at: u64 },
    Symbol { name: String },
}

fn probe() -> AnyTool {
    tool("Probe", "Takes one of each.")
        .read_only()
        .run(async |it: Probe, _: RunCx| serde_json::to_string(&it).map_err(failed))
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn failed(error: serde_json::Error) -> ToolError {
    ToolError::failed(error.to_string())
}

fn screen(tool: &AnyTool, input: Value) -> Result<(), String> {
    let name = tool.card().name.to_string();
    let tools = Registry::new([tool.clone()]).unwrap();
    match ToolUse::new("c0", name, input).screen(&tools) {
        Screening::Passed(_) => Ok(()),
        Screening::Failed(why, text) => {
            assert_eq!(why, Refusal::InvalidInput);
            Err(text)
        }
    }
}

/// The lines after the first, without the wrapper.
fn issues(input: Value) -> Vec<String> {
    let Err(text) = screen(&probe(), input) else { return Vec::new() };
    let inner = text.strip_prefix("<tool_use_error>").unwrap();
    let inner = inner.strip_suffix("</tool_use_error>").unwrap();
    let mut lines = inner.lines().map(str::to_owned);
    let first = lines.next().unwrap();
    let lines: Vec<_> = lines.collect();
    let issues = if lines.len() == 1 { "issue" } else { "issues" };
    assert_eq!(first, format!("InputValidationError: Probe failed due to the following {issues}:"));
    lines
}

/// A right input with one field more, or another in its place.
fn with(field: &str, value: Value) -> Value {
    let mut input = json!({"file_path": "/a"});
    input[field] = value;
    input
}

#[test]
fn what_fits_is_taken() {
    for (field, value) in [
        ("offset", json!(1)),
        ("timeout", json!(600_000)),
        ("ratio", json!(1)),
        ("ratio", json!(-0.5)),
        ("multiline", json!(true)),
        ("mode", json!("count")),
        ("edits", json!([{"old_string": "a", "new_string": ""}])),
        ("tags", json!(["1", "true", ""])),
        ("limits", json!({"a b": -1})),
        ("target", json!({"kind": "line", "at": 3})),
        ("file_path", json!("5000")),
    ] {
        assert_eq!(issues(with(field, value.clone())), [""; 0], "{field}: {value}");
    }
}

#[test]
fn numbers_and_booleans_as_text_are_taken_where_the_schema_wants_them() {
    for (field, value) in [
        ("offset", json!("5000")),
        ("offset", json!(" 10")),
        ("offset", json!("+10")),
        ("offset", json!(5000.0)),
        ("timeout", json!("0")),
        ("ratio", json!("0.25")),
        ("ratio", json!("-3")),
        ("multiline", json!("true")),
        ("multiline", json!("false")),
        ("edits", json!([{"old_string": "a", "new_string": "", "replace_all": "true"}])),
        ("limits", json!({"a": "-7"})),
        ("target", json!({"kind": "line", "at": "3"})),
    ] {
        assert_eq!(issues(with(field, value.clone())), [""; 0], "{field}: {value}");
    }
}

#[test]
fn each_misfit_has_a_line_of_its_own() {
    let told: Vec<String> = [
        ("file_path", json!(7)),
        ("file_path", json!(null)),
        ("offset", json!("5s")),
        ("offset", json!("")),
        ("offset", json!("5000.0")),
        ("offset", json!("0x10")),
        ("offset", json!(1.5)),
        ("offset", json!(-1)),
        ("offset", json!("-1")),
        ("offset", json!(null)),
        ("offset", json!(true)),
        ("timeout", json!("600001")),
        ("timeout", json!(1e300)),
        ("ratio", json!("inf")),
        ("ratio", json!("1e5")),
        ("multiline", json!("yes")),
        ("multiline", json!(1)),
        ("multiline", json!("True")),
        ("mode", json!("counts")),
        ("mode", json!(3)),
        ("edits", json!("[{\"old_string\": \"a\", \"new_string\": \"b\"}]")),
        ("edits", json!([{"old_string": "", "new_string": "b"}])),
        ("edits", json!([{"old_string": "a", "new_string": "b"}, {"new_string": "b"}])),
        ("edits", json!([{"old_string": "a", "new_string": "b", "replace_all": "no"}])),
        ("edits", json!([{"old_string": "a", "new_string": "b", "x": 1}])),
        ("tags", json!(["a", "b", "c", "d"])),
        ("limits", json!({"a": "much"})),
        ("target", json!({"kind": "line"})),
        ("target", json!({"kind": "word", "at": 3})),
        ("target", json!("line")),
        ("secret", json!(1)),
        ("a\u{7}b", json!(1)),
    ]
    .into_iter()
    .map(|(field, value)| {
        format!("{field:?}: {value} | {}", issues(with(field, value.clone())).join(" + "))
    })
    .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    "file_path": 7 | The parameter `file_path` type is expected as `string` but provided as `number`
    "file_path": null | The parameter `file_path` type is expected as `string` but provided as `null`
    "offset": "5s" | The parameter `offset` type is expected as `number` but provided as `string`
    "offset": "" | The parameter `offset` type is expected as `number` but provided as `string`
    "offset": "5000.0" | The parameter `offset` type is expected as `number` but provided as `string`
    "offset": "0x10" | The parameter `offset` type is expected as `number` but provided as `string`
    "offset": 1.5 | The parameter `offset` type is expected as `integer` but provided as `number`
    "offset": -1 | The parameter `offset` value is expected as at least `0` but provided as `-1`
    "offset": "-1" | The parameter `offset` value is expected as at least `0` but provided as `-1`
    "offset": null | The parameter `offset` type is expected as `number` but provided as `null`
    "offset": true | The parameter `offset` type is expected as `number` but provided as `boolean`
    "timeout": "600001" | The parameter `timeout` value is expected as at most `600000` but provided as `600001`
    "timeout": 1e+300 | The parameter `timeout` value is expected as at most `600000` but provided as `1e+300`
    "ratio": "inf" | The parameter `ratio` type is expected as `number` but provided as `string`
    "ratio": "1e5" | The parameter `ratio` type is expected as `number` but provided as `string`
    "multiline": "yes" | The parameter `multiline` type is expected as `boolean` but provided as `string`
    "multiline": 1 | The parameter `multiline` type is expected as `boolean` but provided as `number`
    "multiline": "True" | The parameter `multiline` type is expected as `boolean` but provided as `string`
    "mode": "counts" | The parameter `mode` value is expected as `content` or `count` but provided as `counts`
    "mode": 3 | The parameter `mode` type is expected as `string` but provided as `number`
    "edits": "[{\"old_string\": \"a\", \"new_string\": \"b\"}]" | The parameter `edits` type is expected as `array` but provided as `string`
    "edits": [{"new_string":"b","old_string":""}] | The parameter `edits[0].old_string` value is expected as at least `1` characters but provided as `0`
    "edits": [{"new_string":"b","old_string":"a"},{"new_string":"b"}] | The required parameter `edits[1].old_string` is missing
    "edits": [{"new_string":"b","old_string":"a","replace_all":"no"}] | The parameter `edits[0].replace_all` type is expected as `boolean` but provided as `string`
    "edits": [{"new_string":"b","old_string":"a","x":1}] | An unexpected parameter `edits[0].x` was provided
    "tags": ["a","b","c","d"] | The parameter `tags` value is expected as at most `3` items but provided as `4`
    "limits": {"a":"much"} | The parameter `limits.a` type is expected as `number` but provided as `string`
    "target": {"kind":"line"} | The required parameter `target.at` is missing
    "target": {"at":3,"kind":"word"} | The parameter `target.kind` value is expected as `line` or `symbol` but provided as `word`
    "target": "line" | The parameter `target` type is expected as `object` but provided as `string`
    "secret": 1 | An unexpected parameter `secret` was provided
    "a\u{7}b": 1 | An unexpected parameter `a�b` was provided
    "#);
}

#[test]
fn all_problems_are_told_at_once_the_missing_first_and_the_unknown_last() {
    let input = json!({
        "offset": "five",
        "edits": [{"old_string": 1, "replaceAll": true}],
        "path": "/a",
        "mode": "all",
    });
    insta::assert_snapshot!(screen(&probe(), input).unwrap_err(), @"
    <tool_use_error>InputValidationError: Probe failed due to the following issues:
    The required parameter `edits[0].new_string` is missing
    The required parameter `file_path` is missing
    The parameter `edits[0].old_string` type is expected as `string` but provided as `number`
    The parameter `mode` value is expected as `content` or `count` but provided as `all`
    The parameter `offset` type is expected as `number` but provided as `string`
    An unexpected parameter `edits[0].replaceAll` was provided
    An unexpected parameter `path` was provided</tool_use_error>
    ");
}

#[test]
fn many_problems_are_counted_and_not_listed() {
    let edits: Vec<_> = (0..1_000).map(|_| json!({"old_string": "a", "new_string": 1})).collect();
    let lines = issues(with("edits", edits.into()));
    assert_eq!(lines.len(), 21);
    assert_eq!(
        lines[19],
        "The parameter `edits[19].new_string` type is expected as `string` but provided as `number`"
    );
    assert_eq!(lines[20], "and 980 more");
}

#[test]
fn a_line_is_short_whatever_the_model_sends() {
    let long = "x".repeat(100_000);
    for input in
        [with(&long, json!(1)), with("mode", json!(long.clone())), with("offset", json!(long))]
    {
        let text = screen(&probe(), input).unwrap_err();
        assert!(text.len() < 1_000, "{}", text.len());
    }
}

#[test]
fn what_only_the_type_knows_is_told_with_its_place() {
    let input = with("limits", json!({"a": 9_223_372_036_854_775_808_u64}));
    insta::assert_snapshot!(issues(input).join("\n"), @"
    `limits.a`: invalid value: integer `9223372036854775808`, expected i64
    ");
}

#[test]
fn an_input_is_an_object() {
    for input in [json!([]), json!("{}"), json!(null), json!(1)] {
        let text = "InputValidationError: Probe failed due to the following issue:\n\
                    The input must be a JSON object";
        assert_eq!(screen(&probe(), input), Err(wording::tool_use_error(text)));
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![
            Just("5000"),
            Just(" 1"),
            Just("true"),
            Just("count"),
            Just("line"),
            Just("5s")
        ]
        .prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    let name = prop_oneof![
        Just("file_path"),
        Just("offset"),
        Just("ratio"),
        Just("multiline"),
        Just("mode"),
        Just("edits"),
        Just("old_string"),
        Just("new_string"),
        Just("limits"),
        Just("target"),
        Just("kind"),
        Just("at"),
    ];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

/// Right inputs, as the type writes them.
fn right() -> impl Strategy<Value = Probe> {
    let mode = prop_oneof![Just(None), Just(Some(Mode::Content)), Just(Some(Mode::Count))];
    let edit =
        (".{1,5}", ".{0,5}", any::<bool>()).prop_map(|(old_string, new_string, replace_all)| {
            Edit { old_string, new_string, replace_all }
        });
    let target = prop_oneof![
        any::<u64>().prop_map(|at| Target::Line { at }),
        "[0-9a-z]{0,4}".prop_map(|name| Target::Symbol { name }),
    ];
    let text = prop_oneof![Just("5000".to_owned()), Just("true".to_owned()), ".{0,8}"];
    let edits = proptest::collection::vec(edit, 0..3);
    let tags = proptest::collection::vec(text.clone(), 0..4);
    let limits = proptest::collection::btree_map(".{0,3}", any::<i64>(), 0..3);
    let numbers = (any::<Option<u64>>(), 0_u32..=600_000, -1e9_f64..1e9);
    let rest = (any::<bool>(), mode, edits, tags, limits, proptest::option::of(target));
    (text, numbers, rest).prop_map(
        |(file_path, (offset, timeout, ratio), (multiline, mode, edits, tags, limits, target))| {
            Probe {
                file_path,
                offset,
                timeout,
                ratio,
                multiline,
                mode,
                edits,
                tags,
                limits,
                target,
                secret: 0,
            }
        },
    )
}

/// Every number and boolean as text.
fn as_text(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.to_string().into(),
        Value::Bool(truth) => truth.to_string().into(),
        Value::Array(list) => list.iter().map(as_text).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(name, it)| (name.clone(), as_text(it))).collect())
        }
        Value::Null | Value::String(_) => value.clone(),
    }
}

fn read(input: Value) -> Result<Probe, String> {
    let (told, heard) = std::sync::mpsc::channel();
    let tool = tool("Probe", "Keeps what it was asked.")
        .safety(move |it: &Probe| {
            told.send(it.clone()).unwrap();
            toolwright_contract::Safety::read_only()
        })
        .run(async |_, _| Ok(""));
    screen(&tool, input)?;
    Ok(heard.recv().unwrap())
}

proptest! {
    #[test]
    fn whatever_json_comes_is_taken_or_told_and_never_a_panic(input in any_json()) {
        if let Err(text) = screen(&probe(), input) {
            prop_assert!(text.contains("failed due to the following issue"), "{text}");
            prop_assert!(text.len() < 50_000);
        }
    }

    #[test]
    fn what_the_type_writes_is_read_as_it_was(probe in right()) {
        let input = serde_json::to_value(&probe).unwrap();
        prop_assert_eq!(read(input), Ok(probe));
    }

    #[test]
    fn numbers_and_booleans_mean_the_same_as_text(probe in right()) {
        let input = as_text(&serde_json::to_value(&probe).unwrap());
        prop_assert_eq!(read(input), Ok(probe));
    }
}
