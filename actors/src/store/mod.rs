//! The result store: keeps what is too long for the model in a file, and shows a preview.
//!
//! The conversation: the hook stage sends [`StoreMsg::Keep`]; the scheduler is answered through
//! what the job owes.

mod core;
mod shell;

use crate::papers::AfterJob;

pub(crate) use core::cut;
pub(crate) use shell::{Store, StoreArgs};

/// What the store can be told.
pub(crate) enum StoreMsg {
    /// From the hook stage: make this result safe.
    Keep(Box<AfterJob>),
}
