//! What searches must not show: the files that a rule denies reading.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Says of a file whether it must not be shown. Nothing is unseen unless somebody says so.
///
/// Where rules stand is for the one who makes it; tools that find files by themselves ask it about
/// each before they show a name or a line of it (Claude Code docs 2.1.240: a Read deny rule also
/// hides files from the results of Glob and Grep).
#[derive(Clone, Default)]
pub struct Unseen(Option<Arc<Rule>>);

type Rule = dyn Fn(&Path) -> bool + Send + Sync;

impl Unseen {
    /// Hides the files that a rule is true of. It is asked with absolute paths, from many threads,
    /// for every file of a search: it should take no more than a microsecond and touch no disk.
    pub fn by(rule: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(rule)))
    }

    /// Whether anything is hidden at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether the file at an absolute path must not be shown.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        self.0.as_ref().is_some_and(|it| it(path))
    }
}

/// The same rule, not one that says the same.
impl PartialEq for Unseen {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Unseen {}

impl fmt::Debug for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Unseen(nothing)" } else { "Unseen(by a rule)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_unseen_unless_a_rule_says_so() {
        assert!(!Unseen::default().covers(Path::new("/a/.env")));
        let unseen = Unseen::by(|it| it.ends_with(".env"));
        assert!(unseen.covers(Path::new("/a/.env")) && !unseen.covers(Path::new("/a/b")));
    }

    #[test]
    fn a_rule_is_the_same_as_itself_alone() {
        let unseen = Unseen::by(|_| true);
        assert_eq!(unseen, unseen.clone());
        assert_ne!(unseen, Unseen::by(|_| true));
        assert_ne!(unseen, Unseen::default());
    }
}
