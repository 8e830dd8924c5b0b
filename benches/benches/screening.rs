//! Screening a call (parse, schema, safety) against serde_json alone on the same input.
//!
//! Of the built-in tools the one with the longest published schema, with an input that names every
//! field; and one with many parts, a list of edits, beside its type read by serde alone. `misfit` is
//! the price of telling a model all that is wrong.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, criterion_group, criterion_main};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright::contract::Screening;
use toolwright::{AnyTool, Registry, ToolUse, built_in_tools, tool};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Many edits of one file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Edits {
    file_path: String,
    edits: Vec<OneEdit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct OneEdit {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

/// The built-in tool with the longest schema.
fn largest() -> AnyTool {
    let bytes = |it: &AnyTool| it.schema().expect("is usable").to_string().len();
    built_in_tools().into_iter().max_by_key(bytes).expect("there are tools")
}

/// A value that fits a schema and names every field of it.
fn whole(schema: &Value) -> Value {
    if let Some(choice) = schema.pointer("/enum/0") {
        return choice.clone();
    }
    let types = &schema["type"];
    match types.as_str().or_else(|| types[0].as_str()) {
        Some("object") => schema["properties"].as_object().map_or_else(
            || json!({}),
            |fields| fields.iter().map(|(name, it)| (name.clone(), whole(it))).collect(),
        ),
        Some("array") => vec![whole(&schema["items"]); 5].into(),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(10)),
        Some("boolean") => json!(true),
        _ => json!("some text of the usual length"),
    }
}

fn edits() -> Value {
    let one = json!({"old_string": "let a = 1;", "new_string": "let a = 2;", "replace_all": true});
    json!({"file_path": "/srv/app/src/main.rs", "edits": vec![one; 20]})
}

/// The same input with each number and each boolean as text.
fn as_text(value: Value) -> Value {
    match value {
        Value::Number(number) => number.to_string().into(),
        Value::Bool(truth) => truth.to_string().into(),
        Value::Array(list) => list.into_iter().map(as_text).collect(),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(name, it)| (name, as_text(it))).collect())
        }
        other @ (Value::Null | Value::String(_)) => other,
    }
}

fn misfit(mut input: Value) -> Value {
    input["more"] = json!(1);
    input["even_more"] = json!("one");
    input
}

fn group(
    criterion: &mut Criterion,
    name: &str,
    tool: &AnyTool,
    input: &Value,
    floors: impl FnOnce(&mut BenchmarkGroup<'_, WallTime>),
) {
    let tools = Registry::new([tool.clone()]).expect("one name");
    let validator = jsonschema::validator_for(tool.schema().expect("is usable")).expect("compiles");
    let (lenient, misfit) = (as_text(input.clone()), misfit(input.clone()));
    let call = |input: &Value| ToolUse::new("toolu_1", &*tool.card().name, input.clone());
    let fits = |it: &Value| matches!(call(it).screen(&tools), Screening::Passed(_));
    assert_eq!([input, &lenient, &misfit].map(fits), [true, true, false], "{tool:?}");

    let mut group = criterion.benchmark_group(name);
    floors(&mut group);
    group.bench_function("validator_alone", |bench| {
        bench.iter(|| assert!(validator.is_valid(black_box(input))));
    });
    for (name, input) in [("screened", input), ("lenient", &lenient), ("misfit", &misfit)] {
        group.bench_function(name, |bench| {
            let screen = |it: ToolUse| it.screen(&tools);
            bench.iter_batched(|| call(input), screen, BatchSize::SmallInput);
        });
    }
    group.finish();
}

fn screening(criterion: &mut Criterion) {
    let largest = largest();
    let input = whole(largest.schema().expect("is usable"));
    let text = input.to_string();
    let name = format!("largest_built_in/{}", largest.card().name);
    group(criterion, &name, &largest, &input, |group| {
        group.bench_function("serde_json_from_text", |bench| {
            bench.iter(|| serde_json::from_str::<Value>(black_box(&text)).expect("is JSON"));
        });
    });

    let (tool, input) = (many_edits(), edits());
    group(criterion, "edits", &tool, &input, |group| {
        group.bench_function("serde_json_from_value", |bench| {
            let read = |it| serde_json::from_value::<Edits>(it).expect("fits");
            bench.iter_batched(|| input.clone(), read, BatchSize::SmallInput);
        });
        group.bench_function("serde_json_borrowed", |bench| {
            bench.iter(|| Edits::deserialize(black_box(&input)).expect("fits"));
        });
    });
    criterion.bench_function("schema_derived_and_compiled", |bench| {
        bench.iter(|| many_edits().schema().expect("is usable").is_object());
    });
}

fn many_edits() -> AnyTool {
    tool("Bench", "Is screened.").read_only().run(async |_: Edits, _| Ok("done"))
}

criterion_group!(benches, screening);
criterion_main!(benches);
