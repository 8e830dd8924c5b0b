//! How changes of files are shown to people: as unified diffs.

use serde_json::Value;
use toolwright_contract::present::{Detail, Present, Text, Tone};

/// Lines of a diff that a condensed view shows.
const LINES: usize = 12;

pub(crate) struct Changes;

impl Present for Changes {
    fn structured(&self, structured: &Value, detail: Detail) -> Option<Text> {
        let hunks = structured.get("structuredPatch")?.as_array()?;
        let path = structured.get("filePath").or_else(|| structured.get("notebook_path"));
        let diff: Vec<_> = hunks.iter().filter_map(diff_lines).flatten().collect();
        let (title, shown) = match detail {
            Detail::Condensed => (counts(&diff), diff.len().min(LINES)),
            Detail::Full => {
                let path = path.and_then(Value::as_str).unwrap_or_default();
                (format!("--- {path}\n+++ {path}"), diff.len())
            }
        };
        let mut text = Text::of(Tone::Strong, title);
        for (tone, line) in &diff[..shown] {
            text = text.and(*tone, format!("\n{line}"));
        }
        match diff.len() - shown {
            0 => Some(text),
            more => Some(text.and(Tone::Faint, format!("\n… {more} more lines"))),
        }
    }
}

fn counts(diff: &[(Tone, String)]) -> String {
    let count = |tone: Tone| diff.iter().filter(|it| it.0 == tone).count();
    format!("{} lines added, {} removed", count(Tone::Good), count(Tone::Bad))
}

/// The lines of a hunk, its heading first.
fn diff_lines(hunk: &Value) -> Option<Vec<(Tone, String)>> {
    let number = |it: &str| hunk.get(it).and_then(Value::as_u64);
    let heading = format!(
        "@@ -{},{} +{},{} @@",
        number("oldStart")?,
        number("oldLines")?,
        number("newStart")?,
        number("newLines")?
    );
    let lines = hunk.get("lines")?.as_array()?.iter().filter_map(Value::as_str);
    let lines = lines.map(|it| (tone(it), it.to_owned()));
    Some([(Tone::Faint, heading)].into_iter().chain(lines).collect())
}

fn tone(line: &str) -> Tone {
    match line.as_bytes().first() {
        Some(b'+') => Tone::Good,
        Some(b'-') => Tone::Bad,
        Some(b'\\') => Tone::Faint,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::patch::structured_patch;

    fn shown(old: &str, new: &str, detail: Detail) -> String {
        let structured = json!({"filePath": "/a", "structuredPatch": structured_patch(old, new)});
        Changes.structured(&structured, detail).unwrap().plain()
    }

    #[test]
    fn a_change_is_shown_as_a_diff_with_what_is_around_it() {
        let (old, new) = ("a\nb\nc\nd\ne\n", "a\nb\nx\ny\nd\ne");
        insta::assert_snapshot!(shown(old, new, Detail::Full), @"
        --- /a
        +++ /a
        @@ -1,5 +1,6 @@
         a
         b
        -c
        +x
        +y
         d
        -e
        +e
        \\ No newline at end of file
        ");
        let condensed = shown(old, new, Detail::Condensed);
        assert!(
            condensed.starts_with("3 lines added, 2 removed\n@@ -1,5 +1,6 @@\n a\n"),
            "{condensed}"
        );
    }

    #[test]
    fn a_condensed_diff_says_how_much_it_leaves_out() {
        let text = shown("", &"x\n".repeat(100), Detail::Condensed);
        assert!(text.starts_with("100 lines added, 0 removed\n@@ -1,0 +1,100 @@\n+x"), "{text}");
        assert!(text.ends_with("\n+x\n… 89 more lines"), "{text}");
    }

    #[test]
    fn what_has_no_patch_is_shown_as_text() {
        assert_eq!(Changes.structured(&json!({}), Detail::Full), None);
        assert_eq!(
            Changes.structured(&json!({"structuredPatch": [1]}), Detail::Full).unwrap().plain(),
            "--- \n+++ "
        );
    }
}
