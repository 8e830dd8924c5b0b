//! Rules that do nothing: shadowed by a stricter one, covered by another, or unable to match.

use std::fmt;

use toolwright_contract::Family;

use crate::command_pattern::CommandPattern;
use crate::names;
use crate::rule::{List, Rule, Specifier, ToolPattern};
use crate::rule_set::Entry;
use crate::wildcard::fits;

/// An entry that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The entry.
    pub entry: Entry,
    /// Why.
    pub why: Idle,
}

/// Why an entry changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Idle {
    /// A stricter list stops all that it is about.
    #[error("it never decides: `{rule}` in {list} comes first", list = .0.list.name(), rule = .0.text)]
    Shadowed(Entry),
    /// The same list says the same already.
    #[error("it adds nothing to `{}` of the same list; remove one", .0.text)]
    Covered(Entry),
    /// A command is matched part by part.
    #[error("it matches nothing: each part between `{0}` is matched alone; write a rule for each")]
    Compound(&'static str),
    /// Wrappers are taken away before a command is matched.
    #[error("it covers less than it seems: `{0}` is taken away before matching; leave it out")]
    Wrapper(String),
    /// A program that runs any other needs its exact command.
    #[error("it matches nothing: `{0}` runs other programs, so a rule must be its exact command")]
    Runner(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { list, text, source } = &self.entry;
        write!(f, "{source}: permissions.{}: `{text}`: {}", list.name(), self.why)
    }
}

/// Wrappers that are stripped (Claude Code docs 2.1.240).
const STRIPPED: [&str; 8] =
    ["timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "noglob"];
/// Programs that a prefix rule never covers (the same).
const RUNNERS: [&str; 9] =
    ["watch", "setsid", "ionice", "flock", "env", "sudo", "doas", "eval", "exec"];

/// Looks for entries that change nothing.
#[must_use]
pub fn lint(entries: &[Entry]) -> Vec<Finding> {
    let read = entries.iter().filter_map(|it| Some((it, Rule::parse(&it.text, it.list).ok()?)));
    let rules: Vec<(&Entry, Rule)> = read.collect();
    let mut findings = Vec::new();
    for (at, (entry, rule)) in rules.iter().enumerate() {
        let others = rules.iter().enumerate().filter(|(other, _)| *other != at);
        let covering = others.filter(|(other, it)| {
            let is_same = covers(rule, &it.1) && it.0.list == entry.list;
            // Of two that say the same, the later one is idle.
            it.0.list <= entry.list && covers(&it.1, rule) && !(is_same && *other > at)
        });
        let stricter = covering.map(|(_, it)| it.0).min_by_key(|it| it.list);
        let why = match stricter {
            Some(it) if it.list < entry.list => Some(Idle::Shadowed(it.clone())),
            Some(it) => Some(Idle::Covered(it.clone())),
            None => idle(rule, entry.list),
        };
        findings.extend(why.map(|why| Finding { entry: (*entry).clone(), why }));
    }
    findings
}

/// Whether all that one rule is about, another is about too. Sufficient, not necessary: a pattern
/// that matches the text of another, its stars included, matches what that matches.
fn covers(wide: &Rule, narrow: &Rule) -> bool {
    let tools = match (&wide.tool, &narrow.tool) {
        (ToolPattern::Glob(wide), ToolPattern::Name(it)) => wide.fits(it),
        (ToolPattern::Glob(wide), ToolPattern::Glob(it)) => wide.fits(it.text()),
        (ToolPattern::Glob(wide), ToolPattern::Server(it)) => {
            wide.fits(&format!("{}{it}{}*", names::SERVER_PREFIX, names::SERVER_SEPARATOR))
        }
        (ToolPattern::Server(wide), ToolPattern::Name(it)) => {
            fits(&format!("{}{wide}{}*", names::SERVER_PREFIX, names::SERVER_SEPARATOR), it)
        }
        (wide, narrow) => wide == narrow,
    };
    tools
        && match (&wide.specifier, &narrow.specifier) {
            (Specifier::Any, _) => true,
            (Specifier::Command(wide), Specifier::Command(it)) => wide.covers(it),
            (Specifier::Path(wide), Specifier::Path(it)) => wide == it,
            (Specifier::Host(wide), Specifier::Host(it)) => wide == it,
            (Specifier::Named(wide), Specifier::Named(it)) => wide == it,
            (Specifier::Parameter(wide), Specifier::Parameter(it)) => wide == it,
            _ => false,
        }
}

fn idle(rule: &Rule, list: List) -> Option<Idle> {
    let ToolPattern::Name(name) = &rule.tool else { return None };
    let Specifier::Command(pattern) = &rule.specifier else { return None };
    if names::family_of(name) != Family::Command {
        return None;
    }
    if let Some(operator) = pattern.operator() {
        return Some(Idle::Compound(operator));
    }
    let program = pattern.program()?;
    if STRIPPED.contains(&program) && !pattern.is_exact() {
        return Some(Idle::Wrapper(program.to_owned()));
    }
    let is_runner = list == List::Allow && RUNNERS.contains(&program) && !pattern.is_exact();
    is_runner.then(|| Idle::Runner(program.to_owned()))
}

impl CommandPattern {
    /// The operator that stands in it outside quotes.
    fn operator(&self) -> Option<&'static str> {
        let words: Vec<&str> = self.head().split(' ').filter(|it| !it.starts_with('\'')).collect();
        ["&&", "||", ";", "|", "&"].into_iter().find(|operator| {
            words.iter().any(|it| it == operator || (it.ends_with(';') && *operator == ";"))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::source::{Scope, Source};

    fn found(lists: [&[&str]; 3]) -> Vec<String> {
        let source = Arc::new(Source::new(Scope::User, "/u/ann/.claude"));
        let names = [List::Deny, List::Ask, List::Allow];
        let entries = names.into_iter().zip(lists).flat_map(|(list, texts)| {
            let source = source.clone();
            texts.iter().map(move |it| Entry {
                list,
                text: (*it).to_owned(),
                source: source.clone(),
            })
        });
        lint(&entries.collect::<Vec<_>>()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rules_that_change_nothing_are_told_with_the_reason() {
        insta::assert_snapshot!(found([
            &["Bash(rm *)", "mcp__*", "Read(.env)"],
            &["WebFetch"],
            &[
                "Bash(rm -rf build)", "Bash(git *)", "Bash(git push *)", "Bash(npm test && npm run x)",
                "Bash(timeout 5 npm *)", "Bash(sudo *)", "mcp__a__b", "WebFetch(domain:x.test)",
                "Read(.env)", "Bash(git *)",
            ],
        ]).join("\n"), @r"
        user settings: permissions.allow: `Bash(rm -rf build)`: it never decides: `Bash(rm *)` in deny comes first
        user settings: permissions.allow: `Bash(git push *)`: it adds nothing to `Bash(git *)` of the same list; remove one
        user settings: permissions.allow: `Bash(npm test && npm run x)`: it matches nothing: each part between `&&` is matched alone; write a rule for each
        user settings: permissions.allow: `Bash(timeout 5 npm *)`: it covers less than it seems: `timeout` is taken away before matching; leave it out
        user settings: permissions.allow: `Bash(sudo *)`: it matches nothing: `sudo` runs other programs, so a rule must be its exact command
        user settings: permissions.allow: `mcp__a__b`: it never decides: `mcp__*` in deny comes first
        user settings: permissions.allow: `WebFetch(domain:x.test)`: it never decides: `WebFetch` in ask comes first
        user settings: permissions.allow: `Read(.env)`: it never decides: `Read(.env)` in deny comes first
        user settings: permissions.allow: `Bash(git *)`: it adds nothing to `Bash(git *)` of the same list; remove one
        ");
    }

    #[test]
    fn rules_that_matter_are_not_told() {
        let none: Vec<String> = Vec::new();
        assert_eq!(found([&["Bash(git push *)"], &[], &["Bash(git *)", "Bash(sudo ls)"]]), none);
    }
}
