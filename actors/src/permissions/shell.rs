//! The permission actor: carries decisions out and keeps the open questions.

use std::collections::BTreeMap;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use toolwright_contract::{Permit, Refusal, RequestId, wording};

use super::core::{Case, Decision, Rules};
use super::{Answer, Ask, Listener, PermissionsMsg, Question, Standing};
use crate::asked::OpenQuestion;
use crate::crew::Crew;
use crate::papers::GateJob;

/// The stage.
pub(crate) struct Permissions;

/// What it is started with, again if need be.
#[derive(Clone)]
pub(crate) struct PermissionsArgs {
    pub(crate) standing: Standing,
    pub(crate) crew: Crew,
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
    /// The listener who has heard it.
    heard_by: Listener,
    /// While it is kept, no deadline of a call above passes.
    _question: OpenQuestion,
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
        #[cfg(test)]
        crate::faults::strike(toolwright_contract::StageName::Permissions);
        match msg {
            PermissionsMsg::Decide(job) => {
                if job.check.stop.is_told() {
                    // Its question would come after the word that withdraws it.
                    withdrawn(*job);
                    return Ok(());
                }
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
        let GateJob { screened, wish, .. } = job;
        let needs_user = screened.conduct().needs_user;
        let own = &screened.permission(&job.check);
        let (card, safety) = (screened.tool().card(), screened.safety());
        self.rules.decide(&Case { card, safety, needs_user, own, wish })
    }

    fn ask(&mut self, mut job: Box<GateJob>, message: String) {
        let request = self.args.standing.next_request();
        let question = Question::Asked(ask_of(request, &job, &message));
        let Some(heard_by) = self.args.standing.tell(question) else {
            // Nobody to ask means no, at once.
            let text = wording::needs_approval(&job.screened.tool().card().name);
            return deny(*job, &text);
        };
        job.share = None;
        let question = job.owed.asking(request);
        self.open.insert(request, Open { job, message, heard_by, _question: question });
    }

    fn answer(&self, job: Box<GateJob>, answer: Answer) {
        match answer {
            Answer::Allow => clear(*job),
            Answer::Deny(text) => deny(*job, &text),
            Answer::AllowWith(input) => {
                self.args.crew.spawn(clear_with(job, input));
            }
        }
    }

    fn withdraw(&mut self, is_withdrawn: impl Fn(&Open) -> bool) {
        let gone: Vec<_> =
            self.open.iter().filter(|(_, it)| is_withdrawn(it)).map(|(at, _)| *at).collect();
        for request in gone {
            if let Some(open) = self.open.remove(&request) {
                self.tell_withdrawn(request, &open.job);
                withdrawn(*open.job);
            }
        }
    }

    fn tell_withdrawn(&self, request: RequestId, job: &GateJob) {
        job.owed.withdrawn(request);
        // A listener that has gone needs no word.
        self.args.standing.tell(Question::Withdrawn(request));
    }

    fn tell_open(&mut self) {
        let now = self.args.standing.listener();
        for (&request, open) in self.open.iter_mut().filter(|(_, it)| it.heard_by != now) {
            let question = Question::Asked(ask_of(request, &open.job, &open.message));
            // A listener that has gone already is noticed at the next question.
            if let Some(listener) = self.args.standing.tell(question) {
                open.heard_by = listener;
            }
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

impl Drop for State {
    /// Nobody can answer a question of a stage that is gone: its calls are denied.
    fn drop(&mut self) {
        for (&request, open) in &self.open {
            self.tell_withdrawn(request, &open.job);
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
        description: job.screened.describe().into_owned(),
        conduct: job.screened.conduct(),
        message: message.to_owned(),
    }
}

fn clear(job: GateJob) {
    let GateJob { screened, notes, share, owed, .. } = job;
    owed.clear(screened.clear(Permit::granted()), notes, share);
}

fn deny(job: GateJob, text: &str) {
    let text = wording::reason(text, &job.screened.tool().card().name);
    job.owed.refuse(Refusal::Denied, wording::tool_use_error(&text));
}

/// The kernel tells the call as stopped, whatever is said here.
fn withdrawn(job: GateJob) {
    job.owed.refuse(Refusal::Denied, String::new());
}

async fn clear_with(mut job: Box<GateJob>, input: serde_json::Value) {
    let stop = job.check.stop.clone();
    match stop.or(job.change_input(input)).await {
        Ok(Ok(())) => clear(*job),
        Ok(Err((why, text))) => job.owed.refuse(why, text),
        Err(_) => withdrawn(*job),
    }
}
