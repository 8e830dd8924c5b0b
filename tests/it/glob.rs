//! Finding files by name: which are found, in which order, how many are shown, what is refused.

use std::fs::File;
use std::time::{Duration, SystemTime};

use harness::Folder;
use serde_json::{Value, json};
use toolwright_contract::present::Detail;
use toolwright_contract::{Content, Unseen};

/// Makes files; the first was modified last.
fn make(folder: &Folder, names: &[&str]) {
    for (age, name) in names.iter().enumerate() {
        folder.put(name, "");
        modify(folder, name, 1_000_000 - age as u64);
    }
}

fn modify(folder: &Folder, name: &str, second: u64) {
    let file = File::options().write(true).open(folder.path(name)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(second)).unwrap();
}

async fn found(folder: &Folder, input: Value) -> String {
    let text = folder.ok("Glob", input).await;
    text.replace("DIR/", "").replace('\n', " ")
}

#[tokio::test]
async fn a_pattern_means_what_it_means_in_a_gitignore_file() {
    let folder = Folder::open().await;
    make(&folder, &["z.rs", "a.rs", "src/b.rs", "src/deep/c.rs", "src/d.toml", "e[1].md"]);
    for (pattern, files) in [
        ("*.rs", "z.rs a.rs src/b.rs src/deep/c.rs"),
        ("./*.rs", "z.rs a.rs"),
        ("src/*.rs", "src/b.rs"),
        ("src/**/*.rs", "src/b.rs src/deep/c.rs"),
        ("**/c.rs", "src/deep/c.rs"),
        ("**/*", "z.rs a.rs src/b.rs src/deep/c.rs src/d.toml e[1].md"),
        ("*.{rs,toml}", "z.rs a.rs src/b.rs src/deep/c.rs src/d.toml"),
        ("src/{b.*,deep/{c,x}.rs}", "src/b.rs src/deep/c.rs"),
        ("?.rs", "z.rs a.rs src/b.rs src/deep/c.rs"),
        ("[a-b].rs", "a.rs src/b.rs"),
        ("e[[]1].md", "e[1].md"),
        (r"e\[1\].md", "e[1].md"),
        ("src/", "src/b.rs src/deep/c.rs src/d.toml"),
        ("!*.rs", "src/d.toml e[1].md"),
        ("*.RS", "No files found"),
    ] {
        assert_eq!(found(&folder, json!({"pattern": pattern})).await, files, "{pattern}");
    }
    folder.close().await;
}

#[tokio::test]
async fn a_search_is_anchored_at_its_path() {
    let folder = Folder::open().await;
    make(&folder, &["a.rs", "src/b.rs", "src/src/c.rs"]);
    let absolute = folder.name("src/src/*.rs");
    for (pattern, path, files) in [
        ("*.rs", "src".to_owned(), "src/b.rs src/src/c.rs"),
        ("src/*.rs", folder.name("src"), "src/src/c.rs"),
        ("*.rs", folder.name("src/../src/src/"), "src/src/c.rs"),
        (&absolute, folder.name("src"), "src/src/c.rs"),
        (&absolute, ".".to_owned(), "src/src/c.rs"),
    ] {
        let input = json!({"pattern": pattern, "path": path});
        assert_eq!(found(&folder, input).await, files, "{pattern} {path}");
    }
    folder.close().await;
}

#[tokio::test]
async fn ignored_and_hidden_files_are_found_but_not_those_of_version_control() {
    let folder = Folder::open().await;
    make(&folder, &[".gitignore", "out/a", ".hidden/b", ".git/hooks/c", "sub/.svn/d"]);
    folder.put(".gitignore", "out/\n");
    modify(&folder, ".gitignore", 2_000_000);
    assert_eq!(found(&folder, json!({"pattern": "**/*"})).await, ".gitignore out/a .hidden/b");
    assert_eq!(found(&folder, json!({"pattern": ".git/**"})).await, ".git/hooks/c");
    assert_eq!(found(&folder, json!({"pattern": "*", "path": ".git"})).await, ".git/hooks/c");
    folder.close().await;
}

#[tokio::test]
async fn files_of_the_same_age_come_by_name() {
    let folder = Folder::open().await;
    for name in ["c", "a", "d/e", "b"] {
        folder.put(name, "");
        modify(&folder, name, 7);
    }
    assert_eq!(found(&folder, json!({"pattern": "**"})).await, "a b c d/e");
    folder.close().await;
}

#[tokio::test]
async fn the_hundred_files_that_were_modified_last_are_shown_and_the_rest_is_counted() {
    let folder = Folder::open().await;
    let names: Vec<_> = (0..250).map(|it| format!("{:02}/{it}", it % 7)).collect();
    make(&folder, &names.iter().map(String::as_str).collect::<Vec<_>>());
    let result = folder.call("Glob", json!({"pattern": "**/*"})).await;
    let text = result.content.text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 101);
    assert_eq!([lines[0], lines[99]], [folder.name(&names[0]), folder.name(&names[99])]);
    assert_eq!(
        lines[100],
        "(Results are truncated. Consider using a more specific path or pattern.) [100 of 250 files]"
    );
    folder.close().await;
}

#[tokio::test]
async fn files_that_a_rule_hides_are_neither_shown_nor_counted() {
    let folder = Folder::with(|it| it.context.unseen = Unseen::by(|it| it.ends_with(".env"))).await;
    make(&folder, &["a", ".env", "sub/.env"]);
    let result = folder.call("Glob", json!({"pattern": "**"})).await;
    assert_eq!(result.content.text(), folder.name("a"));
    folder.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_special_files_are_not_found_and_not_followed() {
    let folder = Folder::open().await;
    make(&folder, &["sub/a"]);
    std::os::unix::fs::symlink("..", folder.path("sub/loop")).unwrap();
    std::os::unix::fs::symlink("sub", folder.path("link")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path("pipe"), rustix::fs::Mode::RWXU).unwrap();
    assert_eq!(found(&folder, json!({"pattern": "**"})).await, "sub/a");
    assert_eq!(found(&folder, json!({"pattern": "*", "path": "link"})).await, "link/a");
    folder.close().await;
}

#[tokio::test]
async fn what_makes_no_search_is_refused_with_a_remedy() {
    let folder = Folder::open().await;
    make(&folder, &["Source/file.txt"]);
    let mut told = Vec::new();
    for input in [
        json!({"pattern": ""}),
        json!({"pattern": "a\0"}),
        json!({"pattern": "~/*.rs"}),
        json!({"pattern": "/etc/*"}),
        json!({"pattern": "../*.rs"}),
        json!({"pattern": "{a"}),
        json!({"pattern": "{a".repeat(1_000)}),
        json!({"pattern": "*", "path": "source"}),
        json!({"pattern": "*", "path": "Source/file.txt"}),
        json!({"pattern": "*", "path": "a\0"}),
        json!({"pattern": ["*"], "path": 1}),
    ] {
        told.push(folder.fails("Glob", input).await);
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    <tool_use_error>The pattern is empty. Send `**/*` for every file.</tool_use_error>
    <tool_use_error>The path contains a NUL character, which no file's name has. Send it without.</tool_use_error>
    <tool_use_error>`~/*.rs` begins with `~`, which is not expanded. Send the whole path, from `/` on.</tool_use_error>
    <tool_use_error>The pattern `/etc/*` leads out of DIR. Send the directory as path, and a pattern that is relative to it.</tool_use_error>
    <tool_use_error>The pattern `../*.rs` leads out of DIR. Send the directory as path, and a pattern that is relative to it.</tool_use_error>
    error parsing glob '{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
    Correct the glob: `\` before `{`, `[`, `*` or `?` takes it as it stands.
    error parsing glob '{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a…a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a': alternate groups nested too deeply
    Correct the glob: `\` before `{`, `[`, `*` or `?` takes it as it stands.
    <tool_use_error>Path does not exist: source. The working directory is DIR. Did you mean DIR/Source?</tool_use_error>
    <tool_use_error>Path is not a directory: DIR/Source/file.txt. Send the directory that it is in, or read the file itself.</tool_use_error>
    <tool_use_error>The path contains a NUL character, which no file's name has. Send it without.</tool_use_error>
    <tool_use_error>InputValidationError: Glob failed due to the following issues:
    The parameter `path` type is expected as `string` but provided as `number`
    The parameter `pattern` type is expected as `string` but provided as `array`</tool_use_error>
    "#);
    folder.close().await;
}

#[tokio::test]
async fn a_session_without_a_working_directory_needs_an_absolute_path() {
    let folder = Folder::with(|it| it.context.cwd = "".into()).await;
    make(&folder, &["a"]);
    for (tool, input) in [("Glob", json!({"pattern": "*"})), ("Grep", json!({"pattern": "a"}))] {
        let text = folder.fails(tool, input).await;
        assert!(text.contains("Send an absolute path."), "{text}");
    }
    assert_eq!(found(&folder, json!({"pattern": "*", "path": folder.root()})).await, "a");
    folder.close().await;
}

#[test]
fn people_see_a_count_and_in_full_the_paths() {
    let tools = toolwright::Registry::new(toolwright::built_in_tools()).unwrap();
    let glob = tools.get("Glob").unwrap().present();
    for (text, condensed, full) in [
        ("/a/b\n/a/c", "2 files", "2 files\n/a/b\n/a/c"),
        ("No files found", "0 files", "0 files"),
        (
            "/a/b\n(Results are truncated.)",
            "1 file\n(Results are truncated.)",
            "1 file\n/a/b\n(Results are truncated.)",
        ),
    ] {
        let content = Content::from(text);
        assert_eq!(glob.result(&json!({}), &content, Detail::Condensed).plain(), condensed);
        assert_eq!(glob.result(&json!({}), &content, Detail::Full).plain(), full);
    }
}
