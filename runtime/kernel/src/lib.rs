//! The rules of one turn of tool calls, and nothing else.
//!
//! A [`Turn`] is told [`Fact`]s and answers with [`Order`]s. It performs no I/O, starts no
//! task, reads no clock and depends on no crate: what must hold about a turn can be checked
//! here exhaustively, without a runtime.
//!
//! ```
//! use toolwright_kernel::{
//!     Admission, CallIx, Effects, Fact, Footprint, OnInterrupt, Order, Policy, Safety, Turn,
//!     Verdict,
//! };
//!
//! let read = Safety {
//!     footprint: Footprint::Shared,
//!     effects: Effects::ReadOnly,
//!     on_interrupt: OnInterrupt::Cancel,
//! };
//! let mut turn = Turn::new(Policy::default(), Admission::default());
//! let call = CallIx(0);
//! turn.tell(Fact::Submitted(Ok(read)))?;
//! assert_eq!(turn.next_order(), Some(Order::Gate(call)));
//! turn.tell(Fact::Cleared(call, read))?;
//! assert_eq!(turn.next_order(), Some(Order::Run(call)));
//! turn.tell(Fact::Returned(call, Verdict::Good))?;
//! assert!(matches!(turn.next_order(), Some(Order::Store(_, _))));
//! # Ok::<(), toolwright_kernel::Violation>(())
//! ```
//!
//! # Architecture invariants
//!
//! * The package has no dependency.
//! * A call is screened (parsed, checked against its schema, asked for its [`Safety`]) before it
//!   is submitted: screening is pure, so it needs no phase of its own.
//! * A new phase, fact or cause doesn't compile until each pairing that gives orders has been
//!   decided; a fact in a phase that can't have it is a [`Violation`], and changes nothing.

mod admission;
mod call;
mod turn;
mod words;

pub use admission::Admission;
pub use call::{Phase, PhaseName};
pub use turn::Turn;
pub use words::{
    CallIx, Cascade, Effects, Ending, Fact, Footprint, OnInterrupt, Order, Place, Policy, Progress,
    Refusal, Returned, Safety, StopCause, Verdict, Violation,
};
