//! What a search gives: text for the model, and the same for programs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::Mode;
use super::file_search::{Found, Totals};
use super::query::Query;
use crate::walk::Walked;

/// What stands between the lines of two files where context is shown, as in `rg`.
const BETWEEN: &str = "--";

/// What was found (Claude Code docs 2.1.240).
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    /// What the search gives.
    mode: Mode,
    /// How many paths are given, or for `count` how many files match.
    num_files: u64,
    /// The paths, those of files that were modified last first; for `files_with_matches`.
    filenames: Vec<String>,
    /// The lines that are shown; for `content` and `count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// How many they are; for `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    num_lines: Option<usize>,
    /// How many matches there are, shown or not; for `content` and `count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    num_matches: Option<u64>,
    /// How many files match, shown or not.
    total_files: u64,
    /// How many lines there are, shown or not; for `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
    /// The limit, if it left something out.
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_limit: Option<usize>,
    /// The offset, if it left something out.
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_offset: Option<usize>,
    /// Whether the time was over before the search was done; then totals are what was found.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
}

impl Answer {
    /// The answer, and notices that belong under it.
    pub(super) fn new(walked: Walked<Found>, query: &Query, time: Duration) -> (Self, Vec<String>) {
        let Found { files, totals, cut } = walked.found;
        let kept: Vec<_> = files.into_results().map(|(_, text)| text).collect();
        let between = if query.has_context() { totals.files.saturating_sub(1) } else { 0 };
        let total = totals.lines + between;
        let lines = page(&kept, query);
        let more = total.saturating_sub((query.offset.saturating_add(lines.len())) as u64);
        let limited = more > 0 && lines.len() >= query.limit;
        let mut notices = Vec::new();
        if cut || (more > 0 && !limited && !lines.is_empty()) {
            notices.push(
                "[The result is too large and is cut. Use a narrower pattern, path or glob.]"
                    .to_owned(),
            );
        }
        if walked.over.is_some() {
            notices.push(format!(
                "[Ripgrep search timed out after {} seconds: this is what was found until then. \
                 Search a more specific path.]",
                time.as_secs()
            ));
        }
        notices.extend(walked.troubles.notice());
        let answer = Self {
            mode: query.mode,
            total_files: totals.files,
            applied_limit: limited.then_some(query.limit),
            applied_offset: (query.offset > 0).then_some(query.offset),
            timed_out: walked.over.is_some(),
            ..Self::default()
        };
        (answer.with(lines, total, totals), notices)
    }

    fn with(self, lines: Vec<String>, total: u64, totals: Totals) -> Self {
        match self.mode {
            Mode::FilesWithMatches => {
                Self { num_files: lines.len() as u64, filenames: lines, ..self }
            }
            Mode::Content => Self {
                content: Some(lines.join("\n")),
                num_lines: Some(lines.len()),
                num_matches: Some(totals.matches),
                total_lines: Some(total),
                ..self
            },
            Mode::Count => Self {
                num_files: totals.files,
                content: Some(lines.join("\n")),
                num_matches: Some(totals.matches),
                ..self
            },
        }
    }

    /// What the model reads.
    pub(super) fn text(&self, notices: &[String]) -> String {
        let mut text = match self.mode {
            Mode::Content => self.lines(),
            Mode::FilesWithMatches => self.paths(),
            Mode::Count => self.counts(),
        };
        for notice in notices {
            text.push_str("\n\n");
            text.push_str(notice);
        }
        text
    }

    fn lines(&self) -> String {
        let total = self.total_lines.unwrap_or(0);
        match &self.content {
            _ if total == 0 => "No matches found".to_owned(),
            // A model that gets nothing but white space would be told that there is no output.
            Some(content) if self.num_lines > Some(0) && content.trim().is_empty() => {
                format!("[All of the {total} lines are blank]")
            }
            Some(content) if self.num_lines > Some(0) => {
                let page = self.page(&format!("{total} lines"));
                let page = page.map_or(String::new(), |it| format!("\n\n[{it}]"));
                format!("{content}{page}")
            }
            _ => format!("No entries at this offset ({total} lines in all)"),
        }
    }

    fn paths(&self) -> String {
        let total = self.total_files;
        if total == 0 {
            return "No files found".to_owned();
        }
        if self.filenames.is_empty() {
            return format!("No entries at this offset ({total} files in all)");
        }
        let page = self.page(&plural(total, "file"));
        let page = page.map_or(String::new(), |it| format!("\n\n[{it}]"));
        format!("Found {}\n{}{page}", plural(total, "file"), self.filenames.join("\n"))
    }

    fn counts(&self) -> String {
        let files = plural(self.total_files, "file");
        let matches = plural(self.num_matches.unwrap_or(0), "total occurrence");
        let content = match self.content.as_deref().unwrap_or_default() {
            "" if self.total_files == 0 => "No matches found",
            "" => "No entries at this offset",
            content => content,
        };
        let page = self.page(&files).map_or(String::new(), |it| format!("\n[{it}]"));
        format!("{content}\n\nFound {matches} across {files}.{page}")
    }

    /// Which part is shown, if it isn't all.
    fn page(&self, all: &str) -> Option<String> {
        let (limit, offset) = (self.applied_limit, self.applied_offset);
        let limit_part = limit.map(|it| format!("limit: {it}, "));
        (limit.is_some() || offset.is_some()).then(|| {
            format!(
                "Showing results with pagination = {}offset: {}; {all} in all",
                limit_part.unwrap_or_default(),
                offset.unwrap_or(0)
            )
        })
    }
}

/// The lines that are asked for, of those that were kept.
fn page(kept: &[Vec<u8>], query: &Query) -> Vec<String> {
    let mut lines = Vec::new();
    let mut at = 0;
    let mut add = |line: &[u8]| {
        if at >= query.offset && lines.len() < query.limit {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            lines.push(String::from_utf8_lossy(line).into_owned());
        }
        at += 1;
    };
    for (nth, text) in kept.iter().enumerate() {
        if nth > 0 && query.has_context() {
            add(BETWEEN.as_bytes());
        }
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        text.split(|it| *it == b'\n').for_each(&mut add);
    }
    lines
}

fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
