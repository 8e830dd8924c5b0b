//! A stop reaches every phase.

use toolwright_kernel::{
    CallIx, Ending, Fact, OnInterrupt, Order, Progress, Refusal, Safety, StopCause, Verdict,
};

use crate::{A, B, C, READ, Spoken, WRITE};

const NOT_STARTED: Ending = Ending::Stopped(StopCause::User, Progress::NotStarted);

/// A safe call that wants to be let finish.
const PATIENT: Safety = Safety { on_interrupt: OnInterrupt::Block, ..READ };

#[test]
fn a_waiting_call_ends_at_once() {
    let mut turn = Spoken::of(&[WRITE, WRITE]);
    assert_eq!(turn.stop(B, StopCause::User), [Order::Store(B, NOT_STARTED)]);
}

#[test]
fn a_gate_is_told_and_its_answer_no_longer_counts() {
    for answer in [Fact::Cleared(A, READ), Fact::Refused(A, Refusal::Denied)] {
        let mut turn = Spoken::of(&[READ]);
        assert_eq!(turn.stop(A, StopCause::User), [Order::Stop(A, StopCause::User)]);
        assert_eq!(turn.tell(answer), [Order::Store(A, NOT_STARTED)], "{answer:?}");
    }
}

#[test]
fn a_record_that_was_written_too_late_starts_nothing() {
    let mut turn = Spoken::of(&[WRITE]);
    turn.tell(Fact::Cleared(A, WRITE));
    assert_eq!(turn.stop(A, StopCause::User), [Order::Stop(A, StopCause::User)]);
    assert_eq!(turn.tell(Fact::Logged(A)), [Order::Store(A, NOT_STARTED)]);
}

#[test]
fn a_call_that_waits_for_its_lane_again_ends_at_once() {
    let mut turn = Spoken::of(&[READ, READ]);
    turn.tell(Fact::Cleared(A, WRITE));
    assert_eq!(turn.stop(A, StopCause::User), [Order::Store(A, NOT_STARTED)]);
}

#[test]
fn a_tool_is_told_once_and_its_first_cause_stays() {
    let mut turn = Spoken::of(&[READ]);
    turn.run(A, READ);
    assert_eq!(turn.stop(A, StopCause::Deadline), [Order::Stop(A, StopCause::Deadline)]);
    assert_eq!(turn.tell(Fact::StopAll(StopCause::Shutdown)), []);
    let ending = Ending::Stopped(StopCause::Deadline, Progress::MayHaveRun);
    assert_eq!(turn.tell(Fact::Returned(A, Verdict::Stopped)), [Order::Store(A, ending)]);
}

#[test]
fn a_call_that_blocks_outlasts_the_user_only_while_it_runs() {
    let mut turn = Spoken::of(&[PATIENT, PATIENT]);
    turn.run(A, PATIENT);
    let orders = turn.tell(Fact::StopAll(StopCause::User));
    assert_eq!(orders, [Order::Stop(B, StopCause::User)], "the second is at its gate");
}

#[test]
fn a_call_that_blocks_outlasts_nothing_but_the_user() {
    for cause in [StopCause::Discarded, StopCause::Shutdown] {
        let mut turn = Spoken::of(&[PATIENT]);
        turn.run(A, PATIENT);
        turn.tell(Fact::StopAll(StopCause::User));
        assert_eq!(turn.tell(Fact::StopAll(cause)), [Order::Stop(A, cause)]);
    }
}

#[test]
fn a_call_that_blocks_is_told_when_it_is_meant_itself() {
    let mut turn = Spoken::of(&[PATIENT]);
    turn.run(A, PATIENT);
    assert_eq!(turn.stop(A, StopCause::User), [Order::Stop(A, StopCause::User)]);
}

#[test]
fn a_call_that_arrives_after_a_stop_of_all_never_starts() {
    let mut turn = Spoken::new();
    turn.tell(Fact::StopAll(StopCause::User));
    assert_eq!(turn.submit(READ), [Order::Store(A, NOT_STARTED)]);
}

#[test]
fn a_stop_of_one_call_lets_the_next_one_in() {
    let mut turn = Spoken::of(&[WRITE, WRITE, READ]);
    turn.stop(B, StopCause::User);
    turn.run(A, WRITE);
    assert_eq!(turn.end(A), [Order::Gate(C)]);
}

#[test]
fn a_stop_of_a_call_that_is_done_changes_nothing() {
    let mut turn = Spoken::of(&[READ]);
    turn.run(A, READ);
    turn.tell(Fact::Returned(A, Verdict::Good));
    for stored in [false, true] {
        let before = turn.0.clone();
        assert_eq!(turn.stop(A, StopCause::User), [], "stored: {stored}");
        assert_eq!(turn.0, before);
        if !stored {
            turn.tell(Fact::Stored(A));
        }
    }
}

#[test]
fn a_stop_of_a_call_that_has_not_arrived_changes_nothing() {
    let mut turn = Spoken::of(&[READ]);
    let before = turn.0.clone();
    assert_eq!(turn.stop(CallIx(7), StopCause::User), []);
    assert_eq!(turn.0, before);
}
