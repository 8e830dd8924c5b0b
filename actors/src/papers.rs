//! The jobs that stages hand on: a paper with all that it needs on its way, owed answer included.

use std::sync::Arc;

use serde_json::Value;
use toolwright_contract::{
    AnyTool, CheckCx, InvalidInput, OutcomeKind, Refusal, Screened, TurnId, wording,
};

use crate::hooks::Wish;
use crate::inbox::Share;
use crate::limits::VALIDATE;
use crate::owed::{Gate, Keep, Owed};
use crate::permissions::{Consent, Found};

/// A call on its way through the gate: its own check, hooks, permission.
pub(crate) struct GateJob {
    pub(crate) turn: TurnId,
    pub(crate) screened: Box<Screened>,
    pub(crate) check: CheckCx,
    pub(crate) wish: Wish,
    /// What the permission stage has found out about the input.
    pub(crate) found: Option<Box<Found>>,
    /// The yes of a person, for the input that it was given to.
    pub(crate) consent: Option<Consent>,
    pub(crate) notes: Vec<String>,
    /// The call's share of the caps; given back while a person is asked.
    pub(crate) share: Share,
    pub(crate) owed: Owed<Gate>,
}

impl GateJob {
    /// Takes another input, which is checked like the model's own.
    pub(crate) async fn change_input(&mut self, input: Value) -> Result<(), (Refusal, String)> {
        let invalid = |InvalidInput(it)| (Refusal::InvalidInput, wording::tool_use_error(&it));
        self.screened.change_input(input).map_err(invalid)?;
        (self.found, self.consent) = (None, None);
        check(&self.screened, &self.check).await
    }
}

/// Lets the tool look at the world before its call may start, for a bounded time.
pub(crate) async fn check(screened: &Screened, cx: &CheckCx) -> Result<(), (Refusal, String)> {
    match tokio::time::timeout(VALIDATE, screened.validate(cx)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(InvalidInput(text))) => Err((Refusal::InvalidInput, wording::tool_use_error(&text))),
        Err(_) => Err((Refusal::StageFailed, wording::check_took_too_long(VALIDATE))),
    }
}

/// A call on its way out: hooks after it, then the store.
pub(crate) struct AfterJob {
    pub(crate) tool: AnyTool,
    /// The input it ran with; null where no hook wants to see it.
    pub(crate) input: Value,
    /// What programs read of the outcome, if the tool gave it.
    pub(crate) structured: Option<Arc<Value>>,
    /// What the tool's server says of it.
    pub(crate) meta: Option<Arc<Value>>,
    pub(crate) kind: OutcomeKind,
    /// The result, and the duty to keep it.
    pub(crate) owed: Owed<Keep>,
}
