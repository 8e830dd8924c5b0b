//! Why a command could not be understood fully.

use std::fmt;

/// Something that was not understood, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// What is not understood.
    pub reason: Reason,
    /// Where it stands, in bytes of the command.
    pub position: usize,
}

/// What is not understood. Each of them may hide a program that no list names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// More characters than are read.
    TooLong,
    /// Deeper nesting than is followed.
    TooDeep,
    /// A control character, or one that can't be seen: the person and the shell read differently.
    HiddenCharacter(char),
    /// A character that looks like a space and isn't one.
    LookalikeSpace(char),
    /// The grammar wants something else here.
    Syntax(&'static str),
    /// The text ends within a quote, a substitution or a compound command.
    Unfinished(&'static str),
    /// A here-document whose end is not found, or not where it is looked for.
    HereDocument,
    /// An expansion decides what is run.
    DynamicProgram,
    /// A name that is not plain ASCII: it may look like another one.
    LookalikeProgram,
    /// A script that an expansion makes: `eval "$x"`, `sh -c "$x"`.
    DynamicScript,
    /// A file or an input whose commands are not seen.
    UnseenScript,
    /// `${...}` in a form that is unknown, runs something, or follows a name in a variable.
    Expansion,
    /// Arithmetic over data that may itself hold commands, as in `a[$(...)]`.
    Arithmetic,
    /// A pattern of `extglob`, or a glob qualifier of zsh.
    ExtendedGlob,
    /// What bash and zsh read differently.
    ShellsDiffer,
    /// `!word`, which an interactive shell replaces.
    History,
    /// A wrapper whose arguments are not understood, so that what it runs isn't known.
    Wrapper(String),
    /// A builtin that changes what later words mean: `alias`, `hash -p`, `enable`, ...
    ChangesShell(String),
    /// Quoting that has more than one reading.
    Quoting,
    /// A connection disguised as a file: `/dev/tcp/...`.
    Network,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it is longer than {} characters", crate::MAX_CHARACTERS),
            Self::TooDeep => f.write_str("it is nested too deep"),
            Self::HiddenCharacter(it) => {
                write!(f, "it has the invisible character U+{:04X}", u32::from(*it))
            }
            Self::LookalikeSpace(it) => {
                write!(f, "U+{:04X} looks like a space and isn't one", u32::from(*it))
            }
            Self::Syntax(expected) => write!(f, "{expected} is expected"),
            Self::Unfinished(what) => write!(f, "{what} has no end"),
            Self::HereDocument => f.write_str("the end of a here-document is not clear"),
            Self::DynamicProgram => f.write_str("an expansion decides which program runs"),
            Self::LookalikeProgram => f.write_str("the program's name is not plain ASCII"),
            Self::DynamicScript => f.write_str("an expansion decides which script runs"),
            Self::UnseenScript => f.write_str("it runs commands that are not in its text"),
            Self::Expansion => f.write_str("an expansion is not understood"),
            Self::Arithmetic => f.write_str("arithmetic over data may run commands"),
            Self::ExtendedGlob => f.write_str("a pattern in parentheses is not understood"),
            Self::ShellsDiffer => f.write_str("bash and zsh read it differently"),
            Self::History => f.write_str("it may stand for an earlier command"),
            Self::Wrapper(name) => write!(f, "what `{name}` runs is not clear"),
            Self::ChangesShell(name) => write!(f, "`{name}` changes what later words mean"),
            Self::Quoting => f.write_str("its quoting has more than one reading"),
            Self::Network => f.write_str("a redirection opens a connection"),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.reason, self.position)
    }
}
