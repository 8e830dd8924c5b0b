//! What a search gives to programs, and what becomes of one that may not go on.

use std::fs;

use serde_json::json;
use tempfile::TempDir;
use toolwright_contract::{Stop, StopCause};

use super::*;

fn folder(files: &[(&str, &str)]) -> (TempDir, SessionContext) {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let cwd = folder.path().canonicalize().unwrap();
    (folder, SessionContext { cwd, ..SessionContext::default() })
}

fn input(input: Value) -> Input {
    serde_json::from_value(input).unwrap()
}

fn unhurried() -> Watch {
    Watch::new(Stop::default(), TIME)
}

#[test]
fn programs_get_the_same_in_a_structured_form() {
    let (_folder, session) = folder(&[("a", "x\nx x\n"), ("b", "x\ny\n"), ("c", "y\n")]);
    let told = [
        json!({"pattern": "x", "glob": "b"}),
        json!({"pattern": "x", "output_mode": "content", "head_limit": 1, "offset": 1}),
        json!({"pattern": "x", "output_mode": "count"}),
        json!({"pattern": "x", "output_mode": "count", "-o": true}),
        json!({"pattern": "z", "output_mode": "content"}),
    ]
    .map(|it| {
        let (answer, _) = search(&input(it), &session, &unhurried()).unwrap();
        serde_json::to_string(&answer).unwrap()
    });
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"mode":"files_with_matches","numFiles":1,"filenames":["b"],"totalFiles":1}
    {"mode":"content","numFiles":0,"filenames":[],"content":"a:2:x x","numLines":1,"numMatches":3,"totalFiles":2,"totalLines":3,"appliedLimit":1,"appliedOffset":1}
    {"mode":"count","numFiles":2,"filenames":[],"content":"a:2\nb:1","numMatches":3,"totalFiles":2}
    {"mode":"count","numFiles":2,"filenames":[],"content":"a:3\nb:1","numMatches":4,"totalFiles":2}
    {"mode":"content","numFiles":0,"filenames":[],"content":"","numLines":0,"numMatches":0,"totalFiles":0,"totalLines":0}
    "#);
}

#[test]
fn a_search_that_runs_out_of_time_with_nothing_fails() {
    let (_folder, session) = folder(&[("a", "x\n")]);
    let hurried = Watch::new(Stop::default(), Duration::ZERO);
    for path in [".", "a"] {
        let input = input(json!({"pattern": "x", "path": path}));
        let fault = search(&input, &session, &hurried).unwrap_err().to_string();
        insta::allow_duplicates! { insta::assert_snapshot!(fault, @"Ripgrep search timed out after 0 seconds. It had found nothing by then, but was not done. Search a more specific path."); }
    }
}

#[test]
fn a_search_that_is_stopped_gives_nothing() {
    let (_folder, session) = folder(&[("a", "x\n")]);
    for path in [".", "a"] {
        let stop = Stop::default();
        stop.tell(StopCause::User);
        let input = input(json!({"pattern": "x", "path": path}));
        let fault = search(&input, &session, &Watch::new(stop, TIME)).unwrap_err();
        assert!(matches!(fault, Fault::Stopped));
    }
}

#[test]
fn a_result_too_large_for_anybody_is_cut_and_says_so() {
    let lines = format!("{}\n", "x".repeat(1 << 20)).repeat(5);
    let (_folder, session) = folder(&[("a", &lines), ("b", &lines), ("c", &lines)]);
    let input = input(json!({"pattern": "x", "output_mode": "content", "head_limit": 0}));
    let (answer, notices) = search(&input, &session, &unhurried()).unwrap();
    assert_eq!(notices.len(), 1, "{notices:?}");
    let told = serde_json::to_value(&answer).unwrap();
    assert_eq!((&told["totalLines"], &told["numLines"]), (&json!(15), &json!(10)));

    let (_folder, session) = folder(&[("a", &"x".repeat(9 << 20))]);
    let (answer, notices) = search(&input, &session, &unhurried()).unwrap();
    insta::assert_snapshot!(notices.join("\n"), @"[The result is too large and is cut. Use a narrower pattern, path or glob.]");
    let told = serde_json::to_value(&answer).unwrap();
    assert!(told["content"].as_str().unwrap().len() <= 8 << 20);
}
