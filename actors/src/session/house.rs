//! What the actors and jobs of a session share, and what must outlive any of them.

use std::collections::HashMap;
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use ractor::{ActorCell, ActorId};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolwright_contract::{Registry, SessionContext, StageName, TurnId};
use toolwright_kernel::Policy;

use super::desk::Desk;
use crate::bus::Bus;
use crate::hooks::HooksMsg;
use crate::inbox::Inbox;
use crate::journal::StartLog;
use crate::ledger::Ledger;
use crate::permissions::PermissionsMsg;
use crate::stage::Stage;
use crate::store::StoreMsg;

/// See the module.
pub(crate) struct House {
    pub(crate) registry: Registry,
    pub(crate) policy: Policy,
    pub(crate) width: NonZeroU16,
    pub(crate) times: Times,
    pub(crate) bus: Arc<Bus>,
    pub(crate) hooks: Stage<HooksMsg>,
    pub(crate) permissions: Stage<PermissionsMsg>,
    pub(crate) store: Stage<StoreMsg>,
    pub(crate) journal: Arc<dyn StartLog>,
    pub(crate) tracker: TaskTracker,
    pub(crate) context: Context,
    pub(crate) desk: Arc<Desk>,
    /// The session-wide cap on calls at once.
    pub(crate) cap: Arc<Semaphore>,
    /// Told when whoever still works must drop what it does.
    pub(crate) closing: CancellationToken,
    pub(crate) closed: AtomicBool,
    pub(crate) turns: Mutex<HashMap<ActorId, OpenTurn>>,
    pub(crate) next_turn: AtomicU32,
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
    /// Cancelled when the scheduler has died: its running calls must end.
    pub(crate) orphaned: CancellationToken,
}

impl House {
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// A poisoned lock is taken all the same: every change is one step.
    pub(crate) fn turns(&self) -> MutexGuard<'_, HashMap<ActorId, OpenTurn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the open calls of a turn whose scheduler is gone, and ends what of them still runs.
    pub(crate) fn bury(&self, turn: &OpenTurn) {
        for ix in turn.ledger.interrupt(self.emit_answers(turn.turn)) {
            self.desk.hold((turn.turn, ix), crate::session::ALONE);
        }
        turn.inbox.orphan();
        turn.orphaned.cancel();
        let calls = turn.ledger.len();
        self.bus.emit(turn.turn, || toolwright_contract::EventKind::TurnFinished { calls });
    }

    pub(crate) fn tell_failure(&self, stage: StageName, why: String, restarted: bool) {
        tracing::error!(?stage, why, restarted, "a stage has failed");
        let turn = TurnId(self.next_turn.load(Ordering::Relaxed).saturating_sub(1));
        let kind = || toolwright_contract::EventKind::StageFailed { stage, why, restarted };
        self.bus.emit(turn, kind);
    }
}

/// The session's context: read as a snapshot, replaced as a whole.
#[derive(Default)]
pub(crate) struct Context(RwLock<Arc<SessionContext>>);

impl Context {
    pub(crate) fn new(context: SessionContext) -> Self {
        Self(RwLock::new(Arc::new(context)))
    }

    pub(crate) fn now(&self) -> Arc<SessionContext> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, context: SessionContext) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(context);
    }
}
