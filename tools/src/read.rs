//! `Read`: shows a file, and remembers for the session what was read.
//!
//! Limits, notices and the structured output are those of Claude Code docs 2.1.240. What a file is
//! its first bytes tell, and for notebooks its name.

use std::fs::{File, Metadata};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_contract::{
    Card, CheckCx, Conduct, Content, Family, InvalidInput, Look, Output, Reads, ResultLimit, RunCx,
    Safety, SeenFile, Stop, Tool, ToolError,
};

use crate::fault::{Fault, off_thread};
use crate::options::FileOptions;
use crate::paths;
use crate::read_formats::{self, Kind};
use crate::text_file::{missing, open};
use crate::text_view::{self, Asked};

/// Bytes read at once, and looked at to tell formats apart.
const CHUNK: usize = 64 << 10;

pub(crate) struct Read(pub(crate) FileOptions);

/// What of which file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The absolute path of the file.
    file_path: String,
    /// The first line to show, from 1.
    offset: Option<u64>,
    /// How many lines to show.
    limit: Option<u64>,
}

/// A file that is open, and what it is called.
pub(crate) struct Opened {
    /// As the model calls it.
    pub(crate) sent: String,
    /// Without symbolic links.
    pub(crate) real: PathBuf,
    pub(crate) file: BufReader<File>,
    pub(crate) metadata: Metadata,
}

/// What a file shows.
pub(crate) struct Shown {
    pub(crate) output: Output<Content>,
    /// What is known of the file from now on, unless it can't be changed anyway.
    pub(crate) seen: Option<SeenFile>,
}

impl Tool for Read {
    type Input = Input;
    type Output = Content;

    fn card(&self) -> Card {
        Card::new(
            "Read",
            "Shows a text file, each line after its number and a tab: the first 2,000 lines, or \
             those that offset and limit name. Shows pictures (PNG, JPEG, GIF, WebP), and notebooks \
             as cells with their outputs.",
        )
        .about(Family::ReadPath, "file_path")
        .telling(&["file_path"])
        .doing("Reading")
        .result_limit(ResultLimit::Unlimited)
    }

    fn safety(&self, _: &Input) -> Safety {
        Safety::read_only()
    }

    fn conduct(&self, input: &Input) -> Conduct {
        Conduct {
            look: Look::Read,
            paths: vec![input.file_path.clone().into()],
            ..Conduct::default()
        }
    }

    async fn validate(&self, input: &Input, cx: &CheckCx) -> Result<(), InvalidInput> {
        paths::absolute(&input.file_path, &cx.session)?;
        if input.limit == Some(0) {
            return Err(InvalidInput("limit is 0: ask for at least one line".to_owned()));
        }
        Ok(())
    }

    async fn run(&self, input: Input, cx: RunCx) -> Result<Output<Content>, ToolError> {
        let path = paths::absolute(&input.file_path, &cx.session)?;
        let (options, stop, stopped) = (self.0.clone(), cx.stop.clone(), cx.stop.clone());
        let (reads, kept) = (cx.reads.clone(), cx.reads);
        let read = off_thread(move || {
            let real = paths::real(&path).map_err(Fault::io("find", &path))?;
            let Some((file, metadata)) = open(&real)? else {
                return Err(missing(path, &cx.session));
            };
            let file = BufReader::with_capacity(CHUNK, file);
            let sent = input.file_path.clone();
            let opened = Opened { sent, real: real.clone(), file, metadata };
            Ok((show(opened, &input, &reads, &options, &stop)?, real))
        });
        // The thread sees the stop with its next chunk, unless the file system keeps it.
        let (shown, real) = stopped.or(read).await??;
        // Only what the model will see counts as seen.
        if let Some(seen) = shown.seen {
            remember(&kept, real, seen);
        }
        Ok(shown.output)
    }
}

fn show(
    mut opened: Opened,
    input: &Input,
    reads: &Reads,
    options: &FileOptions,
    stop: &Stop,
) -> Result<Shown, Fault> {
    let start = opened.file.fill_buf().map_err(Fault::io("read", &opened.real))?.to_owned();
    match Kind::of(&start, &opened) {
        Kind::Picture => read_formats::show_picture(opened),
        Kind::Notebook => read_formats::show_notebook(opened),
        Kind::Pdf => Err(Fault::Pdf(opened.real)),
        Kind::Text => {
            let known = reads.seen(&opened.real);
            let asked = Asked::new(input.offset, input.limit, options);
            text_view::show(opened, &asked, known, stop)
        }
    }
}

/// A view that is partial takes nothing away from what was known of the same file.
fn remember(reads: &Reads, real: PathBuf, seen: SeenFile) {
    let same = |it: &SeenFile| (it.length, it.modified) == (seen.length, seen.modified);
    match reads.seen(&real).filter(|it| !it.partial && same(it)) {
        Some(known) if seen.partial => {
            reads.note(real, SeenFile { shown: seen.shown, ..known });
        }
        _ => reads.note(real, seen),
    }
}
