//! Compiled path rules, by what their patterns start at.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use globset::{Candidate, GlobSet, GlobSetBuilder};

use crate::guarded::folded;
use crate::path_pattern::{self, Anchor, PathPattern};
use crate::place::{Links, Places, Root, Touched};
use crate::rule::List;
use crate::rule_set::{Entry, RuleIx};

/// The path rules of one list and one family.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathIndex {
    groups: BTreeMap<Start, Group>,
}

/// What a group's patterns start at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Start {
    anchor: Anchor,
    above: usize,
    /// Of the settings, for patterns that start there.
    settings: Option<PathBuf>,
}

#[derive(Clone, Debug, Default)]
struct Group {
    globs: Vec<(String, RuleIx, List)>,
    /// Nothing if it could not be made: then each path fits what denies and asks.
    set: Option<GlobSet>,
    /// What its patterns start at, where that doesn't depend on the session.
    fixed: Option<Root>,
}

impl PathIndex {
    pub(crate) fn add(&mut self, pattern: PathPattern, rule: RuleIx, entry: &Entry) {
        let PathPattern { anchor, above, globs } = pattern;
        let settings = (anchor == Anchor::Settings).then(|| entry.source.root.clone());
        let group = self.groups.entry(Start { anchor, above, settings }).or_default();
        group.globs.extend(globs.into_iter().map(|it| (it, rule, entry.list)));
    }

    pub(crate) fn build(&mut self, links: &dyn Links) {
        for (start, group) in &mut self.groups {
            let globs =
                group.globs.iter().map(|(glob, _, list)| path_pattern::compile(glob, *list));
            group.set = globs
                .collect::<Result<Vec<_>, _>>()
                .and_then(|globs| {
                    let mut set = GlobSetBuilder::new();
                    for glob in globs {
                        set.add(glob);
                    }
                    set.build()
                })
                .ok();
            let fixed = match start.anchor {
                Anchor::Root => Some(Path::new("/")),
                Anchor::Settings => start.settings.as_deref(),
                Anchor::Home | Anchor::Cwd => None,
            };
            group.fixed = fixed.map(|it| Root::new(it, links));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The rule about a file: for an allow, about its path and where that leads; else about either.
    pub(crate) fn find(&self, list: List, it: &Touched, places: &Places) -> Option<RuleIx> {
        if self.is_empty() {
            return None;
        }
        if list == List::Allow {
            let first = self.find_path(&it.path, places, false)?;
            if it.real == it.path {
                return Some(first);
            }
            return self.find_path(&it.real, places, false).map(|_| first);
        }
        let given = self.find_path(&it.path, places, true);
        let real =
            || (it.real != it.path).then(|| self.find_path(&it.real, places, true)).flatten();
        given.or_else(real)
    }

    fn find_path(&self, path: &Path, places: &Places, loose: bool) -> Option<RuleIx> {
        let folded = if loose { fold(path) } else { None };
        let found = self.groups.iter().filter_map(|(start, group)| {
            let root = group.root(start, places)?;
            let exact = root
                .each()
                .find_map(|root| group.first(path.strip_prefix(above(root, start.above)).ok()?));
            exact.or_else(|| {
                root.each().filter(|_| loose).find_map(|root| {
                    let root = above(root, start.above);
                    let folded_root = fold(root);
                    if folded.is_none() && folded_root.is_none() {
                        return None;
                    }
                    let path = folded.as_deref().unwrap_or(path);
                    let root = folded_root.as_deref().unwrap_or(root);
                    group.first(path.strip_prefix(root).ok()?)
                })
            })
        });
        found.min()
    }

    /// Some rule.
    pub(crate) fn any(&self) -> Option<RuleIx> {
        self.groups.values().flat_map(|it| &it.globs).map(|it| it.1).min()
    }

    /// A rule that may be about something below a directory whose name may be the last of its
    /// pattern.
    pub(crate) fn below(
        &self,
        directory: &Path,
        places: &Places,
        may_be: &dyn Fn(&str) -> bool,
    ) -> Option<RuleIx> {
        let found = self.groups.iter().filter_map(|(start, group)| {
            let root = group.root(start, places)?;
            root.each().find_map(|it| group.below(above(it, start.above), directory, may_be))
        });
        found.min()
    }
}

impl Group {
    fn root<'a>(&'a self, start: &Start, places: &'a Places) -> Option<&'a Root> {
        match start.anchor {
            Anchor::Root | Anchor::Settings => self.fixed.as_ref(),
            Anchor::Home => places.home_root(),
            Anchor::Cwd => Some(places.cwd_root()),
        }
    }

    fn first(&self, path: &Path) -> Option<RuleIx> {
        let Some(set) = &self.set else {
            return self.globs.first().filter(|it| it.2 != List::Allow).map(|it| it.1);
        };
        let path = Candidate::new(path);
        if !set.is_match_candidate(&path) {
            return None;
        }
        let found = set.matches_candidate(&path);
        found.into_iter().filter_map(|at| self.globs.get(at)).map(|it| it.1).min()
    }

    /// By the part of a pattern before its first wildcard: where that is above or below the
    /// directory, something in the directory may fit.
    fn below(
        &self,
        root: &Path,
        directory: &Path,
        may_be: &dyn Fn(&str) -> bool,
    ) -> Option<RuleIx> {
        let reaches = |glob: &str| {
            let literal: PathBuf =
                glob.split('/').take_while(|it| !it.contains(['*', '?', '[', '{', '\\'])).collect();
            let start = root.join(literal);
            start.starts_with(directory) || (glob.contains('*') && directory.starts_with(&start))
        };
        let named = |glob: &str| {
            let mut names = glob.rsplit('/').filter(|it| *it != "**");
            names.next().is_none_or(may_be)
        };
        self.globs.iter().filter(|it| named(&it.0) && reaches(&it.0)).map(|it| it.1).min()
    }
}

/// The folder so many levels up; the root's is the root.
fn above(path: &Path, levels: usize) -> &Path {
    path.ancestors().nth(levels).unwrap_or(Path::new("/"))
}

/// The path as the most lenient file system compares it; nothing if that is how it is written.
fn fold(path: &Path) -> Option<PathBuf> {
    let text = path.as_os_str().as_encoded_bytes();
    let is_odd = |it: &u8| it.is_ascii_uppercase() || !it.is_ascii() || *it == b':';
    let ends_odd = text.windows(2).any(|it| it[1] == b'/' && matches!(it[0], b'.' | b' '))
        || text.last().is_some_and(|it| matches!(it, b'.' | b' '));
    if !text.iter().any(is_odd) && !ends_odd {
        return None;
    }
    let folded = path.components().map(|it| match it {
        Component::Normal(name) => PathBuf::from(folded(&name.to_string_lossy())),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            PathBuf::from(it.as_os_str())
        }
    });
    Some(folded.collect())
}
