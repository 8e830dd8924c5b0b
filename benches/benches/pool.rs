//! Assembling the pool of a session, and publishing it, for 50 built-in and 500 outside tools.
//!
//! The floor is what no assembly can do without: the names copied, sorted, and made a map. Tools
//! are made once, as an embedder keeps them: `first` pays for schemas that nobody has asked for
//! yet, `again` is a reconnect.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use std::collections::HashMap;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright::contract::{Deferral, Gates, Pool, ToolList, tool};
use toolwright::{AnyTool, Card, Output, RunCx, Tool, ToolError};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BUILT_IN: usize = 50;
const OUTSIDE: usize = 500;

/// An input of the usual size.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape counts")]
struct Input {
    /// The absolute path of the file.
    file_path: String,
    /// The first line to show, from 1.
    offset: Option<u64>,
    /// How many lines to show.
    limit: Option<u64>,
    /// Whether to show more.
    #[serde(default)]
    verbose: bool,
}

struct Remote(Card);

impl Tool for Remote {
    type Input = Value;
    type Output = String;

    fn card(&self) -> Card {
        self.0.clone()
    }
    async fn run(&self, _: Value, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(String::new().into())
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "labels": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["query"],
    })
}

fn outside() -> Vec<AnyTool> {
    let one = |n: usize| {
        // Scattered, as the tools of many servers are.
        let (server, n) = (n * 7 % 25, n * 31 % OUTSIDE);
        let card =
            Card::of_mcp(&format!("server{server}"), &format!("tool{n}"), "Does much.", None);
        AnyTool::with_schema(Remote(card), schema()).expect("is a schema")
    };
    (0..OUTSIDE).map(one).collect()
}

fn built_in() -> Vec<AnyTool> {
    let one = |n: usize| {
        let name = format!("Tool{}", n * 17 % BUILT_IN);
        tool(name, "Does something.").read_only().run(async |_: Input, _| Ok("done"))
    };
    (0..BUILT_IN).map(one).collect()
}

fn assemble(tools: Vec<AnyTool>) -> Pool {
    let pool = Pool::assemble(tools, &Gates::default(), |card| card.name.starts_with("Denied"));
    assert_eq!((pool.registry.iter().count(), pool.left_out.len()), (BUILT_IN + OUTSIDE, 0));
    pool
}

fn pool(criterion: &mut Criterion) {
    let outside = outside();
    let tools = [outside.clone(), built_in()].concat();
    let again = || tools.clone();
    let names: Vec<String> = tools.iter().map(|it| it.card().name.to_string()).collect();
    let registry = assemble(again()).registry;

    let mut group = criterion.benchmark_group("pool");
    group.bench_function("names_sorted_and_mapped", |bench| {
        bench.iter(|| {
            let mut names = black_box(&names).clone();
            names.sort();
            names.into_iter().enumerate().map(|(at, it)| (it, at)).collect::<HashMap<_, _>>()
        });
    });
    group.bench_function("assembled_first", |bench| {
        let made = || [outside.clone(), built_in()].concat();
        bench.iter_batched(made, assemble, BatchSize::SmallInput);
    });
    group.bench_function("assembled_again", |bench| {
        bench.iter_batched(again, assemble, BatchSize::SmallInput);
    });
    group.bench_function("published", |bench| {
        bench.iter(|| ToolList::new(black_box(&registry), Deferral::Honoured));
    });
    group.bench_function("followed_unchanged", |bench| {
        let mut list = ToolList::new(&registry, Deferral::Honoured);
        bench.iter(|| list.follow(black_box(&registry)));
    });
    let list = ToolList::new(&registry, Deferral::Honoured);
    group.bench_function("serialised", |bench| {
        bench.iter(|| serde_json::to_string(black_box(&list)).expect("is plain data"));
    });
    group.bench_function("outside_tools_made", |bench| {
        bench.iter(self::outside);
    });
    group.finish();
}

criterion_group!(benches, pool);
criterion_main!(benches);
