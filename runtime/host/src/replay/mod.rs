//! Replays a recorded session: its calls go through the real actors, and answer what they did.
//!
//! A replay takes a recording apart into **turns**, one for each assistant message that holds
//! calls, and puts one after the other through a [`Session`]: the calls are submitted in the
//! order of their blocks, then the turn is sealed. Admission, barriers, sibling policies, stops
//! and the order of results are those of the runtime; only the tools are stand-ins, which take
//! the recorded time and answer what was recorded. No recorded tool is run, but for
//! [`replay_live`], which runs them in a copy of the tree that the session began with.
//!
//! A subagent's messages are turns of their own, in the order of the file. The call that started
//! the subagent holds their time as well, so a session with subagents counts that time twice.
//!
//! Under [`Clock::Virtual`] hours pass in milliseconds, and the same recording with the same
//! seed gives the same history, byte for byte.

pub mod bounds;
mod catalogue;
mod cpu;
mod figures;
mod history_log;
mod live;
mod played;
mod recorded_tool;
mod script;
#[cfg(test)]
mod tests;
mod timeline;

use std::io;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolwright_actors::{Rules, Session, SessionClosed, SubmitError};
use toolwright_contract::{AnyTool, Cascade, NameTaken, Registry, ToolResult, ToolUseId};
use toolwright_wire::{Format, Problem, Recording};

pub use figures::Figures;
pub use history_log::HistoryLog;
pub use live::{Compared, CopyError, Live, LiveError};
pub use played::{PlayedCall, Stopped};
pub use timeline::{Columns, Timeline};
pub(crate) use timeline::{LEGEND, plural, time};

use crate::{Runtime, SessionBuilder, SetupError};
use live::Workplace;
use played::Course;
use recorded_tool::{Playbook, RecordedTool};
use script::{Script, ScriptedTurn};

/// How a replay is done. [`Options::default`] has the default of every field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// What a call does.
    pub execute: Execute,
    /// What a failed call does to its siblings.
    pub siblings: Siblings,
    /// Whose time passes.
    pub clock: Clock,
    /// Most calls at once in a turn.
    pub cap: NonZeroU16,
    /// Decides the order of calls that end at the same instant.
    pub seed: u64,
    /// The longest that a call takes. Recorded time is the time of a clock on the wall, which
    /// holds the person who was asked; the default, 60 s, leaves nearly every command whole.
    pub max_call: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            execute: Execute::Recorded,
            siblings: Siblings::Recorded,
            clock: Clock::Virtual,
            cap: toolwright_kernel::Admission::DEFAULT_WIDTH,
            seed: 0,
            max_call: Duration::from_secs(60),
        }
    }
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execute {
    /// Takes its recorded time and answers what was recorded.
    Recorded,
    /// Takes no time: admission alone.
    Dry,
}

/// What a failed call does to its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Siblings {
    /// What the recording shows: in a message in which calls were cancelled, the command that
    /// failed before them cancels them again; elsewhere nothing is cancelled.
    Recorded,
    /// A failed command stops them.
    Bash,
    /// Nothing stops them.
    None,
    /// Any failed call stops them.
    Any,
}

/// Whose time passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// Nobody's: the clock jumps to the next thing that happens.
    Virtual,
    /// Everybody's, but recorded times are divided by `speed`.
    Real {
        /// How many times as fast as recorded.
        speed: Speed,
    },
}

/// A factor by which recorded time is shortened: finite and above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed(f64);

impl Speed {
    /// As recorded.
    pub const AS_RECORDED: Self = Self(1.0);

    /// A factor between a thousandth and a million.
    #[must_use]
    pub fn new(factor: f64) -> Option<Self> {
        (0.001..=1_000_000.0).contains(&factor).then_some(Self(factor))
    }

    fn get(self) -> f64 {
        self.0
    }
}

/// A session that was replayed.
#[derive(Debug)]
pub struct Replayed {
    /// The format of its recording.
    pub format: Format,
    /// The session that the recording names.
    pub session_id: Option<String>,
    /// The version of Claude Code that the recording names.
    pub version: Option<String>,
    /// What could not be decoded.
    pub problems: Vec<Problem>,
    /// Its turns, as they went.
    pub turns: Vec<PlayedTurn>,
    /// What they come to.
    pub figures: Figures,
    /// Calls that real tools ran, beside what was recorded; none unless the replay was live.
    pub compared: Vec<Compared>,
    /// Whether the replay was stopped before its end.
    pub interrupted: bool,
}

/// A turn that was replayed.
#[derive(Debug)]
pub struct PlayedTurn {
    /// Whether a subagent sent the message.
    pub by_subagent: bool,
    /// Its sibling policy.
    pub cascade: Cascade,
    /// Its calls, in the order of the message.
    pub calls: Vec<PlayedCall>,
}

/// Why a replay could not be done.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// No runtime to run it on.
    #[error("the runtime could not be started ({0}): free some memory or threads, and try again")]
    Runtime(#[source] io::Error),
    /// The session did not stay.
    #[error(transparent)]
    Closed(#[from] SessionClosed),
    /// Two tools of one name.
    #[error(transparent)]
    Names(#[from] NameTaken),
    /// The session did not start.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The live replay can't begin.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// The replay itself broke down.
    #[error("the replay broke down ({0}): please report it, with the recording if you can")]
    Broken(String),
}

/// Is told, between turns, which part of a session has been replayed: from 0 to 1.
pub type Watcher = Arc<dyn Fn(f64) + Send + Sync>;

/// Replays a recording on a runtime of its own, and writes its events to `log`.
///
/// When `stop` is cancelled, the turn that is being replayed is discarded, which answers each of
/// its calls, and the rest is left out.
///
/// # Errors
///
/// [`ReplayError`]. What is wrong with the recording, or with what the runtime did with it, is
/// no error but a part of [`Replayed`].
pub fn replay(
    recording: Recording,
    options: Options,
    log: HistoryLog,
    stop: &CancellationToken,
    watcher: Watcher,
) -> Result<(Replayed, HistoryLog), ReplayError> {
    perform(recording, options, None, log, stop, watcher)
}

/// Replays a recording with real tools, in a copy of the tree that it began with, on the real
/// clock. Calls of tools that don't run are answered from the recording, at once. That a result
/// differs from the recorded one is no error but told in [`Replayed::compared`].
///
/// # Errors
///
/// [`ReplayError`]. When `stop` is cancelled, it ends as [`replay`] does.
pub fn replay_live(
    recording: Recording,
    live: &Live,
    options: Options,
    log: HistoryLog,
    stop: &CancellationToken,
    watcher: Watcher,
) -> Result<(Replayed, HistoryLog), ReplayError> {
    let workplace = Workplace::prepare(live, recording.cwd.as_deref())?;
    let clock = Clock::Real { speed: Speed::AS_RECORDED };
    let options = Options { execute: Execute::Recorded, clock, ..options };
    perform(recording, options, Some(workplace), log, stop, watcher)
}

fn perform(
    recording: Recording,
    options: Options,
    workplace: Option<Workplace>,
    log: HistoryLog,
    stop: &CancellationToken,
    watcher: Watcher,
) -> Result<(Replayed, HistoryLog), ReplayError> {
    let mut runtime = match options.clock {
        Clock::Virtual => tokio::runtime::Builder::new_current_thread(),
        Clock::Real { .. } => tokio::runtime::Builder::new_multi_thread(),
    };
    if options.clock == Clock::Virtual {
        runtime.start_paused(true);
    }
    if workplace.is_some() {
        runtime.enable_io();
    }
    let runtime = runtime.enable_time().build().map_err(ReplayError::Runtime)?;
    let Recording { format, session_id, version, turns, problems, .. } = recording;
    let script = script::write(turns, &options);
    let stage = Stage { options, workplace, log, stop: stop.clone(), watcher };
    // From a task: what wakes the root of a runtime takes ten times as long.
    let played = runtime.spawn(stage.play(script));
    let played = runtime.block_on(played).map_err(|it| ReplayError::Broken(it.to_string()))??;
    let Played { turns, figures, compared, log, interrupted } = played;
    let replayed =
        Replayed { format, session_id, version, problems, turns, figures, compared, interrupted };
    Ok((replayed, log))
}

/// What it takes to play a script.
struct Stage {
    options: Options,
    /// Where real tools work, if they do.
    workplace: Option<Workplace>,
    log: HistoryLog,
    stop: CancellationToken,
    watcher: Watcher,
}

/// A script that was played.
struct Played {
    turns: Vec<PlayedTurn>,
    figures: Figures,
    compared: Vec<Compared>,
    log: HistoryLog,
    interrupted: bool,
}

impl Stage {
    async fn play(mut self, script: Script) -> Result<Played, ReplayError> {
        let playbook = Arc::new(Playbook::default());
        let session = self.session(&script, &playbook)?.start().await?;
        if let Some(workplace) = &self.workplace {
            workplace.watch(Some(session.clone()));
        }
        let mut history = session.history();
        let (mut turns, mut figures, mut compared) = (Vec::new(), Figures::default(), Vec::new());
        let total = script.turns.len();
        self.log.begin();
        for (at, mut scripted) in script.turns.into_iter().enumerate() {
            if self.stop.is_cancelled() {
                break;
            }
            let expected = self.workplace.as_ref().map(|it| it.cast(&mut scripted));
            let cues = std::mem::take(&mut scripted.cues);
            let (by_subagent, cascade) = (scripted.by_subagent, scripted.cascade);
            let (began, in_bodies) = (cpu::of_process(), playbook.time_in_bodies());
            playbook.lay_open(std::mem::take(&mut scripted.parts));
            let answers = play_turn(&session, scripted, &self.stop).await?;
            let spent = cpu::of_process().saturating_sub(began);
            let spent = spent.saturating_sub(playbook.time_in_bodies().saturating_sub(in_bodies));
            if let (Some(workplace), Some(expected)) = (&self.workplace, expected) {
                compared.extend(workplace.compare(expected, &answers.results));
            }
            let mut course = Course::default();
            while let Ok(event) = history.try_recv() {
                course.step(&event);
                self.log.step(&event);
            }
            let calls = course.end(cues, &answers.results);
            figures.add_turn(&calls, answers.results.len(), spent, self.options.cap);
            figures.violations.extend(answers.breach().map(|it| format!("turn {at}: {it}")));
            turns.push(PlayedTurn { by_subagent, cascade, calls });
            (self.watcher)((at + 1) as f64 / total as f64);
        }
        let interrupted = self.stop.is_cancelled();
        if let Some(workplace) = &self.workplace {
            workplace.watch(None);
        }
        let left = session.shutdown().await;
        while let Ok(event) = history.try_recv() {
            self.log.step(&event);
        }
        let (breaches, digest) = self.log.end();
        figures.violations.extend(breaches.iter().map(ToString::to_string));
        if left.tasks > 0 {
            figures.violations.push(format!("{} tasks are left after the end", left.tasks));
        }
        figures.history = Some(digest);
        Ok(Played { turns, figures, compared, log: self.log, interrupted })
    }

    fn session(
        &mut self,
        script: &Script,
        playbook: &Arc<Playbook>,
    ) -> Result<SessionBuilder, ReplayError> {
        let recorded = |name: &String| {
            AnyTool::new(RecordedTool { name: name.clone(), playbook: playbook.clone() })
        };
        let runtime = Runtime::builder().each_session(|it| it.turn_cap(self.options.cap.get()));
        let session = runtime.build()?.session();
        Ok(match &mut self.workplace {
            Some(workplace) => workplace.furnish(session, script, recorded)?,
            None => {
                let tools = Registry::unpublished(script.tools.iter().map(recorded))?;
                session.registry(tools).rules(Rules::allow_everything())
            }
        })
    }
}

/// Puts the calls of a turn through the session.
async fn play_turn(
    session: &Session,
    script: ScriptedTurn,
    stop: &CancellationToken,
) -> Result<Answers, SessionClosed> {
    let mut turn = session.turn_under(script.cascade).await?;
    let mut asked = Vec::with_capacity(script.calls.len());
    for call in script.calls {
        let id = call.id.clone();
        match turn.submit(call).await {
            Ok(_) => asked.push(id),
            // The first call with this id keeps it; this one gets no result, as documented.
            Err(SubmitError::DuplicateId(_)) => {}
            Err(SubmitError::Sealed) => return Err(SessionClosed),
        }
    }
    let stopper = turn.stopper();
    let finished = turn.finish();
    tokio::pin!(finished);
    let results = tokio::select! {
        biased;
        results = &mut finished => results,
        () = stop.cancelled() => {
            stopper.discard();
            finished.await
        }
    };
    Ok(Answers { asked, results: results.results })
}

/// What was asked in a turn and what came back.
struct Answers {
    asked: Vec<ToolUseId>,
    results: Vec<ToolResult>,
}

impl Answers {
    /// How the batch itself breaks the first promise, whatever the events say.
    fn breach(&self) -> Option<String> {
        let answered = self.results.iter().map(|it| &it.id);
        (!self.asked.iter().eq(answered)).then(|| {
            let (asked, came) = (self.asked.len(), self.results.len());
            format!("{asked} tool_use, {came} tool_result: not one for each, in order")
        })
    }
}
