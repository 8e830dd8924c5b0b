//! Whether a command can be shown as a search, a reading or a listing.

use crate::understanding::{Command, Understanding};

/// What a command is for, when it is shown in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Display {
    /// It looks for something.
    Search,
    /// It shows what files hold.
    Read,
    /// It lists what is there.
    List,
    /// Anything else.
    Other,
}

const SEARCHING: [&str; 12] = [
    "ack", "ag", "egrep", "fd", "fdfind", "fgrep", "find", "grep", "locate", "rg", "whereis",
    "which",
];
const READING: [&str; 17] = [
    "awk", "bat", "cat", "cut", "file", "head", "jq", "less", "more", "nl", "sed", "sort", "stat",
    "tail", "tr", "uniq", "wc",
];
const LISTING: [&str; 3] = ["du", "ls", "tree"];
/// What neither makes nor breaks it.
const NEUTRAL: [&str; 7] = [":", "cd", "echo", "printf", "pwd", "true", "xargs"];

/// What a command is for: what its first telling program is for, if all of them only look.
#[must_use]
pub fn display(understanding: &Understanding) -> Display {
    let kinds = understanding.commands.iter().filter_map(kind);
    let mut first = None;
    for kind in kinds {
        if kind == Display::Other {
            return Display::Other;
        }
        first = first.or(Some(kind));
    }
    let looks = understanding.is_full() && crate::is_read_only(understanding);
    first.filter(|_| looks).unwrap_or(Display::Other)
}

fn kind(command: &Command) -> Option<Display> {
    let name = command.program_name()?;
    if NEUTRAL.contains(&name) {
        None
    } else if SEARCHING.contains(&name) || is_git(command, "grep") {
        Some(Display::Search)
    } else if READING.contains(&name) || is_git(command, "show") {
        Some(Display::Read)
    } else if LISTING.contains(&name) || is_git(command, "ls-files") {
        Some(Display::List)
    } else {
        Some(Display::Other)
    }
}

/// Whether a command is a certain one of git.
pub(crate) fn is_git(command: &Command, subcommand: &str) -> bool {
    let second = command.arguments().first().and_then(|it| it.literal());
    command.program_name() == Some("git") && second == Some(subcommand)
}
