//! The pool: which of all tools a session offers, and in which order.
//!
//! The order is part of the contract: tool definitions stand at the head of every request, and a
//! byte that changes there costs the model's prompt cache.

use crate::card::{Card, Origin};
use crate::erased::AnyTool;
use crate::registry::Registry;

/// What was assembled, and what was left out.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// The tools on offer: built-in ones by name, then outside ones by name.
    pub registry: Registry,
    /// Outside tools, or aliases, whose name was taken already.
    pub dropped: Vec<String>,
}

impl Pool {
    /// Assembles the tools on offer: those that are enabled now and not denied as a whole. Of two
    /// that answer to one name the first one wins, and built-in tools come first.
    #[must_use]
    pub fn assemble(
        tools: impl IntoIterator<Item = AnyTool>,
        is_denied: impl Fn(&Card) -> bool,
    ) -> Self {
        let offered = tools.into_iter().filter(|it| it.is_enabled() && !is_denied(it.card()));
        let (mut built_in, mut outside): (Vec<_>, Vec<_>) =
            offered.partition(|it| it.card().origin == Origin::BuiltIn);
        built_in.sort_by(|a, b| a.card().name.cmp(&b.card().name));
        outside.sort_by(|a, b| a.card().name.cmp(&b.card().name));
        let mut pool = Self::default();
        for tool in built_in.into_iter().chain(outside) {
            pool.dropped.extend(pool.registry.offer(tool));
        }
        pool
    }
}
