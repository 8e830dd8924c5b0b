//! Searches files one after another on one thread, and keeps what may be shown.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use grep_printer::{Standard, StandardBuilder, Summary, SummaryBuilder, SummaryKind};
use grep_searcher::{BinaryDetection, Searcher};
use ignore::DirEntry;
use memchr::memchr_iter;
use termcolor::NoColor;

use super::query::Query;
use super::{Mode, shown};
use crate::ranking::{Ranking, Room};
use crate::text_file::without_waiting;
use crate::walk::{Gather, Watch, Worker};

/// The place of a file among the results: of paths alone, those of files that were modified last
/// come first; else the path decides.
type Rank = (Reverse<Option<SystemTime>>, OsString);

/// What was found.
pub(super) struct Found {
    /// The text of each file, as far as it may be shown.
    pub(super) files: Ranking<Rank, Vec<u8>>,
    pub(super) totals: Totals,
    /// Whether a text is cut inside of what may be shown.
    pub(super) cut: bool,
}

/// How much was found in all, shown or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// Files with a match.
    pub(super) files: u64,
    /// Lines of the result, but for those between files.
    pub(super) lines: u64,
    /// Lines that match, or matches where only those are asked for.
    pub(super) matches: u64,
}

impl Found {
    /// Whether nothing was found.
    pub(super) fn is_empty(&self) -> bool {
        self.totals.files == 0
    }
}

impl Gather for Found {
    fn merge(&mut self, other: Self) {
        self.files.merge(other.files);
        self.cut |= other.cut;
        self.totals.files += other.totals.files;
        self.totals.lines += other.totals.lines;
        self.totals.matches += other.totals.matches;
    }
}

/// See the module.
pub(super) struct FileSearch<'a> {
    query: &'a Query,
    watch: &'a Watch,
    cwd: &'a Path,
    searcher: Searcher,
    printer: Printer,
    found: Found,
}

enum Printer {
    Lines(Standard<NoColor<Clipped>>),
    Counts(Summary<NoColor<Clipped>>),
    Paths(Summary<NoColor<Clipped>>),
}

impl<'a> FileSearch<'a> {
    /// `named`: it is for a file that was named, and not found in a folder. Such a one is searched to
    /// its end even if it is no text, and its name goes without saying.
    pub(super) fn new(query: &'a Query, watch: &'a Watch, cwd: &'a Path, named: bool) -> Self {
        let files = Ranking::new(query.room());
        let found = Found { files, totals: Totals::default(), cut: false };
        let (searcher, printer) = (query.searcher(), printer(query, named));
        let binary = if named { BinaryDetection::convert(0) } else { BinaryDetection::quit(0) };
        let mut it = Self { query, watch, cwd, searcher, printer, found };
        it.searcher.set_binary_detection(binary);
        it
    }

    /// Searches a file.
    ///
    /// # Errors
    ///
    /// What the system says; that the search is over.
    pub(super) fn search(&mut self, path: &Path) -> io::Result<()> {
        let file = without_waiting().open(path)?;
        let file = Watched { file, reads: 0, watch: self.watch };
        let (query, searcher) = (self.query, &mut self.searcher);
        let known = shown(path, self.cwd);
        match &mut self.printer {
            Printer::Lines(printer) => {
                let mut sink = printer.sink_with_path(&query.matcher, known);
                searcher.search_reader(&query.matcher, file, &mut sink)?;
                let matches = sink.match_count();
                let clipped = printer.get_mut().get_mut().take();
                if clipped.lines > 0 {
                    self.add(path, Reverse(None), clipped, matches);
                }
            }
            Printer::Counts(printer) => {
                let sink = printer.sink_with_path(&query.matcher, known);
                searcher.search_reader(&query.matcher, file, sink)?;
                let printed = printer.get_mut().get_mut().take();
                // What is printed is a number, or nothing where there is no match.
                let count = str::from_utf8(&printed.kept).unwrap_or_default().trim();
                if let Ok(count) = count.parse() {
                    let line = format!("{}:{count}\n", known.to_string_lossy());
                    self.add(path, Reverse(None), Clipped::whole(line), count);
                }
            }
            Printer::Paths(printer) => {
                let mut sink = printer.sink_with_path(&query.matcher, known);
                searcher.search_reader(&query.matcher, file, &mut sink)?;
                if sink.has_match() {
                    let modified = fs::symlink_metadata(path).and_then(|it| it.modified()).ok();
                    let line = format!("{}\n", known.to_string_lossy());
                    self.add(path, Reverse(modified), Clipped::whole(line), 1);
                }
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        path: &Path,
        modified: Reverse<Option<SystemTime>>,
        text: Clipped,
        matches: u64,
    ) {
        self.found.cut |= text.cut;
        let totals = &mut self.found.totals;
        totals.files += 1;
        totals.lines += text.lines as u64;
        totals.matches += matches;
        let takes = Room { lines: text.lines, bytes: text.kept.len() };
        self.found.files.add((modified, path.into()), text.kept, takes);
    }
}

impl Worker for FileSearch<'_> {
    type Found = Found;

    fn visit(&mut self, entry: &DirEntry) -> io::Result<()> {
        self.search(entry.path())
    }

    fn found(self) -> Found {
        self.found
    }
}

fn printer(query: &Query, named: bool) -> Printer {
    let clipped = || Clipped::new(query.room());
    let summary = |kind| {
        SummaryBuilder::new().kind(kind).path(false).exclude_zero(true).build_no_color(clipped())
    };
    match query.mode {
        Mode::Content => Printer::Lines(
            StandardBuilder::new()
                .path(!named)
                .only_matching(query.only_matching)
                .build_no_color(clipped()),
        ),
        Mode::Count if query.only_matching => Printer::Counts(summary(SummaryKind::CountMatches)),
        Mode::Count => Printer::Counts(summary(SummaryKind::Count)),
        Mode::FilesWithMatches => Printer::Paths(summary(SummaryKind::QuietWithMatch)),
    }
}

/// Takes what is printed of one file: keeps as much as there is room for and counts the rest.
struct Clipped {
    kept: Vec<u8>,
    lines: usize,
    /// Whether it had no room for the bytes of a line that counts.
    cut: bool,
    room: Room,
}

impl Clipped {
    fn new(room: Room) -> Self {
        Self { kept: Vec::new(), lines: 0, cut: false, room }
    }

    fn whole(line: String) -> Self {
        Self { kept: line.into_bytes(), lines: 1, cut: false, room: Room { lines: 1, bytes: 0 } }
    }

    /// Gives what it has and begins anew.
    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(self.room))
    }
}

impl io::Write for Clipped {
    fn write(&mut self, printed: &[u8]) -> io::Result<usize> {
        if self.lines < self.room.lines {
            let left = self.room.bytes.saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&printed[..printed.len().min(left)]);
            self.cut |= printed.len() > left;
        }
        self.lines += memchr_iter(b'\n', printed).count();
        Ok(printed.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many reads there are between two looks at the watch, which take time too: a megabyte.
const READS: u32 = 16;

/// A file that can be read until the search is over.
struct Watched<'a> {
    file: File,
    reads: u32,
    watch: &'a Watch,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.reads.is_multiple_of(READS) && self.watch.over().is_some() {
            return Err(io::Error::other("the search is over"));
        }
        self.reads = self.reads.wrapping_add(1);
        self.file.read(buffer)
    }
}
