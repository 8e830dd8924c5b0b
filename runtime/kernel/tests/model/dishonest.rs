//! Tells the kernel what cannot be true, and sees that it isn't believed.

use toolwright_kernel::{
    CallIx, Fact, Footprint, Place, Refusal, Safety, StopCause, Turn, Verdict,
};

use super::laws::{self, Law, hold};
use super::world::World;

/// Every kind of fact about one call.
fn about(ix: CallIx) -> [Fact; 10] {
    [
        Fact::Asking(ix),
        Fact::Cleared(ix, Safety::default()),
        Fact::Refused(ix, Refusal::Denied),
        Fact::Logged(ix),
        Fact::Lent(ix),
        Fact::Reclaimed(ix),
        Fact::Returned(ix, Verdict::Good),
        Fact::Stored(ix),
        Fact::Overdue(ix),
        Fact::Gone(ix),
    ]
}

/// Every kind of fact about the turn.
const OF_THE_TURN: [Fact; 5] = [
    Fact::Submitted(Err(Refusal::UnknownTool)),
    Fact::Sealed,
    Fact::Freed(Place::Lane(Footprint::Shared)),
    Fact::Freed(Place::Lane(Footprint::Exclusive)),
    Fact::Freed(Place::Resting),
];

impl World<'_> {
    /// Lies to a copy of the turn in every way there is, and stops what is done or not there.
    pub(crate) fn lie(&self) -> Result<(), Law> {
        let mut copy = self.turn.clone();
        for fact in OF_THE_TURN {
            self.lie_once(&mut copy, fact)?;
        }
        // The last one has not arrived yet.
        for at in 0..=self.calls.len() {
            let ix = CallIx(u32::try_from(at).unwrap());
            for fact in about(ix) {
                self.lie_once(&mut copy, fact)?;
            }
            let stop = Fact::StopOne(ix, StopCause::User);
            if !self.allows(stop) {
                hold(copy.tell(stop).is_ok() && copy == self.turn, laws::DONE_IS_DONE)?;
            }
        }
        Ok(())
    }

    fn lie_once(&self, copy: &mut Turn, fact: Fact) -> Result<(), Law> {
        if self.allows(fact) {
            return Ok(());
        }
        hold(copy.tell(fact).is_err(), laws::DISHONEST)?;
        hold(*copy == self.turn, laws::UNCHANGED)
    }
}
