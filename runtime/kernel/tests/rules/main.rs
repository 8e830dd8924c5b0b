//! The rules of a turn, one behaviour a test.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod admission;
mod cascade;
mod endings;
mod limits;
mod overdue;
mod records;
mod stops;
mod width;

use toolwright_kernel::{
    Admission, CallIx, Effects, Ending, Fact, Footprint, OnInterrupt, Order, Policy, Returned,
    Safety, StopCause, Turn, Verdict,
};

const A: CallIx = CallIx(0);
const B: CallIx = CallIx(1);
const C: CallIx = CallIx(2);
const D: CallIx = CallIx(3);

/// Runs beside others, changes nothing, may be interrupted.
const READ: Safety = Safety {
    footprint: Footprint::Shared,
    effects: Effects::ReadOnly,
    on_interrupt: OnInterrupt::Cancel,
};
/// Runs alone, is recorded, is let finish.
const WRITE: Safety = Safety {
    footprint: Footprint::Exclusive,
    effects: Effects::Writes,
    on_interrupt: OnInterrupt::Block,
};

const GOOD: Ending = Ending::Returned(Returned::Ok);
const FAILED: Ending = Ending::Returned(Returned::Error);

/// A turn that says which orders follow each fact.
struct Spoken(Turn);

impl Spoken {
    /// A turn with the default policy and two lanes.
    fn new() -> Self {
        Self::under(Policy::default(), 2)
    }

    fn under(policy: Policy, width: u16) -> Self {
        Self(Turn::new(policy, Admission::new(width.try_into().unwrap())))
    }

    /// A turn whose first calls have these safeties; the orders so far are obeyed in silence.
    fn of(calls: &[Safety]) -> Self {
        let mut turn = Self::new();
        for &safety in calls {
            turn.submit(safety);
        }
        turn
    }

    fn tell(&mut self, fact: Fact) -> Vec<Order> {
        self.0.tell(fact).unwrap();
        std::iter::from_fn(|| self.0.next_order()).collect()
    }

    fn submit(&mut self, safety: Safety) -> Vec<Order> {
        self.tell(Fact::Submitted(Ok(safety)))
    }

    /// From the gate into the tool.
    fn run(&mut self, ix: CallIx, safety: Safety) {
        let orders = self.tell(Fact::Cleared(ix, safety));
        if orders.contains(&Order::Log(ix)) {
            assert!(self.tell(Fact::Logged(ix)).contains(&Order::Run(ix)));
        } else {
            assert!(orders.contains(&Order::Run(ix)), "{ix:?} runs: {orders:?}");
        }
    }

    /// Out of the tool and into the store; what follows is told.
    fn end(&mut self, ix: CallIx) -> Vec<Order> {
        assert_eq!(self.tell(Fact::Returned(ix, Verdict::Good)), [Order::Store(ix, GOOD)]);
        self.tell(Fact::Stored(ix))
    }

    fn stop(&mut self, ix: CallIx, cause: StopCause) -> Vec<Order> {
        self.tell(Fact::StopOne(ix, cause))
    }

    fn refuses(&mut self, fact: Fact) -> bool {
        let before = self.0.clone();
        self.0.tell(fact).is_err() && self.0 == before
    }
}
