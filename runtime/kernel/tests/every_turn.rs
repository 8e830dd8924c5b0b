//! Walks every turn of up to four calls, and holds each to the laws.

mod model;

use model::scope::{Clearing, READ, Scope, WRITE, safety};
use model::sights::Sight;
use model::walk::walk;
use model::world::Rules;
use toolwright_kernel::{
    Cascade, Effects, Footprint, OnInterrupt, Place, Policy, Refusal, Safety, StopCause, Verdict,
};

/// Reads alone, and may be interrupted.
const LOOK: Safety = safety(Footprint::Exclusive, Effects::ReadOnly, OnInterrupt::Cancel);
/// Writes beside others, and is let finish.
const POST: Safety = safety(Footprint::Shared, Effects::Writes, OnInterrupt::Block);

const BAD: Verdict = Verdict::Bad { cascades: true };
const POOR: Verdict = Verdict::Bad { cascades: false };

const SHARED: Place = Place::Lane(Footprint::Shared);
const EXCLUSIVE: Place = Place::Lane(Footprint::Exclusive);

/// What earlier turns may have left in two lanes.
const INHERITED: [&[Place]; 4] =
    [&[SHARED], &[EXCLUSIVE], &[Place::Resting], &[SHARED, Place::Resting]];

const fn rules(cascade: Cascade, width: u16) -> Rules {
    Rules { policy: Policy { cascade, max_calls: Policy::MAX_CALLS }, width }
}

/// All that can happen to calls of every kind.
const EVERYTHING: Scope = Scope {
    rules: rules(Cascade::Any, 1),
    screened: &[Ok(READ), Ok(WRITE), Ok(LOOK), Ok(POST), Err(Refusal::InvalidInput)],
    cleared: &[Clearing::As(READ), Clearing::As(WRITE), Clearing::As(LOOK), Clearing::As(POST)],
    denied: &[Refusal::Denied],
    unrecorded: &[Refusal::Unrecorded],
    verdicts: &[Verdict::Good, BAD, POOR, Verdict::Stopped, Verdict::Crashed],
    stop_one: &[StopCause::User, StopCause::Deadline],
    stop_all: &[StopCause::User, StopCause::Discarded, StopCause::Shutdown],
    asks: true,
    lends: true,
    overdue: true,
    ..Scope::PLAIN
};

#[test]
fn one_call_meets_everything() {
    let walk = walk("one call, everything", &Scope { size: 1, ..EVERYTHING });
    walk.has_seen(&[
        Sight::AStopOvertakesTheGate,
        Sight::AStopOvertakesTheRecord,
        Sight::AToldToolKeepsItsResult,
        Sight::AToolSaysStoppedUntold,
        Sight::ABlockCallOutlastsTheUser,
        Sight::AnOverdueCallIsAnswered,
        Sight::AnOverdueCallOutlivesTheTurn,
        Sight::ARecordIsRefused,
    ]);
}

#[test]
fn two_calls_meet_everything() {
    let walk = walk("two calls, everything, width 1", &EVERYTHING);
    walk.has_seen(&[
        Sight::AnUnsafeCallWaits,
        Sight::AClaimWaits,
        Sight::AClaimIsServedLater,
        Sight::AClaimantEndsUnserved,
        Sight::ACallThatAskedWaitsForWidth,
        Sight::ASafeCallRunsWhileAnotherRests,
        Sight::ASiblingIsStoppedBeforeItStarts,
        Sight::ALatecomerIsStopped,
        Sight::AnOverdueCallKeepsTheNextWaiting,
    ]);
}

#[test]
fn two_calls_side_by_side_meet_everything() {
    let wide = Scope { rules: rules(Cascade::Declared, 2), ..EVERYTHING };
    let walk = walk("two calls, everything, width 2", &wide);
    walk.has_seen(&[
        Sight::ToolsOverlap,
        Sight::ACallWidensWhileAnotherRuns,
        Sight::ASiblingIsStoppedWhileItRuns,
        Sight::TwoFailAtOnce,
    ]);
}

#[test]
fn two_calls_that_keep_their_own_results_meet_everything() {
    let apart = Scope { rules: rules(Cascade::Never, 2), ..EVERYTHING };
    walk("two calls, everything, never cascading", &apart);
}

/// The kinds of calls and answers thinned out, for three calls and more.
const MOST: Scope = Scope {
    size: 3,
    rules: rules(Cascade::Declared, 2),
    screened: &[Ok(READ), Ok(WRITE)],
    cleared: &[Clearing::Same],
    verdicts: &[Verdict::Good, BAD, Verdict::Stopped],
    stop_one: &[StopCause::Deadline],
    stop_all: &[StopCause::User],
    ..EVERYTHING
};

#[test]
fn two_calls_meet_lanes_that_overdue_calls_hold() {
    for inherited in INHERITED {
        let cleared = &[Clearing::Same, Clearing::As(WRITE)];
        let scope = Scope { size: 2, cleared, inherited, ..MOST };
        let walk = walk(&format!("two calls, most, {inherited:?} inherited"), &scope);
        walk.has_seen(&[Sight::AnInheritedLaneHoldsACallUp]);
    }
}

#[test]
fn two_calls_where_one_is_allowed_meet_most() {
    let policy = Policy { cascade: Cascade::Declared, max_calls: 1 };
    let scope = Scope { size: 2, rules: Rules { policy, width: 2 }, ..MOST };
    let walk = walk("two calls, most, one allowed", &scope);
    walk.has_seen(&[Sight::TooManyCalls, Sight::ALatecomerIsStopped]);
}

#[test]
fn three_calls_meet_most() {
    let walk = walk("three calls, most, width 2", &MOST);
    walk.has_seen(&[Sight::AClaimWaits, Sight::TwoFailAtOnce, Sight::AnUnsafeCallWaits]);
}

#[test]
fn three_calls_behind_each_other_are_rewritten_by_hooks() {
    let scope = Scope {
        rules: rules(Cascade::Never, 1),
        screened: &[Ok(READ), Ok(LOOK), Ok(POST), Ok(WRITE)],
        cleared: &[Clearing::Same, Clearing::As(READ), Clearing::As(WRITE)],
        verdicts: &[Verdict::Good],
        stop_all: &[],
        overdue: false,
        lends: false,
        ..MOST
    };
    walk("three calls, rewritten, width 1", &scope);
    walk("three calls, rewritten, width 2", &Scope { rules: rules(Cascade::Never, 2), ..scope });
}

#[test]
fn four_calls_fail_and_are_stopped() {
    let scope = Scope {
        size: 4,
        screened: &[Ok(READ), Ok(WRITE), Ok(POST), Err(Refusal::UnknownTool)],
        denied: &[],
        unrecorded: &[],
        stop_all: &[StopCause::User, StopCause::Shutdown],
        stop_one: &[],
        asks: false,
        lends: false,
        overdue: false,
        ..MOST
    };
    let walk = walk("four calls, stops and verdicts, width 2", &scope);
    walk.has_seen(&[
        Sight::SafeCallsOverlapAfterABarrier,
        Sight::ABlockCallOutlastsTheUser,
        Sight::TwoFailAtOnce,
        Sight::AToldToolKeepsItsResult,
    ]);
}

/// Nothing goes wrong, nobody is stopped.
const CALM: Scope = Scope {
    size: 4,
    denied: &[],
    unrecorded: &[],
    verdicts: &[Verdict::Good],
    stop_one: &[],
    stop_all: &[],
    asks: false,
    lends: false,
    overdue: false,
    ..MOST
};

#[test]
fn four_calls_ask_and_widen() {
    let scope = Scope { asks: true, cleared: &[Clearing::Same, Clearing::As(WRITE)], ..CALM };
    let walk = walk("four calls, asks and widening, width 2", &scope);
    walk.has_seen(&[
        Sight::ACallWidensWhileAnotherRuns,
        Sight::ACallThatAskedWaitsForWidth,
        Sight::ASafeCallRunsWhileAnotherRests,
    ]);
}

#[test]
fn four_calls_nest_between_exclusive_ones() {
    let walk = walk("four calls, nesting, width 2", &Scope { lends: true, ..CALM });
    walk.has_seen(&[Sight::AClaimWaits, Sight::AClaimIsServedLater, Sight::AnUnsafeCallWaits]);
}

#[test]
fn four_calls_ask_and_nest_between_exclusive_ones() {
    let scope =
        Scope { asks: true, lends: true, screened: &[Ok(READ), Ok(WRITE), Ok(POST)], ..CALM };
    for width in 1..=3 {
        let scope = Scope { rules: rules(Cascade::Never, width), ..scope };
        let walk = walk(&format!("four calls, asks and nesting, width {width}"), &scope);
        walk.has_seen(&[Sight::AClaimWaits, Sight::ACallThatAskedWaitsForWidth]);
    }
}

#[test]
fn four_calls_that_ask_are_denied_and_stopped() {
    let scope = Scope {
        asks: true,
        denied: &[Refusal::Denied],
        unrecorded: &[Refusal::Unrecorded],
        stop_one: &[StopCause::User],
        stop_all: &[StopCause::Shutdown],
        cleared: &[Clearing::Same, Clearing::As(WRITE)],
        streams: false,
        ..CALM
    };
    walk("four calls, asks, refusals and stops, width 2", &scope);
}

#[test]
fn four_calls_that_nest_fail_and_are_stopped() {
    let scope = Scope {
        lends: true,
        overdue: true,
        verdicts: &[Verdict::Good, BAD, Verdict::Stopped],
        stop_all: &[StopCause::User],
        streams: false,
        ..CALM
    };
    walk("four calls, nesting, verdicts, overdue and stops, width 2", &scope);
}

#[test]
fn four_calls_are_overdue() {
    let scope = Scope {
        overdue: true,
        stop_one: &[StopCause::Deadline],
        verdicts: &[Verdict::Good],
        ..CALM
    };
    let walk = walk("four calls, overdue, width 2", &scope);
    walk.has_seen(&[Sight::AnOverdueCallKeepsTheNextWaiting, Sight::AnOverdueCallOutlivesTheTurn]);
}

#[test]
fn four_calls_meet_most() {
    let scope = Scope {
        size: 4,
        streams: false,
        denied: &[],
        unrecorded: &[],
        verdicts: &[Verdict::Good, BAD],
        ..MOST
    };
    walk("four calls, most, width 2", &scope);
}

#[test]
fn a_message_of_too_many_calls_is_refused_whatever_happens() {
    let policy = Policy { cascade: Cascade::Declared, max_calls: 2 };
    let scope = Scope {
        size: 4,
        rules: Rules { policy, width: 2 },
        screened: &[Ok(READ), Ok(WRITE), Err(Refusal::UnknownTool)],
        asks: false,
        lends: false,
        ..MOST
    };
    let walk = walk("four calls where two are allowed, width 2", &scope);
    walk.has_seen(&[Sight::TooManyCalls, Sight::ALatecomerIsStopped]);
}

#[test]
fn three_calls_meet_lanes_that_overdue_calls_hold() {
    for inherited in INHERITED {
        let scope = Scope { inherited, streams: false, ..MOST };
        let walk = walk(&format!("three calls, most, {inherited:?} inherited"), &scope);
        walk.has_seen(&[Sight::AnInheritedLaneHoldsACallUp]);
    }
}
