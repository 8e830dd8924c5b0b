//! The permission actor: carries decisions out and keeps the open questions.

use std::collections::BTreeMap;
use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio_util::task::TaskTracker;
use toolwright_contract::{EventKind, InvalidInput, Permit, Refusal, RequestId, wording};

use super::core::{Decision, Rules};
use super::{Answer, Ask, PermissionsMsg, Question, Standing};
use crate::bus::Bus;
use crate::papers::GateJob;

/// The stage.
pub(crate) struct Permissions;

/// What it is started with, again if need be.
#[derive(Clone)]
pub(crate) struct PermissionsArgs {
    pub(crate) standing: Standing,
    pub(crate) bus: Arc<Bus>,
    pub(crate) tracker: TaskTracker,
}

/// What it remembers.
pub(crate) struct State {
    args: PermissionsArgs,
    rules: Rules,
    open: BTreeMap<RequestId, Open>,
}

struct Open {
    job: Box<GateJob>,
    message: String,
}

impl Actor for Permissions {
    type Msg = PermissionsMsg;
    type State = State;
    type Arguments = PermissionsArgs;

    async fn pre_start(
        &self,
        _: ActorRef<PermissionsMsg>,
        args: PermissionsArgs,
    ) -> Result<State, ActorProcessingErr> {
        Ok(State { rules: args.standing.rules(), args, open: BTreeMap::new() })
    }

    async fn handle(
        &self,
        _: ActorRef<PermissionsMsg>,
        msg: PermissionsMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match msg {
            PermissionsMsg::Decide(mut job) => {
                job.owed.held_by("permission");
                match state.decide(&job) {
                    Decision::Allow => clear(*job),
                    Decision::Deny(text) => deny(*job, &text),
                    Decision::Ask(message) => state.ask(job, message),
                }
            }
            PermissionsMsg::Answer(request, answer) => {
                if let Some(open) = state.open.remove(&request) {
                    state.answer(open.job, answer);
                }
            }
            PermissionsMsg::Withdraw(inbox, ix) => {
                state.withdraw(|it| it.job.owed.ix() == ix && it.job.owed.is_of(&inbox));
            }
            PermissionsMsg::Attached => state.tell_open(),
            PermissionsMsg::RulesChanged => state.decide_again(),
        }
        Ok(())
    }
}

impl State {
    fn decide(&self, job: &GateJob) -> Decision {
        let card = job.screened.tool().card();
        let names = std::iter::once(&card.name).chain(&card.aliases).map(AsRef::as_ref);
        self.rules.decide(names, job.screened.safety(), &job.wish)
    }

    fn ask(&mut self, mut job: Box<GateJob>, message: String) {
        let request = self.args.standing.next_request();
        let heard = self.args.standing.tell(Question::Asked(ask_of(request, &job, &message)));
        if !heard {
            // Nobody to ask means no, at once.
            let text = wording::needs_approval(&job.screened.tool().card().name);
            return deny(*job, &text);
        }
        job.share = None;
        job.owed.asking(request);
        self.open.insert(request, Open { job, message });
    }

    fn answer(&self, job: Box<GateJob>, answer: Answer) {
        match answer {
            Answer::Allow => clear(*job),
            Answer::Deny(text) => deny(*job, &text),
            Answer::AllowWith(input) => {
                self.args.tracker.spawn(clear_with(job, input));
            }
        }
    }

    fn withdraw(&mut self, is_withdrawn: impl Fn(&Open) -> bool) {
        let gone: Vec<_> =
            self.open.iter().filter(|(_, it)| is_withdrawn(it)).map(|(at, _)| *at).collect();
        for request in gone {
            if let Some(open) = self.open.remove(&request) {
                self.tell_withdrawn(request, &open.job);
                // The kernel tells the call as stopped, whatever is said here.
                open.job.owed.refuse(Refusal::Denied, String::new());
            }
        }
    }

    fn tell_withdrawn(&self, request: RequestId, job: &GateJob) {
        self.args.bus.emit(job.turn, || EventKind::Withdrawn { request });
        // A listener that has gone needs no word.
        self.args.standing.tell(Question::Withdrawn(request));
    }

    fn tell_open(&self) {
        for (&request, open) in &self.open {
            // One that has gone already is noticed at the next question.
            self.args.standing.tell(Question::Asked(ask_of(request, &open.job, &open.message)));
        }
    }

    fn decide_again(&mut self) {
        self.rules = self.args.standing.rules();
        for (request, open) in std::mem::take(&mut self.open) {
            match self.decide(&open.job) {
                Decision::Ask(message) => {
                    self.open.insert(request, Open { message, ..open });
                }
                Decision::Allow => {
                    self.tell_withdrawn(request, &open.job);
                    clear(*open.job);
                }
                Decision::Deny(text) => {
                    self.tell_withdrawn(request, &open.job);
                    deny(*open.job, &text);
                }
            }
        }
    }
}

fn ask_of(request: RequestId, job: &GateJob, message: &str) -> Ask {
    Ask {
        request,
        turn: job.turn,
        id: job.screened.id().clone(),
        tool: job.screened.tool().card().name.to_string(),
        input: job.screened.input().clone(),
        message: message.to_owned(),
    }
}

fn clear(job: GateJob) {
    let GateJob { screened, notes, share, owed, .. } = job;
    owed.clear(screened.clear(Permit::granted()), notes, share);
}

fn deny(job: GateJob, text: &str) {
    job.owed.refuse(Refusal::Denied, wording::tool_use_error(text));
}

async fn clear_with(mut job: Box<GateJob>, input: serde_json::Value) {
    let checked = match job.screened.change_input(input) {
        Ok(()) => job.screened.validate(&job.check).await,
        Err(invalid) => Err(invalid),
    };
    match checked {
        Ok(()) => clear(*job),
        Err(InvalidInput(text)) => {
            job.owed.refuse(Refusal::InvalidInput, wording::tool_use_error(&text));
        }
    }
}
