//! The structured patch between two texts, in the shape that Claude Code's results have.

use std::time::Duration;

use serde_json::{Value, json};
use similar::{Change, ChangeTag, TextDiff};

/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;
/// After so long a patch is only an approximation: still right, but longer than need be.
const LONGEST: Duration = Duration::from_millis(200);

/// The hunks between two texts: `oldStart`, `oldLines`, `newStart`, `newLines`, `lines`.
pub(crate) fn structured_patch(old: &str, new: &str) -> Value {
    let (before, old, new) = around_changes(old, new);
    let diff = TextDiff::configure().timeout(LONGEST).diff_lines(old, new);
    let hunks = diff.grouped_ops(CONTEXT_LINES).into_iter().map(|ops| {
        let changes: Vec<_> = ops.iter().flat_map(|op| diff.iter_changes(op)).collect();
        let mut lines = Vec::new();
        for change in &changes {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let line = change.value().trim_end_matches('\n').trim_end_matches('\r');
            lines.push(format!("{sign}{line}"));
            if change.missing_newline() {
                lines.push("\\ No newline at end of file".to_owned());
            }
        }
        let olds: Vec<_> = changes.iter().filter_map(Change::old_index).collect();
        let news: Vec<_> = changes.iter().filter_map(Change::new_index).collect();
        let start = |lines: &[usize]| before + lines.first().unwrap_or(&0) + 1;
        json!({
            "oldStart": start(&olds),
            "oldLines": olds.len(),
            "newStart": start(&news),
            "newLines": news.len(),
            "lines": lines,
        })
    });
    Value::Array(hunks.collect())
}

/// The parts of two texts that differ, with whole lines of context, and how many lines come before
/// them. What both begin and end with need not be compared line by line.
fn around_changes<'a>(old: &'a str, new: &'a str) -> (usize, &'a str, &'a str) {
    let (one, other) = (old.as_bytes(), new.as_bytes());
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let start = memchr::memrchr_iter(b'\n', &one[..same]).nth(CONTEXT_LINES).map_or(0, |it| it + 1);
    let (one, other) = (&one[same..], &other[same..]);
    let alike = one.iter().rev().zip(other.iter().rev());
    let alike = alike.take_while(|(one, other)| one == other).count();
    let rest = &one[one.len() - alike..];
    // One line more, since the first of them may be the end of a changed one.
    let kept = memchr::memchr_iter(b'\n', rest).nth(CONTEXT_LINES + 1).map_or(alike, |it| it + 1);
    let cut = alike - kept;
    let before = memchr::memchr_iter(b'\n', &old.as_bytes()[..start]).count();
    (before, &old[start..old.len() - cut], &new[start..new.len() - cut])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Applies a patch to lines, to see whether it is one.
    fn applied(old: &str, patch: &Value) -> Vec<String> {
        let old: Vec<_> = old.lines().collect();
        let (mut lines, mut done) = (Vec::new(), 0);
        for hunk in patch.as_array().unwrap() {
            let number = |it: &str| usize::try_from(hunk[it].as_u64().unwrap()).unwrap();
            let start = number("oldStart") - 1;
            lines.extend(old[done..start].iter().map(|it| (*it).to_owned()));
            assert_eq!(lines.len(), number("newStart") - 1);
            for line in hunk["lines"].as_array().unwrap() {
                match line.as_str().unwrap().split_at(1) {
                    ("-" | "\\", _) => {}
                    (_, line) => lines.push(line.to_owned()),
                }
            }
            done = start + number("oldLines");
        }
        lines.extend(old[done..].iter().map(|it| (*it).to_owned()));
        lines
    }

    #[test]
    fn a_change_has_three_lines_around_it() {
        let old: String = (1..=20).map(|it| format!("{it}\n")).collect();
        let patch = structured_patch(&old, &old.replace("10\n", "ten\n"));
        assert_eq!(
            patch,
            json!([{"oldStart": 7, "oldLines": 7, "newStart": 7, "newLines": 7, "lines":
                [" 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13"]}])
        );
    }

    proptest! {
        #[test]
        fn a_patch_leads_from_one_text_to_the_other(
            old in "([ab€]{0,2}\n){0,20}[ab]{0,2}",
            new in "([ab€]{0,2}\n){0,20}[ab]{0,2}",
            same in "([ab€]{0,2}\n){0,9}",
        ) {
            let (old, new) = (format!("{same}{old}{same}"), format!("{same}{new}{same}"));
            let lines: Vec<_> = new.lines().map(str::to_owned).collect();
            prop_assert_eq!(applied(&old, &structured_patch(&old, &new)), lines);
        }
    }
}
