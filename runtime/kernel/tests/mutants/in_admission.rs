//! What can be written wrong in `admission.rs`.

use crate::laws;
use crate::table::{Mutant, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(
        "a safe call joins an exclusive one",
        "Footprint::Shared => self.exclusive == 0 && self.has_width(),",
        "Footprint::Shared => self.has_width(),",
        laws::ALONE,
    ),
    mutant(
        "an exclusive call joins safe ones",
        "Footprint::Exclusive => self.exclusive + self.shared + self.resting == 0,",
        "Footprint::Exclusive => self.exclusive + self.resting == 0,",
        laws::ALONE,
    ),
    mutant(
        "an exclusive call joins one that rests",
        "Footprint::Exclusive => self.exclusive + self.shared + self.resting == 0,",
        "Footprint::Exclusive => self.exclusive + self.shared == 0,",
        laws::ALONE,
    ),
    mutant(
        "two exclusive calls run side by side",
        "Footprint::Exclusive => self.exclusive + self.shared + self.resting == 0,",
        "Footprint::Exclusive => self.shared + self.resting == 0,",
        laws::ALONE,
    ),
    mutant(
        "one call too many fits",
        "self.shared < u32::from(self.width.get())",
        "self.shared <= u32::from(self.width.get())",
        laws::WIDTH,
    ),
    mutant(
        "a call that rests keeps its width",
        "self.shared < u32::from(self.width.get())",
        "self.shared + self.resting < u32::from(self.width.get())",
        laws::NOT_IDLE,
    ),
    mutant("nobody ever leaves a lane", "*count -= 1;", "", laws::LANES),
    mutant(
        "a place that nobody holds can be freed",
        "Some(0) => false,",
        "Some(0) => true,",
        laws::DISHONEST,
    ),
];
