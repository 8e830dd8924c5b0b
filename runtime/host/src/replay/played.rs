//! How the calls of one turn went, read from the turn's events.

use toolwright_contract::{
    Event, EventKind, HowEnded, RefusalName, StopName, ToolResult, VerdictName,
};

use super::script::Cue;

/// How one call of a replay went. Times are microseconds of the session's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedCall {
    /// The call in short, as in `Bash(cargo test)`.
    pub label: String,
    /// Whether it had to run alone.
    pub alone: bool,
    /// When it took its place in line.
    pub accepted_us: u64,
    /// When it got its lane; `None` if it never did.
    pub admitted_us: Option<u64>,
    /// When its tool was started; `None` if it never was.
    pub started_us: Option<u64>,
    /// When it was over: its tool had ended, or it was answered without.
    pub ended_us: u64,
    /// How it ended.
    pub ended: Option<HowEnded>,
    /// Whether its result is an error.
    pub is_error: bool,
    /// Why it was not started, if a stage said no.
    pub refused: Option<RefusalName>,
    /// Why it was stopped, if it was.
    pub stopped: Option<Stopped>,
    /// Whether the recording holds a result for it.
    pub was_recorded: bool,
    /// Whether it has a recorded result, but nothing tells how long that took: it takes no time.
    pub is_untimed: bool,
    /// Characters of text in its result.
    pub result_chars: usize,
    /// Most calls of the turn that ran at once while it started.
    pub beside: u32,
}

/// Why a call was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The reason.
    pub cause: StopName,
    /// The sibling that failed, by its place in the message.
    pub culprit: Option<u32>,
}

impl PlayedCall {
    /// How long its tool took, if it was started.
    #[must_use]
    pub fn ran_us(&self) -> Option<u64> {
        Some(self.ended_us.saturating_sub(self.started_us?))
    }

    /// How long it waited for its lane, or for its end where it never got one.
    #[must_use]
    pub fn waited_us(&self) -> u64 {
        self.admitted_us.unwrap_or(self.ended_us).saturating_sub(self.accepted_us)
    }

    /// Whether it was answered that the recording holds no result for it.
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        !self.was_recorded && self.ended == Some(HowEnded::Error)
    }

    /// Whether something stopped it.
    #[must_use]
    pub fn was_cancelled(&self) -> bool {
        matches!(self.ended, Some(HowEnded::StoppedNotStarted | HowEnded::StoppedMayHaveRun))
    }
}

/// A turn while its events are read.
#[derive(Default)]
pub(super) struct Course {
    calls: Vec<PlayedCall>,
    running: u32,
}

impl Course {
    pub(super) fn step(&mut self, event: &Event) {
        let at = event.at_us;
        match &event.kind {
            EventKind::Accepted { tool, exclusive, .. } => {
                self.calls.push(accepted(tool, *exclusive, at));
            }
            EventKind::Gated { call } => self.change(*call, |it| it.admitted_us = Some(at)),
            EventKind::Cleared { call, exclusive, .. } => {
                self.change(*call, |it| it.alone = *exclusive);
            }
            EventKind::Refused { call, why } => self.change(*call, |it| {
                (it.refused, it.ended_us) = (Some(*why), at);
            }),
            EventKind::Started { call } => {
                self.running += 1;
                let beside = self.running;
                self.change(*call, |it| (it.started_us, it.beside) = (Some(at), beside));
            }
            EventKind::Stopping { call, cause, culprit } => {
                let stopped = Stopped { cause: *cause, culprit: *culprit };
                self.change(*call, |it| {
                    (it.stopped, it.ended_us) = (Some(stopped), it.ended_us.max(at));
                });
            }
            EventKind::Returned { call, verdict, .. } => {
                self.running = self.running.saturating_sub(1);
                let own_end = *verdict != VerdictName::Stopped;
                self.change(*call, |it| {
                    it.ended_us = at;
                    // It had been told to stop, and was through before it heard.
                    it.stopped = it.stopped.filter(|_| !own_end);
                });
            }
            EventKind::Overdue { call } => self.change(*call, |it| it.ended_us = at),
            EventKind::Emitted { call, ended, is_error, .. } => self.change(*call, |it| {
                (it.ended, it.is_error) = (Some(*ended), *is_error);
            }),
            EventKind::TurnOpened { .. }
            | EventKind::Duplicate { .. }
            | EventKind::Asking { .. }
            | EventKind::Withdrawn { .. }
            | EventKind::Logged { .. }
            | EventKind::Progressed { .. }
            | EventKind::Notified { .. }
            | EventKind::Lent { .. }
            | EventKind::Resumed { .. }
            | EventKind::Gone { .. }
            | EventKind::ContextChanged { .. }
            | EventKind::Stored { .. }
            | EventKind::Sealed
            | EventKind::TurnFinished { .. }
            | EventKind::StageFailed { .. }
            | EventKind::Stalled { .. } => {}
        }
    }

    /// The calls, with what was known of them before and what they answered.
    pub(super) fn end(mut self, cues: Vec<Cue>, results: &[ToolResult]) -> Vec<PlayedCall> {
        for (call, cue) in self.calls.iter_mut().zip(cues) {
            (call.label, call.was_recorded) = (cue.label, cue.has_result);
            call.is_untimed = cue.is_untimed;
        }
        for (call, result) in self.calls.iter_mut().zip(results) {
            call.result_chars = result.content.chars();
        }
        self.calls
    }

    fn change(&mut self, call: u32, change: impl FnOnce(&mut PlayedCall)) {
        // An event of a call that was never accepted is the history checker's business.
        if let Some(call) = self.calls.get_mut(call as usize) {
            change(call);
        }
    }
}

fn accepted(tool: &str, alone: bool, at: u64) -> PlayedCall {
    PlayedCall {
        label: tool.to_owned(),
        alone,
        accepted_us: at,
        admitted_us: None,
        started_us: None,
        ended_us: at,
        ended: None,
        is_error: false,
        refused: None,
        stopped: None,
        was_recorded: false,
        is_untimed: false,
        result_chars: 0,
        beside: 0,
    }
}
