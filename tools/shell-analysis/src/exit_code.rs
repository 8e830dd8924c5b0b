//! What an exit code says: an answer of the program that gave it, or a failure.

use crate::{
    display::is_git,
    understanding::{Carries, Command, Connector, Understanding},
};

/// What the end of a command means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// Whether it failed; an answer like "nothing found" is no failure.
    pub failed: bool,
    /// What the code says, if it says something.
    pub text: Option<&'static str>,
}

/// Programs that answer by the code 1, and what they say with it (Claude Code docs 2.1.240).
const ANSWERS: [(&str, &str); 9] = [
    ("[", "the condition is false"),
    ("[[", "the condition is false"),
    ("diff", "the files differ"),
    ("egrep", "nothing matches"),
    ("fgrep", "nothing matches"),
    ("find", "not everything could be read"),
    ("grep", "nothing matches"),
    ("rg", "nothing matches"),
    ("test", "the condition is false"),
];

/// The meaning of a command's exit code, by the program that gave it.
///
/// That is the last one. If what went before in the same `&&` chain could have given the code, and
/// is not itself a program that answers, it is a failure: a build that fails before a `grep` is no
/// "nothing matches".
#[must_use]
pub fn ending(understanding: &Understanding, code: i32) -> Ending {
    if code == 0 {
        return Ending { failed: false, text: None };
    }
    let failure = Ending { failed: true, text: None };
    if code != 1 || !understanding.is_full() {
        return failure;
    }
    let mut chain = understanding.commands.iter().rev().filter(|it| decides(it));
    let Some(last) = chain.next() else { return failure };
    let Some(text) = answer(last) else { return failure };
    let mut after = last.place.after;
    for command in chain {
        match after {
            Connector::And if succeeds(command) || answer(command).is_some() => {}
            Connector::And => return failure,
            Connector::Pipe => {}
            Connector::Sequence | Connector::Or => break,
        }
        after = command.place.after;
    }
    Ending { failed: false, text: Some(text) }
}

/// Whether a command can be the one whose code counts.
fn decides(command: &Command) -> bool {
    !command.place.substituted && !command.words.is_empty() && command.carries == Carries::Nothing
}

/// Builtins that hardly fail, and stand before what matters.
fn succeeds(command: &Command) -> bool {
    matches!(
        command.program(),
        Some("cd" | "echo" | "export" | "printf" | "pwd" | "set" | "true" | ":")
    )
}

fn answer(command: &Command) -> Option<&'static str> {
    let name = command.program_name()?;
    if is_git(command, "diff") {
        return Some("there are differences");
    }
    if is_git(command, "grep") {
        return Some("nothing matches");
    }
    ANSWERS.iter().find(|it| it.0 == name).map(|it| it.1)
}
