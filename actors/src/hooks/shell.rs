//! The hook actor: picks the hooks of a call and runs them in a task that owns the papers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use toolwright_contract::{Card, Refusal, wording};

use super::core::{Merged, merge};
use super::{
    AfterAnswer, AfterCall, BeforeAnswer, BeforeCall, Callback, Hook, HookDecision, HooksMsg,
};
use crate::crew::Crew;
use crate::papers::{AfterJob, GateJob};
use crate::permissions::PermissionsMsg;
use crate::stage::Stage;
use crate::store::StoreMsg;

/// The stage.
pub(crate) struct Hooks;

/// What it is started with, again if need be.
#[derive(Clone)]
pub(crate) struct HooksArgs {
    pub(crate) hooks: Arc<[Hook]>,
    pub(crate) crew: Crew,
    pub(crate) permissions: Stage<PermissionsMsg>,
    pub(crate) store: Stage<StoreMsg>,
}

impl Actor for Hooks {
    type Msg = HooksMsg;
    type State = HooksArgs;
    type Arguments = HooksArgs;

    async fn pre_start(
        &self,
        _: ActorRef<HooksMsg>,
        args: HooksArgs,
    ) -> Result<HooksArgs, ActorProcessingErr> {
        Ok(args)
    }

    async fn handle(
        &self,
        _: ActorRef<HooksMsg>,
        msg: HooksMsg,
        house: &mut HooksArgs,
    ) -> Result<(), ActorProcessingErr> {
        #[cfg(test)]
        crate::faults::strike(toolwright_contract::StageName::Hooks);
        match msg {
            HooksMsg::Before(job) => {
                let asked = before_hooks(&house.hooks, job.screened.tool().card());
                if asked.is_empty() {
                    go_on(job, &house.permissions);
                } else {
                    house.crew.spawn(before(job, asked, house.permissions.clone()));
                }
            }
            HooksMsg::After(job) => {
                let told = after_hooks(&house.hooks, job.tool.card());
                if told.is_empty() {
                    house.store.cast(StoreMsg::Keep(job));
                } else {
                    house.crew.spawn(after(job, told, house.store.clone()));
                }
            }
        }
        Ok(())
    }
}

fn before_hooks(hooks: &[Hook], tool: &Card) -> Vec<Hook> {
    let is_before = |it: &&Hook| matches!(it.callback, Callback::Before(_));
    hooks.iter().filter(is_before).filter(|it| it.tools.matches(tool)).cloned().collect()
}

fn after_hooks(hooks: &[Hook], tool: &Card) -> Vec<Hook> {
    let is_after = |it: &&Hook| matches!(it.callback, Callback::After(_));
    hooks.iter().filter(is_after).filter(|it| it.tools.matches(tool)).cloned().collect()
}

async fn before(mut job: Box<GateJob>, hooks: Vec<Hook>, permissions: Stage<PermissionsMsg>) {
    let stop = job.check.stop.clone();
    let asked = stop.or(async {
        let merged = ask_all(&job, &hooks).await;
        take_in(&mut job, merged).await
    });
    match asked.await {
        Ok(Ok(())) => go_on(job, &permissions),
        Ok(Err((why, text))) => job.owed.refuse(why, text),
        // The kernel tells the call as stopped, whatever is said here.
        Err(_) => job.owed.refuse(Refusal::Denied, String::new()),
    }
}

fn go_on(mut job: Box<GateJob>, permissions: &Stage<PermissionsMsg>) {
    job.owed.held_by("permission");
    permissions.cast(PermissionsMsg::Decide(job));
}

async fn ask_all(job: &GateJob, hooks: &[Hook]) -> Merged {
    let asking = hooks.iter().map(|hook| {
        let call = BeforeCall {
            id: job.screened.id().clone(),
            tool: job.screened.tool().card().name.to_string(),
            input: job.screened.input().clone(),
        };
        ask(hook, call)
    });
    merge(join_all(asking).await)
}

async fn ask(hook: &Hook, call: BeforeCall) -> BeforeAnswer {
    let Callback::Before(callback) = &hook.callback else { return BeforeAnswer::default() };
    let answering = AssertUnwindSafe(async { callback(call).await }).catch_unwind();
    let fault = match tokio::time::timeout(hook.timeout, answering).await {
        Ok(Ok(answer)) => return answer,
        Ok(Err(_)) => "crashed",
        Err(_) => "did not answer in time",
    };
    let why = format!("The hook {} {fault}, so the call was not started.", hook.name);
    BeforeAnswer { decision: Some(HookDecision::Deny(why)), ..Default::default() }
}

/// A changed input is checked like the model's own.
async fn take_in(job: &mut GateJob, merged: Merged) -> Result<(), (Refusal, String)> {
    let (wish, input, conflict, context) = match merged {
        Merged::Deny(why) => {
            let why = wording::reason(&why, &job.screened.tool().card().name);
            return Err((Refusal::Denied, wording::tool_use_error(&why)));
        }
        Merged::GoOn { wish, input, conflict, context } => (wish, input, conflict, context),
    };
    if conflict {
        tracing::warn!(call = %job.screened.id(), "several hooks changed the input: the last counts");
    }
    job.wish = wish;
    job.notes.extend(context);
    match input {
        Some(input) => job.change_input(input).await,
        None => Ok(()),
    }
}

async fn after(mut job: Box<AfterJob>, hooks: Vec<Hook>, store: Stage<StoreMsg>) {
    let Some(keep) = job.owed.paper() else { return };
    let content = Arc::new(keep.result.content.clone());
    let telling = hooks.iter().map(|hook| {
        let call = AfterCall {
            id: keep.result.id.clone(),
            tool: job.tool.card().name.to_string(),
            input: job.input.clone(),
            kind: job.kind,
            content: content.clone(),
            structured: job.structured.clone(),
            meta: job.meta.clone(),
        };
        tell(hook, call)
    });
    let notes: Vec<_> = join_all(telling).await.into_iter().filter_map(|it| it.context).collect();
    job.owed.add_notes(notes);
    store.cast(StoreMsg::Keep(job));
}

async fn tell(hook: &Hook, call: AfterCall) -> AfterAnswer {
    let Callback::After(callback) = &hook.callback else { return AfterAnswer::default() };
    let (id, kind) = (call.id.clone(), call.kind);
    let answering = AssertUnwindSafe(async { callback(call).await }).catch_unwind();
    let fault = match tokio::time::timeout(hook.timeout, answering).await {
        Ok(Ok(answer)) => return answer,
        Ok(Err(_)) => "crashed",
        Err(_) => "did not answer in time",
    };
    AfterAnswer { context: Some(wording::after_hook_failed(&id, kind, &hook.name, fault)) }
}
