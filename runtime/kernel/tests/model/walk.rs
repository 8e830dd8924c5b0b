//! Walks every turn that can be reached within a scope, shortest first.
//!
//! Own code, though the model checker stateright walks the same turns in about the same time: the
//! walk must be built next to each mutant of the kernel, and without dependencies a bare compiler
//! does that in a second.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use toolwright_kernel::Fact;

use super::laws::Law;
use super::scope::Scope;
use super::sights::{Sight, Sights};
use super::world::World;

/// What a walk came by.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) turns: usize,
    pub(crate) steps: usize,
    sights: Sights,
}

/// How a turn was reached: from which one, by which of its facts.
#[derive(Clone, Copy)]
struct Step {
    from: u32,
    by: u16,
}

/// Walks the whole scope.
///
/// # Panics
///
/// At the first broken law, with the fewest facts that lead there.
pub(crate) fn walk(name: &str, scope: &Scope) -> Walk {
    let started = std::time::Instant::now();
    let mut walk = Walk::default();
    let mut seen: HashSet<u64, BuildHasherDefault<AsIs>> = HashSet::default();
    let start = World::new(&scope.rules, scope.inherited);
    seen.insert(fingerprint(&start));
    let mut steps = vec![Step { from: 0, by: 0 }];
    let mut queue = VecDeque::from([(0_u32, start)]);
    let mut facts = Vec::new();
    while let Some((at, world)) = queue.pop_front() {
        if let Err(law) = world.lie() {
            give_up(scope, &steps, at, None, law);
        }
        facts.clear();
        scope.facts(&world, &mut facts);
        for (by, &fact) in facts.iter().enumerate() {
            let mut next = world.clone();
            if let Err(law) = next.tell(fact) {
                give_up(scope, &steps, at, Some(fact), law);
            }
            walk.steps += 1;
            walk.sights.add(next.sights);
            if seen.insert(fingerprint(&next)) {
                queue.push_back((u32::try_from(steps.len()).unwrap(), next));
                steps.push(Step { from: at, by: u16::try_from(by).unwrap() });
            }
        }
    }
    walk.turns = steps.len();
    println!("{name}: {} turns, {} steps, {:?}", walk.turns, walk.steps, started.elapsed());
    walk
}

impl Walk {
    /// Asserts that the walk has come by all of these.
    pub(crate) fn has_seen(&self, sights: &[Sight]) {
        for &sight in sights {
            assert!(self.sights.has(sight), "never seen: {sight:?}");
        }
    }
}

fn give_up(scope: &Scope, steps: &[Step], at: u32, last: Option<Fact>, law: Law) -> ! {
    let mut path = Vec::new();
    let mut at = at;
    while at != 0 {
        path.push(steps[at as usize].by);
        at = steps[at as usize].from;
    }
    let mut world = World::new(&scope.rules, scope.inherited);
    let mut told = Vec::new();
    for by in path.into_iter().rev() {
        let mut facts = Vec::new();
        scope.facts(&world, &mut facts);
        let fact = facts[usize::from(by)];
        assert_eq!(world.tell(fact), Ok(()), "the same way leads to the same place");
        told.push(format!("  {fact:?}"));
    }
    told.extend(last.map(|fact| format!("  {fact:?}")));
    panic!("broken: {}\nafter\n{}\n", law.0, told.join("\n"));
}

fn fingerprint(world: &World<'_>) -> u64 {
    let mut hasher = Fold(0);
    world.hash(&mut hasher);
    hasher.finish()
}

/// Folds the two halves of a product: quick, and good enough that among ten million turns two
/// share a fingerprint once in a hundred thousand walks.
struct Fold(u64);

impl Fold {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64).rotate_left(23) ^ (product >> 64) as u64;
    }
}

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.add(byte.into()));
    }
    fn write_u8(&mut self, word: u8) {
        self.add(word.into());
    }
    fn write_u32(&mut self, word: u32) {
        self.add(word.into());
    }
    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }
    fn write_isize(&mut self, word: isize) {
        self.add(word as u64);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

/// A fingerprint is its own hash.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0 << 8 | u64::from(byte));
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
    fn finish(&self) -> u64 {
        self.0
    }
}
