//! Deciding about a call under many rules, against the shell analysis alone on the same command.
//!
//! Rules are those of a large organisation: commands of many programs and many of one, paths,
//! hosts, servers. Half of them are about other tools, as they would be.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use toolwright::permissions::{
    Call, Case, Entry, HookWord, List, Mode, NoLinks, Places, RuleSet, Scope, Source, Trust, decide,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many rules there are.
const RULES: [usize; 4] = [10, 100, 1_000, 10_000];
/// Parts of the compound command.
const PARTS: usize = 40;

fn entries(count: usize) -> Vec<Entry> {
    let source = Arc::new(Source::new(Scope::User, "/u/ann/.claude"));
    let entry = |at: usize| {
        let (list, text) = match at % 10 {
            0 => (List::Allow, format!("Bash(tool{at} run *)")),
            1 => (List::Allow, format!("Bash(npm run task{at} *)")),
            2 => (List::Deny, format!("Bash(danger{at}:*)")),
            3 => (List::Ask, format!("Bash(git push remote{at} *)")),
            4 => (List::Allow, format!("Bash(* --flag{at})")),
            5 => (List::Deny, format!("Read(secrets{at}/**)")),
            6 => (List::Allow, format!("Edit(/src/part{at}/**)")),
            7 => (List::Allow, format!("WebFetch(domain:host{at}.example)")),
            8 => (List::Allow, format!("mcp__server{at}__get_*")),
            _ => (List::Deny, format!("Read(//srv/data{at}/*.key)")),
        };
        Entry { list, text, source: source.clone() }
    };
    (0..count).map(entry).collect()
}

struct Bench {
    rules: RuleSet,
    places: Places,
}

impl Bench {
    fn with(count: usize) -> Self {
        let (rules, warnings) = RuleSet::compile(entries(count), Trust::Trusted, &NoLinks);
        assert!(warnings.is_empty(), "{warnings:?}");
        let places = Places::new(Path::new("/w/app"), Some(Path::new("/u/ann")), &NoLinks);
        Self { rules, places }
    }

    fn decide(&self, tool: &str, input: &Value) -> &'static str {
        let call = Call::by_name(tool, input, &self.places, &NoLinks);
        let (call, rules, places) = (&call, &self.rules, &self.places);
        let mode = Mode::Default;
        let case = Case { call, rules, mode, places, hook: &HookWord::None, classifier: None };
        decide(&case).verdict.name()
    }
}

fn permissions(criterion: &mut Criterion) {
    let simple = json!({"command": "npm run task1 --watch"});
    let parts = (0..PARTS).map(|at| format!("npm run task{} --x", at * 10 % 100 + 1));
    let compound = json!({"command": parts.collect::<Vec<_>>().join(" && ")});
    let file = json!({"file_path": "/w/app/src/part6/main.rs", "content": ""});
    let mut group = criterion.benchmark_group("permissions");
    for (name, tool, input) in
        [("simple", "Bash", &simple), ("compound", "Bash", &compound), ("file", "Write", &file)]
    {
        for count in RULES {
            let bench = Bench::with(count);
            group.bench_with_input(BenchmarkId::new(name, count), input, |it, input| {
                it.iter(|| black_box(bench.decide(tool, black_box(input))));
            });
        }
    }
    for (name, input) in [("simple", &simple), ("compound", &compound)] {
        let command = input["command"].as_str().expect("a text");
        group.bench_function(BenchmarkId::new("analysis alone", name), |it| {
            it.iter(|| black_box(toolwright::permissions::understand(black_box(command))));
        });
    }
    group.bench_function("compile", |it| it.iter(|| black_box(Bench::with(1_000).rules)));
    group.finish();
}

criterion_group!(benches, permissions);
criterion_main!(benches);
