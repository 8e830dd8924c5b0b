//! The grammar of one rule: from its text to what it is about, or to why it is no rule.
//!
//! `Tool`, `Tool(specifier)`, names with `*`, `Tool(param:value)` (Claude Code docs 2.1.240).

use toolwright_contract::Family;

use crate::command_pattern::CommandPattern;
use crate::domain::HostPattern;
use crate::names;
use crate::path_pattern::PathPattern;
use crate::wildcard::Wildcard;

/// Longest text of a rule, in bytes: what people write is far below, and matching time grows with
/// it.
pub const LONGEST_RULE: usize = 4_096;

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum List {
    /// It stops a call.
    Deny,
    /// It has a person asked.
    Ask,
    /// It lets a call start.
    Allow,
}

impl List {
    /// The key in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}

/// A rule that was understood.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) tool: ToolPattern,
    pub(crate) specifier: Specifier,
}

/// Which tools a rule names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolPattern {
    /// This one, by its present name.
    Name(String),
    /// Each whose name fits.
    Glob(Wildcard),
    /// Each tool of an MCP server.
    Server(String),
}

/// Which calls of a tool a rule is about.
#[derive(Clone, Debug)]
pub(crate) enum Specifier {
    /// Each.
    Any,
    Command(CommandPattern),
    Path(PathPattern),
    Host(HostPattern),
    /// A skill or an agent, by what is called.
    Named(NamedPattern),
    Parameter(Parameter),
}

/// `name` or `name *`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPattern {
    pub(crate) name: String,
    pub(crate) with_arguments: bool,
}

/// `param:value`: a field of the input, as the model sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) field: String,
    pub(crate) value: Wildcard,
}

/// Why an entry is no rule, or one that is never consulted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// It is empty.
    #[error("it is empty; remove it")]
    Empty,
    /// It is longer than a rule can be.
    #[error("it has {0} bytes; write it in {LONGEST_RULE}, with `*` for what varies")]
    TooLong(usize),
    /// The brackets don't pair.
    #[error("its parentheses don't pair; write `Tool` or `Tool(specifier)`")]
    Unpaired,
    /// What stands before the bracket is no name of a tool.
    #[error("`{0}` is no tool's name; write the name that the model calls")]
    BadName(String),
    /// An allow with `*` in the name that isn't one server's tools.
    #[error(
        "an allow can't name tools by `*`, but for one server's: `mcp__server__*`; name each tool"
    )]
    AllowGlob,
    /// A parameter where the primary field is meant.
    #[error("`{field}` can't be matched as a parameter; write `{tool}(...)` with its value alone")]
    PrimaryField {
        /// The tool.
        tool: String,
        /// The field.
        field: String,
    },
    /// A parameter in an allow.
    #[error("a parameter can be matched by deny and ask alone; remove it, or allow the tool")]
    AllowParameter,
    /// A specifier for a tool that takes none.
    #[error("`{0}` takes no specifier; write `{0}` alone")]
    NoSpecifier(String),
    /// A path for a tool whose paths another rule decides.
    #[error("a path in `{tool}(...)` is never consulted; write `{instead}(...)`")]
    NeverConsulted {
        /// The tool.
        tool: String,
        /// The name that is consulted.
        instead: String,
    },
    /// A path that is no pattern.
    #[error("the path is no pattern ({0}); write it as in .gitignore, with `\\` before brackets")]
    BadPath(String),
    /// A host that is no host.
    #[error("`{0}` is no host; write `domain:example.com` or `domain:*.example.com`")]
    BadHost(String),
    /// A specifier of a web rule that isn't a domain.
    #[error("a web address is matched by its host; write `{0}(domain:example.com)`")]
    NotADomain(String),
}

impl RuleProblem {
    /// Whether the entry was understood, and is documented to have no effect. Anything else in a
    /// deny or an ask list leaves a doubt, which asks.
    #[must_use]
    pub(crate) fn is_documented(&self) -> bool {
        match self {
            Self::AllowGlob
            | Self::PrimaryField { .. }
            | Self::AllowParameter
            | Self::NeverConsulted { .. } => true,
            Self::Empty
            | Self::TooLong(_)
            | Self::Unpaired
            | Self::BadName(_)
            | Self::NoSpecifier(_)
            | Self::BadPath(_)
            | Self::BadHost(_)
            | Self::NotADomain(_) => false,
        }
    }
}

impl Rule {
    /// Reads a rule as it stands in one of the lists.
    pub(crate) fn parse(text: &str, list: List) -> Result<Self, RuleProblem> {
        let (name, specifier) = split(text)?;
        if specifier.is_none_or(|it| it.trim() == "*") {
            return Ok(Self { tool: tool_pattern(name, list)?, specifier: Specifier::Any });
        }
        let inner = specifier.unwrap_or_default();
        let tool = tool_pattern(name, list)?;
        let specifier = specifier_of(&tool, inner, list)?;
        Ok(Self { tool, specifier })
    }
}

/// The name at the start of an entry, though the rest of it may be no rule.
pub(crate) fn name_in(text: &str) -> Option<&str> {
    let name = text.trim().split(['(', ')']).next()?.trim();
    is_name(name).then_some(name)
}

/// Name and specifier.
fn split(text: &str) -> Result<(&str, Option<&str>), RuleProblem> {
    let text = text.trim();
    if text.len() > LONGEST_RULE {
        return Err(RuleProblem::TooLong(text.len()));
    }
    let (name, specifier) = match text.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or(RuleProblem::Unpaired)?)),
        None if text.contains(')') => return Err(RuleProblem::Unpaired),
        None => (text, None),
    };
    let name = name.trim();
    if name.is_empty() {
        return Err(RuleProblem::Empty);
    }
    if !is_name(name) {
        return Err(RuleProblem::BadName(name.to_owned()));
    }
    if specifier.is_some_and(|it| it.trim().is_empty()) {
        return Err(RuleProblem::Unpaired);
    }
    Ok((name, specifier))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|it| it.is_whitespace() || it.is_control())
}

fn tool_pattern(name: &str, list: List) -> Result<ToolPattern, RuleProblem> {
    if name.contains('*') {
        if list == List::Allow && !is_within_a_server(name) {
            return Err(RuleProblem::AllowGlob);
        }
        return Ok(ToolPattern::Glob(Wildcard::new(name)));
    }
    let server = name.strip_prefix(names::SERVER_PREFIX);
    if let Some(server) = server.filter(|it| !it.contains(names::SERVER_SEPARATOR)) {
        return Ok(ToolPattern::Server(server.to_owned()));
    }
    Ok(ToolPattern::Name(names::canonical(name).to_owned()))
}

/// Whether a name with `*` names one server in full before the first `*`.
fn is_within_a_server(name: &str) -> bool {
    let literal = name.split('*').next().unwrap_or_default();
    let server = literal.strip_prefix(names::SERVER_PREFIX);
    server.is_some_and(|it| it.find(names::SERVER_SEPARATOR).is_some_and(|at| at > 0))
}

fn specifier_of(tool: &ToolPattern, inner: &str, list: List) -> Result<Specifier, RuleProblem> {
    let (name, known) = match tool {
        ToolPattern::Name(name) => (name.as_str(), names::known_tool(name)),
        ToolPattern::Glob(glob) => (glob.text(), None),
        ToolPattern::Server(server) => (server.as_str(), None),
    };
    if let Some(parameter) = parameter(name, inner, list)? {
        return Ok(Specifier::Parameter(parameter));
    }
    let Some(known) = known else { return Err(RuleProblem::NoSpecifier(name.to_owned())) };
    match known.family {
        Family::Command | Family::ForeignCommand if known.rules == known.name => {
            Ok(Specifier::Command(CommandPattern::new(inner)))
        }
        Family::ReadPath | Family::EditPath if known.rules == known.name => {
            let bad = |it| RuleProblem::BadPath(it);
            Ok(Specifier::Path(PathPattern::parse(inner, list).map_err(bad)?))
        }
        Family::Domain => {
            let host = inner.trim().strip_prefix("domain:");
            let host = host.ok_or_else(|| RuleProblem::NotADomain(name.to_owned()))?;
            let host = HostPattern::parse(host.trim());
            Ok(Specifier::Host(host.ok_or_else(|| RuleProblem::BadHost(inner.to_owned()))?))
        }
        Family::Skill | Family::Agent => Ok(Specifier::Named(named(inner))),
        Family::Command | Family::ForeignCommand | Family::ReadPath | Family::EditPath => {
            let (tool, instead) = (name.to_owned(), known.rules.to_owned());
            Err(RuleProblem::NeverConsulted { tool, instead })
        }
        // The user's own command isn't a call of a tool.
        Family::Plain if names::is_cd(name) => Err(RuleProblem::NeverConsulted {
            tool: name.to_owned(),
            instead: names::rule_name(Family::ReadPath).unwrap_or_default().to_owned(),
        }),
        Family::Server | Family::Plain => Err(RuleProblem::NoSpecifier(name.to_owned())),
    }
}

fn named(inner: &str) -> NamedPattern {
    let inner = inner.trim();
    let prefix = inner.strip_suffix(":*").or_else(|| inner.strip_suffix(" *"));
    NamedPattern {
        name: prefix.unwrap_or(inner).trim().to_owned(),
        with_arguments: prefix.is_some(),
    }
}

/// The parameter that a specifier names. Where the tool's fields are known, only those are
/// parameters, since a command, a path or a type of agent may have a colon too.
fn parameter(tool: &str, inner: &str, list: List) -> Result<Option<Parameter>, RuleProblem> {
    let Some((field, value)) = inner.split_once(':') else { return Ok(None) };
    let field = field.trim();
    let is_identifier = !field.is_empty()
        && field.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-');
    let fields = names::known_tool(tool).map(|it| it.fields).unwrap_or_default();
    if !is_identifier || !(fields.is_empty() || fields.contains(&field)) {
        return Ok(None);
    }
    if fields.first() == Some(&field) {
        let (tool, field) = (tool.to_owned(), field.to_owned());
        return Err(RuleProblem::PrimaryField { tool, field });
    }
    if list == List::Allow {
        return Err(RuleProblem::AllowParameter);
    }
    Ok(Some(Parameter { field: field.to_owned(), value: Wildcard::new(value.trim()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str, list: List) -> String {
        Rule::parse(text, list).err().map(|it| it.to_string()).unwrap_or_default()
    }

    #[test]
    fn an_entry_that_is_no_rule_says_why_and_what_to_write() {
        use List::{Allow, Deny};
        for (text, list, said) in [
            ("", Deny, "empty"),
            ("Bash(", Deny, "don't pair"),
            ("Bash)", Deny, "don't pair"),
            ("Bash()", Allow, "don't pair"),
            ("(ls)", Deny, "empty"),
            ("Two words", Deny, "no tool's name"),
            ("*", Allow, "can't name tools by `*`"),
            ("mcp__*", Allow, "can't name tools by `*`"),
            ("mcp__git*__get", Allow, "can't name tools by `*`"),
            ("Bash(command:rm *)", Deny, "write `Bash(...)`"),
            ("Agent(model:opus)", Allow, "deny and ask alone"),
            ("WebSearch(x)", Deny, "takes no specifier"),
            ("mcp__git__push(x)", Deny, "takes no specifier"),
            ("Write(src/**)", Deny, "write `Edit(...)`"),
            ("Glob(src/**)", Deny, "write `Read(...)`"),
            ("WebFetch(example.com)", Allow, "domain:example.com"),
            ("WebFetch(domain:a b)", Allow, "no host"),
            ("Read([)", Deny, "no pattern"),
        ] {
            let told = problem(text, list);
            assert!(told.contains(said), "{text}: {told}");
        }
    }

    #[test]
    fn rules_that_people_have_are_read() {
        use List::{Allow, Deny};
        for (text, list) in [
            ("Bash", Allow),
            ("Bash(*)", Allow),
            ("Bash(npm run build)", Allow),
            ("Bash(git:*)", Allow),
            ("Bash(echo (a))", Allow),
            ("Read(~/.ssh/**)", Deny),
            ("Edit(/src/**/*.ts)", Allow),
            ("Task(Explore)", Deny),
            ("Agent(model:opus)", Deny),
            ("Skill(commit *)", Allow),
            ("WebFetch(domain:*.example.com)", Allow),
            ("mcp__github", Allow),
            ("mcp__github__get_*", Allow),
            ("*", Deny),
            ("toString", Deny),
            ("SomethingNew", Deny),
        ] {
            assert_eq!(problem(text, list), "", "{text}");
        }
    }

    #[test]
    fn a_colon_in_a_command_is_no_parameter() {
        let rule = Rule::parse("Bash(npm:install)", List::Deny).expect("a rule");
        assert!(matches!(rule.specifier, Specifier::Command(_)));
        let rule = Rule::parse("Bash(run_in_background: true)", List::Deny).expect("a rule");
        assert!(matches!(rule.specifier, Specifier::Parameter(it) if it.value.fits("true")));
    }
}
