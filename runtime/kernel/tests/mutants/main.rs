//! Breaks the kernel by hand, one place at a time, and sees that the walk notices.
//!
//! Each mutant of the kernel and the walk over it are built by a bare compiler, so the whole
//! table takes a minute.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails says where")]

#[path = "../model/laws.rs"]
#[allow(dead_code, reason = "not every law has a mutant of its own")]
mod laws;
mod table;

mod in_admission;
mod in_call;
mod in_turn;

use std::fs;
use std::path::{Path, PathBuf};

use table::{Mutant, every_mutant};

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// The walks to try, the quick ones first; none named is all of them.
const STAGES: [&[&str]; 4] = [
    &["one_call", "two_calls_meet_lanes", "two_calls_where"],
    &["two_calls"],
    &["four_calls_ask_and_nest"],
    &[],
];

#[test]
fn the_kernel_as_it_is_survives() {
    let dir = fresh_dir("as-it-is");
    copy_kernel(&dir);
    assert_eq!(build(&dir).and_then(|()| walk(&dir, STAGES[0])), Ok(()));
}

#[test]
fn every_mutant_dies_of_the_law_that_it_breaks() {
    let mutants: Vec<_> = every_mutant().enumerate().collect();
    let workers = std::thread::available_parallelism().unwrap();
    let survivors: Vec<_> = std::thread::scope(|scope| {
        let share = mutants.len().div_ceil(workers.get());
        let shares = mutants.chunks(share).map(|share| {
            scope.spawn(|| {
                share
                    .iter()
                    .filter_map(|&(number, (file, it))| survival(number, file, it))
                    .collect::<Vec<_>>()
            })
        });
        let shares: Vec<_> = shares.collect();
        shares.into_iter().flat_map(|share| share.join().unwrap()).collect()
    });
    println!("{} mutants, {} survive", mutants.len(), survivors.len());
    assert!(survivors.is_empty(), "\n{}", survivors.join("\n"));
}

/// `None` if the mutant dies as it should.
fn survival(number: usize, file: &str, mutant: Mutant) -> Option<String> {
    let dir = fresh_dir(&number.to_string());
    copy_kernel(&dir);
    mutate(&dir.join(file), mutant);
    let mut told = String::from("survives");
    if let Err(text) = build(&dir) {
        return Some(format!("{}: does not compile: {text}", mutant.what));
    }
    for tests in STAGES {
        match walk(&dir, tests) {
            Ok(()) => {}
            Err(text) if text.contains(&format!("broken: {}\n", mutant.breaks.0)) => {
                fs::remove_dir_all(&dir).unwrap();
                return None;
            }
            Err(text) => {
                let broken = text.lines().find(|line| line.starts_with("broken: "));
                told = format!("dies otherwise: {}", broken.unwrap_or(&text));
            }
        }
    }
    Some(format!("{}: {told}", mutant.what))
}

/// Replaces the one place that the mutant means.
fn mutate(path: &Path, mutant: Mutant) {
    let source = fs::read_to_string(path).unwrap();
    let (before, part) = source.split_once(mutant.after).expect("the text before the place");
    let end = part.find("\n}\n").filter(|_| !mutant.after.is_empty()).unwrap_or(part.len());
    let (part, rest) = part.split_at(end);
    assert_eq!(part.matches(mutant.old).count(), 1, "this must be there once:\n{}", mutant.old);
    let part = part.replace(mutant.old, mutant.new);
    fs::write(path, [before, mutant.after, &part, rest].concat()).unwrap();
}

fn fresh_dir(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants").join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).unwrap();
    }
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn copy_kernel(dir: &Path) {
    for entry in fs::read_dir(Path::new(PACKAGE).join("src")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.join(path.file_name().unwrap())).unwrap();
    }
}

/// Without debug assertions: the laws must notice by themselves.
fn build(dir: &Path) -> Result<(), String> {
    let kernel = dir.join("libtoolwright_kernel.rlib");
    let common = ["--edition=2024", "-Copt-level=2", "--cap-lints=allow"];
    let compile = |arguments: &[&str], source: &Path, target: &Path| {
        let mut rustc = command(option_env!("RUSTC").unwrap_or("rustc"));
        rustc.args(common).args(arguments).arg(source).arg("-o").arg(target);
        let output = rustc.current_dir(PACKAGE).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(text) }
    };
    let name = "--crate-name=toolwright_kernel";
    compile(&["--crate-type=rlib", name], &dir.join("lib.rs"), &kernel)?;
    let uses = format!("--extern=toolwright_kernel={}", kernel.display());
    compile(&["--test", &uses], Path::new("tests/every_turn.rs"), &dir.join("walk"))
}

/// What the walk said, if it failed.
fn walk(dir: &Path, tests: &[&str]) -> Result<(), String> {
    let output = command(dir.join("walk")).args(tests).arg("--test-threads=1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(()) } else { Err(text) }
}

#[expect(clippy::disallowed_methods, reason = "a test that builds programs and runs them")]
fn command(program: impl AsRef<std::ffi::OsStr>) -> std::process::Command {
    std::process::Command::new(program)
}
