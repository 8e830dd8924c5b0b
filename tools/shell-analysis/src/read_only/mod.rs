//! Whether a command only reads: an allow-list of programs, each with its options.

mod docker;
mod find;
mod git;

use crate::{
    options,
    programs::{self, Operands},
    sed,
    understanding::{Carries, Command, Direction, Understanding, Word},
};

/// Variables that change no program's effect (the documented ones of Claude Code 2.1.240, and the
/// parts of the locale).
const HARMLESS_VARIABLES: [&str; 11] = [
    "NODE_ENV",
    "LANG",
    "LANGUAGE",
    "TZ",
    "NO_COLOR",
    "FORCE_COLOR",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
];

/// Whether a command changes nothing but the directory of its shell.
///
/// A change of directory together with git is none: the other repository's configuration may run
/// programs. [`is_read_only_in`] knows when the directory is the same.
#[must_use]
pub fn is_read_only(understanding: &Understanding) -> bool {
    decide(understanding, None)
}

/// The same for a session whose directory is known.
#[must_use]
pub fn is_read_only_in(understanding: &Understanding, directory: &str) -> bool {
    decide(understanding, Some(directory))
}

/// Whether a variable may be set for a read-only command.
pub(crate) fn is_harmless_variable(name: &str) -> bool {
    HARMLESS_VARIABLES.contains(&name)
}

fn decide(understanding: &Understanding, directory: Option<&str>) -> bool {
    let Understanding { commands, .. } = understanding;
    let moves = commands.iter().any(|it| it.program() == Some("cd") && !is_at(it, directory));
    let git = commands.iter().any(|it| it.program() == Some("git"));
    understanding.is_full()
        && understanding.functions.is_empty()
        && !(moves && git)
        && commands.iter().all(only_reads)
}

fn is_at(command: &Command, directory: Option<&str>) -> bool {
    let [word] = command.arguments() else { return false };
    let trimmed =
        |it: &str| if it.len() > 1 { it.trim_end_matches('/').to_owned() } else { it.to_owned() };
    match (word.literal(), directory) {
        (Some("."), _) => true,
        (Some(word), Some(directory)) => trimmed(word) == trimmed(directory),
        _ => false,
    }
}

fn only_reads(command: &Command) -> bool {
    let harmless = command.assignments.iter().all(|it| {
        is_harmless_variable(&it.name)
            && !it.array
            && it.value.iter().all(|it| it.literal().is_some())
    });
    harmless
        && command.redirections.iter().all(|it| {
            let nowhere = it.target.literal() == Some("/dev/null");
            let numbered = !matches!(it.descriptor, Some(crate::Descriptor::Variable(_)));
            numbered && (nowhere || !it.direction.writes())
        })
        && match command.carries {
            Carries::Nothing => command.words.is_empty() || program_reads(command),
            Carries::Transparent => true,
            Carries::Opaque => false,
        }
}

fn program_reads(command: &Command) -> bool {
    let words = command.arguments();
    let Some(name) = command.program() else { return false };
    match name {
        "cd" => matches!(words, [] | [_]) && words.iter().all(is_directory),
        "command" => {
            words.first().and_then(Word::literal).is_some_and(|it| matches!(it, "-v" | "-V"))
        }
        "docker" => docker::reads(words),
        "exec" => words.is_empty() && command.redirections.iter().all(closes),
        "find" => find::reads(words),
        "git" => git::reads(words),
        "sed" => sed::reads(words),
        _ => programs::known(name).is_some_and(|it| it.read_only && table_reads(&it, words)),
    }
}

fn is_directory(word: &Word) -> bool {
    word.literal().is_some_and(|it| !it.starts_with('-') || it == "-") || word.is_own_home()
}

fn closes(it: &crate::Redirection) -> bool {
    it.direction == Direction::Duplicate
}

fn table_reads(program: &programs::Program, words: &[Word]) -> bool {
    let Some(found) = options::split(words, program.options) else { return false };
    let operands = found.operands.len();
    match program.name {
        // The second operand of `uniq` is written; `date` sets the clock unless it is a format.
        "uniq" => operands <= 1 && found.operands.iter().all(|it| !it.may_split()),
        "date" => found.operands.iter().all(|it| it.text.starts_with('+') && !it.may_split()),
        // `ss -K` and the like are not in the table; what it filters by is free.
        _ => found.written.is_empty() && program.operands != Operands::Write,
    }
}
