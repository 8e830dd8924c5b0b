//! How calls of Grep are shown to people: paths, line numbers and matches stand out.

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use serde_json::Value;
use toolwright_contract::Content;
use toolwright_contract::present::{Detail, Present, Text, Tone};

use super::{Input, query::matcher};

/// Lines of a result that a condensed view shows.
const LINES: usize = 3;
/// Characters of a line in a condensed view.
const CHARS: usize = 160;

/// See the module.
pub(super) struct Shown;

impl Present for Shown {
    fn result(&self, input: &Value, content: &Content, detail: Detail) -> Text {
        let text = content.text();
        let lines: Vec<_> = text.trim_end().lines().collect();
        let matcher = highlighter(input);
        let most = if detail == Detail::Full { usize::MAX } else { LINES };
        let mut shown = Text::default();
        for (at, line) in lines.iter().take(most).enumerate() {
            let cut = match detail {
                Detail::Full => None,
                Detail::Condensed => line.char_indices().nth(CHARS).map(|(at, _)| at),
            };
            shown = shown.and(Tone::Plain, if at == 0 { "" } else { "\n" });
            shown = a_line(shown, &line[..cut.unwrap_or(line.len())], matcher.as_ref());
            if cut.is_some() {
                shown = shown.and(Tone::Faint, "…");
            }
        }
        match lines.len().saturating_sub(most) {
            0 => shown,
            more => shown.and(Tone::Faint, format!("\n… {more} more lines")),
        }
    }
}

/// What finds the matches in lines again; nothing where none are shown.
fn highlighter(input: &Value) -> Option<RegexMatcher> {
    let flag = |name: &str| input.get(name).is_some_and(|it| it == true || it == "true");
    let is_content = input.get("output_mode").is_some_and(|it| it == "content");
    let pattern = input.get("pattern")?.as_str().filter(|_| is_content)?;
    let pattern = pattern.to_owned();
    matcher(&Input {
        pattern,
        ignore_case: flag("-i"),
        multiline: flag("multiline"),
        ..Input::default()
    })
    .ok()
}

fn a_line(shown: Text, line: &str, matcher: Option<&RegexMatcher>) -> Text {
    let Some(matcher) = matcher else {
        return shown
            .and(if line.starts_with("Found ") { Tone::Strong } else { Tone::Plain }, line);
    };
    if line == "--" {
        return shown.and(Tone::Faint, line);
    }
    let (path, number, text) = parts(line);
    let mut shown = shown.and(Tone::Strong, path).and(Tone::Faint, number);
    let mut from = 0;
    let searched = matcher.find_iter(text.as_bytes(), |it| {
        // A match may end inside of a character only where the pattern says so.
        if let (Some(before), Some(matched)) =
            (text.get(from..it.start()), text.get(it.start()..it.end()))
        {
            shown = std::mem::take(&mut shown).and(Tone::Plain, before).and(Tone::Good, matched);
            from = it.end();
        }
        true
    });
    // An error can't come of it.
    drop(searched);
    shown.and(Tone::Plain, &text[from..])
}

/// The path, the number with its separators, and the text of a line of a result.
fn parts(line: &str) -> (&str, &str, &str) {
    let digits = |from: usize| line[from..].bytes().take_while(u8::is_ascii_digit).count();
    let separator = |at: usize| line.as_bytes().get(at).is_some_and(|it| matches!(it, b':' | b'-'));
    let starts = std::iter::once(0).chain(line.match_indices([':', '-']).map(|(at, _)| at + 1));
    for start in starts {
        let end = start + digits(start);
        if end > start && separator(end) {
            let path = start.saturating_sub(1);
            return (&line[..path], &line[path..=end], &line[end + 1..]);
        }
    }
    match line.split_once(':') {
        Some((path, text)) if !path.contains(' ') => (path, &line[path.len()..=path.len()], text),
        _ => ("", "", line),
    }
}
