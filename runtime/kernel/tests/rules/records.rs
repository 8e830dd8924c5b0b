//! What starts only once its start is on record.

use toolwright_kernel::{Effects, Ending, Fact, Order, Refusal, Safety};

use crate::{A, B, READ, Spoken, WRITE};

#[test]
fn a_call_that_may_change_something_runs_once_its_record_is_written() {
    let mut turn = Spoken::of(&[WRITE]);
    assert_eq!(turn.tell(Fact::Cleared(A, WRITE)), [Order::Log(A)]);
    assert_eq!(turn.tell(Fact::Logged(A)), [Order::Run(A)]);
}

#[test]
fn a_read_only_call_needs_no_record() {
    let mut turn = Spoken::of(&[READ]);
    assert_eq!(turn.tell(Fact::Cleared(A, READ)), [Order::Run(A)]);
}

#[test]
fn a_call_that_a_hook_made_write_is_recorded() {
    let writes = Safety { effects: Effects::Writes, ..READ };
    let mut turn = Spoken::of(&[READ]);
    assert_eq!(turn.tell(Fact::Cleared(A, writes)), [Order::Log(A)]);
}

#[test]
fn a_call_without_a_record_does_not_run() {
    let mut turn = Spoken::of(&[WRITE, READ]);
    turn.tell(Fact::Cleared(A, WRITE));
    let store = Order::Store(A, Ending::Refused(Refusal::Unrecorded));
    assert_eq!(turn.tell(Fact::Refused(A, Refusal::Unrecorded)), [store, Order::Gate(B)]);
}
