//! A message with too many calls.

use toolwright_kernel::{Ending, Fact, Order, Policy, Progress, Refusal, StopCause};

use crate::{A, B, C, D, GOOD, READ, Spoken};

const NOT_STARTED: Ending = Ending::Stopped(StopCause::TooManyCalls, Progress::NotStarted);

fn at_most(max_calls: u32) -> Spoken {
    Spoken::under(Policy { max_calls, ..Policy::default() }, 1)
}

#[test]
fn a_message_with_as_many_calls_as_allowed_is_taken() {
    let mut turn = at_most(2);
    turn.submit(READ);
    assert_eq!(turn.submit(READ), []);
    turn.run(A, READ);
    assert_eq!(turn.end(A), [Order::Gate(B)]);
}

#[test]
fn a_message_with_too_many_calls_is_refused_as_a_whole() {
    let mut turn = at_most(2);
    turn.submit(READ);
    turn.submit(READ);
    let orders = turn.submit(READ);
    let stop = Order::Stop(A, StopCause::TooManyCalls);
    assert_eq!(orders, [stop, Order::Store(B, NOT_STARTED), Order::Store(C, NOT_STARTED)]);
    assert_eq!(turn.submit(READ), [Order::Store(D, NOT_STARTED)]);
}

#[test]
fn a_call_that_ended_before_the_message_was_too_long_keeps_its_result() {
    let mut turn = at_most(1);
    turn.submit(READ);
    turn.run(A, READ);
    turn.end(A);
    turn.submit(READ);
    assert_eq!(turn.0.calls()[A.at()].ending(), Some(GOOD));
}

#[test]
fn an_invalid_call_beyond_the_limit_refuses_the_message_too() {
    let mut turn = at_most(1);
    turn.submit(READ);
    let orders = turn.tell(Fact::Submitted(Err(Refusal::UnknownTool)));
    assert!(orders.contains(&Order::Stop(A, StopCause::TooManyCalls)), "{orders:?}");
}
