//! What a session may do: compiled rules and a mode, or plain lists that become them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_contract::Card;
use toolwright_permissions::{Entry, List, Mode, NoLinks, RuleSet, Scope, Source, Trust};

use super::links::RealLinks;

/// What decides about the calls of a session.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The rules.
    pub rules: Arc<RuleSet>,
    /// What starts without a question where no rule decides.
    pub mode: Mode,
    /// Whether what would be asked is denied (`denyInsteadOfPrompting`).
    pub denies_instead_of_prompting: bool,
    /// The user's home, which `~` in rules and calls stands for. Without one it stands for nothing.
    pub home: Option<PathBuf>,
}

impl Policy {
    /// Whether a rule denies every call of the tool: a model need not be told of it.
    #[must_use]
    pub fn removes(&self, card: &Card) -> bool {
        let server = super::core::server_of(card);
        card.names().any(|it| self.rules.denies_tool(it, server))
    }
}

/// Rules as plain texts (`Name`, `Name(specifier)`), for those who have no settings. They mean what
/// they mean there: a deny beats an ask, an ask beats an allow, whatever the order. `/path` in one
/// starts at the session's directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Never start these.
    pub deny: Names,
    /// Ask before these.
    pub ask: Names,
    /// Start these without a question.
    pub allow: Names,
    /// What becomes of calls that no rule names and that may change something.
    pub otherwise: Otherwise,
}

/// A list of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(Vec<String>);

/// What becomes of a call that may change something and that no rule names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// A person is asked (mode default).
    #[default]
    Ask,
    /// It starts (mode bypassPermissions).
    Allow,
    /// It is denied (mode dontAsk).
    Deny,
}

impl Names {
    /// These rules.
    pub fn new<S: Into<String>>(rules: impl IntoIterator<Item = S>) -> Self {
        Self(rules.into_iter().map(Into::into).collect())
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Names {
    fn from(names: [S; N]) -> Self {
        Self::new(names)
    }
}

impl Rules {
    /// Rules that start everything: for sandboxes, benchmarks and replays. What no mode lets start
    /// is asked about all the same.
    #[must_use]
    pub fn allow_everything() -> Self {
        Self { otherwise: Otherwise::Allow, ..Self::default() }
    }

    /// Whether a rule denies every call of the tool: a model need not be told of it.
    #[must_use]
    pub fn removes(&self, card: &Card) -> bool {
        let deny = Self { deny: self.deny.clone(), ..Self::default() };
        let (rules, _) = RuleSet::compile(deny.entries(Path::new("")), Trust::Trusted, &NoLinks);
        Policy { rules: Arc::new(rules), ..Policy::default() }.removes(card)
    }

    fn entries(&self, root: &Path) -> Vec<Entry> {
        let source = Arc::new(Source::new(Scope::Session, root));
        let lists = [(List::Deny, &self.deny), (List::Ask, &self.ask), (List::Allow, &self.allow)];
        let entries = lists.into_iter().flat_map(|(list, names)| {
            let source = &source;
            names.0.iter().map(move |it| Entry { list, text: it.clone(), source: source.clone() })
        });
        entries.collect()
    }

    /// The policy that they come to in a session that starts at `root`. Rules about paths look at
    /// the links on their way.
    #[must_use]
    pub fn compiled(&self, root: &Path) -> Policy {
        let (rules, warnings) = RuleSet::compile(self.entries(root), Trust::Trusted, &RealLinks);
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        let mode = match self.otherwise {
            Otherwise::Ask => Mode::Default,
            Otherwise::Allow => Mode::BypassPermissions,
            Otherwise::Deny => Mode::DontAsk,
        };
        Policy { rules: Arc::new(rules), mode, ..Policy::default() }
    }
}

/// Plain rules or a policy: what a session can be given.
#[derive(Clone, Debug)]
pub enum Given {
    /// Plain lists, compiled once the session's directory is known.
    Rules(Rules),
    /// A policy.
    Policy(Policy),
}

impl Given {
    pub(crate) fn compiled(self, root: &Path) -> Policy {
        match self {
            Self::Rules(rules) => rules.compiled(root),
            Self::Policy(policy) => policy,
        }
    }
}

impl From<Rules> for Given {
    fn from(rules: Rules) -> Self {
        Self::Rules(rules)
    }
}

impl From<Policy> for Given {
    fn from(policy: Policy) -> Self {
        Self::Policy(policy)
    }
}
