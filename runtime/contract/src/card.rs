//! A tool's card: what is known of it before any input arrives.

use std::borrow::Cow;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::family::Family;
use crate::mcp::mcp_server_name;
use crate::mode::PermissionMode;

/// Static identity and limits of a tool. What isn't said has the careful default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The name that the model calls.
    pub name: Cow<'static, str>,
    /// Former names that are still answered.
    pub aliases: Vec<Cow<'static, str>>,
    /// What the model reads of it.
    pub description: Cow<'static, str>,
    /// A few words for a search among tools that aren't loaded, beyond the name's own.
    pub search_hint: Cow<'static, str>,
    /// Whether the model gets the definition at once.
    pub loading: Loading,
    /// Whether the API should hold the model to the schema (platform docs: `strict`).
    pub strict: bool,
    /// Where the tool comes from.
    pub origin: Origin,
    /// What its server says of it beyond the protocol (`_meta`), as it came.
    pub meta: Option<Arc<Value>>,
    /// The permission modes in which it is on offer. `None`: all of them.
    pub modes: Option<Cow<'static, [PermissionMode]>>,
    /// The input fields that tell calls apart, the most telling first: `command`, `file_path`.
    pub telling: Cow<'static, [&'static str]>,
    /// What a call is doing, before what tells it apart: `Reading` makes `Reading src/a.rs`. Empty:
    /// `Running` and the call.
    pub doing: Cow<'static, str>,
    /// What permission rules for it are about; see [`family`](Self::family).
    pub family: Family,
    /// The input field that says which command, file or address a call is about. Empty: none.
    pub subject: &'static str,
    /// How much of a result stays inline.
    pub result_limit: ResultLimit,
    /// How long a call may run before it is stopped, unless the session says otherwise.
    pub deadline: Option<Duration>,
    /// How many calls of the tool may run at once, in all sessions that share a runtime, unless
    /// that says otherwise.
    pub cap: Option<NonZeroU16>,
}

impl Card {
    /// A card with the default limits.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            name: name.into(),
            aliases: Vec::new(),
            description: description.into(),
            search_hint: Cow::Borrowed(""),
            loading: Loading::default(),
            strict: false,
            origin: Origin::default(),
            meta: None,
            modes: None,
            telling: Cow::Borrowed(&[]),
            doing: Cow::Borrowed(""),
            family: Family::default(),
            subject: "",
            result_limit: ResultLimit::default(),
            deadline: None,
            cap: None,
        }
    }

    /// Adds a former name.
    #[must_use]
    pub fn alias(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.aliases.push(name.into());
        self
    }

    /// Sets a few words for a search among tools that aren't loaded.
    #[must_use]
    pub fn search_hint(mut self, words: impl Into<Cow<'static, str>>) -> Self {
        self.search_hint = words.into();
        self
    }

    /// Sets whether the model gets the definition at once.
    #[must_use]
    pub fn loading(mut self, loading: Loading) -> Self {
        self.loading = loading;
        self
    }

    /// Asks the API to hold the model to the schema.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Sets where the tool comes from.
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Names the permission modes in which alone it is on offer, as a tool that ends a plan is
    /// where a plan is made.
    #[must_use]
    pub fn only_in(mut self, modes: &'static [PermissionMode]) -> Self {
        self.modes = Some(Cow::Borrowed(modes));
        self
    }

    /// Whether it is on offer in a permission mode.
    #[must_use]
    pub fn is_offered_in(&self, mode: PermissionMode) -> bool {
        self.modes.as_ref().is_none_or(|it| it.contains(&mode))
    }

    /// Its name, then its former ones.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(|it| &**it)
    }

    /// The names that a rule may have for it: its own, former ones, and its server's, `mcp__server`,
    /// which is every tool of that server (Claude Code docs 2.1.240).
    pub fn rule_names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let server = match &self.origin {
            Origin::Mcp { server, .. } => Some(mcp_server_name(server)),
            Origin::BuiltIn | Origin::Lsp => None,
        };
        self.names().map(Cow::Borrowed).chain(server.map(Cow::Owned))
    }

    /// Whether the model has to search for the tool before it can call it: outside tools, unless
    /// they say otherwise, and tools that ask for it (Claude Code docs 2.1.240, tool search).
    #[must_use]
    pub fn is_deferred(&self) -> bool {
        match self.loading {
            Loading::Usual => self.origin.is_outside(),
            Loading::Always => false,
            Loading::Deferred => true,
        }
    }

    /// Names the input fields that tell calls apart, the most telling first.
    #[must_use]
    pub fn telling(mut self, fields: &'static [&'static str]) -> Self {
        self.telling = Cow::Borrowed(fields);
        self
    }

    /// Says what a call is doing, for a line of status: `Reading`.
    #[must_use]
    pub fn doing(mut self, verb: impl Into<Cow<'static, str>>) -> Self {
        self.doing = verb.into();
        self
    }

    /// The text in an input that tells the call apart: that of the first telling field which is
    /// there, else the only text.
    #[must_use]
    pub fn telling_text<'a>(&self, input: &'a Value) -> Option<&'a str> {
        let fields = input.as_object()?;
        let named = self.telling.iter().find_map(|it| fields.get(*it)?.as_str());
        let mut texts = fields.values().filter_map(Value::as_str);
        named.or_else(|| texts.next().filter(|_| texts.next().is_none()))
    }

    /// Says what permission rules for it are about, and which input field says it. Without this,
    /// rules name the tool alone.
    #[must_use]
    pub fn about(mut self, family: Family, field: &'static str) -> Self {
        (self.family, self.subject) = (family, field);
        self
    }

    /// What permission rules for it are about. Those for a server's tool are about the server,
    /// whatever the card says.
    #[must_use]
    pub fn family(&self) -> Family {
        match self.origin {
            Origin::Mcp { .. } => Family::Server,
            Origin::BuiltIn | Origin::Lsp => self.family,
        }
    }

    /// Sets how much of a result stays inline.
    #[must_use]
    pub fn result_limit(mut self, limit: ResultLimit) -> Self {
        self.result_limit = limit;
        self
    }

    /// Sets how long a call may run.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets how many calls of the tool may run at once.
    #[must_use]
    pub fn cap(mut self, cap: NonZeroU16) -> Self {
        self.cap = Some(cap);
        self
    }
}

/// Whether the model gets a tool's definition at once or has to search for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Loading {
    /// As is usual for its origin.
    #[default]
    Usual,
    /// At once, always.
    Always,
    /// Only once it is searched for.
    Deferred,
}

/// Where a tool comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// It is part of the program.
    #[default]
    BuiltIn,
    /// A server of the Model Context Protocol offers it.
    Mcp {
        /// The server's name.
        server: String,
        /// The tool's name there.
        tool: String,
    },
    /// It is part of the program, and a language server stands behind it.
    Lsp,
}

impl Origin {
    /// Whether it comes from outside the program.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        match self {
            Self::BuiltIn | Self::Lsp => false,
            Self::Mcp { .. } => true,
        }
    }
}

/// How much of a result the model gets inline; what is longer is kept in a file, with a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultLimit {
    /// At most so many characters.
    Chars(usize),
    /// All of it, always.
    Unlimited,
}

impl Default for ResultLimit {
    /// The threshold of most tools since Claude Code 2.1.51.
    fn default() -> Self {
        Self::Chars(50_000)
    }
}
