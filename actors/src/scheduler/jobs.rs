//! The tasks that carry the scheduler's orders out, each with the answer that it owes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::oneshot;
use toolwright_contract::{
    CallIx, CheckCx, Cleared, EventKind, InvalidInput, Nest, Outcome, Refusal, RunCx, Screened,
    Stop, ToolResult, ToolUse, ToolUseId, Verdict, wording,
};
use tracing::Instrument as _;

use crate::hooks::{HooksMsg, Wish};
use crate::inbox::{Inbox, News, Share, Timer};
use crate::limits::{CONTEXT_CHANGE, NESTING, PROGRESS_CHARS, VALIDATE};
use crate::owed::{Gate, Owed, Run};
use crate::papers::{AfterJob, GateJob};
use crate::session::{House, Lineage, run_nested};

/// Gates a call: takes its share of the session-wide cap, lets the tool look at the world, and
/// hands the call on to the hooks.
pub(super) async fn gate(
    house: Arc<House>,
    lineage: Lineage,
    screened: Box<Screened>,
    stop: Stop,
    owed: Owed<Gate>,
) {
    let check = CheckCx { session: house.context.now(), stop: stop.clone() };
    let passed = stop
        .or(async {
            let share = house.cap.clone().acquire_owned().await.ok();
            let checked = tokio::time::timeout(VALIDATE, screened.validate(&check)).await;
            (share, checked)
        })
        .await;
    let share = match passed {
        // The kernel tells the call as stopped, whatever is said here.
        Err(_) => return owed.refuse(Refusal::Denied, String::new()),
        Ok((share, Ok(Ok(())))) => share,
        Ok((_, Ok(Err(InvalidInput(text))))) => {
            return owed.refuse(Refusal::InvalidInput, wording::tool_use_error(&text));
        }
        Ok((_, Err(_))) => {
            let text = wording::check_took_too_long(VALIDATE);
            return owed.refuse(Refusal::StageFailed, text);
        }
    };
    let turn = lineage.turn;
    let notes = Vec::new();
    let job = GateJob { turn, screened, check, wish: Wish::None, notes, share, owed };
    house.hooks.cast(HooksMsg::Before(Box::new(job)));
}

/// What a worker needs beside the paper.
pub(super) struct Work {
    pub(super) house: Arc<House>,
    pub(super) lineage: Lineage,
    pub(super) inbox: Arc<Inbox>,
    pub(super) ix: CallIx,
    pub(super) id: ToolUseId,
    pub(super) tool: String,
    pub(super) stop: Stop,
    pub(super) share: Share,
}

/// Runs a tool.
pub(super) async fn work(work: Work, cleared: Cleared, owed: Owed<Run>) {
    let span = tracing::info_span!(
        "execute_tool",
        otel.name = %format_args!("execute_tool {}", work.tool),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = %work.tool,
        gen_ai.tool.call.id = %work.id,
        error.type = tracing::field::Empty,
    );
    let share = match work.share {
        Some(share) => Some(share),
        // It was given back while a person was asked.
        None => work.house.cap.clone().acquire_owned().await.ok(),
    };
    let call = Arc::new(Call {
        house: work.house.clone(),
        lineage: work.lineage,
        inbox: work.inbox,
        ix: work.ix,
        id: work.id.clone(),
        stop: work.stop.clone(),
        share: Mutex::new(share),
    });
    let session = work.house.context.now();
    let nest = Arc::new(CallRef(call));
    let cx = RunCx { id: work.id, stop: work.stop, session, nest };
    let outcome = tokio::select! {
        biased;
        outcome = cleared.run(cx).instrument(span.clone()) => outcome,
        // The session is over: what has not ended by now is dropped, and counts as vanished.
        () = work.house.closing.cancelled() => return drop(owed),
    };
    if let Some(error) = error_type(outcome.verdict) {
        span.record("error.type", error);
    }
    owed.returned(outcome);
}

fn error_type(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Good => None,
        Verdict::Bad { .. } => Some("tool_error"),
        Verdict::Stopped => Some("stopped"),
        Verdict::Crashed => Some("crashed"),
    }
}

/// A running call's way back into the runtime.
struct Call {
    house: Arc<House>,
    lineage: Lineage,
    inbox: Arc<Inbox>,
    ix: CallIx,
    id: ToolUseId,
    stop: Stop,
    share: Mutex<Share>,
}

impl Call {
    fn set_share(&self, share: Share) {
        *self.share.lock().unwrap_or_else(PoisonError::into_inner) = share;
    }

    async fn nested(self: Arc<Self>, calls: Vec<ToolUse>) -> Vec<ToolResult> {
        let depth = self.lineage.depth + 1;
        if depth > NESTING {
            return calls.into_iter().map(too_deep).collect();
        }
        self.inbox.push(self.ix, News::Lent);
        self.set_share(None);
        let results = run_nested(&self.house, &self.id, depth, calls, &self.stop).await;
        let (resumed, back) = oneshot::channel();
        self.inbox.push(self.ix, News::Reclaimed(resumed));
        // A scheduler that is gone gives no width back: there is nobody to share it with.
        drop(back.await);
        self.set_share(self.house.cap.clone().acquire_owned().await.ok());
        results
    }
}

fn too_deep(call: ToolUse) -> ToolResult {
    let content = wording::nested_too_deep(NESTING).into();
    ToolResult { id: call.id, content, is_error: true }
}

/// What a tool sees of its [`Call`].
struct CallRef(Arc<Call>);

impl Nest for CallRef {
    fn nest(&self, calls: Vec<ToolUse>) -> BoxFuture<'static, Vec<ToolResult>> {
        Box::pin(self.0.clone().nested(calls))
    }

    fn progress(&self, text: String) {
        let call = &self.0;
        call.house.bus.emit(call.lineage.turn, || EventKind::Progressed {
            call: call.ix.0,
            text: wording::quote(&text, PROGRESS_CHARS),
        });
    }
}

/// Wakes the scheduler when a time is over.
pub(super) async fn timer(inbox: Arc<Inbox>, ix: CallIx, after: Duration, timer: Timer) {
    tokio::time::sleep(after).await;
    inbox.push(ix, News::Late(timer));
}

/// Changes the session's context, then hands the result on. The result stands whatever becomes
/// of the change.
pub(super) async fn change_context(
    house: Arc<House>,
    lineage: Lineage,
    ix: CallIx,
    outcome: Box<Outcome>,
    job: Box<AfterJob>,
) {
    if let Some(change) = outcome.change {
        let before = (*house.context.now()).clone();
        let changing = tokio::task::spawn_blocking(move || change.apply(before));
        let ignored = match tokio::time::timeout(CONTEXT_CHANGE, changing).await {
            Ok(Ok(Ok(context))) => {
                house.context.set(context);
                None
            }
            Ok(Ok(Err(why))) => Some(why),
            Ok(Err(_)) => Some("it crashed".to_owned()),
            Err(_) => Some("it took too long".to_owned()),
        };
        tell_change(&house, lineage, ix, ignored);
    }
    house.hooks.cast(HooksMsg::After(job));
}

pub(super) fn tell_change(house: &House, lineage: Lineage, ix: CallIx, ignored: Option<String>) {
    if let Some(why) = &ignored {
        tracing::warn!(call = ix.0, why, "a change of the session's context was left out");
    }
    house.bus.emit(lineage.turn, || EventKind::ContextChanged { call: ix.0, ignored });
}
