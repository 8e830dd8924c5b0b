//! Results: what stays inline, what goes to a file, and what happens where a file can't be had.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use harness::{House, PIXEL, Scripted, call, call_of, texts};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::TurnResults;
use toolwright_contract::{AnyTool, Content, EventKind, ResultLimit, tool};

const LIMIT: usize = 50_000;

/// The input of a tool that takes none.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

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
async fn the_results_of_one_message_share_its_room_and_a_nested_turn_has_its_own() {
    let folder = TempDir::new().unwrap();
    let house = House::with(|it| {
        (it.results, it.message_chars) = (Some(folder.path().to_owned()), 100_000);
    })
    .await;
    let most = json!({"alone": true, "chars": 40_000});
    let calls = ["a", "b", "c", "d"].map(|id| call(id, most.clone()));
    let nested = json!({"nested": [{"chars": 40_000}], "say": "nested"});
    let calls = calls.into_iter().chain([call("e", nested), call("f", json!({"chars": 2_000}))]);
    let told = texts(&house.run(calls).await);
    let inline = told.iter().map(|it| !it.starts_with("<persisted-output>")).collect::<Vec<_>>();
    assert_eq!(inline, [true, true, false, false, true, true]);
    assert_eq!(files(folder.path()), ["c.txt", "d.txt"]);
    let next = house.run([call("next", most)]).await;
    assert!(text(&next).starts_with("xxx"), "the next message has room again");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_content_is_on_the_disk_once_unless_its_file_was_changed() {
    let folder = TempDir::new().unwrap();
    let house = keeping_in(folder.path()).await;
    house.run([long("a"), long("b")]).await;
    let path = |name| folder.path().join(name);
    assert!(same_file::is_same_file(path("a.txt"), path("b.txt")).unwrap());
    fs::write(path("a.txt"), "changed").unwrap();
    house.run([long("c")]).await;
    fs::remove_file(path("c.txt")).unwrap();
    house.run([long("d")]).await;
    assert_eq!(fs::read_to_string(path("d.txt")).unwrap(), "x".repeat(LIMIT + 1));
    assert_eq!(files(folder.path()), ["a.txt", "b.txt", "d.txt"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_image_that_the_api_would_refuse_never_reaches_the_model() {
    let folder = TempDir::new().unwrap();
    let shows = |name: &'static str, data: String| {
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        let content = Content::Blocks(vec![json!({"type": "image", "source": source})]);
        tool(name, "Shows an image.").run(move |_: Nothing, _| {
            let content = content.clone();
            async move { Ok(content) }
        })
    };
    let heavy = [BASE64_STANDARD.decode(PIXEL).unwrap(), vec![0; 4 << 20]].concat();
    let tools =
        [shows("Broken", "AAAA".to_owned()), shows("Heavy", BASE64_STANDARD.encode(&heavy))];
    let path = folder.path().to_owned();
    let house = House::with_tools(tools, |it| it.results = Some(path)).await;
    let calls = [call_of("Broken", "a", json!({})), call_of("Heavy", "b", json!({}))];
    let told = texts(&house.run(calls).await);
    assert_eq!(told[0], "[image left out: it is neither PNG nor JPEG, GIF or WebP]");
    assert!(told[1].starts_with("[image saved to "), "{}", told[1]);
    assert_eq!(fs::read(folder.path().join("b.png")).unwrap(), heavy);
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
