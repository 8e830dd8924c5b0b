//! `Read`: shows lines of a text file, and remembers for the session what was read.
//!
//! Limits, notices and the structured output are those of Claude Code docs 2.1.240, in the newest
//! line format. Text in UTF-8 only: other formats are refused, not guessed.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_contract::{
    Card, CheckCx, Conduct, InvalidInput, Look, Output, Reads, ResultLimit, RunCx, Safety,
    SeenFile, Tool, ToolError,
};

use crate::fault::{Fault, off_thread};
use crate::page::{Page, Wanted, read_page};
use crate::paths;
use crate::text_file::{missing, open};

/// Lines shown unless the call asks for another number.
const LINES: u64 = 2_000;
/// Most characters shown: some 25,000 tokens.
const CHARS: usize = 100_000;
/// Up to so many bytes a file is read to its end, so that its lines are counted and a later
/// change anywhere is found: some milliseconds.
const COUNTED: u64 = 2 << 20;
/// Bytes read at once, and looked at to tell text from other formats.
const CHUNK: usize = 64 << 10;

pub(crate) struct Read;

/// Which lines of which file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The absolute path of the file.
    file_path: String,
    /// The first line to show, from 1.
    offset: Option<u64>,
    /// How many lines to show.
    limit: Option<u64>,
}

impl Tool for Read {
    type Input = Input;
    type Output = String;

    fn card(&self) -> Card {
        Card::new(
            "Read",
            "Shows a text file, each line after its number and a tab: the first 2,000 lines, or \
             those that offset and limit name.",
        )
        .telling(&["file_path"])
        .doing("Reading")
        .result_limit(ResultLimit::Unlimited)
    }

    fn safety(&self, _: &Input) -> Safety {
        Safety::read_only()
    }

    fn conduct(&self, input: &Input) -> Conduct {
        Conduct {
            look: Look::Read,
            paths: vec![input.file_path.clone().into()],
            ..Conduct::default()
        }
    }

    async fn validate(&self, input: &Input, cx: &CheckCx) -> Result<(), InvalidInput> {
        paths::absolute(&input.file_path, &cx.session)?;
        if input.limit == Some(0) {
            return Err(InvalidInput("limit is 0: ask for at least one line".to_owned()));
        }
        Ok(())
    }

    async fn run(&self, input: Input, cx: RunCx) -> Result<Output<String>, ToolError> {
        let path = paths::absolute(&input.file_path, &cx.session)?;
        let (asked, stop, stopped) = (Asked::new(&input), cx.stop.clone(), cx.stop.clone());
        let read = off_thread(move || {
            let real = paths::real(&path).map_err(Fault::io("find", &path))?;
            let Some((file, metadata)) = open(&real)? else {
                return Err(missing(path, &cx.session));
            };
            let mut file = BufReader::with_capacity(CHUNK, file);
            refuse_other_formats(file.fill_buf().map_err(Fault::io("read", &path))?, &path)?;
            let to_the_end = metadata.len() <= COUNTED;
            let wanted =
                Wanted { first: asked.first, lines: asked.lines, chars: CHARS, to_the_end };
            let page = read_page(file, wanted, &stop).map_err(Fault::io("read", &path))?;
            let page = page.ok_or(Fault::Stopped)?;
            if page.full && asked.explicit && !page.cut {
                return Err(Fault::TooMuch { chars: CHARS, limit: page.lines.len() });
            }
            let seen = SeenFile {
                bytes: page.bytes,
                digest: page.digest,
                length: metadata.len(),
                modified: metadata.modified().ok(),
                partial: asked.is_partial(&page),
            };
            remember(&cx.reads, real, seen);
            let structured = asked.structured(&input.file_path, &page);
            Ok(Output::from(asked.text(&page)).structured(structured))
        });
        // The thread sees the stop with its next chunk, unless the file system keeps it.
        Ok(stopped.or(read).await??)
    }
}

/// A view that is partial takes nothing away from what was known of the same file.
fn remember(reads: &Reads, real: PathBuf, seen: SeenFile) {
    let same = |it: &SeenFile| (it.length, it.modified) == (seen.length, seen.modified);
    let known = reads.seen(&real).is_some_and(|it| !it.partial && same(&it));
    if !(seen.partial && known) {
        reads.note(real, seen);
    }
}

fn refuse_other_formats(start: &[u8], path: &Path) -> Result<(), Fault> {
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return Err(Fault::Utf16(path.to_owned()));
    }
    if start.contains(&0) { Err(Fault::Binary(path.to_owned())) } else { Ok(()) }
}

/// What a call asks for.
struct Asked {
    first: u64,
    lines: u64,
    /// Whether the call says itself which lines.
    explicit: bool,
}

impl Asked {
    fn new(input: &Input) -> Self {
        let first = input.offset.unwrap_or(1).max(1);
        let explicit = input.offset.is_some() || input.limit.is_some();
        Self { first, lines: input.limit.unwrap_or(LINES), explicit }
    }

    /// The number of the last line on the page.
    fn last(&self, page: &Page) -> u64 {
        self.first + (page.lines.len() as u64).saturating_sub(1)
    }

    fn is_partial(&self, page: &Page) -> bool {
        let more = page.lines_with_text().is_none_or(|it| self.last(page) < it);
        page.cut || (!self.explicit && (page.full || more))
    }

    fn text(&self, page: &Page) -> String {
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
            text.extend([end, &at.to_string(), "\t", line]);
        }
        for notice in self.notices(page) {
            text.push_str("\n\n[");
            text.push_str(&notice);
            text.push(']');
        }
        text
    }

    fn notices(&self, page: &Page) -> impl Iterator<Item = String> {
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
        let malformed = page.malformed.then(|| {
            "Some bytes are not UTF-8 and are shown as \u{fffd}: an edit would be refused."
                .to_owned()
        });
        partial.into_iter().chain(malformed)
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
