//! Endings: whether a result tells what has happened to its call.

use super::breach::Invariant;
use super::call::{Call, Mark};
use crate::event::{HowEnded, VerdictName};

/// What, besides its own events, can have ended a call.
#[derive(Clone, Copy)]
pub(super) struct Around {
    /// The turn was given up.
    pub(super) given_up: bool,
    /// The turn lost its scheduler, and its calls were answered without it.
    pub(super) lost: bool,
    /// The process that ran the turn has ended, and its last events may be missing.
    pub(super) cut: bool,
}

type Wrong = Option<(Invariant, &'static str)>;

/// What is wrong with telling that `call` ended so.
pub(super) fn wrong_ending(call: &Call, ended: HowEnded, around: Around) -> Wrong {
    match ended {
        // Another process may have carried it on: what has become of it there is in its own history.
        HowEnded::Ok | HowEnded::Error | HowEnded::Crashed | HowEnded::Refused
            if around.cut && call.verdict.is_none() =>
        {
            None
        }
        HowEnded::Ok | HowEnded::Error | HowEnded::Crashed => wrong_return(call, ended),
        HowEnded::Refused => wrong_refusal(call),
        HowEnded::StoppedNotStarted => wrong_stop(call, around),
        HowEnded::StoppedMayHaveRun => wrong_cut(call, around),
    }
}

fn wrong_return(call: &Call, ended: HowEnded) -> Wrong {
    let true_ending = match call.verdict {
        _ if !call.has(Mark::Started) => {
            return Some((Invariant::NoRunAfterNo, "it was told to have run, but never started"));
        }
        _ if call.has(Mark::Overdue) => HowEnded::StoppedMayHaveRun,
        None => return Some((Invariant::Independent, "it was told to have returned, but hasn't")),
        Some(VerdictName::Ok) => HowEnded::Ok,
        Some(VerdictName::Error) => HowEnded::Error,
        Some(VerdictName::Stopped) if call.has(Mark::Stopping) => HowEnded::StoppedMayHaveRun,
        // Nobody had told it to.
        Some(VerdictName::Stopped | VerdictName::Crashed) => HowEnded::Crashed,
    };
    (true_ending != ended)
        .then_some((Invariant::Independent, "its result isn't told as its tool returned it"))
}

fn wrong_refusal(call: &Call) -> Wrong {
    if call.has(Mark::Started) {
        Some((Invariant::NoRunAfterNo, "it was told to be refused, but had started"))
    } else if !call.has(Mark::Refused) {
        Some((
            Invariant::Independent,
            "it was told to be refused, but wasn't, or was stopped first",
        ))
    } else {
        None
    }
}

fn wrong_stop(call: &Call, around: Around) -> Wrong {
    if call.has(Mark::Started) {
        Some((Invariant::NoRunAfterNo, "it was told not to have started, but had"))
    } else if call.has(Mark::Refused) {
        Some((Invariant::Independent, "it was refused, but told to be stopped"))
    } else if !has_reason(call, around) {
        Some((Invariant::Independent, "it was told to be stopped, but nobody had stopped it"))
    } else {
        None
    }
}

fn wrong_cut(call: &Call, around: Around) -> Wrong {
    if around.cut {
        return None;
    }
    let still_runs = call.verdict.is_none() && !call.has(Mark::Overdue) && !around.lost;
    if !call.has(Mark::Started) {
        Some((Invariant::NoRunAfterNo, "it was told that it may have run, but never started"))
    } else if call.verdict.is_some_and(|it| it != VerdictName::Stopped) {
        Some((Invariant::Independent, "its tool had finished, but it was told to be stopped"))
    } else if !call.has(Mark::Stopping) && !around.lost {
        // Unlike a call that waits, one that runs is always told itself.
        Some((Invariant::Independent, "it was told to be stopped, but nobody had stopped it"))
    } else if still_runs {
        Some((Invariant::NoRunAfterNo, "it was answered while it ran, without being overdue"))
    } else {
        None
    }
}

fn has_reason(call: &Call, around: Around) -> bool {
    call.has(Mark::Stopping) || around.given_up || around.lost
}
