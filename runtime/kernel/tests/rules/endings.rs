//! What is told of a call in the end.

use toolwright_kernel::{Ending, Fact, Order, Progress, Refusal, Returned, StopCause, Verdict};

use crate::{A, FAILED, GOOD, READ, Spoken};

/// The ending of a call that ran, was perhaps told to stop, and said this.
fn ending(stop: Option<StopCause>, verdict: Verdict) -> Ending {
    let mut turn = Spoken::of(&[READ]);
    turn.run(A, READ);
    if let Some(cause) = stop {
        turn.stop(A, cause);
    }
    turn.tell(Fact::Returned(A, verdict));
    turn.0.calls()[A.at()].ending().unwrap()
}

#[test]
fn a_tool_is_told_as_it_says() {
    let crashed = Ending::Returned(Returned::Crashed);
    let stopped = Ending::Stopped(StopCause::User, Progress::MayHaveRun);
    let bad = Verdict::Bad { cascades: false };
    for (verdict, untold, told) in [
        (Verdict::Good, GOOD, GOOD),
        (bad, FAILED, FAILED),
        (Verdict::Crashed, crashed, crashed),
        (Verdict::Stopped, crashed, stopped),
    ] {
        assert_eq!(ending(None, verdict), untold, "{verdict:?}");
        assert_eq!(ending(Some(StopCause::User), verdict), told, "{verdict:?} after a stop");
    }
}

#[test]
fn a_call_that_was_screened_out_is_stored_at_once() {
    let mut turn = Spoken::new();
    let store = Order::Store(A, Ending::Refused(Refusal::InvalidInput));
    assert_eq!(turn.tell(Fact::Submitted(Err(Refusal::InvalidInput))), [store]);
}

#[test]
fn a_denied_call_does_not_run() {
    let mut turn = Spoken::of(&[READ]);
    let store = Order::Store(A, Ending::Refused(Refusal::Denied));
    assert_eq!(turn.tell(Fact::Refused(A, Refusal::Denied)), [store]);
    assert!(turn.refuses(Fact::Cleared(A, READ)));
}

#[test]
fn a_result_is_stored_once() {
    let mut turn = Spoken::of(&[READ]);
    turn.run(A, READ);
    turn.end(A);
    assert!(turn.refuses(Fact::Returned(A, Verdict::Good)));
    assert!(turn.refuses(Fact::Stored(A)));
}
