//! The actor shells around the kernel: a supervised house in which calls go from stage to stage.
//!
//! ```text
//! Session (supervisor)
//!  ├─ Hooks         one per session, before and after each call
//!  ├─ Permissions   one per session
//!  ├─ Store         one per session
//!  └─ Scheduler     one per turn; running calls are tasks that the session tracks
//! ```
//!
//! Papers go one way: scheduler → gate job → hooks → permissions → scheduler → worker →
//! scheduler → hooks → store → scheduler. Facts come back through the turn's inbox. Nobody waits
//! for anybody's answer, so no two can wait for each other.

mod asked;
mod bus;
mod crew;
#[cfg(test)]
mod faults;
mod hooks;
mod inbox;
mod journal;
mod ledger;
mod limits;
mod owed;
mod papers;
mod permissions;
mod scheduler;
mod session;
mod shares;
mod stage;
mod store;
mod watch;

pub use hooks::{AfterAnswer, AfterCall, BeforeAnswer, BeforeCall, Hook, HookDecision, Matcher};
pub use journal::{Came, Earlier, HandOut, KeptResult, SessionLog, StartAck, StartRecord};
pub use permissions::{
    Answer, Ask, Given, Lasting, Names, Otherwise, Policy, Question, RealLinks, RuleKeeper, Rules,
};
pub use session::{
    Config, Left, Session, SessionClosed, Stopper, SubmitError, TurnHandle, TurnResults, start,
};
pub use shares::Shares;
