//! What a tool may use while it checks and runs, and nothing more.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolwright_kernel::StopCause;

use crate::app_state::AppState;
use crate::ids::{Identity, ToolUseId};
use crate::papers::{ToolResult, ToolUse};
use crate::reads::Reads;
use crate::registry::Registry;
use crate::tool::ToolError;
use crate::unseen::Unseen;
use crate::wording;

/// A stop and its reason. Clones share it; it can be told once and not be taken back.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    token: CancellationToken,
    cause: Arc<OnceLock<StopCause>>,
}

impl Stop {
    /// A stop that is also told, without a cause, when `parent` is cancelled.
    #[must_use]
    pub fn child_of(parent: &CancellationToken) -> Self {
        Self { token: parent.child_token(), cause: Arc::default() }
    }

    /// Tells the stop. Only the first cause counts.
    pub fn tell(&self, cause: StopCause) {
        self.cause.get_or_init(|| cause);
        self.token.cancel();
    }

    /// Why, once it has been told.
    #[must_use]
    pub fn cause(&self) -> Option<StopCause> {
        self.cause.get().copied()
    }

    /// Whether it has been told.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Ends when the stop is told. Safe to drop and to call again.
    pub async fn told(&self) {
        self.token.cancelled().await;
    }

    /// Runs `work` unless the stop comes first; `work` is then dropped.
    ///
    /// # Errors
    ///
    /// [`ToolError::Stopped`].
    pub async fn or<T>(&self, work: impl Future<Output = T>) -> Result<T, ToolError> {
        tokio::select! {
            biased;
            () = self.told() => Err(ToolError::Stopped),
            done = work => Ok(done),
        }
    }
}

/// What the session's calls share: a tool sees a view and changes it through [`ContextChange`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionContext {
    /// The working directory of the session. Empty: there is none, and tools that need one refuse.
    pub cwd: PathBuf,
    /// The directories that the session works in, with all below them. Empty: `cwd` alone.
    pub directories: Vec<PathBuf>,
    /// The files that searches must not show.
    pub unseen: Unseen,
    /// Values that tools keep for later calls, by a name of their own.
    pub values: BTreeMap<String, Value>,
}

impl SessionContext {
    /// The directories that the session works in, with all below them.
    #[must_use]
    pub fn allowed_directories(&self) -> &[PathBuf] {
        if self.directories.is_empty() && self.cwd.is_absolute() {
            std::slice::from_ref(&self.cwd)
        } else {
            &self.directories
        }
    }

    /// The context in another working directory; what was allowed stays allowed, and no more.
    #[must_use]
    pub fn moved_to(mut self, cwd: &Path) -> Self {
        self.directories = self.allowed_directories().to_vec();
        cwd.clone_into(&mut self.cwd);
        self
    }
}

/// A change of the session's context, applied after its call, in the order of the calls.
pub struct ContextChange(Change);

type Change = Box<dyn FnOnce(SessionContext) -> Result<SessionContext, String> + Send>;

impl ContextChange {
    /// A change from a function. If it fails or panics, the context stays as it was and the
    /// failure is reported; the call's result stands.
    pub fn new(
        change: impl FnOnce(SessionContext) -> Result<SessionContext, String> + Send + 'static,
    ) -> Self {
        Self(Box::new(change))
    }

    /// Applies it.
    ///
    /// # Errors
    ///
    /// What the function says.
    pub fn apply(self, context: SessionContext) -> Result<SessionContext, String> {
        (self.0)(context)
    }
}

impl fmt::Debug for ContextChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ContextChange")
    }
}

/// What a check before the start may look at. The default is that of no session.
#[derive(Clone, Debug, Default)]
pub struct CheckCx {
    /// The session's context now.
    pub session: Arc<SessionContext>,
    /// What the session has read of files.
    pub reads: Arc<Reads>,
    /// What the program around the session shares.
    pub state: AppState,
    /// Told when the call is stopped.
    pub stop: Stop,
}

/// Runs calls on behalf of a call: the only way from a tool back into the runtime.
pub trait Nest: Send + Sync {
    /// Runs `calls` as a turn of their own and gives their results, in order. The calling tool
    /// gives its width back meanwhile; stopping it stops them.
    fn nest(&self, calls: Vec<ToolUse>) -> Pin<Box<dyn Future<Output = Vec<ToolResult>> + Send>>;
    /// Shows what the call is doing. Never blocks; may be dropped when nobody keeps up.
    fn progress(&self, text: String);
    /// Tells the person at the session something that the result doesn't say, and that outlasts the
    /// call; the model doesn't read it. Never blocks; may be dropped when nobody keeps up.
    fn notify(&self, text: String);
}

/// What a running tool may use: a view, none of which changes the session but the
/// [change](crate::Output::changing) that comes with the output.
#[derive(Clone)]
pub struct RunCx {
    /// The id of this call.
    pub id: ToolUseId,
    /// The session and the agent whose call it is.
    pub identity: Identity,
    /// Told when the tool must stop, with the reason.
    pub stop: Stop,
    /// The session's context as it was when the call started.
    pub session: Arc<SessionContext>,
    /// What the session has read of files.
    pub reads: Arc<Reads>,
    /// What the program around the session shares.
    pub state: AppState,
    /// The tools of this turn, whatever is on offer by now.
    pub tools: Arc<Registry>,
    /// How long the call may run, from its start, before it is told to stop; no end if absent.
    /// While a person is asked about a nested call, no time passes.
    pub deadline: Option<Duration>,
    /// The way back into the runtime.
    pub nest: Arc<dyn Nest>,
}

impl RunCx {
    /// A context outside any session, for the tests of a tool: nothing is shared, nothing is read,
    /// and nested calls are answered with an error.
    pub fn detached(id: impl Into<ToolUseId>) -> Self {
        Self {
            id: id.into(),
            identity: Identity::default(),
            stop: Stop::default(),
            session: Arc::default(),
            reads: Arc::default(),
            state: AppState::default(),
            tools: Arc::default(),
            deadline: None,
            nest: Arc::new(Nowhere),
        }
    }

    /// Runs calls as a turn of their own; see [`Nest::nest`].
    pub async fn run_nested(&self, calls: Vec<ToolUse>) -> Vec<ToolResult> {
        self.nest.nest(calls).await
    }

    /// Shows what the call is doing; see [`Nest::progress`].
    pub fn progress(&self, text: impl Into<String>) {
        self.nest.progress(text.into());
    }

    /// Tells the person at the session something; see [`Nest::notify`].
    pub fn notify(&self, text: impl Into<String>) {
        self.nest.notify(text.into());
    }
}

struct Nowhere;

impl Nest for Nowhere {
    fn nest(&self, calls: Vec<ToolUse>) -> Pin<Box<dyn Future<Output = Vec<ToolResult>> + Send>> {
        let answer = |it: ToolUse| ToolResult {
            content: wording::unknown_tool(&it.name).into(),
            id: it.id,
            is_error: true,
        };
        Box::pin(std::future::ready(calls.into_iter().map(answer).collect()))
    }
    fn progress(&self, _: String) {}
    fn notify(&self, _: String) {}
}

impl fmt::Debug for RunCx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunCx").field("id", &self.id).field("stop", &self.stop).finish()
    }
}
