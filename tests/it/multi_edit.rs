//! Several edits of one file: in order, all or none.

use harness::Folder;
use proptest::prelude::{Strategy, proptest};
use proptest::prop_assert_eq;
use serde_json::{Value, json};

fn edit(old: &str, new: &str) -> Value {
    json!({"old_string": old, "new_string": new})
}

async fn edited(content: &str, edits: Value) -> (String, String) {
    let folder = Folder::open().await;
    let path = folder.put("file", content);
    folder.ok("Read", json!({"file_path": path})).await;
    let result = folder.call("MultiEdit", json!({"file_path": path, "edits": edits})).await;
    let now = String::from_utf8(folder.get("file")).unwrap();
    assert_eq!(folder.names(), ["file"]);
    let text = result.content.text().replace(&path, "PATH");
    folder.close().await;
    (text, now)
}

#[tokio::test]
async fn each_edit_works_on_what_the_one_before_has_left() {
    let long = "x".repeat(60);
    let edits = json!([edit("a", "b b"), edit("b b", &long), {"old_string": "c", "new_string": "d", "replace_all": true}]);
    let (text, now) = edited("a\r\nc c\r\n", edits).await;
    assert_eq!(now, format!("{long}\r\nd d\r\n"));
    insta::assert_snapshot!(text, @r#"
    Applied 3 edits to PATH:
    1. Replaced "a" with "b b"
    2. Replaced "b b" with "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    3. Replaced "c" with "d"
    "#);
}

#[tokio::test]
async fn one_that_does_not_fit_leaves_the_file_as_it_was() {
    let mut texts = Vec::new();
    for edits in [
        json!([edit("a", "x"), edit("a", "y")]),
        json!([edit("a", "b"), edit("b", "c")]),
        json!([edit("a", "x"), edit("x", "x")]),
        json!([edit("a", "x"), edit("x", "a")]),
        json!([edit("z", "x")]),
        json!([]),
        json!(vec![edit("a", "x"); 1_001]),
        json!([edit("", "x")]),
    ] {
        let (text, now) = edited("a b\n", edits).await;
        assert_eq!(now, "a b\n");
        texts.push(text);
    }
    insta::assert_snapshot!(texts.join("\n"), @"
    <tool_use_error>Edit 2 of 2 does not fit, so none was made. String to replace not found in file. Read the file again and send the text exactly as it stands there, without line numbers.
    String: a</tool_use_error>
    <tool_use_error>Edit 2 of 2 does not fit, so none was made. Found 2 matches of the string to replace, but replace_all is false. Set replace_all to true to change all of them, or send more of the text around the one that is meant.</tool_use_error>
    <tool_use_error>Edit 2 of 2 does not fit, so none was made. No changes to make: old_string and new_string are exactly the same. Send the text as it should become.</tool_use_error>
    <tool_use_error>The edits undo each other, so there are no changes to make. Send what should differ.</tool_use_error>
    <tool_use_error>String to replace not found in file. Read the file again and send the text exactly as it stands there, without line numbers.
    String: z</tool_use_error>
    <tool_use_error>There are no edits. Send at least one, and at most 1000.</tool_use_error>
    <tool_use_error>There are 1001 edits, and more than 1000 are not made at once. Send them in several calls.</tool_use_error>
    <tool_use_error>old_string is empty, but the file has content. Send the text that is to be replaced.</tool_use_error>
    ");
}

#[tokio::test]
async fn a_first_edit_without_an_old_text_makes_a_file() {
    let folder = Folder::open().await;
    let path = folder.name("new/file");
    let edits = json!([edit("", "a\nb\n"), edit("a", "x")]);
    folder.ok("MultiEdit", json!({"file_path": path, "edits": edits})).await;
    assert_eq!(folder.get("new/file"), b"x\nb\n");
    folder.close().await;
}

fn edits() -> impl Strategy<Value = Vec<(String, String, bool)>> {
    proptest::collection::vec(("[ab\n]{1,2}", "[abc\n]{0,2}", proptest::bool::ANY), 1..5)
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    #[test]
    fn many_at_once_are_the_same_as_one_after_another(
        content in "([abc]{0,3}(\r)?\n){1,5}",
        edits in edits(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (at_once, one_by_one) = runtime.block_on(async {
            let folder = Folder::open().await;
            let (one, other) = (folder.put("one", &content), folder.put("other", &content));
            folder.ok("Read", json!({"file_path": one})).await;
            folder.ok("Read", json!({"file_path": other})).await;
            let edits: Vec<_> = edits
                .iter()
                .map(|it| json!({"old_string": it.0, "new_string": it.1, "replace_all": it.2}))
                .collect();
            let mut all_fit = true;
            for edit in &edits {
                let mut edit = edit.clone();
                edit["file_path"] = json!(one);
                all_fit = all_fit && !folder.call("Edit", edit).await.is_error;
            }
            let result = folder.call("MultiEdit", json!({"file_path": other, "edits": edits})).await;
            let undone = result.content.text().contains("undo each other");
            let files = (folder.get("other"), folder.get("one"));
            assert_eq!(result.is_error, !all_fit || undone, "{}", result.content.text());
            folder.close().await;
            if all_fit { files } else { (files.0, content.clone().into_bytes()) }
        });
        prop_assert_eq!(at_once, one_by_one);
    }
}
