//! Screening a call (parse, schema, safety) against serde_json alone on the same input.
//!
//! The input with the most fields is that of a search, in the shape of Claude Code's; the one with
//! the most parts is a list of edits. `misfit` is the price of telling a model all that is wrong.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolwright::contract::tool;
use toolwright::{AnyTool, Registry, ToolUse};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A search.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Search {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    output_mode: Option<OutputMode>,
    #[serde(rename = "-A")]
    after: Option<u32>,
    #[serde(rename = "-B")]
    before: Option<u32>,
    #[serde(rename = "-C")]
    around: Option<u32>,
    context: Option<u32>,
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    #[serde(rename = "-o")]
    only: Option<bool>,
    #[serde(default)]
    multiline: bool,
    #[serde(default)]
    #[schemars(range(max = 10_000))]
    head_limit: u32,
    #[serde(default)]
    offset: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    Content,
    FilesWithMatches,
    Count,
}

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

fn search() -> Value {
    json!({
        "pattern": "fn\\s+main", "path": "src", "glob": "**/*.rs", "output_mode": "content",
        "-n": true, "-C": 3, "head_limit": 250, "multiline": false,
    })
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
    input["offset"] = json!("five");
    input["more"] = json!(1);
    input
}

fn group<I>(criterion: &mut Criterion, name: &str, input: Value)
where
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
{
    let tool: AnyTool = tool("Bench", "Is screened.").read_only().run(async |_: I, _| Ok("done"));
    let tools = Registry::new([tool.clone()]).expect("one name");
    let validator = jsonschema::validator_for(tool.schema().expect("is usable")).expect("compiles");
    let calls = |input: &Value| ToolUse::new("toolu_1", "Bench", input.clone());

    let mut group = criterion.benchmark_group(name);
    group.bench_function("serde_json_from_value", |bench| {
        let read = |it| serde_json::from_value::<I>(it).expect("fits");
        bench.iter_batched(|| input.clone(), read, BatchSize::SmallInput);
    });
    group.bench_function("serde_json_borrowed", |bench| {
        bench.iter(|| I::deserialize(black_box(&input)).expect("fits"));
    });
    group.bench_function("validator_alone", |bench| {
        bench.iter(|| assert!(validator.is_valid(black_box(&input))));
    });
    let lenient = as_text(input.clone());
    let misfit = misfit(input.clone());
    for (name, input) in [("screened", &input), ("lenient", &lenient), ("misfit", &misfit)] {
        group.bench_function(name, |bench| {
            let screen = |it: ToolUse| it.screen(&tools);
            bench.iter_batched(|| calls(input), screen, BatchSize::SmallInput);
        });
    }
    group.finish();
}

fn screening(criterion: &mut Criterion) {
    group::<Search>(criterion, "search", search());
    group::<Edits>(criterion, "edits", edits());
    criterion.bench_function("schema_derived_and_compiled", |bench| {
        bench.iter(|| {
            let tool = tool("Bench", "").run(async |_: Search, _| Ok(""));
            tool.schema().expect("is usable").is_object()
        });
    });
}

criterion_group!(benches, screening);
criterion_main!(benches);
