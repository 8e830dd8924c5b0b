//! The mutants of the kernel, each with what it does wrong and the law that it breaks.

use crate::laws::{self, Law};

/// One place of the kernel, written wrong.
#[derive(Clone, Copy)]
pub(crate) struct Mutant {
    /// What it does wrong.
    pub(crate) what: &'static str,
    /// The text before the place, if what is there occurs elsewhere too.
    pub(crate) after: &'static str,
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
    pub(crate) breaks: Law,
}

/// Every mutant, with the file that it is in.
pub(crate) fn every_mutant() -> impl Iterator<Item = (&'static str, Mutant)> {
    let files = [("admission.rs", IN_ADMISSION), ("call.rs", IN_CALL), ("turn.rs", IN_TURN)];
    files.into_iter().flat_map(|(file, mutants)| mutants.iter().map(move |&it| (file, it)))
}

const fn mutant(what: &'static str, old: &'static str, new: &'static str, breaks: Law) -> Mutant {
    Mutant { what, after: "", old, new, breaks }
}

const fn within(
    after: &'static str,
    what: &'static str,
    old: &'static str,
    new: &'static str,
    breaks: Law,
) -> Mutant {
    Mutant { what, after, old, new, breaks }
}

const IN_ADMISSION: &[Mutant] = &[
    mutant(
        "a safe call joins an exclusive one",
        "Footprint::Shared => self.exclusive == 0 && self.has_width(),",
        "Footprint::Shared => self.has_width(),",
        laws::ALONE,
    ),
    mutant(
        "an exclusive call joins safe ones",
        "Footprint::Exclusive => self.exclusive + self.shared + self.resting == 0,",
        "Footprint::Exclusive => self.exclusive + self.resting == 0,",
        laws::ALONE,
    ),
    mutant(
        "an exclusive call joins one that rests",
        "Footprint::Exclusive => self.exclusive + self.shared + self.resting == 0,",
        "Footprint::Exclusive => self.exclusive + self.shared == 0,",
        laws::ALONE,
    ),
    mutant(
        "two exclusive calls run side by side",
        "Footprint::Exclusive => self.exclusive + self.shared + self.resting == 0,",
        "Footprint::Exclusive => self.shared + self.resting == 0,",
        laws::ALONE,
    ),
    mutant(
        "one call too many fits",
        "self.shared < u32::from(self.width.get())",
        "self.shared <= u32::from(self.width.get())",
        laws::WIDTH,
    ),
    mutant(
        "a call that rests keeps its width",
        "self.shared < u32::from(self.width.get())",
        "self.shared + self.resting < u32::from(self.width.get())",
        laws::NOT_IDLE,
    ),
    mutant("nobody ever leaves a lane", "*count -= 1;", "", laws::LANES),
    mutant(
        "a place that nobody holds can be freed",
        "Some(0) => false,",
        "Some(0) => true,",
        laws::DISHONEST,
    ),
];

const IN_CALL: &[Mutant] = &[
    mutant(
        "a call that asks keeps its width",
        "(true, Footprint::Shared) => Place::Resting,",
        "(true, Footprint::Shared) => Place::Lane(Footprint::Shared),",
        laws::LANES,
    ),
    mutant(
        "an exclusive call that asks lets others by",
        "(true, Footprint::Exclusive) | (false, _) => Place::Lane(self.safety.footprint),",
        "(true, Footprint::Exclusive) => Place::Resting,
            (false, _) => Place::Lane(self.safety.footprint),",
        laws::LANES,
    ),
    mutant(
        "a gate may ask twice",
        "(!self.asking).then_some(Self { asking: true, ..self })",
        "Some(Self { asking: true, ..self })",
        laws::DISHONEST,
    ),
    mutant(
        "a stop is forgotten when the gate clears",
        "if let Some(cause) = self.stop {",
        "if let Some(cause) = None {",
        laws::GIVEN_UP,
    ),
    mutant(
        "a call that turned exclusive goes on beside others",
        "(Place::Lane(Footprint::Shared), Footprint::Exclusive) | (Place::Resting, _) => {",
        "(Place::Lane(Footprint::Shared), Footprint::Exclusive) => start(safety),
            (Place::Resting, _) => {",
        laws::ALONE,
    ),
    mutant(
        "a call that asked goes on without its width",
        "(Place::Lane(Footprint::Shared), Footprint::Exclusive) | (Place::Resting, _) => {",
        "(Place::Resting, _) => start(safety),
            (Place::Lane(Footprint::Shared), Footprint::Exclusive) => {",
        laws::WIDTH,
    ),
    mutant(
        "a call that turned safe gives its lane up under way",
        "start(Safety { footprint: held, ..safety })",
        "start(safety)",
        laws::LANES,
    ),
    within(
        "impl Gating {",
        "a stopped call is told as refused by its gate",
        "self.stop.map_or(storing(Ending::Refused(why)), not_started)",
        "storing(Ending::Refused(why))",
        laws::FIRST_CAUSE,
    ),
    within(
        "impl Logging {",
        "a stopped call is told as refused by its record",
        "self.stop.map_or(storing(Ending::Refused(why)), not_started)",
        "storing(Ending::Refused(why))",
        laws::FIRST_CAUSE,
    ),
    within(
        "impl Gating {",
        "an overdue gate lets go of its lane once stored",
        "Hold::UntilGone(self.place())",
        "Hold::UntilStored(self.place())",
        laws::LANES,
    ),
    within(
        "impl Logging {",
        "an overdue record holds no lane",
        "Hold::UntilGone(self.place())",
        "Hold::Nothing",
        laws::LANES,
    ),
    within(
        "impl Running {",
        "an overdue tool lets go of its lane once stored",
        "Hold::UntilGone(self.place())",
        "Hold::UntilStored(self.place())",
        laws::LANES,
    ),
    within(
        "impl Gating {",
        "a gate is told to stop twice",
        "self.stop.is_none().then_some(Self { stop: Some(cause), ..self })",
        "Some(Self { stop: Some(cause), ..self })",
        laws::STOP_REACHES,
    ),
    mutant(
        "a call that writes starts without its record",
        "Effects::Writes => Logging { safety, stop: None }.into(),",
        "Effects::Writes => Running { safety, width: Width::Held, stop: None }.into(),",
        laws::RECORD_FIRST,
    ),
    mutant(
        "a call that reads is recorded",
        "Effects::ReadOnly => Running { safety, width: Width::Held, stop: None }.into(),",
        "Effects::ReadOnly => Logging { safety, stop: None }.into(),",
        laws::RECORD_WRITES,
    ),
    within(
        "impl Logging {",
        "a stop is forgotten when the record is written",
        "match self.stop {",
        "match None::<StopCause> {",
        laws::GIVEN_UP,
    ),
    mutant(
        "a claim takes its width unasked",
        "(Width::Lent | Width::Claimed, Footprint::Shared) => Place::Resting,",
        "(Width::Lent, Footprint::Shared) => Place::Resting,
            (Width::Claimed, Footprint::Shared) => Place::Lane(Footprint::Shared),",
        laws::CLAIM_SERVED,
    ),
    mutant(
        "an exclusive call lends its lane",
        "(Width::Lent | Width::Claimed, Footprint::Shared) => Place::Resting,",
        "(Width::Lent | Width::Claimed, _) => Place::Resting,",
        laws::LANES,
    ),
    mutant(
        "a call that waits for nested ones keeps its width",
        "(Width::Lent | Width::Claimed, Footprint::Shared) => Place::Resting,",
        "(Width::Lent | Width::Claimed, Footprint::Shared) => Place::Lane(Footprint::Shared),",
        laws::LANES,
    ),
    mutant(
        "a call that ran is told as not started",
        "(Verdict::Stopped, Some(cause)) => Ending::Stopped(cause, Progress::MayHaveRun),",
        "(Verdict::Stopped, Some(cause)) => Ending::Stopped(cause, Progress::NotStarted),",
        laws::NOT_STARTED,
    ),
    mutant(
        "a good result is told as stopped",
        "(Verdict::Good, _) => Ending::Returned(Returned::Ok),",
        "(Verdict::Good, Some(cause)) => Ending::Stopped(cause, Progress::MayHaveRun),
            (Verdict::Good, None) => Ending::Returned(Returned::Ok),",
        laws::TRUE_RESULT,
    ),
    mutant(
        "a failure of its own is told as stopped",
        "(Verdict::Bad { .. }, _) => Ending::Returned(Returned::Error),",
        "(Verdict::Bad { .. }, Some(cause)) => Ending::Stopped(cause, Progress::MayHaveRun),
            (Verdict::Bad { .. }, None) => Ending::Returned(Returned::Error),",
        laws::TRUE_RESULT,
    ),
    mutant(
        "a crash is told as an error",
        "(Verdict::Stopped, None) | (Verdict::Crashed, _) => Ending::Returned(Returned::Crashed),",
        "(Verdict::Stopped, None) | (Verdict::Crashed, _) => Ending::Returned(Returned::Error),",
        laws::TRUE_RESULT,
    ),
    mutant(
        "the next call starts before the result is stored",
        "Storing { ending, hold: Hold::UntilStored(self.place()) }",
        "Storing { ending, hold: Hold::Nothing }",
        laws::LANES,
    ),
    within(
        "impl Running {",
        "a tool is told to stop twice",
        "self.stop.is_none().then_some(Self { stop: Some(cause), ..self })",
        "Some(Self { stop: Some(cause), ..self })",
        laws::STOP_REACHES,
    ),
    mutant(
        "a user's interrupt breaks off a call that blocks",
        "(StopCause::User, OnInterrupt::Block) => true,",
        "(StopCause::User, OnInterrupt::Block) => false,",
        laws::FIRST_CAUSE,
    ),
    mutant(
        "a user's interrupt passes every tool by",
        "(StopCause::User, OnInterrupt::Cancel) => false,",
        "(StopCause::User, OnInterrupt::Cancel) => true,",
        laws::STOP_REACHES,
    ),
    mutant(
        "a call that blocks outlasts the shutdown",
        "(StopCause::User, OnInterrupt::Block) => true,",
        "(StopCause::User | StopCause::Shutdown, OnInterrupt::Block) => true,",
        laws::STOP_REACHES,
    ),
    mutant(
        "an overdue tool is told as not started",
        "let ending = Ending::Stopped(self.stop?, Progress::MayHaveRun);",
        "let ending = Ending::Stopped(self.stop?, Progress::NotStarted);",
        laws::NOT_STARTED,
    ),
    mutant(
        "a call that nobody stopped can be overdue",
        "let ending = Ending::Stopped(self.stop?, Progress::MayHaveRun);",
        "let ending = Ending::Stopped(self.stop.unwrap_or(StopCause::Deadline), Progress::MayHaveRun);",
        laws::DISHONEST,
    ),
    mutant(
        "width that was lent can be lent again",
        "(self.width == Width::Held).then_some(Self { width: Width::Lent, ..self })",
        "Some(Self { width: Width::Lent, ..self })",
        laws::DISHONEST,
    ),
    mutant(
        "width that was not lent can be claimed",
        "(self.width == Width::Lent).then_some(Self { width: Width::Claimed, ..self })",
        "Some(Self { width: Width::Claimed, ..self })",
        laws::DISHONEST,
    ),
    mutant(
        "only calls that are not overdue keep their lane",
        "Hold::UntilGone(place) => Some(place),
            Hold::UntilStored(_) | Hold::Nothing => None,",
        "Hold::UntilStored(place) => Some(place),
            Hold::UntilGone(_) | Hold::Nothing => None,",
        laws::LANES,
    ),
    mutant(
        "a call that is not overdue can be gone",
        "Hold::UntilGone(_) => Some(Self { hold: Hold::Nothing, ..self }),
            Hold::UntilStored(_) | Hold::Nothing => None,",
        "Hold::UntilGone(_) | Hold::UntilStored(_) => Some(Self { hold: Hold::Nothing, ..self }),
            Hold::Nothing => None,",
        laws::DISHONEST,
    ),
    mutant(
        "an overdue call is never gone",
        "self.overdue.map(|_| Self { overdue: None, ..self })",
        "self.overdue.map(|_| self)",
        laws::LANES,
    ),
    within(
        "impl Gating {",
        "every denial is told as a broken stage",
        "storing(Ending::Refused(why))",
        "storing(Ending::Refused(Refusal::StageFailed))",
        laws::TRUE_REFUSAL,
    ),
    mutant(
        "what was not started is told as perhaps run",
        "storing(Ending::Stopped(cause, Progress::NotStarted))",
        "storing(Ending::Stopped(cause, Progress::MayHaveRun))",
        laws::MAY_HAVE_RUN,
    ),
];

const IN_TURN: &[Mutant] = &[
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
