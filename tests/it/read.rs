//! Reading files: which lines are shown, what is told of the rest, and what is never opened.

use std::fs;

use harness::Folder;
use serde_json::json;

#[tokio::test]
async fn lines_are_shown_with_their_numbers() {
    let folder = Folder::open().await;
    let long: String = (1..=2_500).map(|it| format!("line {it}\n")).collect();
    for (content, input, expected) in [
        ("a\nb", json!({}), "1\ta\n2\tb"),
        ("a\n", json!({}), "1\ta\n2\t"),
        ("a\r\nb\r\n", json!({}), "1\ta\n2\tb\n3\t"),
        ("\u{feff}a", json!({}), "1\ta"),
        ("", json!({}), "The file exists, but it is empty."),
        ("a\nb\nc\n", json!({"offset": 2, "limit": 1}), "2\tb"),
        ("a\nb\nc\n", json!({"offset": 0, "limit": 1}), "1\ta"),
        (&long, json!({"offset": 2_499}), "2499\tline 2499\n2500\tline 2500\n2501\t"),
        (
            "a\nb\n",
            json!({"offset": 7}),
            "The file exists, but it is shorter than the offset 7: it has 3 lines. Read from an \
             earlier line.",
        ),
    ] {
        let path = folder.put("file", content);
        let mut input = input;
        input["file_path"] = json!(path);
        assert_eq!(folder.ok("Read", input).await, expected);
    }
    folder.close().await;
}

#[tokio::test]
async fn what_is_too_much_is_shown_in_part_and_says_so() {
    let folder = Folder::open().await;
    let lines = folder.put("lines", "x\n".repeat(2_001));
    let wide = folder.put("wide", format!("{}\n", "ä".repeat(999)).repeat(150));
    let endless = folder.put("endless", "x".repeat(300_000));
    let huge = folder.put("huge", "y\n".repeat(3 << 20));
    for (path, end) in [
        (
            lines,
            "2000\tx\n\n[PARTIAL view: lines 1 to 2000 of 2002. Read on with offset 2001 and a limit.]",
        ),
        (wide, "ä\n\n[PARTIAL view: lines 1 to 100 of 151. Read on with offset 101 and a limit.]"),
        (
            endless,
            "xxx\n\n[PARTIAL view: lines 1 to 1 of 1, cut since it is too long to be shown. Read on with offset 2 and a limit.]",
        ),
        (
            huge,
            "2000\ty\n\n[PARTIAL view: lines 1 to 2000 of more. Read on with offset 2001 and a limit.]",
        ),
    ] {
        let text = folder.ok("Read", json!({"file_path": path})).await;
        assert!(text.ends_with(end), "{}", &text[text.len() - 200..]);
    }
    let exactly = folder.put("exactly", "x\n".repeat(2_000));
    let text = folder.ok("Read", json!({"file_path": exactly})).await;
    assert!(text.ends_with("\n2000\tx"), "{}", &text[text.len() - 200..]);
    folder.close().await;
}

#[tokio::test]
async fn a_range_that_is_too_large_is_refused_with_one_that_fits() {
    let folder = Folder::open().await;
    let path = folder.put("wide", format!("{}\n", "ä".repeat(999)).repeat(150));
    let text = folder.fails("Read", json!({"file_path": path, "limit": 120})).await;
    insta::assert_snapshot!(text, @"The lines that were asked for have more than 100000 characters. Send a limit of at most 100.");
    folder.ok("Read", json!({"file_path": path, "limit": 100})).await;
    folder.close().await;
}

#[tokio::test]
async fn bytes_that_are_no_text_are_told() {
    let folder = Folder::open().await;
    let path = folder.put("latin", b"caf\xe9\n");
    let text = folder.ok("Read", json!({"file_path": path})).await;
    insta::assert_snapshot!(text, @"
    1	caf�
    2	

    [Some bytes are not UTF-8 and are shown as �: an edit would be refused.]
    ");
    folder.close().await;
}

#[tokio::test]
async fn what_cannot_be_shown_is_refused_with_what_to_do() {
    let folder = Folder::open().await;
    folder.put("binary", b"\x7fELF\0\0");
    folder.put("utf16", b"\xff\xfea\0");
    folder.put("file", "x");
    fs::create_dir(folder.path("folder")).unwrap();
    let mut texts = Vec::new();
    for path in [
        "DIR/binary",
        "DIR/utf16",
        "DIR/missing",
        "DIR/folder",
        "DIR/file/x",
        "file",
        "~/x",
        "",
        "/\0",
    ] {
        let path = path.replace("DIR", folder.root().to_str().unwrap());
        texts.push(folder.fails("Read", json!({"file_path": path})).await);
    }
    let path = folder.name("file");
    texts.push(folder.fails("Read", json!({"file_path": path, "limit": 0})).await);
    insta::assert_snapshot!(texts.join("\n"), @"
    DIR/binary is a binary file, which can't be shown as text. Look at it with a command that knows its format.
    DIR/utf16 is UTF-16, which is not supported. Convert it to UTF-8 with a command first.
    File does not exist: DIR/missing. The working directory is DIR; look there for the right name.
    DIR/folder names a directory. List it with a command, then send the path of a file in it.
    Could not find DIR/file/x: Not a directory (os error 20). Nothing was changed; deal with the cause, then try again.
    <tool_use_error>`file` is not an absolute path. If it is below the working directory, send `DIR/file`.</tool_use_error>
    <tool_use_error>`~/x` begins with `~`, which is not expanded. Send the whole path, from `/` on.</tool_use_error>
    <tool_use_error>The path is empty. Send the absolute path of a file.</tool_use_error>
    <tool_use_error>The path contains a NUL character, which no file's name has. Send it without.</tool_use_error>
    <tool_use_error>limit is 0: ask for at least one line</tool_use_error>
    ");
    folder.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn pipes_and_devices_are_never_opened() {
    let folder = Folder::open().await;
    let pipe = folder.path("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let text = folder.fails("Read", json!({"file_path": pipe})).await;
    assert!(text.contains("is a named pipe and not a regular file"), "{text}");
    for device in ["/dev/zero", "/dev/tty"] {
        let text = folder.fails("Read", json!({"file_path": device})).await;
        assert!(text.contains("is a device and not a regular file"), "{text}");
    }
    folder.close().await;
}
