//! Makespan of a mix of 10 ms calls against its bound, and against bare tokio under the same rule.
//!
//! Prints a table of medians instead of criterion's report, since what counts is a ratio. The
//! bound is computed from how long each call really took: tokio's timer rounds 10 ms up to the
//! next millisecond, which no scheduler can help.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]
#![allow(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use toolwright::replay::bounds::{Span, bound_us};
use toolwright::{Card, Output, RunCx, Safety, Session, Tool, ToolError, ToolUse};
use toolwright_benches::{run, runtime, session_with};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CALL: Duration = Duration::from_millis(10);
const CAP: NonZeroU16 = NonZeroU16::new(10).unwrap();
const REPETITIONS: usize = 15;

/// Waits, and notes for how long.
#[derive(Clone, Default)]
struct Waits(Arc<Mutex<Vec<(usize, Span)>>>);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Which {
    call: usize,
    alone: bool,
}

impl Tool for Waits {
    type Input = Which;
    type Output = &'static str;

    fn card(&self) -> Card {
        Card::new("Waits", "Waits ten milliseconds.")
    }

    fn safety(&self, it: &Which) -> Safety {
        if it.alone { Safety::default() } else { Safety::read_only() }
    }

    async fn run(&self, it: Which, _: RunCx) -> Result<Output<&'static str>, ToolError> {
        let span = waited(it.alone).await;
        self.note(it.call, span);
        Ok("waited".into())
    }
}

impl Waits {
    fn note(&self, call: usize, span: Span) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((call, span));
    }

    /// The spans since the last time, in the order of the calls.
    fn take(&self) -> Vec<Span> {
        let mut spans = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        spans.sort_by_key(|(call, _)| *call);
        spans.into_iter().map(|(_, span)| span).collect()
    }
}

async fn waited(alone: bool) -> Span {
    let begun = Instant::now();
    tokio::time::sleep(CALL).await;
    Span { us: micros(begun.elapsed()), alone }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// One call in `every` runs alone; 0 means none.
fn is_alone(call: usize, every: usize) -> bool {
    every > 0 && call % every == every - 1
}

fn main() {
    let tokio = runtime();
    let waits = Waits::default();
    let session = session_with(waits.clone(), |it| it.turn_cap(CAP.get()));
    let session = tokio.block_on(session);
    println!(
        "{:>6} {:>10}  {:>22}  {:>22}",
        "calls", "alone", "toolwright / bound", "bare tokio / bound"
    );
    for (calls, every) in [(10, 0), (100, 0), (100, 10), (300, 3), (50, 1), (1_000, 0), (1_000, 50)]
    {
        let ours = median(|| ratio(&tokio, turn(session.clone(), waits.clone(), calls, every)));
        let bare = median(|| ratio(&tokio, barrier(calls, every)));
        let alone = (0..calls).filter(|&it| is_alone(it, every)).count();
        println!("{calls:>6} {alone:>10}  {ours:>22.4}  {bare:>22.4}");
    }
}

fn ratio(
    tokio: &tokio::runtime::Runtime,
    run: impl Future<Output = (Duration, Vec<Span>)> + Send + 'static,
) -> f64 {
    let mut driver = JoinSet::new();
    driver.spawn_on(run, tokio.handle());
    let (makespan, spans) = tokio.block_on(driver.join_next()).expect("is there").expect("ends");
    micros(makespan) as f64 / bound_us(&spans, CAP) as f64
}

fn median(mut once: impl FnMut() -> f64) -> f64 {
    let mut ratios: Vec<_> = (0..REPETITIONS).map(|_| once()).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[REPETITIONS / 2]
}

async fn turn(session: Session, waits: Waits, calls: usize, every: usize) -> (Duration, Vec<Span>) {
    let call = |it: usize| {
        let input = serde_json::json!({"call": it, "alone": is_alone(it, every)});
        ToolUse::new(format!("toolu_{it}"), "Waits", input)
    };
    let calls = (0..calls).map(call).collect();
    let begun = Instant::now();
    drop(run(&session, calls).await);
    (begun.elapsed(), waits.take())
}

/// The floor: the same rule written out for this one workload.
async fn barrier(calls: usize, every: usize) -> (Duration, Vec<Span>) {
    let begun = Instant::now();
    let (mut running, mut spans) = (JoinSet::new(), Vec::new());
    for call in 0..calls {
        let alone = is_alone(call, every);
        let most = if alone { 0 } else { usize::from(CAP.get()) - 1 };
        while running.len() > most {
            spans.extend(running.join_next().await.and_then(Result::ok));
        }
        running.spawn(async move { (call, waited(alone).await) });
        while alone && !running.is_empty() {
            spans.extend(running.join_next().await.and_then(Result::ok));
        }
    }
    spans.extend(running.join_all().await);
    spans.sort_by_key(|(call, _)| *call);
    (begun.elapsed(), spans.into_iter().map(|(_, span)| span).collect())
}
