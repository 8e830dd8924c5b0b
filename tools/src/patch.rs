//! The structured patch between two texts, in the shape that Claude Code's results have.

use std::time::Duration;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;
/// After so long a patch is only an approximation: still right, but longer than need be.
const LONGEST: Duration = Duration::from_millis(200);

/// The hunks between two texts: `oldStart`, `oldLines`, `newStart`, `newLines`, `lines`.
pub(crate) fn structured_patch(old: &str, new: &str) -> Value {
    let diff = TextDiff::configure().timeout(LONGEST).diff_lines(old, new);
    let hunks = diff.grouped_ops(CONTEXT_LINES).into_iter().filter_map(|ops| {
        let (first, last) = (ops.first()?, ops.last()?);
        let olds = first.old_range().start..last.old_range().end;
        let news = first.new_range().start..last.new_range().end;
        let mut lines = Vec::new();
        for change in ops.iter().flat_map(|op| diff.iter_changes(op)) {
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
        Some(json!({
            "oldStart": olds.start + 1,
            "oldLines": olds.len(),
            "newStart": news.start + 1,
            "newLines": news.len(),
            "lines": lines,
        }))
    });
    Value::Array(hunks.collect())
}
