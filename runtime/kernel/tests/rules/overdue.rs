//! Calls that were told to stop and did not end in time.

use toolwright_kernel::{Ending, Fact, Footprint, Order, Place, Policy, Progress, StopCause, Turn};

use crate::{A, B, READ, Spoken, WRITE};

const LATE: Ending = Ending::Stopped(StopCause::Deadline, Progress::MayHaveRun);

fn overdue(turn: &mut Spoken) {
    turn.stop(A, StopCause::Deadline);
    assert_eq!(turn.tell(Fact::Overdue(A)), [Order::Store(A, LATE)]);
}

#[test]
fn an_overdue_call_keeps_its_lane_until_it_is_gone() {
    let mut turn = Spoken::of(&[READ, WRITE]);
    turn.run(A, READ);
    overdue(&mut turn);
    assert_eq!(turn.tell(Fact::Stored(A)), []);
    assert_eq!(turn.tell(Fact::Gone(A)), [Order::Gate(B)]);
}

#[test]
fn an_overdue_call_may_be_gone_before_it_is_stored() {
    let mut turn = Spoken::of(&[READ, WRITE]);
    turn.run(A, READ);
    overdue(&mut turn);
    assert_eq!(turn.tell(Fact::Gone(A)), [Order::Gate(B)]);
    assert_eq!(turn.tell(Fact::Stored(A)), []);
}

#[test]
fn only_a_call_that_was_told_to_stop_can_be_overdue() {
    let mut turn = Spoken::of(&[READ]);
    assert!(turn.refuses(Fact::Overdue(A)), "at its gate");
    turn.run(A, READ);
    assert!(turn.refuses(Fact::Overdue(A)), "in its tool");
}

#[test]
fn a_gate_that_is_overdue_has_not_started_the_call() {
    let mut turn = Spoken::of(&[WRITE]);
    turn.stop(A, StopCause::User);
    let ending = Ending::Stopped(StopCause::User, Progress::NotStarted);
    assert_eq!(turn.tell(Fact::Overdue(A)), [Order::Store(A, ending)]);
}

#[test]
fn what_an_overdue_call_holds_outlives_its_turn() {
    let mut turn = Spoken::of(&[WRITE]);
    turn.run(A, WRITE);
    overdue(&mut turn);
    turn.tell(Fact::Sealed);
    assert_eq!(turn.tell(Fact::Stored(A)), [Order::Finish]);

    let mut next = Spoken(Turn::new(Policy::default(), turn.0.lanes().clone()));
    assert_eq!(next.submit(READ), []);
    let place = Place::Lane(Footprint::Exclusive);
    assert_eq!(next.tell(Fact::Freed(place)), [Order::Gate(A)]);
    assert!(next.refuses(Fact::Freed(place)));
}

#[test]
fn a_finished_turn_without_overdue_calls_leaves_its_lanes_empty() {
    let mut turn = Spoken::of(&[READ]);
    turn.tell(Fact::Sealed);
    turn.run(A, READ);
    assert_eq!(turn.end(A), [Order::Finish]);
    assert!(turn.0.lanes().is_empty());
}
