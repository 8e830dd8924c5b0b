//! What a command has written, in flat memory: its start, its end, and the count between them.

use std::collections::VecDeque;

/// Bytes kept of the start, and as many of the end: more than is ever shown, in any script.
const KEPT: usize = 128 << 10;

/// The output of a command so far.
#[derive(Default)]
pub(crate) struct Capture {
    start: Vec<u8>,
    end: VecDeque<u8>,
    /// Characters that were pushed out of `end`.
    dropped: usize,
}

impl Capture {
    /// Takes what was written next.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        let first = bytes.len().min(KEPT - self.start.len());
        self.start.extend_from_slice(&bytes[..first]);
        bytes = &bytes[first..];
        if bytes.len() > KEPT {
            let (passed, kept) = bytes.split_at(bytes.len() - KEPT);
            self.dropped += chars(self.end.iter().copied()) + chars(passed.iter().copied());
            self.end.clear();
            bytes = kept;
        }
        let over = (self.end.len() + bytes.len()).saturating_sub(KEPT);
        self.dropped += chars(self.end.drain(..over));
        self.end.extend(bytes);
    }

    /// The output as text of about `limit` characters: all of it, or its start and its end with
    /// the number of characters that are left out between them. Bytes that are not UTF-8 are shown
    /// as U+FFFD; line endings at the end are left out.
    pub(crate) fn text(mut self, limit: usize) -> String {
        if self.dropped == 0 {
            let end: &[u8] = self.end.make_contiguous();
            let all = [self.start.as_slice(), end].concat();
            let all = String::from_utf8_lossy(&all);
            let all = all.trim_end_matches(['\n', '\r']);
            let count = all.chars().count();
            if count <= limit {
                return all.to_owned();
            }
            let half = limit / 2;
            return cut(all, all, half, count - 2 * half);
        }
        // Counted before decoding: a character may be apart over what was dropped.
        let kept = chars(self.start.iter().copied()) + chars(self.end.iter().copied());
        let start = String::from_utf8_lossy(&self.start);
        let end = String::from_utf8_lossy(self.end.make_contiguous());
        let shown = end.trim_end_matches(['\n', '\r']);
        let half = limit / 2;
        let hidden = 2 * half + (end.len() - shown.len());
        cut(&start, shown, half, (self.dropped + kept).saturating_sub(hidden))
    }
}

/// Characters, counted by their first bytes, so that they may be cut anywhere.
fn chars(bytes: impl Iterator<Item = u8>) -> usize {
    bytes.filter(|it| it & 0b1100_0000 != 0b1000_0000).count()
}

fn cut(start: &str, end: &str, half: usize, left_out: usize) -> String {
    let first: String = start.chars().take(half).collect();
    let from = end.char_indices().rev().nth(half - 1).map_or(0, |(at, _)| at);
    format!("{first}\n\n... [{left_out} characters left out] ...\n\n{}", &end[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(text: &str, piece: usize, limit: usize) -> String {
        let mut capture = Capture::default();
        text.as_bytes().chunks(piece).for_each(|it| capture.push(it));
        assert!(capture.start.len() <= KEPT && capture.end.len() <= KEPT);
        capture.text(limit)
    }

    #[test]
    fn what_is_short_is_shown_whole() {
        assert_eq!(captured("a\nß\n\n", 1, 10), "a\nß");
    }

    #[test]
    fn what_is_long_is_counted_exactly_however_it_came() {
        for (count, piece) in [(100, 7), (200_000, 4_096), (400_001, 1_000_000), (400_001, 3)] {
            let text = "äb".repeat(count / 2) + &"c".repeat(count % 2);
            let shown = captured(&text, piece, 10);
            let start: String = text.chars().take(5).collect();
            let end: String = text.chars().skip(count - 5).collect();
            let left_out = count - 10;
            let expected = format!("{start}\n\n... [{left_out} characters left out] ...\n\n{end}");
            assert_eq!(shown, expected, "{count} characters in pieces of {piece} bytes");
        }
    }

    #[test]
    fn any_bytes_are_shown() {
        let mut capture = Capture::default();
        capture.push(b"a\xff\xfeb");
        assert_eq!(capture.text(100), "a\u{fffd}\u{fffd}b");
    }
}
