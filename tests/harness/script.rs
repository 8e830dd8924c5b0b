//! What a scripted tool is told to do, and short ways to call it and to read its results.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolwright::TurnResults;
use toolwright_contract::ToolUse;

/// What a call should do. The default takes no time, reads only, and succeeds.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// How long to run, in milliseconds.
    pub ms: u64,
    /// How often to let others run at its end, at the same instant.
    pub yields: u32,
    /// Runs alone.
    pub alone: bool,
    /// May change something.
    pub writes: bool,
    /// Lets a user's interrupt pass by.
    pub block: bool,
    /// Can't do without a person.
    pub person: bool,
    /// Says itself whether it may start: `allow`, or why it should be asked about, or `never`.
    pub permission: Option<String>,
    /// Fails with this text.
    pub fail: Option<String>,
    /// Whether the failure takes siblings along.
    pub cascades: bool,
    /// Panics at its end with this text.
    pub panic: Option<String>,
    /// Panics in this part of the tool: `safety`, `validate`, `start`, `output`.
    pub panic_in: Option<String>,
    /// Pays no heed to a stop.
    pub deaf: bool,
    /// Its check says this.
    pub invalid: Option<String>,
    /// Its check takes so long, in milliseconds.
    pub check_ms: u64,
    /// Succeeds with this text instead of `ran`.
    pub say: Option<String>,
    /// Succeeds with so many characters.
    pub chars: usize,
    /// Puts an image beside its text.
    pub image: bool,
    /// A note that follows all results.
    pub note: Option<String>,
    /// Appends this to the context's value `trail`.
    pub trail: Option<String>,
    /// The change of the context fails (`error`) or panics (`panic`).
    pub bad_change: Option<String>,
    /// Runs these scripts as nested calls first, and says what they came to.
    pub nested: Vec<Value>,
    /// Gives up waiting for its nested calls after so long, in milliseconds, and runs them again.
    pub patience: Option<u64>,
    /// Does not run them again, but goes on without them.
    pub gives_up: bool,
    /// Runs each of the nested calls as a turn of its own, all at once.
    pub split: bool,
    /// Shows this as progress.
    pub progress: Option<String>,
    /// Tells the person this.
    pub notify: Option<String>,
    /// Says what its context tells it, in place of anything else.
    pub tells_context: bool,
    /// Keeps its thread for so long, in milliseconds, without a break.
    pub busy: u64,
    /// Keeps a blocking thread for so long, in milliseconds.
    pub blocking: u64,
}

/// A call of the scripted tool.
#[must_use]
pub fn call(id: &str, script: Value) -> ToolUse {
    call_of("Scripted", id, script)
}

/// A call of a scripted tool of another name.
#[must_use]
pub fn call_of(tool: &str, id: &str, script: Value) -> ToolUse {
    ToolUse::new(id, tool, script)
}

/// The ids of results, in their order.
#[must_use]
pub fn ids(results: &TurnResults) -> Vec<&str> {
    results.results.iter().map(|it| it.id.as_str()).collect()
}

/// The texts of results, in their order.
#[must_use]
pub fn texts(results: &TurnResults) -> Vec<String> {
    results.results.iter().map(|it| it.content.text()).collect()
}

/// Lets each task that is ready now run once: a finer step than `yield_now`, which lets them run
/// until none is ready.
pub async fn step_aside() {
    let mut aside = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut aside, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
