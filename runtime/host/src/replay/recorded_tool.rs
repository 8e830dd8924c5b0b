//! A tool under a recorded name: takes its recorded time and answers what was recorded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use toolwright_contract::{Card, Content, Output, RunCx, Safety, Tool, ToolError, ToolUseId};

use super::{catalogue, cpu};

/// What one call does.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// For how long.
    pub(super) takes: Duration,
    /// How many other tasks it lets go first at its end: the order of calls that end at once.
    pub(super) yields: u32,
    /// What it says then.
    pub(super) says: Content,
    /// Whether that is an error.
    pub(super) is_error: bool,
    /// Whether the error takes its siblings along, where only declared failures do.
    pub(super) cascades: bool,
}

/// The parts of the turn that is being played, by call.
#[derive(Debug, Default)]
pub(super) struct Playbook {
    parts: Mutex<HashMap<ToolUseId, Part>>,
    /// Processor time in the bodies of the tools, in nanoseconds.
    in_bodies: AtomicU64,
}

impl Playbook {
    /// Replaces the parts.
    pub(super) fn lay_open(&self, parts: HashMap<ToolUseId, Part>) {
        *self.parts() = parts;
    }

    /// Processor time that the tools themselves have taken.
    pub(super) fn time_in_bodies(&self) -> Duration {
        Duration::from_nanos(self.in_bodies.load(Ordering::Relaxed))
    }

    /// A poisoned lock is taken all the same: a map of parts is good in every state.
    fn parts(&self) -> MutexGuard<'_, HashMap<ToolUseId, Part>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a piece of a tool's work without a break, on the tool's account.
    fn body<T>(&self, work: impl FnOnce() -> T) -> T {
        let began = cpu::of_thread();
        let done = work();
        let spent = cpu::of_thread().saturating_sub(began).as_nanos();
        self.in_bodies.fetch_add(u64::try_from(spent).unwrap_or(u64::MAX), Ordering::Relaxed);
        done
    }
}

/// See the module.
pub(super) struct RecordedTool {
    pub(super) name: String,
    pub(super) playbook: Arc<Playbook>,
}

impl Tool for RecordedTool {
    type Input = Value;
    type Output = Content;

    fn card(&self) -> Card {
        catalogue::card_of(&self.name)
    }

    fn safety(&self, input: &Value) -> Safety {
        catalogue::safety_of(&self.name, input)
    }

    async fn run(&self, _: Value, cx: RunCx) -> Result<Output<Content>, ToolError> {
        let part = self.playbook.body(|| self.playbook.parts().remove(&cx.id));
        let Some(part) = part else {
            return Err(ToolError::failed("the script has no part for this call"));
        };
        if !part.takes.is_zero() {
            cx.stop.or(tokio::time::sleep(part.takes)).await?;
        }
        for _ in 0..part.yields {
            tokio::task::yield_now().await;
        }
        self.playbook.body(|| match part.is_error {
            true => Err(ToolError::Failed { message: part.says.text(), cascades: part.cascades }),
            false => Ok(part.says.into()),
        })
    }
}
