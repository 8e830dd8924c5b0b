//! File tools against path rules, links, protected paths and the working directories.

use std::path::{Path, PathBuf};

use serde_json::json;
use toolwright_permissions::{Fences, Links, Mode};

use crate::setting::Setting;

#[test]
fn reads_start_in_the_working_directories_and_are_asked_about_elsewhere() {
    let setting = Setting { directories: vec!["/data".into()], ..Setting::default() };
    setting.check_files(&[
        ("", "Read", "/w/app/a", "allow"),
        ("", "Read", "a", "allow"),
        ("", "Read", "/data/x", "allow"),
        ("", "Read", "/w/app-evil/a", "ask"),
        ("", "Read", "/w/app/../app-evil/a", "ask"),
        ("", "Read", "/W/app/a", "ask"),
        ("", "Read", "", "ask"),
        ("", "Read", "/w/app/a\0", "ask"),
        ("", "Read", r"\\host\share", "ask"),
        ("+Read(//etc/**)", "Read", "/etc/passwd", "allow"),
        ("+Edit(//etc/**)", "Read", "/etc/passwd", "allow"),
        ("", "Grep", "/w/app/src", "allow"),
        ("", "Grep", "/etc", "ask"),
        ("", "Write", "/w/app/a", "ask"),
        ("", "Edit", "/w/app/a", "ask"),
    ]);
}

#[test]
fn a_pattern_of_a_search_does_not_lead_out() {
    for (pattern, verdict) in [
        ("**/*.rs", "allow"),
        ("../*.rs", "ask"),
        ("a/../../**", "ask"),
        ("{..,a}/*", "ask"),
        ("/etc/*", "ask"),
        ("~/x/*", "ask"),
    ] {
        let found = Setting::default().verdict(&[], "Glob", &json!({"pattern": pattern}));
        assert_eq!(found, verdict, "{pattern}");
    }
}

#[test]
fn path_rules_have_four_anchors() {
    Setting::default().check_files(&[
        ("-Read(//etc/passwd)", "Read", "/etc/passwd", "deny"),
        ("-Read(//etc/passwd)", "Read", "/etc//./passwd", "deny"),
        ("-Read(//etc/passwd)", "Read", "/etc/ssl/../passwd", "deny"),
        ("-Read(/etc/passwd)", "Read", "/etc/passwd", "ask"),
        ("-Read(/src/x)", "Read", "/w/app/src/x", "deny"),
        ("-Read(~/x)", "Read", "/u/ann/x", "deny"),
        ("-Read(.env)", "Read", "/w/app/a/b/.env", "deny"),
        ("-Read(./.env)", "Read", "/w/app/.env", "deny"),
        ("-Read(.env)", "Read", "/other/.env", "ask"),
        ("-Read(//**/.env)", "Read", "/other/.env", "deny"),
        ("-Read(.env)", "Read", "/w/app/.ENV", "deny"),
        ("+Edit(*.md)", "Edit", "/w/app/a/b.md", "allow"),
        ("+Edit(*.md)", "Edit", "/w/app/a/b.MD", "ask"),
        ("+Edit(src/*.rs)", "Edit", "/w/app/src/a/b.rs", "ask"),
        ("+Edit(../lib/**)", "Edit", "/w/lib/x", "allow"),
        ("+Edit(../lib/**)", "Edit", "/w/other/x", "ask"),
    ]);
}

#[test]
fn a_folder_is_denied_at_any_depth_and_allowed_at_its_place() {
    Setting::default().check_files(&[
        ("+Edit(src/**)", "Edit", "/w/app/src/a", "allow"),
        ("+Edit(src/**)", "Edit", "/w/app/sub/src/a", "ask"),
        ("-Edit(src/**)", "Edit", "/w/app/sub/src/a", "deny"),
        ("?Edit(src/**)  +Edit", "Edit", "/w/app/sub/src/a", "ask"),
        ("-Edit(/src/**)", "Edit", "/w/app/sub/src/a", "ask"),
        ("+Edit(**/src/**)", "Edit", "/w/app/sub/src/a", "allow"),
    ]);
}

#[test]
fn rules_cover_the_tools_of_their_kind() {
    Setting::default().check_files(&[
        ("+Edit(src/**)", "Write", "/w/app/src/a", "allow"),
        ("+Edit(src/**)", "NotebookEdit", "/w/app/src/a", "allow"),
        ("-Edit(*.ipynb)", "NotebookEdit", "/w/app/a.ipynb", "deny"),
        ("-Read(.env)", "Edit", "/w/app/.env", "deny"),
        ("-Read(.env)", "Write", "/w/app/.env", "deny"),
        ("-Read(.env)  +NotebookEdit", "NotebookEdit", "/w/app/.env", "allow"),
        ("-Read(x/**)", "Grep", "/w/app/x", "deny"),
        ("-Write(src/**)  +Write", "Write", "/w/app/src/a", "allow"),
        ("-Write", "Write", "/w/app/a", "deny"),
        ("-Read  +Grep", "Grep", "/w/app", "deny"),
        ("+Write", "Write", "/elsewhere/a", "allow"),
    ]);
}

#[test]
fn a_protected_path_is_asked_about_whatever_allows_it() {
    let path = "/w/app/.git/hooks/x";
    let rules = "+Edit(**)  +Edit  +Write";
    for (mode, verdict) in [
        (Mode::Default, "ask"),
        (Mode::AcceptEdits, "ask"),
        (Mode::DontAsk, "deny"),
        (Mode::BypassPermissions, "allow"),
    ] {
        Setting::mode(mode).check_files(&[(rules, "Write", path, verdict)]);
    }
    Setting::mode(Mode::AcceptEdits).check_files(&[
        ("", "Write", "/w/app//.git///x", "ask"),
        ("", "Write", "/w/app/src/../.git/x", "ask"),
        ("", "Write", "/w/app/.g\u{200c}it/x", "ask"),
        ("", "Write", "/w/app/.claude/worktrees/a/x", "allow"),
        ("", "Write", "/w/app/x/", "ask"),
        ("", "Write", "/w/app/x", "allow"),
    ]);
}

#[test]
fn a_fence_round_the_directories_is_lifted_by_no_rule_and_no_mode() {
    let fences = Fences { blocks_reads: true, blocks_writes: true };
    let setting = Setting { fences, mode: Mode::BypassPermissions, ..Setting::default() };
    setting.check_files(&[
        ("+Read(//etc/**)", "Read", "/etc/passwd", "deny"),
        ("+Edit(//etc/**)", "Write", "/etc/passwd", "deny"),
        ("", "Read", "/w/app/a", "allow"),
    ]);
    setting.check_commands(&[
        ("+Bash", "cat /etc/passwd", "deny"),
        ("+Bash", "ls > ../x", "deny"),
        ("+Bash", "cat $x", "deny"),
        ("+Bash", "ls > /dev/null", "allow"),
        ("+Bash", "cat a > b", "allow"),
    ]);
}

/// `/w/app/out` leads to `/etc`, and `/w/app/hard` has another name.
struct Tree;

impl Links for Tree {
    fn real(&self, path: &Path) -> PathBuf {
        let rest = path.strip_prefix("/w/app/out");
        rest.map_or_else(|_| path.to_owned(), |it| Path::new("/etc").join(it))
    }

    fn has_other_names(&self, path: &Path) -> bool {
        path.ends_with("hard")
    }
}

#[test]
fn an_allow_needs_the_link_and_its_target_and_a_deny_either() {
    let setting = |mode| Setting { mode, links: Box::new(Tree), ..Setting::default() };
    setting(Mode::AcceptEdits).check_files(&[
        ("", "Read", "/w/app/out/passwd", "ask"),
        ("", "Write", "/w/app/out/new", "ask"),
        ("+Edit(out/**)", "Write", "/w/app/out/new", "ask"),
        ("+Edit(out/**)  +Edit(//etc/**)", "Write", "/w/app/out/new", "allow"),
        ("-Read(//etc/**)", "Read", "/w/app/out/passwd", "deny"),
        ("-Read(out/**)", "Read", "/w/app/out/passwd", "deny"),
        ("", "Edit", "/w/app/hard", "ask"),
    ]);
    setting(Mode::AcceptEdits).check_commands(&[
        ("", "cat out/passwd", "ask"),
        ("-Read(//etc/**)", "cat out/passwd", "deny"),
        ("", "touch out/new", "ask"),
        ("", "ls > out/new", "ask"),
    ]);
}
