//! Grep and Glob through the whole pipeline, against the program `rg` on the same tree.
//!
//! Both search the same files, which lie in the system's cache. Of `rg` the whole process is
//! timed, as whoever starts it has to wait for it. Without the program it is left out. Glob looks
//! at the age of every file, as `rg` does only where it sorts by it: it is timed with and without.

#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use std::cell::LazyCell;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;
use toolwright::{Rules, Runtime, Session, ToolUse, built_in_tools};
use toolwright_benches::{run, runtime};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Files of a tree; the second is that of the target.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Files of a folder.
const FOLDER: usize = 50;

/// A tree like that of a program: folders in folders, files of one to five kilobytes. One line
/// in 300 has the word that is searched, and one file in 10 is of another kind.
fn tree(size: usize) -> TempDir {
    let tree = tempfile::tempdir().expect("a folder can be made");
    for at in 0..size {
        let (folder, name) = (at / FOLDER, at % FOLDER);
        let folder = tree.path().join(format!("part{}/sub{}", folder % 40, folder / 40));
        if name == 0 {
            fs::create_dir_all(&folder).expect("folders can be made");
        }
        let line = |it: usize| match (at * 7 + it * 13) % 300 {
            0 => "    let needle = haystack.find(&pattern);\n".to_owned(),
            other => format!("    let value_{other} = compute(value, {it});\n"),
        };
        let text: String = (0..20 + at % 80).map(line).collect();
        let ending = if name % 10 == 9 { "txt" } else { "rs" };
        fs::write(folder.join(format!("file{name}.{ending}")), text).expect("it can be written");
    }
    tree
}

async fn session(tree: &Path) -> Session {
    let cwd = tree.canonicalize().expect("it is there");
    let runtime = Runtime::builder().tools(built_in_tools()).build().expect("names are unique");
    runtime.session().cwd(cwd).rules(Rules::allow_everything()).start().await.expect("starts")
}

/// Driven from a spawned task, as a loop that lives in the runtime is.
fn call(
    tokio: &tokio::runtime::Runtime,
    session: &Session,
    tool: &'static str,
    input: &Value,
) -> String {
    let (session, input) = (session.clone(), input.clone());
    let mut driver = JoinSet::new();
    let turn = async move {
        let results = run(&session, vec![ToolUse::new("toolu_1", tool, input)]).await;
        let result = results.results.into_iter().next().expect("a call has a result");
        assert!(!result.is_error, "{}", result.content.text());
        result.content.text()
    };
    driver.spawn_on(turn, tokio.handle());
    tokio.block_on(driver.join_all()).remove(0)
}

fn rg(tree: &Path, arguments: &[&str]) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the process is what is measured")]
    let mut command = Command::new("rg");
    command.args(arguments).current_dir(tree).stdin(Stdio::null());
    Some(String::from_utf8_lossy(&command.output().ok()?.stdout).into_owned())
}

/// A query for both, by the name of the tool.
struct Query {
    name: &'static str,
    tool: &'static str,
    input: Value,
    /// What the program is called in the figures, and its arguments.
    peers: &'static [(&'static str, &'static [&'static str])],
}

const FILES: &str = "--files";
const HIDDEN: &str = "--hidden";
const ALL: &str = "--no-ignore";
const REGEX: &str = r"\w+_29\d = .*5\)";

fn queries() -> [Query; 5] {
    let grep = |name, pattern, mode, peers| {
        let input = json!({"pattern": pattern, "output_mode": mode});
        Query { name, tool: "Grep", input, peers }
    };
    let glob = |name, pattern, peers| Query {
        name,
        tool: "Glob",
        input: json!({"pattern": pattern}),
        peers,
    };
    [
        grep("grep_files", "needle", "files_with_matches", &[("rg", &[HIDDEN, "-l", "needle"])]),
        grep("grep_lines", "needle", "content", &[("rg", &[HIDDEN, "-n", "needle"])]),
        grep("grep_regex", REGEX, "count", &[("rg", &[HIDDEN, "-c", REGEX])]),
        glob(
            "glob_all",
            "**/*",
            &[
                ("rg", &[FILES, HIDDEN, ALL, "-g", "**/*"]),
                ("rg_sorted", &[FILES, HIDDEN, ALL, "-g", "**/*", "--sortr", "modified"]),
            ],
        ),
        glob(
            "glob_some",
            "*.txt",
            &[
                ("rg", &[FILES, HIDDEN, ALL, "-g", "*.txt"]),
                ("rg_sorted", &[FILES, HIDDEN, ALL, "-g", "*.txt", "--sortr", "modified"]),
            ],
        ),
    ]
}

fn search(criterion: &mut Criterion) {
    let tokio = runtime();
    for size in SIZES {
        // Made only if a benchmark that was chosen needs it.
        let made = LazyCell::new(|| {
            let tree = tree(size);
            let session = tokio.block_on(session(tree.path()));
            (tree, session)
        });
        for query in queries() {
            let mut group = criterion.benchmark_group(query.name);
            group.sampling_mode(SamplingMode::Flat).sample_size(if size > 10_000 {
                10
            } else {
                30
            });
            group.bench_function(BenchmarkId::new("toolwright", size), |bench| {
                let session = &made.1;
                bench.iter(|| call(&tokio, session, query.tool, &query.input));
            });
            let is_there = rg(Path::new("."), &["--version"]).is_some();
            for (peer, arguments) in query.peers.iter().filter(|_| is_there) {
                group.bench_function(BenchmarkId::new(*peer, size), |bench| {
                    let tree = made.0.path();
                    bench.iter(|| rg(tree, arguments));
                });
            }
            group.finish();
        }
    }
}

criterion_group!(searches, search);
criterion_main!(searches);
