//! Conduct: what one input means to people and rules, beyond what admission has to know.

use std::path::PathBuf;

/// What running with one input amounts to. The default claims nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conduct {
    /// It can't be taken back: deletes, overwrites, sends.
    pub destructive: bool,
    /// It reaches beyond this machine and its user, as a web search does.
    pub open_world: bool,
    /// It needs a person at the other end, whatever rules say.
    pub needs_user: bool,
    /// How it is folded in a display.
    pub look: Look,
    /// The files and folders that it touches, as far as the input tells.
    pub paths: Vec<PathBuf>,
    /// What a classifier should judge; nothing means that there is nothing to judge.
    pub for_classifier: Option<String>,
}

/// What a tool itself says of whether a call may start; see [`Tool::check_permissions`].
///
/// [`Tool::check_permissions`]: crate::Tool::check_permissions
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Permission {
    /// Nothing: rules and the mode decide.
    #[default]
    Unsaid,
    /// It need not be asked about. Rules, hooks and [`Conduct::needs_user`] may ask all the same.
    Allow,
    /// A person should be asked, for this reason, whatever allows it.
    Ask(String),
    /// It must not start; the text is for the model.
    Deny(String),
}

/// Whether a call only looks, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Look {
    /// It does more than look.
    #[default]
    None,
    /// It searches.
    Search,
    /// It reads.
    Read,
    /// It lists.
    List,
}
