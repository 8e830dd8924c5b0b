//! A call as the decision sees it: the tool by its rules, and what its input is about.

use std::path::Path;

use serde_json::Value;

use toolwright_contract::Family;

use crate::command::{Facts, World};
use crate::domain::{Address, AddressProblem};
use crate::names;
use crate::place::{Links, Places, Touched};

/// A call to decide about.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The tool's present name.
    pub tool: &'a str,
    /// Other names that rules for it may use.
    pub former: Vec<&'a str>,
    /// The server of an MCP tool, where it is known and not only read from the name.
    pub server: Option<&'a str>,
    /// The input, as the model or the last hook gave it.
    pub input: &'a Value,
    /// What the tool's rules are about.
    pub family: Family,
    /// What this call is about.
    pub subject: Subject,
    /// Whether it starts without a question where no rule says otherwise.
    pub is_free: bool,
    /// Whether only a person can answer it.
    pub needs_user: bool,
}

/// What a call is about, as far as rules can see.
#[derive(Clone, Debug)]
pub enum Subject {
    /// The tool alone.
    Tool,
    /// A command, with what it would do.
    Command(Box<Facts>),
    /// Files.
    Files(Vec<Touched>),
    /// An address.
    Address(Result<Address, AddressProblem>),
    /// A skill or a type of agent.
    Named {
        /// What is called.
        name: String,
        /// Whether it is given nothing.
        bare: bool,
    },
    /// The input isn't that of the tool.
    Malformed(String),
}

impl<'a> Call<'a> {
    /// A call of a tool that is known by its name alone. One that nobody knows is asked about.
    #[must_use]
    pub fn by_name(tool: &'a str, input: &'a Value, places: &Places, links: &dyn Links) -> Self {
        let name = names::canonical(tool);
        let known = names::known_tool(name);
        let field = known.and_then(|it| it.fields.first().copied());
        let call = Self {
            tool: name,
            former: if name == tool { Vec::new() } else { vec![tool] },
            server: None,
            input,
            family: Family::Plain,
            subject: Subject::Tool,
            is_free: known.is_some_and(|it| it.is_free),
            needs_user: known.is_some_and(|it| it.needs_user),
        };
        call.about(names::family_of(name), field.unwrap_or_default(), places, links)
    }

    /// Sets what the tool's rules are about, and the field of the input that says it.
    #[must_use]
    pub fn about(
        mut self,
        family: Family,
        field: &str,
        places: &Places,
        links: &dyn Links,
    ) -> Self {
        let text = |name: &str| self.input.get(name).map(|it| it.as_str().ok_or(name.to_owned()));
        let wrong = |field: &str| Subject::Malformed(format!("`{field}` is not a text"));
        let missing = || Subject::Malformed(format!("`{field}` is missing"));
        self.subject = match (family, text(field)) {
            (Family::Plain | Family::Server, _) => Subject::Tool,
            (Family::Command, Some(Ok(it))) => {
                Subject::Command(Box::new(Facts::of(it, World { places, links })))
            }
            (Family::ForeignCommand, Some(Ok(it))) => {
                Subject::Command(Box::new(Facts::foreign(it)))
            }
            (Family::Domain, Some(Ok(it))) => Subject::Address(Address::parse(it)),
            (Family::EditPath, Some(Ok(it))) => {
                Subject::Files(vec![places.touched(it, links).written(links)])
            }
            (Family::ReadPath, Some(Ok(it))) => self.read(it, places, links),
            // Searches begin in the working directory unless they are told where.
            (Family::ReadPath, None) if field == "path" => self.read(".", places, links),
            (Family::Skill, _) => match text("skill") {
                Some(Ok(name)) => {
                    let given = text("args").and_then(Result::ok).unwrap_or_default();
                    Subject::Named { name: name.to_owned(), bare: given.trim().is_empty() }
                }
                Some(Err(it)) => wrong(&it),
                None => Subject::Malformed("`skill` is missing".to_owned()),
            },
            (Family::Agent, _) => match text("subagent_type") {
                Some(Ok(name)) => Subject::Named { name: name.to_owned(), bare: true },
                Some(Err(it)) => wrong(&it),
                None => Subject::Named { name: names::DEFAULT_AGENT.to_owned(), bare: true },
            },
            (_, Some(Err(it))) => wrong(&it),
            (_, None) => missing(),
        };
        self.family = family;
        self
    }

    /// Where a read looks: the path, and where a pattern leads away from it.
    fn read(&self, path: &str, places: &Places, links: &dyn Links) -> Subject {
        let base = places.touched(path, links);
        let field = names::glob_field(self.tool);
        let pattern = field.and_then(|it| self.input.get(it)?.as_str());
        let mut files = Vec::new();
        for pattern in pattern.into_iter().filter(|it| leads_away(it)) {
            let literal = pattern.split('/').take_while(|it| !it.contains(['*', '?', '[', '{']));
            let literal: Vec<&str> = literal.collect();
            let start = if literal == [""] { "/".to_owned() } else { literal.join("/") };
            let home = places.home();
            files.push(Touched::new(&start, &base.path, home, links));
        }
        files.insert(0, base);
        Subject::Files(files)
    }

    /// The names under which rules may be about the tool.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.tool).chain(self.former.iter().copied())
    }

    /// The text that a person knows the call by.
    #[must_use]
    pub fn told(&self) -> Option<&str> {
        match &self.subject {
            Subject::Command(facts) => Some(facts.text()),
            Subject::Files(files) => files.first().map(|it| it.given.as_str()),
            Subject::Named { name, .. } => Some(name),
            Subject::Address(Ok(address)) => Some(&address.host),
            Subject::Tool | Subject::Address(Err(_)) | Subject::Malformed(_) => None,
        }
    }
}

/// Whether a pattern of a search may find what isn't below the directory of the search.
fn leads_away(pattern: &str) -> bool {
    Path::new(pattern).is_absolute()
        || pattern.starts_with('~')
        || pattern.split(['/', ',', '{', '}']).any(|it| it == "..")
}
