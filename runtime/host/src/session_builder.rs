//! How a session is set up and started: what it says for itself, and the errors that name a remedy.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolwright_actors::{
    Config, Given, Hook, RuleKeeper, Session, SessionClosed, SessionLog, Shares,
};
use toolwright_contract::{
    AnyTool, AppState, Cascade, Identity, Registry, SessionContext, Unregistrable,
};
use toolwright_journal::{BadSessionName, Durability, Policy, Reading, Redact, SessionName};

use crate::journaled::Place;
use crate::resume::{Recovery, Resumed};
use crate::session_log::JournaledSession;

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
    /// Where its journal is, if it keeps one.
    place: Option<Place>,
    redact: Option<Arc<dyn Redact>>,
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
    /// A name that no session can have.
    #[error(transparent)]
    SessionName(#[from] BadSessionName),
    /// A session was to begin that has been there before.
    #[error("there is a session `{0}` already: resume it, or begin one with another name")]
    SessionExists(String),
    /// A session was to be resumed that isn't there.
    #[error("there is no session `{0}` to resume: begin it, or mend the name or the data folder")]
    NoSuchSession(String),
    /// A session was to be resumed, and nothing was said of its journal.
    #[error("nothing was said of the journal to resume from: say where it is with `journal_in`")]
    NoJournal,
    /// Another process, or this one, has the session open.
    #[error("the session `{0}` is open already: end it there, or take another one")]
    SessionInUse(String),
    /// The journal can't be used.
    #[error("{0}")]
    Journal(String),
    /// The session did not start.
    #[error("the session did not start: its tokio runtime is shutting down, so use one that lives")]
    NotStarted,
    /// It was to be started outside tokio.
    #[error("a session runs on the caller's tokio runtime: await its start inside one")]
    NoTokio,
    /// It was to be started on a tokio runtime without timers.
    #[error(
        "a session needs the timers of its tokio runtime: build that with `enable_time` or \
         `enable_all`"
    )]
    NoTimers,
}

impl SessionBuilder {
    pub(crate) fn new(config: Config) -> Self {
        let tool_deadlines = Vec::new();
        Self { config, cap: None, tool_deadlines, place: None, redact: None, wrong: None }
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

    /// Keeps a journal: in `<data>/<session>`, with long results beside it unless another folder is
    /// said. A process that ends without warning can then be followed by one that
    /// [resumes](Self::resume) the session. Both are for their owner's eyes alone.
    pub fn journal_in(
        mut self,
        data: impl Into<PathBuf>,
        session: &str,
        durability: Durability,
    ) -> Self {
        match SessionName::new(session) {
            Ok(session) => {
                let (data, redact) = (data.into(), None);
                self.place = Some(Place { data, session, durability, redact });
            }
            Err(bad) => self.is_wrong(bad.into()),
        }
        self
    }

    /// What is taken out before anything is written to the journal (default: nothing).
    pub fn redact(mut self, redact: Arc<dyn Redact>) -> Self {
        self.redact = Some(redact);
        self
    }

    /// A log of the program's own, where none is kept in a journal. One for this session alone: it is
    /// told a turn by its number, and not its session.
    pub fn log(mut self, log: Arc<dyn SessionLog>) -> Self {
        self.config.log = Some(log);
        self
    }

    /// Most characters of text in all the results of one message (default 200,000). What is above
    /// goes to files, but for results that are no longer than a preview, and for those of tools
    /// without a limit.
    pub fn message_chars(mut self, most: usize) -> Self {
        self.config.message_chars = most;
        self
    }

    /// Starts the session on the caller's tokio runtime, which needs its timers. Nothing
    /// process-wide is changed.
    ///
    /// # Errors
    ///
    /// [`SetupError`]: nothing was started. Other sessions of the runtime go on.
    pub async fn start(self) -> Result<Session, SetupError> {
        let (mut config, place) = self.ready()?;
        if let Some(place) = place {
            let Reading { journal, .. } = place.open(true, config.context.cwd.clone()).await?;
            config.log = Some(Arc::new(JournaledSession::new(journal)));
        }
        if !has_timers() {
            return Err(SetupError::NoTimers);
        }
        toolwright_actors::start(config).await.map_err(|SessionClosed| SetupError::NotStarted)
    }

    /// Goes on with a session whose process has died. What it was owed is written down first, then
    /// given: nothing that was handed out is emitted again, and nothing that may have run is run
    /// again unless `policy` says so of calls that were declared to allow it.
    ///
    /// ```
    /// use toolwright::journal::{Durability, Policy};
    /// use toolwright::{Runtime, built_in_tools};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let data = folder.path();
    /// let runtime = Runtime::builder().tools(built_in_tools()).build()?;
    /// let builder = runtime.session().journal_in(data, "0f3c", Durability::Batch);
    /// builder.clone().start().await?.shutdown().await;
    ///
    /// // Another process, some time later.
    /// let resumed = builder.resume(Policy::default()).await?;
    /// for turn in resumed.turns {
    ///     let message = turn.finish().await?.to_message();
    ///     // Send it to the model, unless it has been.
    /// }
    /// resumed.session.shutdown().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SetupError`]: nothing was started, and nothing handed out. Resuming again is safe.
    pub async fn resume(self, policy: Policy) -> Result<Resumed, SetupError> {
        let (mut config, place) = self.ready()?;
        let place = place.ok_or(SetupError::NoJournal)?;
        let reading = place.open(false, config.context.cwd.clone()).await?;
        let Reading { journal, recovered, torn } = reading;
        let log = Arc::new(JournaledSession::new(journal));
        config.log = Some(log.clone());
        let mut recovery = Recovery::new(log, recovered, policy);
        let before = recovery.handed_out();
        recovery.settle().await.map_err(|it| SetupError::Journal(it.to_string()))?;
        let (tasks, gaps) = recovery.tasks();
        let started = toolwright_actors::start(config).await;
        let session = started.map_err(|SessionClosed| SetupError::NotStarted)?;
        let turns = recovery.turns(&session, before);
        Ok(Resumed { session, turns, tasks, torn, gaps })
    }

    fn ready(self) -> Result<(Config, Option<Place>), SetupError> {
        let redact = self.redact.clone();
        let place = self.place.clone().map(|it| Place { redact, ..it });
        let mut config = self.config()?;
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(SetupError::NoTokio);
        }
        if let Some(place) = &place {
            config.results.get_or_insert_with(|| place.results());
        }
        Ok((config, place))
    }

    /// What was said, if it can be right.
    pub(crate) fn config(self) -> Result<Config, SetupError> {
        let Self { mut config, cap, tool_deadlines, wrong, .. } = self;
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

/// Whether tokio's timers are on. It tells so only by a panic, which is caught here, so that nothing
/// is started that would end by it.
fn has_timers() -> bool {
    std::panic::catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO))).is_ok()
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
