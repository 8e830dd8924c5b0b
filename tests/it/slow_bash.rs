//! Commands as real processes: what they tell, how they end, and that nothing is left of them.

use std::fs;
use std::time::{Duration, Instant};

use harness::{Folder, texts};
use rustix::process::{Pid, test_kill_process};
use serde_json::json;
use toolwright::{EventKind, ToolUse};

/// More than any command here needs on a busy machine, and less than those that are ended sleep.
const SOON: Duration = Duration::from_secs(20);

async fn ok(folder: &Folder, command: &str) -> String {
    folder.ok("Bash", json!({"command": command})).await
}

async fn fails(folder: &Folder, command: &str) -> String {
    folder.fails("Bash", json!({"command": command})).await
}

/// The number of a process that a command has written into a file.
fn process(folder: &Folder, name: &str) -> Pid {
    let number = String::from_utf8(folder.get(name)).unwrap();
    Pid::from_raw(number.trim().parse().unwrap()).unwrap()
}

/// Waits until a process has ended, which is a matter of moments once it is killed.
async fn gone(pid: Pid) {
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    // A zombie waits for whoever adopted it, and is none of ours.
    let is_zombie = || fs::read_to_string(&stat).is_ok_and(|it| it.contains(") Z "));
    let ended = async {
        while test_kill_process(pid).is_ok() && !is_zombie() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, ended).await.expect("the process still runs");
}

#[tokio::test]
async fn output_is_told_in_the_order_in_which_it_was_written() {
    let folder = Folder::open().await;
    for (command, expected) in [
        ("echo a; echo b >&2; echo c", "a\nb\nc"),
        ("printf 'a\\n\\n'", "a"),
        ("true", "(no output)"),
        ("cat; echo done # a comment", "done"),
        ("cat <<'END'\nit's $HOME\nEND", "it's $HOME"),
        ("echo \"$0 $#\"", "bash 0"),
        ("printf 'a\\xffb'", "a\u{fffd}b"),
        ("pwd", "DIR"),
    ] {
        assert_eq!(ok(&folder, command).await, expected, "{command}");
    }
    folder.close().await;
}

#[tokio::test]
async fn a_code_says_how_a_command_ended() {
    let folder = Folder::open().await;
    for (command, expected) in [
        ("echo a; echo b >&2; exit 3", "Exit code 3\na\nb"),
        ("false", "Exit code 1"),
        ("kill -9 $$", "Exit code 137\nA shell gives the code 137 for an end by SIGKILL."),
        (
            "exec sh -c 'kill -SEGV $$'",
            "Exit code 139\nA shell gives the code 139 for an end by SIGSEGV.",
        ),
        ("no-such-program", "Exit code 127\nbash: line 2: no-such-program: command not found"),
        // The answer no, but of somebody else.
        ("false && grep x file", "Exit code 1"),
        ("grep x missing", "Exit code 2\ngrep: missing: No such file or directory"),
    ] {
        assert_eq!(fails(&folder, command).await, expected, "{command}");
    }
    // No mode starts by itself what can't be read.
    let unclosed = fails(&folder, "echo 'a").await;
    assert!(unclosed.contains("requires approval"), "{unclosed}");
    for command in [
        "grep x /dev/null",
        "grep 'a|b' /dev/null",
        "cd . && cat /dev/null | grep x",
        "[ 1 = 2 ]",
        "test -e missing",
        "git diff --no-index --exit-code --quiet /dev/null /etc/passwd",
    ] {
        assert_eq!(ok(&folder, command).await, "(no output)", "{command}");
    }
    folder.close().await;
}

#[tokio::test]
async fn a_change_of_directory_lasts_inside_what_is_allowed() {
    let other = tempfile::TempDir::new().unwrap();
    let other = other.path().canonicalize().unwrap();
    let folder = Folder::with(|config| {
        config.context.directories = vec![config.context.cwd.clone(), other.clone()];
    })
    .await;
    fs::create_dir_all(folder.path("a/b")).unwrap();
    let cwd = || folder.house.session.context().cwd.clone();
    ok(&folder, "cd a/b; exit 0").await;
    assert_eq!(cwd(), folder.path("a/b"));
    assert_eq!(ok(&folder, "cd .. && pwd").await, "DIR/a");
    assert_eq!(cwd(), folder.path("a"));
    // What failed changes nothing.
    fails(&folder, "cd b; false").await;
    assert_eq!(cwd(), folder.path("a"));
    assert_eq!(ok(&folder, "cd /; pwd").await, "/\nShell cwd was reset to DIR/a");
    assert_eq!(ok(&folder, "cd /").await, "Shell cwd was reset to DIR/a");
    assert_eq!(cwd(), folder.path("a"));
    ok(&folder, &format!("cd {}", other.display())).await;
    assert_eq!(cwd(), other);
    ok(&folder, &format!("cd {}", folder.name("a"))).await;
    // A name that only begins like that of an allowed directory is another.
    let beside = format!("{}x", folder.root().display());
    ok(&folder, &format!("mkdir {beside} && cd {beside}")).await;
    assert_eq!(cwd(), folder.path("a"));
    fs::remove_dir(beside).unwrap();
    folder.close().await;
}

#[tokio::test]
async fn the_first_directory_stays_allowed_when_none_was_named() {
    let folder = Folder::open().await;
    ok(&folder, "mkdir a && cd a").await;
    ok(&folder, "cd ..").await;
    assert_eq!(folder.house.session.context().cwd, folder.root());
    folder.close().await;
}

#[tokio::test]
async fn without_its_directory_no_command_runs_elsewhere() {
    let folder = Folder::open().await;
    ok(&folder, "mkdir a && cd a").await;
    fs::remove_dir(folder.path("a")).unwrap();
    let text = fails(&folder, "touch here").await;
    assert!(text.starts_with("The working directory DIR/a is gone"), "{text}");
    assert_eq!(folder.names(), [""; 0]);
    folder.close().await;
}

#[tokio::test]
async fn a_grandchild_that_keeps_the_output_open_neither_delays_the_result_nor_stays() {
    let folder = Folder::open().await;
    let began = Instant::now();
    let command = "sleep 300 & echo $! > pid; echo done";
    assert_eq!(ok(&folder, command).await, "done");
    assert!(began.elapsed() < SOON);
    gone(process(&folder, "pid")).await;
    folder.close().await;
}

#[tokio::test]
async fn at_its_time_a_command_is_ended_with_all_that_it_started() {
    let folder = Folder::open().await;
    for command in [
        "echo begun; sleep 300 & echo $! > pid; sleep 300",
        // It does not want to.
        "trap '' TERM; echo begun; (trap '' TERM; sleep 300) & echo $! > pid; while :; do sleep 1; done",
        // It can't even be asked.
        "echo begun; sleep 300 & echo $! > pid; kill -STOP $$",
    ] {
        let input = json!({"command": command, "timeout": 500});
        let text = folder.fails("Bash", input).await;
        assert_eq!(text, "Exit code 143\nCommand timed out after 0.5s\nbegun", "{command}");
        gone(process(&folder, "pid")).await;
    }
    folder.close().await;
}

#[tokio::test]
async fn a_command_without_output_streams_is_waited_for_all_the_same() {
    let folder = Folder::open().await;
    let text =
        folder.fails("Bash", json!({"command": "exec >&- 2>&-; sleep 300", "timeout": 300})).await;
    assert_eq!(text, "Exit code 143\nCommand timed out after 0.3s");
    folder.close().await;
}

/// Starts a command that sleeps, and waits until the number of its sleeping child is known.
async fn sleeping(folder: &Folder) -> (toolwright::TurnHandle, Pid) {
    let command = "sleep 300 & echo $! > it; mv it pid; sleep 300";
    let call = ToolUse::new("a", "Bash", json!({"command": command}));
    let turn = folder.house.turn([call]).await;
    let begun = async {
        while !folder.path("pid").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, begun).await.expect("it begins");
    let pid = process(folder, "pid");
    (turn, pid)
}

#[tokio::test]
async fn a_command_that_is_stopped_ends_with_all_that_it_started() {
    let folder = Folder::open().await;
    let (turn, pid) = sleeping(&folder).await;
    folder.house.session.interrupt();
    let results = turn.finish().await;
    assert!(texts(&results)[0].contains("Interrupted by the user."), "{:?}", texts(&results));
    gone(pid).await;
    folder.close().await;
}

#[tokio::test]
async fn a_session_that_ends_leaves_no_process() {
    let folder = Folder::open().await;
    let (turn, pid) = sleeping(&folder).await;
    drop(turn);
    folder.close().await;
    gone(pid).await;
}

#[tokio::test]
async fn a_flood_of_output_is_shown_by_its_start_and_its_end() {
    let folder = Folder::open().await;
    let text = ok(&folder, "yes äbc | head -c 50000000; echo; echo end").await;
    assert!(text.starts_with("äbc\näbc\n") && text.ends_with("\nend"));
    // 50,000,000 bytes are ten million lines of four characters; two line endings follow the cut.
    assert!(
        text.contains("\n\n... [39970004 characters left out] ...\n\n"),
        "{}",
        &text[17_000..19_100]
    );
    let text = fails(&folder, "seq 100000; exit 2").await;
    assert!(text.starts_with("Exit code 2\n1\n2\n") && text.ends_with("\n99999\n100000"));
    assert!(text.contains("[578894 characters left out]"), "{}", &text[5_000..5_100]);
    folder.close().await;
}

#[tokio::test]
async fn a_command_that_failed_takes_the_calls_beside_it_along_but_one_that_never_ran_does_not() {
    let folder = Folder::open().await;
    let bash = |id: &str, command: &str| ToolUse::new(id, "Bash", json!({"command": command}));
    let results = folder.house.run([bash("a", "touch x; exit 2"), bash("b", "echo b")]).await;
    assert!(texts(&results)[1].contains("parallel tool call Bash(touch x; exit 2) errored"));
    // What was only to be looked at is missed by nobody.
    let results = folder.house.run([bash("a", "cat missing"), bash("b", "echo b")]).await;
    assert_eq!(texts(&results)[1], "b");
    let results = folder.house.run([bash("a", " "), bash("b", "echo b")]).await;
    assert_eq!(texts(&results)[1], "b");
    folder.close().await;
}

#[tokio::test]
async fn commands_that_only_read_run_side_by_side_and_others_alone() {
    let folder = Folder::open().await;
    let bash = |id: &str, command: &str| ToolUse::new(id, "Bash", json!({"command": command}));
    folder.put("a", "of a\n");
    let calls =
        [bash("1", "cat a"), bash("2", "grep -c of a"), bash("3", "cat a > b"), bash("4", "cd /")];
    folder.house.run(calls).await;
    let Folder { house, .. } = folder;
    let exclusive = house.close().await.into_iter().filter_map(|it| match it.kind {
        EventKind::Accepted { exclusive, read_only, .. } => Some((exclusive, read_only)),
        _ => None,
    });
    let (shared, alone) = ((false, true), (true, false));
    assert_eq!(exclusive.collect::<Vec<_>>(), [shared, shared, alone, alone]);
}

#[tokio::test]
async fn input_that_cannot_run_is_refused_with_what_to_do() {
    let folder = Folder::open().await;
    let mut told = Vec::new();
    for input in [
        json!({"command": " \n"}),
        json!({"command": "echo \0"}),
        json!({"command": "true", "timeout": 0}),
        json!({"command": "true", "run_in_background": true}),
    ] {
        told.push(folder.fails("Bash", input).await);
    }
    let mut questions = folder.house.session.questions();
    let long = async {
        // No mode starts by itself what is too long to be read.
        let ask = harness::asked(&mut questions).await;
        folder.house.session.answer(ask.request, toolwright::Answer::Allow);
    };
    let huge = "x".repeat(2 << 20);
    let (text, ()) = tokio::join!(fails(&folder, &huge), long);
    told.push(text);
    insta::assert_snapshot!(told.join("\n"), @"
    <tool_use_error>command is empty: send the command to run</tool_use_error>
    <tool_use_error>command contains a NUL character, which no command can: send it without</tool_use_error>
    <tool_use_error>timeout is 0: send how many milliseconds the command may run, or leave it out</tool_use_error>
    <tool_use_error>run_in_background is not supported yet: run the command in the foreground, with a timeout that is long enough</tool_use_error>
    The command could not be started: Argument list too long (os error 7). If it is very long, write it to a file and run that.
    ");
    let huge = json!({"command": "echo fine", "timeout": u64::MAX});
    assert_eq!(folder.ok("Bash", huge).await, "fine");
    folder.close().await;

    let nowhere = Folder::with(|config| config.context.cwd = "".into()).await;
    let text = fails(&nowhere, "true").await;
    assert!(text.contains("the session has no working directory"), "{text}");
    nowhere.close().await;
}

#[tokio::test]
async fn nothing_is_left_in_the_folder_for_temporary_files() {
    let folder = Folder::open().await;
    let left = || {
        let entries = fs::read_dir(std::env::temp_dir()).unwrap();
        entries
            .filter_map(|it| it.ok()?.file_name().into_string().ok())
            .filter(|it| it.starts_with("toolwright-"))
            .collect::<Vec<_>>()
    };
    // The file that a command reports into has its name from the command's own script.
    let name = ok(&folder, "trap -p EXIT | grep -o 'toolwright-[A-Za-z0-9]*'").await;
    fails(&folder, "kill -9 $$").await;
    assert!(name.starts_with("toolwright-"), "{name}");
    assert!(!left().contains(&name), "{:?}", left());
    folder.close().await;
}
