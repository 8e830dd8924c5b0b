//! The registry: which tools there are, and by which names they answer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::erased::AnyTool;
use crate::schema::Unpublishable;

/// The tools on offer, by name and alias. Built once, read by everybody.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    tools: Vec<AnyTool>,
    by_name: HashMap<String, usize>,
}

/// Two tools want to answer to one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two tools answer to the name `{0}`: rename one of them or drop its alias")]
pub struct NameTaken(pub String);

/// Why a tool, or a name of it, can't be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unregistrable {
    /// Another tool has the name.
    #[error(transparent)]
    NameTaken(#[from] NameTaken),
    /// A request with the tool would be refused, or would show what it shouldn't.
    #[error(transparent)]
    Unpublishable(#[from] Unpublishable),
}

impl Registry {
    /// A registry of these tools, which keep their order. Each is [checked](AnyTool::check). For
    /// tools that come while the program runs use [`Pool`](crate::Pool), which leaves out what it
    /// can't take.
    ///
    /// # Errors
    ///
    /// [`Unregistrable`] if a name or alias occurs twice, or a tool fails its check.
    pub fn new(tools: impl IntoIterator<Item = AnyTool>) -> Result<Self, Unregistrable> {
        let tools: Vec<_> = tools.into_iter().collect();
        tools.iter().try_for_each(AnyTool::check)?;
        Ok(Self::unpublished(tools)?)
    }

    /// A registry of tools that answer calls and are shown to no model, as in a replay: whatever
    /// their names and schemas are.
    ///
    /// # Errors
    ///
    /// [`NameTaken`] if a name or alias occurs twice.
    pub fn unpublished(tools: impl IntoIterator<Item = AnyTool>) -> Result<Self, NameTaken> {
        let mut registry = Self::default();
        for tool in tools {
            if let Some(taken) = registry.offer(tool).into_iter().next() {
                return Err(taken);
            }
        }
        Ok(registry)
    }

    /// Adds a tool unless its name is taken; an alias that is taken is left out. Gives the names
    /// that were.
    pub(crate) fn offer(&mut self, tool: AnyTool) -> Vec<NameTaken> {
        let (at, card) = (self.tools.len(), tool.card());
        if self.by_name.contains_key(&*card.name) {
            return vec![NameTaken(card.name.to_string())];
        }
        let mut taken = Vec::new();
        for name in card.names() {
            match self.by_name.entry(name.to_owned()) {
                Entry::Vacant(free) => drop(free.insert(at)),
                Entry::Occupied(_) => taken.push(NameTaken(name.to_owned())),
            }
        }
        self.tools.push(tool);
        taken
    }

    /// The tool that answers to a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&AnyTool> {
        self.by_name.get(name).map(|&at| &self.tools[at])
    }

    /// All tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &AnyTool> {
        self.tools.iter()
    }
}
