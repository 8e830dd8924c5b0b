//! What can be written wrong in `turn.rs`.

use crate::laws;
use crate::table::{Mutant, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(
        "inherited lanes can't be freed",
        "inherited: lanes.clone(),",
        "inherited: Admission::new(std::num::NonZeroU16::MIN),",
        laws::LANES,
    ),
    mutant(
        "a call's own lane can be freed from outside",
        "(self.inherited.leave(Some(place)) && self.lanes.leave(Some(place))).then_some(())",
        "self.lanes.leave(Some(place)).then_some(())",
        laws::DISHONEST,
    ),
    mutant(
        "a turn can be sealed twice",
        "Fact::Sealed => (!std::mem::replace(&mut self.sealed, true)).then_some(()),",
        "Fact::Sealed => {
                self.sealed = true;
                Some(())
            }",
        laws::DISHONEST,
    ),
    mutant(
        "a turn finishes while calls may come",
        "if self.sealed && self.unsettled == 0 && !self.finished {",
        "if self.unsettled == 0 && !self.finished {",
        laws::DONE_IS_DONE,
    ),
    mutant(
        "finish comes again",
        "if self.sealed && self.unsettled == 0 && !self.finished {",
        "if self.sealed && self.unsettled == 0 {",
        laws::DONE_IS_DONE,
    ),
    mutant(
        "a freed lane lets nobody in",
        "self.admit();",
        "if !matches!(fact, Fact::Gone(_) | Fact::Freed(_)) {
            self.admit();
        }",
        laws::NOT_IDLE,
    ),
    mutant("a call arrives after the seal", "if self.sealed {", "if false {", laws::DISHONEST),
    mutant(
        "a message of too many calls is refused in part",
        "self.stop_all(StopCause::TooManyCalls);",
        "self.given_up = Some(StopCause::TooManyCalls);",
        laws::STOP_REACHES,
    ),
    mutant(
        "one call too many is accepted",
        "if ix.0 == self.policy.max_calls {",
        "if ix.0 == self.policy.max_calls + 1 {",
        laws::GIVEN_UP,
    ),
    mutant(
        "a latecomer of a turn that is given up starts",
        "match (self.given_up, screened) {",
        "match (None::<StopCause>, screened) {",
        laws::GIVEN_UP,
    ),
    mutant(
        "a call refused at once is never stored",
        "self.orders.push_back(Order::Store(ix, ending));",
        "let _ = (ix, ending);",
        laws::GOES_ON,
    ),
    mutant(
        "a record can't fail",
        "Phase::Logging(it) => self.step(ix, it.refused(why)),",
        "Phase::Logging(_) => None,",
        laws::HONEST,
    ),
    mutant(
        "a crash takes siblings along under every policy",
        "(Cascade::Never, _) => false,",
        "(Cascade::Never, _) => verdict == Verdict::Crashed,",
        laws::CULPRIT,
    ),
    mutant(
        "any failure takes the siblings along",
        "(Cascade::Declared, _) => verdict == Verdict::Bad { cascades: true },",
        "(Cascade::Declared, _) => matches!(verdict, Verdict::Bad { .. }),",
        laws::CULPRIT,
    ),
    mutant(
        "a crash is no failure",
        "(Cascade::Any, Ending::Returned(Returned::Error | Returned::Crashed)) => true,",
        "(Cascade::Any, Ending::Returned(Returned::Error | Returned::Crashed)) => {
                verdict != Verdict::Crashed
            }",
        laws::STOP_REACHES,
    ),
    mutant(
        "who says stopped untold has not failed",
        "(Cascade::Any, Ending::Returned(Returned::Error | Returned::Crashed)) => true,",
        "(Cascade::Any, Ending::Returned(Returned::Error | Returned::Crashed)) => {
                verdict != Verdict::Stopped
            }",
        laws::STOP_REACHES,
    ),
    mutant(
        "a latecomer is told the last cause",
        "if self.given_up.is_none() {",
        "if cause != StopCause::Deadline {",
        laws::FIRST_CAUSE,
    ),
    mutant(
        "a stopped turn takes latecomers in",
        "if self.given_up.is_none() {",
        "if self.given_up.is_some() {",
        laws::GIVEN_UP,
    ),
    mutant(
        "the last call is not stopped",
        "if !spared {",
        "if !spared && index + 1 < self.calls.len() {",
        laws::STOP_REACHES,
    ),
    mutant(
        "a stop passes waiting calls by",
        "Phase::Waiting(it) => return self.enter(ix, it.stopped(cause)),",
        "Phase::Waiting(_) => return,",
        laws::STOP_REACHES,
    ),
    mutant(
        "a stop passes calls by that wait for their lane again",
        "Phase::Rejoining(it) => return self.enter(ix, it.stopped(cause)),",
        "Phase::Rejoining(_) => return,",
        laws::STOP_REACHES,
    ),
    mutant(
        "a stop passes gates by",
        "Phase::Gating(it) => it.stopping(cause).map(Phase::from),",
        "Phase::Gating(_) => None,",
        laws::STOP_REACHES,
    ),
    mutant(
        "a stop passes records by",
        "Phase::Logging(it) => it.stopping(cause).map(Phase::from),",
        "Phase::Logging(_) => None,",
        laws::STOP_REACHES,
    ),
    mutant(
        "a stop is noted but not ordered",
        "self.orders.push_back(Order::Stop(ix, cause));",
        "let _ = (ix, cause);",
        laws::STOP_REACHES,
    ),
    mutant("lent width is never given back", "self.resume();", "", laws::CLAIM_SERVED),
    mutant(
        "an exclusive call never gets in",
        "Phase::Waiting(it) if self.lanes.has_room_for(it.safety.footprint) => {",
        "Phase::Waiting(it) if it.safety.footprint == crate::words::Footprint::Shared && self.lanes.has_width() => {",
        laws::NOT_IDLE,
    ),
    mutant(
        "who waits for its lane again takes it unasked",
        "Phase::Rejoining(it) if self.lanes.has_room_for(it.safety.footprint) => {",
        "Phase::Rejoining(it) => {",
        laws::WIDTH,
    ),
    mutant(
        "a call that can't go in is passed over",
        "Phase::Waiting(_) | Phase::Rejoining(_) => return,",
        "Phase::Waiting(_) | Phase::Rejoining(_) => {
                    self.frontier += 1;
                }",
        laws::IN_LINE,
    ),
    mutant(
        "claims don't wait for width",
        "if !self.lanes.has_width() {",
        "if false {",
        laws::WIDTH,
    ),
    mutant(
        "width is given back but nobody told",
        "self.orders.push_back(Order::Resume(ix));",
        "",
        laws::CLAIM_SERVED,
    ),
    mutant(
        "every change gives its order again",
        "if before.name() == phase.name() {",
        "if false {",
        laws::GATED_ONCE,
    ),
    mutant(
        "who waits for its lane again is forgotten",
        "Phase::Rejoining(_) => self.frontier = self.frontier.min(ix.at()),",
        "Phase::Rejoining(_) => {}",
        laws::NOT_IDLE,
    ),
    mutant(
        "the line forms behind the last that lost its lane",
        "self.frontier = self.frontier.min(ix.at())",
        "self.frontier = ix.at()",
        laws::IN_LINE,
    ),
    mutant(
        "a call that stays in its lane leaves it",
        "self.lanes.join(phase.place());",
        "if before.place() != phase.place() {
            self.lanes.join(phase.place());
        }",
        laws::LANES,
    ),
    mutant(
        "the last claim is served first",
        "self.claiming.push_back(ix);",
        "self.claiming.push_front(ix);",
        laws::CLAIM_ORDER,
    ),
    mutant(
        "a result is stored twice",
        "self.enter(ix, storing);",
        "self.enter(ix, storing);
        self.orders.push_back(Order::Store(ix, storing.ending));",
        laws::STORED_ONCE,
    ),
    mutant(
        "newcomers take the width that was lent",
        "fn admit(&mut self) {
        self.resume();",
        "fn admit(&mut self) {
        self.admit_new();
        self.resume();
    }

    fn admit_new(&mut self) {",
        laws::CLAIM_FIRST,
    ),
    mutant(
        "a tool is answered while it is still at work",
        "Phase::Running(it) => it.stopping(cause).map(Phase::from),",
        "Phase::Running(_) => return self.enter(ix, Storing::stopped_at_once(cause)),",
        laws::AWAITED,
    ),
    mutant(
        "a turn never finishes",
        "Phase::Settled(_) => self.unsettled -= 1,",
        "Phase::Settled(_) => {}",
        laws::NOT_STUCK,
    ),
    mutant(
        "a claim is noted before it is looked at",
        "self.step(ix, self.phase(ix)?.running()?.claim()?)?;",
        "self.claiming.push_back(ix);
                self.step(ix, self.phase(ix)?.running()?.claim()?)?;",
        laws::UNCHANGED,
    ),
    mutant(
        "a start is recorded twice",
        "Phase::Logging(_) => self.orders.push_back(Order::Log(ix)),",
        "Phase::Logging(_) => self.orders.extend([Order::Log(ix); 2]),",
        laws::LOGGED_ONCE,
    ),
    mutant(
        "a tool is started twice",
        "Phase::Running(_) => self.orders.push_back(Order::Run(ix)),",
        "Phase::Running(_) => self.orders.extend([Order::Run(ix); 2]),",
        laws::RUN_ONCE,
    ),
    mutant(
        "a stop of a call that has not arrived is a violation",
        "if self.phase(ix).is_some() {
                    self.stop(ix, cause);
                }",
        "self.phase(ix)?;
                self.stop(ix, cause);",
        laws::DONE_IS_DONE,
    ),
];
