//! One text replaced by another in a file's text, whose line endings and mark stay as they are.

use std::borrow::Cow;

/// The mark at the start of some UTF-8 files; the model never sees it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What to replace by what.
#[derive(Clone, Copy)]
pub(crate) struct Replacement<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    /// Every occurrence instead of the only one.
    pub(crate) all: bool,
}

/// Why nothing was replaced.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misfit {
    #[error(
        "No changes to make: old_string and new_string are exactly the same. Send the text as it should become."
    )]
    Same,
    #[error("old_string is empty, but the file has content. Send the text that is to be replaced.")]
    NothingToReplace,
    #[error(
        "String to replace not found in file. Read the file again and send the text exactly as it stands there, without line numbers.\nString: {0}"
    )]
    NotFound(String),
    #[error(
        "Found {0} matches of the string to replace, but replace_all is false. Set replace_all to true to change all of them, or send more of the text around the one that is meant."
    )]
    Several(usize),
}

impl Replacement<'_> {
    /// The text after the replacement. A line ending in either text stands for whichever the file
    /// has in that place. An empty `new` takes the line ending after `old` with it, as recorded
    /// sessions of Claude Code do (1.0 to 2.1).
    ///
    /// # Errors
    ///
    /// Why it doesn't fit the text.
    pub(crate) fn apply(&self, text: &str) -> Result<String, Misfit> {
        if self.old.is_empty() {
            return Err(Misfit::NothingToReplace);
        }
        let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(body) => (&text[..text.len() - body.len()], body),
            None => ("", text),
        };
        let lines = UnixLines::of(body);
        let old = unix(self.old);
        let found: Vec<usize> = lines.text.match_indices(&*old).map(|(at, _)| at).collect();
        match found.len() {
            0 => return Err(Misfit::NotFound(self.old.to_owned())),
            1 => {}
            many if !self.all => return Err(Misfit::Several(many)),
            _ => {}
        }
        let mut replaced = String::with_capacity(text.len() + self.new.len());
        replaced.push_str(mark);
        let mut done = 0;
        for start in found {
            let end = start + old.len() + self.line_ending_after(&lines.text[start + old.len()..]);
            let (start, end) = (lines.original(start), lines.original(end));
            replaced.push_str(&body[done..start]);
            replaced.push_str(&self.new_in(body, &body[start..end]));
            done = end;
        }
        replaced.push_str(&body[done..]);
        if replaced == text { Err(Misfit::Same) } else { Ok(replaced) }
    }

    fn line_ending_after(&self, rest: &str) -> usize {
        let takes_it = self.new.is_empty() && !self.old.ends_with('\n') && rest.starts_with('\n');
        usize::from(takes_it)
    }

    /// The new text with the line endings of what it replaces, else those of the file.
    fn new_in(&self, body: &str, replaced: &str) -> Cow<'_, str> {
        match ending(replaced).or_else(|| ending(body)) {
            None => Cow::Borrowed(self.new),
            Some(Ending::Unix) => unix(self.new),
            Some(Ending::Windows) => Cow::Owned(unix(self.new).replace('\n', "\r\n")),
        }
    }
}

#[derive(Clone, Copy)]
enum Ending {
    Unix,
    Windows,
}

/// How the lines of a text end, by its first line.
fn ending(text: &str) -> Option<Ending> {
    let first = memchr::memchr(b'\n', text.as_bytes())?;
    let windows = first > 0 && text.as_bytes()[first - 1] == b'\r';
    Some(if windows { Ending::Windows } else { Ending::Unix })
}

fn unix(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// A text with `\n` at the end of every line, and the way back to the original.
struct UnixLines<'a> {
    text: Cow<'a, str>,
    /// Where, in `text`, a `\n` stands that had a `\r` before it.
    shortened: Vec<usize>,
}

impl<'a> UnixLines<'a> {
    fn of(original: &'a str) -> Self {
        let pairs = original.match_indices("\r\n").enumerate();
        let shortened = pairs.map(|(before, (at, _))| at - before).collect();
        Self { text: unix(original), shortened }
    }

    /// The place in the original of a place in the text.
    fn original(&self, at: usize) -> usize {
        at + self.shortened.partition_point(|it| *it < at)
    }
}
