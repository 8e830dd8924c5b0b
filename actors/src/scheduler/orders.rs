//! How the scheduler carries an order of the kernel out: which job gets which paper.

use std::sync::Arc;
use std::time::Duration;

use toolwright_contract::{
    CallIx, Cleared, Content, Ending, EventKind, Footprint, Outcome, OutcomeKind, Returned,
    StopCause, ToolResult, wording,
};
use toolwright_kernel::{Order, PhaseName, Place};

use super::core::{content, how_ended, is_error};
use super::jobs::{change_context, deadline_timer, gate, tell_change, timer};
use super::shell::State;
use super::slip::Paper;
use super::worker::{Work, work};
use crate::asked::Asked;
use crate::hooks::HooksMsg;
use crate::inbox::{Pass, Share, Timer};
use crate::journal::{StartAck, StartRecord, tell};
use crate::owed::{Gate, Keep, Log, Owed, Run};
use crate::papers::AfterJob;
use crate::permissions::PermissionsMsg;

impl State {
    pub(super) fn obey(&mut self, order: Order) {
        match order {
            Order::Gate(ix) => self.gate(ix),
            Order::Log(ix) => self.log(ix),
            Order::Run(ix) => self.run(ix),
            Order::Resume(ix) => {
                self.emit(|| EventKind::Resumed { call: ix.0 });
                let slip = &mut self.slips[ix.at()];
                slip.lent = false;
                if let Some(resume) = slip.resume.take() {
                    // A call that no longer listens has ended, and says so itself.
                    resume.send(()).unwrap_or_default();
                }
            }
            Order::Stop(ix, cause) => self.stop(ix, cause),
            Order::Store(ix, ending) => self.store(ix, ending),
            Order::Finish => {
                self.args.house.finish(self.args.lineage.turn, &self.args.ledger);
            }
        }
    }

    fn gate(&mut self, ix: CallIx) {
        self.emit(|| EventKind::Gated { call: ix.0 });
        let slip = &mut self.slips[ix.at()];
        let owed = Owed::new(ix, self.args.inbox.clone(), Gate("gate"));
        let Paper::Screened(screened) = slip.take_paper() else {
            // Dropped, the duty denies the call.
            return drop(owed);
        };
        let (house, stop) = (self.args.house.clone(), slip.stop.clone());
        let call = (self.args.lineage.turn, ix);
        // Here, so that calls wait for their shares in the order of their admission.
        let share = house.shares.claim(call, screened.tool().card());
        let gate = gate(house, self.args.lineage, (screened, share), stop, owed);
        self.args.house.crew.spawn(gate);
    }

    fn log(&mut self, ix: CallIx) {
        let owed = Owed::new(ix, self.args.inbox.clone(), Log);
        let Some(log) = &self.args.house.log else { return owed.logged() };
        let slip = &self.slips[ix.at()];
        let (id, tool) = (slip.id.clone(), slip.tool_name().into_owned());
        let input = match &slip.stage {
            Paper::Cleared(pass) => pass.cleared.changed_input().cloned(),
            Paper::Away | Paper::Screened(_) | Paper::Outcome(_) | Paper::Refusal(_) => None,
        };
        let record = StartRecord { turn: self.args.lineage.turn, call: ix, id, tool, input };
        tell(&**log, |log| log.start(record, StartAck(owed)));
    }

    fn run(&mut self, ix: CallIx) {
        self.emit(|| EventKind::Started { call: ix.0 });
        self.args.ledger.started(ix);
        let owed = Owed::new(ix, self.args.inbox.clone(), Run);
        let slip = &mut self.slips[ix.at()];
        let (Paper::Cleared(pass), Some(tool)) = (slip.take_paper(), &slip.tool) else {
            // Dropped, the duty says that the tool has crashed.
            return drop(owed);
        };
        let Pass { cleared, notes, share } = *pass;
        let card = tool.card();
        slip.notes = notes;
        slip.short = wording::call_in_short(card, cleared.input());
        let deadline = self.args.house.deadline_of(card);
        let mut asked = self.args.inbox.asked();
        if let Some(after) = deadline {
            let own = Asked::below(asked);
            self.keep_timer(ix, deadline_timer(self.args.inbox.clone(), ix, after, own.clone()));
            asked = Some(own);
        }
        self.start(ix, cleared, (share, asked), owed);
    }

    fn start(
        &mut self,
        ix: CallIx,
        cleared: Cleared,
        (share, asked): (Share, Option<Arc<Asked>>),
        owed: Owed<Run>,
    ) {
        let slip = &self.slips[ix.at()];
        // Only a call of a tool is cleared.
        let Some(of) = slip.tool.clone() else { return drop(owed) };
        let tool = slip.tool_name().into_owned();
        let job = Work {
            house: self.args.house.clone(),
            tools: self.args.tools.clone(),
            lineage: self.args.lineage,
            inbox: self.args.inbox.clone(),
            ix,
            id: slip.id.clone(),
            tool,
            stop: slip.stop.clone(),
            share,
            asked,
            of,
        };
        self.args.house.crew.spawn(work(job, cleared, owed));
    }

    fn stop(&mut self, ix: CallIx, cause: StopCause) {
        self.emit_stopping(ix, cause);
        self.slips[ix.at()].stop.tell(cause);
        if self.phase(ix) == Some(PhaseName::Gating) {
            let withdraw = PermissionsMsg::Withdraw(self.args.inbox.clone(), ix);
            self.args.house.permissions.cast(withdraw);
        }
        self.arm(ix, self.args.house.times.grace, Timer::Grace);
    }

    pub(super) fn emit_stopping(&self, ix: CallIx, cause: StopCause) {
        let culprit = match cause {
            StopCause::Sibling(by) => Some(by.0),
            StopCause::User
            | StopCause::Deadline
            | StopCause::Discarded
            | StopCause::Shutdown
            | StopCause::TooManyCalls => None,
        };
        self.emit(|| EventKind::Stopping { call: ix.0, cause: cause.into(), culprit });
    }

    /// Sends a result through the last stages: hooks after the call, if it ran, and the store.
    fn store(&mut self, ix: CallIx, ending: Ending) {
        if let Ending::Stopped(cause, _) = ending
            && !self.slips[ix.at()].stop.is_told()
        {
            // It had not come far enough to be told.
            self.emit_stopping(ix, cause);
            self.slips[ix.at()].stop.tell(cause);
        }
        let paper = self.slips[ix.at()].take_paper();
        let (said, outcome) = match paper {
            Paper::Outcome(mut it) => {
                let said = std::mem::replace(&mut it.content, Content::Text(String::new()));
                (Some(said), Some(it))
            }
            Paper::Refusal(text) => (Some(text.into()), None),
            Paper::Away | Paper::Screened(_) | Paper::Cleared(_) => (None, None),
        };
        let culprit = match ending {
            Ending::Stopped(StopCause::Sibling(by), _) => Some(&*self.slips[by.at()].short),
            Ending::Stopped(..) | Ending::Returned(_) | Ending::Refused(_) => None,
        };
        let content = content(ending, said, culprit);
        let slip = &mut self.slips[ix.at()];
        let result = ToolResult { id: slip.id.clone(), content, is_error: is_error(ending) };
        let limit = slip.tool.as_ref().map(|it| it.card().result_limit).unwrap_or_default();
        let notes = std::mem::take(&mut slip.notes);
        let keep = Keep { result, ended: how_ended(ending), limit, notes };
        self.args.ledger.owed(ix);
        let owed = Owed::new(ix, self.args.inbox.clone(), keep);
        match outcome {
            Some(outcome) => self.after_run(ix, ending, outcome, owed),
            // It didn't run, or is overdue: there is nothing that a hook could hear of.
            None => owed.kept(None, |it| it),
        }
    }

    fn after_run(
        &mut self,
        ix: CallIx,
        ending: Ending,
        mut outcome: Box<Outcome>,
        mut owed: Owed<Keep>,
    ) {
        owed.add_notes(std::mem::take(&mut outcome.notes));
        let slip = &mut self.slips[ix.at()];
        let kind = match ending {
            Ending::Returned(Returned::Ok) => OutcomeKind::Success,
            Ending::Returned(Returned::Error | Returned::Crashed)
            | Ending::Refused(_)
            | Ending::Stopped(..) => OutcomeKind::Failure,
        };
        // Only a tool that is there has run; without it, the duty stands for the result.
        let Some(tool) = slip.tool.clone() else { return drop(owed) };
        let input = std::mem::take(&mut outcome.input);
        let structured = outcome.structured.take().map(Arc::new);
        let meta = outcome.meta.take().map(Arc::new);
        let job = Box::new(AfterJob { tool, input, structured, meta, kind, owed });
        let alone = self.turn.calls().get(ix.at()).and_then(|it| it.place())
            == Some(Place::Lane(Footprint::Exclusive));
        let (house, lineage) = (self.args.house.clone(), self.args.lineage);
        match (&outcome.change, alone) {
            (Some(_), true) => {
                let changing = change_context(house.clone(), lineage, ix, outcome, job);
                house.crew.spawn(changing);
            }
            (Some(_), false) => {
                let why = "it did not run alone".to_owned();
                tell_change(&house, lineage, ix, Some(why));
                house.hooks.cast(HooksMsg::After(job));
            }
            (None, _) => house.hooks.cast(HooksMsg::After(job)),
        }
    }

    pub(super) fn arm(&mut self, ix: CallIx, after: Duration, which: Timer) {
        self.keep_timer(ix, timer(self.args.inbox.clone(), ix, after, which));
    }

    fn keep_timer(&mut self, ix: CallIx, timer: impl Future<Output = ()> + Send + 'static) {
        let handle = self.args.house.crew.spawn(timer);
        self.slips[ix.at()].timers.push(handle);
    }

    pub(super) fn arm_wait(&mut self, ix: CallIx) {
        // What no tool answers to never waits.
        let Some(tool) = &self.slips[ix.at()].tool else { return };
        self.arm(ix, self.args.house.wait_of(tool.card()), Timer::Wait);
    }
}
