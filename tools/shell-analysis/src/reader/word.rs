//! Words: what stands between blanks and operators, with its quotes removed.

use super::{Read, Reader, ends_word};
use crate::{
    doubt::Reason,
    understanding::{Expansion, ExpansionKind, Word},
};

/// A word that is being read.
#[derive(Debug, Default)]
pub(super) struct Draught {
    pub(super) word: Word,
    /// Open braces: where they stand, and whether a comma or `..` followed.
    braces: Vec<(usize, bool)>,
    /// Where an unquoted `[` stands.
    bracket: Option<usize>,
}

impl Draught {
    pub(super) fn expand(&mut self, kind: ExpansionKind, source: &str, quoted: bool) {
        let start = self.word.text.len();
        self.word.text.push_str(source);
        self.mark(kind, start, quoted);
    }

    fn mark(&mut self, kind: ExpansionKind, start: usize, quoted: bool) {
        let at = start..self.word.text.len();
        self.word.expansions.push(Expansion { kind, at, quoted });
    }

    /// Adds an unquoted character and notes the patterns that it completes.
    fn plain(&mut self, byte: u8, next: Option<u8>) {
        let at = self.word.text.len();
        self.word.text.push(char::from(byte));
        match byte {
            b'*' | b'?' => self.mark(ExpansionKind::Glob, at, false),
            b'[' => self.bracket = Some(at),
            b']' => {
                if let Some(start) = self.bracket.take() {
                    self.mark(ExpansionKind::Glob, start, false);
                }
            }
            b'{' => self.braces.push((at, false)),
            b'.' if next != Some(b'.') => {}
            b',' | b'.' => {
                if let Some(open) = self.braces.last_mut() {
                    open.1 = true;
                }
            }
            b'}' => {
                if let Some((start, true)) = self.braces.pop() {
                    self.mark(ExpansionKind::Brace, start, false);
                }
            }
            _ => {}
        }
    }
}

impl Reader<'_> {
    /// Reads a word; there must be one.
    pub(super) fn word(&mut self) -> Read<Word> {
        let word = self.value()?;
        if word.text.is_empty() && !word.quoted {
            return self.halt(Reason::Syntax("a word"));
        }
        Ok(word)
    }

    /// Reads what stands before the next blank or operator, nothing included.
    pub(super) fn value(&mut self) -> Read<Word> {
        self.nested(Self::pieces)
    }

    fn pieces(&mut self) -> Read<Word> {
        let mut draught = Draught::default();
        self.peek();
        let start = self.at;
        self.check_first();
        if self.byte(self.at) == Some(b'~') {
            self.tilde(&mut draught);
        }
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => self.single_quotes(&mut draught)?,
                b'"' => self.double_quotes(&mut draught)?,
                b'$' => self.dollar(&mut draught, false)?,
                b'`' => self.backquotes(&mut draught, false)?,
                b'\\' => self.escape(&mut draught),
                b'<' | b'>' if self.ahead(1) == Some(b'(') => self.process(&mut draught)?,
                byte if self.regex.is_some() && self.in_regex(byte) => {
                    draught.word.text.push(char::from(byte));
                    self.at += 1;
                }
                byte if ends_word(byte) => break,
                byte if byte.is_ascii() => {
                    let next = self.ahead(1);
                    draught.plain(byte, next);
                    self.at += 1;
                }
                _ => self.character(&mut draught),
            }
        }
        draught.word.span = self.position_of(start)..self.position();
        draught.word.expansions.sort_by_key(|it| it.at.start);
        Ok(draught.word)
    }

    /// Whether an operator is a part of the regular expression that is read. Within its parentheses
    /// a blank is, too.
    fn in_regex(&mut self, byte: u8) -> bool {
        let Some(open) = self.regex.as_mut() else { return false };
        match byte {
            b'(' => *open += 1,
            b')' if *open > 0 => *open -= 1,
            b'|' => {}
            b' ' | b'\t' => return *open > 0,
            _ => return false,
        }
        true
    }

    /// What a word begins with may mean something else in zsh, or in an interactive shell.
    fn check_first(&mut self) {
        let second = self.ahead(1);
        match self.ahead(0) {
            Some(b'=') if second.is_some_and(|it| !ends_word(it) && it != b'=' && it != b'~') => {
                self.doubt(Reason::ShellsDiffer);
            }
            Some(b'!') if second.is_some_and(|it| !ends_word(it) && it != b'=') => {
                self.doubt(Reason::History);
            }
            _ => {}
        }
    }

    fn tilde(&mut self, draught: &mut Draught) {
        let start = self.at;
        while self.byte(self.at).is_some_and(|it| {
            it == b'~' || it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'+' | b'.')
        }) {
            self.at += 1;
        }
        let source = self.text.get(start..self.at).unwrap_or_default();
        draught.expand(ExpansionKind::Tilde, source, false);
    }

    /// Adds a character that is not ASCII.
    pub(super) fn character(&mut self, draught: &mut Draught) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match rest.chars().next() {
            Some(it) => {
                draught.word.text.push(it);
                self.at += it.len_utf8();
            }
            None => self.at += 1,
        }
    }

    /// A backslash and what it quotes.
    fn escape(&mut self, draught: &mut Draught) {
        self.at += 1;
        draught.word.quoted = true;
        if self.at < self.text.len() {
            self.character(draught);
        } else {
            draught.word.text.push('\\');
        }
    }
}
