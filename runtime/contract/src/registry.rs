//! The registry: which tools there are, and by which names they answer.

use std::collections::HashMap;

use crate::erased::AnyTool;

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

impl Registry {
    /// A registry of these tools, which keep their order.
    ///
    /// # Errors
    ///
    /// [`NameTaken`] if a name or alias occurs twice.
    pub fn new(tools: impl IntoIterator<Item = AnyTool>) -> Result<Self, NameTaken> {
        let mut registry = Self::default();
        for tool in tools {
            let at = registry.tools.len();
            let card = tool.card();
            for name in std::iter::once(&card.name).chain(&card.aliases) {
                if registry.by_name.insert(name.to_string(), at).is_some() {
                    return Err(NameTaken(name.to_string()));
                }
            }
            registry.tools.push(tool);
        }
        Ok(registry)
    }

    /// Adds a tool unless its name is taken; an alias that is taken is left out. Gives the names
    /// that were.
    pub(crate) fn offer(&mut self, tool: AnyTool) -> Vec<String> {
        let (at, card) = (self.tools.len(), tool.card());
        if self.by_name.contains_key(&*card.name) {
            return vec![card.name.to_string()];
        }
        self.by_name.insert(card.name.to_string(), at);
        let mut taken = Vec::new();
        for alias in &card.aliases {
            if self.by_name.contains_key(&**alias) {
                taken.push(alias.to_string());
            } else {
                self.by_name.insert(alias.to_string(), at);
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
