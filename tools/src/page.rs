//! A page of a text: some of its lines, read in flat memory however long text and lines are.

use std::io::{self, BufRead};

use encoding_rs::Decoder;
use memchr::memchr_iter;
use sha2::{Digest as _, Sha256};
use toolwright_contract::{Digest, Stop};

use crate::encoding::Encoding;

/// Longest encoding of a character in UTF-8, in bytes.
const CHAR_BYTES: usize = 4;

/// Which page.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// Its first line, from 1.
    pub(crate) first: u64,
    /// Most lines in it.
    pub(crate) lines: u64,
    /// Most characters in it, line endings included.
    pub(crate) chars: usize,
    /// Whether to read on to the end of the text when the page is complete.
    pub(crate) to_the_end: bool,
}

/// What was read.
#[derive(Default)]
pub(crate) struct Page {
    /// Its lines without their endings.
    pub(crate) lines: Vec<String>,
    /// Whether there were too many characters for all the lines that were wanted.
    pub(crate) full: bool,
    /// Whether its only line is cut.
    pub(crate) cut: bool,
    /// Whether some bytes were no UTF-8.
    pub(crate) malformed: bool,
    /// How many lines the text has, if its end was reached. What follows the last line ending is
    /// a line too, as in Claude Code.
    pub(crate) total: Option<u64>,
    /// Whether the last of them is only what follows the last line ending: nothing.
    blank_end: bool,
    /// Bytes read from the start of the text.
    pub(crate) bytes: u64,
    /// Their digest.
    pub(crate) digest: Digest,
}

impl Page {
    /// How many lines the text has, without an empty one at its end, if its end was reached.
    pub(crate) fn lines_with_text(&self) -> Option<u64> {
        self.total.map(|it| it - u64::from(self.blank_end))
    }
}

/// Reads a page, or nothing if the stop comes first.
///
/// # Errors
///
/// Those of `text`.
pub(crate) fn read_page(
    mut text: impl BufRead,
    encoding: Encoding,
    wanted: Wanted,
    stop: &Stop,
) -> io::Result<Option<Page>> {
    let mut reading = Reading::new(wanted);
    let mut decoding = Decoding::new(encoding);
    let mut digest = Sha256::new();
    loop {
        if stop.is_told() {
            return Ok(None);
        }
        let chunk = text.fill_buf()?;
        let length = chunk.len();
        if length == 0 {
            reading.take(decoding.utf8(chunk, true));
            reading.end();
            break;
        }
        digest.update(chunk);
        reading.take(decoding.utf8(chunk, false));
        reading.page.bytes += length as u64;
        text.consume(length);
        if reading.is_complete() && !wanted.to_the_end {
            // What ends exactly here has been read to its end.
            if text.fill_buf()?.is_empty() {
                reading.end();
            }
            break;
        }
    }
    reading.page.malformed |= decoding.malformed;
    reading.page.digest = digest.finalize().into();
    Ok(Some(reading.page))
}

/// Chunks of another encoding turned into UTF-8.
struct Decoding {
    decoder: Option<Decoder>,
    text: String,
    malformed: bool,
}

impl Decoding {
    fn new(encoding: Encoding) -> Self {
        let decoder = (!encoding.is_utf8()).then(|| encoding.decoder());
        Self { decoder, text: String::new(), malformed: false }
    }

    fn utf8<'a>(&'a mut self, chunk: &'a [u8], last: bool) -> &'a [u8] {
        let Some(decoder) = &mut self.decoder else { return chunk };
        self.text.clear();
        let room = decoder.max_utf8_buffer_length(chunk.len()).unwrap_or(chunk.len());
        self.text.reserve(room);
        let (_, _, malformed) = decoder.decode_to_string(chunk, &mut self.text, last);
        self.malformed |= malformed;
        self.text.as_bytes()
    }
}

struct Reading {
    wanted: Wanted,
    page: Page,
    /// The line that is being read, from 1.
    at: u64,
    line: Vec<u8>,
    /// Whether `line` lacks bytes, which are too many for any page.
    overlong: bool,
    chars: usize,
}

impl Reading {
    fn new(wanted: Wanted) -> Self {
        let page = Page::default();
        Self { wanted, page, at: 1, line: Vec::new(), overlong: false, chars: 0 }
    }

    fn take(&mut self, chunk: &[u8]) {
        let mut done = 0;
        for newline in memchr_iter(b'\n', chunk) {
            self.append(&chunk[done..newline]);
            self.end_line();
            self.at += 1;
            done = newline + 1;
        }
        self.append(&chunk[done..]);
        if !chunk.is_empty() {
            self.page.blank_end = done == chunk.len();
        }
        if self.overlong && !self.wanted.to_the_end {
            // No more of it could be shown, and its end may be far away.
            self.end_line();
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        if self.is_wanted() {
            let room = (self.wanted.chars + 1) * CHAR_BYTES - self.line.len();
            self.overlong |= bytes.len() > room;
            self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    fn end_line(&mut self) {
        if !self.is_wanted() {
            return;
        }
        let bytes = std::mem::take(&mut self.line);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(&bytes);
        let mark = if self.at == 1 { "\u{feff}" } else { "" };
        let line = String::from_utf8_lossy(bytes);
        let malformed = line.contains(char::REPLACEMENT_CHARACTER);
        let line = line.strip_prefix(mark).unwrap_or(&line);
        let chars = line.chars().count() + 1;
        if !self.overlong && self.chars + chars <= self.wanted.chars {
            self.chars += chars;
            self.page.lines.push(line.to_owned());
        } else {
            self.page.full = true;
            if self.page.lines.is_empty() {
                self.page.cut = true;
                self.page.lines.push(line.chars().take(self.wanted.chars).collect());
            }
        }
        self.page.malformed |= malformed && std::str::from_utf8(bytes).is_err();
        self.overlong = false;
    }

    fn end(&mut self) {
        self.end_line();
        let empty = self.page.bytes == 0;
        if empty {
            self.page.lines.clear();
        }
        self.page.total = Some(if empty { 0 } else { self.at });
    }

    fn is_wanted(&self) -> bool {
        self.at >= self.wanted.first && !self.is_complete()
    }

    /// Whether nothing can be added to the page.
    fn is_complete(&self) -> bool {
        self.page.full || self.at >= self.wanted.first.saturating_add(self.wanted.lines)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn page(text: &str, first: u64, lines: u64, chars: usize, to_the_end: bool) -> Page {
        // A small buffer: lines are apart over many chunks.
        let text = BufReader::with_capacity(3, text.as_bytes());
        let wanted = Wanted { first, lines, chars, to_the_end };
        read_page(text, Encoding::UTF8, wanted, &Stop::default()).unwrap().unwrap()
    }

    fn owned(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn a_page_has_the_lines_that_were_asked_for() {
        let text = "one\ntwo\r\n\nfour\n";
        for (first, lines, expected) in [
            (1, 9, &["one", "two", "", "four", ""][..]),
            (1, 2, &["one", "two"]),
            (2, 2, &["two", ""]),
            (5, 1, &[""]),
            (6, 1, &[]),
            (u64::MAX, u64::MAX, &[]),
        ] {
            let page = page(text, first, lines, 100, true);
            assert_eq!((page.lines.as_slice(), page.total), (&*owned(expected), Some(5)));
        }
    }

    #[test]
    fn a_page_ends_before_the_line_that_has_too_many_characters_for_it() {
        let page = page("äö\nüß\nx\n", 1, 9, 6, true);
        assert_eq!(
            (page.lines, page.full, page.cut),
            (vec!["äö".into(), "üß".into()], true, false)
        );
    }

    #[test]
    fn a_first_line_that_is_longer_than_a_page_is_cut() {
        let text = format!("x\n{}\ny", "ä".repeat(1_000));
        let page = page(&text, 2, 9, 10, true);
        assert_eq!((page.lines, page.full, page.cut), (vec!["ä".repeat(10)], true, true));
        assert_eq!(page.total, Some(3));
    }

    #[test]
    fn what_follows_the_page_is_left_unread_where_it_is_not_wanted() {
        let text = "line\n".repeat(1_000);
        let page = page(&text, 1, 2, 100, false);
        assert_eq!((page.lines.len(), page.total), (2, None));
        let read = usize::try_from(page.bytes).unwrap();
        assert!(read < 20, "{read}");
        assert_eq!(page.digest, crate::text_file::digest(&text.as_bytes()[..read]));
    }

    #[test]
    fn bytes_that_are_no_utf8_are_told() {
        let bytes = BufReader::new(&b"a\xffb\n"[..]);
        let wanted = Wanted { first: 1, lines: 9, chars: 100, to_the_end: true };
        let page = read_page(bytes, Encoding::UTF8, wanted, &Stop::default()).unwrap().unwrap();
        assert_eq!((page.lines[0].as_str(), page.malformed), ("a\u{fffd}b", true));
        assert!(!self::page("\u{fffd}", 1, 1, 9, true).malformed);
    }

    #[test]
    fn a_line_without_end_is_not_read_to_its_end() {
        let text = BufReader::with_capacity(1 << 10, io::repeat(b'x'));
        let wanted = Wanted { first: 1, lines: 9, chars: 100, to_the_end: false };
        let page = read_page(text, Encoding::UTF8, wanted, &Stop::default()).unwrap().unwrap();
        assert_eq!((page.lines, page.cut, page.total), (vec!["x".repeat(100)], true, None));
    }

    #[test]
    fn other_encodings_are_read_piece_by_piece() {
        let bytes: Vec<u8> =
            "\u{feff}aä\n€𝄞\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let encoding = Encoding::of(&bytes, true, "").unwrap();
        let wanted = Wanted { first: 1, lines: 9, chars: 100, to_the_end: true };
        let text = BufReader::with_capacity(3, &*bytes);
        let page = read_page(text, encoding, wanted, &Stop::default()).unwrap().unwrap();
        assert_eq!(page.lines, ["aä", "€𝄞", ""]);
        assert_eq!((page.total, page.malformed, page.bytes), (Some(3), false, bytes.len() as u64));
    }

    #[test]
    fn a_mark_at_the_start_is_not_shown() {
        assert_eq!(page("\u{feff}a\n\u{feff}b", 1, 9, 9, true).lines, ["a", "\u{feff}b"]);
    }
}
