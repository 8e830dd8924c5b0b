//! Who gives width back while it waits, and how it comes by it again.

use toolwright_kernel::{Fact, Order};

use crate::{A, B, C, D, READ, Spoken, WRITE};

#[test]
fn a_call_that_asks_gives_back_its_width_not_its_place() {
    let mut turn = Spoken::of(&[READ, READ, READ, WRITE]);
    assert_eq!(turn.tell(Fact::Asking(A)), [Order::Gate(C)], "its width is for another");
    turn.run(B, READ);
    turn.run(C, READ);
    assert_eq!(turn.end(B), []);
    assert_eq!(turn.end(C), [], "but no unsafe call may start");
    turn.run(A, READ);
    assert_eq!(turn.end(A), [Order::Gate(D)]);
}

#[test]
fn a_call_that_asked_waits_for_width_in_its_place() {
    let mut turn = Spoken::of(&[READ, READ, READ]);
    turn.tell(Fact::Asking(A));
    turn.submit(READ);
    assert_eq!(turn.tell(Fact::Cleared(A, READ)), []);
    turn.run(B, READ);
    assert_eq!(turn.end(B), [Order::Run(A)], "before the fourth call");
}

#[test]
fn an_unsafe_call_that_asks_holds_the_line() {
    let mut turn = Spoken::of(&[WRITE, READ]);
    assert_eq!(turn.tell(Fact::Asking(A)), []);
    assert_eq!(turn.tell(Fact::Cleared(A, WRITE)), [Order::Log(A)]);
}

#[test]
fn a_gate_asks_once() {
    let mut turn = Spoken::of(&[READ]);
    turn.tell(Fact::Asking(A));
    assert!(turn.refuses(Fact::Asking(A)));
}

#[test]
fn a_parent_that_waits_for_nested_calls_lends_its_width() {
    let mut turn = Spoken::of(&[READ, READ, READ]);
    turn.run(A, READ);
    assert_eq!(turn.tell(Fact::Lent(A)), [Order::Gate(C)]);
}

#[test]
fn a_parent_that_lends_its_width_still_keeps_unsafe_calls_out() {
    let mut turn = Spoken::of(&[READ, WRITE]);
    turn.run(A, READ);
    assert_eq!(turn.tell(Fact::Lent(A)), []);
    assert_eq!(turn.tell(Fact::Reclaimed(A)), [Order::Resume(A)]);
    assert_eq!(turn.end(A), [Order::Gate(B)]);
}

#[test]
fn lent_width_comes_back_before_anybody_new_goes_in() {
    let mut turn = Spoken::of(&[READ, READ, READ, READ]);
    turn.run(A, READ);
    turn.tell(Fact::Lent(A));
    assert_eq!(turn.tell(Fact::Reclaimed(A)), []);
    turn.run(B, READ);
    assert_eq!(turn.end(B), [Order::Resume(A)]);
    turn.run(C, READ);
    assert_eq!(turn.end(C), [Order::Gate(D)]);
}

#[test]
fn lent_width_comes_back_in_the_order_of_the_claims() {
    let mut turn = Spoken::of(&[READ, READ, READ, READ]);
    for ix in [A, B] {
        turn.run(ix, READ);
        turn.tell(Fact::Lent(ix));
    }
    turn.tell(Fact::Reclaimed(B));
    turn.tell(Fact::Reclaimed(A));
    turn.run(C, READ);
    turn.run(D, READ);
    assert_eq!(turn.end(C), [Order::Resume(B)]);
    assert_eq!(turn.end(D), [Order::Resume(A)]);
}

#[test]
fn an_unsafe_parent_keeps_its_lane_while_it_waits() {
    let mut turn = Spoken::of(&[WRITE, READ]);
    turn.run(A, WRITE);
    assert_eq!(turn.tell(Fact::Lent(A)), []);
    assert_eq!(turn.tell(Fact::Reclaimed(A)), [Order::Resume(A)]);
}

#[test]
fn a_claim_dies_with_its_call() {
    let mut turn = Spoken::of(&[READ, READ, READ]);
    turn.run(A, READ);
    turn.tell(Fact::Lent(A));
    turn.tell(Fact::Reclaimed(A));
    turn.end(A);
    turn.run(B, READ);
    assert_eq!(turn.end(B), []);
}
