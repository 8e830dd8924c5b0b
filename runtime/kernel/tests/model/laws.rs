//! The laws of a turn, each a sentence.

/// What must hold in every turn, whatever happens outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Law(pub(crate) &'static str);

pub(crate) const HONEST: Law = Law("an honest shell never violates");
pub(crate) const DISHONEST: Law = Law("a fact that cannot be true is refused");
pub(crate) const UNCHANGED: Law = Law("a refused fact changes nothing");
pub(crate) const DONE_IS_DONE: Law = Law("a stop of a call that is done changes nothing");

pub(crate) const GATED_ONCE: Law = Law("a call is gated at most once, from the line");
pub(crate) const LOGGED_ONCE: Law = Law("a call is logged at most once, past its gate");
pub(crate) const RUN_ONCE: Law = Law("a call is run at most once, past its gate");
pub(crate) const STORED_ONCE: Law = Law("a call is stored once");
pub(crate) const RECORD_FIRST: Law = Law("what may change the world runs after its record");
pub(crate) const RECORD_WRITES: Law = Law("what changes nothing needs no record");

pub(crate) const ALONE: Law = Law("an exclusive call is alone");
pub(crate) const WIDTH: Law = Law("the width is kept");
pub(crate) const IN_LINE: Law = Law("nobody overtakes");
pub(crate) const NOT_IDLE: Law = Law("who is first in line and has room goes in at once");
pub(crate) const CLAIM_SERVED: Law = Law("lent width is given back as soon as there is some");
pub(crate) const CLAIM_FIRST: Law = Law("who waits for lent width comes before anybody new");
pub(crate) const CLAIM_ORDER: Law = Law("lent width is given back in the order of the claims");
pub(crate) const LANES: Law = Law("the lanes are exactly what calls hold");

pub(crate) const AWAITED: Law = Law("a call ends only when nobody is at work on it");
pub(crate) const GOES_ON: Law = Law("an answer is followed by the next order at once");
pub(crate) const FINISH_ONCE: Law = Law("finish comes once, and last");
pub(crate) const NOT_STUCK: Law = Law("a turn that waits for nobody is finished");

pub(crate) const GIVEN_UP: Law = Law("once given up, nothing starts");
pub(crate) const STOP_REACHES: Law = Law("a stop reaches every phase, once");
pub(crate) const FIRST_CAUSE: Law = Law("the first cause is the one told");
pub(crate) const CULPRIT: Law = Law("who stopped a sibling has failed in a way that cascades");
pub(crate) const TRUE_RESULT: Law = Law("a result is told as it was");
pub(crate) const TRUE_REFUSAL: Law =
    Law("a refusal is told as it was, and of a call that did not run");
pub(crate) const NOT_STARTED: Law = Law("not started is told of a call that was not run");
pub(crate) const MAY_HAVE_RUN: Law = Law("may have run is told of a call that was run");

/// `Err` with the law unless it holds.
pub(crate) fn hold(holds: bool, law: Law) -> Result<(), Law> {
    if holds { Ok(()) } else { Err(law) }
}
