//! Each rule of the history checker, with the smallest history that breaks it.

use toolwright_contract::Event;
use toolwright_contract::history::{Checker, MAX_BREACHES, check, first_difference};

use crate::script::history;

fn breaches(script: &str) -> String {
    let found = check(&history(script));
    let lines: Vec<String> = found
        .iter()
        .map(|it| {
            let call = it.call.map_or(String::new(), |call| format!(" {call}"));
            format!("{}{call}: {}", it.invariant, it.what)
        })
        .collect();
    lines.join(" / ")
}

fn assert_table(rows: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (script, expected) in rows {
        let found = breaches(script);
        if found != *expected {
            wrong.push_str(&format!("{script}\n  expected {expected}\n  found    {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn assert_good(scripts: &[&str]) {
    assert_table(&scripts.iter().map(|it| (*it, "")).collect::<Vec<_>>());
}

#[test]
fn good_histories_pass() {
    assert_good(&[
        "end 0",
        "read 0; run 0 ok; end 1",
        // In order, whatever the order of completion.
        "read 0; begin 0; read 1; begin 1; ok 1; store 1; ok 0; give 0 ok; emit 1 ok; end 2",
        "write 0; read 1; run 0 ok; run 1 bad; end 2",
        "read 0; dup c0; run 0 ok; end 1",
        "dup c0; read 0; run 0 ok; end 1",
        // Each refusal: at once, at the gate, at the log.
        "read 0; refuse 0; give 0 refused; end 1",
        "write 0; read 1; gate 0; refuse 0; gate 1; store 0; clear 1; start 1; ok 1; store 1; \
         emit 0 refused; emit 1 ok; end 2",
        "write 0; gate 0; clear 0; refuse 0; give 0 refused; end 1",
        "read 0; begin 0; say 0; stall 0; crash 0; give 0 crashed; end 1",
        // A tool that says it was stopped, though nobody had stopped it, is told as crashed.
        "read 0; begin 0; halt 0; give 0 crashed; end 1",
    ]);
}

#[test]
fn good_histories_with_stops_pass() {
    assert_good(&[
        // Queued, gating, running, ignoring its stop.
        "read 0; stop 0 user; give 0 unstarted; end 1",
        "read 0; gate 0; stop 0 user; give 0 unstarted; end 1",
        "read 0; gate 0; stop 0 user; clear 0; give 0 unstarted; end 1",
        "read 0; gate 0; stop 0 user; refuse 0; give 0 unstarted; end 1",
        "read 0; gate 0; ask 0 1; stop 0 user; withdraw 1; give 0 unstarted; end 1",
        "write 0; gate 0; clear 0; stop 0 user; log 0; give 0 unstarted; end 1",
        "read 0; begin 0; stop 0 deadline; halt 0; give 0 cut; end 1",
        "read 0; begin 0; stop 0 deadline; overdue 0; give 0 cut; end 1; gone 0",
        // A tool that finished keeps its true result, even when it had been told to stop.
        "read 0; begin 0; stop 0 user; ok 0; give 0 ok; end 1",
        // A failure takes along who waits, who runs, and who comes later.
        "read 0; read 1; write 2; gate 0; gate 1; clear 0; clear 1; start 0; start 1; fail 1; \
         stop 0 sibling=1; stop 2 sibling=1; halt 0; store 0; store 1; store 2; read 3; store 3; \
         emit 0 cut; emit 1 error; emit 2 unstarted; emit 3 unstarted; end 4",
        "open any; read 0; read 1; begin 0; crash 0; stop 1 sibling=0; store 0; store 1; emit 0 \
         crashed; emit 1 unstarted; end 2",
        // The turn was given up before the second call came.
        "read 0; stop 0 shutdown; read 1; give 0 unstarted; give 1 unstarted; end 2",
        // The scheduler is gone: its calls are answered without it.
        "read 0; read 1; begin 0; lose; emit 0 cut; emit 1 unstarted; finish 2",
    ]);
}

#[test]
fn good_histories_with_detours_pass() {
    assert_good(&[
        // A question gives width back, not the place.
        "open width=1; read 0; read 1; gate 0; ask 0 1; gate 1; clear 0; clear 1; start 1; ok 1; \
         store 1; start 0; ok 0; give 0 ok; emit 1 ok; end 2",
        // A hook made it wider: it waits until it is alone.
        "read 0; read 1; write 2; gate 0; gate 1; clear 1 write; clear 0; start 0; ok 0; store 0; \
         log 1; start 1; ok 1; store 1; emit 0 ok; emit 1 ok; run 2 ok; end 3",
        // What turned out narrower keeps the wider lane, and may change the context.
        "solo 0; gate 0; clear 0 read; start 0; ok 0; change 0; give 0 ok; end 1",
        "read 0; begin 0; ok 0; change 0 ignored; give 0 ok; end 1",
        // A nested turn runs on the width that its parent has lent.
        "open width=1; read 0; read 1; begin 0; lend 0; t1: open parent=c0; gate 1; t1: write 0 \
         id=n; t1: begin 0; t1: ok 0; t1: give 0 ok id=n; t1: end 1; clear 1; start 1; ok 1; \
         store 1; resume 0; ok 0; give 0 ok; emit 1 ok; end 2",
        // The answer and the stop cross: nobody takes the question back.
        "read 0; gate 0; ask 0 1; stop 0 user; give 0 unstarted; end 1",
        // What is overdue may still be at work: its question is taken back late, it nests.
        "read 0; gate 0; ask 0 1; stop 0 user; overdue 0; withdraw 1; give 0 unstarted; end 1",
        "read 0; gate 0; ask 0 1; stop 0 user; overdue 0; give 0 unstarted; end 1",
        "read 0; begin 0; stop 0 user; overdue 0; give 0 cut; end 1; t1: open parent=c0; \
         t1: end 0; gone 0",
        // An overdue call of an earlier turn is gone before the next exclusive one.
        "write 0; begin 0; stop 0 user; overdue 0; give 0 cut; end 1; t1: open; t1: write 0; gone \
         0; t1: run 0 ok; t1: end 1",
    ]);
}

#[test]
fn i1_every_accepted_call_gets_exactly_one_result_under_its_own_id() {
    assert_table(&[
        ("read 0; end 1", "I1 0: the turn finished, but owes 1 of its results"),
        ("read 0; run 0 ok; emit 0 ok; end 1", "I1 0: it was given a second result"),
        ("read 0; begin 0; ok 0; give 0 ok id=x; end 1", "I1 0: its result carries another id"),
        ("read 0; run 0 ok; emit 1 ok; end 1", "I1 1: no such call was accepted"),
        (
            "read 0; read 1 id=c0; run 0 ok; run 1 ok; end 2",
            "I1 1: its id belongs to an earlier call of the turn / I1 1: its result carries \
             another id",
        ),
        ("dup c7; end 0", "I1: c7 was left out as a duplicate, but nothing has that id"),
        (
            "read 0; run 0 ok",
            "I1: the history ends before the turn does, which owes 0 of its results",
        ),
        (
            "read 0; gate 0",
            "I1: the history ends before the turn does, which owes 1 of its results",
        ),
    ]);
}

#[test]
fn i2_results_come_in_the_order_of_the_calls() {
    assert_table(&[(
        "read 0; read 1; gate 0; run 1 ok; clear 0; start 0; ok 0; give 0 ok; end 2",
        "I2 1: its result came before that of call 0",
    )]);
}

#[test]
fn i6_nothing_starts_without_leave() {
    assert_table(&[
        ("read 0; start 0; ok 0; give 0 ok; end 1", "I6 0: it was started before it was admitted"),
        (
            "read 0; gate 0; start 0; ok 0; give 0 ok; end 1",
            "I6 0: it was started before it was let through",
        ),
        (
            "read 0; clear 0; start 0; ok 0; give 0 ok; end 1",
            "I6 0: it was let through before it was admitted / I6 0: it was started before it \
             was admitted",
        ),
        (
            "read 0; gate 0; ask 0 1; start 0; withdraw 1; ok 0; give 0 ok; end 1",
            "I6 0: it was started while a person was asked about it",
        ),
        (
            "write 0; gate 0; clear 0; start 0; ok 0; give 0 ok; end 1",
            "I6 0: it was started before its start record",
        ),
        (
            "read 0; gate 0; clear 0 pen; start 0; ok 0; give 0 ok; end 1",
            "I6 0: it was started before its start record",
        ),
    ]);
}

#[test]
fn i6_nothing_starts_after_its_refusal_stop_or_end_or_twice() {
    assert_table(&[
        ("read 0; begin 0; start 0; ok 0; give 0 ok; end 1", "I6 0: it was started twice"),
        (
            "read 0; gate 0; clear 0; refuse 0; start 0; give 0 refused; end 1",
            "I6 0: it was started after its refusal / I6 0: it was told to be refused, but had \
             started",
        ),
        (
            "read 0; gate 0; clear 0; stop 0 user; start 0; halt 0; give 0 cut; end 1",
            "I6 0: it was started after its stop",
        ),
        ("read 0; run 0 ok; start 0; end 1", "I6 0: it was started twice"),
        (
            "read 0; refuse 0; gate 0; give 0 refused; end 1",
            "I6 0: it was admitted after its refusal",
        ),
        (
            "read 0; stop 0 user; gate 0; give 0 unstarted; end 1",
            "I6 0: it was admitted after its stop",
        ),
        (
            "read 0; gate 0; refuse 0; clear 0; give 0 refused; end 1",
            "I6 0: it was let through after its refusal",
        ),
        (
            "read 0; read 1; gate 0; clear 0; stop 1 shutdown; start 0; stop 0 shutdown; halt 0; \
             give 0 cut; give 1 unstarted; end 2",
            "I6 0: it was started after the turn was given up",
        ),
        (
            "read 0; read 1; gate 0; gate 1; clear 0; clear 1; start 0; fail 0; start 1; ok 1; \
             store 0; store 1; emit 0 error; emit 1 ok; end 2",
            "I6 1: it was started after the turn was given up",
        ),
        (
            "read 0; stop 0 shutdown; read 1; gate 1; give 0 unstarted; give 1 unstarted; end 2",
            "I6 1: it was admitted after the turn was given up",
        ),
        (
            "read 0; begin 0; refuse 0; ok 0; give 0 ok; end 1",
            "I6 0: it was refused after its start",
        ),
    ]);
}

#[test]
fn i6_a_result_knows_whether_its_call_has_run() {
    assert_table(&[
        (
            "read 0; begin 0; stop 0 user; halt 0; give 0 unstarted; end 1",
            "I6 0: it was told not to have started, but had",
        ),
        (
            "read 0; gate 0; stop 0 user; give 0 cut; end 1",
            "I6 0: it was told that it may have run, but never started",
        ),
        (
            "read 0; stop 0 user; give 0 ok; end 1",
            "I6 0: it was told to have run, but never started",
        ),
        (
            "read 0; gate 0; clear 0; ok 0; give 0 ok; end 1",
            "I6 0: it returned, but never started / I6 0: it was told to have run, but never \
             started",
        ),
        (
            "read 0; begin 0; halt 0; give 0 refused; end 1",
            "I6 0: it was told to be refused, but had started",
        ),
        (
            "read 0; begin 0; stop 0 user; give 0 cut; end 1",
            "form 0: its result was stored before its end / I6 0: it was answered while it ran, \
             without being overdue",
        ),
    ]);
}

#[test]
fn i7_a_result_is_told_as_it_was() {
    assert_table(&[
        (
            "read 0; begin 0; ok 0; give 0 error; end 1",
            "I7 0: its result isn't told as its tool returned it",
        ),
        (
            "read 0; begin 0; stop 0 user; ok 0; give 0 cut; end 1",
            "I7 0: its tool had finished, but it was told to be stopped",
        ),
        (
            "read 0; begin 0; stop 0 user; overdue 0; give 0 ok; end 1; gone 0",
            "I7 0: its result isn't told as its tool returned it",
        ),
        (
            "read 0; begin 0; halt 0; give 0 cut; end 1",
            "I7 0: it was told to be stopped, but nobody had stopped it",
        ),
        (
            "read 0; gate 0; refuse 0; give 0 unstarted; end 1",
            "I7 0: it was refused, but told to be stopped",
        ),
        (
            "read 0; gate 0; stop 0 user; give 0 refused; end 1",
            "I7 0: it was told to be refused, but wasn't, or was stopped first",
        ),
        (
            "read 0; gate 0; stop 0 user; refuse 0; give 0 refused; end 1",
            "I7 0: it was told to be refused, but wasn't, or was stopped first",
        ),
        ("read 0; begin 0; ok 0; give 0 ok error=yes; end 1", "I7 0: only a success is no error"),
        ("read 0; refuse 0; give 0 refused error=no; end 1", "I7 0: only a success is no error"),
        (
            "read 0; begin 0; ok 0; stop 0 user; give 0 ok; end 1",
            "I7 0: it was stopped after its end",
        ),
    ]);
}

#[test]
fn i7_who_is_blamed_has_failed_in_a_way_that_the_policy_lets_count() {
    let rest = "begin 0; VERDICT; stop 1 sibling=0; store 0; store 1; emit 0 ENDED; emit 1 \
                unstarted; end 2";
    let with = |open: &str, verdict: &str, ended: &str| {
        let rest = rest.replace("VERDICT", verdict).replace("ENDED", ended);
        breaches(&format!("{open}; read 0; read 1; {rest}"))
    };
    let guilty = "";
    let blamed = "I7 1: call 0 is blamed, but hasn't failed in such a way";
    let table = [
        ("open", "fail 0", "error", guilty),
        ("open", "bad 0", "error", blamed),
        ("open", "crash 0", "crashed", blamed),
        ("open", "ok 0", "ok", blamed),
        ("open any", "bad 0", "error", guilty),
        ("open any", "crash 0", "crashed", guilty),
        // A stop that nobody told is a failure.
        ("open any", "halt 0", "crashed", guilty),
        ("open any", "ok 0", "ok", blamed),
        ("open never", "fail 0", "error", blamed),
    ];
    for (open, verdict, ended, expected) in table {
        assert_eq!(with(open, verdict, ended), expected, "{open}, {verdict}");
    }
}

#[test]
fn i7_every_stop_has_a_reason() {
    assert_table(&[
        // A running call is told to stop itself, also when the turn is given up.
        (
            "read 0; read 1; begin 0; stop 1 shutdown; halt 0; give 0 cut; give 1 unstarted; end 2",
            "I7 0: it was told to be stopped, but nobody had stopped it",
        ),
        (
            "read 0; give 0 unstarted; end 1",
            "form 0: its result was stored before its end / I7 0: it was told to be stopped, but \
             nobody had stopped it",
        ),
        (
            "read 0; stop 0 sibling; give 0 unstarted; end 1",
            "I7 0: it was stopped for a sibling that isn't named",
        ),
        (
            "read 0; stop 0 sibling=0; give 0 unstarted; end 1",
            "I7 0: call 0 is blamed, but hasn't failed in such a way",
        ),
        (
            "read 0; stop 0 sibling=5; give 0 unstarted; end 1",
            "I7 0: call 5 is blamed, but hasn't failed in such a way",
        ),
        (
            "read 0; read 1; stop 0 user=1; give 0 unstarted; run 1 ok; end 2",
            "form 0: call 1 is named for a stop that isn't a sibling's",
        ),
    ]);
}

#[test]
fn an_exclusive_call_is_alone_from_its_gate_until_it_is_stored_or_gone() {
    assert_table(&[
        (
            "write 0; write 1; gate 0; gate 1; refuse 0; refuse 1; store 0; store 1; emit 0 \
             refused; emit 1 refused; end 2",
            "Q07 1: it is in the lanes with call 0; one must be alone",
        ),
        (
            "write 0; read 1; begin 0; ok 0; gate 1; give 0 ok; clear 1; start 1; ok 1; give 1 \
             ok; end 2",
            "Q07 1: it is in the lanes with call 0; one must be alone",
        ),
        (
            "read 0; write 1; gate 0; gate 1; clear 0; start 0; ok 0; give 0 ok; clear 1; log 1; \
             start 1; ok 1; give 1 ok; end 2",
            "Q07 1: it is in the lanes with call 0; one must be alone",
        ),
        // Overdue, in its turn and across turns.
        (
            "write 0; write 1; begin 0; stop 0 user; overdue 0; give 0 cut; run 1 ok; gone 0; \
             end 2",
            "Q07 1: it is in the lanes with call 0; one must be alone",
        ),
        (
            "write 0; begin 0; stop 0 user; overdue 0; give 0 cut; end 1; t1: open; t1: read 0; \
             t1: run 0 ok; gone 0; t1: end 1",
            "Q07 0: an overdue call of an earlier turn still holds its lane",
        ),
        (
            "write 0; read 1; gate 0; stop 0 user; gate 1; overdue 0; store 0; clear 1; start 1; \
             ok 1; store 1; emit 0 unstarted; emit 1 ok; gone 0; end 2",
            "Q07 0: it is in the lanes with call 1; one must be alone",
        ),
        // Resting is a place.
        (
            "read 0; write 1; gate 0; ask 0 1; gate 1; clear 0; refuse 1; start 0; ok 0; store \
             0; store 1; emit 0 ok; emit 1 refused; end 2",
            "Q07 1: it is in the lanes with call 0; one must be alone",
        ),
        (
            "read 0; write 1; begin 0; lend 0; gate 1; resume 0; ok 0; store 0; clear 1; log 1; \
             start 1; ok 1; store 1; emit 0 ok; emit 1 ok; end 2",
            "Q07 1: it is in the lanes with call 0; one must be alone / Q07 0: it is in the \
             lanes with call 1; one must be alone",
        ),
        // A call that became wider waits until it is alone.
        (
            "read 0; read 1; gate 0; gate 1; clear 0 write; clear 1; start 1; log 0; start 0; ok \
             0; ok 1; store 0; store 1; emit 0 ok; emit 1 ok; end 2",
            "Q07 0: it is in the lanes with call 1; one must be alone",
        ),
        (
            "read 0; read 1; gate 0; clear 0 solo; gate 1; start 0; ok 0; store 0; clear 1; \
             start 1; ok 1; store 1; emit 0 ok; emit 1 ok; end 2",
            "Q07 1: it is in the lanes with call 0; one must be alone",
        ),
        (
            "read 0; begin 0; ok 0; change 0; give 0 ok; end 1",
            "Q07 0: it changed the session's context, but wasn't alone",
        ),
    ]);
}

#[test]
fn the_width_is_kept() {
    assert_table(&[
        (
            "read 0; read 1; read 2; gate 0; gate 1; gate 2; refuse 0; refuse 1; refuse 2; store \
             0; store 1; store 2; emit 0 refused; emit 1 refused; emit 2 refused; end 3",
            "width 2: more than 2 calls run at once",
        ),
        (
            "open width=1; read 0; read 1; gate 0; ask 0 1; gate 1; clear 0; start 0; ok 0; give \
             0 ok; clear 1; start 1; ok 1; give 1 ok; end 2",
            "width 0: more than 1 calls run at once",
        ),
        (
            "open width=1; read 0; read 1; begin 0; lend 0; gate 1; resume 0; ok 0; give 0 ok; \
             clear 1; start 1; ok 1; give 1 ok; end 2",
            "width 0: more than 1 calls run at once",
        ),
        (
            "open width=1; read 0; read 1; begin 0; stop 0 user; overdue 0; give 0 cut; run 1 \
             ok; gone 0; end 2",
            "width 1: more than 1 calls run at once",
        ),
        ("open width=0; end 0", "form: a turn of width 0 can't run anything shared"),
    ]);
}

#[test]
fn nobody_overtakes_in_the_line() {
    assert_table(&[(
        "read 0; read 1; gate 1; gate 0; clear 0; clear 1; start 0; start 1; ok 0; ok 1; \
             store 0; store 1; emit 0 ok; emit 1 ok; end 2",
        "line 1: it was admitted before call 0, which stands in line",
    )]);
}

#[test]
fn a_history_is_dense_and_its_time_goes_forward() {
    let good = || history("read 0; run 0 ok; end 1");
    let found = |change: fn(&mut Vec<Event>)| {
        let mut events = good();
        change(&mut events);
        check(&events).iter().map(ToString::to_string).collect::<Vec<_>>().join(" / ")
    };
    assert_eq!(
        found(|it| it[3].at_us = 5),
        "form at event 3, turn 0: its time, 5 us, is before the last, 20 us"
    );
    assert_eq!(
        found(|it| it.iter_mut().skip(3).for_each(|it| it.seq += 1)),
        "form at event 4, turn 0: event 4 follows event 2"
    );
    assert_eq!(found(|it| it.iter_mut().for_each(|it| it.seq += 7)), "");
}

#[test]
fn an_event_comes_only_where_it_can_be() {
    assert_table(&[
        ("open version=2; end 0", "form: schema version 2 is unknown; 1 is known"),
        ("open version=0; end 0", "form: schema version 0 is unknown; 1 is known"),
        ("open; open; end 0", "form: a turn with this or a later number has been opened before"),
        ("end 0; t0: open", "form: a turn with this or a later number has been opened before"),
        ("end 0; t1: seal", "form: its turn was never opened"),
        ("end 0; t1: open parent=c0; t1: end 0", "form: its parent isn't a running call"),
        ("seal; end 0", "form: it is sealed already"),
        ("finish 0", "form: the turn finished before it was sealed"),
        ("end 3", "form: the turn finished with 3 calls, but had 0"),
        ("end 0; seal", "form: its turn has finished"),
        ("read 0; run 0 ok; end 1; gone 0", "form 0: its turn has finished"),
        ("read 1; end 0", "form 1: it was accepted where call 0 was the next"),
        ("gate 4; end 0", "form 4: no such call was accepted"),
        (
            "seal; read 0; run 0 ok; finish 1",
            "form 0: it was accepted after the turn had been sealed",
        ),
        ("read 0; gate 0; begin 0; ok 0; give 0 ok; end 1", "form 0: it was admitted twice"),
        (
            "read 0; gate 0; clear 0; clear 0; start 0; ok 0; give 0 ok; end 1",
            "form 0: it was let through twice",
        ),
        ("read 0; refuse 0; refuse 0; give 0 refused; end 1", "form 0: it was refused twice"),
        (
            "pen 0; gate 0; clear 0; log 0; log 0; start 0; ok 0; give 0 ok; end 1",
            "form 0: its start was recorded twice",
        ),
        (
            "pen 0; gate 0; log 0; clear 0; start 0; ok 0; give 0 ok; end 1",
            "form 0: its start was recorded before it was let through",
        ),
        ("read 0; say 0; run 0 ok; end 1", "form 0: its tool was seen at work before it started"),
        ("read 0; stall 0; run 0 ok; end 1", "form 0: its tool was seen at work before it started"),
        ("read 0; lend 0; run 0 ok; end 1", "form 0: it gave its width back, but doesn't run"),
        (
            "read 0; begin 0; resume 0; ok 0; give 0 ok; end 1",
            "form 0: it was given a width that it hadn't given back",
        ),
        ("read 0; begin 0; ok 0; ok 0; give 0 ok; end 1", "form 0: it returned twice"),
        (
            "read 0; begin 0; store 0; ok 0; emit 0 ok; end 1",
            "form 0: its result was stored before its end / form 0: it returned after its end / \
             I7 0: it was told to have returned, but hasn't",
        ),
        ("read 0; begin 0; ok 0; store 0; give 0 ok; end 1", "form 0: its result was stored twice"),
        (
            "read 0; begin 0; ok 0; emit 0 ok; store 0; end 1",
            "form 0: its result was handed out before it was stored / form 0: its result was \
             stored after it was emitted",
        ),
        (
            "read 0; stop 0 user; stop 0 user; give 0 unstarted; end 1",
            "form 0: it was stopped twice",
        ),
        (
            "read 0; begin 0; change 0 ignored; ok 0; give 0 ok; end 1",
            "form 0: it changed the session's context before it returned",
        ),
    ]);
}

#[test]
fn nothing_happens_to_a_call_after_its_end() {
    assert_table(&[
        (
            "read 0; run 0 ok; gate 0; end 1",
            "form 0: it was admitted twice / I6 0: it was admitted after its end",
        ),
        (
            "read 0; gate 0; refuse 0; ask 0 1; withdraw 1; give 0 refused; end 1",
            "form 0: a person was asked about it after its end",
        ),
        (
            "read 0; gate 0; stop 0 user; store 0; clear 0; emit 0 unstarted; end 1",
            "I6 0: it was let through after its end",
        ),
        (
            "read 0; gate 0; stop 0 user; store 0; refuse 0; emit 0 unstarted; end 1",
            "form 0: it was refused after its end",
        ),
        (
            "pen 0; gate 0; clear 0; stop 0 user; store 0; log 0; emit 0 unstarted; end 1",
            "form 0: its start was recorded after its end",
        ),
        (
            "read 0; gate 0; clear 0; lose; emit 0 unstarted; start 0; finish 1",
            "I6 0: it was started after its end",
        ),
        (
            "read 0; begin 0; lend 0; ok 0; resume 0; give 0 ok; end 1",
            "form 0: it was given its width, but doesn't run",
        ),
        (
            "read 0; begin 0; stop 0 user; ok 0; overdue 0; give 0 ok; end 1",
            "form 0: it became overdue after its end",
        ),
    ]);
}

#[test]
fn nothing_happens_to_a_call_twice_or_too_late() {
    assert_table(&[
        (
            "read 0; begin 0; lend 0; lend 0; ok 0; give 0 ok; end 1",
            "form 0: it gave its width back twice",
        ),
        (
            "read 0; gate 0; start 0; clear 0; ok 0; give 0 ok; end 1",
            "I6 0: it was started before it was let through / form 0: it was let through after \
             its start",
        ),
        (
            "pen 0; gate 0; clear 0; start 0; log 0; ok 0; give 0 ok; end 1",
            "I6 0: it was started before its start record / form 0: its start was recorded after \
             it",
        ),
        (
            "read 0; read 1; gate 0; gate 1; ask 0 1; ask 1 1; clear 0; clear 1; start 0; start \
             1; ok 0; ok 1; give 0 ok; give 1 ok; end 2",
            "form 1: its question has a number in use",
        ),
    ]);
}

#[test]
fn a_call_is_overdue_only_after_its_stop_and_gone_only_when_overdue() {
    assert_table(&[
        (
            "read 0; begin 0; overdue 0; give 0 cut; gone 0; end 1",
            "form 0: it is overdue, but wasn't told to stop / I7 0: it was told to be stopped, but \
             nobody had stopped it",
        ),
        (
            "read 0; stop 0 user; overdue 0; give 0 unstarted; gone 0; end 1",
            "form 0: it is overdue, but nothing of it was at work",
        ),
        (
            "read 0; begin 0; ok 0; gone 0; give 0 ok; end 1",
            "form 0: it is gone, but wasn't overdue",
        ),
        (
            "read 0; gate 0; stop 0 user; overdue 0; overdue 0; give 0 unstarted; gone 0; end 1",
            "form 0: it became overdue twice",
        ),
        (
            "read 0; gate 0; stop 0 user; overdue 0; give 0 unstarted; gone 0; gone 0; end 1",
            "form 0: it is gone a second time",
        ),
        (
            "read 0; begin 0; stop 0 user; overdue 0; ok 0; give 0 cut; gone 0; end 1",
            "form 0: it returned after it was answered as overdue",
        ),
    ]);
}

#[test]
fn a_question_is_asked_once_at_the_gate_and_taken_back_while_it_is_open() {
    assert_table(&[
        (
            "read 0; ask 0 1; run 0 ok; end 1",
            "form 0: a person was asked about it before it was admitted",
        ),
        (
            "read 0; gate 0; clear 0; ask 0 1; start 0; withdraw 1; ok 0; give 0 ok; end 1",
            "form 0: a person was asked about it after it was let through",
        ),
        (
            "read 0; gate 0; ask 0 1; ask 0 2; clear 0; start 0; withdraw 1; ok 0; give 0 ok; \
             end 1",
            "form 0: a person was asked about it twice",
        ),
        ("withdraw 3; end 0", "form: question 3 was taken back, but isn't open"),
    ]);
}

#[test]
fn breaches_are_capped() {
    let mut checker = Checker::new();
    for event in history("end 0").iter().cycle().take(3 * MAX_BREACHES) {
        checker.step(event);
    }
    assert_eq!(checker.finish().len(), MAX_BREACHES);
}

#[test]
fn the_first_difference_names_both_sides() {
    let left = history("read 0; run 0 ok; end 1");
    let right = history("read 0; run 0 bad; end 1");
    assert_eq!(first_difference(&left, &left), None);
    let told = |left, right| first_difference(left, right).map(|it| it.to_string());
    insta::assert_snapshot!(told(&left, &right).unwrap_or_default(), @r"
    I8: the histories differ from event 5 on
      left: Event { seq: 5, at_us: 50, turn: TurnId(0), kind: Returned { call: 0, verdict: Ok, cascades: false } }
      right: Event { seq: 5, at_us: 50, turn: TurnId(0), kind: Returned { call: 0, verdict: Error, cascades: false } }
    ");
    insta::assert_snapshot!(told(&left[..2], &left).unwrap_or_default(), @r"
    I8: the histories differ from event 2 on
      left: ends here
      right: Event { seq: 2, at_us: 20, turn: TurnId(0), kind: Gated { call: 0 } }
    ");
}
