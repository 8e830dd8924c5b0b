//! Scripts of `sed`: which only print, and which edits can be shown as a change of a file.

use crate::{
    options,
    understanding::{Carries, Understanding, Word},
};

/// A `sed -i` that is one substitution in named files, so that it can be shown before it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SedEdit {
    /// The files, as written.
    pub files: Vec<String>,
    /// The regular expression, as written.
    pub pattern: String,
    /// What is put in its place, as written: `&` and `\1` have their meaning.
    pub replacement: String,
    /// Whether the expression is an extended one (`-E`).
    pub extended: bool,
    /// Whether all matches of a line are replaced.
    pub global: bool,
    /// Whether case is ignored.
    pub ignore_case: bool,
}

/// The edit that a command is, if it is nothing else: fully literal, one `s` command, no address, no
/// backup, no redirection.
#[must_use]
pub fn sed_edit(understanding: &Understanding) -> Option<SedEdit> {
    let [command] = understanding.commands.as_slice() else { return None };
    let plain = command.assignments.is_empty() && command.redirections.is_empty();
    if !understanding.is_full()
        || !plain
        || command.place.background
        || command.program() != Some("sed")
        || command.carries != Carries::Nothing
    {
        return None;
    }
    let literal = command.arguments().iter().all(|it| it.literal().is_some());
    let found = options::split(
        command.arguments(),
        "-i -E -r -e= --in-place --regexp-extended --expression=",
    )?;
    if !literal || !found.has(&["-i", "--in-place"]) {
        return None;
    }
    let (script, files) = match found.values.as_slice() {
        [] => {
            let (script, files) = found.operands.split_first()?;
            (script.text.as_str(), files)
        }
        [(_, _, script)] => (*script, found.operands.as_slice()),
        _ => return None,
    };
    let mut reader = Script { rest: script };
    let substitution = reader.substitution()?;
    if !reader.rest.is_empty() || files.is_empty() {
        return None;
    }
    let flags = substitution.flags;
    if !flags.chars().all(|it| matches!(it, 'g' | 'i' | 'I')) {
        return None;
    }
    Some(SedEdit {
        files: files.iter().map(|it| it.text.clone()).collect(),
        pattern: substitution.pattern.to_owned(),
        replacement: substitution.replacement.to_owned(),
        extended: found.has(&["-E", "-r", "--regexp-extended"]),
        global: flags.contains('g'),
        ignore_case: flags.contains(['i', 'I']),
    })
}

/// Whether arguments of `sed` only print: no `-i`, and a script in which nothing writes or runs.
pub(crate) fn reads(words: &[Word]) -> bool {
    const OPTIONS: &str = "-n -E -r -s -u -z -e= --quiet --silent --regexp-extended --separate \
        --unbuffered --null-data --expression= --posix";
    let Some(found) = options::split(words, OPTIONS) else { return false };
    if found.operands.iter().any(|it| it.may_split() && it.may_become_option()) {
        return false;
    }
    if found.values.is_empty() {
        let script = found.operands.first().and_then(|it| it.literal());
        return script.is_some_and(is_harmless);
    }
    found.values.iter().all(|(_, word, script)| word.literal().is_some() && is_harmless(script))
}

/// Whether each command of a script is one of those that neither write nor run.
fn is_harmless(script: &str) -> bool {
    let mut script = Script { rest: script };
    loop {
        script.rest = script.rest.trim_start_matches([' ', '\t', '\n', ';', '}']);
        if script.rest.is_empty() {
            return true;
        }
        if script.command().is_none() {
            return false;
        }
    }
}

/// A script that is being read.
struct Script<'a> {
    rest: &'a str,
}

/// `s/pattern/replacement/flags`
struct Substitution<'a> {
    pattern: &'a str,
    replacement: &'a str,
    flags: &'a str,
}

impl<'a> Script<'a> {
    /// Reads one harmless command with its addresses.
    fn command(&mut self) -> Option<()> {
        if self.address()? {
            self.blanks();
            if self.eat(',') {
                self.blanks();
                self.eat('+');
                if !self.address()? {
                    return None;
                }
            }
        }
        self.blanks();
        while self.eat('!') {
            self.blanks();
        }
        match self.rest.chars().next()? {
            's' => {
                let flags = self.substitution()?.flags;
                let plain = |it: char| {
                    it.is_ascii_digit() || matches!(it, 'g' | 'p' | 'i' | 'I' | 'm' | 'M')
                };
                flags.chars().all(plain).then_some(())
            }
            'p' | 'd' | 'n' | 'N' | 'P' | 'D' | 'h' | 'H' | 'g' | 'G' | 'x' | '=' | '{' | 'q' => {
                let simple = self.rest.starts_with('{');
                self.rest = self.rest.get(1..)?;
                self.blanks();
                let ends = self.rest.is_empty() || self.rest.starts_with([';', '\n', '}']);
                (simple || ends).then_some(())
            }
            _ => None,
        }
    }

    /// Reads an address if there is one; `None` if it has no end.
    fn address(&mut self) -> Option<bool> {
        if self.eat('$') {
            return Some(true);
        }
        let digits = self.rest.bytes().take_while(|it| it.is_ascii_digit() || *it == b'~').count();
        if digits > 0 {
            self.rest = self.rest.get(digits..)?;
            return Some(true);
        }
        if self.rest.starts_with('/') {
            self.rest = self.rest.get(1..)?;
            self.delimited('/')?;
            self.eat('I');
            return Some(true);
        }
        Some(false)
    }

    /// Reads an `s` command up to the end of its flags.
    fn substitution(&mut self) -> Option<Substitution<'a>> {
        self.rest = self.rest.strip_prefix('s')?;
        let delimiter =
            self.rest.chars().next().filter(|it| it.is_ascii_punctuation() && *it != '\\')?;
        self.rest = self.rest.get(1..)?;
        let pattern = self.delimited(delimiter)?;
        let replacement = self.delimited(delimiter)?;
        let end = self.rest.find([';', '\n', '}', ' ']).unwrap_or(self.rest.len());
        let (flags, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start_matches(' ');
        let ends = self.rest.is_empty() || self.rest.starts_with([';', '\n', '}']);
        ends.then_some(Substitution { pattern, replacement, flags })
    }

    /// Reads to a delimiter that no backslash escapes; brackets make its reading unclear.
    fn delimited(&mut self, delimiter: char) -> Option<&'a str> {
        let mut escaped = false;
        for (at, it) in self.rest.char_indices() {
            if it == delimiter && !escaped {
                let (part, rest) = self.rest.split_at(at);
                self.rest = rest.get(delimiter.len_utf8()..)?;
                let open = part.matches('[').count();
                return (open == part.matches(']').count()).then_some(part);
            }
            escaped = it == '\\' && !escaped;
        }
        None
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn eat(&mut self, it: char) -> bool {
        match self.rest.strip_prefix(it) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}
