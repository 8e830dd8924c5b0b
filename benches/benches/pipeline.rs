//! Cost per no-op call through the whole pipeline, against bare tokio spawn and join.
//!
//! Both run on the same two-worker runtime in the same process, once in wall time and once in CPU
//! time. Divide a figure by the number of calls in its name.

use criterion::measurement::Measurement;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use toolwright::Session;
use toolwright_benches::{CpuTime, SIZES, noops, prove, run, runtime, session};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn compare<M: Measurement>(criterion: &mut Criterion<M>, what: &str) {
    let tokio = runtime();
    let session = tokio.block_on(session());
    let mut group = criterion.benchmark_group(what);
    for size in SIZES {
        // A session of its own: one that was once listened to goes on numbering its events.
        tokio.block_on(async { prove(&self::session().await, size).await });
        group.throughput(Throughput::Elements(size as u64));
        group.sample_size(if size < 1_000 { 50 } else { 20 });
        group.bench_with_input(BenchmarkId::new("toolwright", size), &size, |bench, &size| {
            bench.iter_batched(
                || noops(size),
                |calls| turn(&tokio, &session, calls),
                criterion::BatchSize::LargeInput,
            );
        });
        group.bench_with_input(BenchmarkId::new("spawn_join", size), &size, |bench, &size| {
            bench.iter(|| spawn_join(&tokio, size));
        });
    }
    group.finish();
}

/// Driven from a spawned task, as a loop that lives in the runtime is.
fn turn(tokio: &Runtime, session: &Session, calls: Vec<toolwright::ToolUse>) {
    let session = session.clone();
    let mut driver = JoinSet::new();
    driver.spawn_on(async move { run(&session, calls).await.results.len() }, tokio.handle());
    tokio.block_on(driver.join_all());
}

/// The floor: as many tasks, joined in order.
fn spawn_join(tokio: &Runtime, size: usize) {
    let mut driver = JoinSet::new();
    let tasks = async move {
        let mut tasks = JoinSet::new();
        (0..size).for_each(|_| drop(tasks.spawn(async { "done" })));
        tasks.join_all().await.len()
    };
    driver.spawn_on(tasks, tokio.handle());
    tokio.block_on(driver.join_all());
}

fn wall(criterion: &mut Criterion) {
    compare(criterion, "wall");
}

fn cpu(criterion: &mut Criterion<CpuTime>) {
    compare(criterion, "cpu");
}

criterion_group!(wall_time, wall);
criterion_group!(name = cpu_time; config = Criterion::default().with_measurement(CpuTime); targets = cpu);
criterion_main!(wall_time, cpu_time);
