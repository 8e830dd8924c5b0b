//! Time to read the start of a large file and to edit one of a megabyte, through the full pipeline.
//!
//! The floors are a buffered reader that takes as many lines, and a plain read, write of a new
//! file, sync and rename.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::{Rules, Runtime, Session, ToolUse, built_in_tools};
use toolwright_benches::runtime;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Lines that are shown unless a call asks for others.
const LINES: usize = 2_000;
const LINE: &str = "    let line = \"some text of a program\";\n";

async fn session() -> Session {
    let runtime = Runtime::builder().tools(built_in_tools()).build().expect("is right");
    runtime.session().rules(Rules::allow_everything()).start().await.expect("starts")
}

async fn call(session: &Session, tool: &str, input: Value) {
    let mut turn = session.turn().await.expect("opens");
    turn.submit(ToolUse::new("toolu_1", tool, input)).await.expect("is taken");
    let results = turn.finish().await;
    assert!(!results.results[0].is_error, "{}", results.results[0].content.text());
}

/// A file of some megabytes whose first line is its own.
fn file(folder: &Path, megabytes: usize) -> String {
    let path = folder.join(format!("{megabytes}"));
    let text = "start\n".to_owned() + &LINE.repeat((megabytes << 20) / LINE.len());
    fs::write(&path, text).expect("is written");
    path.to_str().expect("a plain name").to_owned()
}

fn read(criterion: &mut Criterion) {
    let (tokio, folder) = (runtime(), TempDir::new().expect("a folder"));
    let session = tokio.block_on(session());
    let mut group = criterion.benchmark_group("read_first_lines");
    for megabytes in [10, 100] {
        let path = file(folder.path(), megabytes);
        let times = Cell::new(0);
        group.bench_function(format!("toolwright/{megabytes}_MB"), |bench| {
            bench.iter(|| {
                // Never the same view twice, since that would only be told to be unchanged.
                times.set(times.get() + 1);
                let limit = LINES - times.get() % 2;
                tokio.block_on(call(&session, "Read", json!({"file_path": path, "limit": limit})));
            });
        });
        group.bench_function(format!("reader/{megabytes}_MB"), |bench| {
            bench.iter(|| {
                let lines = BufReader::new(File::open(&path).expect("opens")).lines();
                lines.take(LINES).map(|it| it.expect("is text").len()).sum::<usize>()
            });
        });
    }
    group.finish();
}

fn edit(criterion: &mut Criterion) {
    let (tokio, folder) = (runtime(), TempDir::new().expect("a folder"));
    let session = tokio.block_on(session());
    let mut group = criterion.benchmark_group("edit_1_MB");
    let path = file(folder.path(), 1);
    tokio.block_on(call(&session, "Read", json!({"file_path": path})));
    tokio.block_on(call(&session, "Read", json!({"file_path": path, "limit": 9})));
    let texts = Cell::new(("start", "begin"));
    group.bench_function("toolwright", |bench| {
        bench.iter(|| {
            let (old, new) = texts.replace((texts.get().1, texts.get().0));
            let edit = json!({"file_path": path, "old_string": old, "new_string": new});
            tokio.block_on(call(&session, "Edit", edit));
        });
    });
    group.bench_function("read_write_sync_rename", |bench| {
        bench.iter(|| {
            let text = fs::read_to_string(&path).expect("is read");
            let text = text.replacen("start", "begin", 1);
            let new = folder.path().join("new");
            let mut file = File::create(&new).expect("is made");
            file.write_all(text.as_bytes()).expect("is written");
            file.sync_all().expect("is synced");
            fs::rename(&new, folder.path().join("renamed")).expect("is renamed");
        });
    });
    group.finish();
}

criterion_group!(benches, read, edit);
criterion_main!(benches);
