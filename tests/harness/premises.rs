//! The folders that a test lends to a session, and what must not be left in them at its end.
//!
//! Processes and descriptors belong to the machine and to the test program, in which other tests
//! run at the same time. Those that are in a folder of one test can be told from all others.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use toolwright_actors::Config;
use walkdir::WalkDir;

/// How the names of temporary files begin: of results, and of files that a tool replaces.
const TEMPORARY: [&str; 2] = [".result-", ".toolwright-"];

/// How long what was stopped, killed or closed may take to go, on a busy machine.
const SOON: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug, Default)]
pub struct Premises(Vec<PathBuf>);

impl Premises {
    /// Those of a session: its folder for results, and where it works, if it works in a folder
    /// for temporary files, and not just anywhere.
    pub(crate) fn of(config: &Config) -> Self {
        let all = config.results.iter().chain([&config.context.cwd]);
        Self::new(all.cloned())
    }

    /// These folders, but for those that aren't a test's own.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let shared = real(&std::env::temp_dir());
        let own = |it: &PathBuf| it.starts_with(&shared) && *it != shared;
        Self(folders.into_iter().map(|it| real(&it)).filter(own).collect())
    }

    /// What is there now and shouldn't be, each as a sentence.
    #[must_use]
    pub fn remains(&self) -> Vec<String> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let processes = self.processes().map(|it| format!("{} still runs", it.display()));
        let open = self.descriptors().map(|it| format!("{} is open", it.display()));
        let files = self.temporary_files().map(|it| format!("{} is left", it.display()));
        processes.chain(open).chain(files).collect()
    }

    /// Fails unless nothing is left, at once or soon: what is killed goes in its own time.
    pub(crate) async fn assert_empty(&self) {
        soon(|| self.remains().is_empty()).await;
        assert_eq!(self.remains(), [""; 0], "the premises {:?} aren't empty", self.0);
    }

    /// Processes that work there, hold a file there open, or have it in their environment, as what
    /// a shell started there does when it went elsewhere. A zombie has nothing of that.
    fn processes(&self) -> impl Iterator<Item = PathBuf> {
        let me = std::process::id().to_string();
        let number = |it: &PathBuf| it.file_name().and_then(|it| it.to_str()?.parse::<u32>().ok());
        let others = entries("/proc".as_ref())
            .filter(move |it| number(it).is_some_and(|it| it.to_string() != me));
        others.filter(|it| {
            let cwd = fs::read_link(it.join("cwd")).into_iter();
            let open = entries(&it.join("fd")).filter_map(|it| fs::read_link(it).ok());
            cwd.chain(open).chain(environment(it)).any(|it| self.contain(&it))
        })
    }

    /// Files there that this process holds open.
    fn descriptors(&self) -> impl Iterator<Item = PathBuf> {
        let open = entries("/proc/self/fd".as_ref()).filter_map(|it| fs::read_link(it).ok());
        open.filter(|it| self.contain(it))
    }

    fn temporary_files(&self) -> impl Iterator<Item = PathBuf> {
        let all = self.0.iter().flat_map(WalkDir::new).filter_map(Result::ok);
        let is_temporary = |it: &walkdir::DirEntry| {
            let name = it.file_name().to_string_lossy();
            TEMPORARY.iter().any(|start| name.starts_with(start))
        };
        all.filter(is_temporary).map(walkdir::DirEntry::into_path)
    }

    fn contain(&self, path: &Path) -> bool {
        self.0.iter().any(|it| path.starts_with(it))
    }
}

/// Where a path really leads; as it stands while nothing is there.
fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|it| Some((it, it.canonicalize().ok()?)));
    let Some((there, real)) = there else { return path.to_owned() };
    path.strip_prefix(there).map_or_else(|_| path.to_owned(), |rest| real.join(rest))
}

/// The values in the environment that a process was started with.
fn environment(process: &Path) -> Vec<PathBuf> {
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    let all = environment.split(|it| *it == 0).map(String::from_utf8_lossy);
    all.filter_map(|it| Some(PathBuf::from(it.split_once('=')?.1))).collect()
}

/// What is in a folder; nothing where it can't be seen, as on a system without `/proc`.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path())
}

/// Whether something comes to be soon, by real time, whatever the clock of the runtime says.
pub(crate) async fn soon(is_it: impl Fn() -> bool) -> bool {
    /// Looks without a rest: most often it only takes others that are let run.
    const EAGER: u32 = 100;
    let began = Instant::now();
    let mut looks = 0_u32;
    while !is_it() {
        if began.elapsed() > SOON {
            return false;
        }
        tokio::task::yield_now().await;
        looks += 1;
        if looks > EAGER {
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
    true
}
