//! Reads a command: one pass over its bytes, by the grammar of bash, without running anything.
//!
//! The reader is stricter than a shell. What bash and zsh read differently, and what is rare enough
//! to be mistaken, is a [`Doubt`], never a guess. It follows nesting to [`MAX_DEPTH`] and no deeper,
//! and reads no byte twice but for words of fixed length, so neither stack nor time grow beyond the
//! length of the text.

mod arithmetic;
mod compound;
mod expansion;
mod grammar;
mod here_document;
mod quotes;
mod redirection;
mod word;

use crate::{
    MAX_DEPTH,
    doubt::{Doubt, Reason},
    understanding::{Assignment, Command, Place, Word},
};
use here_document::Pending;

/// Doubts that are kept; more tell nobody more.
const MAX_DOUBTS: usize = 64;
/// Variables that hold commands, or name programs, which a shell runs by itself.
const RUN_BY_SHELLS: [&str; 13] = [
    "BASH_ENV",
    "ENV",
    "NULLCMD",
    "PROMPT",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "READNULLCMD",
    "SHELLOPTS",
    "BASHOPTS",
    "ZDOTDIR",
];

/// What was found so far, of the command and of the scripts in it.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) commands: Vec<Command>,
    pub(crate) doubts: Vec<Doubt>,
    pub(crate) functions: Vec<String>,
    pub(crate) scopes: Vec<usize>,
    /// Variables that arithmetic evaluates, and where.
    pub(crate) evaluated: Vec<(String, usize)>,
    /// Variables that are set to numbers.
    pub(crate) numbers: Vec<String>,
    /// Variables that are set to something else.
    pub(crate) texts: Vec<String>,
}

impl Draft {
    pub(crate) fn doubt(&mut self, reason: Reason, position: usize) {
        let doubt = Doubt { reason, position };
        if self.doubts.len() < MAX_DOUBTS && !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    pub(crate) fn new_scope(&mut self, parent: usize) -> usize {
        self.scopes.push(parent);
        self.scopes.len() - 1
    }

    /// Notes what kind of value a variable gets, and whether a shell runs what is in it.
    pub(crate) fn assign(&mut self, name: &str, value: Option<&Word>, position: usize) {
        if RUN_BY_SHELLS.contains(&name) {
            self.doubt(Reason::ChangesShell(name.to_owned()), position);
        }
        let list = if value.is_some_and(is_number) { &mut self.numbers } else { &mut self.texts };
        if !list.iter().any(|it| it == name) {
            list.push(name.to_owned());
        }
    }
}

/// Whether a word can be nothing but a number.
fn is_number(word: &Word) -> bool {
    use crate::understanding::ExpansionKind::{Arithmetic, Brace};
    let whole = |at: &std::ops::Range<usize>| at.start == 0 && at.end == word.text.len();
    match word.expansions.as_slice() {
        [] => !word.text.is_empty() && word.text.bytes().all(|it| it.is_ascii_digit()),
        [one] if one.kind == Brace && whole(&one.at) => {
            let digits = |it: char| it.is_ascii_digit() || matches!(it, '{' | '}' | '.' | ',');
            word.text.chars().all(digits)
        }
        [one] => one.kind == Arithmetic && whole(&one.at),
        _ => false,
    }
}

/// Reading stopped; the doubt says why.
#[derive(Debug)]
pub(crate) struct Halt;

/// What reading gives, unless it stops.
pub(crate) type Read<T> = Result<T, Halt>;

/// A place in a text.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Where the text stands, if it is a script within a word.
    fixed: Option<usize>,
    depth: usize,
    place: Place,
    /// Here-documents whose bodies follow the line.
    pending: Vec<Pending>,
    /// Open parentheses of the regular expression that is read, if one is.
    regex: Option<usize>,
    draft: &'a mut Draft,
}

/// Reads a text to its end, or to the first thing that can't be read; the doubt is in the draft.
pub(crate) fn read(
    text: &str,
    fixed: Option<usize>,
    depth: usize,
    place: Place,
    draft: &mut Draft,
) {
    let pending = Vec::new();
    let mut reader = Reader { text, at: 0, fixed, depth, place, pending, regex: None, draft };
    // A halt has left its doubt in the draft; what was read before it stays.
    if reader.nested(|it| it.list(&[""])).is_ok() && !reader.pending.is_empty() {
        reader.doubt(Reason::HereDocument);
    }
}

impl Reader<'_> {
    /// Where the reader stands, in bytes of the command.
    fn position(&self) -> usize {
        self.position_of(self.at)
    }

    fn position_of(&self, at: usize) -> usize {
        self.fixed.unwrap_or(at.min(self.text.len()))
    }

    /// Notes a doubt and goes on.
    fn doubt(&mut self, reason: Reason) {
        let position = self.position();
        self.draft.doubt(reason, position);
    }

    /// Notes a doubt after which nothing can be read.
    fn halt<T>(&mut self, reason: Reason) -> Read<T> {
        self.doubt(reason);
        Err(Halt)
    }

    /// Reads something one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return self.halt(Reason::TooDeep);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads something in a place of its own.
    fn placed<T>(&mut self, place: Place, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let before = std::mem::replace(&mut self.place, place);
        let result = self.nested(read);
        self.place = before;
        result
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The first place from `at` on that no line continuation covers.
    fn joined(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// The next byte outside quotes; a line continuation before it is taken away.
    fn peek(&mut self) -> Option<u8> {
        self.at = self.joined(self.at);
        self.byte(self.at)
    }

    /// The byte after the next `skip` ones, as [`Self::peek`] would see it.
    fn ahead(&self, skip: usize) -> Option<u8> {
        let mut at = self.joined(self.at);
        for _ in 0..skip {
            at = self.joined(at + 1);
        }
        self.byte(at)
    }

    fn starts(&self, token: &str) -> bool {
        token.bytes().enumerate().all(|(skip, it)| self.ahead(skip) == Some(it))
    }

    /// Takes a token if it is next.
    fn eat(&mut self, token: &str) -> bool {
        let found = self.starts(token);
        if found {
            for _ in 0..token.len() {
                self.at = self.joined(self.at) + 1;
            }
        }
        found
    }

    /// Takes a reserved word if it is next.
    fn eat_word(&mut self, word: &str) -> bool {
        self.at_word(word) && self.eat(word)
    }

    fn at_word(&self, word: &str) -> bool {
        self.starts(word) && self.ahead(word.len()).is_none_or(ends_word)
    }

    /// Skips blanks and a comment.
    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        if self.byte(self.at) == Some(b'#') {
            let rest = self.text.get(self.at..).unwrap_or_default();
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Skips blanks, comments and newlines.
    fn skip_lines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.byte(self.at) != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Takes a newline, and the here-documents that follow it.
    fn newline(&mut self) -> Read<()> {
        self.at += 1;
        self.here_documents()
    }

    fn command(&self) -> Command {
        Command { place: self.place, span: self.position()..self.position(), ..Command::default() }
    }

    fn finish(&mut self, mut command: Command) {
        command.span.end = self.position();
        self.draft.commands.push(command);
    }

    fn note(&mut self, assignment: &Assignment) {
        let scalar = assignment.value.first().filter(|_| !assignment.array && !assignment.append);
        let position = self.position();
        self.draft.assign(&assignment.name, scalar, position);
    }
}

/// Whether a byte ends an unquoted word.
pub(crate) fn ends_word(it: u8) -> bool {
    matches!(it, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// Whether a byte may begin a variable's name.
pub(crate) fn begins_name(it: u8) -> bool {
    it.is_ascii_alphabetic() || it == b'_'
}

/// Whether a byte may go on in a variable's name.
pub(crate) fn in_name(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'_'
}
