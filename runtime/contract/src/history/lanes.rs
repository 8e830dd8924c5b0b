//! The lanes of a turn, counted again from the events, apart from the kernel's own count.

use toolwright_kernel::{Footprint, Place};

use super::breach::Invariant;

/// Who is in the lanes.
#[derive(Clone, Copy, Default)]
pub(super) struct Lanes {
    width: u32,
    shared: u32,
    exclusive: u32,
    resting: u32,
}

impl Lanes {
    pub(super) fn new(width: u16) -> Self {
        Self { width: u32::from(width), ..Self::default() }
    }

    /// Takes a place, and says what that breaks.
    pub(super) fn join(&mut self, place: Place) -> Option<Invariant> {
        let alone_is_broken = match place {
            Place::Lane(Footprint::Exclusive) => self.shared + self.exclusive + self.resting > 0,
            Place::Lane(Footprint::Shared) | Place::Resting => self.exclusive > 0,
        };
        *self.count(place) += 1;
        let too_wide = place == Place::Lane(Footprint::Shared) && self.shared > self.width;
        if alone_is_broken { Some(Invariant::Alone) } else { too_wide.then_some(Invariant::Width) }
    }

    /// Leaves a place that was joined.
    pub(super) fn leave(&mut self, place: Place) {
        let count = self.count(place);
        debug_assert!(*count > 0, "only who has joined leaves");
        *count = count.saturating_sub(1);
    }

    fn count(&mut self, place: Place) -> &mut u32 {
        match place {
            Place::Lane(Footprint::Shared) => &mut self.shared,
            Place::Lane(Footprint::Exclusive) => &mut self.exclusive,
            Place::Resting => &mut self.resting,
        }
    }
}
