//! The worker: the task that runs a tool, and the tool's way back into the runtime.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use toolwright_contract::{
    AnyTool, CallIx, Cleared, EventKind, Nest, Outcome, Registry, RunCx, Stop, ToolError,
    ToolResult, ToolUse, ToolUseId, Verdict, wording,
};
use tracing::Instrument as _;

use crate::asked::Asked;
use crate::inbox::{Inbox, News, Share, Timer};
use crate::limits::{NESTING, PROGRESS_CHARS};
use crate::owed::{Owed, Run};
use crate::session::{House, Lineage, Parent, run_nested};
use crate::watch::{Watched, watched};

/// What a worker needs beside the paper.
pub(super) struct Work {
    pub(super) house: Arc<House>,
    /// The tools of the turn.
    pub(super) tools: Arc<Registry>,
    pub(super) lineage: Lineage,
    pub(super) inbox: Arc<Inbox>,
    pub(super) ix: CallIx,
    pub(super) id: ToolUseId,
    pub(super) tool: String,
    pub(super) stop: Stop,
    pub(super) share: Share,
    /// Whom a question about a call of its own holds up.
    pub(super) asked: Option<Arc<Asked>>,
    /// The tool that it is a call of.
    pub(super) of: AnyTool,
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
    let outcome = run(work, cleared).instrument(span.clone()).await;
    if let Some(error) = error_type(outcome.verdict) {
        span.record("error.type", error);
    }
    owed.returned(outcome);
}

async fn run(work: Work, cleared: Cleared) -> Outcome {
    let stopped = || Outcome::new(Verdict::Stopped, String::new());
    let call = Arc::new(Call {
        house: work.house.clone(),
        lineage: work.lineage,
        inbox: work.inbox,
        ix: work.ix,
        id: work.id.clone(),
        stop: work.stop.clone(),
        asked: work.asked,
        of: work.of,
        tools: work.tools.clone(),
        width: Mutex::new(Width { share: work.share, nests: 0 }),
        over: CancellationToken::new(),
    });
    // A call that asked a person gave its share back. One that is told to stop before its tool
    // has begun is never begun.
    if call.take_share().await.is_err() || work.stop.is_told() {
        return stopped();
    }
    let cx = RunCx {
        id: work.id,
        identity: work.house.identity.clone(),
        stop: work.stop,
        session: work.house.context.now(),
        reads: work.house.reads.clone(),
        state: work.house.state.clone(),
        tools: work.tools,
        deadline: work.house.deadline_of(cleared.tool().card()),
        nest: Arc::new(CallRef(call.clone())),
    };
    let watch = Watched {
        bus: call.house.bus.clone(),
        turn: call.lineage.turn,
        ix: call.ix,
        tool: work.tool,
        stop: call.stop.clone(),
    };
    let outcome = watched(watch, cleared.run(cx)).await;
    // Something of the tool may live on and hold the call: it keeps no share, shows nothing and
    // runs no calls.
    call.over.cancel();
    call.width().share = None;
    outcome
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
    asked: Option<Arc<Asked>>,
    of: AnyTool,
    tools: Arc<Registry>,
    width: Mutex<Width>,
    /// Cancelled when the tool has ended: what it has left behind must end too.
    over: CancellationToken,
}

/// What a running call takes up.
struct Width {
    share: Share,
    /// Its nested turns that run now; while there is any, it has lent its width.
    nests: usize,
}

impl Call {
    /// A poisoned lock is taken all the same: every change is one step.
    fn width(&self) -> MutexGuard<'_, Width> {
        self.width.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a share unless it has one.
    async fn take_share(&self) -> Result<(), ToolError> {
        if self.width().share.is_some() {
            return Ok(());
        }
        let late = || self.inbox.push(self.ix, News::Late(Timer::Deadline));
        let claim = self.house.shares.claim((self.lineage.turn, self.ix), self.of.card());
        let share = self.stop.or(claim.share(self.house.times.wait, late)).await?;
        let mut width = self.width();
        // Otherwise its nested calls may need it meanwhile, or it has ended.
        if width.nests == 0 && !self.over.is_cancelled() {
            width.share = share;
        }
        Ok(())
    }

    async fn nested(self: Arc<Self>, calls: Vec<ToolUse>) -> Vec<ToolResult> {
        let depth = self.lineage.depth + 1;
        if depth > NESTING {
            return calls.into_iter().map(too_deep).collect();
        }
        let lent = LentWidth::of(&self);
        let (tools, asked) = (self.tools.clone(), self.asked.clone());
        let parent = Parent { id: &self.id, tools, depth, asked };
        let results = run_nested(&self.house, parent, calls, &self.stop, &self.over).await;
        let (resumed, back) = oneshot::channel();
        if lent.end(resumed) {
            // A scheduler that is gone gives no width back: there is nobody to share it with. A
            // call that is stopped needs none to end.
            drop(self.stop.or(back).await);
            drop(self.take_share().await);
        }
        results
    }
}

/// The width that a call has lent to its nested calls. Dropped, as when the tool gives up
/// waiting for them, it asks for the width back; the tool goes on without it until it comes.
struct LentWidth<'a>(Option<&'a Call>);

impl<'a> LentWidth<'a> {
    fn of(call: &'a Call) -> Self {
        let mut width = call.width();
        width.nests += 1;
        if width.nests == 1 {
            width.share = None;
            call.inbox.push(call.ix, News::Lent);
        }
        Self(Some(call))
    }

    /// Whether it was the last, so that the width is to be waited for.
    fn end(mut self, resumed: oneshot::Sender<()>) -> bool {
        self.0.take().is_some_and(|call| Self::reclaim(call, resumed))
    }

    fn reclaim(call: &Call, resumed: oneshot::Sender<()>) -> bool {
        let mut width = call.width();
        width.nests -= 1;
        if width.nests == 0 {
            call.inbox.push(call.ix, News::Reclaimed(resumed));
        }
        width.nests == 0
    }
}

impl Drop for LentWidth<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            Self::reclaim(call, oneshot::channel().0);
        }
    }
}

fn too_deep(call: ToolUse) -> ToolResult {
    let content = wording::nested_too_deep(NESTING).into();
    ToolResult { id: call.id, content, is_error: true }
}

/// What a tool sees of its [`Call`].
struct CallRef(Arc<Call>);

impl CallRef {
    fn say(&self, what: impl FnOnce(u32) -> EventKind) {
        let call = &self.0;
        // Held to the end, so that nothing is shown after the tool's end. What was told to stop may
        // be answered already.
        let _width = call.width();
        if !call.over.is_cancelled() && !call.stop.is_told() {
            call.house.bus.emit(call.lineage.turn, || what(call.ix.0));
        }
    }
}

impl Nest for CallRef {
    fn nest(&self, calls: Vec<ToolUse>) -> BoxFuture<'static, Vec<ToolResult>> {
        Box::pin(self.0.clone().nested(calls))
    }

    fn progress(&self, text: String) {
        self.say(|call| EventKind::Progressed {
            call,
            text: wording::quote(&text, PROGRESS_CHARS),
        });
    }

    fn notify(&self, text: String) {
        self.say(|call| EventKind::Notified { call, text: wording::quote(&text, PROGRESS_CHARS) });
    }
}
