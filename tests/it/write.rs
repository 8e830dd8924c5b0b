//! Writing files: what must have been read before, and what is left when it is done.

use std::fs;

use harness::Folder;
use serde_json::json;

const UNREAD: &str = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>";
const CHANGED: &str = "<tool_use_error>File has been unexpectedly modified. Read it again before attempting to write it.</tool_use_error>";

#[tokio::test]
async fn a_file_is_made_with_the_folders_above_it_as_it_was_sent() {
    let folder = Folder::open().await;
    let path = folder.name("a/b/file.txt");
    let content = "\u{feff}a\r\nb\nc";
    let text = folder.ok("Write", json!({"file_path": path, "content": content})).await;
    assert_eq!(text, "File created successfully at: DIR/a/b/file.txt");
    assert_eq!(folder.get("a/b/file.txt"), content.as_bytes());
    folder.close().await;
}

#[tokio::test]
async fn a_file_is_replaced_only_if_it_was_read_and_has_not_changed_since() {
    let folder = Folder::open().await;
    let path = folder.put("file", "old");
    let write = |content| folder.call("Write", json!({"file_path": path, "content": content}));
    assert_eq!(write("new").await.content.text(), UNREAD);
    folder.ok("Read", json!({"file_path": path})).await;
    folder.put("file", "odd");
    assert_eq!(write("new").await.content.text(), CHANGED);
    folder.ok("Read", json!({"file_path": path})).await;
    assert!(!write("new").await.is_error);
    // What the session wrote itself it knows.
    assert!(!write("newer").await.is_error);
    assert_eq!(folder.get("file"), b"newer");
    assert_eq!(folder.names(), ["file"]);
    folder.close().await;
}

#[tokio::test]
async fn a_touched_file_is_no_changed_file() {
    let folder = Folder::open().await;
    let path = folder.put("file", "old");
    folder.ok("Read", json!({"file_path": path})).await;
    let later = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
    fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    folder.ok("Write", json!({"file_path": path, "content": "new"})).await;
    folder.close().await;
}

#[tokio::test]
async fn a_partial_view_does_not_count_as_read_but_a_range_that_was_asked_for_does() {
    let folder = Folder::open().await;
    let path = folder.put("file", "line\n".repeat(3_000));
    folder.ok("Read", json!({"file_path": path})).await;
    let write = || folder.call("Write", json!({"file_path": path, "content": "new"}));
    insta::assert_snapshot!(write().await.content.text(), @"<tool_use_error>Only a PARTIAL view of the file has been read. Read the part that matters with offset and limit before writing to it.</tool_use_error>");
    folder.ok("Read", json!({"file_path": path, "offset": 1, "limit": 10})).await;
    // Nothing is forgotten by a look at less.
    folder.ok("Read", json!({"file_path": path})).await;
    assert!(!write().await.is_error);
    folder.close().await;
}

#[tokio::test]
async fn a_large_file_of_which_a_part_was_read_must_be_as_it_was() {
    let folder = Folder::open().await;
    let content = "line\n".repeat(1 << 20);
    let path = folder.put("file", &content);
    folder.ok("Read", json!({"file_path": path, "limit": 10})).await;
    folder.put("file", content + "more");
    let text = folder.fails("Write", json!({"file_path": path, "content": "new"})).await;
    assert_eq!(text, CHANGED);
    folder.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn permissions_are_kept_and_a_read_only_file_is_left_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::open().await;
    let path = folder.put("file", "old");
    folder.ok("Read", json!({"file_path": path})).await;
    let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o751);
    folder.ok("Write", json!({"file_path": path, "content": "new"})).await;
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
    mode(0o444);
    let text = folder.fails("Write", json!({"file_path": path, "content": "newer"})).await;
    assert!(text.contains("DIR/file is read-only."), "{text}");
    assert_eq!(folder.get("file"), b"new");
    folder.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn every_name_of_a_file_keeps_leading_to_it() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = Folder::open().await;
    let path = folder.put("one", "old and longer");
    fs::hard_link(&path, folder.path("other")).unwrap();
    folder.ok("Read", json!({"file_path": path})).await;
    folder.ok("Write", json!({"file_path": path, "content": "new"})).await;
    folder.ok("Edit", json!({"file_path": path, "old_string": "new", "new_string": "newer"})).await;
    assert_eq!((folder.get("one"), folder.get("other")), (b"newer".to_vec(), b"newer".to_vec()));
    assert_eq!(fs::metadata(&path).unwrap().nlink(), 2);
    assert_eq!(folder.names(), ["one", "other"]);
    folder.close().await;
}

#[tokio::test]
async fn encoding_and_line_endings_of_a_file_outlive_its_content() {
    let folder = Folder::open().await;
    for (old, content, new) in [
        (&b"a\r\nb\r\n"[..], "a\nx\n", &b"a\r\nx\r\n"[..]),
        (b"a\nb\n", "a\r\nx\r\n", b"a\r\nx\r\n"),
        (b"a\nb\r\nc\n", "a\nx\nb\nc", b"a\nx\nb\r\nc"),
        (b"\xef\xbb\xbfa", "b", b"\xef\xbb\xbfb"),
        (b"\xef\xbb\xbfa", "\u{feff}b", b"\xef\xbb\xbfb"),
        (b"\xff\xfea\0\r\0\n\0", "b\n", b"\xff\xfeb\0\r\0\n\0"),
        (b"\xfe\xff\0a", "\u{20ac}", b"\xfe\xff\x20\xac"),
        (b"caf\xe9", "caf\u{e9}s 5 \u{20ac}", b"caf\xe9s 5 \x80"),
    ] {
        let path = folder.put("file", old);
        folder.ok("Read", json!({"file_path": path})).await;
        folder.ok("Write", json!({"file_path": path, "content": content})).await;
        assert_eq!(folder.get("file"), new, "{old:?} by {content:?}");
    }
    let path = folder.put("file", b"caf\xe9");
    folder.ok("Read", json!({"file_path": path})).await;
    let text = folder.fails("Write", json!({"file_path": path, "content": "日"})).await;
    insta::assert_snapshot!(text, @"DIR/file is windows-1252 text, which has no `日`. Use other characters, or convert the file to UTF-8 with a command first.");
    assert_eq!(folder.get("file"), b"caf\xe9");
    folder.close().await;
}

/// Without an encoding that is remembered, a file that has lost its telling letters would change it.
#[tokio::test]
async fn an_encoding_is_remembered() {
    let folder = Folder::open().await;
    let russian = b"\xd1\xfa\xe5\xf8\xfc \xe6\xe5 \xe5\xf9\xb8 \xfd\xf2\xe8\xf5 \xec\xff\xe3\xea\xe8\xf5 \xf4\xf0\xe0\xed\xf6\xf3\xe7\xf1\xea\xe8\xf5 \xe1\xf3\xeb\xee\xea";
    let path = folder.put("file", russian);
    folder.ok("Read", json!({"file_path": path})).await;
    let edit =
        |old: &str, new: &str| json!({"file_path": path, "old_string": old, "new_string": new});
    folder.ok("Write", json!({"file_path": path, "content": "\u{436}"})).await;
    folder.ok("Edit", edit("\u{436}", "\u{436}\u{451}")).await;
    assert_eq!(folder.get("file"), b"\xe6\xb8");
    let text = folder.ok("Read", json!({"file_path": path})).await;
    assert!(text.starts_with("1\t\u{436}\u{451}\n"), "{text}");
    folder.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn through_a_link_its_target_is_written_under_whatever_name_it_was_read() {
    use std::os::unix::fs::symlink;
    let folder = Folder::open().await;
    let path = folder.put("real/file", "old");
    symlink("real", folder.path("folder")).unwrap();
    symlink("folder/file", folder.path("link")).unwrap();
    symlink("real/later", folder.path("dangling")).unwrap();
    folder.ok("Read", json!({"file_path": path})).await;
    for (name, target) in
        [("link", "real/file"), ("folder/../real/file", "real/file"), ("dangling", "real/later")]
    {
        folder.ok("Write", json!({"file_path": folder.name(name), "content": name})).await;
        assert_eq!(folder.get(target), name.as_bytes());
    }
    assert!(folder.path("link").is_symlink() && folder.path("dangling").is_symlink());
    folder.close().await;
}

#[tokio::test]
async fn where_no_file_can_be_nothing_is_left() {
    let folder = Folder::open().await;
    folder.put("file", "x");
    fs::create_dir(folder.path("folder")).unwrap();
    let mut texts = Vec::new();
    for name in ["folder", "file/below", "new/", "folder/none/../x"] {
        let input = json!({"file_path": folder.name(name), "content": ""});
        texts.push(folder.fails("Write", input).await);
    }
    insta::assert_snapshot!(texts.join("\n"), @"
    <tool_use_error>DIR/folder names a directory. List it with a command, then send the path of a file in it.</tool_use_error>
    <tool_use_error>Could not find DIR/file/below: Not a directory (os error 20). Nothing was changed; deal with the cause, then try again.</tool_use_error>
    <tool_use_error>DIR/new/ names a directory. List it with a command, then send the path of a file in it.</tool_use_error>
    <tool_use_error>Could not find DIR/folder/none/../x: No such file or directory (os error 2). Nothing was changed; deal with the cause, then try again.</tool_use_error>
    ");
    assert_eq!(folder.names(), ["file", "folder"]);
    folder.close().await;
}

#[tokio::test]
async fn what_one_session_has_read_another_has_not() {
    let (one, other) = (Folder::open().await, Folder::open().await);
    let path = one.put("file", "old");
    one.ok("Read", json!({"file_path": path})).await;
    let write = json!({"file_path": path, "content": "new"});
    assert_eq!(other.fails("Write", write.clone()).await, UNREAD);
    one.ok("Write", write).await;
    one.close().await;
    other.close().await;
}
