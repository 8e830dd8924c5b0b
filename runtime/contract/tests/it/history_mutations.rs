//! The checker against the kernel: what the kernel does is good, and what is then changed is not.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use toolwright_contract::history::check;
use toolwright_contract::{Event, EventKind};

use crate::small_house;

/// A change of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mutation {
    Drop,
    Double,
    /// With the next event of the same call.
    Swap,
}

use Mutation::{Double, Drop, Swap};

/// The changed history, numbered again so that no gap gives it away; `None` if nothing changed.
fn mutate(history: &[Event], mutation: Mutation, at: usize) -> Option<Vec<Event>> {
    let mut kinds: Vec<Event> = history.to_vec();
    match mutation {
        Drop => drop(kinds.remove(at)),
        Double => kinds.insert(at, kinds[at].clone()),
        Swap => {
            let call = history[at].kind.call()?;
            let of_call = |it: &Event| it.turn == history[at].turn && it.kind.call() == Some(call);
            let next = at + 1 + history[at + 1..].iter().position(of_call)?;
            kinds.swap(at, next);
        }
    }
    for (seq, event) in (0..).zip(&mut kinds) {
        (event.seq, event.at_us) = (seq, seq);
    }
    Some(kinds)
}

/// Changes that give a history which may be true as well, and why.
const MAY_BE_TRUE: &[(Mutation, &str, &str)] = &[
    (Drop, "Asking", "a question that was answered leaves no other trace"),
    (Drop, "Cleared", "after a stop it makes no difference what the gate says"),
    (Drop, "Gated", "a call that was stopped at its gate could as well have waited in line"),
    (Drop, "Gone", "an overdue call need not end, and its lane need not be wanted"),
    (Drop, "Lent", "nobody need have used the width"),
    (Drop, "Logged", "after a stop it makes no difference whether the start was recorded"),
    (Drop, "Overdue", "a gate that was stopped answers without a trace, in time or not"),
    (Drop, "Refused", "after a stop it makes no difference what the gate says"),
    (Drop, "Resumed", "a call may end without its width"),
    (Drop, "Stopping", "the turn was given up, or the call finished all the same"),
    (Drop, "Withdrawn", "the gate's answer closes the question, too"),
    (Double, "Refused", "after a stop it makes no difference what the gate says"),
    (Swap, "Accepted", "a call may be told to stop, or refused, at once"),
    (Swap, "Asking", "a stop may come before or after the question"),
    (Swap, "Cleared", "a stop may come before or after the gate's answer"),
    (Swap, "Emitted", "an overdue call may be gone before or after its result"),
    (Swap, "Gone", "an overdue call may be gone before or after its result"),
    (Swap, "Lent", "a stop may come before or after"),
    (Swap, "Logged", "a stop may come before or after the start record"),
    (Swap, "Refused", "a stop may come before or after the gate's answer"),
    (Swap, "Resumed", "a stop may come before or after"),
    (Swap, "Stopping", "a stop may come before or after what else happens to its call"),
    (Swap, "Stored", "an overdue call may be gone before or after its result"),
];

fn may_be_true(mutation: Mutation, kind: &EventKind) -> bool {
    let name = name(kind);
    MAY_BE_TRUE.iter().any(|(it, of, _)| (*it, *of) == (mutation, name.as_str()))
}

/// The kind of an event, as the source calls it.
fn name(kind: &EventKind) -> String {
    let debug = format!("{kind:?}");
    debug.split(' ').next().unwrap_or_default().to_owned()
}

fn choices() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 0..200)
}

fn mutations() -> impl Strategy<Value = Mutation> {
    prop_oneof![Just(Drop), Just(Double), Just(Swap)]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_the_kernel_does_is_a_good_history(choices in choices()) {
        let history = small_house::history(3, choices);
        let breaches = check(&history);
        let listed: String = history.iter().map(|it| format!("{it:?}\n")).collect();
        prop_assert!(breaches.is_empty(), "{listed}{breaches:#?}");
    }

    #[test]
    fn a_change_is_caught_unless_it_may_be_true(
        choices in choices(),
        mutation in mutations(),
        at in any::<prop::sample::Index>(),
    ) {
        let history = small_house::history(2, choices);
        let at = at.index(history.len());
        if let Some(mutated) = mutate(&history, mutation, at) {
            let kind = &history[at].kind;
            let passes = check(&mutated).is_empty();
            prop_assert!(!passes || may_be_true(mutation, kind), "{mutation:?} of {kind:?}");
        }
    }
}

/// Shares of all changes of a corpus that are caught. What is missing is named above.
#[test]
fn nine_in_ten_changes_are_caught() {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut shares: BTreeMap<Mutation, (usize, usize)> = BTreeMap::new();
    for _ in 0..100 {
        let choices = (0..150).map(|_| rng.next_u32() as u16).collect();
        let history = small_house::history(2, choices);
        for (at, mutation) in
            (0..history.len()).flat_map(|at| [Drop, Double, Swap].map(|it| (at, it)))
        {
            if let Some(mutated) = mutate(&history, mutation, at) {
                let (caught, all) = shares.entry(mutation).or_default();
                *caught += usize::from(!check(&mutated).is_empty());
                *all += 1;
            }
        }
    }
    for (mutation, (caught, all)) in shares {
        let least = if mutation == Drop { 85 } else { 95 };
        assert!(caught * 100 >= all * least, "{mutation:?}: {caught} of {all} were caught");
    }
}
