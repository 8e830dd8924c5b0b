//! The jobs that stages hand on: a paper with all that it needs on its way, owed answer included.

use std::borrow::Cow;

use serde_json::Value;
use toolwright_contract::{CheckCx, OutcomeKind, Screened, TurnId};

use crate::hooks::Wish;
use crate::inbox::Share;
use crate::owed::{Gate, Keep, Owed};

/// A call on its way through the gate: its own check, hooks, permission.
pub(crate) struct GateJob {
    pub(crate) turn: TurnId,
    pub(crate) screened: Box<Screened>,
    pub(crate) check: CheckCx,
    pub(crate) wish: Wish,
    pub(crate) notes: Vec<String>,
    /// The call's share of the session-wide cap; given back while a person is asked.
    pub(crate) share: Share,
    pub(crate) owed: Owed<Gate>,
}

/// A call on its way out: hooks after it, then the store.
pub(crate) struct AfterJob {
    pub(crate) tool: Cow<'static, str>,
    /// The input it ran with; null where no hook wants to see it.
    pub(crate) input: Value,
    pub(crate) kind: OutcomeKind,
    /// The result, and the duty to keep it.
    pub(crate) owed: Owed<Keep>,
}
