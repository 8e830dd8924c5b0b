//! Server-sent events: bytes in any chunking become the data of events.

use memchr::memchr2;

use crate::lines::MAX_LINE_BYTES;

/// Longest event name that is kept; a longer one names no event of ours.
const MAX_NAME_BYTES: usize = 64;

/// One event, or what is left of it.
pub(crate) enum Frame<'a> {
    Event {
        /// Of the `event` field; empty where there is none.
        name: &'a [u8],
        /// The `data` lines, joined by line feeds.
        data: &'a [u8],
        /// Where the data begins.
        line: usize,
    },
    /// An event past [`MAX_LINE_BYTES`], whose data is gone.
    TooLong { line: usize },
}

/// Cuts a stream into events. Lines end in LF, CRLF or CR, as the WHATWG standard has it.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// The beginning of a line whose end has not come.
    partial: Vec<u8>,
    /// The line whose end has not come is past the bound.
    too_long: bool,
    /// A CR ended the line before; an LF right after it belongs to it.
    after_cr: bool,
    lines: usize,
    name: Vec<u8>,
    data: Vec<u8>,
    /// Where the data begins; `None` while the event has none.
    data_line: Option<usize>,
    /// A part of the event was past the bound.
    broken: bool,
}

impl Frames {
    /// The number of the last complete line.
    pub(crate) fn lines(&self) -> usize {
        self.lines
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8], on: &mut impl FnMut(Frame<'_>)) {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(at) = memchr2(b'\n', b'\r', bytes) else { return self.keep(bytes) };
            self.after_cr = bytes[at] == b'\r';
            if self.partial.is_empty() {
                self.end_line(&bytes[..at], on);
            } else {
                self.keep(&bytes[..at]);
                self.end_partial(on);
            }
            bytes = &bytes[at + 1..];
        }
    }

    /// Takes a whole line that is past the bound and gone.
    pub(crate) fn lose_line(&mut self, on: &mut impl FnMut(Frame<'_>)) {
        self.lines += 1;
        self.give_up(on);
    }

    /// The stream is over: its last line and event count without a terminator.
    pub(crate) fn finish(&mut self, on: &mut impl FnMut(Frame<'_>)) {
        if !self.partial.is_empty() || self.too_long {
            self.end_partial(on);
        }
        self.end_event(on);
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.partial.len() + bytes.len() > MAX_LINE_BYTES {
            self.too_long = true;
            self.partial = Vec::new();
        }
        if !self.too_long {
            self.partial.extend_from_slice(bytes);
        }
    }

    fn end_partial(&mut self, on: &mut impl FnMut(Frame<'_>)) {
        let mut line = std::mem::take(&mut self.partial);
        self.end_line(&line, on);
        line.clear();
        self.partial = line;
    }

    fn end_line(&mut self, line: &[u8], on: &mut impl FnMut(Frame<'_>)) {
        self.lines += 1;
        let line = match self.lines {
            1 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            _ => line,
        };
        if std::mem::take(&mut self.too_long) || line.len() > MAX_LINE_BYTES {
            return self.give_up(on);
        }
        if line.is_empty() {
            return self.end_event(on);
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            self.add_data(data.strip_prefix(b" ").unwrap_or(data), on);
        } else if let Some(name) = line.strip_prefix(b"event:") {
            let name = name.trim_ascii();
            self.name.clear();
            self.name.extend_from_slice(&name[..name.len().min(MAX_NAME_BYTES)]);
        }
        // Comments (`:`), `id`, `retry` and unknown fields tell nothing here.
    }

    fn add_data(&mut self, data: &[u8], on: &mut impl FnMut(Frame<'_>)) {
        if self.data.len() + data.len() >= MAX_LINE_BYTES {
            return self.give_up(on);
        }
        if self.data_line.is_some() {
            self.data.push(b'\n');
        }
        self.data_line.get_or_insert(self.lines);
        self.data.extend_from_slice(data);
    }

    fn give_up(&mut self, on: &mut impl FnMut(Frame<'_>)) {
        self.data = Vec::new();
        if !std::mem::replace(&mut self.broken, true) {
            on(Frame::TooLong { line: self.lines });
        }
    }

    fn end_event(&mut self, on: &mut impl FnMut(Frame<'_>)) {
        let line = self.data_line.take();
        // A name without data is passed on, as its data may be what was corrupt.
        if (line.is_some() || !self.name.is_empty()) && !self.broken {
            let line = line.unwrap_or(self.lines);
            on(Frame::Event { name: &self.name, data: &self.data, line });
        }
        self.broken = false;
        self.data.clear();
        self.name.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, data and line of each event; a `!` for one that is too long.
    fn frames(chunks: &[&[u8]]) -> Vec<String> {
        let mut frames = Frames::default();
        let mut seen = Vec::new();
        let mut on = |frame: Frame<'_>| {
            seen.push(match frame {
                Frame::Event { name, data, line } => format!(
                    "{line} {}={}",
                    String::from_utf8_lossy(name),
                    String::from_utf8_lossy(data)
                ),
                Frame::TooLong { line } => format!("{line} !"),
            });
        };
        for chunk in chunks {
            frames.push(chunk, &mut on);
        }
        frames.finish(&mut on);
        seen
    }

    #[test]
    fn events_end_at_a_blank_line_and_the_last_one_at_the_end() {
        assert_eq!(
            frames(&[b"event: a\ndata: 1\n\ndata:2\n\n\nid: 7\ndata: 3"]),
            ["2 a=1", "4 =2", "8 =3"]
        );
    }

    #[test]
    fn lines_may_end_in_lf_crlf_or_cr() {
        for end in ["\n", "\r\n", "\r"] {
            let body = ["event: a", "data: 1", "data: 2", "", "data: 3", "", ""].join(end);
            assert_eq!(frames(&[body.as_bytes()]), ["2 a=1\n2", "5 =3"], "{end:?}");
        }
    }

    #[test]
    fn comments_and_unknown_fields_are_no_events() {
        assert_eq!(frames(&[b": hello\n\nretry: 3\n\nwhat\n\ndata\n\n"]), [""; 0]);
    }

    #[test]
    fn a_name_without_data_is_an_event_without_data() {
        assert_eq!(frames(&[b"event: a\n\ndata: 1\n\n"]), ["2 a=", "3 =1"]);
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_line() {
        assert_eq!(frames(&[b"\xef", b"\xbb\xbfdata: 1\n\n"]), ["1 =1"]);
    }

    #[test]
    fn an_event_over_the_bound_is_told_once_and_the_next_one_is_read() {
        let long = vec![b'x'; MAX_LINE_BYTES + 1];
        let rest: &[u8] = b"\ndata: more\n\ndata: 1\n\n";
        let whole = [b"data: ", long.as_slice(), rest].concat();
        assert_eq!(frames(&[&whole]), ["1 !", "4 =1"]);
        assert_eq!(frames(&[b"data: ", &long[..9], &long[9..], rest]), ["1 !", "4 =1"]);
    }
}
