//! Edits: what they replace, what they leave as it is, and when they are refused.

use harness::{Folder, texts};
use proptest::prelude::{Strategy, proptest};
use proptest::{prop_assert, prop_assert_eq, prop_assume};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::{FileOptions, ReadFirst, ToolUse};

async fn edited(content: &str, edit: Value) -> (String, String) {
    let folder = Folder::open().await;
    let path = folder.put("file", content);
    folder.ok("Read", json!({"file_path": path, "limit": 1_000})).await;
    let mut input = edit;
    input["file_path"] = json!(path);
    let told = folder.call("Edit", input).await.content.text();
    let now = String::from_utf8(folder.get("file")).unwrap();
    assert_eq!(folder.names(), ["file"]);
    folder.close().await;
    (told, now)
}

#[tokio::test]
async fn a_text_is_replaced_and_all_else_stays() {
    for (content, old, new, expected) in [
        ("a b c\n", "b", "x", "a x c\n"),
        ("a b", "b", "x", "a x"),
        ("a\nb\nc\n", "a\nb", "x", "x\nc\n"),
        // An empty text takes the end of its line along.
        ("a\nb\nc\n", "b", "", "a\nc\n"),
        ("a\nb\nc\n", "b\n", "", "a\nc\n"),
        ("a b c\n", "b ", "", "a c\n"),
        ("a\nb", "b", "", "a\n"),
        // Line endings are those of the file, whatever is sent.
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "b\r\n", "x\r\n", "a\r\nx\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "b", "", "a\r\nc\r\n"),
        ("a\nb\nc\n", "a\r\nb", "x\r\ny", "x\ny\nc\n"),
        ("a\nb\r\nc\n", "b", "x\ny", "a\nx\ny\r\nc\n"),
        ("a\nb\r\nc\n", "b\nc", "x\ny", "a\nx\r\ny\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc", "x\ny\nz\nw", "x\r\ny\nz\nw\r\n"),
        ("\u{feff}a\r\nb", "a", "x", "\u{feff}x\r\nb"),
        ("one", "one", "two\r\nthree", "two\r\nthree"),
    ] {
        let edit = json!({"old_string": old, "new_string": new});
        let (told, now) = edited(content, edit).await;
        assert_eq!(now, expected, "{content:?}: {old:?} by {new:?}: {told}");
    }
}

#[tokio::test]
async fn every_occurrence_is_replaced_if_that_is_asked_for() {
    for (content, old, new, expected) in
        [("a a\r\na", "a", "b", "b b\r\nb"), ("aaa", "aa", "b", "ba"), ("x\nax\nx", "x", "", "a")]
    {
        let edit = json!({"old_string": old, "new_string": new, "replace_all": true});
        assert_eq!(edited(content, edit).await.1, expected);
    }
}

#[tokio::test]
async fn an_edit_that_does_not_fit_is_refused_with_what_to_do() {
    let mut told = Vec::new();
    for (content, old, new) in [
        ("a", "a", "a"),
        ("a", "b", "c"),
        ("a a\na", "a", "b"),
        ("a", "", "b"),
        ("a\r\nb", "a\n", "a\r\n"),
    ] {
        let (text, now) = edited(content, json!({"old_string": old, "new_string": new})).await;
        assert_eq!(now, content);
        told.push(text);
    }
    insta::assert_snapshot!(told.join("\n"), @"
    <tool_use_error>No changes to make: old_string and new_string are exactly the same. Send the text as it should become.</tool_use_error>
    <tool_use_error>String to replace not found in file. Read the file again and send the text exactly as it stands there, without line numbers.
    String: b</tool_use_error>
    <tool_use_error>Found 3 matches of the string to replace, but replace_all is false. Set replace_all to true to change all of them, or send more of the text around the one that is meant.</tool_use_error>
    <tool_use_error>old_string is empty, but the file has content. Send the text that is to be replaced.</tool_use_error>
    <tool_use_error>No changes to make: old_string and new_string are exactly the same. Send the text as it should become.</tool_use_error>
    ");
}

#[tokio::test]
async fn a_file_is_edited_only_if_it_was_read_and_has_not_changed_since() {
    let folder = Folder::open().await;
    let path = folder.put("file", "a b");
    let edit = |old: &str, new: &str| {
        folder.call("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
    };
    let unread = edit("a", "x").await.content.text();
    folder.ok("Read", json!({"file_path": path})).await;
    folder.put("file", "a c");
    let changed = edit("a", "x").await.content.text();
    folder.ok("Read", json!({"file_path": path})).await;
    let fine = edit("a", "x").await.content.text().replace(&path, "PATH");
    // What the session wrote itself it knows.
    assert!(!edit("x", "y").await.is_error);
    insta::assert_snapshot!([unread, changed, fine].join("\n"), @"
    <tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>
    <tool_use_error>File has been unexpectedly modified. Read it again before attempting to write it.</tool_use_error>
    The file PATH has been updated successfully.
    ");
    assert_eq!(folder.get("file"), b"y c");
    folder.close().await;
}

#[tokio::test]
async fn a_large_file_may_change_where_nobody_has_read_it() {
    let folder = Folder::open().await;
    let content = format!("first\n{}", "line\n".repeat(1 << 20));
    let path = folder.put("file", &content);
    folder.ok("Read", json!({"file_path": path, "limit": 10})).await;
    let edit = json!({"file_path": path, "old_string": "first", "new_string": "start"});
    folder.put("file", format!("{content}more"));
    folder.ok("Edit", edit).await;
    assert!(folder.get("file").ends_with(b"line\nmore"));
    folder.close().await;
}

#[tokio::test]
async fn an_empty_old_text_makes_a_file_or_fills_an_empty_one() {
    let folder = Folder::open().await;
    let path = folder.name("new/file");
    let fill = |text| json!({"file_path": path, "old_string": "", "new_string": text});
    folder.ok("Edit", fill("a")).await;
    assert_eq!(folder.get("new/file"), b"a");
    folder.ok("Write", json!({"file_path": path, "content": ""})).await;
    folder.ok("Edit", fill("b")).await;
    assert_eq!(folder.get("new/file"), b"b");
    folder.close().await;
}

#[tokio::test]
async fn where_reading_first_is_not_demanded_only_what_is_certain_is_done() {
    let options = FileOptions { read_first: ReadFirst::Relaxed, ..FileOptions::default() };
    let folder = Folder::with_files(&options).await;
    let path = folder.put("file", "a b b");
    let edit = |old: &str, new: &str| {
        folder.call(
            "Edit",
            json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": true}),
        )
    };
    let mut texts = vec![edit("b", "x").await, edit("a", "x").await];
    folder.put("file", "x “b” c");
    texts.extend([edit("\"b\"", "y").await, edit("x", "y").await]);
    // Elsewhere, a person would be asked before it is read.
    let elsewhere = TempDir::new().unwrap();
    let path = elsewhere.path().join("file");
    std::fs::write(&path, "a").unwrap();
    let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
    texts.push(folder.call("Edit", input).await);
    let notebook = folder.put("notes.ipynb", "a");
    let input = json!({"file_path": notebook, "content": "b"});
    texts.push(folder.call("Write", input).await);
    let other = folder.put("other", "a");
    texts.push(folder.call("Write", json!({"file_path": other, "content": "b"})).await);
    let texts: Vec<_> = texts.iter().map(|it| it.content.text()).collect();
    let root = folder.root().to_str().unwrap().to_owned();
    insta::assert_snapshot!(texts.join("\n").replace(&root, "DIR"), @"
    <tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>
    The file DIR/file has been updated successfully.
    <tool_use_error>File has been unexpectedly modified. Read it again before attempting to write it.</tool_use_error>
    The file DIR/file has been updated successfully.
    The file has changed elsewhere since it was read: read it again before relying on the rest of it.
    <tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>
    <tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>
    The file DIR/other has been updated successfully.
    ");
    folder.close().await;
}

#[tokio::test]
async fn what_is_damaged_is_not_edited() {
    let folder = Folder::open().await;
    let path = folder.put("file", b"\xc3\xa4\xc3\xb6\xc3\xbc\xff a");
    folder.ok("Read", json!({"file_path": path})).await;
    let edit = json!({"file_path": path, "old_string": "a", "new_string": "b"});
    let text = folder.fails("Edit", edit).await;
    insta::assert_snapshot!(text, @"<tool_use_error>DIR/file is damaged UTF-8 text (at byte 6), so an edit might damage it further. Repair it, or change it with a command.</tool_use_error>");
    assert_eq!(folder.get("file"), b"\xc3\xa4\xc3\xb6\xc3\xbc\xff a");
    folder.close().await;
}

#[tokio::test]
async fn a_text_that_differs_in_blanks_or_quotes_is_found_if_it_is_the_only_one() {
    for (content, old, new, expected, what) in [
        ("a  \nb\t\nc\n", "a\nb", "a\nx", "a  \nx\t\nc\n", "white space at line ends"),
        ("a\r\nb  \r\n", "a \nb", "a\nx", "a\r\nx  \r\n", "white space at line ends"),
        ("say “hi” now", "say \"hi\"", "say \"ho\"", "say “ho” now", "typographic quotes"),
        ("it's", "it’s", "it’s not", "it's not", "typographic quotes"),
        (
            "‘a’ \n“b”\n",
            "'a'\n\"b\"",
            "'a'\n\"c\"",
            "‘a’ \n“c”\n",
            "white space at line ends and typographic quotes",
        ),
        ("a “b”\nc\n", "a \"b\"", "", "c\n", "typographic quotes"),
    ] {
        let (told, now) = edited(content, json!({"old_string": old, "new_string": new})).await;
        assert_eq!(now, expected, "{content:?}: {old:?} by {new:?}: {told}");
        let note = format!(
            "\nThe old_string was not there exactly: {what} did not match, and were overlooked."
        );
        assert!(told.ends_with(&note), "{told}");
    }
    for (content, old) in [
        ("a \nb\na  \nb\n", "a\nb"),
        ("“x” ”x“", "\"x\""),
        // It must end where a line ends.
        ("foo bar", "foo \t"),
        ("a\n\nb", " \n "),
    ] {
        for all in [false, true] {
            let edit = json!({"old_string": old, "new_string": "x", "replace_all": all});
            assert_eq!(edited(content, edit).await.1, content, "{old:?}");
        }
    }
}

#[tokio::test]
async fn a_hundred_edits_of_one_message_lose_none() {
    let folder = Folder::open().await;
    let content: String = (0..100).map(|it| format!("<{it}>\n")).collect();
    let path = folder.put("file", &content);
    folder.ok("Read", json!({"file_path": path})).await;
    let edits = (0..100).map(|it| {
        let input = json!({"file_path": path, "old_string": format!("<{it}>"), "new_string": format!("[{it}]")});
        ToolUse::new(format!("{it}"), "Edit", input)
    });
    let results = folder.house.run(edits).await;
    assert!(texts(&results).iter().all(|it| it.ends_with("has been updated successfully.")));
    let expected = content.replace('<', "[").replace('>', "]");
    assert_eq!(folder.get("file"), expected.as_bytes());
    folder.close().await;
}

/// An encoding, how it writes a text down, and the characters that it has beside the common ones.
fn written(encoding: &str, text: &str) -> Vec<u8> {
    let marked = |text: &str| format!("\u{feff}{text}").encode_utf16().collect::<Vec<_>>();
    match encoding {
        "utf-8" => text.into(),
        "utf-8 with a mark" => format!("\u{feff}{text}").into(),
        "utf-16le" => marked(text).into_iter().flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => marked(text).into_iter().flat_map(u16::to_be_bytes).collect(),
        other => panic!("{other} is no encoding of this test"),
    }
}

/// Lines of any characters, each with an ending of its own.
fn lines() -> impl Strategy<Value = Vec<(String, &'static str)>> {
    let ending = proptest::sample::select(vec!["\n", "\r\n"]);
    proptest::collection::vec(("[ \\ta-zäß€𝄞日\\u{301}]{0,6}", ending), 1..8)
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(48))]

    #[test]
    fn an_edit_changes_no_byte_around_it_and_its_inverse_restores_the_file(
        lines in lines(),
        at in proptest::sample::select((0_usize..8).collect::<Vec<_>>()),
        span in 1_usize..4,
        new in "[A-Z]{1,5}(\\n[A-Z]{1,5}){3}",
        encoding in "utf-8|utf-8 with a mark|utf-16le|utf-16be",
        last_ending in proptest::bool::ANY,
    ) {
        prop_assume!(at < lines.len());
        let mut content = Vec::new();
        for (number, (line, ending)) in lines.iter().enumerate() {
            let last = number + 1 == lines.len() && !last_ending;
            content.push(format!("{number}:{line}{}", if last { "" } else { ending }));
        }
        let span = at..(at + span).min(content.len());
        let old = content[span.clone()].concat();
        let old = old.trim_end_matches('\n').trim_end_matches('\r');
        let content = content.concat();
        // The text must be the only one of its kind, as the tool demands.
        prop_assume!(content.matches(old).count() == 1);
        let bytes = written(&encoding, &content);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (between, after) = runtime.block_on(async {
            let folder = Folder::open().await;
            let path = folder.put("file", &bytes);
            let edit = |old: &str, new: &str| {
                folder.ok("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
            };
            folder.ok("Read", json!({"file_path": path})).await;
            let old = old.replace("\r\n", "\n");
            edit(&old, &new).await;
            let between = folder.get("file");
            edit(&new, &old).await;
            let after = folder.get("file");
            folder.close().await;
            (between, after)
        });
        prop_assert_eq!(&after, &bytes);
        let (before, behind) = content.split_once(old).unwrap();
        let before = written(&encoding, before);
        let mark = written(&encoding, "").len();
        prop_assert!(between.starts_with(&before), "{:?}", between);
        prop_assert!(between.ends_with(&written(&encoding, behind)[mark..]), "{:?}", between);
    }
}
