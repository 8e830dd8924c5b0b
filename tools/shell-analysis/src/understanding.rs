//! What was read in a command: simple commands, their words, and what stayed in doubt.

use std::ops::Range;

use crate::doubt::Doubt;

/// What a command line would do, as far as it could be read without running it.
///
/// The commands are a flat list in the order in which they end, whatever they stand in: groups,
/// branches, substitutions, function bodies. A command and what it runs in turn (a wrapper's program,
/// the script of an `eval`) are two commands of the list, one behind the other: see
/// [`Command::carries`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Understanding {
    /// Every command that was found, also when something is in doubt.
    pub commands: Vec<Command>,
    /// Why this is not the whole truth; empty if it is.
    pub doubts: Vec<Doubt>,
    /// Names of the functions that are defined.
    pub functions: Vec<String>,
    /// The scope around each scope; the first is the session's shell and its own parent.
    pub(crate) scopes: Vec<usize>,
}

impl Understanding {
    /// Whether nothing is in doubt: no program runs but those of the list.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.doubts.is_empty()
    }

    /// The programs, builtins and functions that are named, in order, as written.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.commands.iter().filter_map(Command::program)
    }

    /// Whether a scope is the session's shell itself, and no process of its own.
    pub(crate) fn is_session(scope: usize) -> bool {
        scope == 0
    }
}

/// A simple command, or what a compound command redirects (then without words).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments after quote removal.
    pub words: Vec<Word>,
    /// `NAME=value` before the program, or alone.
    pub assignments: Vec<Assignment>,
    /// Redirections in their order.
    pub redirections: Vec<Redirection>,
    /// Whether it runs another command of the list, and how.
    pub carries: Carries,
    /// The command that runs this one: its index in the list.
    pub carried_by: Option<usize>,
    /// How the surroundings run it.
    pub place: Place,
    /// Where it stands, in bytes of the command. What stands in a quoted script has the place of
    /// that script.
    pub span: Range<usize>,
}

impl Command {
    /// The program as written; `None` if there is none, or an expansion decides.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let word = self.words.first()?;
        if word.is_own_home() { Some(&word.text) } else { word.literal() }
    }

    /// The program without the folder that it is called by.
    #[must_use]
    pub fn program_name(&self) -> Option<&str> {
        self.program().map(|it| it.rsplit('/').next().unwrap_or(it))
    }

    /// The words after the program.
    #[must_use]
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// Whether a command runs another one of the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Carries {
    /// It is what it is.
    #[default]
    Nothing,
    /// A wrapper that an allow rule may look through: `timeout`, `nice`, a bare `xargs`, ...
    Transparent,
    /// A wrapper that only deny and ask rules look through: `env`, `sudo`, `find -exec`, `sh -c`.
    Opaque,
}

/// How the surroundings run a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The shell process that it belongs to.
    pub(crate) scope: usize,
    /// What stands between it and the command before.
    pub after: Connector,
    /// In a branch, a loop or a function: it may run never, or more than once.
    pub conditional: bool,
    /// In a loop.
    pub looped: bool,
    /// Inside `$(...)`, backquotes, `<(...)` or `>(...)`.
    pub substituted: bool,
    /// It reads from the command before.
    pub piped: bool,
    /// It goes on while the next one starts.
    pub background: bool,
}

/// What stands between two commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Connector {
    /// `;`, a newline, `&`, or the start of a list.
    #[default]
    Sequence,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|` or `|&`
    Pipe,
}

/// A word after quote removal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The word; an expansion stands in it as it was written.
    pub text: String,
    /// What the shell would replace; empty for a literal word.
    pub expansions: Vec<Expansion>,
    /// Whether any part was quoted.
    pub quoted: bool,
    /// Where it stands, in bytes of the command.
    pub span: Range<usize>,
}

impl Word {
    /// The word if no expansion changes it.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        self.expansions.is_empty().then_some(self.text.as_str())
    }

    /// What stands before the first expansion.
    #[must_use]
    pub fn literal_prefix(&self) -> &str {
        let end = self.expansions.iter().map(|it| it.at.start).min().unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or_default()
    }

    /// Whether it may become several words, or none.
    #[must_use]
    pub fn may_split(&self) -> bool {
        self.expansions.iter().any(|it| match it.kind {
            ExpansionKind::Tilde | ExpansionKind::Process => false,
            ExpansionKind::Glob | ExpansionKind::Brace => true,
            ExpansionKind::Input => !it.quoted,
            ExpansionKind::Parameter
            | ExpansionKind::ParameterForm
            | ExpansionKind::Command
            | ExpansionKind::Arithmetic => {
                !it.quoted || self.text.get(it.at.clone()).is_none_or(|it| it.contains('@'))
            }
        })
    }

    /// Whether an option can come of it that doesn't stand there.
    pub(crate) fn may_become_option(&self) -> bool {
        let settled = |it: &Expansion| match it.kind {
            ExpansionKind::Glob | ExpansionKind::Tilde | ExpansionKind::Process => true,
            ExpansionKind::Parameter
            | ExpansionKind::ParameterForm
            | ExpansionKind::Command
            | ExpansionKind::Arithmetic
            | ExpansionKind::Brace
            | ExpansionKind::Input => it.quoted && !self.may_split(),
        };
        let prefix = self.literal_prefix();
        // What stands for a pipe is a path.
        let pipe = self.expansions.first().is_some_and(|it| it.kind == ExpansionKind::Process);
        let fixed = if prefix.is_empty() { pipe } else { !prefix.starts_with('-') };
        let certain = fixed && self.expansions.iter().all(settled);
        !(self.expansions.is_empty() || self.is_own_home() || certain)
    }

    /// Whether it is `~/...` and nothing else is replaced.
    pub(crate) fn is_own_home(&self) -> bool {
        self.text.starts_with("~/")
            && self.expansions.len() == 1
            && self.expansions[0].kind == ExpansionKind::Tilde
    }
}

/// A part of a word that the shell replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expansion {
    /// By what.
    pub kind: ExpansionKind,
    /// Where it stands in [`Word::text`], in bytes.
    pub at: Range<usize>,
    /// Whether it stands in double quotes, so that its value stays one word.
    pub quoted: bool,
}

/// What the shell puts in the place of a part of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpansionKind {
    /// `$name`, `${name}`
    Parameter,
    /// `${name:-word}` and the other forms with an operator.
    ParameterForm,
    /// `$(...)`, backquotes
    Command,
    /// `<(...)`, `>(...)`
    Process,
    /// `$((...))`
    Arithmetic,
    /// `~`, `~user`
    Tilde,
    /// `*`, `?`, `[...]`
    Glob,
    /// `{a,b}`, `{1..3}`
    Brace,
    /// Words that a wrapper reads from its input.
    Input,
}

/// `NAME=value`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value: one word, or the elements of an array.
    pub value: Vec<Word>,
    /// Whether it is added to what was there (`+=`).
    pub append: bool,
    /// Whether an array was written.
    pub array: bool,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The descriptor that is redirected, if it is named.
    pub descriptor: Option<Descriptor>,
    /// Which way the data goes.
    pub direction: Direction,
    /// A file, a descriptor, or the text itself.
    pub target: Word,
    /// Where it stands, in bytes of the command.
    pub position: usize,
}

/// The descriptor before a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descriptor {
    /// `2>`
    Number(u32),
    /// `{name}>`
    Variable(String),
}

/// Which way a redirection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `<`
    Read,
    /// `>`, `>|`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `&>`, `>&file`: output and errors
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<&n`, `>&n`, `>&-`: another descriptor
    Duplicate,
    /// `<<word`; the target is the text, with its expansions unless the delimiter was quoted.
    HereDocument,
    /// `<<<word`
    HereString,
}

impl Direction {
    /// Whether a file may be made, changed or emptied.
    #[must_use]
    pub fn writes(self) -> bool {
        match self {
            Self::Write | Self::Append | Self::ReadWrite | Self::WriteBoth | Self::AppendBoth => {
                true
            }
            Self::Read | Self::Duplicate | Self::HereDocument | Self::HereString => false,
        }
    }

    /// Whether a file is read.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }
}
