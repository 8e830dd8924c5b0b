//! One text replaced by another in a file's text, whose line endings stay as they are.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::forgiving::{self, Overlooked};

/// After so long a comparison of two texts is only an approximation: some lines are then taken for
/// new ones.
const LONGEST_DIFF: Duration = Duration::from_millis(200);

/// What to replace by what.
#[derive(Clone, Copy)]
pub(crate) struct Replacement<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    /// Every occurrence instead of the only one.
    pub(crate) all: bool,
}

/// Why nothing was replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
    #[error("The edits undo each other, so there are no changes to make. Send what should differ.")]
    Undone,
}

/// A text after a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) text: String,
    /// How many places were changed.
    pub(crate) places: usize,
    /// What differed between the text that was sent and the file, if anything did.
    pub(crate) overlooked: Option<Overlooked>,
}

impl Replacement<'_> {
    /// The text after the replacement. A line ending in either text stands for whichever the file
    /// has in that place. An empty `new` takes the line ending after `old` with it, as recorded
    /// sessions of Claude Code do (1.0 to 2.1). A text that isn't there exactly is looked for once
    /// more without white space at line ends and with straight quotes, and must be unique then.
    ///
    /// # Errors
    ///
    /// Why it doesn't fit the text.
    pub(crate) fn apply(&self, text: &str) -> Result<Replaced, Misfit> {
        if self.old == self.new {
            return Err(Misfit::Same);
        }
        if self.old.is_empty() {
            return Err(Misfit::NothingToReplace);
        }
        let lines = UnixLines::of(text);
        let old = unix(self.old);
        let found: Vec<usize> = lines.text.match_indices(&*old).map(|(at, _)| at).collect();
        let replaced = match found.len() {
            0 => self.apply_forgiving(&lines, text)?,
            many if many > 1 && !self.all => return Err(Misfit::Several(many)),
            places => {
                let end = |start: usize| {
                    let end = start + old.len();
                    end + self.line_ending_after(&lines.text[end..])
                };
                let spans = found.into_iter().map(|start| (start..end(start), self.new));
                Replaced { text: lines.replaced(text, spans), places, overlooked: None }
            }
        };
        if replaced.text == text { Err(Misfit::Same) } else { Ok(replaced) }
    }

    fn apply_forgiving(&self, lines: &UnixLines<'_>, text: &str) -> Result<Replaced, Misfit> {
        let (old, new) = (unix(self.old), unix(self.new));
        let found = forgiving::find(&lines.text, &old, &new).map_err(|several| match several {
            0 => Misfit::NotFound(self.old.to_owned()),
            many => Misfit::Several(many),
        })?;
        let end = found.at.end + self.line_ending_after(&lines.text[found.at.end..]);
        let text = lines.replaced(text, [(found.at.start..end, found.new)]);
        Ok(Replaced { text, places: 1, overlooked: Some(found.overlooked) })
    }

    fn line_ending_after(&self, rest: &str) -> usize {
        let takes_it = self.new.is_empty() && !self.old.ends_with('\n') && rest.starts_with('\n');
        usize::from(takes_it)
    }
}

/// A text whose lines end as those that it replaces, one by one, and as the last of them when
/// there are no more; if it replaces none, as the first line of the whole.
fn with_endings<'a>(new: &'a str, replaced: &str, whole: &str) -> Cow<'a, str> {
    let Some(mut ending) = endings(replaced).chain(endings(whole)).next() else {
        return Cow::Borrowed(new);
    };
    let mut endings = endings(replaced);
    let new = unix(new);
    let mut lines = new.split('\n');
    let mut text = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        ending = endings.next().unwrap_or(ending);
        text.push_str(ending);
        text.push_str(line);
    }
    text.into()
}

/// How the lines of a text end, one after another.
fn endings(text: &str) -> impl Iterator<Item = &'static str> {
    let windows = |at: usize| at > 0 && text.as_bytes()[at - 1] == b'\r';
    let newlines = memchr::memchr_iter(b'\n', text.as_bytes());
    newlines.map(move |at| if windows(at) { "\r\n" } else { "\n" })
}

/// A new text for a whole file, with the line endings that the file has: its lines keep theirs, and
/// others get that of the line before. A text with endings of Windows is taken as it is.
pub(crate) fn with_endings_of(old: &str, new: &str) -> String {
    let Some(first) = endings(old).next().filter(|_| !new.contains('\r')) else {
        return new.to_owned();
    };
    if endings(old).all(|it| it == first) {
        return if first == "\n" { new.to_owned() } else { new.replace('\n', "\r\n") };
    }
    let plain = unix(old);
    let diff = TextDiff::configure().timeout(LONGEST_DIFF).diff_lines(&*plain, new);
    let old_endings: Vec<_> = endings(old).collect();
    let (mut text, mut last) = (String::with_capacity(new.len()), first);
    for change in diff.iter_all_changes().filter(|it| it.tag() != ChangeTag::Delete) {
        if let Some(ending) = change.old_index().and_then(|it| old_endings.get(it)) {
            last = ending;
        }
        match change.value().strip_suffix('\n') {
            Some(line) => text.extend([line, last]),
            None => text.push_str(change.value()),
        }
    }
    text
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

    /// The original with other texts in places of the text. What follows them is kept as it is.
    fn replaced<'b>(
        &self,
        original: &str,
        places: impl IntoIterator<Item = (Range<usize>, &'b str)>,
    ) -> String {
        let mut replaced = String::with_capacity(original.len());
        let mut done = 0;
        for (at, new) in places {
            let (start, end) = (self.original(at.start), self.original(at.end));
            replaced.push_str(&original[done..start]);
            replaced.push_str(&with_endings(new, &original[start..end], original));
            done = end;
        }
        replaced.push_str(&original[done..]);
        replaced
    }
}
