//! The contract read as a specification: history checker, event schema, papers and wording.

mod event_schema;
mod history_mutations;
mod history_rules;
mod papers;
mod pool;
mod present;
mod registry;
mod script;
mod small_house;
mod stop;
mod wording;
