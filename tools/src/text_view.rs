//! What a text file shows: numbered lines, and notices of what they leave out.

use std::io::{Cursor, Read as _};

use serde_json::{Value, json};
use toolwright_contract::{Content, Output, SeenFile, Stop, View};

use crate::encoding::Encoding;
use crate::fault::Fault;
use crate::options::{FileOptions, LineNumbers};
use crate::page::{Page, Wanted, read_page};
use crate::read::{Opened, Shown};

/// Lines shown unless the call asks for another number.
const LINES: u64 = 2_000;
/// Most characters shown: some 25,000 tokens.
const CHARS: usize = 100_000;
/// Up to so many bytes a file is read to its end, so that its lines are counted, its encoding is
/// known and a later change anywhere is found: some milliseconds.
const COUNTED: u64 = 2 << 20;
/// Of a longer file, bytes that its encoding is told from.
const START: u64 = 64 << 10;

/// Which lines are asked for, and how they should look.
pub(crate) struct Asked {
    first: u64,
    lines: u64,
    /// Whether the call says itself which lines.
    explicit: bool,
    numbers: LineNumbers,
}

/// Shows a file as text.
///
/// # Errors
///
/// Why there is none to show.
pub(crate) fn show(
    opened: Opened,
    asked: &Asked,
    known: Option<SeenFile>,
    stop: &Stop,
) -> Result<Shown, Fault> {
    let Opened { sent, real, mut file, metadata } = opened;
    let to_the_end = metadata.len() <= COUNTED;
    let most = if to_the_end { COUNTED + 1 } else { START };
    let mut start = Vec::new();
    file.by_ref().take(most).read_to_end(&mut start).map_err(Fault::io("read", &real))?;
    let whole = (start.len() as u64) < most;
    let remembered = known.map_or("", |it| it.encoding);
    let encoding = Encoding::of(&start, whole, remembered);
    let encoding = encoding.map_err(|_| Fault::Binary(real.clone()))?;
    let wanted = Wanted { first: asked.first, lines: asked.lines, chars: CHARS, to_the_end };
    let page = read_page(Cursor::new(start).chain(file), encoding, wanted, stop);
    let page = page.map_err(Fault::io("read", &real))?.ok_or(Fault::Stopped)?;
    if page.full && asked.explicit && !page.cut {
        return Err(Fault::TooMuch { chars: CHARS, limit: page.lines.len() });
    }
    let seen = SeenFile {
        bytes: page.bytes,
        digest: page.digest,
        length: metadata.len(),
        modified: metadata.modified().ok(),
        partial: asked.is_partial(&page),
        encoding: encoding.name(),
        shown: Some(asked.view()),
    };
    if known.is_some_and(|it| is_shown_already(&it, &seen)) {
        let text = "The file is unchanged since it was last shown in this conversation: what was \
                    shown then is what it holds.";
        let structured = json!({"type": "file_unchanged", "file": {"filePath": sent}});
        let output = Output::from(Content::from(text)).structured(structured);
        return Ok(Shown { output, seen: None });
    }
    let text = Content::from(asked.text(&page, encoding));
    let output = Output::from(text).structured(asked.structured(&sent, &page));
    Ok(Shown { output, seen: Some(seen) })
}

/// Whether the same lines were shown of the same content. Of what was not read to its end the
/// time of modification has to tell.
fn is_shown_already(known: &SeenFile, now: &SeenFile) -> bool {
    let unread = now.bytes < now.length && known.modified != now.modified;
    known.shown == now.shown
        && (known.bytes, known.digest, known.length) == (now.bytes, now.digest, now.length)
        && !unread
}

impl Asked {
    pub(crate) fn new(offset: Option<u64>, limit: Option<u64>, options: &FileOptions) -> Self {
        let first = offset.unwrap_or(1).max(1);
        let explicit = offset.is_some() || limit.is_some();
        Self { first, lines: limit.unwrap_or(LINES), explicit, numbers: options.line_numbers }
    }

    fn view(&self) -> View {
        View { first: self.first, lines: self.lines }
    }

    /// The number of the last line on the page.
    fn last(&self, page: &Page) -> u64 {
        self.first + (page.lines.len() as u64).saturating_sub(1)
    }

    fn is_partial(&self, page: &Page) -> bool {
        let more = page.lines_with_text().is_none_or(|it| self.last(page) < it);
        page.cut || (!self.explicit && (page.full || more))
    }

    fn text(&self, page: &Page, encoding: Encoding) -> String {
        match page.total {
            Some(0) => return "The file exists, but it is empty.".to_owned(),
            Some(total) if page.lines.is_empty() => {
                return format!(
                    "The file exists, but it is shorter than the offset {}: it has {total} lines. \
                     Read from an earlier line.",
                    self.first
                );
            }
            _ => {}
        }
        let mut text = String::new();
        for (at, line) in (self.first..).zip(&page.lines) {
            let end = if text.is_empty() { "" } else { "\n" };
            match self.numbers {
                LineNumbers::Tab => text.extend([end, &at.to_string(), "\t", line]),
                LineNumbers::Arrow => text.extend([end, &format!("{at:>6}"), "→", line]),
            }
        }
        for notice in self.notices(page, encoding) {
            text.extend(["\n\n[", &notice, "]"]);
        }
        text
    }

    fn notices(&self, page: &Page, encoding: Encoding) -> impl Iterator<Item = String> {
        let last = self.last(page);
        let partial = self.is_partial(page).then(|| {
            let total = page.total.map_or("more".to_owned(), |it| it.to_string());
            let cut = if page.cut { ", cut since it is too long to be shown" } else { "" };
            format!(
                "PARTIAL view: lines {} to {last} of {total}{cut}. Read on with offset {} and a \
                 limit.",
                self.first,
                last + 1
            )
        });
        let name = encoding.name();
        let guessed = encoding.is_guessed().then(|| {
            format!("The text is {name}, as far as its bytes tell. Edits keep that encoding.")
        });
        let malformed = page.malformed.then(|| {
            format!(
                "Some bytes are not {name} and are shown as \u{fffd}: an edit would be refused."
            )
        });
        partial.into_iter().chain(guessed).chain(malformed)
    }

    fn structured(&self, path: &str, page: &Page) -> Value {
        json!({"type": "text", "file": {
            "filePath": path,
            "content": page.lines.join("\n"),
            "numLines": page.lines.len(),
            "startLine": self.first,
            "totalLines": page.total,
        }})
    }
}
