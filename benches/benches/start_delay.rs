//! Delay from the last byte of a streamed block to the start of its call.
//!
//! The floor is a bare spawn from the same place.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use toolwright::{Card, Output, RunCx, Safety, Session, StreamedTurn, Tool, ToolError};
use toolwright_benches::{runtime, session_with};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Says when it was started.
#[derive(Clone, Default)]
struct Probe(Arc<Mutex<Option<oneshot::Sender<Instant>>>>);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl Tool for Probe {
    type Input = Nothing;
    type Output = &'static str;

    fn card(&self) -> Card {
        Card::new("Probe", "Says when it was started.")
    }

    fn safety(&self, _: &Nothing) -> Safety {
        Safety::read_only()
    }

    async fn run(&self, _: Nothing, _: RunCx) -> Result<Output<&'static str>, ToolError> {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        sender.map(|it| it.send(Instant::now()));
        Ok("done".into())
    }
}

const MESSAGE: &str = concat!(
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\"}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":",
    "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"Probe\",\"input\":{}}}\n\n",
);
const STOP: &str = "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n";

async fn streamed(session: Session, probe: Probe) -> Duration {
    let (sender, receiver) = oneshot::channel();
    *probe.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
    let turn = session.turn().await.expect("opens");
    let mut turn = StreamedTurn::new(turn);
    turn.push(MESSAGE.as_bytes()).await;
    let last_byte = Instant::now();
    turn.push(STOP.as_bytes()).await;
    let started = receiver.await.expect("starts");
    drop(turn.finish().await);
    started - last_byte
}

async fn spawned() -> Duration {
    let begun = Instant::now();
    let mut task = JoinSet::new();
    task.spawn(async { Instant::now() });
    task.join_next().await.expect("is there").expect("ends") - begun
}

fn start_delay(criterion: &mut Criterion) {
    let tokio = runtime();
    let probe = Probe::default();
    let session = tokio.block_on(session_with(probe.clone(), |it| it));
    let mut group = criterion.benchmark_group("start_delay");
    group.bench_function("toolwright", |bench| {
        bench.iter_custom(|times| {
            let (session, probe) = (session.clone(), probe.clone());
            let mut driver = JoinSet::new();
            let all = async move {
                let mut sum = Duration::ZERO;
                for _ in 0..times {
                    sum += streamed(session.clone(), probe.clone()).await;
                }
                sum
            };
            driver.spawn_on(all, tokio.handle());
            tokio.block_on(driver.join_all()).into_iter().sum()
        });
    });
    group.bench_function("spawn", |bench| {
        bench.iter_custom(|times| {
            let mut driver = JoinSet::new();
            let all = async move {
                let mut sum = Duration::ZERO;
                for _ in 0..times {
                    sum += spawned().await;
                }
                sum
            };
            driver.spawn_on(all, tokio.handle());
            tokio.block_on(driver.join_all()).into_iter().sum()
        });
    });
    group.finish();
}

criterion_group!(benches, start_delay);
criterion_main!(benches);
