//! The tool list: what a model is told of the tools, the same bytes for a whole session.
//!
//! Tool definitions stand at the head of every request, so a byte that changes in them costs the
//! prompt cache of all that follows. Therefore:
//!
//! - What was published keeps its place and its bytes, whatever becomes of the tool: one that is
//!   denied, switched off, or gone with its server stays on the list (a call of it is answered by
//!   the tools of its turn), and one that comes back changed keeps what the model has read of it.
//! - What is new comes after all that was published, in the order of its pool.
//! - Whether deferred tools are sent as such is settled with the first tool.
//! - Only [`ToolList::renew`] begins anew: where the cache is lost anyway, as after a compaction.
//!
//! Whoever sends the requests holds the list, beside the messages that follow it, and lets it
//! follow the tools of the session before each request. A session can't hold it: it sees calls and
//! no requests, so it knows neither when one is sent, nor when the messages are compacted, nor
//! whether the model that it goes to can load what is deferred.
//!
//! Fields and limits of a definition are those of the Messages API (platform docs, read with
//! 2.1.240).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::card::Card;
use crate::erased::AnyTool;
use crate::registry::Registry;
use crate::schema::for_strict;

/// Most tools in a request.
pub const MOST_TOOLS: usize = 10_000;
/// Characters that an outside tool's description may have (Claude Code docs 2.1.240).
pub const OUTSIDE_DESCRIPTION_CHARS: usize = 2_048;

/// The tool definitions of a session's requests. Serialises as the value of `tools`.
///
/// ```
/// use toolwright_contract::{Deferral, Registry, ToolList, tool};
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
/// let look = tool("Look", "Looks around.").read_only().run(async |_: Nothing, _| Ok("dark"));
/// let list = ToolList::new(&Registry::new([look])?, Deferral::Honoured);
/// let request = serde_json::json!({"model": "…", "messages": [], "tools": list});
/// assert_eq!(request["tools"][0]["name"], "Look");
/// # Ok::<(), toolwright_contract::Unregistrable>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolList {
    published: Vec<Published>,
    by_name: HashMap<String, usize>,
    deferral: Deferral,
}

/// Whether a model can load the tools that it isn't given at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deferral {
    /// It can: it has a tool that searches, and reads `tool_reference` blocks.
    Honoured,
    /// It can't, so it is given every tool at once.
    #[default]
    Off,
}

/// How the tools on offer differ from what is published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Published now, after all others.
    pub added: Vec<String>,
    /// Published and not on offer.
    pub missing: Vec<String>,
    /// On offer with another definition than was published.
    pub changed: Vec<String>,
    /// On offer and not published: the API would refuse the tool, or so many.
    pub unpublished: Vec<String>,
}

#[derive(Clone, Debug)]
struct Published {
    name: String,
    definition: Box<RawValue>,
    deferred: bool,
}

#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    input_schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    defer_loading: bool,
}

impl ToolList {
    /// Publishes the tools on offer at a session's start.
    #[must_use]
    pub fn new(tools: &Registry, deferral: Deferral) -> Self {
        let mut list = Self { published: Vec::new(), by_name: HashMap::new(), deferral };
        list.follow(tools);
        list
    }

    /// Publishes what is new on offer, after what was published, and says what is otherwise not as
    /// it was.
    pub fn follow(&mut self, tools: &Registry) -> Drift {
        self.settle(tools);
        let mut drift = Drift::default();
        let mut offered = HashSet::new();
        for tool in tools.iter() {
            let card = tool.card();
            offered.insert(&*card.name);
            let known = self.by_name.get(&*card.name).copied();
            let publishes = known.is_some() || self.published.len() < MOST_TOOLS;
            let definition = if publishes { self.define(tool) } else { None };
            match (known.map(|it| &self.published[it]), definition) {
                (Some(known), Some(now)) if known.definition.get() == now.get() => {}
                (Some(_), _) => drift.changed.push(card.name.to_string()),
                (None, Some(definition)) => {
                    drift.added.push(card.name.to_string());
                    self.publish(card, definition);
                }
                (None, None) => drift.unpublished.push(card.name.to_string()),
            }
        }
        let gone = self.published.iter().filter(|it| !offered.contains(&*it.name));
        drift.missing = gone.map(|it| it.name.clone()).collect();
        drift
    }

    /// Begins anew with the tools on offer: the bytes may be others.
    pub fn renew(&mut self, tools: &Registry, deferral: Deferral) {
        *self = Self::new(tools, deferral);
    }

    /// The tools that the model must search for, for an announcement by name.
    pub fn deferred(&self) -> impl Iterator<Item = &str> {
        self.published.iter().filter(|it| it.deferred).map(|it| &*it.name)
    }

    /// The definition of each tool, in order, as it is sent.
    pub fn definitions(&self) -> impl Iterator<Item = &RawValue> {
        self.published.iter().map(|it| &*it.definition)
    }

    /// The API refuses a request in which every tool is deferred.
    fn settle(&mut self, tools: &Registry) {
        let is_first = self.published.is_empty() && tools.iter().next().is_some();
        if is_first && tools.iter().all(|it| it.card().is_deferred()) {
            self.deferral = Deferral::Off;
        }
    }

    fn defers(&self, card: &Card) -> bool {
        self.deferral == Deferral::Honoured && card.is_deferred()
    }

    fn define(&self, tool: &AnyTool) -> Option<Box<RawValue>> {
        let card = tool.card();
        tool.check().ok()?;
        let schema = tool.schema().ok()?;
        let input_schema = match card.strict {
            true => Cow::Owned(for_strict(schema).ok()?),
            false => Cow::Borrowed(schema),
        };
        let definition = Definition {
            name: &card.name,
            description: description(tool),
            input_schema,
            strict: card.strict,
            defer_loading: self.defers(card),
        };
        to_raw_value(&definition).ok()
    }

    fn publish(&mut self, card: &Card, definition: Box<RawValue>) {
        let name = card.name.to_string();
        self.by_name.insert(name.clone(), self.published.len());
        self.published.push(Published { name, definition, deferred: self.defers(card) });
    }
}

fn description(tool: &AnyTool) -> String {
    let (card, prompt) = (tool.card(), tool.prompt());
    let parts = [&*card.description, &*prompt];
    let whole = parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n");
    match whole.char_indices().nth(OUTSIDE_DESCRIPTION_CHARS) {
        Some((cut, _)) if card.origin.is_outside() => format!("{}…", &whole[..cut]),
        Some(_) | None => whole,
    }
}

impl Serialize for ToolList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.definitions())
    }
}
