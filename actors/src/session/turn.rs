//! The handle of a turn: calls go in one by one, the batch of results comes out whole.

use std::fmt;
use std::sync::{Arc, Weak};

use ractor::{Actor as _, ActorRef};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use toolwright_contract::{
    CallIx, Cascade, Content, EVENT_VERSION, EventKind, HowEnded, Progress, Registry, Stop,
    StopCause, ToolResult, ToolUse, ToolUseId, TurnId, wording,
};

use toolwright_kernel::Policy;

use super::SessionClosed;
use super::house::{House, Lineage, OpenTurn, accepted_unseen};
use crate::asked::Asked;
use crate::inbox::{Inbox, StopWish};
use crate::journal::{Came, Earlier, tell};
use crate::ledger::{Accepted, Ledger};
use crate::limits::{MAILBOX, NAME_CHARS};
use crate::scheduler::{Scheduler, SchedulerArgs, SchedulerMsg};
use crate::store::Room;

/// One assistant message being executed.
///
/// Dropped before [`finish`](Self::finish), it counts as a discarded message: what runs is
/// stopped, what waits never starts.
///
/// ```
/// # use toolwright_actors::{Config, Rules, SubmitError, start};
/// # use toolwright_contract::{HowEnded, Registry, ToolUse, tool};
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let quick = tool("Quick", "Ends.").read_only().run(async |_: Nothing, _| Ok("done"));
/// # let endless = tool("Endless", "Goes on.").read_only().run(async |_: Nothing, cx| {
/// #     cx.stop.or(std::future::pending::<()>()).await?;
/// #     Ok("never")
/// # });
/// # let session = start(Config::new(Registry::new([quick, endless])?)).await?;
/// let mut turn = session.turn().await?;
/// turn.submit(ToolUse::new("toolu_1", "Quick", serde_json::json!({}))).await?;
/// turn.submit(ToolUse::new("toolu_2", "Endless", serde_json::json!({}))).await?;
/// let twice = turn.submit(ToolUse::new("toolu_1", "Quick", serde_json::json!({}))).await;
/// assert_eq!(twice, Err(SubmitError::DuplicateId("toolu_1".into())));
///
/// // Each result as soon as it is there; one call is stopped, from anywhere.
/// let mut emitted = turn.emitted();
/// assert_eq!(emitted.recv().await.map(|it| it.content.text()).as_deref(), Some("done"));
/// turn.stopper().stop(&"toolu_2".into());
///
/// let results = turn.finish().await;
/// assert_eq!(results.ended, [HowEnded::Ok, HowEnded::StoppedMayHaveRun]);
/// assert!(results.to_message().is_some());
/// # session.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub struct TurnHandle {
    house: Arc<House>,
    turn: TurnId,
    scheduler: ActorRef<SchedulerMsg>,
    inbox: Arc<Inbox>,
    ledger: Arc<Ledger>,
    room: Arc<Semaphore>,
    sealed: bool,
}

/// Why a call was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The message has used this id before. The first call keeps it; leave this block out of the
    /// message that you send back, since the API refuses an id that occurs twice.
    #[error("the message has two tool_use blocks with the id {0}: leave the second one out")]
    DuplicateId(ToolUseId),
    /// The turn was sealed.
    #[error("the turn is sealed: open another one for the next message")]
    Sealed,
}

/// What a turn came to.
#[derive(Debug, Default)]
pub struct TurnResults {
    /// One result a call, in the order of the calls.
    pub results: Vec<ToolResult>,
    /// How each of them ended.
    pub ended: Vec<HowEnded>,
    /// Text for the model that follows the results: context of hooks, notes of tools.
    pub notes: Vec<String>,
    /// Ids that the message used twice.
    pub duplicates: Vec<ToolUseId>,
}

impl TurnResults {
    /// The next user message of the Messages API: all results first, then the notes. `None` if
    /// there is no result, since a message must say something.
    #[must_use]
    pub fn to_message(&self) -> Option<Value> {
        let blocks = self.results.iter().map(ToolResult::to_block);
        let notes = self.notes.iter().filter(|it| !it.trim().is_empty());
        let notes = notes.map(|it| json!({"type": "text", "text": it}));
        let content: Vec<_> = blocks.chain(notes).collect();
        (!self.results.is_empty()).then(|| json!({"role": "user", "content": content}))
    }
}

impl TurnHandle {
    /// The number of the turn.
    #[must_use]
    pub fn id(&self) -> TurnId {
        self.turn
    }

    /// Takes a call, which starts as soon as the calls before it let it. Waits while the
    /// scheduler's mailbox is full; a call that is dropped while it waits was not taken.
    ///
    /// # Errors
    ///
    /// [`SubmitError`]: the call will have no result.
    pub async fn submit(&mut self, call: ToolUse) -> Result<CallIx, SubmitError> {
        self.take(call, None).await
    }

    /// Takes a call which carries on one of a process that has died, and is answered for it.
    ///
    /// # Errors
    ///
    /// [`SubmitError`]: the call will have no result.
    pub async fn carry_on(
        &mut self,
        call: ToolUse,
        earlier: Earlier,
    ) -> Result<CallIx, SubmitError> {
        self.take(call, Some(earlier)).await
    }

    async fn take(
        &mut self,
        call: ToolUse,
        carries_on: Option<Earlier>,
    ) -> Result<CallIx, SubmitError> {
        if self.sealed {
            return Err(SubmitError::Sealed);
        }
        let log = self.house.log.as_deref();
        if let Some(log) = log {
            log.ready().await;
        }
        // The semaphore is never closed; a missing permit would only mean no back-pressure.
        let room = self.room.clone().acquire_owned().await;
        let name = wording::quote(&call.name, NAME_CHARS);
        let came = |ix| {
            let came = Came { turn: self.turn, call: ix, tool_use: &call, carries_on };
            log.into_iter().for_each(|it| tell(it, |log| log.came(came)));
        };
        let (ix, alive) = match self.ledger.accept(&call.id, &name, came) {
            Accepted::At(ix) => (ix, true),
            Accepted::Orphan(ix) => (ix, false),
            Accepted::Duplicate => {
                self.house.bus.emit(self.turn, || EventKind::Duplicate { id: call.id.clone() });
                return Err(SubmitError::DuplicateId(call.id));
            }
        };
        match room {
            Ok(room) if alive => {
                let msg = SchedulerMsg::Submit(ix, Box::new(call), room);
                // A scheduler that has just died is answered for by the supervisor.
                drop(self.scheduler.cast(msg));
            }
            Ok(_) | Err(_) => self.answer_orphan(ix, call.id, &name),
        }
        Ok(ix)
    }

    fn answer_orphan(&self, ix: CallIx, id: ToolUseId, tool: &str) {
        self.house.bus.emit(self.turn, || accepted_unseen(ix, id.clone(), tool));
        let content: Content = wording::interrupted(Progress::NotStarted).into();
        let result = ToolResult { id, content, is_error: true };
        self.house.keep(self.turn, ix, &result, HowEnded::StoppedNotStarted);
        let emit = self.house.emit_answers(self.turn, &self.ledger);
        self.ledger.answer(ix, result, HowEnded::StoppedNotStarted, Vec::new(), emit);
    }

    /// Says that the message has no further call.
    pub fn seal(&mut self) {
        if std::mem::replace(&mut self.sealed, true) {
            return;
        }
        if self.ledger.seal() {
            self.house.end_orphan(self.turn, &self.ledger);
        } else {
            // One that dies before it reads this has its turn closed by the supervisor.
            drop(self.scheduler.cast(SchedulerMsg::Seal));
        }
    }

    /// Each result as soon as it is emitted, in the order of the calls; those that were emitted
    /// already come first. It holds what isn't read, as the turn itself does. A second reader
    /// replaces the first.
    #[must_use]
    pub fn emitted(&self) -> mpsc::UnboundedReceiver<ToolResult> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.ledger.read_by(sender);
        receiver
    }

    /// Seals the turn and waits until every call is answered. Dropped while it waits, the turn
    /// is discarded.
    pub async fn finish(mut self) -> TurnResults {
        self.seal();
        self.ledger.closed().await;
        let closed = self.ledger.take();
        TurnResults {
            results: closed.results,
            ended: closed.ended,
            notes: closed.notes,
            duplicates: closed.duplicates,
        }
    }

    /// A handle that can stop the turn or its calls from anywhere, for as long as it lives.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper { inbox: Arc::downgrade(&self.inbox) }
    }
}

impl fmt::Debug for TurnHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnHandle").field("turn", &self.turn).finish_non_exhaustive()
    }
}

#[cfg(test)]
impl TurnHandle {
    /// Where a test puts news that nobody has sent.
    pub(crate) fn inbox(&self) -> &Inbox {
        &self.inbox
    }
}

impl Drop for TurnHandle {
    fn drop(&mut self) {
        if !self.ledger.is_finished() {
            self.inbox.stop(StopWish::All(StopCause::Discarded));
            self.seal();
        }
    }
}

/// Stops a turn or its calls. Stops that come too late, twice, or for an unknown id do nothing.
/// One that is kept keeps nothing of its turn or session.
#[derive(Clone)]
pub struct Stopper {
    inbox: Weak<Inbox>,
}

impl Stopper {
    /// The user interrupts: what waits never starts, what runs is told to stop, but for calls
    /// that asked to be let finish.
    pub fn interrupt(&self) {
        self.wish(StopWish::All(StopCause::User));
    }

    /// The message broke off and will be asked for again: everything is stopped.
    pub fn discard(&self) {
        self.wish(StopWish::All(StopCause::Discarded));
    }

    /// The user stops one call.
    pub fn stop(&self, id: &ToolUseId) {
        self.wish(StopWish::One(id.clone(), StopCause::User));
    }

    fn wish(&self, wish: StopWish) {
        if let Some(inbox) = self.inbox.upgrade() {
            inbox.stop(wish);
        }
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stopper").finish_non_exhaustive()
    }
}

/// A call on whose behalf a turn is opened.
pub(crate) struct Parent<'a> {
    pub(crate) id: &'a ToolUseId,
    /// The tools of its own turn, whatever is on offer by now.
    pub(crate) tools: Arc<Registry>,
    /// How many calls the turn is nested in.
    pub(crate) depth: u32,
    /// Whom a question about a call of the turn holds up.
    pub(crate) asked: Option<Arc<Asked>>,
}

/// Opens a turn, on behalf of a call or of nobody.
pub(super) async fn open(
    house: &Arc<House>,
    parent: Option<Parent<'_>>,
    cascade: Cascade,
) -> Result<TurnHandle, SessionClosed> {
    let supervisor = house.supervisor.get().ok_or(SessionClosed)?;
    // Before the look: a shutdown that isn't seen here waits until the turn is registered or closed.
    let _opening = house.crew.counted();
    if house.is_closed() {
        return Err(SessionClosed);
    }
    let turn = house.number_turn(|| EventKind::TurnOpened {
        version: EVENT_VERSION,
        parent: parent.as_ref().map(|it| it.id.clone()),
        cascade: cascade.into(),
        width: house.width.get(),
    });
    let tools = parent.as_ref().map_or_else(|| house.tools(), |it| it.tools.clone());
    let (depth, asked) = parent.map_or((0, None), |it| (it.depth, it.asked));
    let inbox = Inbox::new(house.desk.clone(), turn, asked, Room::new(house.message_chars));
    let inbox = Arc::new(inbox.logged(house.log.clone()));
    let ledger = Arc::new(Ledger::default());
    let orphaned = CancellationToken::new();
    let args = SchedulerArgs {
        house: house.clone(),
        tools,
        lineage: Lineage { turn, depth },
        policy: Policy { cascade, ..house.policy },
        lanes: house.desk.lanes_for(house.width, &inbox),
        inbox: inbox.clone(),
        ledger: ledger.clone(),
        orphaned: orphaned.clone(),
    };
    let open = OpenTurn {
        turn,
        inbox: inbox.clone(),
        ledger: ledger.clone(),
        nested: depth > 0,
        orphaned,
    };
    // Its start awaits nothing, so a turn that was told as open is always registered or closed.
    let spawned = Scheduler::spawn_linked(None, Scheduler, args, supervisor.clone()).await;
    let Ok((scheduler, _)) = spawned else {
        house.bury(&open, "the session is closed");
        house.finish(turn, &ledger);
        return Err(SessionClosed);
    };
    let id = scheduler.get_id();
    house.turns().insert(id, open);
    inbox.belongs_to(scheduler.clone());
    // A shutdown that came meanwhile may not have seen this turn, and nobody else would close it.
    if house.is_closed()
        && let Some(open) = house.turns().remove(&id)
    {
        house.bury(&open, "the session is closed");
        house.finish(turn, &ledger);
        scheduler.stop(None);
        return Err(SessionClosed);
    }
    let room = Arc::new(Semaphore::new(MAILBOX));
    let (house, sealed) = (house.clone(), false);
    Ok(TurnHandle { house, turn, scheduler, inbox, ledger, room, sealed })
}

/// Runs calls on behalf of a call, until they have ended or the call is stopped or `over`.
pub(crate) async fn run_nested(
    house: &Arc<House>,
    parent: Parent<'_>,
    calls: Vec<ToolUse>,
    stop: &Stop,
    over: &CancellationToken,
) -> Vec<ToolResult> {
    if over.is_cancelled() {
        return calls.into_iter().map(|it| never_started(it, StopCause::Discarded)).collect();
    }
    let Ok(mut turn) = open(house, Some(parent), house.policy.cascade).await else {
        return calls.into_iter().map(|it| never_started(it, StopCause::Shutdown)).collect();
    };
    let inbox = turn.inbox.clone();
    let running = async move {
        for call in calls {
            // A duplicate has no result of its own, as everywhere.
            drop(turn.submit(call).await);
        }
        turn.finish().await.results
    };
    tokio::pin!(running);
    tokio::select! {
        biased;
        results = &mut running => results,
        () = either(stop.told(), over.cancelled()) => {
            // The nested calls hear the reason why their parent was stopped; a sibling of the
            // parent is none of theirs.
            let cause = match stop.cause() {
                Some(StopCause::Sibling(_)) | None => StopCause::Discarded,
                Some(cause) => cause,
            };
            inbox.stop(StopWish::All(cause));
            running.await
        }
    }
}

async fn either(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    tokio::select! {
        () = one => {}
        () = other => {}
    }
}

fn never_started(call: ToolUse, cause: StopCause) -> ToolResult {
    let text = wording::stopped(cause, Progress::NotStarted, None);
    ToolResult { id: call.id, content: text.into(), is_error: true }
}
