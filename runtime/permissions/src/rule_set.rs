//! Compiled rules: an immutable set that is asked which rule is about a call.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use toolwright_contract::Family;

use crate::command_pattern::CommandPattern;
use crate::domain::HostPattern;
use crate::names;
use crate::path_index::PathIndex;
use crate::place::{Links, Places, Touched};
use crate::rule::{self, List, NamedPattern, Parameter, Rule, RuleProblem, Specifier, ToolPattern};
use crate::source::{Scope, Source};
use crate::wildcard::Wildcard;

/// An entry of a list, as it stands in settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The list.
    pub list: List,
    /// The text.
    pub text: String,
    /// Where it stands.
    pub source: Arc<Source>,
}

/// Whether the user has said that a project's own settings may allow things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Not, so that what the project allows doesn't count; what it denies does.
    #[default]
    Untrusted,
    /// Yes.
    Trusted,
}

/// What should be told of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The entry.
    pub entry: Entry,
    /// What is wrong with it.
    pub problem: EntryProblem,
}

/// What is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryProblem {
    /// It is skipped.
    #[error("skipped: {0}")]
    Skipped(RuleProblem),
    /// It can't be read, so every call of its tools is asked about.
    #[error("not understood, so every call of its tool is asked about: {0}")]
    Guards(RuleProblem),
    /// No tool has this name.
    #[error("no tool is called `{0}`; check the spelling")]
    UnknownTool(String),
    /// The folder isn't trusted.
    #[error("skipped: this workspace has not been trusted; trust it, or allow it in your settings")]
    Untrusted,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { list, text, source } = &self.entry;
        write!(f, "{source}: permissions.{}: `{text}`: {}", list.name(), self.problem)
    }
}

/// A rule of a set, for those who are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRef(Entry);

impl RuleRef {
    /// The entry.
    #[must_use]
    pub fn entry(&self) -> &Entry {
        &self.0
    }
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} rule `{}` of {}", self.0.list.name(), self.0.text, self.0.source)
    }
}

/// The number of a rule in its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RuleIx(pub(crate) usize);

/// Rules, compiled. Asking it takes no lock, and the order of its entries means nothing.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    entries: Vec<Entry>,
    deny: Index,
    ask: Index,
    allow: Index,
    /// What no allow rule lifts.
    pub fences: Fences,
}

/// Limits around the working directories, whatever rules allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fences {
    /// Reads outside are denied (`blockReadsOutsideWorkingDirectories`).
    pub blocks_reads: bool,
    /// Writes outside are denied (`blockWritesOutsideWorkingDirectories`).
    pub blocks_writes: bool,
}

#[derive(Clone, Debug, Default)]
struct Index {
    tools: HashMap<String, RuleIx>,
    globs: Vec<(Wildcard, RuleIx)>,
    servers: HashMap<String, RuleIx>,
    parameters: Vec<(ToolPattern, Parameter, RuleIx)>,
    commands: CommandIndex,
    foreign: CommandIndex,
    reads: PathIndex,
    edits: PathIndex,
    hosts: Vec<(HostPattern, RuleIx)>,
    exact_hosts: HashMap<String, RuleIx>,
    named: Vec<(String, NamedPattern, RuleIx)>,
    /// Tools of entries that could not be read.
    unread: Vec<(Wildcard, RuleIx)>,
}

/// Patterns of commands by the program that they name.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandIndex {
    by_program: HashMap<String, Vec<(CommandPattern, RuleIx)>>,
    of_any: Vec<(CommandPattern, RuleIx)>,
}

impl CommandIndex {
    fn add(&mut self, pattern: CommandPattern, rule: RuleIx) {
        match pattern.program() {
            Some(program) => {
                self.by_program.entry(program.to_owned()).or_default().push((pattern, rule));
            }
            None => self.of_any.push((pattern, rule)),
        }
    }

    /// The patterns that may fit a command.
    pub(crate) fn about(&self, command: &str) -> impl Iterator<Item = &(CommandPattern, RuleIx)> {
        let program = command.split(' ').next().unwrap_or_default();
        self.by_program.get(program).into_iter().flatten().chain(&self.of_any)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_program.is_empty() && self.of_any.is_empty()
    }
}

impl RuleSet {
    /// Compiles entries. What is wrong with them is told, and never makes the set looser.
    pub fn compile(
        entries: impl IntoIterator<Item = Entry>,
        trust: Trust,
        links: &dyn Links,
    ) -> (Self, Vec<Warning>) {
        let mut entries: Vec<Entry> = entries.into_iter().collect();
        entries.sort_by(|a, b| order(a).cmp(&order(b)));
        entries.dedup();
        let (mut set, mut warnings) = (Self::default(), Vec::new());
        for entry in &entries {
            if let Some(problem) = set.add(entry, trust) {
                warnings.push(Warning { entry: entry.clone(), problem });
            }
        }
        for index in [&mut set.deny, &mut set.ask, &mut set.allow] {
            index.reads.build(links);
            index.edits.build(links);
        }
        (set, warnings)
    }

    fn add(&mut self, entry: &Entry, trust: Trust) -> Option<EntryProblem> {
        let is_projects = entry.source.scope == Scope::Project;
        if entry.list == List::Allow && is_projects && trust == Trust::Untrusted {
            return Some(EntryProblem::Untrusted);
        }
        let ix = RuleIx(self.entries.len());
        let index = match entry.list {
            List::Deny => &mut self.deny,
            List::Ask => &mut self.ask,
            List::Allow => &mut self.allow,
        };
        let problem = match Rule::parse(&entry.text, entry.list) {
            Ok(rule) => {
                let unknown = unknown_tool(&rule, entry.list);
                index.add(rule, ix, entry);
                unknown
            }
            Err(problem) => {
                let name = rule::name_in(&entry.text).filter(|_| entry.list != List::Allow);
                let Some(name) = name.filter(|_| !problem.is_documented()) else {
                    return Some(EntryProblem::Skipped(problem));
                };
                index.unread.push((Wildcard::new(names::canonical(name)), ix));
                Some(EntryProblem::Guards(problem))
            }
        };
        self.entries.push(entry.clone());
        problem
    }

    /// What is known of a rule.
    pub(crate) fn rule(&self, ix: RuleIx) -> RuleRef {
        RuleRef(self.entries[ix.0].clone())
    }

    /// The entries that count.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Whether a rule denies every call of a tool, whatever its input.
    #[must_use]
    pub fn denies_tool(&self, name: &str, server: Option<&str>) -> bool {
        self.whole_tool(List::Deny, ToolName { name, server }).is_some()
    }

    fn index(&self, list: List) -> &Index {
        match list {
            List::Deny => &self.deny,
            List::Ask => &self.ask,
            List::Allow => &self.allow,
        }
    }

    /// The rule that is about every call of a tool.
    pub(crate) fn whole_tool(&self, list: List, tool: ToolName<'_>) -> Option<RuleIx> {
        let index = self.index(list);
        let named = index.tools.get(tool.name).copied();
        let globbed = index.globs.iter().find(|(it, _)| it.fits(tool.name)).map(|it| it.1);
        let served = tool.servers(list).find_map(|it| index.servers.get(it).copied());
        [named, globbed, served].into_iter().flatten().min()
    }

    /// An entry for the tool that could not be read.
    pub(crate) fn unread(&self, list: List, tool: &str) -> Option<RuleIx> {
        self.index(list).unread.iter().find(|(it, _)| it.fits(tool)).map(|it| it.1)
    }

    /// The rule about a field of the input.
    pub(crate) fn parameter(
        &self,
        list: List,
        tool: ToolName<'_>,
        input: &Value,
    ) -> Option<RuleIx> {
        let rules = self.index(list).parameters.iter();
        rules.filter(|it| tool.fits(&it.0, list)).find(|it| it.1.fits(input)).map(|it| it.2)
    }

    /// The patterns of commands of a list.
    pub(crate) fn commands(&self, list: List, family: Family) -> &CommandIndex {
        match family {
            Family::ForeignCommand => &self.index(list).foreign,
            Family::Command
            | Family::ReadPath
            | Family::EditPath
            | Family::Domain
            | Family::Skill
            | Family::Agent
            | Family::Server
            | Family::Plain => &self.index(list).commands,
        }
    }

    /// The rule about a file that is read.
    pub(crate) fn read(&self, list: List, it: &Touched, places: &Places) -> Option<RuleIx> {
        self.index(list).reads.find(list, it, places)
    }

    /// The rule about a file that is changed.
    pub(crate) fn edit(&self, list: List, it: &Touched, places: &Places) -> Option<RuleIx> {
        self.index(list).edits.find(list, it, places)
    }

    /// A rule that may be about something below a directory.
    pub(crate) fn below(&self, list: List, directory: &Path, places: &Places) -> Option<RuleIx> {
        self.among(list, directory, places, &|_| true)
    }

    /// A rule that may be about one of the files below a directory whose names fit.
    pub(crate) fn among(
        &self,
        list: List,
        directory: &Path,
        places: &Places,
        may_be: &dyn Fn(&str) -> bool,
    ) -> Option<RuleIx> {
        let index = self.index(list);
        let read = index.reads.below(directory, places, may_be);
        read.or_else(|| index.edits.below(directory, places, may_be))
    }

    /// Some rule about paths.
    pub(crate) fn any_path(&self, list: List) -> Option<RuleIx> {
        let index = self.index(list);
        index.reads.any().or_else(|| index.edits.any())
    }

    /// Whether any path is named.
    pub(crate) fn has_paths(&self, list: List) -> bool {
        let index = self.index(list);
        !index.reads.is_empty() || !index.edits.is_empty()
    }

    /// The rule about a host.
    pub(crate) fn host(&self, list: List, host: &str) -> Option<RuleIx> {
        let index = self.index(list);
        let globbed = || index.hosts.iter().find(|(it, _)| it.fits(host)).map(|it| it.1);
        index.exact_hosts.get(host).copied().or_else(globbed)
    }

    /// The rule that names a host in full.
    pub(crate) fn exact_host(&self, list: List, host: &str) -> Option<RuleIx> {
        self.index(list).exact_hosts.get(host).copied()
    }

    /// The rule about a skill or a type of agent, with or without arguments.
    pub(crate) fn named(&self, list: List, tool: &str, name: &str, bare: bool) -> Option<RuleIx> {
        let fits = |it: &NamedPattern| {
            it.name == name && (it.with_arguments || bare || list != List::Allow)
        };
        let rules = self.index(list).named.iter();
        rules.filter(|it| it.0 == tool).find(|it| fits(&it.1)).map(|it| it.2)
    }
}

impl Index {
    fn add(&mut self, rule: Rule, ix: RuleIx, entry: &Entry) {
        let is_foreign = |tool: &ToolPattern| matches!(tool, ToolPattern::Name(it) if names::family_of(it) == Family::ForeignCommand);
        let is_edit = |tool: &ToolPattern| matches!(tool, ToolPattern::Name(it) if names::family_of(it) == Family::EditPath);
        let Rule { tool, specifier } = rule;
        match (specifier, tool) {
            (Specifier::Any, ToolPattern::Name(name)) => {
                self.tools.entry(name).or_insert(ix);
            }
            (Specifier::Any, ToolPattern::Glob(glob)) => self.globs.push((glob, ix)),
            (Specifier::Any, ToolPattern::Server(server)) => {
                self.servers.entry(server).or_insert(ix);
            }
            (Specifier::Parameter(parameter), tool) => self.parameters.push((tool, parameter, ix)),
            (Specifier::Command(pattern), tool) if is_foreign(&tool) => {
                self.foreign.add(pattern, ix)
            }
            (Specifier::Command(pattern), _) => self.commands.add(pattern, ix),
            (Specifier::Path(path), tool) => {
                let paths = if is_edit(&tool) { &mut self.edits } else { &mut self.reads };
                paths.add(path, ix, entry);
            }
            (Specifier::Host(HostPattern::Exact(host)), _) => {
                self.exact_hosts.entry(host).or_insert(ix);
            }
            (Specifier::Host(host), _) => self.hosts.push((host, ix)),
            (Specifier::Named(pattern), ToolPattern::Name(name)) => {
                self.named.push((name, pattern, ix));
            }
            // Skills and agents are named in full, or there is no specifier for them.
            (Specifier::Named(_), ToolPattern::Glob(_) | ToolPattern::Server(_)) => {}
        }
    }
}

impl Parameter {
    fn fits(&self, input: &Value) -> bool {
        match input.get(&self.field) {
            Some(Value::String(text)) => self.value.fits(text),
            Some(it @ (Value::Bool(_) | Value::Number(_))) => self.value.fits(&it.to_string()),
            Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
        }
    }
}

/// A tool as rules name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolName<'a> {
    pub(crate) name: &'a str,
    /// The server, where it is known and not only read from the name.
    pub(crate) server: Option<&'a str>,
}

impl<'a> ToolName<'a> {
    /// The servers that the tool may be one of. A name with several separators can be read in
    /// several ways: a deny counts for each, an allow only for one that is known.
    fn servers(self, list: List) -> impl Iterator<Item = &'a str> {
        let rest = self.name.strip_prefix(names::SERVER_PREFIX);
        let read: Vec<&str> = match (self.server, rest) {
            (Some(server), _) => vec![server],
            (None, Some(rest)) => {
                let cuts: Vec<_> = rest.match_indices(names::SERVER_SEPARATOR).collect();
                let is_sure = list != List::Allow || cuts.len() == 1;
                cuts.into_iter().filter(|_| is_sure).map(|(at, _)| &rest[..at]).collect()
            }
            (None, None) => Vec::new(),
        };
        read.into_iter()
    }

    fn fits(self, pattern: &ToolPattern, list: List) -> bool {
        match pattern {
            ToolPattern::Name(name) => name == self.name,
            ToolPattern::Glob(glob) => glob.fits(self.name),
            ToolPattern::Server(server) => self.servers(list).any(|it| it == server),
        }
    }
}

/// So that the rule which is told doesn't depend on the order of the entries either.
fn order(entry: &Entry) -> (List, Scope, &str, Option<&Path>, &Path) {
    let Source { scope, file, root } = &*entry.source;
    (entry.list, *scope, &entry.text, file.as_deref(), root)
}

fn unknown_tool(rule: &Rule, list: List) -> Option<EntryProblem> {
    let ToolPattern::Name(name) = &rule.tool else { return None };
    let is_unknown =
        list != List::Allow && !name.contains('_') && names::known_tool(name).is_none();
    is_unknown.then(|| EntryProblem::UnknownTool(name.clone()))
}
