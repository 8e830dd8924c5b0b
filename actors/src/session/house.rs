//! What the actors and jobs of a session share, and what must outlive any of them.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use ractor::{ActorCell, ActorId};
use tokio_util::sync::CancellationToken;
use toolwright_contract::{
    AppState, CallIx, Card, ContextChange, EventKind, HowEnded, Identity, Reads, Registry,
    SessionContext, StageName, ToolResult, ToolUseId, TurnId,
};
use toolwright_kernel::{Place, Policy};

use super::desk::{CallKey, Desk};
use crate::bus::Bus;
use crate::crew::Crew;
use crate::hooks::HooksMsg;
use crate::inbox::{Inbox, Kept};
use crate::journal::{KeptResult, SessionLog, tell};
use crate::ledger::Ledger;
use crate::permissions::PermissionsMsg;
use crate::shares::Member;
use crate::stage::Stage;
use crate::store::StoreMsg;

/// See the module.
pub(crate) struct House {
    /// The tools on offer; a turn keeps those that it was opened with.
    pub(crate) tools: RwLock<Arc<Registry>>,
    pub(crate) policy: Policy,
    pub(crate) width: NonZeroU16,
    pub(crate) times: Times,
    /// How long calls of a tool may run, whatever its card says.
    pub(crate) tool_deadlines: BTreeMap<String, Option<Duration>>,
    pub(crate) bus: Arc<Bus>,
    pub(crate) hooks: Stage<HooksMsg>,
    pub(crate) permissions: Stage<PermissionsMsg>,
    pub(crate) store: Stage<StoreMsg>,
    /// Most characters of results in one message.
    pub(crate) message_chars: usize,
    /// What is written down for a later process.
    pub(crate) log: Option<Arc<dyn SessionLog>>,
    /// Whether the log failed when it was last told of a result.
    pub(crate) log_fails: AtomicBool,
    pub(crate) crew: Crew,
    pub(crate) context: Arc<Context>,
    pub(crate) reads: Arc<Reads>,
    pub(crate) identity: Identity,
    pub(crate) state: AppState,
    pub(crate) desk: Arc<Desk>,
    /// The caps on calls at once beyond a turn.
    pub(crate) shares: Arc<Member>,
    pub(crate) closed: AtomicBool,
    /// In the order of opening, so that what is told to all is told in the same order each time.
    pub(crate) turns: Mutex<BTreeMap<ActorId, OpenTurn>>,
    pub(crate) next_turn: Mutex<TurnId>,
    pub(crate) supervisor: OnceLock<ActorCell>,
}

/// The times of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// How long a call may run, unless its tool says otherwise.
    pub(crate) deadline: Option<Duration>,
    /// How long a call may take to end after a stop.
    pub(crate) grace: Duration,
    /// How long a call may wait behind an overdue one, unless it has a deadline of its own.
    pub(crate) wait: Duration,
}

/// Where a turn comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lineage {
    pub(crate) turn: TurnId,
    /// How many calls it is nested in.
    pub(crate) depth: u32,
}

/// What of an open turn must survive its scheduler.
pub(crate) struct OpenTurn {
    pub(crate) turn: TurnId,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) ledger: Arc<Ledger>,
    /// Whether it is on behalf of a call, which tells it of what concerns them both.
    pub(crate) nested: bool,
    /// Cancelled when the scheduler has died: its running calls must end.
    pub(crate) orphaned: CancellationToken,
}

impl House {
    /// How long a call of a tool may run: as the session says, else as the card does, else as is
    /// usual.
    pub(crate) fn deadline_of(&self, card: &Card) -> Option<Duration> {
        match self.tool_deadlines.get(&*card.name) {
            Some(deadline) => *deadline,
            None => card.deadline.or(self.times.deadline),
        }
    }

    /// How long a call of a tool may wait for what overdue calls hold.
    pub(crate) fn wait_of(&self, card: &Card) -> Duration {
        self.deadline_of(card).unwrap_or(self.times.wait)
    }

    /// Lets an overdue call hold what it holds until it has gone: its place, and its share.
    pub(crate) fn hold(&self, call: CallKey, place: Place) {
        self.desk.hold(call, place);
        self.shares.overdue(call);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn tools(&self) -> Arc<Registry> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A poisoned lock is taken all the same: every change is one step.
    pub(crate) fn turns(&self) -> MutexGuard<'_, BTreeMap<ActorId, OpenTurn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a turn its number and tells that it is open, in one step: turns are told in order.
    pub(crate) fn number_turn(&self, kind: impl FnOnce() -> EventKind) -> TurnId {
        let mut next = self.next_turn.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = *next;
        next.0 += 1;
        self.bus.emit(turn, kind);
        turn
    }

    /// Takes over a turn whose scheduler is gone: answers its open calls, but for those whose
    /// results are on their way, ends what of them still runs, and keeps the lanes of what doesn't
    /// end. `why` the scheduler has gone is told unless the turn is over anyway.
    pub(crate) fn bury(self: &Arc<Self>, turn: &OpenTurn, why: &str) {
        let (id, over) = (turn.turn, turn.ledger.is_finished());
        if !over {
            self.tell_failure(id, StageName::Scheduler, why, false);
        }
        let remains = turn.ledger.orphan();
        for (ix, call, tool) in remains.unseen {
            self.bus.emit(id, || accepted_unseen(ix, call, &tool));
        }
        let runs = !remains.running.is_empty();
        for ix in remains.running {
            self.hold((id, ix), super::ALONE);
        }
        let keep = |ix, result: &ToolResult, ended| self.keep(id, ix, result, ended);
        turn.ledger.interrupt(keep, self.emit_answers(id, &turn.ledger));
        let (house, ledger) = (self.clone(), turn.ledger.clone());
        turn.inbox.orphan(move |ix, kept| {
            let Kept { result, ended, notes, spilled, unwritten } = kept;
            house.wrote(id, unwritten.as_deref());
            if !ledger.is_finished() {
                house.bus.emit(id, || EventKind::Stored { call: ix.0, spilled });
            }
            ledger.answer(ix, result, ended, notes, house.emit_answers(id, &ledger));
            house.end_orphan(id, &ledger);
        });
        if !over || runs {
            turn.orphaned.cancel();
        }
        if !over {
            self.end_orphan(id, &turn.ledger);
        }
    }

    /// Writes a result down that came through no stage. Nobody waits for it.
    pub(crate) fn keep(&self, turn: TurnId, ix: CallIx, result: &ToolResult, ended: HowEnded) {
        let Some(log) = &self.log else { return };
        let (result, notes) = (result.clone(), Vec::new());
        let kept = Kept { result, ended, notes, spilled: None, unwritten: None };
        tell(&**log, |log| log.kept(KeptResult::new(turn, ix, kept, None)));
    }

    /// Says that results are no longer written, once until they are again.
    pub(crate) fn wrote(&self, turn: TurnId, failed: Option<&str>) {
        if self.log.is_none() {
            return;
        }
        let failed_before = self.log_fails.swap(failed.is_some(), Ordering::Relaxed);
        if let Some(why) = failed
            && !failed_before
        {
            self.tell_failure(turn, StageName::Journal, why, false);
        }
    }

    /// Closes a turn without a scheduler once nothing more will come.
    pub(crate) fn end_orphan(&self, turn: TurnId, ledger: &Ledger) {
        if ledger.is_at_its_end() {
            self.finish(turn, ledger);
        }
    }

    /// Closes a turn whose calls are all answered.
    pub(crate) fn finish(&self, turn: TurnId, ledger: &Ledger) {
        ledger.finish(|calls| self.bus.emit(turn, || EventKind::TurnFinished { calls }));
    }

    pub(crate) fn stage_failed(&self, stage: StageName, why: &str, restarted: bool) {
        let next = *self.next_turn.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = TurnId(next.0.saturating_sub(1));
        self.tell_failure(newest, stage, why, restarted);
    }

    fn tell_failure(&self, turn: TurnId, stage: StageName, why: &str, restarted: bool) {
        tracing::error!(?stage, why, restarted, "a stage has failed");
        let kind = || EventKind::StageFailed { stage, why: why.to_owned(), restarted };
        self.bus.emit(turn, kind);
    }
}

/// A call that came in, of which nobody has asked what it may do.
pub(crate) fn accepted_unseen(ix: CallIx, id: ToolUseId, tool: &str) -> EventKind {
    let tool = tool.to_owned();
    EventKind::Accepted { call: ix.0, id, tool, exclusive: true, read_only: false }
}

/// The session's context: read as a snapshot, changed by one change after another.
#[derive(Default)]
pub(crate) struct Context {
    now: RwLock<Arc<SessionContext>>,
    /// Held by the thread that makes a change, from its look to its end: two turns may change the
    /// context at once, and neither change may be lost.
    changing: Mutex<()>,
}

impl Context {
    pub(crate) fn new(context: SessionContext) -> Self {
        Self { now: RwLock::new(Arc::new(context)), changing: Mutex::default() }
    }

    pub(crate) fn now(&self) -> Arc<SessionContext> {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a directory to those that the session works in.
    pub(crate) fn add_directory(&self, directory: &Path) {
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.now();
        let mut directories = now.allowed_directories().to_vec();
        directories.push(now.cwd.join(directory));
        let context = SessionContext { directories, ..(*now).clone() };
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(context);
        drop(changing);
    }

    /// Makes a change, on a thread that may block, unless somebody else has claimed what becomes of
    /// it meanwhile: who gave it up.
    pub(crate) fn change(&self, change: ContextChange, claimed: &AtomicBool) -> Result<(), String> {
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let context = change.apply((*self.now()).clone())?;
        if !claimed.swap(true, Ordering::AcqRel) {
            *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(context);
        }
        drop(changing);
        Ok(())
    }
}
