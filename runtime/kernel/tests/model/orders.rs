//! The outside obeys an order, and notices one that it should not have got.

use toolwright_kernel::CallIx;
use toolwright_kernel::{Effects, Ending, Order, Progress, Refusal, Returned, StopCause, Verdict};

use super::call::{Answer, Call, Stage, Width};
use super::laws::{self, Law, hold};
use super::sights::Sight;
use super::world::World;

impl World<'_> {
    pub(super) fn obey(&mut self, order: Order) -> Result<(), Law> {
        match order {
            Order::Gate(ix) => {
                hold(self.at(ix).stage == Stage::Queued, laws::GATED_ONCE)?;
                self.start(ix)?;
                self.at(ix).stage = Stage::Gate { asked: false };
            }
            Order::Log(ix) => {
                let before = self.at(ix).stage;
                let fresh = matches!(before, Stage::Through { recorded: false } | Stage::Rejoining);
                hold(fresh, laws::LOGGED_ONCE)?;
                self.start(ix)?;
                hold(self.at(ix).safety.effects == Effects::Writes, laws::RECORD_WRITES)?;
                self.at(ix).stage = Stage::Log;
            }
            Order::Run(ix) => self.run(ix)?,
            Order::Resume(ix) => {
                let stage = self.at(ix).stage;
                hold(stage == Stage::Run(Width::Claimed), laws::CLAIM_ORDER)?;
                hold(self.claims.first() == Some(&ix), laws::CLAIM_ORDER)?;
                self.claims.remove(0);
                self.at(ix).stage = Stage::Run(Width::Held);
                self.at(ix).wake();
            }
            Order::Stop(ix, cause) => {
                let call = self.at(ix);
                hold(!call.told && call.is_worked_on(), laws::STOP_REACHES)?;
                known_cause(call, cause)?;
                call.told = true;
            }
            Order::Store(ix, ending) => self.store(ix, ending)?,
            Order::Finish => {
                let all = self.calls.iter().all(|it| it.stage == Stage::Stored);
                hold(self.sealed && all, laws::FINISH_ONCE)?;
                self.finished = true;
            }
        }
        Ok(())
    }

    /// A step that must not be taken out of turn.
    fn start(&mut self, ix: CallIx) -> Result<(), Law> {
        hold(self.at(ix).stop.is_none(), laws::GIVEN_UP)?;
        if self.at(ix).waits_in_line() {
            let ahead = &self.calls[..ix.at()];
            hold(!ahead.iter().any(Call::waits_in_line), laws::IN_LINE)?;
            hold(self.claims.is_empty(), laws::CLAIM_FIRST)?;
            self.at(ix).enter_lane();
        }
        Ok(())
    }

    fn run(&mut self, ix: CallIx) -> Result<(), Law> {
        let call = *self.at(ix);
        let recorded = match call.stage {
            Stage::Through { recorded } => recorded,
            Stage::Rejoining => false,
            Stage::Queued
            | Stage::Gate { .. }
            | Stage::Log
            | Stage::Run(_)
            | Stage::Over(_)
            | Stage::Store
            | Stage::Stored => return Err(laws::RUN_ONCE),
        };
        hold(recorded || call.safety.effects == Effects::ReadOnly, laws::RECORD_FIRST)?;
        self.start(ix)?;
        self.at(ix).stage = Stage::Run(Width::Held);
        self.at(ix).ran = true;
        Ok(())
    }

    fn store(&mut self, ix: CallIx, ending: Ending) -> Result<(), Law> {
        let call = *self.at(ix);
        hold(!matches!(call.stage, Stage::Store | Stage::Stored), laws::STORED_ONCE)?;
        hold(!call.is_worked_on(), laws::AWAITED)?;
        let answer = if let Stage::Over(answer) = call.stage { Some(answer) } else { None };
        match ending {
            Ending::Returned(returned) => {
                let said = match returned {
                    Returned::Ok => matches!(answer, Some(Answer::Returned(Verdict::Good))),
                    Returned::Error => {
                        matches!(answer, Some(Answer::Returned(Verdict::Bad { .. })))
                    }
                    Returned::Crashed => {
                        answer == Some(Answer::Returned(Verdict::Crashed))
                            || answer == Some(Answer::Returned(Verdict::Stopped)) && !call.told
                    }
                };
                hold(said && call.ran, laws::TRUE_RESULT)?;
            }
            Ending::Refused(why) => {
                let said = answer == Some(Answer::Refused(why));
                hold(said && !call.ran, laws::TRUE_REFUSAL)?;
                hold(call.stop.is_none(), laws::FIRST_CAUSE)?;
                self.sights.note(Sight::ARecordIsRefused, why == Refusal::Unrecorded);
            }
            Ending::Stopped(cause, progress) => {
                known_cause(&call, cause)?;
                let returned = matches!(
                    answer,
                    Some(Answer::Returned(Verdict::Good | Verdict::Bad { .. } | Verdict::Crashed))
                );
                hold(!returned, laws::TRUE_RESULT)?;
                match progress {
                    Progress::NotStarted => hold(!call.ran, laws::NOT_STARTED)?,
                    Progress::MayHaveRun => hold(call.ran, laws::MAY_HAVE_RUN)?,
                }
                let sibling = matches!(cause, StopCause::Sibling(_));
                self.sights.note(Sight::ASiblingIsStoppedBeforeItStarts, sibling && !call.ran);
                self.sights.note(Sight::ASiblingIsStoppedWhileItRuns, sibling && call.ran);
                self.sights.note(Sight::TooManyCalls, cause == StopCause::TooManyCalls);
            }
        }
        let call = self.at(ix);
        if !matches!(answer, Some(Answer::Returned(_) | Answer::Late)) {
            call.held = None;
        }
        call.forget(Stage::Store);
        Ok(())
    }
}

/// The cause must be the first that covers the call; a sibling only if the policy says so.
fn known_cause(call: &Call, cause: StopCause) -> Result<(), Law> {
    let unheard_of = matches!(cause, StopCause::Sibling(_)) && call.stop.is_none();
    let law = if unheard_of { laws::CULPRIT } else { laws::FIRST_CAUSE };
    hold(call.stop == Some(cause), law)
}
