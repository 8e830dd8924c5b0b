//! What may start in a live replay: what works in the copy, by its path and by where it leads.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright_actors::{BeforeAnswer, BeforeCall, Hook, HookDecision, Matcher, Session};

use crate::replay::catalogue;

/// The fields of an input that name what a call works on.
const PATHS: [&str; 3] = ["file_path", "notebook_path", "path"];

/// See the module.
pub(super) struct Confinement {
    root: PathBuf,
    /// Tools that are answered from the recording.
    recorded: BTreeSet<String>,
    /// Whose working directory counts, while it runs.
    session: Mutex<Option<Session>>,
}

impl Confinement {
    /// `root` is a real path.
    pub(super) fn new(root: PathBuf, recorded: BTreeSet<String>) -> Self {
        Self { root, recorded, session: Mutex::default() }
    }

    /// The session keeps the hook, and the hook the session, until the latter is taken back.
    pub(super) fn watch(&self, session: Option<Session>) {
        *self.session() = session;
    }

    pub(super) fn hook(self: &Arc<Self>) -> Hook {
        let it = self.clone();
        Hook::before("confinement", Matcher::All, move |call| {
            std::future::ready(BeforeAnswer { decision: it.decide(&call), ..Default::default() })
        })
    }

    /// Nothing where rules decide: a call without a path may only read.
    fn decide(&self, call: &BeforeCall) -> Option<HookDecision> {
        if self.recorded.contains(&call.tool) {
            return None;
        }
        let paths: Vec<_> = PATHS.iter().filter_map(|it| call.input.get(it)).collect();
        let strayed = paths.iter().find(|it| !it.as_str().is_some_and(|it| self.holds(it)));
        if let Some(path) = strayed {
            let path = path.as_str().map_or_else(|| path.to_string(), str::to_owned);
            return Some(deny(&format!("{path} is not a path in it")));
        }
        if catalogue::is_shell(&call.tool) {
            return Some(match self.works_inside() {
                true => HookDecision::Allow,
                false => deny("the working directory is not in it"),
            });
        }
        (!paths.is_empty()).then_some(HookDecision::Allow)
    }

    fn works_inside(&self) -> bool {
        self.holds("")
    }

    /// Whether a path, from the working directory on, is in the copy as it is written, and where
    /// it leads.
    fn holds(&self, path: &str) -> bool {
        let cwd = self.session().as_ref().map(|it| it.context().cwd.clone());
        let path = cwd.unwrap_or_default().join(path);
        lexically(&path).is_some_and(|it| it.starts_with(&self.root)) && self.leads_inside(&path)
    }

    /// Of what doesn't exist, the nearest parent that does counts; a link that leads nowhere does
    /// exist, and might lead anywhere.
    fn leads_inside(&self, path: &Path) -> bool {
        let there = path.ancestors().find(|it| fs::symlink_metadata(it).is_ok());
        let real = there.and_then(|it| it.canonicalize().ok());
        real.is_some_and(|it| it.starts_with(&self.root))
    }

    /// A poisoned lock is taken all the same: it is set in one step.
    fn session(&self) -> MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn deny(why: &str) -> HookDecision {
    HookDecision::Deny(format!("This replay runs in a copy of the tree alone, and {why}."))
}

/// An absolute path without `.` and `..`.
fn lexically(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => plain.push(part),
        }
    }
    path.is_absolute().then_some(plain)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_is_inside_by_its_name_and_by_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("copy");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::create_dir_all(base.join("copy-2")).unwrap();
        fs::write(base.join("secret"), "x").unwrap();
        symlink(&base, root.join("out")).unwrap();
        symlink("sub", root.join("in")).unwrap();
        symlink(base.join("nothing"), root.join("dangling")).unwrap();
        let confinement = Confinement::new(root.clone(), BTreeSet::new());
        let decide = |path: &str| {
            let input = json!({"file_path": path});
            let call = BeforeCall { id: "a".into(), tool: "Write".into(), input };
            confinement.decide(&call) == Some(HookDecision::Allow)
        };
        let at = |below: &str| format!("{}/{below}", root.display());
        for inside in ["a", "sub/b", "new/folder/c", "in/d", "sub/../e", "./f", "nope/../g"] {
            assert!(decide(&at(inside)), "{inside}");
        }
        for outside in
            ["out/secret", "out/new", "dangling", "dangling/x", "../copy-2/x", "in/../../secret"]
        {
            assert!(!decide(&at(outside)), "{outside}");
        }
        for outside in ["", "a", "/", "/etc/passwd", "../x"] {
            assert!(!decide(outside), "{outside}");
        }
    }

    #[test]
    fn a_command_without_a_session_in_the_copy_and_a_path_that_is_no_text_are_refused() {
        let confinement = Confinement::new("/copy".into(), ["Web".to_owned()].into());
        let decide = |tool: &str, input| {
            confinement.decide(&BeforeCall { id: "a".into(), tool: tool.into(), input })
        };
        let denied = |it| matches!(it, Some(HookDecision::Deny(_)));
        assert!(denied(decide("Bash", json!({"command": "ls"}))));
        assert!(denied(decide("Read", json!({"file_path": ["/copy/a"]}))));
        assert_eq!(decide("Other", json!({})), None);
        assert_eq!(decide("Web", json!({"path": "/etc"})), None);
    }
}
