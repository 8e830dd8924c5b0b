//! What the allocator promises, held against a model that does nothing but count.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;

use proptest::prelude::*;

use tokio::task::{JoinSet, yield_now};
use toolwright_contract::{CallIx, Card, TurnId};

use super::Shares;
use super::core::{Allocator, SessionIx, ShareIx, Ticket, ToolCap, Wanted};

#[derive(Clone, Copy, Debug)]
enum Step {
    Claim { session: usize, tool: usize },
    Release(usize),
    Cancel(usize),
    Overdue(usize),
}

#[derive(Clone, Debug)]
struct Caps {
    all: u16,
    sessions: Vec<u16>,
    tools: Vec<u16>,
}

/// A call: its session, and its tool if that has a cap.
#[derive(Clone, Copy, Debug)]
struct Call {
    session: usize,
    tool: Option<usize>,
}

struct World {
    allocator: Allocator<u32, u32>,
    caps: Caps,
    sessions: Vec<SessionIx>,
    held: BTreeMap<u32, (Call, ShareIx)>,
    waiting: BTreeMap<u32, (Call, Ticket)>,
    overdue: BTreeSet<u32>,
    /// Who was served since a session began to wait for the common cap alone, with a call whose tool
    /// has no cap.
    passed: BTreeMap<usize, BTreeSet<usize>>,
    /// Who got a place of a tool since a session began to wait for it.
    passed_for: BTreeMap<(usize, usize), BTreeSet<usize>>,
    next: u32,
}

fn cap(most: u16) -> NonZeroU16 {
    NonZeroU16::new(most).unwrap()
}

impl World {
    fn new(caps: Caps) -> Self {
        let mut allocator = Allocator::new(cap(caps.all));
        let sessions = caps.sessions.iter().map(|it| allocator.join(cap(*it))).collect();
        let (held, waiting, overdue) = Default::default();
        let (passed, passed_for) = Default::default();
        Self { allocator, caps, sessions, held, waiting, overdue, passed, passed_for, next: 0 }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Claim { session, tool } => self.claim(session, tool),
            Step::Release(at) => {
                if let Some(&id) = self.held.keys().nth(at % self.held.len().max(1)) {
                    self.release(id);
                }
            }
            Step::Cancel(at) => {
                if let Some(&id) = self.waiting.keys().nth(at % self.waiting.len().max(1)) {
                    let (_, ticket) = self.waiting.remove(&id).unwrap();
                    self.allocator.cancel(&ticket);
                }
            }
            Step::Overdue(at) => {
                if let Some((&id, (call, _))) = self.held.iter().nth(at % self.held.len().max(1)) {
                    self.allocator.overdue(self.sessions[call.session], &id);
                    self.overdue.insert(id);
                }
            }
        }
        self.hand_out();
        self.forget_who_cannot();
        self.check();
    }

    fn claim(&mut self, session: usize, tool: usize) {
        let call = Call { session, tool: (tool < self.caps.tools.len()).then_some(tool) };
        let tool = call
            .tool
            .map(|it| ToolCap { name: format!("Tool{it}").into(), cap: cap(self.caps.tools[it]) });
        let (id, session) = (self.next, self.sessions[session]);
        self.next += 1;
        match self.allocator.take_now(Wanted { session, call: id, tool }) {
            Ok(share) => self.granted(id, call, share),
            Err(wanted) => {
                let ticket = self.allocator.wait(wanted, id);
                self.waiting.insert(id, (call, ticket));
            }
        }
    }

    fn release(&mut self, id: u32) {
        let (_, share) = self.held.remove(&id).unwrap();
        self.overdue.remove(&id);
        self.allocator.release(share);
    }

    fn hand_out(&mut self) {
        while let Some((share, id)) = self.allocator.next() {
            let (call, _) = self.waiting.remove(&id).expect("only who waits is served, once");
            self.forget_who_cannot();
            self.granted(id, call, share);
        }
    }

    fn granted(&mut self, id: u32, call: Call, share: ShareIx) {
        let older = self.waiting.range(..id).filter(|(_, (it, _))| it.session == call.session);
        for (_, (it, _)) in older {
            assert!(it.tool.is_some() && it.tool != call.tool, "{call:?} overtakes {it:?}");
        }
        for session in (0..self.sessions.len()).filter(|it| *it != call.session) {
            if self.could_run(session, |it| it.tool.is_none()) {
                let is_first = self.passed.entry(session).or_default().insert(call.session);
                assert!(is_first, "{} has passed {session} twice", call.session);
            }
            if let Some(tool) = call.tool
                && self.could_run(session, |it| it.tool == call.tool)
            {
                let passed = self.passed_for.entry((session, tool)).or_default();
                assert!(passed.insert(call.session), "{} has tool {tool} twice", call.session);
            }
        }
        self.passed.remove(&call.session);
        self.passed_for.retain(|(session, _), _| *session != call.session);
        self.held.insert(id, (call, share));
        self.forget_who_cannot();
    }

    fn forget_who_cannot(&mut self) {
        let passed = std::mem::take(&mut self.passed);
        let could = |at: usize| self.could_run(at, |it| it.tool.is_none());
        self.passed = passed.into_iter().filter(|(at, _)| could(*at)).collect();
        let waits_for = |session: usize, tool: usize| {
            let waits = |(it, _): &(Call, Ticket)| it.session == session && it.tool == Some(tool);
            self.waiting.values().any(waits) && self.has_session_room(session)
        };
        let passed =
            self.passed_for.iter().filter(|((session, tool), _)| waits_for(*session, *tool));
        self.passed_for = passed.map(|(at, who)| (*at, who.clone())).collect();
    }

    /// Whether only the common cap keeps such a call of a session from running.
    fn could_run(&self, session: usize, is_meant: impl Fn(&Call) -> bool) -> bool {
        let mut waiting = self.waiting.values().map(|(it, _)| it).filter(|it| is_meant(it));
        waiting.any(|it| it.session == session && self.has_own_room(it))
    }

    fn has_own_room(&self, call: &Call) -> bool {
        let tool = call.tool;
        self.has_session_room(call.session)
            && tool.is_none_or(|at| self.count(|it| it.tool == tool) < self.caps.tools[at].into())
    }

    fn has_session_room(&self, session: usize) -> bool {
        self.count(|it| it.session == session) < self.caps.sessions[session].into()
    }

    fn count(&self, is_meant: impl Fn(&Call) -> bool) -> usize {
        self.held.values().filter(|(it, _)| is_meant(it)).count()
    }

    fn check(&self) {
        assert!(self.held.len() <= self.caps.all.into(), "above the common cap");
        for (at, most) in self.caps.sessions.iter().enumerate() {
            assert!(self.count(|it| it.session == at) <= usize::from(*most), "session {at}");
        }
        for (at, most) in self.caps.tools.iter().enumerate() {
            assert!(self.count(|it| it.tool == Some(at)) <= usize::from(*most), "tool {at}");
        }
        let has_room = self.held.len() < self.caps.all.into();
        for (call, ticket) in self.waiting.values() {
            assert!(!has_room || !self.has_own_room(call), "{call:?} waits beside a free place");
            assert_eq!(self.allocator.is_stuck(ticket), self.is_stuck(call), "{call:?}");
        }
    }

    fn is_stuck(&self, call: &Call) -> bool {
        let overdue = |is_meant: &dyn Fn(&Call) -> bool| {
            self.overdue.iter().filter(|it| is_meant(&self.held[it].0)).count()
        };
        let full = |count, most: u16| count >= usize::from(most);
        full(overdue(&|_| true), self.caps.all)
            || full(overdue(&|it| it.session == call.session), self.caps.sessions[call.session])
            || call
                .tool
                .is_some_and(|at| full(overdue(&|it| it.tool == call.tool), self.caps.tools[at]))
    }

    /// Lets every call end, one after the other, as they were served.
    fn end(mut self) {
        while let Some((&id, _)) = self.held.first_key_value() {
            self.release(id);
            self.hand_out();
            self.check();
        }
        assert!(self.waiting.is_empty(), "{:?} wait for ever", self.waiting.len());
        assert!(self.allocator.is_empty(), "something is left");
        self.sessions.iter().for_each(|it| self.allocator.leave(*it));
    }
}

fn caps() -> impl Strategy<Value = Caps> {
    let sessions = prop::collection::vec(1..6_u16, 1..5);
    let tools = prop::collection::vec(1..4_u16, 0..3);
    (1..8_u16, sessions, tools).prop_map(|(all, sessions, tools)| Caps { all, sessions, tools })
}

fn steps() -> impl Strategy<Value = Vec<(u8, usize, usize)>> {
    prop::collection::vec((0..10_u8, any::<usize>(), 0..4_usize), 0..200)
}

fn step_of((kind, at, tool): (u8, usize, usize), sessions: usize) -> Step {
    match kind {
        0..=4 => Step::Claim { session: at % sessions, tool },
        5..=7 => Step::Release(at),
        8 => Step::Cancel(at),
        _ => Step::Overdue(at),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// No cap is exceeded, no place is idle while somebody could take it, nobody is passed twice,
    /// nobody overtakes in its session, and when all have ended, all have been served.
    #[test]
    fn shares_are_capped_fair_in_order_and_never_lost(caps in caps(), steps in steps()) {
        let mut world = World::new(caps);
        for step in steps {
            world.step(step_of(step, world.sessions.len()));
        }
        world.end();
    }
}

#[test]
fn a_session_with_a_thousand_waiting_calls_lets_one_with_a_single_call_pass() {
    let mut world = World::new(Caps { all: 1, sessions: vec![10, 10], tools: Vec::new() });
    (0..1_000).for_each(|_| world.step(Step::Claim { session: 0, tool: 0 }));
    world.step(Step::Claim { session: 1, tool: 0 });
    world.step(Step::Release(0));
    world.step(Step::Release(0));
    let (call, _) = world.held.values().next().unwrap();
    assert_eq!(call.session, 1, "after one call of the other session at most");
    world.end();
}

#[test]
fn calls_that_wait_for_their_tool_hold_up_nobody_else() {
    let mut world = World::new(Caps { all: 3, sessions: vec![10], tools: vec![1] });
    (0..50).for_each(|_| world.step(Step::Claim { session: 0, tool: 0 }));
    world.step(Step::Claim { session: 0, tool: 1 });
    assert_eq!(world.held.values().filter(|(it, _)| it.tool.is_none()).count(), 1);
    world.end();
}

#[test]
fn equal_calls_in_step_give_a_tool_to_each_session_in_turn() {
    let mut world = World::new(Caps { all: 2, sessions: vec![10, 10], tools: vec![1] });
    for session in [0, 1] {
        (0..20).for_each(|_| world.step(Step::Claim { session, tool: 0 }));
        (0..20).for_each(|_| world.step(Step::Claim { session, tool: 1 }));
    }
    let mut served = [0; 2];
    for _ in 0..20 {
        let is_tool = |(_, (it, _)): &(&u32, &(Call, ShareIx))| it.tool.is_some();
        let (&id, &(call, _)) = world.held.iter().find(is_tool).unwrap();
        served[call.session] += 1;
        world.release(id);
        world.hand_out();
        if let Some(&other) = world.held.iter().find(|it| !is_tool(it)).map(|(id, _)| id) {
            world.release(other);
            world.hand_out();
        }
    }
    assert!(served.iter().all(|it| *it >= 9), "{served:?}");
    world.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_that_are_given_up_as_they_are_granted_leave_nothing() {
    let shares = Shares::new(cap(2), BTreeMap::new());
    let mut tasks = JoinSet::new();
    for task in 0..8_u32 {
        let member = shares.join(cap(3));
        tasks.spawn(async move {
            let card = Card::new("Tool", "").cap(cap(1));
            let card = if task % 2 == 0 { card } else { Card::new("Other", "") };
            for call in 0..500 {
                let claim = member.claim((TurnId(0), CallIx(call)), &card);
                let late = || panic!("nobody is overdue");
                let share = claim.share(std::time::Duration::from_secs(60), late);
                // It holds the share for a moment, or gives up waiting for it.
                tokio::select! {
                    share = share => {
                        yield_now().await;
                        assert!(share.is_some());
                    }
                    () = async { for _ in 0..call % 7 { yield_now().await } } => {}
                }
            }
        });
    }
    tasks.join_all().await;
    assert!(shares.are_idle());
}
