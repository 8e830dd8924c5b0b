//! Commands with a warden: whatever they do to get away, nothing of them is left behind.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use harness::{Folder, texts};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use toolwright::ToolUse;

/// More than any command here needs on a busy machine, and less than those that are ended sleep.
const SOON: Duration = Duration::from_secs(20);

/// Ways of a command to leave something behind that sleeps, and to say `begun` then.
const ESCAPES: [(&str, &str); 5] = [
    ("a background process", "sleep 300 & echo begun"),
    ("a session of its own", "setsid sleep 300 & echo begun"),
    ("a daemon, forked twice", "(setsid sh -c 'sleep 300 & exec sleep 300' &); echo begun"),
    ("one without a marked environment", "(env -i setsid /bin/sleep 300 &); echo begun"),
    (
        "one that doesn't want to end",
        "setsid sh -c \"trap '' TERM; sleep 300; sleep 300\" & echo begun",
    ),
];

/// The processes whose working directory is this, which those of a command keep.
fn left_in(folder: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|it| it.path());
    let lives_here = |it: &PathBuf| fs::read_link(it.join("cwd")).is_ok_and(|cwd| cwd == folder);
    let name = |it: PathBuf| fs::read_to_string(it.join("comm")).unwrap_or_default();
    processes.filter(lives_here).map(name).collect()
}

/// Waits until there is none.
async fn none_left_in(folder: &Path) {
    let none = async {
        while !left_in(folder).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(SOON, none).await;
    waited.unwrap_or_else(|_| panic!("left: {:?}", left_in(folder)));
}

#[tokio::test]
async fn nothing_gets_away_from_a_command_that_ends() {
    let folder = Folder::open().await;
    for (what, escape) in ESCAPES {
        assert_eq!(folder.ok("Bash", json!({"command": escape})).await, "begun", "{what}");
        // The result says so only when it is so.
        assert_eq!(left_in(&folder.root()), [] as [String; 0], "{what}");
    }
    folder.close().await;
}

#[tokio::test]
async fn nothing_gets_away_from_a_command_that_is_ended_at_its_time() {
    let folder = Folder::open().await;
    for (what, escape) in ESCAPES {
        let input = json!({"command": format!("{escape}; sleep 300"), "timeout": 500});
        let told = folder.fails("Bash", input).await;
        assert_eq!(told, "Exit code 143\nCommand timed out after 0.5s\nbegun", "{what}");
        assert_eq!(left_in(&folder.root()), [] as [String; 0], "{what}");
    }
    folder.close().await;
}

#[tokio::test]
async fn nothing_gets_away_from_a_command_that_is_stopped() {
    let folder = Folder::open().await;
    for (what, escape) in ESCAPES {
        fs::remove_file(folder.path("begun")).unwrap_or_default();
        let command = format!("{escape}; touch begun; sleep 300");
        let turn =
            folder.house.turn([ToolUse::new("a", "Bash", json!({"command": command}))]).await;
        let begun = async {
            while !folder.path("begun").exists() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(SOON, begun).await.expect("it begins");
        folder.house.session.interrupt();
        let results = turn.finish().await;
        assert!(texts(&results)[0].contains("Interrupted by the user."), "{:?}", texts(&results));
        assert_eq!(left_in(&folder.root()), [] as [String; 0], "{what}");
    }
    folder.close().await;
}

#[tokio::test]
async fn nothing_gets_away_from_a_session_whose_process_is_killed() {
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let command = ESCAPES.map(|(_, escape)| escape).join("; ");
    let call = json!({"type": "tool_use", "id": "a", "name": "Bash", "input": {
        "command": format!("{command}; touch begun; sleep 300"),
    }});
    let mut host = Command::new(env!("CARGO_BIN_EXE_toolwright-under-test"))
        .args(["run", "--allow-everything", "--cwd"])
        .arg(&root)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = host.stdin.take().unwrap();
    writeln!(input, "{call}").unwrap();
    let begun = async {
        while !root.join("begun").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, begun).await.expect("it begins");
    assert!(left_in(&root).len() > ESCAPES.len());
    kill_process(Pid::from_child(&host), Signal::KILL).unwrap();
    host.wait().unwrap();
    none_left_in(&root).await;
}

#[tokio::test]
async fn a_command_that_kills_its_keeper_is_told_as_lost_and_leaves_nothing() {
    let folder = Folder::open().await;
    let command = "setsid sleep 300 & (setsid sleep 300 &); kill -9 $PPID; sleep 300";
    let told = folder.fails("Bash", json!({"command": command})).await;
    assert!(told.starts_with("Exit code 137\nThe process that watched over"), "{told}");
    none_left_in(&folder.root()).await;
    assert_eq!(folder.ok("Bash", json!({"command": "echo next"})).await, "next");
    folder.close().await;
}

#[tokio::test]
async fn a_warden_that_was_killed_is_started_again() {
    let folder = Folder::open().await;
    let command = "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); echo killed";
    assert_eq!(folder.ok("Bash", json!({"command": command})).await, "killed");
    assert_eq!(folder.ok("Bash", json!({"command": "echo next"})).await, "next");
    assert_eq!(left_in(&folder.root()), [] as [String; 0]);
    folder.close().await;
}

#[tokio::test]
async fn a_command_has_no_terminal_and_nobody_elses_descriptors_or_group() {
    let folder = Folder::open().await;
    for (command, expected) in [
        ("(exec 9</dev/tty) 2>/dev/null && echo terminal || echo none", "none"),
        // The fourth is the folder that it reads.
        ("ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3"),
        ("[ $(cut -d' ' -f5 /proc/$$/stat) = $$ ] && echo own group", "own group"),
        ("trap 'echo heard; exit' TERM; kill 0", "heard"),
        ("cat; echo end of input", "end of input"),
    ] {
        assert_eq!(
            folder.ok("Bash", json!({"command": command})).await.trim(),
            expected.trim(),
            "{command}"
        );
    }
    folder.close().await;
}

#[tokio::test]
async fn a_storm_of_processes_is_over_with_its_command() {
    let folder = Folder::open().await;
    let storm = "storm() { sleep 300 & setsid sleep 300 & [ $1 -gt 0 ] && { storm $(($1-1)) & storm $(($1-1)) & }; }; storm 5; sleep 1; echo over";
    assert_eq!(folder.ok("Bash", json!({"command": storm})).await, "over");
    assert_eq!(left_in(&folder.root()), [] as [String; 0]);
    folder.close().await;
}

#[tokio::test]
async fn commands_side_by_side_end_each_for_itself() {
    let houses = [Folder::open().await, Folder::open().await];
    let [quick, slow] = &houses;
    let waits = json!({"command": "while [ ! -e go ]; do sleep 0.05; done; echo went"});
    let turn = slow.house.turn([ToolUse::new("a", "Bash", waits)]).await;
    for _ in 0..20 {
        quick.ok("Bash", json!({"command": "setsid sleep 300 &"})).await;
    }
    slow.put("go", "");
    assert_eq!(texts(&turn.finish().await), ["went"]);
    for house in houses {
        none_left_in(&house.root()).await;
        house.close().await;
    }
}
