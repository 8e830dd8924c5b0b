//! A text found although white space at line ends or quotation marks differ.

use std::fmt;
use std::ops::Range;

/// What a match overlooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overlooked {
    blanks: bool,
    quotes: bool,
}

impl Overlooked {
    /// From the most to the least faithful.
    const STEPS: [Self; 3] = [
        Self { blanks: true, quotes: false },
        Self { blanks: false, quotes: true },
        Self { blanks: true, quotes: true },
    ];
}

impl fmt::Display for Overlooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.blanks, self.quotes) {
            (true, false) => "white space at line ends",
            (false, true) => "typographic quotes",
            _ => "white space at line ends and typographic quotes",
        })
    }
}

/// The place in a text where a text stands that is not there letter by letter.
pub(crate) struct Found<'a> {
    pub(crate) overlooked: Overlooked,
    /// Where, without what the new text has in common with the old one at both its ends: so what
    /// isn't changed stays as it is in the file.
    pub(crate) at: Range<usize>,
    /// What goes there.
    pub(crate) new: &'a str,
}

/// Looks for `old` where it may only be meant.
///
/// # Errors
///
/// How often it is there, if that isn't once.
pub(crate) fn find<'a>(text: &str, old: &str, new: &'a str) -> Result<Found<'a>, usize> {
    for overlooked in Overlooked::STEPS {
        let plain = |it| Plain::of(it, overlooked);
        let (text, old) = (plain(text), plain(old));
        if old.text.trim().is_empty() {
            continue;
        }
        let found = text.text.match_indices(&old.text).map(|(at, _)| at);
        let mut found = found.filter(|at| !old.ends_blank || text.ends_line(at + old.text.len()));
        let Some(start) = found.next() else { continue };
        match found.count() {
            0 => return Ok(place(overlooked, &text, start..start + old.text.len(), &old, new)),
            more => return Err(more + 1),
        }
    }
    Err(0)
}

fn place<'a>(
    overlooked: Overlooked,
    text: &Plain,
    at: Range<usize>,
    old: &Plain,
    new: &'a str,
) -> Found<'a> {
    let plain_new = Plain::of(new, overlooked);
    let (one, other) = (&old.text, &plain_new.text);
    if new.is_empty() || one == other {
        return Found { overlooked, at: text.start(at.start)..text.end(at.end), new };
    }
    let before = common(one.chars(), other.chars());
    let behind = common(one[before..].chars().rev(), other[before..].chars().rev());
    let (start, end) = (text.start(at.start + before), text.end(at.end - behind));
    let (from, to) = (plain_new.start(before), plain_new.end(other.len() - behind));
    Found { overlooked, at: start..end.max(start), new: &new[from..to.max(from)] }
}

/// Bytes of the characters that both begin with.
fn common(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).map(|(it, _)| it.len_utf8()).sum()
}

/// A text without what is overlooked, and the way back.
struct Plain {
    text: String,
    /// For each of its bytes, where the character that it belongs to begins and ends in the
    /// original.
    places: Vec<(usize, usize)>,
    /// Bytes of the original.
    length: usize,
    /// Whether white space was left out at the very end.
    ends_blank: bool,
}

impl Plain {
    fn of(original: &str, overlooked: Overlooked) -> Self {
        let mut plain = Self {
            text: String::with_capacity(original.len()),
            places: Vec::with_capacity(original.len()),
            length: original.len(),
            ends_blank: false,
        };
        let mut line = 0;
        for part in original.split_inclusive('\n') {
            let (content, end) = part.strip_suffix('\n').map_or((part, ""), |it| (it, "\n"));
            let kept =
                if overlooked.blanks { content.trim_end_matches([' ', '\t']) } else { content };
            for (at, it) in kept.char_indices() {
                let it = if overlooked.quotes { straight(it) } else { it };
                plain.push(
                    it,
                    line + at,
                    line + at + original[line + at..].chars().next().map_or(0, char::len_utf8),
                );
            }
            if !end.is_empty() {
                plain.push('\n', line + content.len(), line + part.len());
            }
            line += part.len();
            plain.ends_blank = end.is_empty() && kept.len() < content.len();
        }
        plain
    }

    fn push(&mut self, it: char, start: usize, end: usize) {
        self.text.push(it);
        self.places.resize(self.text.len(), (start, end));
    }

    fn start(&self, at: usize) -> usize {
        self.places.get(at).map_or(self.length, |it| it.0)
    }

    fn end(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|it| self.places.get(it)).map_or(0, |it| it.1)
    }

    fn ends_line(&self, at: usize) -> bool {
        matches!(self.text.as_bytes().get(at), None | Some(b'\n'))
    }
}

fn straight(it: char) -> char {
    match it {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => '"',
        other => other,
    }
}
