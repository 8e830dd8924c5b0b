//! Who goes in, and in which order.

use toolwright_kernel::{Fact, Footprint, Order, Refusal, Safety, Verdict};

use crate::{A, B, C, D, READ, Spoken, WRITE};

#[test]
fn safe_calls_go_in_side_by_side() {
    let mut turn = Spoken::new();
    assert_eq!(turn.submit(READ), [Order::Gate(A)]);
    assert_eq!(turn.submit(READ), [Order::Gate(B)]);
}

#[test]
fn a_safe_call_waits_for_width() {
    let mut turn = Spoken::of(&[READ, READ]);
    assert_eq!(turn.submit(READ), []);
    turn.run(B, READ);
    assert_eq!(turn.end(B), [Order::Gate(C)]);
}

#[test]
fn an_unsafe_call_waits_until_it_is_alone() {
    let mut turn = Spoken::of(&[READ, READ]);
    assert_eq!(turn.submit(WRITE), []);
    turn.run(A, READ);
    turn.run(B, READ);
    assert_eq!(turn.end(B), []);
    assert_eq!(turn.end(A), [Order::Gate(C)]);
}

#[test]
fn a_safe_call_after_a_waiting_unsafe_call_waits() {
    let mut turn = Spoken::of(&[READ, WRITE]);
    assert_eq!(turn.submit(READ), []);
}

#[test]
fn safe_calls_after_a_barrier_run_in_parallel_again() {
    let mut turn = Spoken::of(&[WRITE, READ, READ]);
    turn.run(A, WRITE);
    assert_eq!(turn.end(A), [Order::Gate(B), Order::Gate(C)]);
}

#[test]
fn unsafe_calls_run_one_after_the_other() {
    let mut turn = Spoken::of(&[WRITE, WRITE, WRITE]);
    turn.run(A, WRITE);
    assert_eq!(turn.end(A), [Order::Gate(B)]);
    turn.run(B, WRITE);
    assert_eq!(turn.end(B), [Order::Gate(C)]);
}

#[test]
fn an_unsafe_call_is_let_in_by_the_store_and_not_by_the_verdict() {
    let mut turn = Spoken::of(&[READ, WRITE]);
    turn.run(A, READ);
    assert_eq!(turn.tell(Fact::Returned(A, Verdict::Good)).len(), 1);
    assert_eq!(turn.tell(Fact::Stored(A)), [Order::Gate(B)]);
}

#[test]
fn a_refused_call_lets_the_next_one_in_at_once() {
    let mut turn = Spoken::of(&[WRITE, WRITE]);
    let orders = turn.tell(Fact::Refused(A, Refusal::Denied));
    assert!(orders.contains(&Order::Gate(B)), "{orders:?}");
}

#[test]
fn a_call_that_a_hook_widened_waits_to_be_alone_in_its_place() {
    let mut turn = Spoken::of(&[READ, READ, READ]);
    assert_eq!(turn.tell(Fact::Cleared(A, WRITE)), []);
    turn.run(B, READ);
    assert_eq!(turn.end(B), [Order::Log(A)], "and the third call waits behind it");
    turn.tell(Fact::Logged(A));
    assert_eq!(turn.end(A), [Order::Gate(C)]);
}

#[test]
fn two_widened_calls_go_in_in_the_order_of_the_message() {
    let alone = Safety { footprint: Footprint::Exclusive, ..READ };
    let mut turn = Spoken::of(&[READ, READ]);
    turn.tell(Fact::Cleared(B, alone));
    assert_eq!(turn.tell(Fact::Cleared(A, alone)), [Order::Run(A)]);
    assert_eq!(turn.end(A), [Order::Run(B)]);
}

#[test]
fn a_call_that_a_hook_made_safe_keeps_its_lane_to_itself() {
    let mut turn = Spoken::of(&[WRITE, READ]);
    assert_eq!(turn.tell(Fact::Cleared(A, READ)), [Order::Run(A)]);
    assert_eq!(turn.end(A), [Order::Gate(B)]);
}

#[test]
fn a_turn_without_calls_finishes_when_it_is_sealed() {
    let mut turn = Spoken::new();
    assert_eq!(turn.tell(Fact::Sealed), [Order::Finish]);
}

#[test]
fn a_turn_finishes_when_the_last_result_is_safe() {
    let mut turn = Spoken::of(&[READ, READ]);
    turn.tell(Fact::Sealed);
    turn.run(A, READ);
    turn.run(B, READ);
    assert_eq!(turn.end(B), []);
    assert_eq!(turn.end(A), [Order::Finish]);
}

#[test]
fn an_empty_place_in_the_message_is_no_call() {
    let mut turn = Spoken::of(&[READ]);
    for fact in [Fact::Cleared(D, READ), Fact::Stored(D), Fact::Gone(D), Fact::Logged(A)] {
        assert!(turn.refuses(fact), "{fact:?}");
    }
}
