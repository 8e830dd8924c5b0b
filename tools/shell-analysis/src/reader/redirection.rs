//! Redirections.

use super::{Read, Reader, begins_name, ends_word, here_document::Pending, in_name};
use crate::{
    doubt::Reason,
    understanding::{Descriptor, Direction, ExpansionKind, Redirection, Word},
};

/// Operators, the longer before the shorter.
const OPERATORS: [(&str, Direction); 12] = [
    ("&>>", Direction::AppendBoth),
    ("&>", Direction::WriteBoth),
    ("<<<", Direction::HereString),
    ("<<-", Direction::HereDocument),
    ("<<", Direction::HereDocument),
    ("<&", Direction::Duplicate),
    ("<>", Direction::ReadWrite),
    ("<", Direction::Read),
    (">>", Direction::Append),
    (">|", Direction::Write),
    (">&", Direction::WriteBoth),
    (">", Direction::Write),
];
/// Digits of a descriptor: more than any system has.
const DESCRIPTOR_DIGITS: usize = 6;
/// Files that bash takes for connections.
const NETWORK: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];

impl Reader<'_> {
    /// Reads a redirection if one is next.
    pub(super) fn redirection(&mut self) -> Read<Option<Redirection>> {
        let position = self.position();
        let length = self.descriptor_length();
        let sign = self.ahead(length);
        match sign {
            Some(b'<' | b'>') if self.ahead(length + 1) != Some(b'(') => {}
            Some(b'&') if length == 0 && self.ahead(1) == Some(b'>') => {}
            Some(b'<' | b'>') if length > 0 => return self.halt(Reason::ShellsDiffer),
            _ => return Ok(None),
        }
        let descriptor = self.descriptor(length)?;
        let Some((token, direction)) = OPERATORS.into_iter().find(|(it, _)| self.starts(it)) else {
            return self.halt(Reason::Syntax("a redirection"));
        };
        self.eat(token);
        if self.ahead(0) == Some(b'!') {
            self.doubt(Reason::ShellsDiffer);
        }
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        if direction == Direction::HereDocument {
            let target = self.here_document_start(token == "<<-")?;
            return Ok(Some(Redirection { descriptor, direction, target, position }));
        }
        let process = self.starts("<(") || self.starts(">(");
        if self.peek().is_none_or(ends_word) && !process {
            return self.halt(Reason::Syntax("the target of a redirection"));
        }
        let target = self.word()?;
        if NETWORK.iter().any(|it| target.text.contains(it)) {
            self.doubt(Reason::Network);
        }
        let copied = token == ">&" && target.literal().is_some_and(is_descriptor);
        let direction = if copied { Direction::Duplicate } else { direction };
        Ok(Some(Redirection { descriptor, direction, target, position }))
    }

    /// Characters of the descriptor before an operator.
    fn descriptor_length(&self) -> usize {
        let mut length = 0;
        if self.ahead(0) == Some(b'{') && self.ahead(1).is_some_and(begins_name) {
            length = 2;
            while self.ahead(length).is_some_and(in_name) {
                length += 1;
            }
            return if self.ahead(length) == Some(b'}') { length + 1 } else { 0 };
        }
        while self.ahead(length).is_some_and(|it| it.is_ascii_digit()) {
            length += 1;
        }
        length
    }

    fn descriptor(&mut self, length: usize) -> Read<Option<Descriptor>> {
        let position = self.position();
        let source: String = (0..length).filter_map(|it| self.ahead(it)).map(char::from).collect();
        for _ in 0..length {
            self.at = self.joined(self.at) + 1;
        }
        if length == 0 {
            return Ok(None);
        }
        if source.starts_with('{') {
            let name = source.trim_matches(['{', '}']).to_owned();
            self.draft.assign(&name, None, position);
            return Ok(Some(Descriptor::Variable(name)));
        }
        match source.parse() {
            Ok(number) if length <= DESCRIPTOR_DIGITS => Ok(Some(Descriptor::Number(number))),
            _ => self.halt(Reason::Syntax("a descriptor")),
        }
    }

    /// Reads the delimiter; the text comes after the line.
    fn here_document_start(&mut self, strips_tabs: bool) -> Read<Word> {
        let at = self.at;
        let delimiter = self.word()?;
        let source = self.text.get(at..self.at).unwrap_or_default();
        let plain = delimiter.expansions.iter().all(|it| {
            matches!(it.kind, ExpansionKind::Glob | ExpansionKind::Brace | ExpansionKind::Tilde)
        });
        if !plain || source.contains(['\n', '$', '`']) || has_escape_in_quotes(source) {
            return self.halt(Reason::HereDocument);
        }
        let Word { text, quoted, .. } = delimiter;
        self.pending.push(Pending { delimiter: text, quoted, strips_tabs, at });
        Ok(Word { quoted, span: at..at, ..Word::default() })
    }
}

/// Whether a word after `>&` names a descriptor.
fn is_descriptor(word: &str) -> bool {
    let digits = word.strip_suffix('-').unwrap_or(word);
    digits.bytes().all(|it| it.is_ascii_digit()) && digits.len() <= DESCRIPTOR_DIGITS
}

/// Shells disagree about a backslash within the quotes of a delimiter.
fn has_escape_in_quotes(source: &str) -> bool {
    source.contains('\\') && source.contains(['"', '\''])
}
