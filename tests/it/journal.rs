//! A session with a journal: what it writes before a call starts, and what is told of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use harness::{House, call, texts};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolwright::JournaledStarts;
use toolwright::cli::{Screen, run};
use toolwright_contract::{EVENT_VERSION, HowEnded};
use toolwright_journal::{Duty, FILE_NAME, Journal, Opened, Options, Policy, Reading, SessionName};

fn open(folder: &Path) -> Reading<Journal> {
    let opened =
        Opened { run: 0, at_ms: 0, event_version: EVENT_VERSION, process: None, cwd: None };
    let session = SessionName::new("s").unwrap();
    Journal::open(Options::new(folder.to_owned(), session, opened)).unwrap()
}

/// A journal in which a call that writes has started, and one that reads has run.
async fn lived(folder: &Path) {
    let journal = open(folder).journal;
    let starts = Arc::new(JournaledStarts::new(journal.clone()));
    let house = House::with(|it| it.journal = starts).await;
    let calls = [call("reads", json!({})), call("writes", json!({"writes": true}))];
    assert_eq!(house.run(calls).await.ended, [HowEnded::Ok; 2]);
    house.close().await;
    journal.close().await;
}

/// Status, output and complaints of the program.
fn tell(what: &str, file: &Path) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut screen = Screen {
        out: &mut out,
        err: &mut err,
        columns: 100,
        draws_progress: false,
        processes: harness::processes(),
    };
    let args = ["toolwright", "journal", what, file.to_str().unwrap()];
    let status = run(args.map(Into::into), &mut screen, &CancellationToken::new());
    (status, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn file(folder: &Path) -> PathBuf {
    folder.join(FILE_NAME)
}

#[tokio::test]
async fn a_call_that_writes_leaves_a_record_of_its_start_and_one_that_reads_none() {
    let folder = tempfile::tempdir().unwrap();
    lived(folder.path()).await;
    let recovered = open(folder.path()).recovered;
    let calls: Vec<_> = recovered.turns.iter().flat_map(|it| &it.calls).collect();
    let [call] = calls[..] else { panic!("{calls:?}") };
    assert_eq!((call.id.as_str(), call.at.call), ("writes", 1));
    let may_have_run = Duty::Answer(toolwright_contract::Progress::MayHaveRun);
    assert_eq!(call.duty(Policy::default()), may_have_run);
}

#[tokio::test]
async fn without_its_record_no_call_that_writes_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path()).journal;
    let starts = Arc::new(JournaledStarts::new(journal));
    let house = House::with(|it| it.journal = starts.clone()).await;
    let long = "x".repeat(toolwright_journal::MAX_PAYLOAD);
    let calls = [call(&long, json!({"writes": true})), call("reads", json!({}))];
    let results = house.run(calls).await;
    assert_eq!(results.ended, [HowEnded::Refused, HowEnded::Ok]);
    let told = &texts(&results)[0];
    assert!(told.contains("could not be recorded") && told.contains("so it was not started"));
    house.close().await;
}

#[tokio::test]
async fn a_journal_is_shown_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    lived(folder.path()).await;
    let (status, out, err) = tell("verify", &file(folder.path()));
    assert_eq!((status, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r"
    2 records, 1 runs, 0 finished turns
    open: turn 0 of run 1
      writes: interrupted (may have run)
    ");
    let (status, out, _) = tell("show", &file(folder.path()));
    let lines: Vec<serde_json::Value> =
        out.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(status, 0);
    assert_eq!((&lines[1]["kind"], &lines[1]["body"]["id"]), (&json!("start"), &json!("writes")));
}

#[tokio::test]
async fn a_damaged_journal_is_told_and_repaired() {
    let folder = tempfile::tempdir().unwrap();
    lived(folder.path()).await;
    let file = file(folder.path());
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[toolwright_journal::HEADER_BYTES + 50] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    for what in ["verify", "show"] {
        let (status, _, err) = tell(what, &file);
        assert_eq!(status, 1);
        assert!(err.contains("damaged at byte 84") && err.contains("journal repair"), "{err}");
    }
    let (status, out, _) = tell("repair", &file);
    assert!(status == 0 && out.starts_with("cut at byte 84: 0 records are left"), "{out}");
    assert_eq!(std::fs::read(file.with_extension("twj.damaged")).unwrap(), bytes);
    assert_eq!(tell("repair", &file).1, "nothing to repair: 0 records, all whole\n");
    assert_eq!(tell("verify", &folder.path().join("nothing")).0, 2);
    assert!(!folder.path().join("nothing").exists());
}
