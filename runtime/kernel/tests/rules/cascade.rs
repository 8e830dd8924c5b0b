//! A failure and its siblings.

use toolwright_kernel::{Cascade, Ending, Fact, Order, Policy, Progress, StopCause, Verdict};

use crate::{A, B, C, FAILED, READ, Spoken};

const BY_A: StopCause = StopCause::Sibling(A);
const BAD: Verdict = Verdict::Bad { cascades: true };
const POOR: Verdict = Verdict::Bad { cascades: false };

/// Two calls run side by side, a third waits.
fn three_calls(cascade: Cascade) -> Spoken {
    let mut turn = Spoken::under(Policy { cascade, ..Policy::default() }, 2);
    for _ in 0..3 {
        turn.submit(READ);
    }
    turn.run(A, READ);
    turn.run(B, READ);
    turn
}

#[test]
fn the_policy_decides_whose_failure_stops_the_siblings() {
    for (cascade, verdict, stops) in [
        (Cascade::Never, BAD, false),
        (Cascade::Never, Verdict::Crashed, false),
        (Cascade::Declared, BAD, true),
        (Cascade::Declared, POOR, false),
        (Cascade::Declared, Verdict::Crashed, false),
        (Cascade::Any, BAD, true),
        (Cascade::Any, POOR, true),
        (Cascade::Any, Verdict::Crashed, true),
        // It was not told to stop: it has crashed.
        (Cascade::Any, Verdict::Stopped, true),
        (Cascade::Any, Verdict::Good, false),
    ] {
        let orders = three_calls(cascade).tell(Fact::Returned(A, verdict));
        let stopped = orders.contains(&Order::Stop(B, BY_A));
        assert_eq!(stopped, stops, "{cascade:?} {verdict:?}: {orders:?}");
    }
}

#[test]
fn a_tool_that_stopped_as_told_has_not_failed() {
    let mut turn = three_calls(Cascade::Any);
    turn.stop(A, StopCause::User);
    let ending = Ending::Stopped(StopCause::User, Progress::MayHaveRun);
    assert_eq!(turn.tell(Fact::Returned(A, Verdict::Stopped)), [Order::Store(A, ending)]);
}

#[test]
fn a_sibling_that_waits_never_starts() {
    let mut turn = three_calls(Cascade::Declared);
    let orders = turn.tell(Fact::Returned(A, BAD));
    let not_started = Ending::Stopped(BY_A, Progress::NotStarted);
    let store = Order::Store(A, FAILED);
    assert_eq!(orders, [store, Order::Stop(B, BY_A), Order::Store(C, not_started)]);
}

#[test]
fn a_sibling_that_arrives_later_never_starts() {
    let mut turn = three_calls(Cascade::Declared);
    turn.tell(Fact::Returned(A, BAD));
    let orders = turn.submit(READ);
    let ending = Ending::Stopped(BY_A, Progress::NotStarted);
    assert_eq!(orders, [Order::Store(crate::D, ending)]);
}

#[test]
fn a_sibling_that_is_done_keeps_its_result() {
    let mut turn = three_calls(Cascade::Declared);
    turn.tell(Fact::Returned(B, Verdict::Good));
    assert!(!turn.tell(Fact::Returned(A, BAD)).iter().any(|it| matches!(it, Order::Stop(..))));
}

#[test]
fn two_that_fail_at_once_both_keep_their_error() {
    let mut turn = three_calls(Cascade::Declared);
    turn.tell(Fact::Returned(A, BAD));
    assert_eq!(turn.tell(Fact::Returned(B, BAD)), [Order::Store(B, FAILED)]);
}

#[test]
fn a_refused_call_takes_nobody_along() {
    let mut turn = Spoken::under(Policy { cascade: Cascade::Any, ..Policy::default() }, 2);
    turn.submit(READ);
    turn.submit(READ);
    let orders = turn.tell(Fact::Refused(A, toolwright_kernel::Refusal::Denied));
    assert_eq!(orders.len(), 1, "{orders:?}");
}
