//! `Glob`: finds files by name, the last modified first.
//!
//! Cap, time and the structured output are those of Claude Code docs 2.1.240. Patterns mean what
//! they do in a gitignore file: `*.rs` is found at any depth, `src/*.rs` below the folder alone.
//! What is ignored or hidden is found too, but not what version control keeps for itself, unless
//! the pattern names it.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use ignore::{DirEntry, WalkBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;
use toolwright_contract::present::{Detail, Present, Text, Tone};
use toolwright_contract::{
    Card, CheckCx, Conduct, Content, Family, InvalidInput, Look, Output, RunCx, Safety,
    SessionContext, Tool, ToolError, schema_of,
};

use crate::fault::{Fault, off_thread};
use crate::paths::{Start, start};
use crate::pattern::{below, selection};
use crate::ranking::{Ranking, Room};
use crate::walk::{
    AT_ONCE, Gather, Over, TIME, Tree, Walked, Watch, Worker, means_version_control,
    skip_version_control,
};

/// Most files that are shown.
const FILES: usize = 100;

/// See the module.
pub(crate) struct Glob {
    time: Duration,
    places: Arc<Semaphore>,
}

impl Default for Glob {
    fn default() -> Self {
        Self { time: TIME, places: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

/// Which files, and where.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The glob that names must match, like `**/*.{js,ts}` or `src/**/test_*.py`.
    pattern: String,
    /// The directory to search in; leave it out for the working directory.
    path: Option<String>,
}

impl Tool for Glob {
    type Input = Input;
    type Output = String;

    fn card(&self) -> Card {
        Card::new(
            "Glob",
            "Finds files whose names match a glob, the last modified first, 100 at most. Files \
             that are ignored or hidden are found too.",
        )
        .about(Family::ReadPath, "path")
        .telling(&["pattern"])
        .doing("Finding")
    }

    fn safety(&self, _: &Input) -> Safety {
        Safety::read_only()
    }

    fn conduct(&self, input: &Input) -> Conduct {
        let path = input.path.as_deref().unwrap_or(".");
        Conduct { look: Look::List, paths: vec![path.into()], ..Conduct::default() }
    }

    fn output_schema(&self) -> Option<Value> {
        Some(schema_of::<Answer>())
    }

    fn present(&self) -> Box<dyn Present> {
        Box::new(Shown)
    }

    async fn validate(&self, input: &Input, cx: &CheckCx) -> Result<(), InvalidInput> {
        let (input, session) = (input.clone(), cx.session.clone());
        let checked = off_thread(move || {
            let start = folder(&input, &session)?;
            below(&input.pattern, &start.path)
        });
        checked.await?;
        Ok(())
    }

    async fn run(&self, input: Input, cx: RunCx) -> Result<Output<String>, ToolError> {
        let (time, places, stop) = (self.time, self.places.clone(), cx.stop.clone());
        // The place stays taken until the threads are done, also when nobody waits for them.
        let place = stop.or(places.acquire_owned()).await?;
        let searched = off_thread(move || {
            let watch = Watch::new(cx.stop, time);
            let answer = search(&input, &cx.session, &watch);
            drop(place);
            answer
        });
        let (answer, notes) = stop.or(searched).await??;
        let structured = serde_json::to_value(&answer)
            .map_err(|it| ToolError::failed(format!("The result can't be written: {it}")))?;
        Ok(Output::from(answer.text(&notes)).structured(structured))
    }
}

fn folder(input: &Input, session: &SessionContext) -> Result<Start, Fault> {
    let start = start(input.path.as_deref(), session)?;
    if start.is_folder { Ok(start) } else { Err(Fault::NotFolder(start.path)) }
}

fn search(
    input: &Input,
    session: &SessionContext,
    watch: &Watch,
) -> Result<(Answer, Vec<String>), Fault> {
    let began = Instant::now();
    let start = folder(input, session)?;
    let glob = below(&input.pattern, &start.path)?;
    let tree = Tree { start: &start, unseen: &session.unseen, watch };
    let mut builder = WalkBuilder::new(&start.path);
    builder.standard_filters(false).overrides(selection(&start.path, [&*glob])?);
    if !means_version_control(&glob) {
        skip_version_control(&mut builder);
    }
    let walked = tree.walk(&mut builder, Names::default);
    if walked.over == Some(Over::Stopped) {
        return Err(Fault::Stopped);
    }
    let notes = walked.troubles.notice().into_iter().collect();
    Ok((Answer::new(walked, began.elapsed()), notes))
}

/// The files that were found, the last modified first, then by name.
type Found = Ranking<(Reverse<Option<SystemTime>>, PathBuf), ()>;

struct Names {
    files: u64,
    newest: Found,
}

impl Default for Names {
    fn default() -> Self {
        Self { files: 0, newest: Ranking::new(Room { lines: FILES, bytes: usize::MAX }) }
    }
}

impl Gather for Names {
    fn merge(&mut self, other: Self) {
        self.files += other.files;
        self.newest.merge(other.newest);
    }
}

impl Worker for Names {
    type Found = Self;

    fn visit(&mut self, entry: &DirEntry) -> std::io::Result<()> {
        self.files += 1;
        let modified = entry.metadata().ok().and_then(|it| it.modified().ok());
        let rank = (Reverse(modified), entry.path().to_owned());
        self.newest.add(rank, (), Room { lines: 1, bytes: 0 });
        Ok(())
    }

    fn found(self) -> Self {
        self
    }
}

/// What was found (Claude Code docs 2.1.240).
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// Absolute paths, the last modified first.
    filenames: Vec<String>,
    /// How many are given.
    num_files: usize,
    /// How long it took, in milliseconds.
    duration_ms: u64,
    /// Whether more were found than are given.
    truncated: bool,
    /// How many were found.
    total_matches: u64,
    /// Whether all were counted.
    count_is_complete: bool,
    /// Whether the time was over before the search was done.
    timed_out: bool,
}

impl Answer {
    fn new(walked: Walked<Names>, took: Duration) -> Self {
        let Names { files, newest } = walked.found;
        let name = |(_, path): (_, PathBuf)| path.to_string_lossy().into_owned();
        let filenames: Vec<_> = newest.into_results().map(|(rank, ())| name(rank)).collect();
        let timed_out = walked.over.is_some();
        Self {
            num_files: filenames.len(),
            truncated: files > filenames.len() as u64,
            filenames,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            total_matches: files,
            count_is_complete: !timed_out,
            timed_out,
        }
    }

    fn text(&self, notes: &[String]) -> String {
        let mut lines = self.filenames.clone();
        if lines.is_empty() {
            lines.push("No files found".to_owned());
        }
        if self.truncated {
            let Self { num_files, total_matches, .. } = self;
            let least = if self.count_is_complete { "" } else { "at least " };
            lines.push(format!(
                "(Results are truncated. Consider using a more specific path or pattern.) \
                 [{num_files} of {least}{total_matches} files]"
            ));
        }
        if self.timed_out {
            lines.push(
                "[The search was ended after its time: not all files were looked at. Search a \
                 more specific path.]"
                    .to_owned(),
            );
        }
        lines.extend_from_slice(notes);
        lines.join("\n")
    }
}

/// How calls are shown: how many files there are, then their paths.
struct Shown;

impl Present for Shown {
    fn result(&self, _: &Value, content: &Content, detail: Detail) -> Text {
        let text = content.text();
        let (paths, notices): (Vec<_>, Vec<_>) = text.lines().partition(|it| it.starts_with('/'));
        let files = if paths.len() == 1 { "file" } else { "files" };
        let mut shown = Text::of(Tone::Strong, format!("{} {files}", paths.len()));
        if detail == Detail::Full {
            for path in paths {
                shown = shown.and(Tone::Plain, format!("\n{path}"));
            }
        }
        for notice in notices.iter().filter(|it| **it != "No files found") {
            shown = shown.and(Tone::Faint, format!("\n{notice}"));
        }
        shown
    }

    fn is_cut(&self, content: &Content) -> bool {
        content.text().starts_with('/')
    }
}

#[cfg(test)]
mod tests {
    use toolwright_contract::{Stop, StopCause};

    use super::*;

    fn found(watch: &Watch) -> Result<(Answer, Vec<String>), Fault> {
        let cwd = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
        let session = SessionContext { cwd, ..SessionContext::default() };
        search(&Input { pattern: "todo_write.rs".to_owned(), path: None }, &session, watch)
    }

    #[test]
    fn programs_get_the_same_in_a_structured_form() {
        let (answer, _) = found(&Watch::new(Stop::default(), TIME)).unwrap();
        let mut told = serde_json::to_value(&answer).unwrap();
        assert!(told["filenames"][0].as_str().unwrap().ends_with("/tools/src/todo_write.rs"));
        told["filenames"] = Value::Null;
        told["durationMs"] = Value::Null;
        insta::assert_snapshot!(told, @r#"{"countIsComplete":true,"durationMs":null,"filenames":null,"numFiles":1,"timedOut":false,"totalMatches":1,"truncated":false}"#);
    }

    #[test]
    fn a_search_that_runs_out_of_time_gives_what_it_has_and_says_so() {
        let (answer, notes) = found(&Watch::new(Stop::default(), Duration::ZERO)).unwrap();
        assert!(answer.timed_out && !answer.count_is_complete);
        insta::assert_snapshot!(answer.text(&notes), @"
        No files found
        [The search was ended after its time: not all files were looked at. Search a more specific path.]
        ");
    }

    #[test]
    fn a_search_that_is_stopped_gives_nothing() {
        let stop = Stop::default();
        stop.tell(StopCause::User);
        assert!(matches!(found(&Watch::new(stop, TIME)), Err(Fault::Stopped)));
    }
}
