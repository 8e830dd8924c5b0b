//! The desk: the places that overdue calls hold, across turns.

use std::collections::HashMap;
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

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
    /// The turns that were opened while it was held, and that still live.
    inheritors: Vec<Weak<Inbox>>,
}

impl Desk {
    /// Lanes for a new turn, in which every overdue call still has its place. The turn is told
    /// through its inbox when one becomes free.
    pub(crate) fn lanes_for(&self, width: NonZeroU16, inbox: &Arc<Inbox>) -> Admission {
        let mut held = self.held();
        for Held { inheritors, .. } in held.values_mut() {
            inheritors.retain(|it| it.strong_count() > 0);
            inheritors.push(Arc::downgrade(inbox));
        }
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
            inheritors.iter().filter_map(Weak::upgrade).for_each(|it| it.free(place));
        }
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

#[cfg(test)]
mod tests {
    use toolwright_kernel::Footprint;

    use super::*;
    use crate::store::Room;

    #[test]
    fn turns_that_are_over_are_not_kept_for_as_long_as_a_call_is_overdue() {
        let desk = Arc::new(Desk::default());
        let call = (TurnId(0), CallIx(0));
        desk.hold(call, Place::Lane(Footprint::Shared));
        for turn in 1..100 {
            let inbox = Arc::new(Inbox::new(desk.clone(), TurnId(turn), None, Room::new(0)));
            assert!(!desk.lanes_for(NonZeroU16::MIN, &inbox).is_empty());
            assert_eq!(desk.held()[&call].inheritors.len(), 1);
            assert_eq!(Arc::strong_count(&inbox), 1);
        }
    }
}
