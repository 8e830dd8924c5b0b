//! Splits the arguments of a program into options and operands, by a table of what it knows.
//!
//! A table is a list of words: `-q` and `--quiet` are flags, `-n=` and `--lines=` take a value,
//! `-f<` takes a file that is read, `-o>` one that is written, `--color?` may have a value behind an
//! equals sign, `-#` is a number as in `head -5`. A table that begins with `*` knows only those
//! options that have a value or a file: any other is harmless. An option that a table doesn't know
//! is not guessed at, nor an abbreviation of one.

use crate::understanding::Word;

/// What an option does with what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    ReadFile,
    WrittenFile,
    Attached,
}

/// Arguments, told apart.
#[derive(Debug, Default)]
pub(crate) struct Arguments<'a> {
    /// The options as a table writes them (`-n`, `--lines`).
    pub(crate) options: Vec<&'a str>,
    /// What is no option.
    pub(crate) operands: Vec<&'a Word>,
    /// Files that options read.
    pub(crate) read: Vec<(&'a Word, &'a str)>,
    /// Files that options write.
    pub(crate) written: Vec<(&'a Word, &'a str)>,
    /// Values of options.
    pub(crate) values: Vec<(&'a str, &'a Word, &'a str)>,
    /// Where the operands begin, if the reading stops there.
    pub(crate) rest: usize,
}

/// Splits arguments; `None` if one of them is not known, or may become an option.
pub(crate) fn split<'a>(words: &'a [Word], table: &'a str) -> Option<Arguments<'a>> {
    walk(words, table, false)
}

/// The same up to the first operand.
pub(crate) fn split_leading<'a>(words: &'a [Word], table: &'a str) -> Option<Arguments<'a>> {
    walk(words, table, true)
}

fn walk<'a>(words: &'a [Word], table: &'a str, leading: bool) -> Option<Arguments<'a>> {
    let any = table.starts_with('*');
    let mut found = Arguments { rest: words.len(), ..Arguments::default() };
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.text.as_str();
        if word.may_become_option() && !any {
            return None;
        }
        let option = text.starts_with('-') && text.len() > 1;
        if text == "--" && word.literal().is_some() {
            if leading {
                found.rest = at;
                return Some(found);
            }
            found.operands.extend(words.get(at..).unwrap_or_default());
            return Some(found);
        }
        if !option {
            if leading {
                found.rest = at - 1;
                return Some(found);
            }
            found.operands.push(word);
            continue;
        }
        let next = words.get(at).filter(|it| any || !(it.may_split() && it.may_become_option()));
        let used = if text.starts_with("--") {
            long(word, next, table, &mut found)
        } else {
            cluster(word, next, table, &mut found)
        };
        match used {
            Some(used) => at += used,
            None if any => found.options.push(text),
            None => return None,
        }
    }
    Some(found)
}

/// Reads `--name`, `--name=value` or `--name value`; gives how many more words it took.
fn long<'a>(
    word: &'a Word,
    next: Option<&'a Word>,
    table: &'a str,
    found: &mut Arguments<'a>,
) -> Option<usize> {
    let (name, value) = match word.text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word.text.as_str(), None),
    };
    let (option, takes) = lookup(table, name)?;
    found.options.push(option);
    match (takes, value) {
        (Takes::Nothing | Takes::Attached, None) | (Takes::Attached, Some(_)) => Some(0),
        (Takes::Nothing, Some(_)) => None,
        (takes, Some(value)) => {
            found.take(takes, option, word, value);
            Some(0)
        }
        (takes, None) => {
            let next = next?;
            found.take(takes, option, next, &next.text);
            Some(1)
        }
    }
}

/// Reads `-abc`, `-n5` or `-n 5`.
fn cluster<'a>(
    word: &'a Word,
    next: Option<&'a Word>,
    table: &'a str,
    found: &mut Arguments<'a>,
) -> Option<usize> {
    if let Some((option, takes)) = lookup(table, &word.text) {
        // A word of several letters behind one dash, as `find` and `docker` have it.
        if word.text.len() > 2 {
            found.options.push(option);
            return match takes {
                Takes::Nothing | Takes::Attached => Some(0),
                Takes::Value | Takes::ReadFile | Takes::WrittenFile => {
                    let next = next?;
                    found.take(takes, option, next, &next.text);
                    Some(1)
                }
            };
        }
    }
    let letters = word.text.get(1..)?;
    if letters.bytes().all(|it| it.is_ascii_digit()) && lookup(table, "-#").is_some() {
        return Some(0);
    }
    let mut taken = Vec::new();
    for (at, letter) in letters.char_indices() {
        let (option, takes) = lookup(table, &format!("-{letter}"))?;
        taken.push(option);
        if takes == Takes::Nothing {
            continue;
        }
        let value = letters.get(at + letter.len_utf8()..)?;
        found.options.extend(taken);
        if takes == Takes::Attached {
            return Some(0);
        }
        if !value.is_empty() {
            found.take(takes, option, word, value);
            return Some(0);
        }
        let next = next?;
        found.take(takes, option, next, &next.text);
        return Some(1);
    }
    found.options.extend(taken);
    Some(0)
}

fn lookup<'a>(table: &'a str, name: &str) -> Option<(&'a str, Takes)> {
    table.split_ascii_whitespace().find_map(|entry| {
        let end = entry.trim_end_matches(['=', '<', '>', '?']);
        let takes = match entry.as_bytes().last() {
            Some(b'=') => Takes::Value,
            Some(b'<') => Takes::ReadFile,
            Some(b'>') => Takes::WrittenFile,
            Some(b'?') => Takes::Attached,
            _ => Takes::Nothing,
        };
        (end == name).then_some((end, takes))
    })
}

impl<'a> Arguments<'a> {
    fn take(&mut self, takes: Takes, option: &'a str, word: &'a Word, value: &'a str) {
        match takes {
            Takes::ReadFile => self.read.push((word, value)),
            Takes::WrittenFile => self.written.push((word, value)),
            Takes::Value | Takes::Nothing | Takes::Attached => {
                self.values.push((option, word, value));
            }
        }
    }

    /// Whether one of the options was given.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|it| names.contains(it))
    }
}
