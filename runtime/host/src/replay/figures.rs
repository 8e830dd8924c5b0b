//! The figures of a replay, of one session or summed up over many.

use std::num::NonZeroU16;
use std::ops::AddAssign;
use std::time::Duration;

use serde::Serializer;

use super::bounds::{self, Span};
use super::played::PlayedCall;

/// What a replay comes to. Serialised, it is the part of a report's line that can be summed.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Figures {
    /// `tool_use` blocks that were submitted and took a place.
    pub calls: usize,
    /// `tool_result` blocks that came back.
    pub results: usize,
    /// Results that are errors, those of cancelled calls included.
    pub errors: usize,
    /// Calls that were stopped, by a sibling or otherwise.
    pub cancelled: usize,
    /// Assistant messages that hold calls.
    pub groups: usize,
    /// Most calls of one message that ran at once. A sum has the largest.
    pub max_parallel: u32,
    /// The time that the calls took, one after the other.
    #[serde(rename = "serial_ms", serialize_with = "milliseconds")]
    pub serial_us: u64,
    /// The time that the turns took, each from its first start to its last end.
    #[serde(rename = "makespan_ms", serialize_with = "milliseconds")]
    pub makespan_us: u64,
    /// The longest path under the barrier order, without a cap.
    #[serde(rename = "critical_path_ms", serialize_with = "milliseconds")]
    pub critical_path_us: u64,
    /// The same with the cap.
    #[serde(rename = "bound_ms", serialize_with = "milliseconds")]
    pub bound_us: u64,
    /// Processor time of the process while turns ran, less that in the bodies of tools, by calls.
    #[serde(rename = "overhead_us_per_call", serialize_with = "per_call")]
    pub overhead: Overhead,
    /// What broke the invariants; empty if nothing did.
    pub violations: Vec<String>,
    /// Messages of which several calls ran at once.
    pub parallel_groups: usize,
    /// [`serial_us`](Self::serial_us) of these alone.
    #[serde(rename = "parallel_serial_ms", serialize_with = "milliseconds")]
    pub parallel_serial_us: u64,
    /// [`makespan_us`](Self::makespan_us) of these alone.
    #[serde(rename = "parallel_makespan_ms", serialize_with = "milliseconds")]
    pub parallel_makespan_us: u64,
    /// Calls that were answered that the recording holds no result for them; errors, too.
    pub unanswered: usize,
    /// Calls of which the recording doesn't tell how long they took; they take no time.
    pub untimed: usize,
    /// The longest wait for a lane. A sum has the largest.
    #[serde(rename = "max_wait_ms", serialize_with = "milliseconds")]
    pub max_wait_us: u64,
    /// The digest of the session's events, one JSON line each (FNV-1a, 64 bits). A sum has none.
    #[serde(serialize_with = "hexadecimal", skip_serializing_if = "Option::is_none")]
    pub history: Option<u64>,
}

/// Processor time, and the calls that it was for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    spent: Duration,
    calls: usize,
}

impl Overhead {
    /// Microseconds for each call; 0 without calls.
    #[must_use]
    pub fn us_per_call(self) -> f64 {
        if self.calls == 0 {
            return 0.0;
        }
        self.spent.as_secs_f64() * 1e6 / self.calls as f64
    }
}

impl Figures {
    pub(super) fn add_turn(
        &mut self,
        calls: &[PlayedCall],
        results: usize,
        spent: Duration,
        cap: NonZeroU16,
    ) {
        let ran = calls.iter().filter_map(|it| Some(Span { us: it.ran_us()?, alone: it.alone }));
        let spans: Vec<_> = ran.collect();
        let first_start = calls.iter().filter_map(|it| it.started_us).min();
        let last_end =
            calls.iter().filter(|it| it.started_us.is_some()).map(|it| it.ended_us).max();
        let max_parallel = calls.iter().map(|it| it.beside).max().unwrap_or(0);
        let makespan_us = last_end.unwrap_or(0).saturating_sub(first_start.unwrap_or(0));
        let serial_us = bounds::serial_us(&spans);
        let is_parallel = max_parallel > 1;
        *self += &Self {
            calls: calls.len(),
            results,
            errors: calls.iter().filter(|it| it.is_error).count(),
            cancelled: calls.iter().filter(|it| it.was_cancelled()).count(),
            groups: 1,
            max_parallel,
            serial_us,
            makespan_us,
            critical_path_us: bounds::critical_path_us(&spans),
            bound_us: bounds::bound_us(&spans, cap),
            overhead: Overhead { spent, calls: calls.len() },
            violations: Vec::new(),
            parallel_groups: usize::from(is_parallel),
            parallel_serial_us: if is_parallel { serial_us } else { 0 },
            parallel_makespan_us: if is_parallel { makespan_us } else { 0 },
            unanswered: calls.iter().filter(|it| it.is_unanswered()).count(),
            untimed: calls.iter().filter(|it| it.is_untimed).count(),
            max_wait_us: calls.iter().map(PlayedCall::waited_us).max().unwrap_or(0),
            history: None,
        };
    }
}

impl AddAssign<&Self> for Figures {
    fn add_assign(&mut self, more: &Self) {
        self.calls += more.calls;
        self.results += more.results;
        self.errors += more.errors;
        self.cancelled += more.cancelled;
        self.groups += more.groups;
        self.max_parallel = self.max_parallel.max(more.max_parallel);
        self.serial_us += more.serial_us;
        self.makespan_us += more.makespan_us;
        self.critical_path_us += more.critical_path_us;
        self.bound_us += more.bound_us;
        self.overhead.spent += more.overhead.spent;
        self.overhead.calls += more.overhead.calls;
        self.violations.extend_from_slice(&more.violations);
        self.parallel_groups += more.parallel_groups;
        self.parallel_serial_us += more.parallel_serial_us;
        self.parallel_makespan_us += more.parallel_makespan_us;
        self.unanswered += more.unanswered;
        self.untimed += more.untimed;
        self.max_wait_us = self.max_wait_us.max(more.max_wait_us);
        self.history = None;
    }
}

/// Whole milliseconds as an integer, others with their fraction.
fn milliseconds<S: Serializer>(us: &u64, to: S) -> Result<S::Ok, S::Error> {
    if us.is_multiple_of(1_000) {
        to.serialize_u64(us / 1_000)
    } else {
        to.serialize_f64(*us as f64 / 1e3)
    }
}

fn per_call<S: Serializer>(overhead: &Overhead, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((overhead.us_per_call() * 100.0).round() / 100.0)
}

fn hexadecimal<S: Serializer>(digest: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{:016x}", digest.unwrap_or_default()))
}
