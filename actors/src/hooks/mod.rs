//! Hooks: what an embedder's callbacks say before and after a call.
//!
//! The conversation: the gate job sends [`HooksMsg::Before`], which goes on to the permission
//! stage; the scheduler sends [`HooksMsg::After`], which goes on to the store. Nobody is answered
//! by this stage but through what the papers owe.

mod core;
mod shell;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolwright_contract::{Card, Content, OutcomeKind, ToolUseId};

use crate::papers::{AfterJob, GateJob};

pub(crate) use core::Wish;
pub(crate) use shell::{Hooks, HooksArgs};

/// What the hook stage can be told.
pub(crate) enum HooksMsg {
    /// From the gate job, after the tool's own check.
    Before(Box<GateJob>),
    /// From the scheduler, when the tool has ended.
    After(Box<AfterJob>),
}

type Answering<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Before = dyn Fn(BeforeCall) -> Answering<BeforeAnswer> + Send + Sync;
type After = dyn Fn(AfterCall) -> Answering<AfterAnswer> + Send + Sync;

/// A callback of the embedder.
///
/// ```
/// # use serde_json::json;
/// # use toolwright_actors::{Config, Rules, start};
/// # use toolwright_contract::{Registry, ToolUse, tool};
/// use toolwright_actors::{AfterAnswer, BeforeAnswer, Hook, HookDecision, Matcher};
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Letter { to: String }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = Hook::before("guard", Matcher::Names(vec!["Send".to_owned()]), async |call| {
///     let no = || HookDecision::Deny("Nobody writes to Atlantis.".to_owned());
///     let decision = (call.input["to"] == "Atlantis").then(no);
///     BeforeAnswer { decision, ..BeforeAnswer::default() }
/// });
/// let clerk = Hook::after("clerk", Matcher::All, async |call| {
///     AfterAnswer { context: Some(format!("{} was {:?}.", call.id, call.kind)) }
/// });
/// # let send = tool("Send", "Sends a letter.").run(async |it: Letter, _| Ok(it.to));
/// # let mut config = Config::new(Registry::new([send])?);
/// # config.rules = Rules::allow_everything().into();
/// config.hooks = vec![guard, clerk];
/// # let session = start(config).await?;
///
/// let mut turn = session.turn().await?;
/// turn.submit(ToolUse::new("toolu_1", "Send", json!({"to": "Rome"}))).await?;
/// turn.submit(ToolUse::new("toolu_2", "Send", json!({"to": "Atlantis"}))).await?;
/// let results = turn.finish().await;
/// assert!(results.results[1].content.text().contains("Nobody writes to Atlantis."));
/// assert_eq!(results.notes, ["toolu_1 was Success."]);
/// # session.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Hook {
    name: Arc<str>,
    tools: Matcher,
    timeout: Duration,
    callback: Callback,
}

#[derive(Clone)]
enum Callback {
    Before(Arc<Before>),
    After(Arc<After>),
}

/// Which tools a hook is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher {
    /// Every tool.
    All,
    /// Tools that answer to one of these names, former names included.
    Names(Vec<String>),
}

impl Matcher {
    fn matches(&self, card: &Card) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => {
                let is_named = |it: &str| names.iter().any(|name| name == it);
                is_named(&card.name) || card.aliases.iter().any(|it| is_named(it))
            }
        }
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, tools, timeout, .. } = self;
        let fields = (name, tools, timeout);
        f.debug_tuple("Hook").field(&fields).finish()
    }
}

impl Hook {
    /// How long a callback may think unless [`timeout`](Self::timeout) says otherwise (Claude Code
    /// docs 2.1.240: 60 s for callbacks).
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// A hook that is asked before a call starts. If it panics or doesn't answer in time, the
    /// call is denied.
    pub fn before<F, A>(name: impl Into<Arc<str>>, tools: Matcher, callback: F) -> Self
    where
        F: Fn(BeforeCall) -> A + Send + Sync + 'static,
        A: Future<Output = BeforeAnswer> + Send + 'static,
    {
        let callback = Callback::Before(Arc::new(move |call| Box::pin(callback(call))));
        Self { name: name.into(), tools, timeout: Self::TIMEOUT, callback }
    }

    /// A hook that hears how a call went, before its result is kept. If it panics or doesn't
    /// answer in time, the result stands and says so.
    pub fn after<F, A>(name: impl Into<Arc<str>>, tools: Matcher, callback: F) -> Self
    where
        F: Fn(AfterCall) -> A + Send + Sync + 'static,
        A: Future<Output = AfterAnswer> + Send + 'static,
    {
        let callback = Callback::After(Arc::new(move |call| Box::pin(callback(call))));
        Self { name: name.into(), tools, timeout: Self::TIMEOUT, callback }
    }

    /// Sets how long the callback may think.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// A call that is about to start.
#[derive(Clone, Debug)]
pub struct BeforeCall {
    /// Its id.
    pub id: ToolUseId,
    /// The tool.
    pub tool: String,
    /// Its input, checked.
    pub input: Value,
}

/// What a hook says of a call that is about to start. The default says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeforeAnswer {
    /// What should become of the call.
    pub decision: Option<HookDecision>,
    /// Another input, to be checked and decided like the model's own.
    pub input: Option<Value>,
    /// Text for the model, after all results.
    pub context: Option<String>,
}

/// What a hook wants to become of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookDecision {
    /// Spare the question that would be asked by default. Rules that deny or ask still hold.
    Allow,
    /// Ask a person, with this message.
    Ask(String),
    /// Don't start it; the text is for the model.
    Deny(String),
}

/// A call whose tool has ended.
#[derive(Clone, Debug)]
pub struct AfterCall {
    /// Its id.
    pub id: ToolUseId,
    /// The tool.
    pub tool: String,
    /// The input that it ran with.
    pub input: Value,
    /// How it went.
    pub kind: OutcomeKind,
    /// What the model will read.
    pub content: Arc<Content>,
    /// The same for programs, if the tool gave it.
    pub structured: Option<Arc<Value>>,
    /// What the tool's server says of the result (`_meta`), if it says anything.
    pub meta: Option<Arc<Value>>,
}

/// What a hook says of a call that has ended. The default says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AfterAnswer {
    /// Text for the model, after all results.
    pub context: Option<String>,
}
