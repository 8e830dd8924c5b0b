//! Lines of a file, of bounded length, counted from 1.

use std::io::{self, BufRead, Read as _};

/// Longest line, or event of a live stream, that is read, in bytes.
///
/// The Messages API takes requests of up to 32 MB, so nothing recorded is larger; the longest line
/// seen has 1 MB.
pub const MAX_LINE_BYTES: usize = 32 << 20;

/// A line with its terminator, if it has one.
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    /// Longer than the bound; its bytes are gone.
    TooLong,
}

/// Reads line after line into one buffer.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    count: usize,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, buffer: Vec::new(), count: 0 }
    }

    /// How many lines were read.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// What is left after the lines that were read.
    pub(crate) fn into_source(self) -> R {
        self.source
    }

    /// The next line and its number, from 1.
    pub(crate) fn next_numbered(&mut self) -> io::Result<Option<(usize, Line<'_>)>> {
        let number = self.count + 1;
        Ok(self.next()?.map(|line| (number, line)))
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let bound = MAX_LINE_BYTES as u64 + 1;
        if self.source.by_ref().take(bound).read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.count += 1;
        if self.buffer.len() > MAX_LINE_BYTES && self.buffer.last() != Some(&b'\n') {
            self.buffer.clear();
            self.skip_rest()?;
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(&self.buffer)))
    }

    fn skip_rest(&mut self) -> io::Result<()> {
        loop {
            let bytes = match self.source.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                filled => filled?,
            };
            let (used, ended) = match memchr::memchr(b'\n', bytes) {
                Some(at) => (at + 1, true),
                None => (bytes.len(), bytes.is_empty()),
            };
            self.source.consume(used);
            if ended {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_over_the_bound_is_skipped_and_the_next_one_read() {
        let mut bytes = vec![b'x'; MAX_LINE_BYTES + 2];
        bytes.extend_from_slice(b"\nnext");
        let mut lines = Lines::new(bytes.as_slice());
        assert!(matches!(lines.next(), Ok(Some(Line::TooLong))));
        assert!(matches!(lines.next(), Ok(Some(Line::Whole(b"next")))));
        assert!(matches!(lines.next(), Ok(None)));
        assert_eq!(lines.count(), 2);
    }
}
