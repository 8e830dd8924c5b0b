//! The two lower bounds of a turn's makespan, from how long its calls took.
//!
//! Both keep the barrier order: a call that runs alone waits for all before it, and all after it
//! wait for it. No scheduler that keeps this order and takes calls in line can be faster.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU16;

/// A call that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// How long, in microseconds.
    pub us: u64,
    /// Whether it had to run alone.
    pub alone: bool,
}

/// One after the other.
#[must_use]
pub fn serial_us(spans: &[Span]) -> u64 {
    spans.iter().map(|it| it.us).sum()
}

/// The longest path under the barrier order, with as many lanes as anybody likes.
#[must_use]
pub fn critical_path_us(spans: &[Span]) -> u64 {
    let together = |run: &[Span]| match run {
        [first, ..] if first.alone => serial_us(run),
        _ => run.iter().map(|it| it.us).max().unwrap_or(0),
    };
    spans.chunk_by(|a, b| a.alone == b.alone).map(together).sum()
}

/// The same with at most `cap` calls at once: list scheduling, in line.
#[must_use]
pub fn bound_us(spans: &[Span], cap: NonZeroU16) -> u64 {
    let mut lanes: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let (mut start, mut end) = (0, 0);
    for span in spans {
        if span.alone {
            start = end;
            lanes.clear();
        } else if lanes.len() == usize::from(cap.get())
            && let Some(Reverse(free)) = lanes.pop()
        {
            start = start.max(free);
        }
        end = end.max(start + span.us);
        if span.alone {
            start = end;
        } else {
            lanes.push(Reverse(start + span.us));
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cap(lanes: u16) -> NonZeroU16 {
        NonZeroU16::new(lanes).unwrap()
    }

    /// `3` is a shared call of 3 us, `!3` one that runs alone.
    fn spans(text: &str) -> Vec<Span> {
        let span = |it: &str| Span {
            us: it.trim_start_matches('!').parse().unwrap(),
            alone: it.starts_with('!'),
        };
        text.split_whitespace().map(span).collect()
    }

    #[test]
    fn the_bounds_of_small_turns() {
        //          turn            serial  critical  cap 2
        for (turn, serial, critical, with_two) in [
            ("", 0, 0, 0),
            ("5", 5, 5, 5),
            ("!5", 5, 5, 5),
            ("3 4", 7, 4, 4),
            ("!3 !4", 7, 7, 7),
            ("3 4 5", 12, 5, 8),
            ("1 9 1 1", 12, 9, 9),
            ("9 1 1 1", 12, 9, 9),
            ("2 !3 4 4", 13, 9, 9),
            ("2 !0 4", 6, 6, 6),
            ("4 4 4 !1 4 4 4", 25, 9, 17),
        ] {
            let spans = spans(turn);
            let all = (serial_us(&spans), critical_path_us(&spans), bound_us(&spans, cap(2)));
            assert_eq!(all, (serial, critical, with_two), "{turn}");
        }
    }

    fn any_spans() -> impl Strategy<Value = Vec<Span>> {
        let span = (0_u64..1_000, any::<bool>()).prop_map(|(us, alone)| Span { us, alone });
        prop::collection::vec(span, 0..40)
    }

    proptest! {
        #[test]
        fn each_bound_is_above_the_one_below_it(spans in any_spans(), lanes in 1_u16..20) {
            let longest = spans.iter().map(|it| it.us).max().unwrap_or(0);
            let (critical, bound) = (critical_path_us(&spans), bound_us(&spans, cap(lanes)));
            prop_assert!(longest <= critical);
            prop_assert!(critical <= bound);
            prop_assert!(bound <= serial_us(&spans));
        }

        #[test]
        fn one_lane_is_one_after_the_other(spans in any_spans()) {
            prop_assert_eq!(bound_us(&spans, cap(1)), serial_us(&spans));
        }

        #[test]
        fn lanes_enough_for_all_reach_the_critical_path(spans in any_spans()) {
            prop_assert_eq!(bound_us(&spans, cap(40)), critical_path_us(&spans));
        }

        #[test]
        fn no_turn_needs_more_than_its_work_and_its_path_together(
            spans in any_spans(),
            lanes in 1_u16..20,
        ) {
            let shared: Vec<_> = spans.iter().copied().filter(|it| !it.alone).collect();
            let graham = serial_us(&shared).div_ceil(lanes.into()) + critical_path_us(&spans);
            prop_assert!(bound_us(&spans, cap(lanes)) <= graham);
        }
    }
}
