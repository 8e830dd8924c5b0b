//! How a session is set up and started: what it says for itself, and the errors that name a remedy.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolwright_actors::{
    Config, Given, Hook, RuleKeeper, Session, SessionClosed, Shares, StartLog,
};
use toolwright_contract::{
    AnyTool, AppState, Cascade, Identity, Registry, SessionContext, Unregistrable,
};

/// Sets a session of a runtime up; see [`Runtime::session`](crate::Runtime::session). What isn't
/// said is as the runtime says, else the default.
///
/// ```
/// use std::time::Duration;
/// use toolwright::{Rules, Runtime, built_in_tools};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder().tools(built_in_tools()).build()?;
/// let session = runtime
///     .session()
///     .cwd(std::env::current_dir()?)
///     .rules(Rules { deny: ["Write"].into(), ..Rules::default() })
///     .deadline(Duration::from_secs(600))
///     .tool_deadline("Bash", Duration::from_secs(60))
///     .start()
///     .await?;
/// session.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "nothing is started before `start`"]
pub struct SessionBuilder {
    config: Config,
    /// Unless it is the default.
    cap: Option<NonZeroU16>,
    tool_deadlines: Vec<(String, Option<Duration>)>,
    /// The first thing that can't be right.
    wrong: Option<SetupError>,
}

/// Why a runtime or a session was not set up. Nothing has started, and nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A tool can't be registered.
    #[error(transparent)]
    Tools(#[from] Unregistrable),
    /// Something is said of a tool that isn't there.
    #[error("{what} is set for `{name}`, but there is no such tool: name one of [{known}]")]
    NoSuchTool {
        /// What is said of it.
        what: &'static str,
        /// The name.
        name: String,
        /// The tools that are there.
        known: String,
    },
    /// A cap of 0.
    #[error("the cap {0} is 0, so that no call could ever run: give 1 or more")]
    ZeroCap(&'static str),
    /// A deadline of 0.
    #[error("a deadline is 0, so that no call could do anything: give it time, or leave it out")]
    ZeroDeadline,
    /// The session did not start.
    #[error("the session did not start: its tokio runtime is shutting down, so use one that lives")]
    NotStarted,
    /// It was to be started outside tokio.
    #[error("a session runs on the caller's tokio runtime: await its start inside one")]
    NoTokio,
}

impl SessionBuilder {
    pub(crate) fn new(config: Config) -> Self {
        Self { config, cap: None, tool_deadlines: Vec::new(), wrong: None }
    }

    /// The same, with these caps in common with other sessions.
    pub(crate) fn sharing(mut self, shares: Shares) -> Self {
        self.config.shares = shares;
        self
    }

    /// The tools on offer.
    pub fn tools(mut self, tools: impl IntoIterator<Item = AnyTool>) -> Self {
        match Registry::new(tools) {
            Ok(tools) => self.config.tools = tools,
            Err(wrong) => self.is_wrong(wrong.into()),
        }
        self
    }

    /// The tools on offer, registered already.
    pub fn registry(mut self, tools: Registry) -> Self {
        self.config.tools = tools;
        self
    }

    /// Which calls may start (default: those that only read; others are asked about).
    pub fn rules(mut self, rules: impl Into<Given>) -> Self {
        self.config.rules = rules.into();
        self
    }

    /// Who keeps what a person allows for always (default: nobody, and it counts for the session).
    pub fn keeper(mut self, keeper: Arc<dyn RuleKeeper>) -> Self {
        self.config.keeper = Some(keeper);
        self
    }

    /// Adds a callback before or after calls, behind those that are there.
    pub fn hook(mut self, hook: Hook) -> Self {
        self.config.hooks.push(hook);
        self
    }

    /// The working directory, and the only one that tools work in unless
    /// [`context`](Self::context) names more.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.config.context.cwd = cwd.into();
        self
    }

    /// All that calls share at first.
    pub fn context(mut self, context: SessionContext) -> Self {
        self.config.context = context;
        self
    }

    /// Whose session it is: told to tools.
    pub fn identity(mut self, identity: Identity) -> Self {
        self.config.identity = identity;
        self
    }

    /// What the program shares with the tools.
    pub fn state(mut self, state: AppState) -> Self {
        self.config.state = state;
        self
    }

    /// Most calls at once in the session, nested ones included (default 64, or as many as in a turn
    /// where those are more).
    pub fn cap(mut self, most: u16) -> Self {
        match cap(most, "of the session") {
            Ok(cap) => self.cap = Some(cap),
            Err(wrong) => self.is_wrong(wrong),
        }
        self
    }

    /// Most calls at once in a turn (default 10).
    pub fn turn_cap(mut self, most: u16) -> Self {
        match cap(most, "of a turn") {
            Ok(cap) => self.config.width = cap,
            Err(wrong) => self.is_wrong(wrong),
        }
        self
    }

    /// Most calls in one message; one with more is refused as a whole (default 16,384).
    pub fn max_calls(mut self, most: u32) -> Self {
        self.config.max_calls = most;
        self
    }

    /// Whether a failed call takes its siblings along (default: where the failure says so).
    pub fn cascade(mut self, cascade: Cascade) -> Self {
        self.config.cascade = cascade;
        self
    }

    /// How long a call may run, unless something is said of its tool (default: for ever).
    pub fn deadline(mut self, deadline: impl Into<Option<Duration>>) -> Self {
        self.config.deadline = deadline.into();
        self
    }

    /// How long calls of a tool may run, whatever its card says; `None` is for ever.
    pub fn tool_deadline(
        mut self,
        tool: impl Into<String>,
        deadline: impl Into<Option<Duration>>,
    ) -> Self {
        self.tool_deadlines.push((tool.into(), deadline.into()));
        self
    }

    /// How long a call may take to end after a stop, before it is answered without it
    /// (default 5 s).
    pub fn grace(mut self, grace: Duration) -> Self {
        self.config.grace = grace;
        self
    }

    /// How long a call may wait behind those that were answered without ending, unless it has a
    /// deadline (default 120 s).
    pub fn wait(mut self, wait: Duration) -> Self {
        self.config.wait = wait;
        self
    }

    /// Where long results are kept (default: nowhere, and they are cut).
    pub fn results(mut self, folder: impl Into<Option<PathBuf>>) -> Self {
        self.config.results = folder.into();
        self
    }

    /// Most characters of text in all the results of one message (default 200,000). What is above
    /// goes to files, but for results that are no longer than a preview, and for those of tools
    /// without a limit.
    pub fn message_chars(mut self, most: usize) -> Self {
        self.config.message_chars = most;
        self
    }

    /// Where the starts of calls are recorded (default: nowhere). One for this session alone: a record
    /// names a turn by its number, and not its session.
    pub fn journal(mut self, journal: Arc<dyn StartLog>) -> Self {
        self.config.journal = journal;
        self
    }

    /// Starts the session on the caller's tokio runtime, which needs its timers. Nothing
    /// process-wide is changed.
    ///
    /// # Errors
    ///
    /// [`SetupError`]: nothing was started. Other sessions of the runtime go on.
    pub async fn start(self) -> Result<Session, SetupError> {
        let config = self.config()?;
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(SetupError::NoTokio);
        }
        toolwright_actors::start(config).await.map_err(|SessionClosed| SetupError::NotStarted)
    }

    /// What was said, if it can be right.
    pub(crate) fn config(self) -> Result<Config, SetupError> {
        let Self { mut config, cap, tool_deadlines, wrong } = self;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        if config.max_calls == 0 {
            return Err(SetupError::ZeroCap("of a message"));
        }
        config.session_width = cap.unwrap_or(config.session_width.max(config.width));
        for (name, deadline) in tool_deadlines {
            let name = known(&config.tools, name, "a deadline")?;
            config.tool_deadlines.insert(name, deadline);
        }
        let is_zero = |it: &Option<Duration>| it.is_some_and(|it| it.is_zero());
        if is_zero(&config.deadline) || config.tool_deadlines.values().any(is_zero) {
            return Err(SetupError::ZeroDeadline);
        }
        Ok(config)
    }

    fn is_wrong(&mut self, wrong: SetupError) {
        self.wrong.get_or_insert(wrong);
    }
}

impl std::fmt::Debug for SessionBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionBuilder").field("wrong", &self.wrong).finish_non_exhaustive()
    }
}

pub(crate) fn cap(most: u16, of: &'static str) -> Result<NonZeroU16, SetupError> {
    NonZeroU16::new(most).ok_or(SetupError::ZeroCap(of))
}

/// The name of a tool that answers to this one.
pub(crate) fn known(
    tools: &Registry,
    name: String,
    what: &'static str,
) -> Result<String, SetupError> {
    if let Some(tool) = tools.get(&name) {
        return Ok(tool.card().name.to_string());
    }
    let known: Vec<_> = tools.iter().map(|it| &*it.card().name).collect();
    Err(SetupError::NoSuchTool { what, name, known: known.join(", ") })
}
