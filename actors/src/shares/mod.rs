//! Shares of the caps: how many calls run at once in a session, of a tool, and in all sessions.
//!
//! A call holds a share from its gate to its end. It gives the share back while a person is asked
//! about it and while it waits for calls of its own, and claims it again: so nobody waits for a
//! share and holds one, and no two calls wait for each other.
//!
//! Three caps bound the shares: that of the session, that of the tool, and that of all sessions
//! together. The cap of a tool counts all sessions too, since it protects what the tool uses: a
//! machine, a service.
//!
//! **Fairness.** Where calls wait, free places go round over the sessions: from the moment at which
//! a session has a call that only the common cap keeps from running, until a call of it gets a
//! place, every other session gets one place at most. The places of a capped tool go round in the
//! same way over the sessions that wait for one. In a session, calls are served in the order of
//! their claims, but for those that wait for their tool: a tool's cap holds up nobody else.
//!
//! **Overdue calls.** A call that was answered without ending keeps its share until it has ended:
//! the caps are never exceeded. A call waits as long as it takes for shares that others hold; where
//! overdue calls alone hold every share of a cap that it needs, whichever session they belong to, it
//! is answered once its wait is over. So a session whose cap is below the common one can't take
//! all places from the others, and nobody waits for ever.

mod core;
mod shell;
#[cfg(test)]
mod tests;

pub use shell::Shares;
pub(crate) use shell::{Claim, HeldShare, Member};
