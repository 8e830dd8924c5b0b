//! The shares behind a lock, for sessions that live side by side.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use toolwright_contract::Card;

use super::core::{Allocator, SessionIx, ShareIx, Ticket, ToolCap, Wanted};
use crate::session::CallKey;

/// The caps that sessions have in common: how many calls run at once in all of them, and of a
/// tool. Clones are the same shares.
#[derive(Clone)]
pub struct Shares(Arc<Hub>);

struct Hub {
    allocator: Mutex<Allocator<CallKey, Waiter>>,
    tool_caps: BTreeMap<String, NonZeroU16>,
}

impl Shares {
    /// At most `cap` calls at once in all sessions, and of each of these tools, whatever its card
    /// says, as many as it stands here.
    #[must_use]
    pub fn new(cap: NonZeroU16, tool_caps: BTreeMap<String, NonZeroU16>) -> Self {
        Self(Arc::new(Hub { allocator: Mutex::new(Allocator::new(cap)), tool_caps }))
    }

    /// A session comes.
    pub(crate) fn join(&self, cap: NonZeroU16) -> Arc<Member> {
        Arc::new(Member { hub: self.0.clone(), session: self.0.allocator().join(cap) })
    }
}

#[cfg(test)]
impl Shares {
    /// Whether nobody holds a share or waits for one.
    pub(super) fn are_idle(&self) -> bool {
        self.0.allocator().is_empty()
    }
}

impl Default for Shares {
    /// As good as no caps.
    fn default() -> Self {
        Self::new(NonZeroU16::MAX, BTreeMap::new())
    }
}

impl fmt::Debug for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shares").field("tool_caps", &self.0.tool_caps).finish_non_exhaustive()
    }
}

impl Hub {
    /// A poisoned lock is taken all the same: every change is one step.
    fn allocator(&self) -> MutexGuard<'_, Allocator<CallKey, Waiter>> {
        self.allocator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cap of a tool: as the runtime says, else as its card does.
    fn cap_of(&self, card: &Card) -> Option<ToolCap> {
        let cap = self.tool_caps.get(&*card.name).copied().or(card.cap)?;
        Some(ToolCap { name: card.name.clone(), cap })
    }
}

/// A session among those that have shares in common, until the last of its shares is given back.
pub(crate) struct Member {
    hub: Arc<Hub>,
    session: SessionIx,
}

impl Member {
    /// Claims a share for a call: its place in line is taken here and now.
    pub(crate) fn claim(self: &Arc<Self>, call: CallKey, card: &Card) -> Claim {
        let wanted = Wanted { session: self.session, call, tool: self.hub.cap_of(card) };
        let mut allocator = self.hub.allocator();
        let of = self.clone();
        match allocator.take_now(wanted) {
            Ok(share) => Claim::Granted(HeldShare { of, share }),
            Err(wanted) => {
                let (sender, granted) = oneshot::channel();
                let ticket = allocator.wait(wanted, Waiter { of: self.clone(), sender });
                Claim::Waits(Place { of, ticket, granted })
            }
        }
    }

    /// The call has been answered without ending: what it holds is held by an overdue call.
    pub(crate) fn overdue(&self, call: CallKey) {
        self.hub.allocator().overdue(self.session, &call);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.hub.allocator().leave(self.session);
    }
}

/// Who is to be told of a share.
struct Waiter {
    of: Arc<Member>,
    sender: oneshot::Sender<HeldShare>,
}

/// A share that a call holds until this is dropped.
pub(crate) struct HeldShare {
    of: Arc<Member>,
    share: ShareIx,
}

impl Drop for HeldShare {
    fn drop(&mut self) {
        let hub = &self.of.hub;
        hub.allocator().release(self.share);
        loop {
            let next = hub.allocator().next();
            let Some((share, Waiter { of, sender })) = next else { return };
            // Without the lock: one that waits no longer gives its share back here.
            drop(sender.send(HeldShare { of, share }));
        }
    }
}

/// A share, or a place in line for one. Dropped, it is given up.
pub(crate) enum Claim {
    Granted(HeldShare),
    Waits(Place),
}

/// See [`Claim`].
pub(crate) struct Place {
    of: Arc<Member>,
    ticket: Ticket,
    granted: oneshot::Receiver<HeldShare>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.of.hub.allocator().cancel(&self.ticket);
    }
}

impl Claim {
    /// The share, once there is one. Where overdue calls hold every share of a cap that it needs,
    /// `late` is told once `wait` is over; the wait then goes on, and is its caller's to end.
    pub(crate) async fn share(self, wait: Duration, late: impl FnOnce()) -> Option<HeldShare> {
        /// Overdue calls are looked for no more often than this.
        const LEAST: Duration = Duration::from_millis(10);
        let mut place = match self {
            Self::Granted(share) => return Some(share),
            Self::Waits(place) => place,
        };
        loop {
            match tokio::time::timeout(wait.max(LEAST), &mut place.granted).await {
                Ok(share) => return share.ok(),
                Err(_) if place.is_stuck() => break,
                Err(_) => {}
            }
        }
        late();
        (&mut place.granted).await.ok()
    }
}

impl Place {
    fn is_stuck(&self) -> bool {
        self.of.hub.allocator().is_stuck(&self.ticket)
    }
}
