//! Admission: who is in the lanes, and whether one more fits.

use core::num::NonZeroU16;

use crate::words::{Footprint, Place};

/// The lanes that a turn's calls take.
///
/// A value: a session hands it to a turn and gets it back with what overdue calls still hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Admission {
    width: NonZeroU16,
    shared: u32,
    exclusive: u32,
    resting: u32,
}

impl Admission {
    /// The width that Claude Code uses by default (docs 2.1.240).
    pub const DEFAULT_WIDTH: NonZeroU16 = NonZeroU16::new(10).unwrap();

    /// Empty lanes for at most `width` shared calls at once.
    #[must_use]
    pub const fn new(width: NonZeroU16) -> Self {
        Self { width, shared: 0, exclusive: 0, resting: 0 }
    }

    /// Lanes in which these places are taken already, by calls of earlier turns.
    #[must_use]
    pub fn with(width: NonZeroU16, held: impl IntoIterator<Item = Place>) -> Self {
        let mut lanes = Self::new(width);
        held.into_iter().for_each(|place| lanes.join(Some(place)));
        lanes
    }

    /// The admission rule. Another policy is another body of this function.
    #[must_use]
    pub fn has_room_for(&self, footprint: Footprint) -> bool {
        match footprint {
            Footprint::Shared => self.exclusive == 0 && self.has_width(),
            Footprint::Exclusive => self.exclusive + self.shared + self.resting == 0,
        }
    }

    /// Whether a shared call that holds its place may have its width back.
    pub(crate) fn has_width(&self) -> bool {
        self.shared < u32::from(self.width.get())
    }

    /// Whether nobody holds anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared + self.exclusive + self.resting == 0
    }

    pub(crate) fn join(&mut self, place: Option<Place>) {
        if let Some(count) = self.count(place) {
            *count += 1;
        }
    }

    /// Whether there was such a place to leave.
    pub(crate) fn leave(&mut self, place: Option<Place>) -> bool {
        match self.count(place) {
            Some(0) => false,
            Some(count) => {
                *count -= 1;
                true
            }
            None => true,
        }
    }

    fn count(&mut self, place: Option<Place>) -> Option<&mut u32> {
        match place? {
            Place::Lane(Footprint::Shared) => Some(&mut self.shared),
            Place::Lane(Footprint::Exclusive) => Some(&mut self.exclusive),
            Place::Resting => Some(&mut self.resting),
        }
    }
}

impl Default for Admission {
    fn default() -> Self {
        Self::new(Self::DEFAULT_WIDTH)
    }
}
