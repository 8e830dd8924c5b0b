//! The desk: the places that overdue calls hold, across turns.

use std::collections::HashMap;
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright_contract::{CallIx, TurnId};
use toolwright_kernel::{Admission, Place};

use crate::inbox::Inbox;

/// A call of a session.
pub(crate) type CallKey = (TurnId, CallIx);

/// See the module.
#[derive(Default)]
pub(crate) struct Desk(Mutex<HashMap<CallKey, Held>>);

struct Held {
    place: Place,
    /// The turns that were opened while it was held.
    inheritors: Vec<Arc<Inbox>>,
}

impl Desk {
    /// Lanes for a new turn, in which every overdue call still has its place. The turn is told
    /// through its inbox when one becomes free.
    pub(crate) fn lanes_for(&self, width: NonZeroU16, inbox: &Arc<Inbox>) -> Admission {
        let mut held = self.held();
        held.values_mut().for_each(|it| it.inheritors.push(inbox.clone()));
        Admission::with(width, held.values().map(|it| it.place))
    }

    /// Holds a place for a call, unless one is held for it already.
    pub(crate) fn hold(&self, call: CallKey, place: Place) {
        self.held().entry(call).or_insert_with(|| Held { place, inheritors: Vec::new() });
    }

    /// Frees what a call held, if it held anything.
    pub(crate) fn free(&self, call: CallKey) {
        let freed = self.held().remove(&call);
        if let Some(Held { place, inheritors }) = freed {
            inheritors.iter().for_each(|it| it.free(place));
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        !self.held().is_empty()
    }

    /// How many calls are overdue.
    pub(crate) fn len(&self) -> usize {
        self.held().len()
    }

    /// A poisoned lock is taken all the same: every change is one step.
    fn held(&self) -> MutexGuard<'_, HashMap<CallKey, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
