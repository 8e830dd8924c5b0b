//! A session with a journal: what it writes before a call starts, and what is told of it.

use std::path::{Path, PathBuf};

use harness::{House, Scripted, call, texts};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolwright::cli::{Screen, run};
use toolwright::{Rules, Runtime};
use toolwright_contract::{AnyTool, HowEnded};
use toolwright_journal::{Durability, FILE_NAME, HEADER_BYTES, Header, Scanner, Step};

async fn journaled(folder: &Path) -> House {
    let runtime = Runtime::builder().tools([AnyTool::new(Scripted::new())]).build().unwrap();
    let session = runtime.session().rules(Rules::allow_everything());
    House::of(session.journal_in(folder, "s", Durability::Batch).start().await.unwrap())
}

/// A journal in which a call that writes has started, and one that reads has run.
async fn lived(folder: &Path) {
    let house = journaled(folder).await;
    let calls = [call("reads", json!({})), call("writes", json!({"writes": true}))];
    assert_eq!(house.run(calls).await.ended, [HowEnded::Ok; 2]);
    house.close().await;
}

/// The same, killed right behind the record of the start.
async fn killed(folder: &Path) {
    lived(folder).await;
    let file = file(folder);
    let bytes = std::fs::read(&file).unwrap();
    let start = br#""tool":"Scripted","idempotent""#;
    let at = bytes.windows(start.len()).rposition(|it| it == start).unwrap();
    let cuts = (at..bytes.len()).map(|it| &bytes[..it]);
    let mut whole = cuts.filter(|it| {
        let mut scanner = Scanner::new(&it[HEADER_BYTES..], Header::decode(it).unwrap());
        let last = std::iter::from_fn(|| match scanner.step().unwrap() {
            Step::Frame(_) => Some(Ok(())),
            Step::Torn(_) => Some(Err(())),
            _ => None,
        });
        last.collect::<Result<(), ()>>().is_ok()
    });
    std::fs::write(&file, whole.next().unwrap()).unwrap();
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
    folder.join("s").join(FILE_NAME)
}

#[tokio::test]
async fn without_its_record_no_call_that_writes_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let house = journaled(folder.path()).await;
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
    killed(folder.path()).await;
    let (status, out, err) = tell("verify", &file(folder.path()));
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains("1 runs, 0 finished turns\nopen: turn 0 of run 1\n"), "{out}");
    assert!(out.ends_with("  writes: interrupted (may have run)\n"), "{out}");
    let (status, out, _) = tell("show", &file(folder.path()));
    let lines: Vec<serde_json::Value> =
        out.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(status, 0);
    let start = lines.iter().find(|it| it["kind"] == "start").unwrap();
    assert_eq!(start["body"]["id"], "writes");
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
    let (_, out, err) = tell("repair", &file);
    assert_eq!((&*out, &*err), ("nothing to repair: 0 records, all whole\n", ""));
    assert_eq!(tell("verify", &folder.path().join("nothing")).0, 2);
    assert!(!folder.path().join("nothing").exists());
}
