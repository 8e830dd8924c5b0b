//! The mutants of the kernel: what each does wrong, and the law that it breaks.

use crate::laws::Law;
use crate::{in_admission, in_call, in_turn};

/// One place of the kernel, written wrong.
#[derive(Clone, Copy)]
pub(crate) struct Mutant {
    /// What it does wrong.
    pub(crate) what: &'static str,
    /// The text before the place, if what is there occurs elsewhere too.
    pub(crate) after: &'static str,
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
    pub(crate) breaks: Law,
}

/// Every mutant, with the file that it is in.
pub(crate) fn every_mutant() -> impl Iterator<Item = (&'static str, Mutant)> {
    let files = [
        ("admission.rs", in_admission::MUTANTS),
        ("call.rs", in_call::MUTANTS),
        ("turn.rs", in_turn::MUTANTS),
    ];
    files.into_iter().flat_map(|(file, mutants)| mutants.iter().map(move |&it| (file, it)))
}

pub(crate) const fn mutant(
    what: &'static str,
    old: &'static str,
    new: &'static str,
    breaks: Law,
) -> Mutant {
    Mutant { what, after: "", old, new, breaks }
}

pub(crate) const fn within(
    after: &'static str,
    what: &'static str,
    old: &'static str,
    new: &'static str,
    breaks: Law,
) -> Mutant {
    Mutant { what, after, old, new, breaks }
}
