//! `Grep`: finds lines by a regular expression, with ripgrep's own libraries.
//!
//! Parameters, texts and the structured output are those of Claude Code docs 2.1.240. A search
//! finds what `rg --hidden` finds on the same tree, but looks into no folder of version control.

mod answer;
mod display;
mod file_search;
mod query;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use ignore::WalkBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;
use toolwright_contract::present::Present;
use toolwright_contract::{
    Card, CheckCx, Conduct, Family, InvalidInput, Look, Output, RunCx, Safety, SessionContext,
    Tool, ToolError, schema_of,
};

use self::answer::Answer;
use self::file_search::{FileSearch, Found};
use self::query::Query;
use crate::fault::{Fault, off_thread};
use crate::paths::{Start, shown, start};
use crate::walk::{
    AT_ONCE, Over, TIME, Tree, Troubles, Walked, Watch, Worker as _, skip_version_control,
};

/// See the module.
pub(crate) struct Grep {
    time: Duration,
    places: Arc<Semaphore>,
}

impl Default for Grep {
    fn default() -> Self {
        Self { time: TIME, places: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

/// What to find, where, and how to show it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The regular expression, in the syntax of ripgrep (Rust's `regex`).
    pattern: String,
    /// The file or directory to search; leave it out for the working directory.
    path: Option<String>,
    /// Which files, by a glob from the working directory on: `*.js`, `src/**/*.{ts,tsx}`, `!*.min.js`.
    glob: Option<String>,
    /// Which files, by a type that ripgrep knows: `rust`, `py`, `js`.
    #[serde(rename = "type")]
    file_type: Option<String>,
    /// `content` shows lines, `files_with_matches` paths, `count` how many lines match in each file.
    #[serde(default)]
    output_mode: Mode,
    /// How many lines to show after each match; for `content`.
    #[serde(rename = "-A")]
    #[schemars(range(max = 1000))]
    after: Option<u64>,
    /// How many lines to show before each match; for `content`.
    #[serde(rename = "-B")]
    #[schemars(range(max = 1000))]
    before: Option<u64>,
    /// How many lines to show before and after each match; for `content`.
    #[serde(rename = "-C")]
    #[schemars(range(max = 1000))]
    around: Option<u64>,
    /// The same as `-C`.
    #[schemars(range(max = 1000))]
    context: Option<u64>,
    /// Show line numbers; for `content`.
    #[serde(rename = "-n", default = "yes")]
    numbers: bool,
    /// Ignore case.
    #[serde(rename = "-i", default)]
    ignore_case: bool,
    /// Show the matches alone, each on its line; for `content`.
    #[serde(rename = "-o", default)]
    only_matching: bool,
    /// Let matches span lines, and `.` match line breaks.
    #[serde(default)]
    multiline: bool,
    /// Show so many lines, files or counts at most; 0 shows all.
    #[serde(default = "shown_at_most")]
    head_limit: u64,
    /// Leave out so many of them first.
    #[serde(default)]
    offset: u64,
}

/// What a search gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

fn yes() -> bool {
    true
}

fn shown_at_most() -> u64 {
    250
}

impl Tool for Grep {
    type Input = Input;
    type Output = String;

    fn card(&self) -> Card {
        Card::new(
            "Grep",
            "Finds what matches a regular expression in the files of a directory, or in one file. \
             Files that are ignored by git are left out, unless one is named as path.",
        )
        .about(Family::ReadPath, "path")
        .telling(&["pattern"])
        .doing("Searching for")
    }

    fn safety(&self, _: &Input) -> Safety {
        Safety::read_only()
    }

    fn conduct(&self, input: &Input) -> Conduct {
        let path = input.path.as_deref().unwrap_or(".");
        Conduct { look: Look::Search, paths: vec![path.into()], ..Conduct::default() }
    }

    fn output_schema(&self) -> Option<Value> {
        Some(schema_of::<Answer>())
    }

    fn present(&self) -> Box<dyn Present> {
        Box::new(display::Shown)
    }

    async fn validate(&self, input: &Input, cx: &CheckCx) -> Result<(), InvalidInput> {
        if input.pattern.is_empty() {
            let remedy = "It would match every line: send a text or an expression to find.";
            return Err(Fault::EmptyPattern(remedy).into());
        }
        let (path, session) = (input.path.clone(), cx.session.clone());
        off_thread(move || start(path.as_deref(), &session)).await?;
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
        let (answer, notices) = stop.or(searched).await??;
        let structured = serde_json::to_value(&answer)
            .map_err(|it| ToolError::failed(format!("The result can't be written: {it}")))?;
        Ok(Output::from(answer.text(&notices)).structured(structured))
    }
}

fn search(
    input: &Input,
    session: &SessionContext,
    watch: &Watch,
) -> Result<(Answer, Vec<String>), Fault> {
    let start = start(input.path.as_deref(), session)?;
    let query = Query::new(input)?;
    let tree = Tree { start: &start, unseen: &session.unseen, watch };
    let cwd = &session.cwd;
    let worker = || FileSearch::new(&query, watch, cwd, !start.is_folder);
    // As for `rg` in the working directory, that is where globs begin.
    let root = if start.path.starts_with(cwd) { cwd } else { &start.path };
    let filters = query.filters(root, input)?;
    let walked = if start.is_folder {
        tree.walk(&mut walk(&start, filters, cwd), worker)
    } else {
        one_file(tree, worker())?
    };
    match walked.over {
        Some(Over::Stopped) => return Err(Fault::Stopped),
        Some(Over::OutOfTime) if walked.found.is_empty() => {
            return Err(Fault::OutOfTime(watch.time()));
        }
        Some(Over::OutOfTime) | None => {}
    }
    Ok(Answer::new(walked, &query, watch.time()))
}

/// The walk that `rg --hidden` makes.
fn walk(start: &Start, filters: query::Filters, cwd: &std::path::Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(&start.path);
    builder.hidden(false).add_custom_ignore_filename(".rgignore");
    builder.overrides(filters.globs).types(filters.types);
    if cwd.is_absolute() {
        builder.current_dir(cwd);
    }
    skip_version_control(&mut builder);
    builder
}

/// A file that was named is searched whatever filters say.
fn one_file(tree: Tree<'_>, mut worker: FileSearch<'_>) -> Result<Walked<Found>, Fault> {
    let path = &tree.start.path;
    if !tree.hides(path)
        && let Err(error) = worker.search(path)
        && tree.watch.over().is_none()
    {
        return Err(Fault::io("search", path)(error));
    }
    let over = tree.watch.over();
    Ok(Walked { found: worker.found(), troubles: Troubles::default(), over })
}
