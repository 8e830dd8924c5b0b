//! Here-documents: where the text ends, and what is replaced in it.

use super::{Read, Reader, word::Draught};
use crate::{
    doubt::Reason,
    understanding::{Direction, Word},
};

/// A here-document whose text has not been reached.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) delimiter: String,
    /// Whether the delimiter was quoted, so that nothing is replaced.
    pub(super) quoted: bool,
    /// `<<-`
    pub(super) strips_tabs: bool,
    /// Where the delimiter stands; it tells the redirections apart.
    pub(super) at: usize,
}

impl Reader<'_> {
    /// Reads the texts that a line has announced.
    pub(super) fn here_documents(&mut self) -> Read<()> {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.at;
            let Some((end, next)) = self.end_of_text(&pending) else {
                return self.halt(Reason::HereDocument);
            };
            let mut word = if pending.quoted {
                let text = self.text.get(start..end).unwrap_or_default().to_owned();
                Word { text, quoted: true, ..Word::default() }
            } else {
                self.replaced(&pending, start, end)?
            };
            word.span = self.position_of(start)..self.position_of(end);
            self.at = next;
            self.deliver(&pending, word)?;
        }
        Ok(())
    }

    /// Where the text ends, and where the line after the delimiter begins.
    fn end_of_text(&mut self, pending: &Pending) -> Option<(usize, usize)> {
        let mut start = self.at;
        while start < self.text.len() {
            let mut line = String::new();
            let mut next = start;
            let mut joined = false;
            loop {
                let rest = self.text.get(next..)?;
                let length = rest.find('\n').unwrap_or(rest.len());
                let part = rest.get(..length)?;
                next = (next + length + 1).min(self.text.len());
                if joined && part.trim_start_matches('\t') == pending.delimiter {
                    // Not every shell joins lines before it looks for the delimiter.
                    self.doubt(Reason::ShellsDiffer);
                }
                let backslashes = part.bytes().rev().take_while(|it| *it == b'\\').count();
                let goes_on = !pending.quoted && backslashes % 2 == 1 && next < self.text.len();
                line.push_str(if goes_on { part.get(..length - 1)? } else { part });
                joined |= goes_on;
                if !goes_on {
                    break;
                }
            }
            let line = if pending.strips_tabs { line.trim_start_matches('\t') } else { &line };
            if line == pending.delimiter {
                return Some((start, next));
            }
            start = next;
        }
        None
    }

    /// Reads the expansions of a text that ends at `end`, and nothing beyond it.
    fn replaced(&mut self, pending: &Pending, start: usize, end: usize) -> Read<Word> {
        let text = self.text.get(..end).unwrap_or_default();
        let body = text.get(start..).unwrap_or_default();
        if !body.contains(['$', '`', '\\']) {
            return Ok(Word { text: body.to_owned(), ..Word::default() });
        }
        if pending.strips_tabs && body.contains("<<") {
            // The tabs go first, and the inner text may end elsewhere then.
            return self.halt(Reason::HereDocument);
        }
        let mut reader = Reader {
            text,
            at: start,
            fixed: self.fixed,
            depth: self.depth,
            place: self.place,
            pending: Vec::new(),
            regex: None,
            draft: self.draft,
        };
        let mut draught = Draught::default();
        reader.nested(|it| {
            while it.peek().is_some() {
                it.quoted_piece(&mut draught, false)?;
            }
            Ok(())
        })?;
        Ok(draught.word)
    }

    /// Gives a text to the redirection that asked for it.
    fn deliver(&mut self, pending: &Pending, word: Word) -> Read<()> {
        let mut redirections =
            self.draft.commands.iter_mut().rev().flat_map(|it| it.redirections.iter_mut());
        let owner = redirections.find(|it| {
            it.direction == Direction::HereDocument && it.target.span == (pending.at..pending.at)
        });
        match owner {
            Some(redirection) => {
                redirection.target = word;
                Ok(())
            }
            None => self.halt(Reason::HereDocument),
        }
    }
}
