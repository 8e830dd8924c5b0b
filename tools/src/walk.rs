//! Walks a tree with all cores, until it is done, stopped or out of time.

use std::io;
use std::num::NonZero;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use toolwright_contract::{Stop, Unseen};

use crate::paths::Start;

/// How long a search may take (Claude Code docs 2.1.240).
pub(crate) const TIME: Duration = Duration::from_secs(20);
/// Searches of one tool that run at the same time; more wait. Each takes all cores by itself.
pub(crate) const AT_ONCE: usize = 4;
/// Most threads of one search: more gain nothing on one disk (ripgrep's number).
const THREADS: usize = 12;
/// Where version control keeps its own files, which nobody means to search.
const VERSION_CONTROL: [&str; 6] = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// Why a search ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Stopped,
    OutOfTime,
}

/// Says when a search has to end.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    stop: Stop,
    time: Duration,
    until: Instant,
}

impl Watch {
    pub(crate) fn new(stop: Stop, time: Duration) -> Self {
        Self { stop, time, until: Instant::now() + time }
    }

    /// How long it may take in all.
    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// Why it has to end, if it has to.
    pub(crate) fn over(&self) -> Option<Over> {
        if self.stop.is_told() {
            Some(Over::Stopped)
        } else {
            (Instant::now() >= self.until).then_some(Over::OutOfTime)
        }
    }
}

/// What the threads of a search have found, to be put together.
pub(crate) trait Gather: Send {
    fn merge(&mut self, other: Self);
}

/// One thread of a search.
pub(crate) trait Worker: Send {
    type Found: Gather;

    /// Looks at a regular file.
    ///
    /// # Errors
    ///
    /// Why it couldn't.
    fn visit(&mut self, entry: &DirEntry) -> io::Result<()>;

    /// What it has found.
    fn found(self) -> Self::Found;
}

/// What could not be looked at: how much, and one example, the first by its text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Troubles {
    count: u64,
    example: Option<String>,
}

impl Troubles {
    pub(crate) fn add(&mut self, trouble: String) {
        self.merge(Self { count: 1, example: Some(trouble) });
    }

    /// A notice about them, if there are any.
    pub(crate) fn notice(&self) -> Option<String> {
        let example = self.example.as_ref()?;
        let more = match self.count {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        Some(format!("[Not searched: {example}{more}]"))
    }
}

impl Gather for Troubles {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.example = match (self.example.take(), other.example) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

/// What came of a walk.
pub(crate) struct Walked<F> {
    pub(crate) found: F,
    pub(crate) troubles: Troubles,
    pub(crate) over: Option<Over>,
}

impl<F: Gather> Gather for Walked<F> {
    fn merge(&mut self, other: Self) {
        self.found.merge(other.found);
        self.troubles.merge(other.troubles);
        self.over = self.over.or(other.over);
    }
}

/// A tree to be walked.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub(crate) start: &'a Start,
    pub(crate) unseen: &'a Unseen,
    pub(crate) watch: &'a Watch,
}

impl Tree<'_> {
    /// Whether a file of it must not be shown: by the name that it has here, or by where it is.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        if self.unseen.is_empty() {
            return false;
        }
        let Start { path: known, real, .. } = self.start;
        let below = (known != real).then(|| path.strip_prefix(known).ok()).flatten();
        self.unseen.covers(path) || below.is_some_and(|it| self.unseen.covers(&real.join(it)))
    }

    /// Shows each regular file to one of several workers. Symbolic links aren't followed, so that
    /// no file comes twice and no walk is endless.
    pub(crate) fn walk<W: Worker>(
        &self,
        builder: &mut WalkBuilder,
        worker: impl Fn() -> W,
    ) -> Walked<W::Found> {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let walk = builder.threads(cores.min(THREADS)).build_parallel();
        let all = Mutex::new(None);
        walk.visit(&mut Workers { tree: *self, worker: &worker, all: &all });
        let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.unwrap_or_else(|| ended(worker()))
    }
}

/// Leaves out what version control keeps for itself, unless the walk begins in it.
pub(crate) fn skip_version_control(builder: &mut WalkBuilder) {
    builder.filter_entry(|it| {
        it.depth() == 0 || !VERSION_CONTROL.iter().any(|name| it.file_name() == *name)
    });
}

/// Whether a pattern speaks of what version control keeps for itself.
pub(crate) fn means_version_control(pattern: &str) -> bool {
    pattern.split('/').any(|it| VERSION_CONTROL.contains(&it))
}

fn ended<W: Worker>(worker: W) -> Walked<W::Found> {
    Walked { found: worker.found(), troubles: Troubles::default(), over: None }
}

type All<F> = Mutex<Option<Walked<F>>>;

struct Workers<'a, W: Worker, N> {
    tree: Tree<'a>,
    worker: &'a N,
    all: &'a All<W::Found>,
}

impl<'a, W: Worker + 'a, N: Fn() -> W> ParallelVisitorBuilder<'a> for Workers<'a, W, N> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        Box::new(Visitor {
            tree: self.tree,
            worker: Some((self.worker)()),
            troubles: Troubles::default(),
            over: None,
            all: self.all,
        })
    }
}

struct Visitor<'a, W: Worker> {
    tree: Tree<'a>,
    /// There until the end.
    worker: Option<W>,
    troubles: Troubles,
    over: Option<Over>,
    all: &'a All<W::Found>,
}

impl<W: Worker> ParallelVisitor for Visitor<'_, W> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        self.over = self.over.or(self.tree.watch.over());
        let (None, Some(worker)) = (self.over, &mut self.worker) else { return WalkState::Quit };
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                self.troubles.add(error.to_string());
                return WalkState::Continue;
            }
        };
        let is_file = entry.file_type().is_some_and(|it| it.is_file());
        if is_file
            && !self.tree.hides(entry.path())
            && let Err(error) = worker.visit(&entry)
        {
            // What breaks off because the search is over is no trouble of the file.
            self.over = self.tree.watch.over();
            if self.over.is_none() {
                self.troubles.add(format!("{}: {error}", entry.path().display()));
            }
        }
        WalkState::Continue
    }
}

impl<W: Worker> Drop for Visitor<'_, W> {
    fn drop(&mut self) {
        let Some(worker) = self.worker.take() else { return };
        let mut mine = ended(worker);
        mine.troubles = std::mem::take(&mut self.troubles);
        mine.over = self.over;
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *all {
            Some(all) => all.merge(mine),
            none => *none = Some(mine),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_trouble_is_told_and_the_rest_counted() {
        let mut troubles = Troubles::default();
        assert_eq!(troubles.notice(), None);
        troubles.add("/b: denied".to_owned());
        assert_eq!(troubles.notice().unwrap(), "[Not searched: /b: denied]");
        troubles.add("/a: denied".to_owned());
        troubles.add("/c: denied".to_owned());
        assert_eq!(troubles.notice().unwrap(), "[Not searched: /a: denied (and 2 more)]");
    }

    #[test]
    fn a_search_is_over_when_it_is_stopped_or_its_time_has_passed() {
        let stop = Stop::default();
        assert_eq!(Watch::new(stop.clone(), TIME).over(), None);
        assert_eq!(Watch::new(stop.clone(), Duration::ZERO).over(), Some(Over::OutOfTime));
        stop.tell(toolwright_contract::StopCause::User);
        assert_eq!(Watch::new(stop, TIME).over(), Some(Over::Stopped));
    }

    #[test]
    fn a_file_is_hidden_by_either_of_its_names() {
        let start = Start { path: "/link".into(), real: "/real".into(), is_folder: true };
        let watch = Watch::new(Stop::default(), TIME);
        for (rule, hidden) in [("/link/a", true), ("/real/a", true), ("/real/b", false)] {
            let unseen = Unseen::by(move |it| it == Path::new(rule));
            let tree = Tree { start: &start, unseen: &unseen, watch: &watch };
            assert_eq!(tree.hides(Path::new("/link/a")), hidden, "{rule}");
        }
    }
}
