//! The watchdog: notices a tool that keeps its thread without a break, and names it.
//!
//! A tool without an await point starves whatever shares its worker thread, so it is looked for
//! from a thread of its own. That thread lives while tools run and ends soon after. Each poll of a
//! tool costs two stores; the time is read by the watchdog alone, and by the clock of the tool's
//! runtime: where that is paused it stands still during a poll, and no tool ever stalls.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;
use toolwright_contract::{CallIx, EventKind, Stop, TurnId};

use crate::bus::Bus;
use crate::limits::{LOOK, STALL};

/// A running tool, as the watchdog knows it.
pub(crate) struct Watched {
    pub(crate) bus: Arc<Bus>,
    pub(crate) turn: TurnId,
    pub(crate) ix: CallIx,
    pub(crate) tool: String,
    pub(crate) stop: Stop,
}

/// Runs `work` under the watchdog's eye.
pub(crate) async fn watched<T>(who: Watched, work: impl Future<Output = T>) -> T {
    let subject = Arc::new(Subject {
        who,
        runtime: Handle::current(),
        steps: AtomicU64::new(0),
        seen: Mutex::default(),
    });
    watch(&subject);
    let mut work = pin!(work);
    poll_fn(|cx| {
        subject.step();
        let polled = work.as_mut().poll(cx);
        subject.step();
        polled
    })
    .await
}

struct Subject {
    who: Watched,
    runtime: Handle,
    /// Polls begun and polls ended: odd while one goes on.
    steps: AtomicU64,
    /// The poll that the watchdog saw last; nobody else looks at it.
    seen: Mutex<Option<Seen>>,
}

struct Seen {
    step: u64,
    since: Instant,
    told: bool,
}

impl Subject {
    /// Only the one task that polls the tool takes steps.
    fn step(&self) {
        self.steps.store(self.steps.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn look(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let step = self.steps.load(Ordering::Relaxed);
        if step.is_multiple_of(2) {
            *seen = None;
            return;
        }
        let now = self.now();
        match &mut *seen {
            Some(it) if it.step == step => {
                let lasts = now.saturating_duration_since(it.since);
                if lasts >= STALL && !std::mem::replace(&mut it.told, true) {
                    self.tell(lasts);
                }
            }
            Some(_) | None => *seen = Some(Seen { step, since: now, told: false }),
        }
    }

    /// The time by the clock of the tool's runtime.
    fn now(&self) -> Instant {
        let _inside = self.runtime.enter();
        Instant::now()
    }

    fn tell(&self, lasts: Duration) {
        let Watched { bus, turn, ix, tool, stop } = &self.who;
        let for_ms = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(tool, call = ix.0, for_ms, "a tool keeps its thread without a break");
        // What was told to stop may be answered already, and its turn over.
        if !stop.is_told() {
            bus.emit(*turn, || EventKind::Stalled { call: ix.0, for_ms });
        }
    }
}

/// The tools that run now in this process, and whether anybody looks at them.
struct Yard {
    subjects: Vec<Weak<Subject>>,
    guarded: bool,
}

static YARD: Mutex<Yard> = Mutex::new(Yard { subjects: Vec::new(), guarded: false });

/// A poisoned lock is taken all the same: every change is one step.
fn yard() -> MutexGuard<'static, Yard> {
    YARD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(subject: &Arc<Subject>) {
    let mut yard = yard();
    yard.subjects.push(Arc::downgrade(subject));
    if !yard.guarded {
        let watchdog = std::thread::Builder::new().name("toolwright-watch".to_owned());
        // Where the system has no thread to give, tools run unwatched until it has.
        yard.guarded = watchdog.spawn(guard).is_ok();
    }
}

/// Looks at every running tool now and then, until none is left.
fn guard() {
    loop {
        std::thread::sleep(LOOK);
        for subject in present() {
            subject.look();
        }
        let mut yard = yard();
        yard.subjects.retain(|it| it.strong_count() > 0);
        if yard.subjects.is_empty() {
            yard.guarded = false;
            yard.subjects.shrink_to(0);
            return;
        }
    }
}

fn present() -> Vec<Arc<Subject>> {
    yard().subjects.iter().filter_map(Weak::upgrade).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Arc<Subject> {
        let who = Watched {
            bus: Arc::new(Bus::new(None)),
            turn: TurnId(3),
            ix: CallIx(7),
            tool: "Idle".to_owned(),
            stop: Stop::default(),
        };
        let (steps, seen) = (AtomicU64::new(0), Mutex::default());
        Arc::new(Subject { who, runtime: Handle::current(), steps, seen })
    }

    /// What the watchdog has told after each of these, looked at in turn: `s` is a step, `.`
    /// half a second.
    async fn told_after(script: &str) -> Vec<u64> {
        let subject = subject();
        let mut events = subject.who.bus.history();
        for act in script.chars() {
            match act {
                's' => subject.step(),
                _ => tokio::time::advance(Duration::from_millis(500)).await,
            }
            subject.look();
        }
        let events = std::iter::from_fn(|| events.try_recv().ok());
        let told = events.map(|it| {
            let EventKind::Stalled { call: 7, for_ms } = it.kind else { panic!("{it:?}") };
            for_ms
        });
        told.collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_poll_of_a_second_is_told_once_and_waiting_is_not() {
        assert_eq!(told_after("s.").await, [0; 0]);
        assert_eq!(told_after("s..").await, [1_000]);
        assert_eq!(told_after("s......").await, [1_000]);
        assert_eq!(told_after("s.s....s.s").await, [0; 0]);
        assert_eq!(told_after("s.ss.ss.").await, [0; 0]);
        assert_eq!(told_after("s..ss...").await, [1_000, 1_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn where_time_stands_still_no_poll_is_long() {
        let subject = subject();
        let mut events = subject.who.bus.history();
        subject.step();
        for _ in 0..100 {
            subject.look();
        }
        assert!(events.try_recv().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn the_watchdog_goes_when_nothing_runs() {
        let subject = subject();
        watch(&subject);
        assert!(yard().guarded);
        drop(subject);
        // Other tests' tools end too.
        while yard().guarded {
            std::thread::yield_now();
        }
    }
}
