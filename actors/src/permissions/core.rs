//! The pure part of the permission stage: from a policy and a call to a decision.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolwright_contract::{
    Card, Effects, Family, Origin, Permission, Screened, SessionContext, wording,
};
use toolwright_permissions::{
    Call, Case, Decision, HookWord, Links, NoLinks, Places, Reason, Subject, decide,
};

use super::Policy;
use crate::hooks::Wish;

/// What was found out about a call before it is decided.
pub(crate) struct Found {
    pub(crate) subject: Subject,
    places: Places,
    /// The edition of the session's standing that it was found under.
    pub(crate) edition: u64,
}

impl Found {
    /// Where the files that the call names lead.
    pub(crate) fn leads(&self) -> Vec<PathBuf> {
        match &self.subject {
            Subject::Files(files) => files.iter().map(|it| it.real.clone()).collect(),
            Subject::Tool
            | Subject::Command(_)
            | Subject::Address(_)
            | Subject::Named { .. }
            | Subject::Malformed(_) => Vec::new(),
        }
    }
}

/// What there is to find out about a call that only the file system knows.
pub(crate) struct Search {
    tool: String,
    family: Family,
    field: &'static str,
    input: Value,
    context: Arc<SessionContext>,
    home: Option<PathBuf>,
    edition: u64,
}

impl Search {
    /// Nothing if the call can be decided by its input alone.
    pub(crate) fn of(
        screened: &Screened,
        context: &Arc<SessionContext>,
        policy: &Policy,
        edition: u64,
    ) -> Option<Self> {
        let card = screened.tool().card();
        let family = card.family();
        match family {
            Family::Command | Family::ReadPath | Family::EditPath => {}
            Family::ForeignCommand
            | Family::Domain
            | Family::Skill
            | Family::Agent
            | Family::Server
            | Family::Plain => return None,
        }
        Some(Self {
            tool: card.name.to_string(),
            family,
            field: card.subject,
            input: screened.input().clone(),
            context: context.clone(),
            home: policy.home.clone(),
            edition,
        })
    }

    /// Finds it out. What `links` says may take as long as the file system does.
    pub(crate) fn done(self, links: &dyn Links) -> Found {
        let places = places(&self.context, self.home.as_deref(), links);
        let call = Call {
            tool: &self.tool,
            former: Vec::new(),
            server: None,
            input: &self.input,
            family: self.family,
            subject: Subject::Tool,
            is_free: false,
            needs_user: false,
        };
        let subject = call.about(self.family, self.field, &places, links).subject;
        Found { subject, places, edition: self.edition }
    }
}

/// Where a session works: the first of its directories is the one that it began in.
fn places(context: &SessionContext, home: Option<&Path>, links: &dyn Links) -> Places {
    let mut directories = context.allowed_directories().iter();
    let first = directories.next().map_or(Path::new(""), |it| it);
    let mut places = Places::new(first, home, links);
    for directory in directories {
        places.add(directory, links);
    }
    places.at(&context.cwd, links)
}

/// The server of a tool, where it has one.
pub(crate) fn server_of(card: &Card) -> Option<&str> {
    match &card.origin {
        Origin::Mcp { server, .. } => Some(server),
        Origin::BuiltIn | Origin::Lsp => None,
    }
}

/// What there is to decide.
pub(crate) struct Matter<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) screened: &'a Screened,
    /// What the tool itself says.
    pub(crate) own: Permission,
    pub(crate) wish: &'a Wish,
    pub(crate) found: Option<&'a Found>,
}

static NOWHERE: LazyLock<Places> = LazyLock::new(|| Places::new(Path::new(""), None, &NoLinks));

impl Matter<'_> {
    /// Decides. A rule for a former name of the tool counts like one for its name.
    pub(crate) fn decide(&self) -> Decision {
        let card = self.screened.tool().card();
        let mut call = Call {
            tool: &card.name,
            former: card.aliases.iter().map(|it| &**it).collect(),
            server: server_of(card),
            input: self.screened.input(),
            family: card.family(),
            subject: Subject::Tool,
            is_free: self.screened.safety().effects == Effects::ReadOnly,
            needs_user: self.screened.conduct().needs_user,
        };
        let places = self.found.map_or(&*NOWHERE, |it| &it.places);
        match self.found {
            Some(found) => call.subject = found.subject.clone(),
            None => call = call.about(card.family(), card.subject, places, &NoLinks),
        }
        let (rules, mode) = (&*self.policy.rules, self.policy.mode);
        let hook = &heard(self.wish, &self.own);
        decide(&Case { call: &call, rules, mode, places, hook, classifier: None })
    }
}

/// What hooks and the tool itself say, the stricter first.
fn heard(wish: &Wish, own: &Permission) -> HookWord {
    match (wish, own) {
        (_, Permission::Deny(why)) => HookWord::Deny(why.clone()),
        (Wish::Ask(why), _) | (_, Permission::Ask(why)) => HookWord::Ask(why.clone()),
        (Wish::Allow, _) | (_, Permission::Allow) => HookWord::Allow,
        (Wish::None, Permission::Unsaid) => HookWord::None,
    }
}

/// What a person reads of why a call is asked about.
pub(crate) fn question(tool: &str, reason: &Reason) -> String {
    if let Reason::Hook(why) = reason {
        return why.clone();
    }
    format!("{tool} needs a yes: {reason}.")
}

/// What the model reads of why a call was denied.
pub(crate) fn denial(tool: &str, reason: &Reason) -> String {
    if let Reason::Hook(why) = reason {
        return wording::reason(why, tool);
    }
    let denied = wording::denied(tool);
    if matches!(reason, Reason::Rule(_, None)) {
        return denied;
    }
    format!("{denied} The reason: {reason}.")
}

/// A yes to one input: to what a person saw, and to nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Consent {
    input: [u8; 32],
    /// Where its files led when it was asked about.
    leads: Option<Vec<PathBuf>>,
}

impl Consent {
    /// To an input whose files led there.
    pub(crate) fn to(input: &Value, found: Option<&Found>) -> Self {
        Self { input: digest(input), leads: found.map(Found::leads) }
    }

    /// To an input that a person wrote.
    pub(crate) fn to_written(input: &Value) -> Self {
        Self { input: digest(input), leads: None }
    }

    /// Whether it is a yes to this.
    pub(crate) fn covers(&self, input: &Value, found: Option<&Found>) -> bool {
        self.input == digest(input)
            && self.leads.as_ref().is_none_or(|it| Some(it) == found.map(Found::leads).as_ref())
    }
}

fn digest(input: &Value) -> [u8; 32] {
    // The same value has the same text.
    Sha256::digest(input.to_string()).into()
}
