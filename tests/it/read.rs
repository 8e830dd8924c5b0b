//! Reading files: which lines are shown, what is told of the rest, and what is never opened.

use std::fs;

use harness::Folder;
use serde_json::{Value, json};
use toolwright::{FileOptions, LineNumbers};

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
async fn an_encoding_that_is_only_likely_and_bytes_that_are_no_text_are_told() {
    let folder = Folder::open().await;
    let latin = folder.put("latin", b"caf\xe9\n");
    let damaged = folder.put("damaged", b"\xc3\xa4\xc3\xb6\xff\n");
    let texts = [
        folder.ok("Read", json!({"file_path": latin})).await,
        folder.ok("Read", json!({"file_path": damaged})).await,
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    1	café
    2	

    [The text is windows-1252, as far as its bytes tell. Edits keep that encoding.]
    1	äö�
    2	

    [Some bytes are not UTF-8 and are shown as �: an edit would be refused.]
    ");
    folder.close().await;
}

#[tokio::test]
async fn what_is_unchanged_is_not_shown_again() {
    const AGAIN: &str = "The file is unchanged since it was last shown in this conversation: what \
                         was shown then is what it holds.";
    let folder = Folder::open().await;
    let path = folder.put("file", "a\nb\n");
    let read = |input: Value| {
        let mut input = input;
        input["file_path"] = json!(path);
        folder.ok("Read", input)
    };
    assert_eq!(read(json!({})).await, "1\ta\n2\tb\n3\t");
    assert_eq!(read(json!({})).await, AGAIN);
    // Other lines are another view, and so is what another content shows.
    assert_eq!(read(json!({"limit": 1})).await, "1\ta");
    assert_eq!(read(json!({"limit": 1})).await, AGAIN);
    folder.put("file", "a\nc\n");
    assert_eq!(read(json!({"limit": 1})).await, "1\ta");
    // What the session has written itself, the model has not seen as a file.
    let edit = json!({"file_path": path, "old_string": "a", "new_string": "x"});
    folder.ok("Edit", edit).await;
    assert_eq!(read(json!({"limit": 1})).await, "1\tx");
    folder.close().await;
}

#[tokio::test]
async fn a_picture_is_shown_and_what_only_looks_like_one_is_not() {
    const PIXEL: &[u8] = b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00\x3a\x7e\x9b\x55\x00\x00\x00\x0a\x49\x44\x41\x54\x78\x9c\x63\x60\x00\x00\x00\x02\x00\x01\x48\xaf\xa4\x71\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";
    let folder = Folder::open().await;
    let path = folder.put("pixel.txt", PIXEL);
    let result = folder.call("Read", json!({"file_path": path})).await;
    let content = result.content.to_json();
    assert_eq!(content[0]["source"]["media_type"], "image/png");
    assert!(content[0]["source"]["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    let damaged = folder.put("damaged.png", &PIXEL[..40]);
    let document = folder.put("document", "%PDF-1.7\n");
    let texts = [
        folder.fails("Read", json!({"file_path": damaged})).await,
        folder.fails("Read", json!({"file_path": document})).await,
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    DIR/damaged.png can't be shown as a picture: it is damaged or too large to be decoded (unexpected end of file). Make another of it with a command.
    DIR/document is a PDF document, whose pages can't be shown. Extract its text with a command such as `pdftotext`, or make pictures of its pages.
    ");
    folder.close().await;
}

#[tokio::test]
async fn the_older_line_format_can_be_chosen() {
    let options = FileOptions { line_numbers: LineNumbers::Arrow, ..FileOptions::default() };
    let folder = Folder::with_files(&options).await;
    let path = folder.put("file", "a\nb");
    assert_eq!(folder.ok("Read", json!({"file_path": path})).await, "     1→a\n     2→b");
    folder.close().await;
}

#[tokio::test]
async fn a_file_of_ten_gigabytes_shows_its_first_lines() {
    let folder = Folder::open().await;
    let path = folder.put("file", "line\n".repeat(20_000));
    fs::File::options().write(true).open(&path).unwrap().set_len(10 << 30).unwrap();
    let text = folder.ok("Read", json!({"file_path": path})).await;
    assert!(text.ends_with(
        "[PARTIAL view: lines 1 to 2000 of more. Read on with offset 2001 and a limit.]"
    ));
    let edit = json!({"file_path": path, "old_string": "a", "new_string": "b"});
    let text = folder.fails("Edit", edit).await;
    insta::assert_snapshot!(text, @"<tool_use_error>DIR/file has 10737418240 bytes, and files of more than 1073741824 bytes are not changed. Change it with a command.</tool_use_error>");
    folder.close().await;
}

#[tokio::test]
async fn what_cannot_be_shown_is_refused_with_what_to_do() {
    let folder = Folder::open().await;
    folder.put("binary", b"\x7fELF\0\0");
    folder.put("file", "x");
    fs::create_dir(folder.path("folder")).unwrap();
    let mut texts = Vec::new();
    for path in ["DIR/binary", "DIR/missing", "DIR/folder", "DIR/file/x", "file", "~/x", "", "/\0"]
    {
        let path = path.replace("DIR", folder.root().to_str().unwrap());
        texts.push(folder.fails("Read", json!({"file_path": path})).await);
    }
    let path = folder.name("file");
    texts.push(folder.fails("Read", json!({"file_path": path, "limit": 0})).await);
    insta::assert_snapshot!(texts.join("\n"), @"
    DIR/binary is a binary file, which can't be shown as text. Look at it with a command that knows its format.
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
