//! Permissions: whether a call may start, by rules and, where they say so, by asking a person.
//!
//! The conversation: the hook stage sends [`PermissionsMsg::Decide`]; the embedder attaches a
//! listener for questions and sends answers, in any order; the scheduler withdraws the question
//! of a call that is stopped. The call's answer goes to the scheduler through what the job owes.

mod core;
mod shell;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::mpsc;
use toolwright_contract::{CallIx, Conduct, RequestId, ToolUseId, TurnId};

use crate::inbox::Inbox;
use crate::papers::GateJob;

pub use core::{Names, Otherwise, Rules};
pub(crate) use shell::{Permissions, PermissionsArgs};

/// What the permission stage can be told.
pub(crate) enum PermissionsMsg {
    /// From the hook stage: may this call start?
    Decide(Box<GateJob>),
    /// From the embedder: the answer to a question. One that isn't open is ignored.
    Answer(RequestId, Answer),
    /// From the scheduler: the call is stopped.
    Withdraw(Arc<Inbox>, CallIx),
    /// From the session: a listener stands in [`Standing`] who hasn't heard the open questions.
    Attached,
    /// From the session: the rules in [`Standing`] have changed, for open questions too.
    RulesChanged,
}

/// What survives the stage: its rules, its listener, and the numbers it has given.
#[derive(Clone, Default)]
pub(crate) struct Standing(Arc<Mutex<Board>>);

#[derive(Default)]
struct Board {
    rules: Rules,
    questions: Option<mpsc::UnboundedSender<Question>>,
    listener: Listener,
    next: u64,
}

/// Which listener it is: each new one has the next number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listener(u64);

impl Standing {
    pub(crate) fn new(rules: Rules) -> Self {
        Self(Arc::new(Mutex::new(Board { rules, ..Board::default() })))
    }

    pub(crate) fn set_rules(&self, rules: Rules) {
        self.board().rules = rules;
    }

    pub(crate) fn listen(&self, questions: mpsc::UnboundedSender<Question>) {
        let mut board = self.board();
        board.questions = Some(questions);
        board.listener.0 += 1;
    }

    fn rules(&self) -> Rules {
        self.board().rules.clone()
    }

    fn listener(&self) -> Listener {
        self.board().listener
    }

    /// Who has heard it, if anybody has.
    fn tell(&self, question: Question) -> Option<Listener> {
        let board = self.board();
        board.questions.as_ref()?.send(question).ok().map(|()| board.listener)
    }

    /// A number that no question of the session has had.
    fn next_request(&self) -> RequestId {
        let mut board = self.board();
        let request = RequestId(board.next);
        board.next += 1;
        request
    }

    /// A poisoned lock is taken all the same: every change is one step.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a listener for questions hears.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// A person should decide.
    Asked(Ask),
    /// The call was stopped, or other rules have decided: an answer would be ignored.
    Withdrawn(RequestId),
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The number that the answer must carry.
    pub request: RequestId,
    /// The turn of the call.
    pub turn: TurnId,
    /// The id of the call.
    pub id: ToolUseId,
    /// The tool.
    pub tool: String,
    /// The exact input that an allow is for.
    pub input: Value,
    /// What the call does, as its tool says it.
    pub description: String,
    /// What it amounts to: for a display of the risk, or for a classifier that answers.
    pub conduct: Conduct,
    /// Why it is asked.
    pub message: String,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Start the call as it was asked.
    Allow,
    /// Start it with another input, which is checked like the model's own.
    AllowWith(Value),
    /// Don't start it; the text is for the model.
    Deny(String),
}
