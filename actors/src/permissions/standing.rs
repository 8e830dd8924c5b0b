//! What survives the permission stage: its policy, its listener, and the numbers it has given.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use toolwright_contract::RequestId;
use toolwright_permissions::{Entry, List, Mode, RuleSet, Scope, Source, Trust};

use super::{Policy, Question, RealLinks};

/// See the module.
#[derive(Clone)]
pub(crate) struct Standing(Arc<Shared>);

struct Shared {
    board: Mutex<Board>,
    /// Held from the look at the policy to its change: two changes may come at once, and neither
    /// may be lost. What takes time happens under it, never under the board.
    changing: Mutex<()>,
    /// The directory that the session began in.
    root: PathBuf,
}

struct Board {
    policy: Arc<Policy>,
    /// What persons have allowed for the session, whatever other rules come.
    allowed: Vec<Entry>,
    /// One more with each change of what decides, directories included.
    edition: u64,
    questions: Option<mpsc::UnboundedSender<Question>>,
    listener: Listener,
    next: u64,
}

/// Which listener it is: each new one has the next number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listener(u64);

impl Standing {
    /// Of a session that begins in a directory.
    pub(crate) fn new(policy: Policy, root: PathBuf) -> Self {
        let board = Board {
            policy: Arc::new(policy),
            allowed: Vec::new(),
            edition: 0,
            questions: None,
            listener: Listener::default(),
            next: 0,
        };
        Self(Arc::new(Shared { board: Mutex::new(board), changing: Mutex::default(), root }))
    }

    /// The directory that the session began in.
    pub(crate) fn root(&self) -> &Path {
        &self.0.root
    }

    /// Another policy; what persons have allowed for the session stays allowed.
    pub(crate) fn set_policy(&self, policy: Policy) {
        self.change(|_, allowed| with(policy, allowed));
    }

    pub(crate) fn set_mode(&self, mode: Mode) {
        self.change(|policy, _| Policy { mode, ..policy.clone() });
    }

    /// Allows what these rules say, for the session.
    pub(crate) fn allow(&self, rules: &[String]) {
        let source = Arc::new(Source::new(Scope::Session, self.root()));
        let entries = rules.iter().map(|text| Entry {
            list: List::Allow,
            text: text.clone(),
            source: source.clone(),
        });
        self.board().allowed.extend(entries);
        self.change(|policy, allowed| with(policy.clone(), allowed));
    }

    /// Something else than the policy has changed that decisions depend on.
    pub(crate) fn has_changed(&self) {
        self.board().edition += 1;
    }

    fn change(&self, change: impl FnOnce(&Policy, &[Entry]) -> Policy) {
        let changing = self.0.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let (policy, allowed) = {
            let board = self.board();
            (board.policy.clone(), board.allowed.clone())
        };
        let policy = change(&policy, &allowed);
        let mut board = self.board();
        board.policy = Arc::new(policy);
        board.edition += 1;
        drop(board);
        drop(changing);
    }

    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.board().policy.clone()
    }

    /// The policy, and the edition that it is of.
    pub(super) fn edition(&self) -> (Arc<Policy>, u64) {
        let board = self.board();
        (board.policy.clone(), board.edition)
    }

    pub(crate) fn listen(&self, questions: mpsc::UnboundedSender<Question>) {
        let mut board = self.board();
        board.questions = Some(questions);
        board.listener.0 += 1;
    }

    pub(super) fn listener(&self) -> Listener {
        self.board().listener
    }

    /// Who has heard it, if anybody has.
    pub(super) fn tell(&self, question: Question) -> Option<Listener> {
        let board = self.board();
        board.questions.as_ref()?.send(question).ok().map(|()| board.listener)
    }

    /// A number that no question of the session has had.
    pub(super) fn next_request(&self) -> RequestId {
        let mut board = self.board();
        let request = RequestId(board.next);
        board.next += 1;
        request
    }

    /// A poisoned lock is taken all the same: every change is one step.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.0.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The policy with more allowed. The entries of a set are those that count, so no trust is asked
/// for again.
fn with(policy: Policy, allowed: &[Entry]) -> Policy {
    if allowed.is_empty() {
        return policy;
    }
    let entries = policy.rules.entries().chain(allowed).cloned();
    let (mut rules, warnings) = RuleSet::compile(entries, Trust::Trusted, &RealLinks);
    for warning in warnings.iter().filter(|it| allowed.contains(&it.entry)) {
        tracing::warn!("{warning}");
    }
    rules.fences = policy.rules.fences;
    Policy { rules: Arc::new(rules), ..policy }
}
