//! The result store: keeps what is too long for the model in a file, and shows a preview.
//!
//! The conversation: the hook stage sends [`StoreMsg::Keep`]; the scheduler is answered through
//! what the job owes.

mod core;
mod file;
mod media;
mod name;
mod room;
mod shell;

use crate::papers::AfterJob;

pub(crate) use core::unkept;
pub(crate) use file::Folder;
pub(crate) use room::Room;
pub(crate) use shell::{Store, StoreArgs};

/// What the store can be told.
pub(crate) enum StoreMsg {
    /// From the hook stage: make this result safe.
    Keep(Box<AfterJob>),
}
