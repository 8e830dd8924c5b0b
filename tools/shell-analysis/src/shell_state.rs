//! Builtins that change what later words mean, or evaluate their arguments.

use crate::{
    doubt::Reason,
    options,
    reader::Draft,
    understanding::{Command, Word},
};

/// Options of `set` that change neither parsing nor lookup.
const SET_LETTERS: &str = "aefuxvbCTEn";
/// The same by name.
const SET_NAMES: [&str; 9] = [
    "pipefail",
    "errexit",
    "nounset",
    "xtrace",
    "verbose",
    "noclobber",
    "errtrace",
    "functrace",
    "physical",
];

/// Notes what a builtin makes doubtful.
pub(crate) fn check(command: &Command, draft: &mut Draft) {
    let Some(name) = command.program_name() else { return };
    let words = command.arguments();
    let position = command.span.start;
    let mut changes = || draft.doubt(Reason::ChangesShell(name.to_owned()), position);
    match name {
        "alias" if !words.is_empty() => changes(),
        "hash" if words.iter().any(|it| it.text.starts_with('-')) => changes(),
        "enable" | "bind" | "complete" | "compgen" | "compopt" | "shopt" | "setopt"
        | "unsetopt" | "emulate" | "zmodload" | "autoload" | "sched" | "zle" | "unalias"
        | "disable" | "unhash" | "functions" | "fc" | "r" | "zcompile" | "compdef"
        | "add-zsh-hook" => changes(),
        "history" if !words.is_empty() => changes(),
        "set" if !words.iter().enumerate().all(|(at, it)| is_plain_setting(words, at, it)) => {
            changes();
        }
        "mapfile" | "readarray" => match words.iter().any(|it| it.text.starts_with("-C")) {
            true => changes(),
            false => names(words, draft, position),
        },
        "read" => read(words, draft, position),
        "wait" if !words.iter().any(|it| it.text.starts_with("-p")) => {}
        "unset" | "wait" | "getopts" | "vared" => names(words, draft, position),
        "print" if words.iter().any(|it| it.text.starts_with('-')) => changes(),
        "integer" | "float" if !words.is_empty() => draft.doubt(Reason::Arithmetic, position),
        "printf" if words.first().is_some_and(|it| it.text.starts_with("-v")) => {
            names(words, draft, position);
        }
        "let" => {
            for word in words {
                match word.literal() {
                    Some(it) if it.bytes().all(|it| it.is_ascii_digit()) => {}
                    _ => draft.doubt(Reason::Arithmetic, position),
                }
            }
        }
        "declare" | "typeset" | "local" | "export" | "readonly" => {
            declarations(words, draft, position);
        }
        "test" | "[" => {
            let named = |it: &[Word]| {
                matches!(it[0].text.as_str(), "-v" | "-R")
                    && it[1].literal().is_none_or(|it| it.contains('['))
            };
            if words.windows(2).any(named) {
                draft.doubt(Reason::Arithmetic, position);
            }
        }
        _ => {}
    }
}

fn is_plain_setting(words: &[Word], at: usize, word: &Word) -> bool {
    if words.iter().take(at).any(|it| it.literal() == Some("--")) {
        return true;
    }
    let Some(text) = word.literal() else { return false };
    if text == "--" {
        return true;
    }
    let named = |it: Option<&Word>| {
        it.and_then(Word::literal).is_some_and(|it| it.ends_with('o') && it.starts_with(['-', '+']))
    };
    if at > 0 && named(words.get(at - 1)) {
        return SET_NAMES.contains(&text);
    }
    let letters = text.strip_prefix(['-', '+']).unwrap_or_default();
    let last = letters.strip_suffix('o').unwrap_or(letters);
    !letters.is_empty() && last.chars().all(|it| SET_LETTERS.contains(it))
}

fn read(words: &[Word], draft: &mut Draft, position: usize) {
    const OPTIONS: &str = "-r -s -e -E -p= -d= -n= -N= -t= -u= -i= -a=";
    let Some(found) = options::split(words, OPTIONS) else {
        return draft.doubt(Reason::Arithmetic, position);
    };
    let arrays = found.values.iter().filter(|it| it.0 == "-a").map(|it| it.1.clone());
    let named: Vec<Word> = found.operands.iter().map(|it| (*it).clone()).chain(arrays).collect();
    names(&named, draft, position);
}

/// Names of variables that get a value; the subscript of one is evaluated.
fn names(words: &[Word], draft: &mut Draft, position: usize) {
    for word in words {
        match word.literal() {
            Some(name) if !name.contains('[') => draft.assign(name, None, position),
            _ => draft.doubt(Reason::Arithmetic, position),
        }
    }
}

fn declarations(words: &[Word], draft: &mut Draft, position: usize) {
    for word in words {
        let prefix = word.literal_prefix();
        let (name, assigned) = match prefix.split_once('=') {
            Some((name, _)) => (name.trim_end_matches('+'), true),
            None => (prefix, false),
        };
        let flags = name.starts_with('-') || name.starts_with('+');
        // `-n` makes a reference; `-i`, and in zsh `-E` and `-F`, evaluate whatever is assigned.
        let evaluates = flags && name.contains(['n', 'i', 'E', 'F']) && !name.starts_with("--");
        if evaluates || name.contains('[') || (!assigned && word.literal().is_none()) {
            draft.doubt(Reason::Arithmetic, position);
        }
        draft.assign(name, None, position);
    }
}

/// Notes a doubt for each variable in arithmetic that may hold more than a number.
pub(crate) fn check_evaluated(draft: &mut Draft) {
    for (name, position) in std::mem::take(&mut draft.evaluated) {
        let number = draft.numbers.contains(&name) && !draft.texts.contains(&name);
        if !number && !matches!(name.as_str(), "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID") {
            draft.doubt(Reason::Arithmetic, position);
        }
    }
}
