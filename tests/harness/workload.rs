//! Workloads: a message of calls with all that happens to it, driven through a house.

use std::num::NonZeroU16;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::{advance, sleep, timeout};
use toolwright::{
    AfterAnswer, Answer, BeforeAnswer, BeforeCall, Cascade, Hook, HookDecision, Matcher, Question,
    Rules, Session, Stopper, TurnResults,
};
use toolwright_contract::{AnyTool, Event};

use crate::{House, Scripted, call_of};

/// What happens in a turn. All times are milliseconds of the virtual clock.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Most calls at once in a turn.
    pub width: u16,
    /// Most calls at once in the session.
    pub session_width: u16,
    /// The sibling policy.
    pub cascade: Cascade,
    /// The session's deadline.
    pub deadline: Option<u64>,
    /// How long a stopped call may take to end.
    pub grace: u64,
    /// The calls: how long after the one before, by which tool (see [`TOOLS`]), with which script.
    pub calls: Vec<(u64, usize, Value)>,
    /// What a hook before the calls does: the call's place, modulo, chooses. None means no hook.
    pub before: Vec<Before>,
    /// How long a hook after the calls takes; none means no hook.
    pub after: Option<u64>,
    /// How a person answers: the question's number, modulo, chooses. None means that nobody listens.
    pub replies: Vec<(u64, Reply)>,
    /// Stops, and when.
    pub stops: Vec<(u64, Stopping)>,
    /// Sleeps of the machine: when, and how long. All that time passes at once.
    pub sleeps: Vec<(u64, u64)>,
    /// When whoever waits for the results gives up.
    pub patience: Option<u64>,
}

/// The tools of a workload: what a rule asks about, what a rule denies, and one that isn't there.
pub const TOOLS: [&str; 4] = ["Scripted", "Asked", "Denied", "Nobody"];

/// What a hook before a call does.
#[derive(Clone, Debug)]
pub enum Before {
    /// Nothing.
    Pass,
    /// Thinks so long, and then nothing.
    Think(u64),
    /// Denies.
    Deny,
    /// Has a person asked.
    Ask,
    /// Gives another input.
    Change(Value),
    /// Panics.
    Panic,
}

/// What a person answers.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Yes.
    Allow,
    /// Yes, with another input.
    AllowWith(Value),
    /// No.
    Deny,
    /// Nothing, ever.
    Silence,
}

/// A stop.
#[derive(Clone, Debug)]
pub enum Stopping {
    /// The user interrupts.
    Interrupt,
    /// The user stops the call at this place.
    One(usize),
    /// The message is discarded.
    Discard,
    /// The session ends.
    Shutdown,
}

impl Workload {
    /// Runs it in a house of its own, then a call that must be alone, and closes the house, which
    /// must be in order. Gives the history, and the results unless nobody waited for them.
    pub async fn run(&self) -> (Vec<Event>, Option<TurnResults>) {
        let house = self.house().await;
        let mut tasks = JoinSet::new();
        if !self.replies.is_empty() {
            let questions = house.session.questions();
            tasks.spawn(reply(house.session.clone(), questions, self.replies.clone()));
        }
        let mut turn = house.session.turn().await.expect("opens");
        for (after, stopping) in self.stops.clone() {
            tasks.spawn(stop(house.session.clone(), turn.stopper(), after, stopping));
        }
        for (after, asleep) in self.sleeps.clone() {
            tasks.spawn(async move {
                sleep(Duration::from_millis(after)).await;
                advance(Duration::from_millis(asleep)).await;
            });
        }
        let calls = self.calls.clone();
        let running = async move {
            for (n, (gap, tool, script)) in calls.into_iter().enumerate() {
                if gap > 0 {
                    sleep(Duration::from_millis(gap)).await;
                }
                turn.submit(call_of(TOOLS[tool], &n.to_string(), script)).await.expect("is new");
            }
            turn.finish().await
        };
        let patience = self.patience.map_or(Duration::from_secs(3_600), Duration::from_millis);
        let results = timeout(patience, running).await;
        assert!(results.is_ok() || self.patience.is_some(), "the turn hangs");
        // What is overdue must go, and let the next one in. Unless the session has ended.
        if let Ok(mut next) = house.session.turn().await {
            drop(next.submit(call_of("Scripted", "next", json!({"alone": true}))).await);
            let next = timeout(Duration::from_secs(3_600), next.finish()).await;
            assert_eq!(next.expect("the next turn ends").results.len(), 1);
        }
        tasks.shutdown().await;
        (house.close().await, results.ok())
    }

    async fn house(&self) -> House {
        let tools = TOOLS[..3].iter().map(|name| AnyTool::new(Scripted::named(name)));
        let width = |it| NonZeroU16::new(it).expect("a workload has a width");
        House::with_tools(tools, |it| {
            (it.width, it.session_width) = (width(self.width), width(self.session_width));
            (it.cascade, it.grace) = (self.cascade, Duration::from_millis(self.grace));
            it.deadline = self.deadline.map(Duration::from_millis);
            let (ask, deny) = (["Asked"].into(), ["Denied"].into());
            it.rules = Rules { ask, deny, ..Rules::allow_everything() }.into();
            it.hooks.extend(self.before_hook());
            it.hooks.extend(self.after.map(|ms| {
                Hook::after("after", Matcher::All, move |_| async move {
                    sleep(Duration::from_millis(ms)).await;
                    AfterAnswer { context: Some("after".to_owned()) }
                })
            }));
        })
        .await
    }

    fn before_hook(&self) -> Option<Hook> {
        let acts = self.before.clone();
        let hook = Hook::before("before", Matcher::All, move |call: BeforeCall| {
            // The ids of nested calls begin with those of their parents.
            let at = call.id.as_str().split(['.', ' ']).next().and_then(|it| it.parse().ok());
            let act = acts[at.unwrap_or(0_usize) % acts.len()].clone();
            async move { act.answer().await }
        });
        (!self.before.is_empty()).then_some(hook)
    }
}

impl Before {
    async fn answer(self) -> BeforeAnswer {
        let decision = match self {
            Self::Pass => return BeforeAnswer::default(),
            Self::Think(ms) => {
                sleep(Duration::from_millis(ms)).await;
                return BeforeAnswer::default();
            }
            Self::Change(input) => {
                return BeforeAnswer { input: Some(input), ..BeforeAnswer::default() };
            }
            Self::Deny => HookDecision::Deny("no".to_owned()),
            Self::Ask => HookDecision::Ask("sure?".to_owned()),
            Self::Panic => panic!("the hook panics"),
        };
        BeforeAnswer { decision: Some(decision), ..BeforeAnswer::default() }
    }
}

async fn reply(
    session: Session,
    mut questions: UnboundedReceiver<Question>,
    replies: Vec<(u64, Reply)>,
) {
    let mut answers = JoinSet::new();
    while let Some(question) = questions.recv().await {
        let Question::Asked(ask) = question else { continue };
        let at = usize::try_from(ask.request.0).unwrap_or(0) % replies.len();
        let (after, reply) = replies[at].clone();
        let answer = match reply {
            Reply::Allow => Answer::Allow,
            Reply::AllowWith(input) => Answer::AllowWith(input),
            Reply::Deny => Answer::Deny("no".to_owned()),
            Reply::Silence => continue,
        };
        let session = session.clone();
        answers.spawn(async move {
            sleep(Duration::from_millis(after)).await;
            session.answer(ask.request, answer);
        });
    }
}

async fn stop(session: Session, stopper: Stopper, after: u64, stopping: Stopping) {
    sleep(Duration::from_millis(after)).await;
    match stopping {
        Stopping::Interrupt => stopper.interrupt(),
        Stopping::One(at) => stopper.stop(&at.to_string().as_str().into()),
        Stopping::Discard => stopper.discard(),
        Stopping::Shutdown => drop(session.shutdown().await),
    }
}
