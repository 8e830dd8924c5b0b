//! The pure part of the scheduler: how an ending is told.

use toolwright_contract::{Content, Ending, HowEnded, Progress, Refusal, Returned, wording};

/// How an ending is named in events and ledgers.
pub(crate) fn how_ended(ending: Ending) -> HowEnded {
    match ending {
        Ending::Returned(Returned::Ok) => HowEnded::Ok,
        Ending::Returned(Returned::Error) => HowEnded::Error,
        Ending::Returned(Returned::Crashed) => HowEnded::Crashed,
        Ending::Refused(_) => HowEnded::Refused,
        Ending::Stopped(_, Progress::NotStarted) => HowEnded::StoppedNotStarted,
        Ending::Stopped(_, Progress::MayHaveRun) => HowEnded::StoppedMayHaveRun,
    }
}

/// The content of a result. `said` is what the tool or the refusing stage said, `culprit` the
/// failed sibling in short.
pub(crate) fn content(ending: Ending, said: Option<Content>, culprit: Option<&str>) -> Content {
    match ending {
        Ending::Returned(Returned::Ok | Returned::Error | Returned::Crashed) => {
            said.unwrap_or_else(|| wording::vanished().into())
        }
        Ending::Refused(
            Refusal::UnknownTool
            | Refusal::InvalidInput
            | Refusal::Denied
            | Refusal::StageFailed
            | Refusal::Unrecorded,
        ) => said.unwrap_or_else(|| wording::stage_failed("refusing").into()),
        Ending::Stopped(cause, progress) => wording::stopped(cause, progress, culprit).into(),
    }
}

/// Whether a result is an error.
pub(crate) fn is_error(ending: Ending) -> bool {
    ending != Ending::Returned(Returned::Ok)
}
