//! Permissions: whether a call may start, by rules and, where they say so, by asking a person.
//!
//! The conversation: the hook stage sends [`PermissionsMsg::Decide`]; the embedder attaches a
//! listener for questions and sends answers, in any order; the scheduler withdraws the question
//! of a call that is stopped. What only the file system knows about a call is found out by a task,
//! which sends the call back. The call's answer goes to the scheduler through what the job owes.

mod core;
mod links;
mod policy;
mod shell;
mod standing;

use std::sync::Arc;

use serde_json::Value;
use toolwright_contract::{CallIx, Conduct, RequestId, ToolUseId, TurnId};
use toolwright_permissions::Suggestion;

use crate::inbox::Inbox;
use crate::papers::GateJob;

pub(crate) use core::{Consent, Found};
pub use links::RealLinks;
pub use policy::{Given, Names, Otherwise, Policy, Rules};
pub(crate) use shell::{Permissions, PermissionsArgs};
pub(crate) use standing::Standing;

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
    /// From the session: what decides has changed in [`Standing`], for open questions too.
    PolicyChanged,
    /// From a task of the stage: what was found out about the call of an open question.
    Found(RequestId, Box<Found>),
}

/// What a listener for questions hears.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// A person should decide.
    Asked(Ask),
    /// The call was stopped, or other rules have decided: an answer would be ignored.
    Withdrawn(RequestId),
    /// What an answer allowed for always could not be kept, for this reason. It counts for the
    /// session.
    NotKept(RequestId, String),
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
    /// What would spare the same question: for [`Answer::AllowFromNow`].
    pub suggestions: Vec<Suggestion>,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Start the call as it was asked.
    Allow,
    /// Start it with another input, which is checked like the model's own. Rules that deny hold
    /// for it.
    AllowWith(Value),
    /// Start the call as it was asked, and what the suggestion says from now on.
    AllowFromNow(Suggestion, Lasting),
    /// Don't start it; the text is for the model.
    Deny(String),
}

/// For how long something is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// Until the session ends.
    Session,
    /// In later sessions too, where the session has a [`RuleKeeper`]. A mode lasts for the session
    /// in any case.
    Always,
}

/// Keeps rules for later sessions.
pub trait RuleKeeper: Send + Sync {
    /// Keeps allow rules. It may block.
    ///
    /// # Errors
    ///
    /// Why they could not be kept, for a person. Nothing is changed then.
    fn keep(&self, allow: &[String]) -> Result<(), String>;
}
