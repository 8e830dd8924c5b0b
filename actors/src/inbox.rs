//! The scheduler's inbox: what jobs owe it, in a queue that outlives the scheduler.
//!
//! A reply is pushed and one wake-up is sent for any number of replies, so that the scheduler
//! sees all that came in at once and takes it in tool_use order. Stops go ahead of everything:
//! the scheduler looks for them first at each message, so that none waits behind a flood.

use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, OnceLock};

use crossbeam::queue::SegQueue;
use ractor::ActorRef;
use tokio::sync::oneshot;
use toolwright_contract::{
    CallIx, Cleared, HowEnded, Outcome, Refusal, RequestId, StopCause, ToolResult, ToolUseId,
    TurnId,
};
use toolwright_kernel::Place;

use crate::asked::Asked;
use crate::journal::{KeptResult, SessionLog, tell};
use crate::scheduler::SchedulerMsg;
use crate::session::Desk;
use crate::shares::HeldShare;
use crate::store::Room;

/// What a job tells the scheduler of its call.
pub(crate) enum News {
    /// A person is being asked.
    Asking(RequestId),
    /// Its question was taken back.
    Withdrawn(RequestId),
    /// The gate let the call through.
    Cleared(Box<Pass>),
    /// The call will not run; the text is for the model.
    Refused(Refusal, String),
    /// The start record is written.
    Logged,
    /// The call waits for calls of its own.
    Lent,
    /// It wants its width back, and is told here when it has it.
    Reclaimed(oneshot::Sender<()>),
    /// The tool ended.
    Returned(Box<Outcome>),
    /// The result is as safe as it gets.
    Stored(Box<Kept>),
    /// Its time is over.
    Late(Timer),
}

/// A call's share of the caps; none where it was given back.
pub(crate) type Share = Option<HeldShare>;

/// What comes out of the gate.
pub(crate) struct Pass {
    pub(crate) cleared: Cleared,
    pub(crate) notes: Vec<String>,
    pub(crate) share: Share,
}

/// Which time of a call is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The time to run.
    Deadline,
    /// The time to end after a stop.
    Grace,
    /// The time to wait behind an overdue call.
    Wait,
}

/// A result that has been through the last stages.
pub(crate) struct Kept {
    pub(crate) result: ToolResult,
    pub(crate) ended: HowEnded,
    pub(crate) notes: Vec<String>,
    /// Bytes that went to a file.
    pub(crate) spilled: Option<u64>,
    /// Why the journal doesn't have it, if it should.
    pub(crate) unwritten: Option<String>,
}

/// A stop, from outside.
#[derive(Clone, Debug)]
pub(crate) enum StopWish {
    All(StopCause),
    One(ToolUseId, StopCause),
}

type Heir = Box<dyn Fn(CallIx, Kept) + Send + Sync>;

/// See the module.
pub(crate) struct Inbox {
    news: SegQueue<(CallIx, News)>,
    stops: SegQueue<StopWish>,
    freed: SegQueue<Place>,
    woken: AtomicBool,
    scheduler: OnceLock<ActorRef<SchedulerMsg>>,
    /// Who takes the results that are still owed, once the scheduler has died.
    heir: OnceLock<Heir>,
    desk: Arc<Desk>,
    turn: TurnId,
    /// Whom a question about a call of the turn holds up.
    asked: Option<Arc<Asked>>,
    /// What is left of the message that answers the turn.
    room: Arc<Room>,
    /// Where results are written down.
    log: Option<Arc<dyn SessionLog>>,
}

impl Inbox {
    pub(crate) fn new(
        desk: Arc<Desk>,
        turn: TurnId,
        asked: Option<Arc<Asked>>,
        room: Room,
    ) -> Self {
        Self {
            news: SegQueue::new(),
            stops: SegQueue::new(),
            freed: SegQueue::new(),
            woken: AtomicBool::new(false),
            scheduler: OnceLock::new(),
            heir: OnceLock::new(),
            desk,
            turn,
            asked,
            room: Arc::new(room),
            log: None,
        }
    }

    /// The same, with a log in which each result is written before the scheduler hears of it.
    pub(crate) fn logged(self, log: Option<Arc<dyn SessionLog>>) -> Self {
        Self { log, ..self }
    }

    /// Whom a question about a call of the turn holds up, if anybody has a deadline.
    pub(crate) fn asked(&self) -> Option<Arc<Asked>> {
        self.asked.clone()
    }

    /// Says whom to wake, and wakes it: something may have come in before. Called once.
    pub(crate) fn belongs_to(&self, scheduler: ActorRef<SchedulerMsg>) {
        let scheduler = self.scheduler.get_or_init(|| scheduler);
        // One that has died already has its turn closed by the supervisor.
        drop(scheduler.cast(SchedulerMsg::Wake));
    }

    /// What is left of the message that answers the turn.
    pub(crate) fn room(&self) -> &Arc<Room> {
        &self.room
    }

    /// A result is through the last stages.
    pub(crate) fn stored(self: &Arc<Self>, ix: CallIx, kept: Kept) {
        match &self.log {
            Some(log) => {
                let kept = KeptResult::new(self.turn, ix, kept, Some(self.clone()));
                tell(&**log, |log| log.kept(kept));
            }
            None => self.push(ix, News::Stored(Box::new(kept))),
        }
    }

    pub(crate) fn push(&self, ix: CallIx, news: News) {
        self.news.push((ix, news));
        self.wake();
        self.inherit();
    }

    /// Says that the scheduler has died, after what its calls hold has been put on the desk: from
    /// now on, the end of a call frees what it held, and its result goes to `heir`.
    pub(crate) fn orphan(&self, heir: impl Fn(CallIx, Kept) + Send + Sync + 'static) {
        self.heir.get_or_init(|| Box::new(heir));
        self.inherit();
    }

    fn inherit(&self) {
        // A push that doesn't see the heir yet happens before `orphan` looks into the queue.
        fence(Ordering::SeqCst);
        let Some(heir) = self.heir.get() else { return };
        while let Some((ix, news)) = self.news.pop() {
            match news {
                News::Cleared(_) | News::Refused(..) | News::Logged | News::Returned(_) => {
                    self.desk.free((self.turn, ix));
                }
                News::Stored(kept) => heir(ix, *kept),
                News::Asking(_)
                | News::Withdrawn(_)
                | News::Lent
                | News::Reclaimed(_)
                | News::Late(_) => {}
            }
        }
    }

    pub(crate) fn stop(&self, wish: StopWish) {
        self.stops.push(wish);
        self.wake();
    }

    pub(crate) fn free(&self, place: Place) {
        self.freed.push(place);
        self.wake();
    }

    fn wake(&self) {
        if self.woken.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Some(scheduler) = self.scheduler.get()
            && scheduler.cast(SchedulerMsg::Wake).is_err()
        {
            // The scheduler is gone, and its session has answered for it.
            self.woken.store(false, Ordering::Release);
        }
    }

    /// Lets the next push wake again. Called at each wake-up before anything is read, so that
    /// what is pushed after the last read is not left lying.
    pub(crate) fn awake(&self) {
        self.woken.swap(false, Ordering::AcqRel);
    }

    pub(crate) fn next_stop(&self) -> Option<StopWish> {
        self.stops.pop()
    }

    pub(crate) fn next_freed(&self) -> Option<Place> {
        self.freed.pop()
    }

    /// All news so far, in tool_use order; the news of one call keep their own order.
    pub(crate) fn take_news(&self, into: &mut Vec<(CallIx, News)>) {
        std::iter::from_fn(|| self.news.pop()).for_each(|it| into.push(it));
        into.sort_by_key(|(ix, _)| *ix);
    }
}

#[cfg(test)]
mod tests {
    use ractor::{Actor, ActorProcessingErr};
    use tokio::sync::mpsc;

    use super::*;

    /// Tells of each message that it is sent.
    struct Ear;

    impl Actor for Ear {
        type Msg = SchedulerMsg;
        type State = mpsc::UnboundedSender<()>;
        type Arguments = mpsc::UnboundedSender<()>;

        async fn pre_start(
            &self,
            _: ActorRef<SchedulerMsg>,
            heard: mpsc::UnboundedSender<()>,
        ) -> Result<Self::State, ActorProcessingErr> {
            Ok(heard)
        }

        async fn handle(
            &self,
            _: ActorRef<SchedulerMsg>,
            _: SchedulerMsg,
            heard: &mut Self::State,
        ) -> Result<(), ActorProcessingErr> {
            Ok(heard.send(())?)
        }
    }

    async fn listen() -> (ActorRef<SchedulerMsg>, mpsc::UnboundedReceiver<()>) {
        let (sender, heard) = mpsc::unbounded_channel();
        let (ear, _) = Ear::spawn(None, Ear, sender).await.unwrap();
        (ear, heard)
    }

    fn interrupt(inbox: &Inbox) {
        inbox.stop(StopWish::All(StopCause::User));
    }

    #[tokio::test]
    async fn what_comes_in_before_the_scheduler_is_known_wakes_it_when_it_is() {
        let inbox = Inbox::new(Arc::default(), TurnId(0), None, Room::new(0));
        inbox.free(crate::session::ALONE);
        let (ear, mut heard) = listen().await;
        inbox.belongs_to(ear.clone());
        heard.recv().await.unwrap();
        inbox.awake();
        assert!(inbox.next_freed().is_some());
        interrupt(&inbox);
        heard.recv().await.unwrap();
        ear.stop_and_wait(None, None).await.unwrap();
    }

    #[tokio::test]
    async fn any_number_of_news_is_one_wake_up_until_it_is_read() {
        let inbox = Inbox::new(Arc::default(), TurnId(0), None, Room::new(0));
        let (ear, mut heard) = listen().await;
        inbox.belongs_to(ear.clone());
        inbox.awake();
        (0..100).for_each(|_| interrupt(&inbox));
        // A stop that comes between the look for stops and the look for news wakes again.
        inbox.awake();
        while inbox.next_stop().is_some() {}
        interrupt(&inbox);
        inbox.take_news(&mut Vec::new());
        ear.drain_and_wait(None).await.unwrap();
        let mut wakes = 0;
        while heard.recv().await.is_some() {
            wakes += 1;
        }
        assert_eq!(wakes, 3, "one to begin with, one for a hundred, one for the last");
    }
}
