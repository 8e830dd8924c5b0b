//! What must hold whenever the kernel has no order left: who is where, and who waits for what.

use toolwright_kernel::{Fact, Footprint, Place, Turn};

use super::call::{Call, Stage};
use super::laws::{self, Law, hold};
use super::world::World;

/// How many hold what.
#[derive(Clone, Copy, Default)]
pub(super) struct Taken {
    pub(super) shared: usize,
    pub(super) exclusive: usize,
    pub(super) resting: usize,
}

impl Taken {
    pub(super) fn has_room_for(self, footprint: Footprint, width: u16) -> bool {
        match footprint {
            Footprint::Shared => self.exclusive == 0 && self.shared < usize::from(width),
            Footprint::Exclusive => self.all() == 0,
        }
    }
}

impl Taken {
    fn all(self) -> usize {
        self.shared + self.exclusive + self.resting
    }

    /// Whether nothing but these places is taken.
    pub(super) fn is(self, places: &[Place]) -> bool {
        self.all() == places.len()
    }
}

impl World<'_> {
    pub(super) fn taken(&self) -> Taken {
        let mut taken = Taken::default();
        let own = self.calls.iter().filter_map(|call| call.held);
        for place in own.chain(self.inherited.iter().copied()) {
            match place {
                Place::Lane(Footprint::Shared) => taken.shared += 1,
                Place::Lane(Footprint::Exclusive) => taken.exclusive += 1,
                Place::Resting => taken.resting += 1,
            }
        }
        taken
    }

    /// What must hold whenever no order is left to obey.
    pub(super) fn check(&self) -> Result<(), Law> {
        for call in &self.calls {
            match call.stage {
                Stage::Queued | Stage::Rejoining => {
                    hold(call.stop.is_none(), laws::STOP_REACHES)?;
                }
                Stage::Gate { .. } | Stage::Log | Stage::Run(_) => {
                    hold(call.told == call.stop.is_some(), laws::STOP_REACHES)?;
                }
                Stage::Through { .. } | Stage::Over(_) if call.stop.is_some() => {
                    return Err(laws::STOP_REACHES);
                }
                Stage::Through { .. } | Stage::Over(_) => return Err(laws::GOES_ON),
                Stage::Store | Stage::Stored => {}
            }
        }
        let taken = self.taken();
        let width = self.rules.width;
        hold(taken.exclusive == 0 || taken.all() == 1, laws::ALONE)?;
        hold(taken.shared <= usize::from(width), laws::WIDTH)?;
        if let Some(first) = self.calls.iter().find(|call| call.waits_in_line()) {
            hold(!taken.has_room_for(first.safety.footprint, width), laws::NOT_IDLE)?;
        }
        if let Some(&first) = self.claims.first() {
            let needs_width = self.calls[first.at()].held == Some(Place::Resting);
            hold(needs_width && taken.shared == usize::from(width), laws::CLAIM_SERVED)?;
        }
        self.check_end()?;
        self.check_lanes()
    }

    fn check_end(&self) -> Result<(), Law> {
        let busy = |call: &Call| call.is_worked_on() || call.late || call.stage == Stage::Store;
        let waits = self.calls.iter().any(busy) || !self.inherited.is_empty();
        hold(waits || !self.sealed || self.finished, laws::NOT_STUCK)?;
        let all = self.sealed && self.calls.iter().all(|call| call.stage == Stage::Stored);
        hold(all == self.finished, laws::FINISH_ONCE)?;
        hold(self.turn.is_finished() == self.finished, laws::FINISH_ONCE)
    }

    /// A next turn that inherits the lanes can free exactly what is held, and no more; and each
    /// call says what it holds.
    fn check_lanes(&self) -> Result<(), Law> {
        let said = self.turn.calls().iter().map(|phase| phase.place());
        hold(said.eq(self.calls.iter().map(|call| call.held)), laws::LANES)?;
        let mut next = Turn::new(self.rules.policy, self.turn.lanes().clone());
        let own = self.calls.iter().filter_map(|call| call.held);
        for place in own.chain(self.inherited.iter().copied()) {
            next.tell(Fact::Freed(place)).map_err(|_| laws::LANES)?;
        }
        hold(next.lanes().is_empty(), laws::LANES)
    }
}
