//! Decisions and their reasons, as a person, a model and a program read them.

use std::fmt;

use crate::domain::{AddressDoubt, AddressProblem};
use crate::mode::Mode;
use crate::place::Flaw;
use crate::rule_set::RuleRef;

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it starts.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
}

/// Whether a call starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It starts.
    Allow,
    /// A person decides.
    Ask(Vec<Suggestion>),
    /// It doesn't.
    Deny,
}

impl Verdict {
    /// The word of settings and hooks.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask(_) => "ask",
            Self::Deny => "deny",
        }
    }

    /// The higher, the stricter.
    #[must_use]
    pub fn strictness(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask(_) => 1,
            Self::Deny => 2,
        }
    }
}

/// What a person can be offered, so that the same isn't asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suggestion {
    /// Allow rules, to be kept.
    Allow(Vec<String>),
    /// Another mode, for the session.
    Mode(Mode),
}

/// Why it was decided so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A rule is about the call, or about this part of it.
    Rule(RuleRef, Option<String>),
    /// Each part of a command is allowed: these are the reasons of the parts.
    Parts(Vec<Reason>),
    /// A rule can't be read, and it may be about the call.
    UnreadRule(RuleRef),
    /// A rule may be about what a part of the call does, which can't be told.
    PerhapsRule(RuleRef, String),
    /// A hook said so.
    Hook(String),
    /// Only a person can answer the call.
    NeedsUser,
    /// The mode lets it start.
    Mode(Mode),
    /// Nobody is asked in this mode, and this would have been.
    NotAsked(Box<Reason>),
    /// The command only reads, within the working directories.
    ReadOnly,
    /// What it touches lies in the working directories.
    InWorkingDirectories,
    /// This doesn't.
    OutsideWorkingDirectories(String),
    /// A tool whose calls need no permission.
    Free,
    /// A write to what makes something run later.
    Protected(String),
    /// The removal of what holds the system, the home or the session.
    Critical(String),
    /// What the command does isn't understood.
    NotUnderstood(String),
    /// A part runs with settings, or by a program, that no pattern vouches for.
    Unvouched(String),
    /// It isn't sure which file a path means.
    Path(Flaw, String),
    /// The address can't be fetched.
    NoAddress(AddressProblem),
    /// The address is asked about unless a rule names its host in full.
    DoubtfulAddress(AddressDoubt, String),
    /// The input isn't that of the tool.
    Malformed(String),
    /// Changes wait while a plan is made.
    Planning,
    /// A classifier judged the call.
    Classifier(String),
    /// No rule is about the call, or about this part of it.
    NoRule(Option<String>),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(rule, None) => write!(f, "{rule}"),
            Self::Rule(rule, Some(part)) => write!(f, "{rule}, about `{part}`"),
            Self::Parts(parts) => {
                f.write_str("each part is allowed: ")?;
                for (at, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if at == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
            Self::UnreadRule(rule) => write!(f, "{rule} can't be read, and may be about this"),
            Self::PerhapsRule(rule, what) => {
                write!(f, "{rule} may be about `{what}`, and whether it is can't be told")
            }
            Self::Hook(why) => write!(f, "a hook: {why}"),
            Self::NeedsUser => f.write_str("only a person can answer this call"),
            Self::Mode(mode) => write!(f, "the mode {mode}"),
            Self::NotAsked(reason) => {
                write!(f, "the mode {} asks nobody, and this needs a yes: {reason}", Mode::DontAsk)
            }
            Self::ReadOnly => f.write_str("it only reads, within the working directories"),
            Self::InWorkingDirectories => f.write_str("it stays in the working directories"),
            Self::OutsideWorkingDirectories(path) => {
                write!(f, "`{path}` is outside the working directories")
            }
            Self::Free => f.write_str("calls of this tool need no permission"),
            Self::Protected(path) => write!(f, "`{path}` is protected: it can make things run"),
            Self::Critical(what) => write!(f, "`{what}` would be removed, which no rule allows"),
            Self::NotUnderstood(why) => write!(f, "the command isn't understood: {why}"),
            Self::Unvouched(what) => write!(f, "`{what}` is allowed only by its exact command"),
            Self::Path(flaw, path) => write!(f, "`{}`: {flaw}", path.escape_default()),
            Self::NoAddress(problem) => write!(f, "{problem}"),
            Self::DoubtfulAddress(doubt, host) => write!(f, "`{host}`: {doubt}"),
            Self::Malformed(why) => write!(f, "the input isn't that of the tool: {why}"),
            Self::Planning => f.write_str("nothing is changed while a plan is made"),
            Self::Classifier(why) => write!(f, "the classifier: {why}"),
            Self::NoRule(None) => f.write_str("no rule allows it"),
            Self::NoRule(Some(part)) => write!(f, "no rule allows `{part}`"),
        }
    }
}

impl Decision {
    /// It starts.
    pub(crate) fn allow(reason: Reason) -> Self {
        Self { verdict: Verdict::Allow, reason }
    }

    /// It doesn't start.
    pub(crate) fn deny(reason: Reason) -> Self {
        Self { verdict: Verdict::Deny, reason }
    }
}

/// The steps that led to a decision, for those who ask how it came about.
#[derive(Debug, Default)]
pub(crate) struct Trail(Option<Vec<String>>);

impl Trail {
    pub(crate) fn kept() -> Self {
        Self(Some(Vec::new()))
    }

    /// Adds a step, whose words are made only if they are kept.
    pub(crate) fn note(&mut self, step: impl FnOnce() -> String) {
        if let Some(steps) = &mut self.0 {
            steps.push(step());
        }
    }

    pub(crate) fn steps(self) -> Vec<String> {
        self.0.unwrap_or_default()
    }
}
