//! What the end of a command means: which codes are an answer, and which signal a code stands for.

/// Programs that say "no" by the code 1, which is no failure (Claude Code docs 2.1.240).
const ANSWERING: [&str; 8] = ["grep", "rg", "egrep", "fgrep", "find", "diff", "test", "["];
/// The same for parts of git.
const ANSWERING_GIT: [&str; 2] = ["diff", "grep"];
/// A shell adds this to the number of the signal that ended a command.
const BY_SIGNAL: i32 = 128;

/// Whether a code is an answer of the command that gave it, and no failure.
pub(crate) fn is_answer(code: i32, command: &str) -> bool {
    let mut words = command.split_whitespace().skip_while(|it| is_assignment(it));
    let first = words.next().unwrap_or_default();
    let first = first.rsplit('/').next().unwrap_or(first);
    let answers = ANSWERING.contains(&first)
        || (first == "git" && words.next().is_some_and(|it| ANSWERING_GIT.contains(&it)));
    code == 0 || (code == 1 && answers)
}

/// Whether a word before a command sets a variable for it, without a quote that goes on.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '_';
    !name.is_empty() && name.chars().all(plain) && !word.contains(['"', '\'', '\\'])
}

/// The code that a shell would give for an end by a signal.
pub(crate) fn of_signal(signal: i32) -> i32 {
    BY_SIGNAL + signal
}

/// The name of the signal that a code stands for.
pub(crate) fn signal_name(code: i32) -> Option<&'static str> {
    Some(match code - BY_SIGNAL {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_an_answer_of_those_who_look_for_something() {
        for (code, command, answer) in [
            (0, "false", true),
            (1, "grep -q x file", true),
            (1, "[ 1 = 2 ]", true),
            (1, "git diff --exit-code", true),
            (1, "git  grep x", true),
            (1, "LC_ALL=C /usr/bin/grep x file", true),
            (1, "A='b grep' false", false),
            (1, "=x grep", false),
            (1, "git status", false),
            (1, "git", false),
            (2, "grep -q x file", false),
            (1, "false", false),
            (1, "", false),
        ] {
            assert_eq!(is_answer(code, command), answer, "{code} of {command:?}");
        }
    }
}
