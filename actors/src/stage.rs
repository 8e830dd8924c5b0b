//! The address of a stage, which stays the same when the stage is started again.

use std::sync::{Arc, PoisonError, RwLock};

use ractor::{ActorRef, Message};

/// Where a stage can be reached; shared by all who write to it.
pub(crate) struct Stage<M>(Arc<RwLock<Option<ActorRef<M>>>>);

impl<M> Clone for Stage<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> Default for Stage<M> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<M: Message> Stage<M> {
    /// Puts another actor at this address, or nobody.
    pub(crate) fn move_to(&self, actor: Option<ActorRef<M>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = actor;
    }

    /// Sends a message. If nobody is there it is dropped, and what it owes pays itself.
    pub(crate) fn cast(&self, msg: M) {
        let actor = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(actor) = &*actor {
            drop(actor.cast(msg));
        }
    }

    pub(crate) fn is_at(&self, cell: &ractor::ActorCell) -> bool {
        let actor = self.0.read().unwrap_or_else(PoisonError::into_inner);
        actor.as_ref().is_some_and(|it| it.get_id() == cell.get_id())
    }
}
