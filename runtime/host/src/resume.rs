//! Resuming a session whose process has died: what each of its turns is owed, given once.

use std::fmt;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{Mutex, mpsc, oneshot};
use toolwright_actors::{Earlier, Session, SessionClosed, TurnResults};
use toolwright_contract::{CallIx, HowEnded, Progress, ToolResult, ToolUse, TurnId, wording};
use toolwright_journal::{AppendError, Kept, OpenTurn, Policy, Recovered, Task, Torn};

use crate::session_log::JournaledSession;

/// A session that goes on where a dead process left it.
#[derive(Debug)]
pub struct Resumed {
    /// The session. It writes on in the same journal.
    pub session: Session,
    /// The turns of the dead process that its host may not have heard all of, in their order: those
    /// that it left open, and those after which no further message came. Each is to be
    /// [finished](ResumedTurn::finish) before the next.
    pub turns: Vec<ResumedTurn>,
    /// What ran in the background, as far as it was recorded. Nothing is done about it.
    pub tasks: Vec<Task>,
    /// The end of the file that was cut off, since its writing was interrupted.
    pub torn: Option<Torn>,
    /// Records that speak of what was not recorded, as they do after a full disk.
    pub gaps: u64,
}

/// A turn of a dead process.
pub struct ResumedTurn {
    /// The process that opened it, counted from 1.
    pub run: u32,
    /// Its number in that process.
    pub turn: TurnId,
    /// Results that had been handed out. They aren't emitted again; the host may or may not have
    /// kept them.
    pub handed_out: Vec<ToolResult>,
    results: Option<mpsc::UnboundedReceiver<ToolResult>>,
    finished: BoxFuture<'static, Result<TurnResults, SessionClosed>>,
}

impl ResumedTurn {
    /// The results that are emitted now, each once: when the turn was resumed, or as it is
    /// finished. Taken once; a second taker gets nothing.
    #[must_use]
    pub fn emitted(&mut self) -> mpsc::UnboundedReceiver<ToolResult> {
        self.results.take().unwrap_or_else(|| mpsc::unbounded_channel().1)
    }

    /// Runs what the policy says is to be run, and gives all results of the turn. Questions about
    /// those calls come as those of all others do. Dropped before its end, it leaves the turn open
    /// in the journal, and the next who resumes the session has it.
    ///
    /// # Errors
    ///
    /// [`SessionClosed`] if the session was shut down meanwhile.
    pub async fn finish(self) -> Result<TurnResults, SessionClosed> {
        self.finished.await
    }
}

impl fmt::Debug for ResumedTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumedTurn")
            .field("run", &self.run)
            .field("turn", &self.turn)
            .finish_non_exhaustive()
    }
}

/// What is left to be recovered.
pub(crate) struct Recovery {
    log: Arc<JournaledSession>,
    recovered: Recovered,
    policy: Policy,
}

impl Recovery {
    pub(crate) fn new(log: Arc<JournaledSession>, recovered: Recovered, policy: Policy) -> Self {
        Self { log, recovered, policy }
    }

    /// Writes what settles the turns as far as that goes, and waits until it is there.
    pub(crate) async fn settle(&mut self) -> Result<(), AppendError> {
        let mut acks = Vec::new();
        for record in self.recovered.settle(self.policy) {
            let (tell, told) = oneshot::channel();
            self.log.append(record, |it| drop(tell.send(it)));
            acks.push(told);
        }
        for ack in acks {
            ack.await.unwrap_or(Err(AppendError::Closed))?;
        }
        Ok(())
    }

    /// What ran in the background, and how many records speak of what isn't there.
    pub(crate) fn tasks(&mut self) -> (Vec<Task>, u64) {
        (std::mem::take(&mut self.recovered.tasks), self.recovered.gaps)
    }

    /// What was handed out of each open turn so far.
    pub(crate) fn handed_out(&self) -> Vec<Vec<ToolResult>> {
        self.recovered.turns.iter().map(|it| results_of(it).results).collect()
    }

    /// The turns as they are given to the host, once they are settled as far as they go.
    pub(crate) fn turns(self, session: &Session, before: Vec<Vec<ToolResult>>) -> Vec<ResumedTurn> {
        let recent = self.recovered.recent.iter().map(|it| {
            let all = results_of(it);
            let handed_out = all.results.clone();
            let (_, results) = mpsc::unbounded_channel();
            let finished = std::future::ready(Ok(all)).boxed();
            ResumedTurn { run: it.run, turn: it.turn, handed_out, results: Some(results), finished }
        });
        let mut turns: Vec<_> = recent.collect();
        let open = self.recovered.turns.iter().enumerate().zip(before);
        let open: Vec<_> = open
            .filter(|((_, it), _)| it.is_for_the_model())
            .map(|((at, it), handed_out)| (at, it.run, it.turn, results_of(it), handed_out))
            .collect();
        let recovery = Arc::new(Mutex::new(self));
        for (at, run, turn, now, handed_out) in open {
            let (sender, results) = mpsc::unbounded_channel();
            // The reader is right here.
            now.results.iter().skip(handed_out.len()).for_each(|it| drop(sender.send(it.clone())));
            let told = now.results.len();
            let finished = carry_on(recovery.clone(), session.clone(), at, sender, told).boxed();
            turns.push(ResumedTurn { run, turn, handed_out, results: Some(results), finished });
        }
        turns
    }

    /// The calls of a turn that are to be run.
    fn to_run(&self, at: usize) -> Vec<(Earlier, ToolUse)> {
        let turn = self.recovered.turns.get(at);
        let calls = turn.into_iter().flat_map(|it| it.to_run(self.policy));
        let run = calls.filter_map(|it| {
            let (input, name) = (it.input()?.into(), it.came.as_ref()?.tool.clone());
            let earlier = Earlier { run: it.at.run, turn: it.at.turn, call: CallIx(it.at.call) };
            Some((earlier, ToolUse { id: it.id.clone(), name, input }))
        });
        run.collect()
    }

    /// Takes the results of calls that carried on those of a turn.
    fn take(&mut self, at: usize, earlier: &[Earlier], results: TurnResults) {
        let Some(turn) = self.recovered.turns.get_mut(at) else { return };
        let results = results.results.iter().zip(results.ended);
        for (it, (result, ended)) in earlier.iter().zip(results) {
            let at = toolwright_journal::CallAt { run: it.run, turn: it.turn, call: it.call.0 };
            turn.take_result(it.call.0, Kept::of(at, result, ended));
        }
    }
}

async fn carry_on(
    recovery: Arc<Mutex<Recovery>>,
    session: Session,
    at: usize,
    emitted: mpsc::UnboundedSender<ToolResult>,
    told: usize,
) -> Result<TurnResults, SessionClosed> {
    let mut recovery = recovery.lock().await;
    let calls = recovery.to_run(at);
    if !calls.is_empty() {
        let mut turn = session.turn().await?;
        let earlier: Vec<_> = calls.iter().map(|it| it.0).collect();
        for (earlier, call) in calls {
            // The ids of a turn are its own, and it isn't sealed.
            drop(turn.carry_on(call, earlier).await);
        }
        let results = turn.finish().await;
        recovery.take(at, &earlier, results);
        if let Err(error) = recovery.settle().await {
            // As of a live call, the result stands.
            tracing::error!(%error, "a resumed turn could not be written down");
        }
    }
    let all = recovery.recovered.turns.get(at).map(results_of).unwrap_or_default();
    // Who doesn't read them has them in the end.
    all.results.iter().skip(told).for_each(|it| drop(emitted.send(it.clone())));
    Ok(all)
}

/// What was handed out of a turn. Of a call whose result the journal doesn't have, since the disk
/// was full, it says that it may have run.
fn results_of(turn: &OpenTurn) -> TurnResults {
    let mut all = TurnResults::default();
    for call in turn.calls.iter().filter(|it| it.emitted) {
        let (result, ended) = match &call.kept {
            Some(kept) => (kept.result(), kept.ended),
            None => {
                let content = wording::interrupted(Progress::MayHaveRun).into();
                let result = ToolResult { id: call.id.clone(), content, is_error: true };
                (result, HowEnded::StoppedMayHaveRun)
            }
        };
        all.results.push(result);
        all.ended.push(ended);
        all.notes.extend(call.kept.iter().flat_map(|it| it.notes.iter().cloned()));
    }
    all
}
