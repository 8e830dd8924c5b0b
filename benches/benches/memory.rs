//! Memory of a call that waits, beyond its input, and the peak of a whole message.
//!
//! Prints a table instead of times: bytes that the allocator has handed out, counted exactly.
#![allow(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use peak_alloc::PeakAlloc;
use serde_json::json;
use tokio::task::JoinSet;
use toolwright::{Session, ToolUse};
use toolwright_benches::{SIZES, noops, run, runtime, session};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn main() {
    let tokio = runtime();
    let session = tokio.block_on(session());
    // What is made once (a schema, a session's first turn) is no cost of a call.
    drop(tokio.block_on(run(&session, noops(1))));
    println!(
        "{:>7}  {:>16}  {:>18}  {:>18}",
        "calls", "bytes per waiting", "peak per no-op", "floor"
    );
    for size in SIZES {
        let waiting = tokio.block_on(waiting(&session, size));
        let peak = peak_of(|| drop(tokio.block_on(run(&session, noops(size)))));
        let floor = peak_of(|| tokio.block_on(spawn_join(size)));
        let per_call = |bytes: usize| bytes / size;
        println!(
            "{size:>7}  {:>16}  {:>18}  {:>18}",
            per_call(waiting),
            per_call(peak),
            per_call(floor)
        );
    }
}

/// Bytes that `size` calls take beyond their inputs while all of them wait behind one that runs.
async fn waiting(session: &Session, size: usize) -> usize {
    let Ok(mut turn) = session.turn().await else { return 0 };
    let barrier = ToolUse::new("barrier", "Noop", json!({"ms": 600_000, "alone": true}));
    drop(turn.submit(barrier).await);
    let calls = noops(size);
    let before = ALLOCATOR.current_usage();
    for call in calls {
        drop(turn.submit(call).await);
    }
    // The scheduler has taken them in when its mailbox is empty: each submit is one message.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let taken = ALLOCATOR.current_usage().saturating_sub(before);
    turn.stopper().discard();
    drop(turn.finish().await);
    taken
}

fn peak_of(work: impl FnOnce()) -> usize {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    work();
    ALLOCATOR.peak_usage().saturating_sub(before)
}

async fn spawn_join(size: usize) {
    let mut tasks = JoinSet::new();
    (0..size).for_each(|_| drop(tasks.spawn(async { "done" })));
    drop(tasks.join_all().await);
}
