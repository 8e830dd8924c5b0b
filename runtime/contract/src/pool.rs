//! The pool: which of all tools a session offers, and in which order.
//!
//! The order is part of the contract: tool definitions stand at the head of every request, and a
//! byte that changes there costs the model's prompt cache. [`ToolList`](crate::ToolList) keeps
//! what was published once, whatever pools come later.

use std::collections::BTreeSet;

use crate::card::Card;
use crate::erased::AnyTool;
use crate::mode::PermissionMode;
use crate::registry::{Registry, Unregistrable};

/// What was assembled, and what could not be.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// The tools on offer: built-in ones by name, then outside ones by name.
    pub registry: Registry,
    /// Why tools, or aliases of tools, were left out that the gates let through.
    pub left_out: Vec<Unregistrable>,
}

/// What decides which tools exist, beyond the tools themselves. The default lets all through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// Of the built-in tools these alone, by name or former name. `None`: all of them.
    pub only: Option<BTreeSet<String>>,
    /// The session's permission mode; see [`Card::only_in`].
    pub mode: PermissionMode,
}

impl Gates {
    fn pass(&self, card: &Card) -> bool {
        let is_named = |names: &BTreeSet<String>| card.names().any(|it| names.contains(it));
        let exists = card.origin.is_outside() || self.only.as_ref().is_none_or(is_named);
        exists && card.is_offered_in(self.mode)
    }
}

impl Pool {
    /// Assembles the tools on offer: those that the gates let through, that are enabled now and
    /// not denied as a whole. Each of the two parts is sorted by name, so the order in which tools
    /// arrive makes no difference; of two that answer to one name the first one wins, and built-in
    /// tools come first. A tool that could not be published is left out alone.
    #[must_use]
    pub fn assemble(
        tools: impl IntoIterator<Item = AnyTool>,
        gates: &Gates,
        is_denied: impl Fn(&Card) -> bool,
    ) -> Self {
        let mut pool = Self::default();
        let mut offered: Vec<AnyTool> = Vec::new();
        for tool in tools {
            let card = tool.card();
            if !gates.pass(card) || is_denied(card) || !tool.is_enabled() {
                continue;
            }
            match tool.check() {
                Ok(()) => offered.push(tool),
                Err(why) => pool.left_out.push(why.into()),
            }
        }
        // By origin in the end: which of two outside tools of one name came first is luck.
        let place = |it: &Card| (it.origin.is_outside(), it.name.clone(), it.origin.clone());
        offered.sort_by_cached_key(|it| place(it.card()));
        for tool in offered {
            pool.left_out.extend(pool.registry.offer(tool).into_iter().map(Unregistrable::from));
        }
        pool
    }
}
