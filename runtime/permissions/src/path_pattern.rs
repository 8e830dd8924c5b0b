//! Patterns of paths as rules write them: gitignore syntax behind one of four anchors.
//!
//! Claude Code docs 2.1.240. A deny or ask reaches as far as the text can be read; an allow no
//! further than it must be.

use globset::GlobBuilder;

use crate::place::drive_path;
use crate::rule::List;

/// What a pattern starts at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Anchor {
    /// `//path`: the root of the file system.
    Root,
    /// `~/path`: the user's home.
    Home,
    /// `/path`: what the settings that hold the rule belong to.
    Settings,
    /// `path`, `./path`: the working directory.
    Cwd,
}

/// A pattern that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern {
    pub(crate) anchor: Anchor,
    /// How many folders above the anchor it starts (`../`).
    pub(crate) above: usize,
    /// Patterns of what follows; any of them is enough.
    pub(crate) globs: Vec<String>,
}

impl PathPattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub(crate) fn parse(text: &str, list: List) -> Result<Self, String> {
        let text = text.trim();
        let text = drive_path(text).map_or_else(|| text.to_owned(), |it| format!("/{it}"));
        if text.starts_with('!') {
            return Err("it begins with `!`, and rules can't be undone".to_owned());
        }
        let (anchor, rest) = if let Some(rest) = text.strip_prefix("//") {
            (Anchor::Root, rest)
        } else if let Some(rest) = text.strip_prefix("~/") {
            (Anchor::Home, rest)
        } else if text == "~" {
            (Anchor::Home, "**")
        } else if let Some(rest) = text.strip_prefix('/') {
            (Anchor::Settings, rest)
        } else {
            (Anchor::Cwd, text.as_str())
        };
        let is_dotted = rest.starts_with("./");
        let (above, rest) = settle(rest)?;
        let is_free = anchor == Anchor::Cwd && above == 0 && (!is_dotted || list != List::Allow);
        let globs = Self::globs(&rest, list, is_free);
        for glob in &globs {
            compile(glob, list).map_err(|error| error.kind().to_string())?;
        }
        Ok(Self { anchor, above, globs })
    }

    /// What a pattern without anchor comes to. A name alone is meant at any depth where nothing
    /// ties it to a place; a folder with all in it is, in a deny or an ask.
    fn globs(rest: &str, list: List, is_free: bool) -> Vec<String> {
        let is_folder = rest.ends_with('/');
        let path = rest.trim_end_matches('/');
        let path = if path.is_empty() { "**" } else { path };
        let names_a_folder = path.strip_suffix("/**").is_some_and(|it| !it.contains('/'));
        let anywhere = is_free
            && match list {
                List::Allow => !path.contains('/'),
                List::Deny | List::Ask => !path.contains('/') || names_a_folder,
            };
        let path = if anywhere && path != "**" { format!("**/{path}") } else { path.to_owned() };
        // An allow of a folder isn't one of a file with its name.
        let is_whole = !(is_folder && list == List::Allow);
        let mut globs = Vec::new();
        for path in spellings(&path, list) {
            if !path.ends_with("/**") && path != "**" {
                globs.push(format!("{path}/**"));
            } else if let (Some(folder), false) = (path.strip_suffix("/**"), list == List::Allow) {
                // What can't be looked into can't be listed either.
                globs.push(folder.to_owned());
            }
            if is_whole {
                globs.push(path);
            }
        }
        globs
    }
}

/// A glob over the part of a path below an anchor. Deny and ask see through letter case, since
/// some file systems do.
pub(crate) fn compile(glob: &str, list: List) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .case_insensitive(list != List::Allow)
        .build()
}

/// Braces are plain characters in gitignore. A deny or an ask counts in the other reading too.
fn spellings(path: &str, list: List) -> Vec<String> {
    if !path.contains(['{', '}']) {
        return vec![path.to_owned()];
    }
    let mut literal = String::new();
    for it in path.chars() {
        match it {
            '{' | '}' => literal.extend(['[', it, ']']),
            other => literal.push(other),
        }
    }
    if list == List::Allow || compile(path, list).is_err() {
        vec![literal]
    } else {
        vec![literal, path.to_owned()]
    }
}

/// Takes `.` and `..` out: how far above the anchor it starts, and the rest.
fn settle(path: &str) -> Result<(usize, String), String> {
    let (mut above, mut parts): (usize, Vec<&str>) = (0, Vec::new());
    for part in path.split('/') {
        match part {
            "." => {}
            "" if !parts.is_empty() => {}
            "" => {}
            ".." => match parts.pop() {
                Some(last) if last.contains(['*', '?', '[']) => {
                    return Err("`..` follows a wildcard".to_owned());
                }
                Some(_) => {}
                None => above += 1,
            },
            part => parts.push(part),
        }
    }
    let mut rest = parts.join("/");
    if path.ends_with('/') && !rest.is_empty() {
        rest.push('/');
    }
    Ok((above, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(text: &str, list: List) -> (Anchor, usize, Vec<String>) {
        let it = PathPattern::parse(text, list).expect("a pattern");
        (it.anchor, it.above, it.globs)
    }

    #[test]
    fn each_form_has_its_anchor() {
        use Anchor::{Cwd, Home, Root, Settings};
        for (text, anchor, above) in [
            ("//etc/passwd", Root, 0),
            ("~/x", Home, 0),
            ("/src/x", Settings, 0),
            ("src/x", Cwd, 0),
            ("./src/x", Cwd, 0),
            ("../x/y", Cwd, 1),
            ("C:\\Users\\a", Root, 0),
        ] {
            let (at, up, _) = globs(text, List::Deny);
            assert_eq!((at, up), (anchor, above), "{text}");
        }
    }

    #[test]
    fn a_name_alone_is_meant_at_any_depth() {
        assert_eq!(globs(".env", List::Allow).2, ["**/.env/**", "**/.env"]);
        assert_eq!(globs("./.env", List::Allow).2, [".env/**", ".env"]);
        assert_eq!(globs("/.env", List::Deny).2, [".env/**", ".env"]);
    }

    #[test]
    fn a_folder_is_meant_at_any_depth_by_what_denies_and_asks() {
        assert_eq!(globs("src/**", List::Allow).2, ["src/**"]);
        assert_eq!(globs("src/**", List::Deny).2, ["**/src", "**/src/**"]);
        assert_eq!(globs("/src/**", List::Deny).2, ["src", "src/**"]);
        assert_eq!(globs("a/src/**", List::Deny).2, ["a/src", "a/src/**"]);
    }

    #[test]
    fn braces_are_plain_but_widen_what_denies() {
        assert_eq!(globs("a/{b}", List::Allow).2, ["a/[{]b[}]/**", "a/[{]b[}]"]);
        assert_eq!(globs("a/{b,c}", List::Deny).2.len(), 4);
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        for text in ["[", "!x", "*/../x", "a["] {
            assert!(PathPattern::parse(text, List::Deny).is_err(), "{text}");
        }
    }
}
