//! The permission actor: carries decisions out and keeps the open questions.

use std::collections::BTreeMap;
use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use serde_json::Value;
use toolwright_contract::{Permit, Refusal, RequestId, wording};
use toolwright_permissions::{Decision, Reason, Suggestion, Verdict};

use super::core::{Consent, Found, Matter, Search, denial, question};
use super::standing::{Listener, Standing};
use super::{Answer, Ask, Lasting, PermissionsMsg, Policy, Question, RealLinks, RuleKeeper};
use crate::asked::OpenQuestion;
use crate::crew::Crew;
use crate::limits::VALIDATE;
use crate::papers::GateJob;
use crate::session::Context;
use crate::stage::Stage;

/// The stage.
pub(crate) struct Permissions;

/// What it is started with, again if need be.
#[derive(Clone)]
pub(crate) struct PermissionsArgs {
    pub(crate) standing: Standing,
    pub(crate) crew: Crew,
    /// Its own address, for its tasks.
    pub(crate) stage: Stage<PermissionsMsg>,
    pub(crate) context: Arc<Context>,
    pub(crate) keeper: Option<Arc<dyn RuleKeeper>>,
}

/// What it remembers.
pub(crate) struct State {
    args: PermissionsArgs,
    policy: Arc<Policy>,
    edition: u64,
    open: BTreeMap<RequestId, Open>,
}

struct Open {
    job: Box<GateJob>,
    message: String,
    suggestions: Vec<Suggestion>,
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
        let (policy, edition) = args.standing.edition();
        Ok(State { policy, edition, args, open: BTreeMap::new() })
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
                state.judge(job);
            }
            PermissionsMsg::Answer(request, answer) => {
                if let Some(open) = state.open.remove(&request) {
                    state.answer(request, open.job, answer);
                }
            }
            PermissionsMsg::Withdraw(inbox, ix) => {
                state.withdraw(|it| it.job.owed.ix() == ix && it.job.owed.is_of(&inbox));
            }
            PermissionsMsg::Attached => state.tell_open(),
            PermissionsMsg::PolicyChanged => state.change_policy(),
            PermissionsMsg::Found(request, found) => {
                if let Some(mut open) = state.open.remove(&request) {
                    open.job.found = Some(found);
                    state.decide_again(request, open);
                }
            }
        }
        Ok(())
    }
}

impl State {
    /// Decides about a call, once it is known what only the file system knows of it.
    fn judge(&mut self, job: Box<GateJob>) {
        // A message that tells of a change may still be on its way.
        (self.policy, self.edition) = self.args.standing.edition();
        let is_known = job.found.as_ref().is_some_and(|it| it.edition == self.edition);
        match self.search(&job).filter(|_| !is_known) {
            Some(search) => {
                self.args.crew.spawn(find_out(job, search, self.args.clone()));
            }
            None => self.conclude(job),
        }
    }

    fn search(&self, job: &GateJob) -> Option<Search> {
        Search::of(&job.screened, &self.args.context.now(), &self.policy, self.edition)
    }

    fn decide(&self, job: &GateJob) -> Decision {
        let GateJob { screened, wish, .. } = job;
        let (policy, own) = (&*self.policy, screened.permission(&job.check));
        Matter { policy, screened, own, wish, found: job.found.as_deref() }.decide()
    }

    fn conclude(&mut self, job: Box<GateJob>) {
        let Decision { verdict, reason } = self.decide(&job);
        match (verdict, &job.consent) {
            (Verdict::Allow, _) => clear(*job),
            (Verdict::Deny, _) => deny_for(*job, &reason),
            (Verdict::Ask(_), Some(consent)) => {
                if consent.covers(job.screened.input(), job.found.as_deref()) {
                    clear(*job);
                } else {
                    deny(*job, wording::CHANGED_WHILE_ASKED);
                }
            }
            (Verdict::Ask(suggestions), None) => self.ask(job, &reason, suggestions),
        }
    }

    fn ask(&mut self, mut job: Box<GateJob>, reason: &Reason, suggestions: Vec<Suggestion>) {
        let tool = &*job.screened.tool().card().name;
        let message = question(tool, reason);
        let request = self.args.standing.next_request();
        let asked = || Question::Asked(ask_of(request, &job, &message, &suggestions));
        let is_asked = !self.policy.denies_instead_of_prompting;
        let Some(heard_by) = is_asked.then(|| self.args.standing.tell(asked())).flatten() else {
            // Nobody to ask means no, at once.
            let text = wording::needs_approval(tool);
            return deny(*job, &text);
        };
        job.share = None;
        let question = job.owed.asking(request);
        let open = Open { job, message, suggestions, heard_by, _question: question };
        self.open.insert(request, open);
    }

    fn answer(&mut self, request: RequestId, mut job: Box<GateJob>, answer: Answer) {
        let consent = Consent::to(job.screened.input(), job.found.as_deref());
        match answer {
            Answer::Deny(text) => return deny(*job, &text),
            Answer::AllowWith(input) => {
                self.args.crew.spawn(change_input(job, input, self.args.stage.clone()));
                return;
            }
            Answer::Allow => {}
            Answer::AllowFromNow(suggestion, lasting) => {
                self.args.crew.spawn(allow(self.args.clone(), request, suggestion, lasting));
            }
        }
        job.consent = Some(consent);
        // What its paths lead to may be something else by now.
        job.found = None;
        self.judge(job);
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
            let question =
                Question::Asked(ask_of(request, &open.job, &open.message, &open.suggestions));
            // A listener that has gone already is noticed at the next question.
            if let Some(listener) = self.args.standing.tell(question) {
                open.heard_by = listener;
            }
        }
    }

    fn change_policy(&mut self) {
        (self.policy, self.edition) = self.args.standing.edition();
        for (request, open) in std::mem::take(&mut self.open) {
            match self.search(&open.job) {
                // It stays open meanwhile: an answer has it judged anew in any case.
                Some(search) => {
                    let job = &open.job;
                    let (stop, args) = (job.check.stop.clone(), self.args.clone());
                    self.args.crew.spawn(async move {
                        if let Ok(Some(found)) = stop.or(found(search, &args.crew)).await {
                            args.stage.cast(PermissionsMsg::Found(request, Box::new(found)));
                        }
                    });
                    self.open.insert(request, open);
                }
                None => self.decide_again(request, open),
            }
        }
    }

    /// Decides about the call of an open question by what is known now.
    fn decide_again(&mut self, request: RequestId, open: Open) {
        let Decision { verdict, reason } = self.decide(&open.job);
        match verdict {
            Verdict::Ask(suggestions) if !self.policy.denies_instead_of_prompting => {
                let message = question(&open.job.screened.tool().card().name, &reason);
                self.open.insert(request, Open { message, suggestions, ..open });
            }
            Verdict::Allow => {
                self.tell_withdrawn(request, &open.job);
                clear(*open.job);
            }
            Verdict::Ask(_) => {
                self.tell_withdrawn(request, &open.job);
                let text = wording::needs_approval(&open.job.screened.tool().card().name);
                deny(*open.job, &text);
            }
            Verdict::Deny => {
                self.tell_withdrawn(request, &open.job);
                deny_for(*open.job, &reason);
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

fn ask_of(request: RequestId, job: &GateJob, message: &str, suggestions: &[Suggestion]) -> Ask {
    Ask {
        request,
        turn: job.turn,
        id: job.screened.id().clone(),
        tool: job.screened.tool().card().name.to_string(),
        input: job.screened.input().clone(),
        description: job.screened.describe().into_owned(),
        conduct: job.screened.conduct(),
        message: message.to_owned(),
        suggestions: suggestions.to_vec(),
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

fn deny_for(job: GateJob, reason: &Reason) {
    let text = denial(&job.screened.tool().card().name, reason);
    deny(job, &text);
}

/// Finds out what only the file system knows of a call, and sends the call back to the stage.
async fn find_out(mut job: Box<GateJob>, search: Search, args: PermissionsArgs) {
    let stop = job.check.stop.clone();
    match stop.or(found(search, &args.crew)).await {
        Ok(Some(found)) => {
            job.found = Some(Box::new(found));
            args.stage.cast(PermissionsMsg::Decide(job));
        }
        // Unpaid, it says that the stage failed.
        Ok(None) => {}
        Err(_) => withdrawn(*job),
    }
}

/// What is found out in time, on a thread that may block; nothing if the search broke down.
async fn found(search: Search, crew: &Crew) -> Option<Found> {
    let searching = crew.spawn_blocking(move || search.done(&RealLinks));
    tokio::time::timeout(VALIDATE, searching).await.ok()?.ok()
}

/// Takes the input that a person wrote, and has it decided like the model's own.
async fn change_input(mut job: Box<GateJob>, input: Value, stage: Stage<PermissionsMsg>) {
    let stop = job.check.stop.clone();
    match stop.or(job.change_input(input)).await {
        Ok(Ok(())) => {
            job.consent = Some(Consent::to_written(job.screened.input()));
            stage.cast(PermissionsMsg::Decide(job));
        }
        Ok(Err((why, text))) => job.owed.refuse(why, text),
        Err(_) => withdrawn(*job),
    }
}

/// Allows more from now on, on a thread that may block.
async fn allow(args: PermissionsArgs, request: RequestId, more: Suggestion, lasting: Lasting) {
    let PermissionsArgs { standing, crew, keeper, stage, .. } = args;
    let told = standing.clone();
    let allowing = crew.spawn_blocking(move || match more {
        Suggestion::Mode(mode) => {
            standing.set_mode(mode);
            Ok(())
        }
        Suggestion::Allow(rules) => {
            standing.allow(&rules);
            match (lasting, keeper) {
                (Lasting::Session, _) => Ok(()),
                (Lasting::Always, Some(keeper)) => keeper.keep(&rules),
                (Lasting::Always, None) => Err("the session keeps no rules".to_owned()),
            }
        }
    });
    let kept = allowing.await.unwrap_or_else(|_| Err("keeping them broke down".to_owned()));
    if let Err(why) = kept {
        tracing::warn!(why, "what was allowed for always counts for the session alone");
        // A listener that has gone needs no word.
        told.tell(Question::NotKept(request, why));
    }
    stage.cast(PermissionsMsg::PolicyChanged);
}
