//! What a house leaves behind: no descriptor, thread, process or temporary file.
//!
//! A program of its own with one test, since what is counted belongs to the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "in a test program a panic is the report")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use harness::{House, Scripted, call};
use serde_json::json;
use toolwright::{AnyTool, Registry, ResultLimit, ToolUse, built_in_tools};

/// What the process holds now.
#[derive(Debug, PartialEq, Eq)]
struct Holds {
    descriptors: usize,
    threads: usize,
    children: usize,
}

fn holds() -> Holds {
    let entries = |folder: &str| fs::read_dir(folder).expect("is there").count();
    let tasks = fs::read_dir("/proc/self/task").expect("is there").flatten();
    let children = tasks.map(|it| fs::read_to_string(it.path().join("children")));
    let children = children.flatten().map(|it| it.split_whitespace().count()).sum();
    Holds { descriptors: entries("/proc/self/fd"), threads: entries("/proc/self/task"), children }
}

/// Turns with parallel calls, failures, panics, stops, nested calls, long results and commands
/// that leave children behind.
async fn live(folder: &Path, turns: usize) {
    let house = House::with(|config| {
        let scripted = Scripted::new().limit(ResultLimit::Chars(10));
        let tools = built_in_tools().into_iter().chain([AnyTool::new(scripted)]);
        config.tools = Registry::new(tools).expect("distinct names");
        config.results = Some(folder.to_owned());
        config.context.cwd = folder.to_owned();
    })
    .await;
    for turn in 0..turns {
        let command = json!({"command": "(sleep 60 & echo started); cat /dev/null"});
        let calls = [
            call("a", json!({"say": "a result longer than ten characters"})),
            call("b", json!({"panic": "it panics"})),
            call("c", json!({"nested": [{"ms": 1}, {"fail": "no"}]})),
            call("d", json!({"ms": 60_000})),
            call("e", json!({"alone": true})),
        ];
        let mut open = house.turn(calls).await;
        if turn % 50 == 0 {
            open.submit(ToolUse::new("f", "Bash", command)).await.expect("is taken");
        }
        open.stopper().stop(&"d".into());
        assert!(open.finish().await.results.len() >= 5);
    }
    house.close().await;
}

#[test]
fn a_session_of_many_turns_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("is made");
    let turns = |count| {
        let runtime = tokio::runtime::Runtime::new().expect("starts");
        runtime.block_on(live(folder.path(), count));
    };
    // tokio keeps one pair of descriptors for signals from the first process on, for good.
    let at_first = holds();
    turns(1);
    let began = Instant::now();
    while holds().threads > at_first.threads && began.elapsed() < Duration::from_secs(10) {
        std::thread::park_timeout(Duration::from_millis(10));
    }
    let before = holds();
    turns(200);
    // The watchdog looks four times a second, and ends when it finds nobody.
    let began = Instant::now();
    while holds() != before && began.elapsed() < Duration::from_secs(10) {
        std::thread::park_timeout(Duration::from_millis(10));
    }
    assert_eq!(holds(), before);
    let names = fs::read_dir(folder.path()).expect("is there").flatten();
    let names = names.map(|it| it.file_name().to_string_lossy().into_owned());
    let temporary: Vec<_> = names.filter(|it| it.starts_with('.')).collect();
    assert!(temporary.is_empty(), "{temporary:?}");
}
