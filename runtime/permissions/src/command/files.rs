//! The files of a command, as far as their paths can be told before the shell has expanded them.

use std::path::{Path, PathBuf};

use toolwright_shell_analysis::{Base, PathUse};

use crate::place::{Links, Places, Touched};

/// A file that a part of a command uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// The path as the command says it.
    pub(crate) text: String,
    pub(crate) place: Place,
    pub(crate) is_written: bool,
    pub(crate) is_redirected: bool,
    /// Whether the shell expands something in it.
    pub(crate) is_dynamic: bool,
}

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Known(Touched),
    /// Files below this directory, whose names from there on fit these patterns.
    Among(Touched, Vec<String>),
    Unknown,
}

impl File {
    pub(crate) fn of(it: &PathUse, places: &Places, links: &dyn Links) -> Self {
        let directory = match &it.base {
            Base::Session => Some(places.cwd().to_owned()),
            Base::Moved(to) => Some(places.cwd().join(to)),
            Base::Unknown => None,
        };
        let place = place(&it.path, it.dynamic, directory.as_deref(), places, links);
        let place = match place {
            Place::Known(file) if it.written => Place::Known(file.written(links)),
            place @ (Place::Known(_) | Place::Among(..) | Place::Unknown) => place,
        };
        Self {
            text: it.path.clone(),
            place,
            is_written: it.written,
            is_redirected: it.redirected,
            is_dynamic: it.dynamic,
        }
    }

    /// Whether it is where what is written vanishes.
    pub(crate) fn is_nowhere(&self) -> bool {
        self.text == "/dev/null" && !self.is_dynamic
    }
}

/// Where a word of a command leads as a path.
pub(crate) fn place(
    text: &str,
    is_dynamic: bool,
    directory: Option<&Path>,
    places: &Places,
    links: &dyn Links,
) -> Place {
    let (text, is_dynamic) = match at_home(text).filter(|_| is_dynamic) {
        Some(rest) => match places.home() {
            Some(home) => (home.join(rest).to_string_lossy().into_owned(), is_special(rest)),
            None => return Place::Unknown,
        },
        None => (text.to_owned(), is_dynamic),
    };
    if directory.is_none() && !text.starts_with('/') {
        return Place::Unknown;
    }
    let directory = directory.unwrap_or(Path::new("/"));
    // A `~` that no shell expands is a name like any other.
    let touched = |text: &str| Touched::new(text, directory, None, links);
    if !is_dynamic {
        return Place::Known(if text.is_empty() {
            Touched::new(&text, directory, None, links)
        } else {
            touched(&directory.join(&text).to_string_lossy())
        });
    }
    if text.contains(['$', '`', '{', '(', '<', '>', '\\', '~']) {
        return Place::Unknown;
    }
    let names: Vec<&str> = text.split('/').collect();
    let Some(first) = names.iter().position(|it| it.contains(['*', '?', '['])) else {
        return Place::Unknown;
    };
    if names[first..].contains(&"..") {
        return Place::Unknown;
    }
    let start: PathBuf =
        if text.starts_with('/') { PathBuf::from("/") } else { directory.to_owned() };
    let start = names[..first].iter().fold(start, |path, name| path.join(name));
    let rest = names[first..].iter().filter(|it| !it.is_empty()).map(|it| (*it).to_owned());
    Place::Among(touched(&start.to_string_lossy()), rest.collect())
}

/// What follows the user's home, in each way that a shell has of writing it.
fn at_home(text: &str) -> Option<&str> {
    let rest = ["~", "$HOME", "${HOME}"].iter().find_map(|it| text.strip_prefix(it))?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

fn is_special(text: &str) -> bool {
    text.contains(['$', '`', '{', '(', '<', '>', '\\', '~', '*', '?', '['])
}

/// Whether a pattern of a shell may stand for a name, or for one that fits the pattern of a rule.
/// A wildcard at the start of a name stands for no dot there.
pub(crate) fn may_stand_for(pattern: &str, name: &str) -> bool {
    let special = |it: char| "*?[{\\".contains(it);
    if name.contains(special) {
        // Two patterns: they exclude each other by how they begin or end, or not at all.
        let start = |it: &str| it.split(special).next().unwrap_or_default().to_lowercase();
        let end = |it: &str| {
            it.rsplit(|it| "*?]}".contains(it)).next().unwrap_or_default().to_lowercase()
        };
        let (a, b, c, d) = (start(pattern), start(name), end(pattern), end(name));
        return (a.starts_with(&b) || b.starts_with(&a)) && (c.ends_with(&d) || d.ends_with(&c));
    }
    if name.starts_with('.') && pattern.starts_with(['*', '?']) {
        return false;
    }
    globset::GlobBuilder::new(pattern)
        .backslash_escape(false)
        .case_insensitive(true)
        .build()
        .map_or(true, |it| it.compile_matcher().is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::NoLinks;

    #[test]
    fn what_a_shell_expands_is_told_as_far_as_it_can_be() {
        let cwd = Path::new("/w/app");
        let places = Places::new(cwd, Some(Path::new("/u/ann")), &NoLinks);
        let of = |text, dynamic| match place(text, dynamic, Some(cwd), &places, &NoLinks) {
            Place::Known(it) => it.path.display().to_string(),
            Place::Among(it, rest) => format!("{} + {}", it.path.display(), rest.join("/")),
            Place::Unknown => "?".to_owned(),
        };
        for (text, dynamic, told) in [
            ("a/../b", false, "/w/app/b"),
            ("~/x", true, "/u/ann/x"),
            ("~/x", false, "/w/app/~/x"),
            ("$HOME/x", true, "/u/ann/x"),
            ("$HOME/*.x", true, "/u/ann + *.x"),
            ("$HOMEx/y", true, "?"),
            ("~bob/x", true, "?"),
            ("src/*.ts", true, "/w/app/src + *.ts"),
            ("*/../../x", true, "?"),
            ("$x", true, "?"),
            ("{a,b}", true, "?"),
        ] {
            assert_eq!(of(text, dynamic), told, "{text}");
        }
        assert_eq!(place("x", false, None, &places, &NoLinks), Place::Unknown);
    }

    #[test]
    fn a_pattern_stands_for_no_dot_at_the_start() {
        assert!(may_stand_for(".env*", ".env"));
        assert!(may_stand_for(".?nv", ".env"));
        assert!(!may_stand_for("*", ".env"));
        assert!(may_stand_for("*", "env"));
        assert!(may_stand_for("[", "x"));
    }
}
