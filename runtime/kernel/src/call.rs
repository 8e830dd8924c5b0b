//! One call: its phases, each a type that has only the exits it may take.
//!
//! ```text
//! Waiting ──▶ Gating ──▶ Logging ──▶ Running ──▶ Storing ──▶ Settled
//!    │         │   └▶ Rejoining ┘│      │          ▲
//!    └─────────┴─────────┴───────┴──────┴──────────┘   refused, stopped or overdue
//! ```
//!
//! A read-only call skips Logging. Rejoining is the only detour: the call is let through, but no
//! longer holds the lane that it needs (a hook made it wider, or it gave its width back while a
//! person was asked), so it keeps its place in line and waits for it.

use crate::words::{
    Effects, Ending, Footprint, OnInterrupt, Place, Progress, Refusal, Returned, Safety, StopCause,
    Verdict,
};

/// The call has its place in line; nothing has happened outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waiting {
    pub(crate) safety: Safety,
}

/// The call holds its lane while the tool's check, hooks and permission decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gating {
    safety: Safety,
    asking: bool,
    stop: Option<StopCause>,
}

/// Let through, but without the lane that it needs: waits for it, in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rejoining {
    pub(crate) safety: Safety,
}

/// The start record is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Logging {
    safety: Safety,
    stop: Option<StopCause>,
}

/// The tool is alive. `stop` remembers the first reason to end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    safety: Safety,
    width: Width,
    stop: Option<StopCause>,
}

/// What a running call has made of its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Width {
    Held,
    Lent,
    Claimed,
}

/// The call has its one ending, which is being made safe. What it holds is kept meanwhile, so
/// that whatever follows the tool (hooks, modifiers) is over before the next exclusive call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Storing {
    pub(crate) ending: Ending,
    hold: Hold,
}

/// Done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settled {
    pub(crate) ending: Ending,
    overdue: Option<Place>,
}

/// What an ended call still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hold {
    Nothing,
    UntilStored(Place),
    UntilGone(Place),
}

fn storing(ending: Ending) -> Storing {
    Storing { ending, hold: Hold::Nothing }
}

fn not_started(cause: StopCause) -> Storing {
    storing(Ending::Stopped(cause, Progress::NotStarted))
}

impl Storing {
    pub(crate) fn refused_at_once(why: Refusal) -> Self {
        storing(Ending::Refused(why))
    }
    pub(crate) fn stopped_at_once(cause: StopCause) -> Self {
        not_started(cause)
    }
}

impl Waiting {
    pub(crate) fn admit(self) -> Gating {
        Gating { safety: self.safety, asking: false, stop: None }
    }
    pub(crate) fn stopped(self, cause: StopCause) -> Storing {
        not_started(cause)
    }
}

impl Gating {
    fn place(self) -> Place {
        match (self.asking, self.safety.footprint) {
            (true, Footprint::Shared) => Place::Resting,
            // An exclusive call that asks holds the line.
            (true, Footprint::Exclusive) | (false, _) => Place::Lane(self.safety.footprint),
        }
    }
    /// `None` if it asks already.
    pub(crate) fn ask(self) -> Option<Self> {
        (!self.asking).then_some(Self { asking: true, ..self })
    }
    /// Past the gate the call starts, unless a stop came while the gate was thinking or the lane
    /// it needs is not the lane it holds.
    pub(crate) fn cleared(self, safety: Safety) -> Phase {
        if let Some(cause) = self.stop {
            return not_started(cause).into();
        }
        match (self.place(), safety.footprint) {
            (Place::Lane(Footprint::Shared), Footprint::Exclusive) | (Place::Resting, _) => {
                Rejoining { safety }.into()
            }
            // A call that turned out narrower keeps the wider lane: it is never wrong.
            (Place::Lane(held), _) => start(Safety { footprint: held, ..safety }),
        }
    }
    pub(crate) fn refused(self, why: Refusal) -> Storing {
        self.stop.map_or(storing(Ending::Refused(why)), not_started)
    }
    pub(crate) fn stopping(self, cause: StopCause) -> Option<Self> {
        self.stop.is_none().then_some(Self { stop: Some(cause), ..self })
    }
    pub(crate) fn overdue(self) -> Option<Storing> {
        let ending = Ending::Stopped(self.stop?, Progress::NotStarted);
        Some(Storing { ending, hold: Hold::UntilGone(self.place()) })
    }
}

fn start(safety: Safety) -> Phase {
    match safety.effects {
        Effects::ReadOnly => Running { safety, width: Width::Held, stop: None }.into(),
        Effects::Writes => Logging { safety, stop: None }.into(),
    }
}

impl Rejoining {
    pub(crate) fn admit(self) -> Phase {
        start(self.safety)
    }
    pub(crate) fn stopped(self, cause: StopCause) -> Storing {
        not_started(cause)
    }
}

impl Logging {
    fn place(self) -> Place {
        Place::Lane(self.safety.footprint)
    }
    pub(crate) fn logged(self) -> Phase {
        match self.stop {
            Some(cause) => not_started(cause).into(),
            None => Running { safety: self.safety, width: Width::Held, stop: None }.into(),
        }
    }
    pub(crate) fn refused(self, why: Refusal) -> Storing {
        self.stop.map_or(storing(Ending::Refused(why)), not_started)
    }
    pub(crate) fn stopping(self, cause: StopCause) -> Option<Self> {
        self.stop.is_none().then_some(Self { stop: Some(cause), ..self })
    }
    pub(crate) fn overdue(self) -> Option<Storing> {
        let ending = Ending::Stopped(self.stop?, Progress::NotStarted);
        Some(Storing { ending, hold: Hold::UntilGone(self.place()) })
    }
}

impl Running {
    fn place(self) -> Place {
        match (self.width, self.safety.footprint) {
            (Width::Lent | Width::Claimed, Footprint::Shared) => Place::Resting,
            (Width::Lent | Width::Claimed, Footprint::Exclusive) | (Width::Held, _) => {
                Place::Lane(self.safety.footprint)
            }
        }
    }
    /// A tool that finished keeps its true result, even when it had been told to stop.
    pub(crate) fn returned(self, verdict: Verdict) -> Storing {
        let ending = match (verdict, self.stop) {
            (Verdict::Stopped, Some(cause)) => Ending::Stopped(cause, Progress::MayHaveRun),
            (Verdict::Stopped, None) | (Verdict::Crashed, _) => Ending::Returned(Returned::Crashed),
            (Verdict::Good, _) => Ending::Returned(Returned::Ok),
            (Verdict::Bad { .. }, _) => Ending::Returned(Returned::Error),
        };
        Storing { ending, hold: Hold::UntilStored(self.place()) }
    }
    /// `None` if the stop is no news to the tool.
    pub(crate) fn stopping(self, cause: StopCause) -> Option<Self> {
        self.stop.is_none().then_some(Self { stop: Some(cause), ..self })
    }
    /// Whether this cause passes by a call that asked to be let finish.
    pub(crate) fn outlasts(self, cause: StopCause) -> bool {
        match (cause, self.safety.on_interrupt) {
            (StopCause::User, OnInterrupt::Block) => true,
            (StopCause::User, OnInterrupt::Cancel) => false,
            (
                StopCause::Sibling(_)
                | StopCause::Deadline
                | StopCause::Discarded
                | StopCause::Shutdown
                | StopCause::TooManyCalls,
                _,
            ) => false,
        }
    }
    pub(crate) fn overdue(self) -> Option<Storing> {
        let ending = Ending::Stopped(self.stop?, Progress::MayHaveRun);
        Some(Storing { ending, hold: Hold::UntilGone(self.place()) })
    }
    pub(crate) fn lend(self) -> Option<Self> {
        (self.width == Width::Held).then_some(Self { width: Width::Lent, ..self })
    }
    pub(crate) fn claim(self) -> Option<Self> {
        (self.width == Width::Lent).then_some(Self { width: Width::Claimed, ..self })
    }
    pub(crate) fn resume(self) -> Self {
        Self { width: Width::Held, ..self }
    }
}

impl Storing {
    pub(crate) fn stored(self) -> Settled {
        let overdue = match self.hold {
            Hold::UntilGone(place) => Some(place),
            Hold::UntilStored(_) | Hold::Nothing => None,
        };
        Settled { ending: self.ending, overdue }
    }
    pub(crate) fn gone(self) -> Option<Self> {
        match self.hold {
            Hold::UntilGone(_) => Some(Self { hold: Hold::Nothing, ..self }),
            Hold::UntilStored(_) | Hold::Nothing => None,
        }
    }
}

impl Settled {
    pub(crate) fn gone(self) -> Option<Self> {
        self.overdue.map(|_| Self { overdue: None, ..self })
    }
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is documented on its type")]
pub enum Phase {
    Waiting(Waiting),
    Gating(Gating),
    Rejoining(Rejoining),
    Logging(Logging),
    Running(Running),
    Storing(Storing),
    Settled(Settled),
}

/// [`Phase`] without its contents, for logs and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "mirrors `Phase`")]
pub enum PhaseName {
    Waiting,
    Gating,
    Rejoining,
    Logging,
    Running,
    Storing,
    Settled,
}

impl Phase {
    /// What this call takes up in the lanes now.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Gating(gating) => Some(gating.place()),
            Self::Logging(logging) => Some(logging.place()),
            Self::Running(running) => Some(running.place()),
            Self::Storing(Storing {
                hold: Hold::UntilStored(it) | Hold::UntilGone(it), ..
            }) => Some(*it),
            Self::Settled(settled) => settled.overdue,
            Self::Waiting(_)
            | Self::Rejoining(_)
            | Self::Storing(Storing { hold: Hold::Nothing, .. }) => None,
        }
    }

    pub(crate) fn gating(self) -> Option<Gating> {
        if let Self::Gating(it) = self { Some(it) } else { None }
    }

    pub(crate) fn logging(self) -> Option<Logging> {
        if let Self::Logging(it) = self { Some(it) } else { None }
    }

    pub(crate) fn running(self) -> Option<Running> {
        if let Self::Running(it) = self { Some(it) } else { None }
    }

    pub(crate) fn storing(self) -> Option<Storing> {
        if let Self::Storing(it) = self { Some(it) } else { None }
    }

    /// The same phase without what an overdue call held; `None` unless it was overdue.
    pub(crate) fn gone(self) -> Option<Self> {
        match self {
            Self::Storing(it) => it.gone().map(Self::from),
            Self::Settled(it) => it.gone().map(Self::from),
            Self::Waiting(_)
            | Self::Gating(_)
            | Self::Rejoining(_)
            | Self::Logging(_)
            | Self::Running(_) => None,
        }
    }

    /// The name of the phase.
    #[must_use]
    pub fn name(&self) -> PhaseName {
        match self {
            Self::Waiting(_) => PhaseName::Waiting,
            Self::Gating(_) => PhaseName::Gating,
            Self::Rejoining(_) => PhaseName::Rejoining,
            Self::Logging(_) => PhaseName::Logging,
            Self::Running(_) => PhaseName::Running,
            Self::Storing(_) => PhaseName::Storing,
            Self::Settled(_) => PhaseName::Settled,
        }
    }

    /// The ending, once there is one.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        match self {
            Self::Storing(storing) => Some(storing.ending),
            Self::Settled(settled) => Some(settled.ending),
            Self::Waiting(_)
            | Self::Gating(_)
            | Self::Rejoining(_)
            | Self::Logging(_)
            | Self::Running(_) => None,
        }
    }
}

macro_rules! into_phase {
    ($($state:ident),*) => { $(
        impl From<$state> for Phase {
            fn from(state: $state) -> Self {
                Self::$state(state)
            }
        }
    )* };
}
into_phase!(Waiting, Gating, Rejoining, Logging, Running, Storing, Settled);
