//! Sessions side by side under one cap: ten of a thousand calls against one of ten thousand.
//!
//! The floor is the single session: what is measured is what sharing a cap costs. Calls of a turn
//! are many at once, so that places are contended all the time.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use criterion::measurement::Measurement;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tokio::task::JoinSet;
use toolwright::{AnyTool, Rules, Runtime, Session};
use toolwright_benches::{CpuTime, Noop, noops, prove, run, runtime};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// All calls of all sessions.
const CALLS: usize = 10_000;

/// Most calls at once in all sessions.
const CAP: u16 = 64;

/// Most calls at once in a turn: more than all sessions together may run, so that calls wait.
const TURN_CAP: u16 = 128;

fn compare<M: Measurement>(criterion: &mut Criterion<M>, what: &str) {
    let tokio = runtime();
    let mut group = criterion.benchmark_group(format!("sessions/{what}"));
    group.throughput(Throughput::Elements(CALLS as u64));
    group.sample_size(20);
    for count in [1, 10] {
        let sessions = tokio.block_on(sessions(count));
        group.bench_function(format!("{count} of {}", CALLS / count), |bench| {
            bench.iter_batched(
                || sessions.iter().map(|it| (it.clone(), noops(CALLS / count))).collect(),
                |work| all(&tokio, work),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

/// So many sessions of one runtime, each of which has been shown to be right.
async fn sessions(count: usize) -> Vec<Session> {
    let runtime = Runtime::builder()
        .tools([AnyTool::new(Noop)])
        .cap(CAP)
        .each_session(|it| it.rules(Rules::allow_everything()).cap(TURN_CAP).turn_cap(TURN_CAP));
    let runtime = runtime.build().expect("the caps are right");
    // A session of its own: one that was once listened to goes on numbering its events.
    prove(&runtime.session().start().await.expect("starts"), CALLS / count).await;
    let mut sessions = Vec::new();
    for _ in 0..count {
        sessions.push(runtime.session().start().await.expect("starts"));
    }
    sessions
}

/// Each session in a task of its own, as loops that live in one process are.
fn all(tokio: &tokio::runtime::Runtime, work: Vec<(Session, Vec<toolwright::ToolUse>)>) {
    let mut drivers = JoinSet::new();
    for (session, calls) in work {
        drivers.spawn_on(async move { run(&session, calls).await.results.len() }, tokio.handle());
    }
    tokio.block_on(drivers.join_all());
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
