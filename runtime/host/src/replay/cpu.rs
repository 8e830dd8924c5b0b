//! Processor time, of the process and of one thread.
//!
//! Where the system has no such clock, time that passes stands for it.

use std::time::Duration;

/// What the process has used so far.
pub(super) fn of_process() -> Duration {
    clock::read(clock::PROCESS)
}

/// What this thread has used so far.
pub(super) fn of_thread() -> Duration {
    clock::read(clock::THREAD)
}

#[cfg(unix)]
mod clock {
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    pub(super) const PROCESS: ClockId = ClockId::ProcessCPUTime;
    pub(super) const THREAD: ClockId = ClockId::ThreadCPUTime;

    #[expect(clippy::disallowed_methods, reason = "these clocks don't tell the time of day")]
    pub(super) fn read(clock: ClockId) -> Duration {
        Duration::try_from(clock_gettime(clock)).unwrap_or_default()
    }
}

#[cfg(not(unix))]
mod clock {
    use std::sync::LazyLock;
    use std::time::{Duration, Instant};

    pub(super) const PROCESS: () = ();
    pub(super) const THREAD: () = ();

    pub(super) fn read((): ()) -> Duration {
        static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
        BEGAN.elapsed()
    }
}
