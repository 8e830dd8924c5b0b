//! What runs in a real bash is named by what was understood, unless it said that it was not sure.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::{fs::PermissionsExt, fs::symlink, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use toolwright_shell_analysis::understand;

use crate::scripts::script;

/// Programs that run the program in their arguments, and nothing else by themselves.
const WRAPPERS: [&str; 9] =
    ["env", "timeout", "nice", "nohup", "xargs", "find", "sh", "bash", "stdbuf"];
/// Where the wrappers are looked for.
const FOLDERS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];
/// How long a script may run; what it has run until then counts.
const LONGEST: Duration = Duration::from_secs(3);
/// Bytes that a script may write into one file, in blocks of 512 bytes.
const LARGEST_FILE: &str = "2048";

fn find(name: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|it| Path::new(it).join(name)).find(|it| it.exists())
}

/// A folder in which a script runs, and one with the only programs that it reaches.
struct Stage {
    folder: TempDir,
    bash: PathBuf,
}

impl Stage {
    /// `None` where there is no bash.
    fn new() -> Option<Self> {
        let bash = find("bash")?;
        let folder = TempDir::new().unwrap();
        let programs = folder.path().join("programs");
        fs::create_dir(&programs).unwrap();
        for letter in ["t", "f"] {
            for digit in 0..10 {
                let stub = programs.join(format!("{letter}{digit}"));
                let code = u8::from(letter == "f");
                let text = format!("#!/bin/sh\necho \"${{0##*/}}\" >>\"$L\"\nexit {code}\n");
                fs::write(&stub, text).unwrap();
                fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        for name in WRAPPERS {
            if let Some(program) = find(name) {
                symlink(program, programs.join(name)).unwrap();
            }
        }
        Some(Self { folder, bash })
    }

    /// The stubs that ran. What one script has left behind writes into no other's log.
    fn run(&self, seed: u64, script: &str) -> BTreeSet<String> {
        assert!(!script.contains(['/', '~']), "a script stays in its folder: {script:?}");
        let root = self.folder.path();
        let run = root.join(format!("run-{seed}"));
        // Deep enough that no `cd ..` leaves it.
        let inside = run.join("a/b/c/d");
        let log = root.join(format!("log-{seed}"));
        fs::create_dir_all(&inside).unwrap();
        fs::write(inside.join("i1"), "i\n").unwrap();
        fs::write(&log, "").unwrap();
        let mut child = Command::new(&self.bash)
            .args(["--norc", "--noprofile", "-c"])
            .arg(format!("ulimit -f {LARGEST_FILE} -t 5 2>&-\n{script}"))
            .current_dir(&inside)
            .env_clear()
            .env("PATH", root.join("programs"))
            .env("HOME", &inside)
            .env("FUNCNEST", "4")
            .env("L", &log)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let group = rustix::process::Pid::from_child(&child);
        let deadline = Instant::now() + LONGEST;
        while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_micros(500));
        }
        // What it left in the background gets a moment to say its name.
        if rustix::process::test_kill_process_group(group).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
        let killed = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        assert!(matches!(killed, Ok(()) | Err(rustix::io::Errno::SRCH)), "{killed:?}");
        child.wait().unwrap();
        fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect()
    }
}

/// Counts of one run over many scripts.
#[derive(Debug, Default)]
struct Tally {
    scripts: usize,
    understood: usize,
    programs: usize,
}

fn compare(seeds: impl Iterator<Item = u64>) -> Option<Tally> {
    let stage = Stage::new()?;
    let mut tally = Tally::default();
    let mut unnamed = Vec::new();
    for seed in seeds {
        let text = script(seed);
        let understanding = understand(&text);
        tally.scripts += 1;
        if !understanding.is_full() {
            continue;
        }
        tally.understood += 1;
        let ran = stage.run(seed, &text);
        tally.programs += ran.len();
        let named: BTreeSet<&str> = understanding.programs().collect();
        let missing: Vec<&String> = ran.iter().filter(|it| !named.contains(it.as_str())).collect();
        if !missing.is_empty() {
            unnamed.push(format!("seed {seed}: {missing:?} ran, named are {named:?}\n{text}\n"));
        }
    }
    assert!(unnamed.is_empty(), "{} scripts:\n{}", unnamed.len(), unnamed.join("\n"));
    Some(tally)
}

/// Scripts that are run in the gate; more with `TOOLWRIGHT_SCRIPTS`.
const SCRIPTS: u64 = 400;

fn scripts() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "how long a test may take is said outside")]
    let said = std::env::var("TOOLWRIGHT_SCRIPTS");
    said.ok().and_then(|it| it.parse().ok()).unwrap_or(SCRIPTS)
}

#[test]
fn bash_runs_no_program_that_was_not_named() {
    let scripts = scripts().max(SCRIPTS);
    let Some(tally) = compare(0..scripts) else { return };
    assert!(tally.understood > 100, "too few are understood to tell: {tally:?}");
    assert!(tally.programs > 200, "too little has run to tell: {tally:?}");
}
