//! Why a file tool refuses, in words for the model: each says what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolwright_contract::{InvalidInput, ToolError};

use crate::replacement::Misfit;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("The path is empty. Send the absolute path of a file.")]
    NoPath,
    #[error("The path contains a NUL character, which no file's name has. Send it without.")]
    NulInPath,
    #[error("`{0}` begins with `~`, which is not expanded. Send the whole path, from `/` on.")]
    Tilde(String),
    #[error("`{path}` is not an absolute path. If it is below the working directory, send `{}`.", instead.display())]
    Relative { path: String, instead: PathBuf },
    #[error("File does not exist: {}. The working directory is {}; look there for the right name.", path.display(), cwd.display())]
    Missing { path: PathBuf, cwd: PathBuf },
    #[error("Path does not exist: {path}. The working directory is {}.{}", cwd.display(), did_you_mean(instead.as_deref()))]
    NotThere { path: String, cwd: PathBuf, instead: Option<PathBuf> },
    #[error("The session has no working directory to search in. Send an absolute path.")]
    NoFolder,
    #[error("Path is not a directory: {}. Send the directory that it is in, or read the file itself.", .0.display())]
    NotFolder(PathBuf),
    #[error("The pattern is empty. {0}")]
    EmptyPattern(&'static str),
    #[error(
        "The {what} has {bytes} bytes, and more than {limit} are not compiled. Send a shorter one, or search several times."
    )]
    TooLong { what: &'static str, bytes: usize, limit: usize },
    #[error("The pattern `{pattern}` leads out of {}. Send the directory as path, and a pattern that is relative to it.", folder.display())]
    Outside { pattern: String, folder: PathBuf },
    #[error("Ripgrep search timed out after {} seconds. It had found nothing by then, but was not done. Search a more specific path.", .0.as_secs())]
    OutOfTime(Duration),
    #[error("{}\n{remedy}", in_short(engine))]
    BadPattern { engine: String, remedy: &'static str },
    #[error("The pattern contains a NUL character, which no text does. Send it without.")]
    NulInPattern,
    #[error("{} names a directory. List it with a command, then send the path of a file in it.", .0.display())]
    Directory(PathBuf),
    #[error("{} is {kind} and not a regular file, so it is not opened: that might never end. Send the path of a regular file, or use a command with a timeout.", path.display())]
    Special { path: PathBuf, kind: &'static str },
    #[error("{} has {bytes} bytes, and files of more than {limit} bytes are not changed. Change it with a command.", path.display())]
    TooBig { path: PathBuf, bytes: u64, limit: u64 },
    #[error("{} is a binary file, which can't be shown as text. Look at it with a command that knows its format.", .0.display())]
    Binary(PathBuf),
    #[error("{} is damaged {encoding} text (at byte {at}), so an edit might damage it further. Repair it, or change it with a command.", path.display())]
    Undecodable { path: PathBuf, encoding: &'static str, at: usize },
    #[error("{} is {encoding} text, which has no `{character}`. Use other characters, or convert the file to UTF-8 with a command first.", path.display())]
    Unencodable { path: PathBuf, encoding: &'static str, character: char },
    #[error("Writing to {} failed ({error}), and putting the old content back did as well. It is in {}: copy it back with a command.", path.display(), copy.display())]
    Damaged { path: PathBuf, copy: PathBuf, error: io::Error },
    #[error("File has not been read yet. Read it first before writing to it.")]
    Unread,
    #[error(
        "Only a PARTIAL view of the file has been read. Read the part that matters with offset and limit before writing to it."
    )]
    ReadInPart,
    #[error("File has been unexpectedly modified. Read it again before attempting to write it.")]
    Changed,
    #[error("{} is read-only. Make it writable with a command first, if it is meant to be changed.", .0.display())]
    ReadOnly(PathBuf),
    #[error("Could not {doing} {}: {error}. Nothing was changed; deal with the cause, then try again.", path.display())]
    Io { doing: &'static str, path: PathBuf, error: io::Error },
    #[error(
        "The lines that were asked for have more than {chars} characters. Send a limit of at most {limit}."
    )]
    TooMuch { chars: usize, limit: usize },
    #[error(transparent)]
    Misfit(#[from] Misfit),
    #[error("Edit {at} of {all} does not fit, so none was made. {misfit}")]
    OneOf { at: usize, all: usize, misfit: Misfit },
    #[error("There are no edits. Send at least one, and at most {0}.")]
    NoEdits(usize),
    #[error(
        "There are {sent} edits, and more than {most} are not made at once. Send them in several calls."
    )]
    TooManyEdits { sent: usize, most: usize },
    #[error("{} has {bytes} bytes, and more than {limit} of its kind are not shown. Make a smaller one of it with a command.", path.display())]
    TooBigToShow { path: PathBuf, bytes: u64, limit: u64 },
    #[error("{} can't be shown as a picture: {why}. Make another of it with a command.", path.display())]
    BadPicture { path: PathBuf, why: String },
    #[error("{} is a PDF document, whose pages can't be shown. Extract its text with a command such as `pdftotext`, or make pictures of its pages.", .0.display())]
    Pdf(PathBuf),
    #[error("{} is not named as a notebook (.ipynb). Send the path of one, or edit the file as text.", .0.display())]
    NotIpynb(PathBuf),
    #[error("{} can't be dealt with as a notebook: {why}. Look at it with a command.", path.display())]
    NotNotebook { path: PathBuf, why: String },
    #[error(
        "There is no cell `{cell}` among the {cells} cells. Read the notebook and send a cell's id, or `cell-N` with its place from 0."
    )]
    NoCell { cell: String, cells: usize },
    #[error("cell_id is missing. Send the id of the cell, or `cell-N` with its place from 0.")]
    WhichCell,
    #[error("cell_type is missing. Send `code` or `markdown` for the cell that is to be inserted.")]
    NoCellType,
    #[error("stopped")]
    Stopped,
}

impl Fault {
    /// An error of the system while it did something (`read`, `write`) with a file.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { doing, path, error }
    }
}

impl From<Fault> for ToolError {
    fn from(fault: Fault) -> Self {
        if matches!(fault, Fault::Stopped) {
            Self::Stopped
        } else {
            Self::failed(fault.to_string())
        }
    }
}

impl From<Fault> for InvalidInput {
    fn from(fault: Fault) -> Self {
        Self(fault.to_string())
    }
}

/// What an engine says of a pattern, which it may quote in full: beginning and end.
fn in_short(told: &str) -> String {
    const CHARS: usize = 400;
    let chars: Vec<_> = told.chars().collect();
    if chars.len() <= 2 * CHARS {
        return told.to_owned();
    }
    let (begin, end) = (&chars[..CHARS], &chars[chars.len() - CHARS..]);
    begin.iter().chain(['…'].iter()).chain(end).collect()
}

fn did_you_mean(instead: Option<&Path>) -> String {
    match instead {
        Some(it) => format!(" Did you mean {}?", it.display()),
        None => " Look there for the right name.".to_owned(),
    }
}

/// Runs work that waits for the file system away from the runtime's threads.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        // A panic belongs to the call, which knows what to say of it.
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Fault::Stopped),
        },
    }
}
