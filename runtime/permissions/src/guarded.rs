//! Paths that no rule opens: protected from writes, or critical to remove.
//!
//! The lists are those of Claude Code docs 2.1.240; names are compared as the most lenient file
//! system does.

use std::path::Path;

use crate::place::{Places, Touched};

/// Folders in which a write may make something run later.
const FOLDERS: [&str; 10] = [
    ".git",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".yarn",
    ".mvn",
    ".claude",
    "git~1",
];

/// Files that make something run later.
const FILES: [&str; 41] = [
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_aliases",
    ".bash_logout",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".profile",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".pnpmfile.cjs",
    "bunfig.toml",
    ".bunfig.toml",
    ".bazelrc",
    ".bazelversion",
    ".bazeliskrc",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
    "gradle-wrapper.properties",
    "maven-wrapper.properties",
    ".devcontainer.json",
    ".ripgreprc",
    "pyrightconfig.json",
    ".mcp.json",
    ".claude.json",
    // With these a directory is a bare repository, whose configuration git obeys.
    "head",
    "packed-refs",
    "commondir",
    "gitdir",
];

/// Whether a write to a path is asked about whatever a rule allows.
#[must_use]
pub fn is_protected(path: &Path) -> bool {
    let names: Vec<String> =
        path.components().map(|it| folded(&it.as_os_str().to_string_lossy())).collect();
    let at = |index: usize| names.get(index).map(String::as_str);
    let in_folder = names.iter().enumerate().any(|(index, name)| match name.as_str() {
        ".claude" => at(index + 1) != Some("worktrees") || at(index + 2).is_none(),
        ".config" => at(index + 1) == Some("git"),
        name => FOLDERS.contains(&name),
    });
    in_folder || names.last().is_some_and(|name| FILES.contains(&name.as_str()))
}

/// A name as the most lenient file system compares it: without case, without characters that can't
/// be seen (HFS+), without stream names and dots or spaces at its end (Windows).
#[must_use]
pub(crate) fn folded(name: &str) -> String {
    let is_ignored = |it: char| {
        matches!(it, '\u{ad}' | '\u{34f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
    };
    let name = name.split(':').next().unwrap_or_default();
    let name: String =
        name.chars().filter(|it| !is_ignored(*it)).flat_map(char::to_lowercase).collect();
    let kept = name.trim_end_matches(['.', ' ']).len();
    // A name of dots alone is none of those.
    if kept == 0 { name } else { name[..kept].to_owned() }
}

/// What a word of a removal names, beyond its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The path itself.
    Whole,
    /// Everything in it: a `*` follows.
    Contents,
}

/// Whether the removal of a path is asked about in every mode.
#[must_use]
pub fn is_critical(it: &Touched, reach: Reach, places: &Places) -> bool {
    [&it.path, &it.real].into_iter().any(|path| is_critical_path(path, reach, places))
}

fn is_critical_path(path: &Path, reach: Reach, places: &Places) -> bool {
    let depth = path.components().count();
    // The root, and what is directly in it; a drive, and what is directly on it.
    let is_drive =
        path.to_str().is_some_and(|it| it.len() >= 2 && it.as_bytes()[1].is_ascii_alphabetic())
            && path.components().nth(1).is_some_and(|it| it.as_os_str().len() == 1);
    if depth <= 2 || (is_drive && depth <= 3) {
        return true;
    }
    if path.starts_with("/private") && depth == 3 {
        return true;
    }
    let is_home = places
        .home_root()
        .is_some_and(|it| it.given.starts_with(path) || it.real.starts_with(path));
    let cwd = places.cwd_root();
    let is_cwd = cwd.given.starts_with(path) || cwd.real.starts_with(path);
    let is_root = |it: &Path| it.starts_with(path);
    is_home
        || is_cwd
        || (reach == Reach::Contents && places.roots().any(is_root))
        || places.roots().next().is_some_and(is_root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::NoLinks;

    #[test]
    fn a_file_that_makes_something_run_later_is_protected() {
        for (path, protected) in [
            ("/w/app/.git/config", true),
            ("/w/app/sub/.git/hooks/x", true),
            ("/w/app/.gitignore", false),
            ("/w/app/.config/git/config", true),
            ("/w/app/.config/other", false),
            ("/w/app/.claude/settings.json", true),
            ("/w/app/.claude/worktrees/a/src/x", false),
            ("/w/app/.claude/worktrees/a/.claude/x", true),
            ("/w/app/.claude/worktrees", true),
            ("/w/app/.zshrc", true),
            ("/w/app/.zshrc/x", false),
            ("/w/app/.GIT/config", true),
            ("/w/app/.g\u{200c}it/config", true),
            ("/w/app/.git./config", true),
            ("/w/app/.git /config", true),
            ("/w/app/.git::$INDEX_ALLOCATION/config", true),
            ("/w/app/git~1/config", true),
            ("/w/app/HEAD", true),
            ("/w/app/src/main.rs", false),
        ] {
            assert_eq!(is_protected(Path::new(path)), protected, "{path}");
        }
    }

    #[test]
    fn a_removal_of_what_holds_the_system_or_the_session_is_critical() {
        let home = Path::new("/u/ann");
        let mut places = Places::new(Path::new("/w/app"), Some(home), &NoLinks);
        places.add(Path::new("/data/more"), &NoLinks);
        for (path, reach, critical) in [
            ("/", Reach::Whole, true),
            ("/usr", Reach::Whole, true),
            ("/usr/lib", Reach::Whole, false),
            ("/u/ann", Reach::Whole, true),
            ("/u/ann/x", Reach::Whole, false),
            ("/w/app", Reach::Whole, true),
            ("/w", Reach::Whole, true),
            ("/w/app/build", Reach::Contents, false),
            ("/w/app", Reach::Contents, true),
            ("/data/more", Reach::Whole, false),
            ("/data/more", Reach::Contents, true),
            ("/w/app/..", Reach::Whole, true),
            ("/usr/../usr", Reach::Whole, true),
        ] {
            let it = places.touched(path, &NoLinks);
            assert_eq!(is_critical(&it, reach, &places), critical, "{path} {reach:?}");
        }
    }
}
