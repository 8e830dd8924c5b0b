//! Long random turns, held to the laws that `every_turn` checks in each short one.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod model;

use model::laws::Law;
use model::scope::{Clearing, READ, Scope, WRITE, safety};
use model::world::{Rules, World};
use proptest::prelude::*;
use toolwright_kernel::{
    CallIx, Cascade, Effects, Fact, Footprint, OnInterrupt, Place, Policy, Refusal, Safety,
    StopCause, Verdict,
};

const POST: Safety = safety(Footprint::Shared, Effects::Writes, OnInterrupt::Block);
const SHARED: Place = Place::Lane(Footprint::Shared);

/// What may happen to a call; the usual more often than the rest.
const USUAL: Scope = Scope {
    screened: &[Ok(READ), Ok(READ), Ok(READ), Ok(POST), Ok(WRITE), Err(Refusal::InvalidInput)],
    cleared: &[Clearing::Same, Clearing::Same, Clearing::Same, Clearing::As(WRITE)],
    denied: &[Refusal::Denied],
    unrecorded: &[Refusal::Unrecorded],
    verdicts: &[
        Verdict::Good,
        Verdict::Good,
        Verdict::Good,
        Verdict::Bad { cascades: false },
        Verdict::Crashed,
        Verdict::Stopped,
    ],
    asks: true,
    lends: true,
    overdue: true,
    ..Scope::PLAIN
};

/// One random turn.
#[derive(Clone, Debug)]
struct Plan {
    size: usize,
    width: u16,
    cascade: Cascade,
    max_calls: u32,
    inherited: Vec<Place>,
    /// Of a thousand facts, how many stop one call.
    stops: u64,
    /// Of ten thousand facts, how many stop all calls, or fail so that siblings stop.
    breaks: u64,
    seed: u64,
}

fn plan() -> impl Strategy<Value = Plan> {
    let size = prop_oneof![6 => 1..200_usize, 1 => 200..=2_000_usize];
    let cascade = prop_oneof![Just(Cascade::Never), Just(Cascade::Declared), Just(Cascade::Any)];
    let max_calls = prop_oneof![4 => Just(Policy::MAX_CALLS), 1 => 0..500_u32];
    let inherited = prop_oneof![
        4 => Just(vec![]),
        1 => Just(vec![SHARED]),
        1 => Just(vec![Place::Lane(Footprint::Exclusive)]),
        1 => Just(vec![SHARED, Place::Resting, Place::Resting]),
    ];
    let stops = prop_oneof![Just(0), Just(5), Just(100)];
    let breaks = prop_oneof![2 => Just(0), 1 => Just(2), 1 => Just(20)];
    (size, 1..16_u16, cascade, max_calls, inherited, stops, breaks, any::<u64>()).prop_map(
        |(size, width, cascade, max_calls, inherited, stops, breaks, seed)| Plan {
            size,
            width,
            cascade,
            max_calls,
            inherited,
            stops,
            breaks,
            seed,
        },
    )
}

/// A small generator, so that a plan with its seed is the whole turn.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((u128::from(self.0 >> 32) * sides as u128) >> 32) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.roll(from.len())])
    }

    fn hits(&mut self, share: u64, of: usize) -> bool {
        (self.roll(of) as u64) < share
    }
}

/// The next fact: a call that arrives, a stop, or an answer that somebody owes.
fn next_fact(plan: &Plan, world: &World<'_>, dice: &mut Dice) -> Option<Fact> {
    let known = world.calls.len();
    let to_come = plan.size - known;
    if plan.breaks > 0 && dice.hits(plan.breaks, 10_000) {
        let all = [StopCause::User, StopCause::User, StopCause::Discarded, StopCause::Shutdown];
        return dice.pick(&all).map(Fact::StopAll);
    }
    if dice.hits(plan.stops, 1_000) {
        // Whichever: waiting, under way, done, or not there yet.
        return Some(Fact::StopOne(index(dice.roll(known + 1)), StopCause::Deadline));
    }
    if to_come > 0 && dice.hits(1, 4) {
        return dice.pick(USUAL.screened).map(Fact::Submitted);
    }
    let busy: Vec<_> = (0..known)
        .filter(|&at| {
            let call = &world.calls[at];
            call.late || call.is_worked_on() || world.allows(Fact::Stored(index(at)))
        })
        .collect();
    let mut facts = Vec::new();
    if let Some(at) = dice.pick(&busy) {
        let cascades = plan.breaks > 0 && dice.hits(plan.breaks, 1_000);
        let fails = Fact::Returned(index(at), Verdict::Bad { cascades: true });
        if cascades && world.allows(fails) {
            return Some(fails);
        }
        USUAL.facts_about(index(at), world, &mut facts);
    } else if to_come > 0 {
        return dice.pick(USUAL.screened).map(Fact::Submitted);
    } else if !world.sealed {
        return Some(Fact::Sealed);
    }
    if busy.is_empty() || dice.hits(1, 50) {
        facts.extend(world.inherited.iter().map(|&place| Fact::Freed(place)));
    }
    dice.pick(&facts)
}

fn index(at: usize) -> CallIx {
    CallIx(u32::try_from(at).unwrap())
}

/// Plays the turn to its end: finished, and nobody at work any more.
fn play(plan: &Plan) -> Result<usize, Law> {
    let policy = Policy { cascade: plan.cascade, max_calls: plan.max_calls };
    let rules = Rules { policy, width: plan.width };
    let mut world = World::new(&rules, &plan.inherited);
    let mut dice = Dice(plan.seed);
    let mut told = 0;
    while let Some(fact) = next_fact(plan, &world, &mut dice) {
        world.tell(fact)?;
        told += 1;
        if dice.hits(1, 200) {
            world.lie()?;
        }
    }
    assert!(world.finished && world.turn.lanes().is_empty(), "everybody has gone home");
    Ok(told)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn long_turns_keep_the_laws(plan in plan()) {
        play(&plan).map_err(|law| TestCaseError::fail(law.0))?;
    }
}

#[test]
fn a_turn_of_two_thousand_calls_keeps_the_laws() {
    let plan = Plan {
        size: 2_000,
        width: 10,
        cascade: Cascade::Declared,
        max_calls: Policy::MAX_CALLS,
        inherited: vec![SHARED],
        stops: 5,
        breaks: 0,
        seed: 7,
    };
    let told = play(&plan).unwrap();
    assert!(told > 3 * plan.size, "most calls went all their way: {told} facts");
}
