//! A session: one supervisor, its stages, and the turns that it runs.

mod desk;
mod house;
mod supervisor;
mod turn;

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use ractor::{Actor as _, ActorRef};
use tokio::sync::{broadcast, mpsc};
use toolwright_contract::{
    AppState, CallIx, Cascade, Event, EventKind, Footprint, HowEnded, Identity, Registry,
    RequestId, SessionContext, StopCause, ToolResult, TurnId,
};
use toolwright_kernel::{Admission, Place, Policy as Siblings};
use toolwright_permissions::Mode;

use crate::bus::Bus;
use crate::crew::Crew;
use crate::hooks::{Hook, HooksArgs};
use crate::inbox::StopWish;
use crate::journal::{HandOut, SessionLog};
use crate::ledger::{Handing, Ledger};
use crate::limits::CLOSE_LOG;
use crate::permissions::{
    Answer, Given, PermissionsArgs, PermissionsMsg, Policy, Question, RuleKeeper, Rules, Standing,
};
use crate::shares::Shares;
use crate::stage::Stage;
use crate::store::{Folder, StoreArgs};

pub(crate) use desk::{CallKey, Desk};
pub(crate) use house::{Context, House, Lineage};
use house::{OpenTurn, Times};
use supervisor::{Supervisor, SupervisorArgs};
pub(crate) use turn::{Parent, run_nested};
pub use turn::{Stopper, SubmitError, TurnHandle, TurnResults};

/// What a call of a dead scheduler holds until it has gone: nobody knows any more what it was.
pub(crate) const ALONE: Place = Place::Lane(Footprint::Exclusive);

/// How a session is set up. [`Config::new`] has the default of every field.
#[derive(Clone)]
pub struct Config {
    /// The tools on offer.
    pub tools: Registry,
    /// Which calls may start: plain [`Rules`] or a [`Policy`].
    pub rules: Given,
    /// Who keeps what a person allows for always (default: nobody).
    pub keeper: Option<Arc<dyn RuleKeeper>>,
    /// Callbacks before and after calls, in order.
    pub hooks: Vec<Hook>,
    /// Most calls at once in a turn (default 10).
    pub width: NonZeroU16,
    /// Most calls at once in the session, nested turns included (default 64).
    pub session_width: NonZeroU16,
    /// The caps that it has in common with other sessions (default: none).
    pub shares: Shares,
    /// Whether a failed call takes its siblings along (default: where the failure says so).
    pub cascade: Cascade,
    /// Most calls in one message (default 16,384).
    pub max_calls: u32,
    /// How long a call may run, unless its tool says otherwise (default: for ever).
    pub deadline: Option<Duration>,
    /// How long calls of a tool may run, whatever its card says, by the tool's name.
    pub tool_deadlines: BTreeMap<String, Option<Duration>>,
    /// How long a call may take to end after a stop, before it is answered without it
    /// (default 5 s).
    pub grace: Duration,
    /// How long a call may wait behind one that was answered without ending, unless it has a
    /// deadline (default 120 s).
    pub wait: Duration,
    /// Where long results are kept; without a folder they are cut.
    pub results: Option<PathBuf>,
    /// Most characters of text in all the results of one message (default 200,000). What is above
    /// goes to files, but for results that are no longer than a preview, and for those of tools
    /// without a limit.
    pub message_chars: usize,
    /// Whose session it is: told to tools.
    pub identity: Identity,
    /// What calls share at first.
    pub context: SessionContext,
    /// What the program shares with the tools.
    pub state: AppState,
    /// What is written down for a process that resumes the session (default: nothing).
    pub log: Option<Arc<dyn SessionLog>>,
}

impl Config {
    /// The defaults, for these tools.
    #[must_use]
    pub fn new(tools: Registry) -> Self {
        const SESSION_WIDTH: NonZeroU16 = NonZeroU16::new(64).unwrap();
        let policy = Siblings::default();
        Self {
            tools,
            rules: Rules::default().into(),
            keeper: None,
            hooks: Vec::new(),
            width: Admission::DEFAULT_WIDTH,
            session_width: SESSION_WIDTH,
            shares: Shares::default(),
            cascade: policy.cascade,
            max_calls: policy.max_calls,
            deadline: None,
            tool_deadlines: BTreeMap::new(),
            grace: Duration::from_secs(5),
            wait: Duration::from_secs(120),
            results: None,
            message_chars: 200_000,
            identity: Identity::default(),
            context: SessionContext::default(),
            state: AppState::default(),
            log: None,
        }
    }
}

/// The session is over, or its supervisor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session is closed: start another one")]
pub struct SessionClosed;

/// What a shutdown left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Tasks that ignored the stop and could not be dropped, since they never wait.
    pub tasks: usize,
}

/// A running session. Cheap to clone; when the last clone is dropped, everything is stopped.
///
/// ```
/// # use toolwright_actors::{Answer, Config, Question, start};
/// # use toolwright_contract::{Event, Registry, ToolUse, tool};
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Letter {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tools = [tool("Send", "Sends a letter.").run(async |_: Letter, _| Ok("sent"))];
/// # let session = start(Config::new(Registry::new(tools)?)).await?;
/// let mut events = session.subscribe();
/// let mut questions = session.questions();
///
/// let mut turn = session.turn().await?;
/// turn.submit(ToolUse::new("toolu_1", "Send", serde_json::json!({}))).await?;
/// let Some(Question::Asked(ask)) = questions.recv().await else { return Ok(()) };
/// session.answer(ask.request, Answer::Allow);
/// assert_eq!(turn.finish().await.results[0].content.text(), "sent");
///
/// let Event { seq: 0, .. } = events.recv().await? else { return Ok(()) };
/// session.interrupt();
/// assert_eq!(session.shutdown().await.tasks, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session(Arc<Owner>);

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("closed", &self.0.house.is_closed()).finish_non_exhaustive()
    }
}

struct Owner {
    house: Arc<House>,
    standing: Standing,
    supervisor: ActorRef<()>,
}

/// Starts a session on the caller's tokio runtime. Nothing process-wide is changed. Who embeds the
/// whole runtime has a builder for it there.
///
/// # Errors
///
/// [`SessionClosed`] if an actor could not be started.
pub async fn start(config: Config) -> Result<Session, SessionClosed> {
    let root = config.context.cwd.clone();
    let standing = Standing::new(config.rules.clone().compiled(&root), root);
    let keeper = config.keeper.clone();
    let hooks: Arc<[Hook]> = config.hooks.as_slice().into();
    let (house, folder) = house_of(config);
    let house = Arc::new(house);
    let crew = house.crew.clone();
    let args = SupervisorArgs {
        house: house.clone(),
        hooks: HooksArgs {
            hooks,
            crew: crew.clone(),
            permissions: house.permissions.clone(),
            store: house.store.clone(),
        },
        permissions: PermissionsArgs {
            standing: standing.clone(),
            crew: crew.clone(),
            stage: house.permissions.clone(),
            context: house.context.clone(),
            keeper,
        },
        store: StoreArgs { folder: folder.map(Folder::new), crew },
    };
    let started = Supervisor::spawn(None, Supervisor, args).await;
    let (supervisor, _) = started.map_err(|_| SessionClosed)?;
    house.supervisor.get_or_init(|| supervisor.get_cell());
    Ok(Session(Arc::new(Owner { house, standing, supervisor })))
}

impl Session {
    /// Opens a turn: the calls of one assistant message.
    ///
    /// # Errors
    ///
    /// [`SessionClosed`] after a shutdown.
    pub async fn turn(&self) -> Result<TurnHandle, SessionClosed> {
        self.turn_under(self.0.house.policy.cascade).await
    }

    /// Opens a turn under another sibling policy than the session's, as a replay does.
    ///
    /// # Errors
    ///
    /// [`SessionClosed`] after a shutdown.
    pub async fn turn_under(&self, cascade: Cascade) -> Result<TurnHandle, SessionClosed> {
        turn::open(&self.0.house, None, cascade).await
    }

    /// Forgets what the model was shown of files, but not that they were read: for a loop that has
    /// cut or summed up its conversation. A file is then shown again even if it is unchanged.
    pub fn forget_views(&self) {
        self.0.house.reads.forget_views();
    }

    /// Events from now on. A subscriber that lags loses the oldest, and is told how many.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.0.house.bus.subscribe()
    }

    /// Every event from now on, none lost: it takes memory until it is read or dropped.
    #[must_use]
    pub fn history(&self) -> mpsc::UnboundedReceiver<Event> {
        self.0.house.bus.history()
    }

    /// Questions to a person from now on, and those that are open. While nobody listens, a call
    /// that needs an answer is denied. A second listener replaces the first. A question that was
    /// heard stays open when its listener goes, for the next one: where none will come, interrupt.
    #[must_use]
    pub fn questions(&self) -> mpsc::UnboundedReceiver<Question> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.0.standing.listen(sender);
        self.0.house.permissions.cast(PermissionsMsg::Attached);
        receiver
    }

    /// Answers a question, in any order. An answer to a question that isn't open does nothing.
    pub fn answer(&self, request: RequestId, answer: Answer) {
        self.0.house.permissions.cast(PermissionsMsg::Answer(request, answer));
    }

    /// Replaces the rules and the mode, for open questions too. What persons have allowed for the
    /// session stays allowed. Rules about paths look at the links on their way.
    pub fn set_rules(&self, rules: impl Into<Given>) {
        let standing = &self.0.standing;
        standing.set_policy(rules.into().compiled(standing.root()));
        self.0.house.permissions.cast(PermissionsMsg::PolicyChanged);
    }

    /// Changes the mode, for open questions too.
    pub fn set_mode(&self, mode: Mode) {
        self.0.standing.set_mode(mode);
        self.0.house.permissions.cast(PermissionsMsg::PolicyChanged);
    }

    /// What decides about calls now.
    #[must_use]
    pub fn policy(&self) -> Arc<Policy> {
        self.0.standing.policy()
    }

    /// Lets the session work in one more directory, for open questions too. A relative one starts
    /// at the working directory.
    pub fn add_directory(&self, directory: &Path) {
        self.0.house.context.add_directory(directory);
        self.0.standing.has_changed();
        self.0.house.permissions.cast(PermissionsMsg::PolicyChanged);
    }

    /// Whether what it does is written down.
    #[must_use]
    pub fn keeps_log(&self) -> bool {
        self.0.house.log.is_some()
    }

    /// The tools on offer now.
    #[must_use]
    pub fn tools(&self) -> Arc<Registry> {
        self.0.house.tools()
    }

    /// Offers other tools from now on. A turn that is open keeps those that it was opened with:
    /// a tool that changes meanwhile changes no call of it.
    pub fn set_tools(&self, tools: Registry) {
        let mut offered = self.0.house.tools.write().unwrap_or_else(PoisonError::into_inner);
        *offered = Arc::new(tools);
    }

    /// What calls share, as it is now.
    #[must_use]
    pub fn context(&self) -> Arc<SessionContext> {
        self.0.house.context.now()
    }

    /// Calls that were answered without ending, and still haven't ended.
    #[must_use]
    pub fn overdue(&self) -> usize {
        self.0.house.desk.len()
    }

    /// Tasks of the session that haven't ended.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.0.house.crew.len()
    }

    /// Interrupts all turns, as [`Stopper::interrupt`] does. A nested turn hears of it through its
    /// parent, unless that is a call which is let finish.
    pub fn interrupt(&self) {
        self.0.house.stop_turns(StopCause::User, |it| !it.nested);
    }

    /// Stops everything and waits for it: at most the grace period for calls to end, as long
    /// again for their results, a second for what is dropped then, and ten for the log.
    pub async fn shutdown(self) -> Left {
        let house = self.0.house.clone();
        house.closed.store(true, Ordering::Release);
        house.stop_turns(StopCause::Shutdown, |_| true);
        let ledgers: Vec<_> = house.turns().values().map(|it| it.ledger.clone()).collect();
        let answered = async {
            for ledger in ledgers {
                ledger.answered().await;
            }
        };
        // Past the time, the supervisor answers what is still open.
        drop(tokio::time::timeout(house.times.grace.saturating_mul(2), answered).await);
        house.crew.close();
        let stopped = self.0.supervisor.stop_and_wait(None, Some(Duration::from_secs(1))).await;
        if stopped.is_err() {
            self.0.supervisor.kill();
        }
        drop(tokio::time::timeout(Duration::from_secs(1), house.crew.gone()).await);
        if let Some(log) = &house.log {
            drop(tokio::time::timeout(CLOSE_LOG, log.close()).await);
        }
        Left { tasks: house.crew.len() }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.house.closed.store(true, Ordering::Release);
        self.house.stop_turns(StopCause::Shutdown, |_| true);
        self.house.crew.close();
        self.supervisor.stop(None);
    }
}

impl House {
    fn stop_turns(&self, cause: StopCause, is_meant: impl Fn(&OpenTurn) -> bool) {
        let turns = self.turns();
        turns.values().filter(|it| is_meant(it)).for_each(|it| it.inbox.stop(StopWish::All(cause)));
    }

    /// Tells the bus of each result that is handed out: first, where that is written down.
    pub(crate) fn emit_answers(
        &self,
        turn: TurnId,
        ledger: &Arc<Ledger>,
    ) -> impl FnMut(CallIx, &ToolResult, HowEnded) -> Handing + '_ {
        let ledger = ledger.clone();
        move |ix, result, ended| {
            let (call, is_error) = (ix.0, result.is_error);
            let kind = || EventKind::Emitted { call, id: result.id.clone(), ended, is_error };
            if !self.bus.is_logged() {
                self.bus.emit(turn, kind);
                return Handing::Now;
            }
            let out = HandOut::new(ledger.clone(), ix, result.clone());
            self.bus.emit_result(turn, kind(), out);
            Handing::Later
        }
    }
}

fn house_of(config: Config) -> (House, Option<PathBuf>) {
    let house = House {
        tools: RwLock::new(Arc::new(config.tools)),
        policy: Siblings { cascade: config.cascade, max_calls: config.max_calls },
        width: config.width,
        times: Times { deadline: config.deadline, grace: config.grace, wait: config.wait },
        tool_deadlines: config.tool_deadlines,
        bus: Arc::new(Bus::new(config.log.clone())),
        hooks: Stage::default(),
        permissions: Stage::default(),
        store: Stage::default(),
        message_chars: config.message_chars,
        log: config.log,
        log_fails: AtomicBool::new(false),
        crew: Crew::default(),
        context: Arc::new(Context::new(config.context)),
        reads: Arc::default(),
        identity: config.identity,
        state: config.state,
        desk: Arc::default(),
        shares: config.shares.join(config.session_width),
        closed: AtomicBool::new(false),
        turns: std::sync::Mutex::default(),
        next_turn: std::sync::Mutex::default(),
        supervisor: OnceLock::new(),
    };
    (house, config.results)
}
