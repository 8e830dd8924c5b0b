//! The crew: the tasks of a session, counted, and dropped where they wait when the session ends.

use std::future::Future;

use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Spawns the tasks of one session.
#[derive(Clone, Default)]
pub(crate) struct Crew {
    tracker: TaskTracker,
    closing: CancellationToken,
}

impl Crew {
    /// Spawns `work`, which is dropped, and so pays what it owes, when the session closes.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let closing = self.closing.clone();
        // In a box, so that a large task is moved once and not at each layer of the spawn.
        let work = Box::pin(work);
        let task = self.tracker.spawn(async move {
            tokio::select! {
                biased;
                () = work => {}
                () = closing.cancelled() => {}
            }
        });
        task.abort_handle()
    }

    /// Runs `work`, which may block, on a thread of its own. It can't be dropped, only left alone.
    pub(crate) fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        self.tracker.spawn_blocking(work)
    }

    /// Counts as a task for as long as it lives: what isn't spawned here, but is to be waited for.
    pub(crate) fn counted(&self) -> TaskTrackerToken {
        self.tracker.token()
    }

    /// Tasks that haven't ended.
    pub(crate) fn len(&self) -> usize {
        self.tracker.len()
    }

    /// Drops whatever waits.
    pub(crate) fn close(&self) {
        self.closing.cancel();
        self.tracker.close();
    }

    /// Ends when nobody works any more. Safe to drop and to call again.
    pub(crate) async fn gone(&self) {
        self.tracker.wait().await;
    }
}
