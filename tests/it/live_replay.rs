//! A live replay: the real tools work in a copy, reach the recorded end, and stay in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use toolwright::cli::{Screen, run};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/live");

/// A place with a tree, a recording, and room for a copy.
struct Place {
    folder: TempDir,
    tree: PathBuf,
    recording: PathBuf,
}

/// A run that is over.
struct Ran {
    status: u8,
    out: String,
    err: String,
}

impl Place {
    /// The fixture, with its tree as it is in the repository.
    fn fixture() -> Self {
        let folder = TempDir::new().expect("a folder");
        let fixture = Path::new(FIXTURE);
        Self { folder, tree: fixture.join("before"), recording: fixture.join("transcript.jsonl") }
    }

    /// A tree with a file `a`, and a recording of these calls, one a message.
    fn recording(calls: &[(&str, Value)]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let base = folder.path().to_owned();
        std::fs::create_dir(base.join("tree")).expect("is made");
        std::fs::write(base.join("tree/a"), "one\n").expect("is written");
        let mut lines = String::new();
        for (at, (tool, input)) in calls.iter().enumerate() {
            let block = json!({"type": "tool_use", "id": format!("t{at}"), "name": tool,
                "input": input});
            let result = json!({"type": "tool_result", "tool_use_id": format!("t{at}"),
                "content": "recorded"});
            for (kind, block) in [("assistant", block), ("user", result)] {
                let entry = json!({"type": kind, "cwd": "/recorded/in", "sessionId": "s",
                    "message": {"id": format!("m{at}"), "role": kind, "content": [block]}});
                lines.push_str(&format!("{entry}\n"));
            }
        }
        let recording = base.join("recording.jsonl");
        std::fs::write(&recording, lines).expect("is written");
        Self { tree: base.join("tree"), folder, recording }
    }

    fn copy(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("is there").join("copy")
    }

    fn replay(&self, args: &[&str]) -> Ran {
        let copy = self.copy();
        self.replay_into(&copy, args)
    }

    fn replay_into(&self, into: &Path, args: &[&str]) -> Ran {
        let live: [OsString; 7] = [
            self.recording.clone().into(),
            "--execute".into(),
            "live".into(),
            "--tree".into(),
            self.tree.clone().into(),
            "--into".into(),
            into.into(),
        ];
        replay(live.into_iter().chain(args.iter().map(Into::into)))
    }
}

fn replay(args: impl IntoIterator<Item = OsString>) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut screen = Screen {
        out: &mut out,
        err: &mut err,
        columns: 100,
        draws_progress: false,
        processes: harness::processes(),
    };
    let args = ["toolwright".into(), "replay".into()].into_iter().chain(args);
    let status = run(args, &mut screen, &CancellationToken::new());
    let plain = |bytes: Vec<u8>| {
        let plain = anstream::adapter::strip_bytes(&bytes).into_vec();
        String::from_utf8(plain).expect("text")
    };
    Ran { status, out: plain(out), err: plain(err) }
}

impl Ran {
    /// Tool, and whether the new result is an error, of each call that ran.
    fn differences(&self) -> Vec<(String, bool)> {
        assert_eq!((self.status, &*self.err), (0, ""), "{}", self.out);
        let first = self.out.lines().next().expect("a line");
        let line: Value = serde_json::from_str(first).expect("JSON");
        assert_eq!(line["violations"], json!([]));
        let differences = line["differences"].as_array().expect("a list");
        let short = |it: &Value| {
            assert_eq!(it["recorded_is_error"], false);
            let tool = it["tool"].as_str().expect("a name").to_owned();
            (tool, it["new_is_error"].as_bool().expect("is told"))
        };
        differences.iter().map(short).collect()
    }
}

/// Every file below a folder, by path.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("is read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).expect("is below").to_owned();
                files.insert(name, std::fs::read(&path).expect("is read"));
            }
        }
    }
    files
}

fn ran(tools: &[&str]) -> Vec<(String, bool)> {
    tools.iter().map(|it| ((*it).to_owned(), false)).collect()
}

#[test]
fn the_tools_for_files_reach_the_recorded_end_and_leave_the_tree_as_it_was() {
    let place = Place::fixture();
    let before = files(&place.tree);
    let told = place.replay(&["--only", "Read,Write,Edit", "--json"]).differences();
    assert_eq!(told, ran(&["Read", "Read", "Edit", "Edit", "Write", "Read"]));
    assert_eq!(files(&place.copy()), files(&Path::new(FIXTURE).join("after")));
    assert_eq!(files(&place.tree), before);
}

#[test]
fn without_a_choice_all_but_commands_run() {
    let place = Place::fixture();
    let told = place.replay(&["--json"]).differences();
    assert_eq!(told, ran(&["Read", "Read", "Edit", "Edit", "Write", "Read"]));
    assert_eq!(files(&place.copy()), files(&Path::new(FIXTURE).join("after")));
}

#[test]
fn a_tool_that_is_not_chosen_is_answered_from_the_recording() {
    let place = Place::fixture();
    assert_eq!(place.replay(&["--only", "Write", "--json"]).differences(), ran(&["Write"]));
    let mut expected = files(&place.tree);
    let written = files(&Path::new(FIXTURE).join("after"));
    let test = Path::new("tests/test_count.py");
    expected.insert(test.to_owned(), written[test].clone());
    assert_eq!(files(&place.copy()), expected);
}

#[test]
fn a_person_reads_which_calls_ran_and_where_they_differ() {
    let place = Place::recording(&[
        ("Write", json!({"file_path": "/recorded/in/new", "content": "x"})),
        ("Write", json!({"file_path": "/elsewhere", "content": "x"})),
    ]);
    let ran = place.replay(&[]);
    let told: Vec<_> = ran.out.lines().rev().take(7).collect();
    let told: Vec<_> = told.into_iter().rev().map(str::trim_end).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    Write t0  was no error, is no error
      recorded  recorded
      now       File created successfully at: /recorded/in/new
    Write t1  was no error, is an error
      recorded  recorded
      now       <tool_use_error>This replay runs in a copy of the tree alone, and /elsewhere is …
            live  2 calls ran: 0 with the recorded result, 2 with another, 1 of these in whether it is an error
    ");
}

#[cfg(unix)]
#[test]
fn commands_run_in_the_copy_if_that_was_said_and_only_then() {
    let command = "pwd -P > /recorded/in/where; cat '/recorded/in/a'; echo /recorded/inside";
    for (args, runs) in [
        (&["--json"][..], false),
        (&["--json", "--only", "Read"], false),
        (&["--json", "--commands"], true),
        (&["--json", "--only", "Bash"], true),
    ] {
        let place = Place::recording(&[("Bash", json!({"command": command}))]);
        let told = place.replay(args).differences();
        assert_eq!(told, if runs { ran(&["Bash"]) } else { vec![] }, "{args:?}");
        let where_it_was = std::fs::read_to_string(place.copy().join("where")).ok();
        let here = runs.then(|| format!("{}\n", place.copy().display()));
        assert_eq!(where_it_was, here, "{args:?}");
    }
}

#[test]
fn a_search_stays_in_the_copy_however_its_path_is_written() {
    let content =
        |path: &str| ("Grep", json!({"pattern": "one", "output_mode": "content", "path": path}));
    let glob = |pattern: &str| ("Glob", json!({"pattern": pattern}));
    let place = Place::recording(&[
        content("a"),
        content("."),
        content("/recorded/in"),
        glob("**/a"),
        content(".."),
        content("/"),
        content("sub/../../tree"),
        glob("../**/*"),
        glob("/**/*"),
    ]);
    let told = place.replay(&["--json"]).differences();
    let errors: Vec<_> = told.iter().map(|it| it.1).collect();
    assert_eq!(errors, [false, false, false, false, true, true, true, true, true]);
}

#[cfg(unix)]
#[test]
fn nothing_outside_the_copy_is_touched_by_its_name_or_through_a_link() {
    let outside = TempDir::new().expect("a folder");
    let target = outside.path().join("target");
    std::fs::write(&target, "one\n").expect("is written");
    let write = |path: &str| ("Write", json!({"file_path": path, "content": "two\n"}));
    let direct = outside.path().join("new");
    let place = Place::recording(&[
        ("Read", json!({"file_path": target})),
        write(direct.to_str().expect("text")),
        write("/recorded/in/../new"),
        write("/recorded/in/out/new"),
        ("Read", json!({"file_path": "/recorded/in/file"})),
        write("/recorded/in/dangling"),
        write("/recorded/in/sub/ok"),
    ]);
    let link = |to: &Path, name: &str| {
        std::os::unix::fs::symlink(to, place.tree.join(name)).expect("is linked");
    };
    link(outside.path(), "out");
    link(&target, "file");
    link(&outside.path().join("nothing"), "dangling");
    let told = place.replay(&["--json"]).differences();
    let errors: Vec<_> = told.iter().map(|it| it.1).collect();
    assert_eq!(errors, [true, true, true, true, true, true, false]);
    assert_eq!(files(outside.path()), [("target".into(), b"one\n".to_vec())].into());
    let copied = std::fs::read_link(place.copy().join("out")).expect("a link stays a link");
    assert_eq!(copied, outside.path());
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let place = Place::recording(&[]);
    let refused = |ran: Ran, why: &str| {
        assert_eq!(ran.status, 2, "{}", ran.err);
        assert!(ran.err.starts_with("error: ") && ran.err.contains(why), "{}", ran.err);
        assert!(!place.copy().exists());
        assert_eq!(files(&place.tree).len(), 1);
    };
    refused(place.replay_into(&place.tree.join("copy"), &[]), "outside the tree");
    refused(place.replay_into(place.folder.path(), &[]), "outside the tree");
    refused(place.replay_into(&place.tree.join("a/b"), &[]), "--into");
    refused(place.replay(&["--only", "Nope"]), "there is no built-in tool `Nope`");
    let recording = || OsString::from(&place.recording);
    refused(replay([recording(), "--execute".into(), "live".into()]), "--tree");
    refused(replay([recording(), "--commands".into()]), "belong to --execute live");
    let second = place.recording.to_str().expect("text").to_owned();
    refused(place.replay(&[&second]), "one recording");
    let stream =
        ["message_start", "message_stop"].map(|it| format!("data: {{\"type\":\"{it}\"}}\n\n"));
    std::fs::write(&place.recording, stream.concat()).expect("is written");
    refused(place.replay(&[]), "doesn't name the absolute directory");
}

#[test]
fn a_folder_that_holds_something_is_not_taken_for_the_copy() {
    let place = Place::fixture();
    std::fs::create_dir(place.copy()).expect("is made");
    std::fs::write(place.copy().join("mine"), "x").expect("is written");
    let ran = place.replay(&[]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("is not an empty folder"), "{}", ran.err);
    assert_eq!(files(&place.copy()).len(), 1);
    std::fs::remove_file(place.copy().join("mine")).expect("is removed");
    assert_eq!(place.replay(&[]).status, 0);
}
