//! Calls through a pipe against the library call: what lines of JSON cost beside a turn.
//!
//! Both start a session, run one message and shut the session down, on the same two workers. The
//! pipe parses a line a call, and writes a line a result and the next user message; the library
//! makes the same message. Divide a figure by the number of calls in its name.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use toolwright::pipe::{Asking, Line, Stops, serve};
use toolwright_benches::{noops, run, runtime, session};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Calls of a message.
const SIZES: [usize; 3] = [1, 100, 1_000];

/// Lines that wait for their reader, as in the program.
const WAITING: usize = 64;

fn pipe(criterion: &mut Criterion) {
    let tokio = runtime();
    let mut group = criterion.benchmark_group("pipe");
    for size in SIZES {
        let input = input(size);
        assert_eq!(through_pipe(&tokio, &input), size + 1, "a line a result, and the message");
        group.throughput(Throughput::Elements(size as u64));
        group.sample_size(20);
        group.bench_with_input(BenchmarkId::new("lines", size), &input, |bench, input| {
            bench.iter(|| through_pipe(&tokio, input));
        });
        group.bench_with_input(BenchmarkId::new("library", size), &size, |bench, &size| {
            bench.iter(|| through_library(&tokio, size));
        });
    }
    group.finish();
}

fn input(size: usize) -> Vec<u8> {
    let line = |at| {
        format!(
            "{{\"type\":\"tool_use\",\"id\":\"toolu_{at:05}\",\"name\":\"Noop\",\"input\":{{\"ms\":0}}}}\n"
        )
    };
    (0..size).map(line).collect::<String>().into_bytes()
}

/// Gives the lines that came out.
fn through_pipe(tokio: &Runtime, input: &[u8]) -> usize {
    let input = input.to_vec();
    let mut driver = JoinSet::new();
    let (sender, mut lines) = mpsc::channel(WAITING);
    let serving = async move {
        let (session, stops) = (session().await, Stops::default());
        let served = serve(session, Asking::Headless, false, &*input, sender, &stops).await;
        assert_eq!(served.expect("serves").faults, 0);
    };
    driver.spawn_on(serving, tokio.handle());
    let mut count = 0;
    while let Some(Line::Said(line)) = lines.blocking_recv() {
        count += usize::from(!line.is_empty());
    }
    tokio.block_on(driver.join_all());
    count
}

fn through_library(tokio: &Runtime, size: usize) {
    let mut driver = JoinSet::new();
    let working = async move {
        let session = session().await;
        let results = run(&session, noops(size)).await;
        let message = results.to_message().map(|it| it.to_string());
        assert!(message.is_some());
        session.shutdown().await;
    };
    driver.spawn_on(working, tokio.handle());
    tokio.block_on(driver.join_all());
}

criterion_group!(benches, pipe);
criterion_main!(benches);
