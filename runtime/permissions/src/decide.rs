//! The decision: hooks, deny, ask, mode, allow, in the documented order (Claude Code docs 2.1.240).
//!
//! 1. A hook's deny.
//! 2. Deny rules.
//! 3. What is asked in every mode: ask rules, critical removals, what isn't understood, a hook's
//!    ask, calls for a person.
//! 4. The mode that lets everything start.
//! 5. Protected paths.
//! 6. Allow rules, and what the mode lets start.
//! 7. A hook's allow.
//! 8. A classifier.
//! 9. A person, or nobody.

use toolwright_contract::Family;

use crate::call::{Call, Subject};
use crate::command::Facts;
use crate::decision::{Decision, Reason, Suggestion, Trail, Verdict};
use crate::guarded::is_protected;
use crate::mode::Mode;
use crate::names;
use crate::place::{Flaw, Places, Touched};
use crate::rule::List;
use crate::rule_set::{RuleIx, RuleSet, ToolName};
use crate::suggest::suggestions;

/// What hooks have said about a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HookWord {
    /// Nothing.
    #[default]
    None,
    /// It may start, unless rules say otherwise.
    Allow,
    /// A person should decide.
    Ask(String),
    /// It must not start.
    Deny(String),
}

/// Judges, in mode [`Auto`](Mode::Auto), what a person would be asked. An embedder supplies it.
pub trait Classifier {
    /// Whether a call may start, with the reason in words; nothing if it can't tell, which asks.
    fn judge(&self, call: &Call<'_>, reason: &Reason) -> Option<(bool, String)>;
}

/// All that a decision depends on.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The call.
    pub call: &'a Call<'a>,
    /// The rules.
    pub rules: &'a RuleSet,
    /// The mode.
    pub mode: Mode,
    /// Where the session works.
    pub places: &'a Places,
    /// What hooks have said.
    pub hook: &'a HookWord,
    /// Who judges in mode auto.
    pub classifier: Option<&'a dyn Classifier>,
}

/// Decides.
#[must_use]
pub fn decide(case: &Case<'_>) -> Decision {
    decision(case, &mut Trail::default())
}

/// Decides, and tells each step that led to the decision.
#[must_use]
pub fn explain(case: &Case<'_>) -> (Decision, Vec<String>) {
    let mut trail = Trail::kept();
    let decision = decision(case, &mut trail);
    trail.note(|| format!("{}: {}", decision.verdict.name(), decision.reason));
    (decision, trail.steps())
}

fn decision(case: &Case<'_>, trail: &mut Trail) -> Decision {
    if let HookWord::Deny(why) = case.hook {
        return Decision::deny(Reason::Hook(why.clone()));
    }
    let facts = match &case.call.subject {
        Subject::Command(facts) => Some(&**facts),
        Subject::Tool
        | Subject::Files(_)
        | Subject::Address(_)
        | Subject::Named { .. }
        | Subject::Malformed(_) => None,
    };
    if let Some(reason) = denied(case, facts) {
        return Decision::deny(reason);
    }
    trail.note(|| "no deny rule is about it".to_owned());
    if let Some(reason) = asked_in_every_mode(case, facts) {
        return asked(case, reason, facts);
    }
    trail.note(|| "nothing has it asked in every mode".to_owned());
    if case.mode == Mode::BypassPermissions {
        return Decision::allow(Reason::Mode(case.mode));
    }
    if let Some(path) = protected(case, facts) {
        return asked(case, Reason::Protected(path), facts);
    }
    trail.note(|| "no protected path is written".to_owned());
    let doubt = match allowance(case, facts, trail) {
        Ok(reason) => return Decision::allow(reason),
        Err(reason) => reason,
    };
    trail.note(|| format!("neither a rule nor the mode {} allows it: {doubt}", case.mode));
    if *case.hook == HookWord::Allow {
        return Decision::allow(Reason::Hook("allows it".to_owned()));
    }
    if case.mode == Mode::Auto
        && let Some((allows, why)) = case.classifier.and_then(|it| it.judge(case.call, &doubt))
    {
        let reason = Reason::Classifier(why);
        return if allows { Decision::allow(reason) } else { Decision::deny(reason) };
    }
    asked(case, doubt, facts)
}

fn asked(case: &Case<'_>, reason: Reason, facts: Option<&Facts>) -> Decision {
    if case.mode == Mode::DontAsk {
        return Decision::deny(Reason::NotAsked(Box::new(reason)));
    }
    let offered = suggestions(case, &reason, facts);
    Decision { verdict: Verdict::Ask(offered), reason }
}

impl Case<'_> {
    pub(crate) fn told(&self, rule: RuleIx) -> Reason {
        Reason::Rule(self.rules.rule(rule), None)
    }

    /// The names that deny and ask rules may use: also that of the family.
    fn strict_names(&self) -> impl Iterator<Item = &str> {
        let family = names::rule_name(self.call.family);
        self.call.names().chain(family)
    }

    fn whole_tool(&self, list: List, name: &str) -> Option<RuleIx> {
        self.rules.whole_tool(list, ToolName { name, server: self.call.server })
    }
}

/// The rule of a list that stops a call, or has it asked.
fn strict_rule(case: &Case<'_>, list: List) -> Option<Reason> {
    let whole = case.strict_names().find_map(|name| case.whole_tool(list, name));
    let server = case.call.server;
    let parameter = || {
        let name = |name| ToolName { name, server };
        case.call.names().find_map(|it| case.rules.parameter(list, name(it), case.call.input))
    };
    let found = whole.or_else(parameter).or_else(|| match &case.call.subject {
        Subject::Files(files) => files.iter().find_map(|it| file_rule(case, list, it)),
        Subject::Address(Ok(address)) => case.rules.host(list, &address.host),
        Subject::Named { name, bare } => {
            case.call.names().find_map(|it| case.rules.named(list, it, name, *bare))
        }
        Subject::Tool | Subject::Command(_) | Subject::Address(Err(_)) | Subject::Malformed(_) => {
            None
        }
    });
    found.map(|it| case.told(it))
}

/// What may not be read may not be replaced unread either.
fn file_rule(case: &Case<'_>, list: List, it: &Touched) -> Option<RuleIx> {
    let read = || case.rules.read(list, it, case.places);
    match case.call.family {
        Family::EditPath => {
            let heeds = list == List::Deny && names::heeds_read_deny(case.call.tool);
            case.rules.edit(list, it, case.places).or_else(|| heeds.then(read).flatten())
        }
        Family::ReadPath
        | Family::Command
        | Family::ForeignCommand
        | Family::Domain
        | Family::Skill
        | Family::Agent
        | Family::Server
        | Family::Plain => read(),
    }
}

fn denied(case: &Case<'_>, facts: Option<&Facts>) -> Option<Reason> {
    if let Some(reason) = strict_rule(case, List::Deny) {
        return Some(reason);
    }
    if let Some(path) = fenced(case) {
        return Some(Reason::OutsideWorkingDirectories(path));
    }
    if let Subject::Address(Err(problem)) = &case.call.subject {
        return Some(Reason::NoAddress(problem.clone()));
    }
    facts.and_then(|it| it.denied(case))
}

/// A file outside that settings keep every call away from.
fn fenced(case: &Case<'_>) -> Option<String> {
    let fences = case.rules.fences;
    let is_kept = match case.call.family {
        Family::EditPath => fences.blocks_writes,
        Family::ReadPath => fences.blocks_reads,
        Family::Command
        | Family::ForeignCommand
        | Family::Domain
        | Family::Skill
        | Family::Agent
        | Family::Server
        | Family::Plain => false,
    };
    let Subject::Files(files) = &case.call.subject else { return None };
    let outside = files.iter().find(|it| !case.places.contain(it));
    outside.filter(|_| is_kept).map(|it| it.given.clone())
}

fn asked_in_every_mode(case: &Case<'_>, facts: Option<&Facts>) -> Option<Reason> {
    if let Some(reason) = strict_rule(case, List::Ask) {
        return Some(reason);
    }
    if let Some(reason) = facts.and_then(|it| it.asked(case)) {
        return Some(reason);
    }
    if let HookWord::Ask(why) = case.hook {
        return Some(Reason::Hook(why.clone()));
    }
    if case.call.needs_user {
        return Some(Reason::NeedsUser);
    }
    let unread = case.strict_names().find_map(|name| {
        let of = |list| case.rules.unread(list, name);
        of(List::Deny).or_else(|| of(List::Ask))
    });
    if let Some(rule) = unread {
        return Some(Reason::UnreadRule(case.rules.rule(rule)));
    }
    match &case.call.subject {
        Subject::Malformed(why) => Some(Reason::Malformed(why.clone())),
        Subject::Files(files) => files.iter().find_map(|it| match it.flaw? {
            // Other names than these may be meant; the rest is what the mode makes of it.
            flaw @ (Flaw::Nul | Flaw::Control | Flaw::Share | Flaw::Relative) => {
                Some(Reason::Path(flaw, it.given.clone()))
            }
            Flaw::Empty | Flaw::Folder | Flaw::Process | Flaw::OtherNames => None,
        }),
        Subject::Tool | Subject::Command(_) | Subject::Address(_) | Subject::Named { .. } => None,
    }
}

fn protected(case: &Case<'_>, facts: Option<&Facts>) -> Option<String> {
    if let Some(facts) = facts {
        return facts.protected();
    }
    let (Subject::Files(files), Family::EditPath) = (&case.call.subject, case.call.family) else {
        return None;
    };
    let found = files.iter().find(|it| is_protected(&it.path) || is_protected(&it.real));
    found.map(|it| it.given.clone())
}

/// Why a call may start unasked, or why not.
fn allowance(case: &Case<'_>, facts: Option<&Facts>, trail: &mut Trail) -> Result<Reason, Reason> {
    if let Some(facts) = facts {
        return facts.allowance(case, trail);
    }
    if case.mode == Mode::Plan && case.call.family == Family::EditPath {
        return Err(Reason::Planning);
    }
    let flaw = match &case.call.subject {
        Subject::Files(files) => files.iter().find_map(|it| Some((it.flaw?, it))),
        Subject::Tool
        | Subject::Command(_)
        | Subject::Address(_)
        | Subject::Named { .. }
        | Subject::Malformed(_) => None,
    };
    if let Some((flaw, it)) = flaw {
        return Err(Reason::Path(flaw, it.given.clone()));
    }
    match &case.call.subject {
        Subject::Files(files) => files_allowed(case, files),
        Subject::Address(Ok(address)) => {
            let exact = case.rules.exact_host(List::Allow, &address.host);
            match (exact, address.doubt) {
                (Some(rule), None) => Ok(case.told(rule)),
                (Some(rule), Some(crate::AddressDoubt::Private)) => Ok(case.told(rule)),
                (_, Some(doubt)) => Err(Reason::DoubtfulAddress(doubt, address.host.clone())),
                (None, None) => {
                    let rule = case.rules.host(List::Allow, &address.host);
                    rule.map_or_else(|| tool_allowed(case), |it| Ok(case.told(it)))
                }
            }
        }
        Subject::Named { name, bare } => {
            let rule = case.rules.named(List::Allow, case.call.tool, name, *bare);
            rule.map_or_else(|| tool_allowed(case), |it| Ok(case.told(it)))
        }
        Subject::Tool | Subject::Command(_) | Subject::Address(Err(_)) | Subject::Malformed(_) => {
            tool_allowed(case)
        }
    }
}

/// By a rule about the tool as a whole, or because it needs none.
pub(crate) fn tool_allowed(case: &Case<'_>) -> Result<Reason, Reason> {
    if let Some(reason) = whole_tool_allowed(case) {
        return Ok(reason);
    }
    match case.call.family {
        Family::Plain | Family::Agent if case.call.is_free => Ok(Reason::Free),
        Family::Plain
        | Family::Agent
        | Family::Command
        | Family::ForeignCommand
        | Family::ReadPath
        | Family::EditPath
        | Family::Domain
        | Family::Skill
        | Family::Server => Err(Reason::NoRule(None)),
    }
}

/// In mode auto, rules that let a model run what it likes are set aside.
pub(crate) fn whole_tool_allowed(case: &Case<'_>) -> Option<Reason> {
    let is_broad =
        matches!(case.call.family, Family::Command | Family::ForeignCommand | Family::Agent);
    if case.mode == Mode::Auto && is_broad {
        return None;
    }
    case.call.names().find_map(|name| case.whole_tool(List::Allow, name)).map(|it| case.told(it))
}

fn files_allowed(case: &Case<'_>, files: &[Touched]) -> Result<Reason, Reason> {
    if let Some(reason) = whole_tool_allowed(case) {
        return Ok(reason);
    }
    let mut reason = None;
    for it in files {
        let one = match case.call.family {
            Family::EditPath => edit_allowed(case, it)?,
            Family::ReadPath
            | Family::Command
            | Family::ForeignCommand
            | Family::Domain
            | Family::Skill
            | Family::Agent
            | Family::Server
            | Family::Plain => read_allowed(case, it)?,
        };
        reason.get_or_insert(one);
    }
    reason.ok_or(Reason::NoRule(None))
}

/// Whether a file may be read unasked. Who may change a file may read it.
pub(crate) fn read_allowed(case: &Case<'_>, it: &Touched) -> Result<Reason, Reason> {
    let rule = case.rules.read(List::Allow, it, case.places);
    let rule = rule.or_else(|| case.rules.edit(List::Allow, it, case.places));
    if let Some(rule) = rule {
        return Ok(case.told(rule));
    }
    if case.places.contain(it) {
        return Ok(Reason::InWorkingDirectories);
    }
    Err(Reason::OutsideWorkingDirectories(it.given.clone()))
}

/// Whether a file may be changed unasked.
pub(crate) fn edit_allowed(case: &Case<'_>, it: &Touched) -> Result<Reason, Reason> {
    if let Some(flaw) = it.flaw {
        return Err(Reason::Path(flaw, it.given.clone()));
    }
    if let Some(rule) = case.rules.edit(List::Allow, it, case.places) {
        return Ok(case.told(rule));
    }
    if !case.places.contain(it) {
        return Err(Reason::OutsideWorkingDirectories(it.given.clone()));
    }
    if case.mode == Mode::AcceptEdits {
        return Ok(Reason::Mode(case.mode));
    }
    Err(Reason::NoRule(None))
}

/// Suggestions that spare the same question.
impl Decision {
    /// What a person can be offered.
    #[must_use]
    pub fn suggestions(&self) -> &[Suggestion] {
        match &self.verdict {
            Verdict::Ask(suggestions) => suggestions,
            Verdict::Allow | Verdict::Deny => &[],
        }
    }
}
