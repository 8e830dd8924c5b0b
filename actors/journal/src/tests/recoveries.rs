//! What becomes of each call after a crash, and that recovering twice is recovering once.

use proptest::prelude::*;
use toolwright_contract::{Event, EventKind, HowEnded, Progress, RequestId, StopName, history};

use super::story::{Story, fold};
use crate::record::{CallAt, Record};
use crate::recovery::{Duty, OpenTurn, Policy, Recovered, Resume};

const RUN_ALL: Policy =
    Policy { not_started: Resume::Run, asked: Resume::Run, repeatable: Resume::Run };

/// The duties of the calls of the only open turn.
fn duties(story: &mut Story, policy: Policy) -> Vec<Duty> {
    let recovered = fold(&story.records);
    let [turn] = &recovered.turns[..] else { panic!("{recovered:?}") };
    turn.calls.iter().map(|it| it.duty(policy)).collect()
}

const NOT_STARTED: Duty = Duty::Answer(Progress::NotStarted);
const MAY_HAVE_RUN: Duty = Duty::Answer(Progress::MayHaveRun);
const RUN: Duty = Duty::Run { question: None };

#[test]
fn each_call_is_answered_by_how_far_it_came() {
    type Life = fn(&mut Story) -> &mut Story;
    let lives: [(Life, Duty, Duty); 12] = [
        (|it| it.came(0, None), NOT_STARTED, RUN),
        (|it| it.accepted(0, false), NOT_STARTED, RUN),
        (|it| it.accepted(0, false).cleared(0, false), NOT_STARTED, RUN),
        (|it| it.accepted(0, false).cleared(0, false).start(0, false), MAY_HAVE_RUN, MAY_HAVE_RUN),
        (|it| it.accepted(0, false).cleared(0, false).start(0, true), MAY_HAVE_RUN, RUN),
        (|it| it.write(0), Duty::Emit, Duty::Emit),
        (|it| it.write(0).emitted(0), Duty::Nothing, Duty::Nothing),
        (|it| it.accepted(0, true).cleared(0, true).started(0), MAY_HAVE_RUN, RUN),
        // It may have started: its last events may be missing.
        (|it| it.accepted(0, true), MAY_HAVE_RUN, RUN),
        (|it| it.accepted(0, false).asking(0, 7), ASKED, ASKED),
        (|it| it.accepted(0, false).asking(0, 7).event(refused()), NOT_STARTED, NOT_STARTED),
        (|it| it.accepted(0, false).asking(0, 7).event(stopping()), NOT_STARTED, NOT_STARTED),
    ];
    const ASKED: Duty = Duty::Run { question: Some(RequestId(7)) };
    for (case, (life, answering, running)) in lives.into_iter().enumerate() {
        let mut story = Story::new(1);
        life(story.turn(0));
        assert_eq!(duties(&mut story, Policy::default()), [answering], "case {case}");
        assert_eq!(duties(&mut story, RUN_ALL), [running], "case {case}");
    }
}

fn refused() -> EventKind {
    EventKind::Refused { call: 0, why: toolwright_contract::RefusalName::Denied }
}

fn stopping() -> EventKind {
    EventKind::Stopping { call: 0, cause: StopName::User, culprit: None }
}

#[test]
fn a_question_that_was_taken_back_is_not_asked_again() {
    let mut story = Story::new(1);
    story.turn(0).accepted(0, false).asking(0, 7);
    story.event(EventKind::Withdrawn { request: RequestId(7) });
    assert_eq!(duties(&mut story, Policy::default()), [NOT_STARTED]);
}

#[test]
fn a_turn_that_finished_owes_nothing_and_is_told_until_the_next_opens() {
    let mut story = Story::new(1);
    story.turn(0).write(0).emitted(0).finished(1);
    let recovered = fold(&story.records);
    assert!(recovered.turns.is_empty());
    assert_eq!(recovered.recent[0].results().count(), 1);
    story.turn(1).came(0, None);
    let recovered = fold(&story.records);
    assert!(recovered.recent.is_empty());
    assert_eq!((recovered.turns.len(), recovered.finished_turns), (1, 1));
}

#[test]
fn a_second_emission_or_result_is_told_with_its_record() {
    for twice in ["emitted", "kept"] {
        let mut story = Story::new(1);
        story.turn(0).write(0).emitted(0);
        let told = if twice == "kept" { story.kept(0) } else { story.emitted(0) };
        let mut fold = crate::Fold::default();
        let last = told.records.iter().zip(0..).map(|(record, number)| {
            let (kind, flags, payload) = record.encode().unwrap();
            fold.take(crate::RawRecord { kind, flags, payload: &payload }, number)
        });
        let errors: Vec<_> = last.filter_map(Result::err).map(|it| it.to_string()).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
    }
}

#[test]
fn what_speaks_of_what_was_not_recorded_is_counted_and_keeps_nobody_from_resuming() {
    let mut story = Story::new(1);
    story.turn(0).write(0).emitted(0).accepted(1, false).finished(2);
    let refused = |it: &Record| {
        matches!(it, Record::Event { event, .. }
        if matches!(event.kind, EventKind::TurnOpened { .. } | EventKind::Accepted { .. }))
    };
    let known = fold(&story.records);
    assert_eq!((known.gaps, known.turns.len()), (1, 0), "a call of a finished turn was answered");
    story.records.retain(|it| !refused(it) && matches!(it, Record::Event { .. }));
    let recovered = fold(&story.records);
    assert_eq!((recovered.gaps, recovered.turns.len()), (5, 0));
}

#[test]
fn an_unknown_kind_is_passed_over_only_if_it_says_so() {
    for (flags, is_good) in [(0, false), (crate::SKIPPABLE, true)] {
        let mut fold = crate::Fold::default();
        let taken = fold.take(crate::RawRecord { kind: 999, flags, payload: b"\xff" }, 3);
        assert_eq!(taken.is_ok(), is_good);
    }
}

#[test]
fn a_call_that_is_carried_on_is_answered_by_the_call_that_does() {
    let mut story = Story::new(1);
    story.turn(0).read(0).accepted(1, true).cleared(1, true).started(1).accepted(2, false);
    let policy = Policy { repeatable: Resume::Run, ..Policy::default() };
    let mut recovered = fold(&story.records);
    // The first is handed out; the second has to be run before the third is answered.
    story.records.extend(recovered.settle(policy));
    let old = CallAt { call: 1, ..recovered.turns[0].calls[0].at };
    assert_eq!(recovered.turns[0].to_run(policy).map(|it| it.at).collect::<Vec<_>>(), [old]);
    let mut second = Story::new(2);
    second.turn(0).came(1, Some(old));
    let after_came = second.records.len();
    second.read(1);
    // Killed before its result, it is run again; after it, the result is there.
    let killed = fold(&[&story.records[..], &second.records[..after_came]].concat());
    assert_eq!(killed.turns[0].calls[1].duty(policy), RUN);
    let mut all = [&story.records[..], &second.records[..]].concat();
    let mut recovered = fold(&all);
    assert_eq!(recovered.turns[0].calls[1].duty(policy), Duty::Emit);
    assert!(recovered.turns[0].is_for_the_model() && !recovered.turns[1].is_for_the_model());
    all.extend(recovered.settle(policy));
    let end = fold(&all);
    assert!(end.turns.is_empty());
    let [turn] = &end.recent[..] else { panic!("{end:?}") };
    let texts: Vec<_> = turn.results().map(|it| it.content.text()).collect();
    assert_eq!(texts[..2], ["output 0", "output 1"]);
    assert!(texts[2].contains("not started") || texts[2].contains("never"), "{}", texts[2]);
}

/// How far each call of a turn gets.
fn lives() -> impl Strategy<Value = Vec<(u8, bool)>> {
    prop::collection::vec((0_u8..9, any::<bool>()), 1..6)
}

/// Some of these steps for each call, one call after the other.
fn tell(lives: &[(u8, bool)]) -> Story {
    let mut story = Story::new(1);
    story.turn(0).write(0).emitted(0).finished(1);
    story.turn(1);
    let (mut emits, mut reached) = (true, Vec::new());
    for (call, (steps, read_only)) in (0..).zip(lives.iter().copied()) {
        story.came(call, None);
        let steps = if steps > 7 && !emits { 7 } else { steps };
        // Only of the last one can so little have been told.
        let steps = if call as usize + 1 < lives.len() { steps.max(1) } else { steps };
        // Nobody overtakes, and who writes is alone.
        let before = &reached[..];
        let blocked =
            before.iter().any(|(at, reads)| *at < 2 || (*at < 7 && !(*reads && read_only)));
        let steps = if blocked { steps.min(1) } else { steps };
        reached.push((steps, read_only));
        for step in 1..=steps {
            match step {
                1 => {
                    story.records.pop();
                    story.accepted(call, read_only)
                }
                2 => story.event(EventKind::Gated { call }),
                3 => story.event(EventKind::Cleared { call, exclusive: !read_only, read_only }),
                4 if !read_only => story.start(call, false),
                5 => story.started(call),
                6 => story.returned(call),
                7 => story.kept(call),
                8 => story.emitted(call),
                _ => &mut story,
            };
        }
        emits &= steps == 8;
    }
    story
}

/// All that a host can learn: results by place, in order.
fn outcome(recovered: &Recovered) -> Vec<(CallAt, HowEnded, String)> {
    let turns: Vec<&OpenTurn> = recovered.recent.iter().chain(&recovered.turns).collect();
    let calls = turns.iter().flat_map(|it| &it.calls).filter(|it| it.emitted);
    let kept = calls.map(|it| (it.at, it.kept.as_ref().unwrap()));
    kept.map(|(at, it)| (at, it.ended, it.result().content.text())).collect()
}

fn emissions(records: &[Record]) -> Vec<(u32, u32)> {
    let is_emission = |it: &&Event| matches!(it.kind, EventKind::Emitted { .. });
    let emitted = events(records).filter(is_emission);
    emitted.filter_map(|it| Some((it.turn.0, it.kind.call()?))).collect()
}

fn events(records: &[Record]) -> impl Iterator<Item = &Event> {
    records
        .iter()
        .filter_map(|it| if let Record::Event { event, .. } = it { Some(event) } else { None })
}

proptest! {
    #[test]
    fn after_a_cut_anywhere_each_call_has_one_result_in_order_and_none_is_told_wrongly(
        lives in lives(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut story = tell(&lives);
        story.records.truncate(1 + cut.index(story.records.len()));
        let mut recovered = fold(&story.records);
        let open = recovered.turns.first().map_or(0, |it| it.calls.len());
        let written = recovered.settle(Policy::default());
        story.records.extend(written);
        let end = fold(&story.records);
        prop_assert!(end.turns.is_empty());
        let mut emitted = emissions(&story.records);
        let sorted = { let mut it = emitted.clone(); it.sort_unstable(); it };
        prop_assert_eq!(&emitted, &sorted);
        emitted.dedup();
        prop_assert_eq!(&emitted, &sorted);
        if open > 0 {
            prop_assert_eq!(end.recent.last().unwrap().calls.len(), open);
        }
        // The history of the dead run is whole, by the oracle that all histories are held to.
        let events: Vec<_> = events(&story.records).cloned().collect();
        let breaches = history::check(&events);
        prop_assert!(breaches.is_empty(), "{:?}", breaches);
    }

    #[test]
    fn a_crash_at_any_record_of_any_of_ten_recoveries_ends_in_the_same_state(
        lives in lives(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 10),
    ) {
        let story = tell(&lives);
        let once = {
            let mut records = story.records.clone();
            records.extend(fold(&records).settle(Policy::default()));
            outcome(&fold(&records))
        };
        let mut records = story.records;
        for cut in cuts {
            let written = fold(&records).settle(Policy::default());
            let kept = cut.index(written.len() + 1);
            records.extend(written.into_iter().take(kept));
        }
        records.extend(fold(&records).settle(Policy::default()));
        prop_assert_eq!(outcome(&fold(&records)), once);
    }
}
