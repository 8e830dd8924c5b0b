//! Results: what stays inline, what goes to a file, and what happens where a file can't be had.

use std::fs;
use std::path::Path;

use harness::{House, Scripted, call, call_of, texts};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::TurnResults;
use toolwright_contract::{AnyTool, Content, EventKind, ResultLimit};

const LIMIT: usize = 50_000;

fn long(id: &str) -> toolwright::ToolUse {
    call(id, json!({"chars": LIMIT + 1}))
}

async fn keeping_in(folder: &Path) -> House {
    House::with(|it| it.results = Some(folder.to_owned())).await
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<_> = names.map(|it| it.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn text(results: &TurnResults) -> String {
    texts(results).swap_remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_long_result_goes_to_a_file_and_the_model_gets_a_preview_and_the_path() {
    let (folder, file) = (TempDir::new().unwrap(), "toolu_1.txt");
    let folder = folder.path().join("session/results");
    let house = keeping_in(&folder).await;
    let told = text(&house.run([long("toolu_1"), call("short", json!({}))]).await);
    let path = folder.join(file);
    let head = format!(
        "<persisted-output>\nOutput too large (48.8KB). Full output saved to: {}\n\n\
         Preview (first 2KB):\n",
        path.display()
    );
    assert!(told.starts_with(&head), "{told}");
    assert!(told.len() < 3_000);
    assert_eq!(fs::read_to_string(&path).unwrap(), "x".repeat(LIMIT + 1));
    assert_eq!(files(&folder), [file]);
    let events = house.close().await;
    let spilled = Some(LIMIT as u64 + 1);
    assert!(events.iter().any(|it| it.kind == EventKind::Stored { call: 0, spilled }));
}

#[tokio::test(start_paused = true)]
async fn a_result_at_its_limit_stays_inline_and_each_tool_has_its_own() {
    let folder = TempDir::new().unwrap();
    let limited = |name, limit| AnyTool::new(Scripted::named(name).limit(limit));
    let tools = [
        AnyTool::new(Scripted::new()),
        limited("Small", ResultLimit::Chars(10)),
        limited("Large", ResultLimit::Unlimited),
    ];
    let path = folder.path().to_owned();
    let house = House::with_tools(tools, |it| it.results = Some(path)).await;
    for (tool, chars, inline) in [
        ("Scripted", LIMIT, true),
        ("Scripted", LIMIT + 1, false),
        ("Small", 10, true),
        ("Small", 11, false),
        ("Large", 1_000_000, true),
    ] {
        let told = text(&house.run([call_of(tool, "a", json!({"chars": chars}))]).await);
        assert_eq!(!told.starts_with("<persisted-output>"), inline, "{tool} {chars}");
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_image_beside_a_long_text_stays_with_the_model() {
    let folder = TempDir::new().unwrap();
    let house = keeping_in(folder.path()).await;
    let script = json!({"chars": LIMIT + 1, "image": true});
    let results = house.run([call("a", script)]).await;
    let Content::Blocks(blocks) = &results.results[0].content else { panic!("blocks") };
    let kinds: Vec<_> = blocks.iter().map(|it| it["type"].clone()).collect();
    assert_eq!(kinds, [json!("text"), json!("image")]);
    assert!(blocks[0]["text"].as_str().unwrap().starts_with("<persisted-output>"));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn where_no_file_can_be_had_the_result_is_cut_and_says_why() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    for results in [None, Some(file.clone()), Some(file.join("below"))] {
        let house = House::with(|it| it.results = results.clone()).await;
        let outcome = house.run([long("a")]).await;
        let told = text(&outcome);
        assert!(told.starts_with("xxx") && told.len() < LIMIT + 300, "{results:?}");
        assert!(
            told.contains("1 of 50001 characters left out: the full output could not be saved: "),
            "{}",
            &told[LIMIT..]
        );
        assert_eq!(outcome.ended, [toolwright_contract::HowEnded::Ok]);
        house.close().await;
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "in the way");
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_vanishes_is_made_again() {
    let folder = TempDir::new().unwrap();
    let results = folder.path().join("results");
    let house = keeping_in(&results).await;
    house.run([long("a")]).await;
    fs::remove_dir_all(&results).unwrap();
    assert!(text(&house.run([long("b")]).await).starts_with("<persisted-output>"));
    assert_eq!(files(&results), ["b.txt"]);
    house.close().await;
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn a_folder_that_leads_nowhere_is_an_error_of_that_result_alone() {
    let folder = TempDir::new().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
    let house = keeping_in(&link).await;
    let results = house.run([long("a"), call("b", json!({}))]).await;
    assert!(texts(&results)[0].contains("could not be saved"), "{}", &texts(&results)[0][LIMIT..]);
    assert_eq!(texts(&results)[1], "ran");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn no_id_leads_out_of_the_folder_or_over_another_result() {
    let folder = TempDir::new().unwrap();
    let results = folder.path().join("results");
    let house = keeping_in(&results).await;
    let very_long = "i".repeat(300);
    let ids = ["../../out", "/etc/passwd", "a/b", "a\\b", "", ".", "..", "nul", "COM1", "A", "a"];
    let ids: Vec<_> = ids.iter().copied().chain([very_long.as_str(), "a\0b", "ä"]).collect();
    let outcome = house.run(ids.iter().map(|id| long(id))).await;
    assert_eq!(files(&results).len(), ids.len());
    assert_eq!(files(folder.path()), ["results"]);
    assert!(texts(&outcome).iter().all(|it| it.starts_with("<persisted-output>")));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_id_that_comes_again_in_a_later_turn_keeps_both_results() {
    let folder = TempDir::new().unwrap();
    let house = keeping_in(folder.path()).await;
    let first = text(&house.run([long("a")]).await);
    let second = text(&house.run([long("a")]).await);
    assert_ne!(first, second);
    assert_eq!(files(folder.path()), ["a.1.txt", "a.txt"]);
    house.close().await;
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn results_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let results = folder.path().join("results");
    let house = keeping_in(&results).await;
    house.run([long("a")]).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&results), mode(&results.join("a.txt"))), (0o700, 0o600));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_blank_result_says_that_it_is_blank() {
    let house = House::open().await;
    for say in ["", " \n\t"] {
        let results = house.run([call("a", json!({"say": say}))]).await;
        assert_eq!(texts(&results), ["(no output)"]);
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_long_failure_is_kept_in_a_file_too() {
    let folder = TempDir::new().unwrap();
    let house = keeping_in(folder.path()).await;
    let results = house.run([call("a", json!({"fail": "x".repeat(LIMIT + 1)}))]).await;
    assert!(results.results[0].is_error && text(&results).starts_with("<persisted-output>"));
    let block: Value = results.results[0].to_block();
    assert_eq!(block["is_error"], json!(true));
    house.close().await;
}
