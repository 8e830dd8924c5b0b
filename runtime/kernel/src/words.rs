//! The vocabulary: small `Copy` values that travel between the kernel and its shells.

/// Place of a call in its turn: dense, in arrival order, and the order of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallIx(pub u32);

impl CallIx {
    /// The index as a position in a slice.
    #[must_use]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// What a call may touch, as far as admission is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Footprint {
    /// May overlap other shared calls.
    Shared,
    /// Runs alone. The default: what isn't declared safe runs alone.
    #[default]
    Exclusive,
}

/// Whether a call can change the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Effects {
    /// Nothing is changed, so a run that a crash cut short needs no record.
    ReadOnly,
    /// Something may be changed: starts only once its start record is written. The default.
    #[default]
    Writes,
}

/// What a user's interrupt does to a call that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnInterrupt {
    /// It is told to stop.
    Cancel,
    /// It is let finish. The default: a half-done write is worse than a wait.
    #[default]
    Block,
}

/// What the kernel needs to know of a validated input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Safety {
    /// What it may overlap with.
    pub footprint: Footprint,
    /// Whether it needs a start record.
    pub effects: Effects,
    /// What a user's interrupt does to it.
    pub on_interrupt: OnInterrupt,
}

impl Safety {
    /// A call that only reads: beside others, without a start record, cancelled on interrupt.
    #[must_use]
    pub const fn read_only() -> Self {
        Self {
            footprint: Footprint::Shared,
            effects: Effects::ReadOnly,
            on_interrupt: OnInterrupt::Cancel,
        }
    }
}

/// Whether a failed call takes its siblings along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cascade {
    /// Every call keeps its own result.
    Never,
    /// Only a failure that says so itself stops the siblings.
    #[default]
    Declared,
    /// Any failure stops the siblings.
    Any,
}

/// What a turn is allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Failure propagation.
    pub cascade: Cascade,
    /// Most calls in one message; a message with more is refused as a whole.
    pub max_calls: u32,
}

impl Policy {
    /// The default of [`Policy::max_calls`]: above the ten thousand that must work, and small
    /// enough that a runaway message is cut off within a few megabytes.
    pub const MAX_CALLS: u32 = 16_384;
}

impl Default for Policy {
    fn default() -> Self {
        Self { cascade: Cascade::default(), max_calls: Self::MAX_CALLS }
    }
}

/// What a tool that ran has to say, seen from the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It succeeded.
    Good,
    /// It failed.
    Bad {
        /// Whether the failure takes the siblings along under [`Cascade::Declared`].
        cascades: bool,
    },
    /// It ended because it was told to stop.
    Stopped,
    /// It panicked, or its task vanished.
    Crashed,
}

/// Why a call never ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// No tool of that name.
    UnknownTool,
    /// The input doesn't parse, doesn't fit the schema, or was rejected by the tool.
    InvalidInput,
    /// A hook, a rule or a person said no.
    Denied,
    /// A stage broke down; what a broken stage can't decide is denied.
    StageFailed,
    /// Its start record could not be written, so it must not start.
    Unrecorded,
}

/// Why a call was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopCause {
    /// The named sibling failed.
    Sibling(CallIx),
    /// The user interrupted.
    User,
    /// Its deadline passed.
    Deadline,
    /// The message that asked for it broke off and is discarded.
    Discarded,
    /// The session ends.
    Shutdown,
    /// The message has more calls than [`Policy::max_calls`].
    TooManyCalls,
}

/// How far a stopped call had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Progress {
    /// It had not started and never will.
    NotStarted,
    /// It had started; what it has done is unknown.
    MayHaveRun,
}

/// How a call ended. Every submitted call gets exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The tool ran to its end.
    Returned(Returned),
    /// The tool was not started.
    Refused(Refusal),
    /// The call was stopped before or while it ran.
    Stopped(StopCause, Progress),
}

/// How a tool that ran to its end did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returned {
    /// It succeeded.
    Ok,
    /// It failed.
    Error,
    /// It panicked, or its task vanished.
    Crashed,
}

/// What a call takes up in an [`Admission`](crate::Admission).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A lane.
    Lane(Footprint),
    /// The place of a shared call that gave its width back while it waits for a person or for
    /// its nested calls: others may use the width, but no exclusive call may start.
    Resting,
}

/// Something that has happened outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// A call arrived and was screened; it takes the next [`CallIx`].
    Submitted(Result<Safety, Refusal>),
    /// No further call will arrive.
    Sealed,
    /// The gate waits for a person. The call gives back its width, not its place.
    Asking(CallIx),
    /// The gate let the call through; a hook may have changed what it touches.
    Cleared(CallIx, Safety),
    /// The call will not run.
    Refused(CallIx, Refusal),
    /// The start record is written.
    Logged(CallIx),
    /// The running call waits for calls of its own and gives back its width.
    Lent(CallIx),
    /// The running call has its nested results and wants its width back.
    Reclaimed(CallIx),
    /// The tool ended.
    Returned(CallIx, Verdict),
    /// The result is safe.
    Stored(CallIx),
    /// One call was told to stop. A call that is done or unknown ignores it.
    StopOne(CallIx, StopCause),
    /// All calls were told to stop, those that are still to come included.
    StopAll(StopCause),
    /// A call that was told to stop has not ended in time. It is answered now, and keeps its
    /// lane until it is [`Gone`](Fact::Gone). That is the only thing that can still be true of
    /// what works on it: whatever it answers later means `Gone`, and what it wishes meanwhile
    /// (`Asking`, `Lent`, `Reclaimed`) is nobody's business any more.
    Overdue(CallIx),
    /// A call that was answered as overdue has really ended.
    Gone(CallIx),
    /// An overdue call of an earlier turn has really ended.
    Freed(Place),
}

/// Something the shells must do now.
///
/// `Gate`, `Log`, `Run`, `Store` are each answered by exactly one fact about the same call, also
/// after a `Stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Ask the tool's own check, hooks and permission: `Cleared` or `Refused`.
    Gate(CallIx),
    /// Write the start record: `Logged` or `Refused`.
    Log(CallIx),
    /// Start the tool: `Returned`.
    Run(CallIx),
    /// Go on: the width that was lent is back. Comes after a `Stop` too.
    Resume(CallIx),
    /// Tell gate, log or tool to stop; their own answer is still owed, or `Overdue`.
    Stop(CallIx, StopCause),
    /// Keep the result: `Stored`.
    Store(CallIx, Ending),
    /// Every result is safe and no call will come.
    Finish,
}

/// A fact that cannot be true: a bug in a shell, never in a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Violation(pub Fact);

impl core::fmt::Display for Violation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the kernel was told {:?}, which cannot be true here", self.0)
    }
}

impl core::error::Error for Violation {}
