//! What permission rules mean: from settings' words and the facts of a call to a decision.
//!
//! The package has no I/O and no clock. What only a file system knows is passed in ([`Links`]), and
//! what a command does is read by the shell analysis. Rules are compiled once into a [`RuleSet`].

mod call;
mod command;
mod command_pattern;
mod decide;
mod decision;
mod domain;
mod guarded;
mod lint;
mod mode;
mod names;
mod path_index;
mod path_pattern;
mod place;
mod rule;
mod rule_set;
mod source;
mod suggest;
mod wildcard;

pub use call::{Call, Subject};
pub use command::Facts;
pub use decide::{Case, Classifier, HookWord, decide, explain};
pub use decision::{Decision, Reason, Suggestion, Verdict};
pub use domain::{Address, AddressDoubt, AddressProblem};
pub use guarded::{Reach, is_critical, is_protected};
pub use lint::{Finding, Idle, lint};
pub use mode::{Mode, NoMode};
pub use names::{Known, canonical, family_of, known_tool};
pub use place::{Flaw, Links, NoLinks, Places, Touched, settled};
pub use rule::{LONGEST_RULE, List, RuleProblem};
pub use rule_set::{Entry, EntryProblem, Fences, RuleRef, RuleSet, Trust, Warning};
pub use source::{Scope, Source};
pub use toolwright_contract::Family;
pub use toolwright_shell_analysis::understand;
