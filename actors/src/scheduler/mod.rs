//! The scheduler of one turn: takes calls in the order of their messages and carries orders out.
//!
//! The conversation: the turn's handle sends [`SchedulerMsg::Submit`] and [`SchedulerMsg::Seal`];
//! everything that is owed comes through the [`Inbox`], which sends one
//! [`SchedulerMsg::Wake`] for any number of news. Nobody waits for an answer of the scheduler:
//! results go to the turn's ledger.

mod core;
mod jobs;
mod orders;
mod shell;
mod slip;
mod worker;

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use toolwright_contract::{CallIx, Registry, ToolUse};
use toolwright_kernel::{Admission, Policy};

use crate::inbox::Inbox;
use crate::ledger::Ledger;
use crate::session::{House, Lineage};

pub(crate) use shell::Scheduler;

/// What the scheduler can be told.
pub(crate) enum SchedulerMsg {
    /// From the turn's handle: a call arrived and has this place in the ledger. The permit is
    /// its room in the mailbox.
    Submit(CallIx, Box<ToolUse>, OwnedSemaphorePermit),
    /// From the turn's handle: no more will.
    Seal,
    /// From the inbox: look into it.
    Wake,
}

/// What a scheduler is started with.
pub(crate) struct SchedulerArgs {
    pub(crate) house: Arc<House>,
    pub(crate) tools: Arc<Registry>,
    pub(crate) lineage: Lineage,
    pub(crate) policy: Policy,
    pub(crate) lanes: Admission,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) ledger: Arc<Ledger>,
    /// Cancelled by the session when this scheduler has died.
    pub(crate) orphaned: CancellationToken,
}
