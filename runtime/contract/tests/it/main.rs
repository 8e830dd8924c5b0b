//! The contract read as a specification: papers, registry, stops and wording.

mod papers;
mod registry;
mod stop;
mod wording;
