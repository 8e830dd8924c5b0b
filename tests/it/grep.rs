//! Searching files: which lines, files and counts are shown, in which order, and what is refused.

use std::fs::File;
use std::time::{Duration, SystemTime};

use harness::{Folder, texts};
use serde_json::{Value, json};
use toolwright_contract::present::Detail;
use toolwright_contract::{Content, ToolUse, Unseen};

/// A folder with a few files, `b.rs` modified last.
async fn folder() -> Folder {
    let folder = Folder::open().await;
    fill(&folder);
    folder
}

fn fill(folder: &Folder) {
    folder.put("a.rs", "fn one() {}\nfn two() {}\n// end\n");
    folder.put("b.rs", "fn three() {}\r\nlet Fn = 3;\r\n");
    folder.put("sub/c.py", "x\ndef fn():\n    pass\ny\nz\nfn = 1\n");
    folder.put("sub/d.txt", "nothing\n");
    for (age, name) in ["b.rs", "sub/c.py", "a.rs", "sub/d.txt"].iter().enumerate() {
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age as u64);
        let file = File::options().write(true).open(folder.path(name)).unwrap();
        file.set_modified(modified).unwrap();
    }
}

async fn told<const N: usize>(folder: &Folder, inputs: [Value; N]) -> String {
    let mut told = Vec::new();
    for input in inputs {
        told.push(format!("{input}\n{}", folder.ok("Grep", input.clone()).await));
    }
    told.join("\n\n")
}

async fn refused<const N: usize>(folder: &Folder, inputs: [Value; N]) -> String {
    let mut told = Vec::new();
    for input in inputs {
        told.push(folder.fails("Grep", input.clone()).await);
    }
    told.join("\n")
}

#[tokio::test]
async fn each_mode_shows_what_it_is_for() {
    let folder = folder().await;
    let told = told(
        &folder,
        [
            json!({"pattern": "fn"}),
            json!({"pattern": "fn", "output_mode": "content"}),
            json!({"pattern": "fn", "output_mode": "count"}),
            json!({"pattern": "nowhere"}),
            json!({"pattern": "nowhere", "output_mode": "content"}),
            json!({"pattern": "nowhere", "output_mode": "count"}),
            json!({"pattern": "nothing"}),
            json!({"pattern": "nothing", "output_mode": "count"}),
        ],
    );
    insta::assert_snapshot!(told.await, @r#"
    {"pattern":"fn"}
    Found 3 files
    b.rs
    sub/c.py
    a.rs

    {"output_mode":"content","pattern":"fn"}
    a.rs:1:fn one() {}
    a.rs:2:fn two() {}
    b.rs:1:fn three() {}
    sub/c.py:2:def fn():
    sub/c.py:6:fn = 1

    {"output_mode":"count","pattern":"fn"}
    a.rs:2
    b.rs:1
    sub/c.py:2

    Found 5 total occurrences across 3 files.

    {"pattern":"nowhere"}
    No files found

    {"output_mode":"content","pattern":"nowhere"}
    No matches found

    {"output_mode":"count","pattern":"nowhere"}
    No matches found

    Found 0 total occurrences across 0 files.

    {"pattern":"nothing"}
    Found 1 file
    sub/d.txt

    {"output_mode":"count","pattern":"nothing"}
    sub/d.txt:1

    Found 1 total occurrence across 1 file.
    "#);
    folder.close().await;
}

#[tokio::test]
async fn lines_are_shown_as_they_are_asked_for() {
    let folder = folder().await;
    let content = |mut input: Value| {
        input["output_mode"] = json!("content");
        input
    };
    let told = told(
        &folder,
        [
            content(json!({"pattern": "fn (one|three)", "-n": false})),
            content(json!({"pattern": "FN", "-i": true, "path": "b.rs"})),
            content(json!({"pattern": "one|def", "-A": "1"})),
            content(json!({"pattern": "def", "-B": 1, "-A": 2})),
            content(json!({"pattern": "pass", "-C": 1, "-A": 0})),
            content(json!({"pattern": "pass", "context": 1})),
            content(json!({"pattern": "f[nN]", "-o": true, "path": "sub"})),
            content(json!({"pattern": "two.*\n// e", "multiline": true})),
            content(json!({"pattern": "two.*end", "multiline": true})),
            content(json!({"pattern": "two.*end"})),
            content(json!({"pattern": "$", "-o": true, "-n": false, "path": "sub/c.py"})),
        ],
    );
    insta::assert_snapshot!(told.await, @r#"
    {"-n":false,"output_mode":"content","pattern":"fn (one|three)"}
    a.rs:fn one() {}
    b.rs:fn three() {}

    {"-i":true,"output_mode":"content","path":"b.rs","pattern":"FN"}
    1:fn three() {}
    2:let Fn = 3;

    {"-A":"1","output_mode":"content","pattern":"one|def"}
    a.rs:1:fn one() {}
    a.rs-2-fn two() {}
    --
    sub/c.py:2:def fn():
    sub/c.py-3-    pass

    {"-A":2,"-B":1,"output_mode":"content","pattern":"def"}
    sub/c.py-1-x
    sub/c.py:2:def fn():
    sub/c.py-3-    pass
    sub/c.py-4-y

    {"-A":0,"-C":1,"output_mode":"content","pattern":"pass"}
    sub/c.py-2-def fn():
    sub/c.py:3:    pass

    {"context":1,"output_mode":"content","pattern":"pass"}
    sub/c.py-2-def fn():
    sub/c.py:3:    pass
    sub/c.py-4-y

    {"-o":true,"output_mode":"content","path":"sub","pattern":"f[nN]"}
    sub/c.py:2:fn
    sub/c.py:6:fn

    {"multiline":true,"output_mode":"content","pattern":"two.*\n// e"}
    a.rs:2:fn two() {}
    a.rs:3:// end

    {"multiline":true,"output_mode":"content","pattern":"two.*end"}
    a.rs:2:fn two() {}
    a.rs:3:// end

    {"output_mode":"content","pattern":"two.*end"}
    No matches found

    {"-n":false,"-o":true,"output_mode":"content","path":"sub/c.py","pattern":"$"}
    [All of the 6 lines are blank]
    "#);
    folder.close().await;
}

#[tokio::test]
async fn files_are_chosen_by_path_glob_and_type() {
    let folder = folder().await;
    let told = told(
        &folder,
        [
            json!({"pattern": "fn", "path": "sub"}),
            json!({"pattern": "fn", "path": folder.name("sub/../a.rs")}),
            json!({"pattern": "fn", "path": "sub/c.py", "output_mode": "content"}),
            json!({"pattern": "fn", "path": "sub/c.py", "output_mode": "count"}),
            json!({"pattern": "fn", "glob": "*.rs"}),
            json!({"pattern": "fn", "glob": "*.py, a.*"}),
            json!({"pattern": "fn", "glob": "!*.rs"}),
            json!({"pattern": "fn", "glob": "sub/*.{py,txt}", "path": "sub"}),
            json!({"pattern": "fn", "type": "py"}),
        ],
    );
    let told = told.await.replace(&folder.name(""), "DIR/");
    insta::assert_snapshot!(told, @r#"
    {"path":"sub","pattern":"fn"}
    Found 1 file
    sub/c.py

    {"path":"DIR/sub/../a.rs","pattern":"fn"}
    Found 1 file
    a.rs

    {"output_mode":"content","path":"sub/c.py","pattern":"fn"}
    2:def fn():
    6:fn = 1

    {"output_mode":"count","path":"sub/c.py","pattern":"fn"}
    sub/c.py:2

    Found 2 total occurrences across 1 file.

    {"glob":"*.rs","pattern":"fn"}
    Found 2 files
    b.rs
    a.rs

    {"glob":"*.py, a.*","pattern":"fn"}
    Found 2 files
    sub/c.py
    a.rs

    {"glob":"!*.rs","pattern":"fn"}
    Found 1 file
    sub/c.py

    {"glob":"sub/*.{py,txt}","path":"sub","pattern":"fn"}
    Found 1 file
    sub/c.py

    {"pattern":"fn","type":"py"}
    Found 1 file
    sub/c.py
    "#);
    folder.close().await;
}

#[tokio::test]
async fn a_part_is_shown_and_totals_cover_everything() {
    let folder = folder().await;
    let content = |limit: u64, offset: u64| json!({"pattern": "fn", "output_mode": "content", "head_limit": limit, "offset": offset});
    let told = told(
        &folder,
        [
            content(2, 0),
            content(2, 3),
            content(5, 0),
            content(0, 4),
            content(2, 5),
            json!({"pattern": "fn", "head_limit": 1, "offset": " 1"}),
            json!({"pattern": "fn", "offset": 3}),
            json!({"pattern": "fn", "output_mode": "count", "head_limit": 1}),
            json!({"pattern": "fn", "output_mode": "count", "offset": 9}),
        ],
    );
    insta::assert_snapshot!(told.await, @r#"
    {"head_limit":2,"offset":0,"output_mode":"content","pattern":"fn"}
    a.rs:1:fn one() {}
    a.rs:2:fn two() {}

    [Showing results with pagination = limit: 2, offset: 0; 5 lines in all]

    {"head_limit":2,"offset":3,"output_mode":"content","pattern":"fn"}
    sub/c.py:2:def fn():
    sub/c.py:6:fn = 1

    [Showing results with pagination = offset: 3; 5 lines in all]

    {"head_limit":5,"offset":0,"output_mode":"content","pattern":"fn"}
    a.rs:1:fn one() {}
    a.rs:2:fn two() {}
    b.rs:1:fn three() {}
    sub/c.py:2:def fn():
    sub/c.py:6:fn = 1

    {"head_limit":0,"offset":4,"output_mode":"content","pattern":"fn"}
    sub/c.py:6:fn = 1

    [Showing results with pagination = offset: 4; 5 lines in all]

    {"head_limit":2,"offset":5,"output_mode":"content","pattern":"fn"}
    No entries at this offset (5 lines in all)

    {"head_limit":1,"offset":" 1","pattern":"fn"}
    Found 3 files
    sub/c.py

    [Showing results with pagination = limit: 1, offset: 1; 3 files in all]

    {"offset":3,"pattern":"fn"}
    No entries at this offset (3 files in all)

    {"head_limit":1,"output_mode":"count","pattern":"fn"}
    a.rs:2

    Found 5 total occurrences across 3 files.
    [Showing results with pagination = limit: 1, offset: 0; 3 files in all]

    {"offset":9,"output_mode":"count","pattern":"fn"}
    No entries at this offset

    Found 5 total occurrences across 3 files.
    [Showing results with pagination = offset: 9; 3 files in all]
    "#);
    folder.close().await;
}

#[tokio::test]
async fn by_default_250_lines_are_shown() {
    let folder = Folder::open().await;
    folder.put("many", "x\n".repeat(300));
    let text = folder.ok("Grep", json!({"pattern": "x", "output_mode": "content"})).await;
    let end = "\nmany:250:x\n\n[Showing results with pagination = limit: 250, offset: 0; 300 lines in all]";
    assert!(text.ends_with(end), "{text}");
    folder.close().await;
}

#[tokio::test]
async fn what_is_ignored_and_what_version_control_keeps_is_left_out_unless_it_is_named() {
    let folder = Folder::open().await;
    folder.put(".git/HEAD", "word\n");
    folder.put(".gitignore", "out/\n*.log\n");
    for name in ["a", ".env", "out/b", "c.log", "sub/.svn/d", "sub/.hidden/e"] {
        folder.put(name, "word\n");
    }
    let found = async |input: Value| {
        let text = folder.ok("Grep", input).await;
        let mut lines: Vec<_> = text.lines().skip(1).map(str::to_owned).collect();
        lines.sort_unstable();
        lines.join(" ")
    };
    assert_eq!(found(json!({"pattern": "word"})).await, ".env a sub/.hidden/e");
    assert_eq!(found(json!({"pattern": "word", "path": "c.log"})).await, "c.log");
    assert_eq!(found(json!({"pattern": "word", "path": "out"})).await, "out/b");
    assert_eq!(found(json!({"pattern": "word", "path": "sub/.svn"})).await, "sub/.svn/d");
    assert_eq!(found(json!({"pattern": "word", "path": ".git"})).await, ".git/HEAD");
    folder.close().await;
}

#[tokio::test]
async fn text_is_found_in_whatever_encoding_a_mark_announces_and_binaries_are_told() {
    let folder = Folder::open().await;
    let utf16 = |mark: [u8; 2], order: fn(u16) -> [u8; 2]| {
        let units = "süß word\n".encode_utf16().flat_map(order);
        mark.into_iter().chain(units).collect::<Vec<u8>>()
    };
    folder.put("le", utf16([0xff, 0xfe], u16::to_le_bytes));
    folder.put("be", utf16([0xfe, 0xff], u16::to_be_bytes));
    folder.put("mark", "\u{feff}süß word\n");
    folder.put("latin", b"s\xfc\xdf word\n");
    folder.put("binary", b"word\0word\n");
    let told = told(
        &folder,
        [
            json!({"pattern": "^s.*word", "output_mode": "content"}),
            json!({"pattern": "word", "output_mode": "content", "path": "binary"}),
        ],
    );
    insta::assert_snapshot!(told.await, @r#"
    {"output_mode":"content","pattern":"^s.*word"}
    be:1:süß word
    le:1:süß word
    mark:1:süß word

    {"output_mode":"content","path":"binary","pattern":"word"}
    binary file matches (found "\0" byte around offset 4)
    "#);
    folder.close().await;
}

#[tokio::test]
async fn what_makes_no_search_is_refused_with_a_remedy() {
    let folder = folder().await;
    let refused = refused(
        &folder,
        [
            json!({"pattern": ""}),
            json!({"pattern": "a", "path": "sub/c.rs"}),
            json!({"pattern": "a", "path": "/nowhere/at/all/sub/c.py"}),
            json!({"pattern": "a", "path": "a.rs/x"}),
            json!({"pattern": "a", "path": "zzz"}),
            json!({"pattern": "a", "path": "~/x"}),
            json!({"pattern": "a", "path": "x\0"}),
            json!({"pattern": "a", "path": "/dev/null"}),
            json!({"pattern": "a(", "path": "sub"}),
            json!({"pattern": "a\nb"}),
            json!({"pattern": "a\0"}),
            json!({"pattern": "a", "glob": "{a"}),
            json!({"pattern": "a", "type": "klingon"}),
            json!({"pattern": 5, "glob": ["*.rs"], "head_limit": "many", "include": "*.py"}),
        ],
    );
    let refused = refused.await;
    insta::assert_snapshot!(refused, @r#"
    <tool_use_error>The pattern is empty. It would match every line: send a text or an expression to find.</tool_use_error>
    <tool_use_error>Path does not exist: sub/c.rs. The working directory is DIR. Look there for the right name.</tool_use_error>
    <tool_use_error>Path does not exist: /nowhere/at/all/sub/c.py. The working directory is DIR. Did you mean DIR/sub/c.py?</tool_use_error>
    <tool_use_error>Path does not exist: a.rs/x. The working directory is DIR. Did you mean DIR/a.rs?</tool_use_error>
    <tool_use_error>Path does not exist: zzz. The working directory is DIR. Look there for the right name.</tool_use_error>
    <tool_use_error>`~/x` begins with `~`, which is not expanded. Send the whole path, from `/` on.</tool_use_error>
    <tool_use_error>The path contains a NUL character, which no file's name has. Send it without.</tool_use_error>
    <tool_use_error>/dev/null is a device and not a regular file, so it is not opened: that might never end. Send the path of a regular file, or use a command with a timeout.</tool_use_error>
    regex parse error:
        (?:a()
        ^
    error: unclosed group
    Correct or simplify the pattern; `\` before a special character takes it as it stands.
    the literal "\n" is not allowed in a regex
    Set multiline to true to match across lines, or leave it out of the pattern.
    The pattern contains a NUL character, which no text does. Send it without.
    error parsing glob '{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
    Correct the glob: `\` before `{`, `[`, `*` or `?` takes it as it stands.
    unrecognized file type: klingon
    Send a type like `rust`, `py` or `js`, or a glob instead.
    <tool_use_error>InputValidationError: Grep failed due to the following issues:
    The parameter `glob` type is expected as `string` but provided as `array`
    The parameter `head_limit` type is expected as `number` but provided as `string`
    The parameter `pattern` type is expected as `string` but provided as `number`
    An unexpected parameter `include` was provided</tool_use_error>
    "#);
    folder.close().await;
}

#[tokio::test]
async fn a_pattern_that_takes_other_engines_for_ever_is_answered() {
    let folder = Folder::open().await;
    folder.put("a", format!("{}!\n", "a".repeat(100_000)));
    let text = folder.ok("Grep", json!({"pattern": "(a+)+$", "output_mode": "count"})).await;
    assert_eq!(text, "No matches found\n\nFound 0 total occurrences across 0 files.");
    folder.close().await;
}

#[tokio::test]
async fn files_that_a_rule_hides_are_neither_shown_nor_counted() {
    let folder = Folder::with(|config| {
        config.context.unseen = Unseen::by(|it| it.ends_with("secret") || it.ends_with("b.rs"));
    });
    let folder = folder.await;
    fill(&folder);
    folder.put("secret", "fn\n");
    let told = told(
        &folder,
        [
            json!({"pattern": "fn"}),
            json!({"pattern": "fn", "output_mode": "count"}),
            json!({"pattern": "fn", "output_mode": "content", "path": "secret"}),
        ],
    );
    insta::assert_snapshot!(told.await, @r#"
    {"pattern":"fn"}
    Found 2 files
    sub/c.py
    a.rs

    {"output_mode":"count","pattern":"fn"}
    a.rs:2
    sub/c.py:2

    Found 4 total occurrences across 2 files.

    {"output_mode":"content","path":"secret","pattern":"fn"}
    No matches found
    "#);
    folder.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed_but_a_search_may_begin_with_one() {
    let folder = folder().await;
    std::os::unix::fs::symlink("..", folder.path("sub/loop")).unwrap();
    std::os::unix::fs::symlink("sub", folder.path("link")).unwrap();
    std::os::unix::fs::symlink("turn", folder.path("turn")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path("pipe"), rustix::fs::Mode::RWXU).unwrap();
    let told =
        told(&folder, [json!({"pattern": "def"}), json!({"pattern": "def", "path": "link"})]);
    insta::assert_snapshot!(told.await, @r#"
    {"pattern":"def"}
    Found 1 file
    sub/c.py

    {"path":"link","pattern":"def"}
    Found 1 file
    link/c.py
    "#);
    let refused = refused(
        &folder,
        [json!({"pattern": "def", "path": "turn"}), json!({"pattern": "def", "path": "pipe"})],
    );
    insta::assert_snapshot!(refused.await, @"
    <tool_use_error>Could not find DIR/turn: Too many levels of symbolic links (os error 40). Nothing was changed; deal with the cause, then try again.</tool_use_error>
    <tool_use_error>DIR/pipe is a named pipe and not a regular file, so it is not opened: that might never end. Send the path of a regular file, or use a command with a timeout.</tool_use_error>
    ");
    folder.close().await;
}

#[tokio::test]
async fn a_search_that_is_stopped_ends_and_leaves_no_thread_behind() {
    let mut folder = Folder::open().await;
    // Empty space on the disk, and hours of reading: the test's runtime waits for its threads.
    File::create(folder.path("vast")).unwrap().set_len(1 << 40).unwrap();
    let call = ToolUse::new("c", "Grep", json!({"pattern": "x", "path": "vast"}));
    let turn = folder.house.turn([call]).await;
    folder.house.started(0).await;
    folder.house.session.interrupt();
    let told = texts(&turn.finish().await).remove(0);
    assert!(told.contains("Interrupted by the user."), "{told}");
    folder.close().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_cannot_be_read_is_an_error_if_it_was_named_and_else_a_notice() {
    let folder = Folder::open().await;
    let named = json!({"pattern": "x", "path": "/proc/self/mem"});
    insta::assert_snapshot!(folder.fails("Grep", named).await, @"Could not search /proc/self/mem: Input/output error (os error 5). Nothing was changed; deal with the cause, then try again.");
    // What else is there comes and goes.
    let found = json!({"pattern": "x", "path": "/proc/self", "glob": "/mem"});
    let text = folder.ok("Grep", found).await;
    assert!(text.starts_with("No files found\n\n[Not searched: /proc/self/"), "{text}");
    folder.close().await;
}

#[tokio::test]
async fn an_unfinished_line_and_an_empty_file_are_no_trouble() {
    let folder = Folder::open().await;
    folder.put("empty", "");
    folder.put("open", "a\nword");
    let input = json!({"pattern": "word|^$", "output_mode": "content", "-A": 1});
    assert_eq!(folder.ok("Grep", input).await, "open:2:word");
    folder.close().await;
}

#[test]
fn matches_are_highlighted_with_their_file_and_line() {
    let tools = toolwright::Registry::new(toolwright::built_in_tools()).unwrap();
    let grep = tools.get("Grep").unwrap();
    let content = Content::from("a-1.rs:12:let one = one;\na-1.rs-13-}\n--\nb.rs:7:one\nb.rs-8-");
    let input = json!({"pattern": "ONE", "-i": true, "output_mode": "content"});
    let shown = grep.present().result(&input, &content, Detail::Full).ansi();
    insta::assert_snapshot!(shown.replace('\u{1b}', "^"), @"
    ^[1ma-1.rs^[0m^[2m:12:^[0mlet ^[32mone^[0m = ^[32mone^[0m;
    ^[1ma-1.rs^[0m^[2m-13-^[0m}
    ^[2m--^[0m
    ^[1mb.rs^[0m^[2m:7:^[0m^[32mone^[0m
    ^[1mb.rs^[0m^[2m-8-^[0m
    ");
    let condensed = grep.present().result(&input, &content, Detail::Condensed).plain();
    insta::assert_snapshot!(condensed, @"
    a-1.rs:12:let one = one;
    a-1.rs-13-}
    --
    … 2 more lines
    ");
    let files = Content::from("Found 2 files\na.rs\nb.rs");
    let shown = grep.present().result(&json!({"pattern": "a"}), &files, Detail::Full).ansi();
    insta::assert_snapshot!(shown.replace('\u{1b}', "^"), @"
    ^[1mFound 2 files^[0m
    a.rs
    b.rs
    ");
}
