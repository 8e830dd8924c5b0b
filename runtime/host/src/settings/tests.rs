//! Settings of several scopes together: precedence, trust, broken files, reading again.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolwright_permissions::{List, Mode, Trust};

use super::{CommandLine, Loaded, Locations, PlatformFolders, load, reload};

/// A home, and in it a project in which a session starts.
struct Place {
    _folder: TempDir,
    home: PathBuf,
    project: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("its path");
        let project = home.join("app");
        fs::create_dir_all(project.join(".claude")).expect("a folder");
        Self { _folder: folder, home, project }
    }

    fn write(&self, file: &str, text: &str) -> &Self {
        let file = self.home.join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
        self
    }

    fn trusted(&self) -> &Self {
        let text = serde_json::json!({"projects":
            {self.project.to_string_lossy(): {"hasTrustDialogAccepted": true}}});
        self.write(".claude.json", &text.to_string())
    }

    fn locations(&self, command_line: CommandLine) -> Locations {
        let home = Some(self.home.clone());
        let folders = PlatformFolders { managed: None, home, config: None };
        Locations::of(&self.project, &folders, command_line)
    }

    fn load(&self) -> Loaded {
        load(&self.locations(CommandLine::default()))
    }
}

fn rules(loaded: &Loaded) -> Vec<(List, &str, &str)> {
    let entry = |it: &'_ toolwright_permissions::Entry| it.source.scope.name();
    loaded.entries.iter().map(|it| (it.list, it.text.as_str(), entry(it))).collect()
}

const SHARED: &str = "app/.claude/settings.json";
const LOCAL: &str = "app/.claude/settings.local.json";
const USER: &str = ".claude/settings.json";

#[test]
fn lists_of_all_scopes_are_joined_and_the_highest_mode_counts() {
    let place = Place::new();
    place.trusted();
    place.write(SHARED, r#"{"permissions": {"allow": ["A"], "defaultMode": "plan"}}"#);
    place.write(LOCAL, r#"{"permissions": {"deny": ["B"], "defaultMode": "acceptEdits"}}"#);
    place.write(USER, r#"{"permissions": {"ask": ["C"], "defaultMode": "dontAsk"}}"#);
    let loaded = place.load();
    assert_eq!(
        rules(&loaded),
        [
            (List::Deny, "B", "local settings"),
            (List::Allow, "A", "project settings"),
            (List::Ask, "C", "user settings"),
        ]
    );
    assert_eq!((loaded.mode, loaded.broken.len()), (Mode::AcceptEdits, 0));
}

#[test]
fn a_project_allows_nothing_before_it_is_trusted() {
    let place = Place::new();
    place.write(
        SHARED,
        r#"{"permissions": {"allow": ["A"], "deny": ["B"], "ask": ["C"],
            "defaultMode": "bypassPermissions", "additionalDirectories": ["/"]}}"#,
    );
    let before = place.load();
    let texts = |it: &Loaded| it.entries.iter().map(|it| it.text.clone()).collect::<Vec<_>>();
    assert_eq!((before.trust, texts(&before)), (Trust::Untrusted, vec!["C".into(), "B".into()]));
    assert_eq!((before.mode, before.directories.len()), (Mode::Default, 0));
    assert_eq!(before.warnings.len(), 3);
    let after = place.trusted().load();
    assert_eq!((after.trust, texts(&after).len()), (Trust::Trusted, 3));
    assert_eq!((after.mode, after.directories.len()), (Mode::BypassPermissions, 1));
}

#[test]
fn local_settings_count_unless_they_came_with_the_project() {
    let place = Place::new();
    place.write(LOCAL, r#"{"permissions": {"allow": ["A"]}}"#);
    assert_eq!(place.load().entries.len(), 1);
    // An index of git that names the file, in its second version.
    place.write("app/.git/index", "DIRC\0\0\0\u{2}....app .claude/settings.local.json\0");
    assert_eq!(place.load().entries.len(), 0);
    place.write("app/.git/index", "DIRC\0\0\0\u{2}....src/main.rs\0");
    assert_eq!(place.load().entries.len(), 1);
    place.write("app/.git/index", "DIRC\0\0\0\u{4}....src/main.rs\0");
    assert_eq!(place.load().entries.len(), 0);
}

#[test]
fn a_project_cannot_choose_mode_auto_and_any_scope_can_forbid_a_mode() {
    let place = Place::new();
    place.trusted();
    place.write(SHARED, r#"{"permissions": {"defaultMode": "auto"}}"#);
    assert_eq!(place.load().mode, Mode::Default);
    place.write(SHARED, r#"{"permissions": {"disableBypassPermissionsMode": "disable"}}"#);
    place.write(USER, r#"{"permissions": {"defaultMode": "bypassPermissions"}}"#);
    let loaded = place.load();
    assert_eq!((loaded.mode, loaded.allows_bypass), (Mode::Default, false));
}

#[test]
fn what_only_a_higher_scope_may_say_is_warned_about_below() {
    let place = Place::new();
    place.trusted();
    place.write(
        SHARED,
        r#"{"allowManagedPermissionRulesOnly": true, "permissions":
            {"allow": ["A"], "denyInsteadOfPrompting": true, "blockReadsOutsideWorkingDirectories": true}}"#,
    );
    let loaded = place.load();
    assert_eq!((loaded.entries.len(), loaded.warnings.len()), (1, 1));
    assert!(!loaded.denies_instead_of_prompting && loaded.blocks_reads);
}

#[test]
fn arguments_are_settings_too() {
    let place = Place::new();
    place.write("extra.json", r#"{"permissions": {"allow": ["C"]}}"#);
    for settings in ["../extra.json", r#"{"permissions": {"allow": ["C"]}}"#] {
        let line = CommandLine {
            settings: Some(settings.into()),
            allowed: vec!["A".into()],
            disallowed: vec!["B".into()],
            mode: Some(Mode::Plan),
            directories: vec!["../other".into()],
            sources: None,
        };
        let loaded = load(&place.locations(line));
        let texts: Vec<_> = loaded.entries.iter().map(|it| it.text.as_str()).collect();
        assert_eq!((texts, loaded.mode), (vec!["A", "B", "C"], Mode::Plan), "{settings}");
    }
    let line = CommandLine { settings: Some("missing.json".into()), ..CommandLine::default() };
    assert_eq!(load(&place.locations(line)).broken.len(), 1);
}

#[test]
fn a_file_that_is_broken_from_the_start_has_everything_asked() {
    let place = Place::new();
    place.write(USER, "{ // no\n}");
    let loaded = place.load();
    assert_eq!(rules(&loaded), [(List::Ask, "*", "user settings")]);
    assert!(loaded.broken[0].to_string().contains("settings.json:1:3: "), "{:?}", loaded.broken);
}

#[test]
fn a_half_written_file_counts_as_it_was_and_one_that_is_gone_not_at_all() {
    let place = Place::new();
    let locations = place.locations(CommandLine::default());
    place.write(USER, r#"{"permissions": {"deny": ["A"]}}"#);
    let first = load(&locations);
    for text in ["", r#"{"permissions": {"deny": ["#, "[]"] {
        place.write(USER, text);
        let second = reload(&locations, &first);
        assert_eq!((&second.entries, second.broken.len()), (&first.entries, 1), "{text}");
        let third = reload(&locations, &second);
        assert_eq!(third.entries, first.entries);
    }
    place.write(USER, r#"{"permissions": {"deny": ["A", "B"]}}"#);
    let changed = reload(&locations, &first);
    assert_eq!((changed.entries.len(), changed.broken.len()), (2, 0));
    fs::remove_file(place.home.join(USER)).expect("is there");
    assert_eq!(reload(&locations, &changed).entries.len(), 0);
}

#[cfg(unix)]
#[test]
fn a_managed_file_that_is_not_the_administrators_is_refused() {
    let place = Place::new();
    place.write("managed/managed-settings.json", r#"{"permissions": {"allow": ["A"]}}"#);
    let folders =
        PlatformFolders { managed: Some(place.home.join("managed")), ..PlatformFolders::default() };
    make_writable(&place.home.join("managed/managed-settings.json"));
    let loaded = load(&Locations::of(&place.project, &folders, CommandLine::default()));
    assert_eq!(rules(&loaded), [(List::Ask, "*", "managed settings")]);
}

#[cfg(unix)]
fn make_writable(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o666)).expect("a mode");
}

#[test]
fn local_settings_are_those_of_the_repository() {
    let place = Place::new();
    fs::create_dir_all(place.project.join(".git")).expect("a folder");
    fs::create_dir_all(place.project.join("sub/.claude")).expect("a folder");
    place.write(LOCAL, r#"{"permissions": {"deny": ["A"]}}"#);
    place.write("app/sub/.claude/settings.local.json", r#"{"permissions": {"deny": ["B"]}}"#);
    let folders = PlatformFolders { home: Some(place.home.clone()), ..PlatformFolders::default() };
    let start = place.project.join("sub");
    let loaded = load(&Locations::of(&start, &folders, CommandLine::default()));
    let texts: Vec<_> = loaded.entries.iter().map(|it| it.text.as_str()).collect();
    if cfg!(unix) {
        assert_eq!(texts, ["A", "B"]);
    }
}
