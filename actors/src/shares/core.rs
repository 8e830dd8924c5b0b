//! Who gets the next free place: the counts under each cap and the line of each session. Pure.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU16;

use slab::Slab;

/// A session, as long as it has not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionIx(usize);

/// A share that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShareIx(usize);

/// The name of a tool with a cap.
pub(super) type ToolName = Cow<'static, str>;

/// How many calls of a tool may run at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCap {
    pub(crate) name: ToolName,
    pub(crate) cap: NonZeroU16,
}

/// What a call asks for. `K` tells the calls of a session apart.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<K> {
    pub(crate) session: SessionIx,
    pub(crate) call: K,
    /// The cap of its tool, if that has one.
    pub(crate) tool: Option<ToolCap>,
}

/// A place in line.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    session: SessionIx,
    tool: Option<ToolCap>,
    number: u64,
}

/// The shares, and who waits for one, with what it is to be told by.
pub(crate) struct Allocator<K, W> {
    cap: NonZeroU16,
    all: Count,
    /// Tools with a cap of which a call runs or waits.
    tools: BTreeMap<ToolName, Tool>,
    sessions: Slab<Session<K, W>>,
    held: Slab<Held<K>>,
    /// Sessions in which a call waits; the first has waited longest for a place.
    ring: Ring,
    next: u64,
}

type Ring = VecDeque<SessionIx>;

struct Session<K, W> {
    cap: NonZeroU16,
    count: Count,
    /// Its waiting calls by the tool that they may have to wait for, each line in order.
    lines: BTreeMap<Option<ToolName>, BTreeMap<u64, Waiting<K, W>>>,
}

#[derive(Default)]
struct Tool {
    count: Count,
    /// Sessions in which a call of it waits.
    ring: Ring,
}

struct Waiting<K, W> {
    wanted: Wanted<K>,
    waiter: W,
}

struct Held<K> {
    wanted: Wanted<K>,
    overdue: bool,
}

/// How many shares of a cap are held, and how many of these by overdue calls.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    held: usize,
    overdue: usize,
}

impl Count {
    fn has_room(self, cap: NonZeroU16) -> bool {
        self.held < usize::from(cap.get())
    }

    fn is_stuck(self, cap: NonZeroU16) -> bool {
        self.overdue >= usize::from(cap.get())
    }
}

impl<K: PartialEq + Clone, W> Allocator<K, W> {
    /// Nobody holds anything.
    pub(crate) fn new(cap: NonZeroU16) -> Self {
        Self {
            cap,
            all: Count::default(),
            tools: BTreeMap::new(),
            sessions: Slab::new(),
            held: Slab::new(),
            ring: Ring::new(),
            next: 0,
        }
    }

    /// A session comes.
    pub(crate) fn join(&mut self, cap: NonZeroU16) -> SessionIx {
        let session = Session { cap, count: Count::default(), lines: BTreeMap::new() };
        SessionIx(self.sessions.insert(session))
    }

    /// A session goes. Nothing of it waits, and none of its shares is held.
    pub(crate) fn leave(&mut self, session: SessionIx) {
        self.sessions.remove(session.0);
    }

    /// Takes a share at once, if there is room. Where there is, nobody waits who could take it: see
    /// [`next`](Self::next).
    pub(crate) fn take_now(&mut self, wanted: Wanted<K>) -> Result<ShareIx, Wanted<K>> {
        match self.all.has_room(self.cap) && self.has_own_room(&wanted) {
            true => Ok(self.take(wanted)),
            false => Err(wanted),
        }
    }

    /// Takes a place in line, where there is no room.
    pub(crate) fn wait(&mut self, wanted: Wanted<K>, waiter: W) -> Ticket {
        let (session, tool, number) = (wanted.session, wanted.tool.clone(), self.next);
        self.next += 1;
        let lines = &mut self.sessions[session.0].lines;
        if lines.is_empty() {
            self.ring.push_back(session);
        }
        let name = tool.as_ref().map(|it| it.name.clone());
        let line = lines.entry(name.clone()).or_default();
        if let (true, Some(name)) = (line.is_empty(), name) {
            self.tools.entry(name).or_default().ring.push_back(session);
        }
        line.insert(number, Waiting { wanted, waiter });
        Ticket { session, tool, number }
    }

    /// Gives a share back. What has become free is to be handed out: see [`next`](Self::next).
    pub(crate) fn release(&mut self, share: ShareIx) {
        let Held { wanted, overdue } = self.held.remove(share.0);
        for count in self.counts(&wanted) {
            count.held -= 1;
            count.overdue -= usize::from(overdue);
        }
        self.forget_tool(wanted.tool);
    }

    /// Gives a place in line up, unless it has become a share meanwhile.
    pub(crate) fn cancel(&mut self, ticket: &Ticket) {
        let name = ticket.tool.as_ref().map(|it| it.name.clone());
        self.take_out(ticket.session, &name, ticket.number);
    }

    /// Hands a free place out, if somebody waits who can take it. Called after each release, until
    /// it gives nobody.
    pub(crate) fn next(&mut self) -> Option<(ShareIx, W)> {
        if self.ring.is_empty() || !self.all.has_room(self.cap) {
            return None;
        }
        let (session, heads) = self.ring.iter().find_map(|&session| {
            let heads = self.heads(session);
            (!heads.is_empty()).then_some((session, heads))
        })?;
        let (name, number) = heads.iter().min_by_key(|(_, number)| *number)?;
        let Waiting { wanted, waiter } = self.take_out(session, name, *number)?;
        // Served, it comes last again, also where it could have taken the place of a tool.
        to_back(&mut self.ring, session);
        for name in heads.iter().filter_map(|(name, _)| name.as_ref()) {
            if let Some(tool) = self.tools.get_mut(name) {
                to_back(&mut tool.ring, session);
            }
        }
        Some((self.take(wanted), waiter))
    }

    /// What a call holds is held by an overdue call from now on.
    pub(crate) fn overdue(&mut self, session: SessionIx, call: &K) {
        let is_it = |it: &Held<K>| it.wanted.session == session && it.wanted.call == *call;
        let Some((_, held)) = self.held.iter_mut().find(|(_, it)| is_it(it)) else { return };
        if std::mem::replace(&mut held.overdue, true) {
            return;
        }
        let wanted = held.wanted.clone();
        self.counts(&wanted).into_iter().for_each(|it| it.overdue += 1);
    }

    /// Whether overdue calls hold every share of a cap that the waiter needs.
    pub(crate) fn is_stuck(&self, ticket: &Ticket) -> bool {
        let session = &self.sessions[ticket.session.0];
        let tool = ticket.tool.as_ref();
        self.all.is_stuck(self.cap)
            || session.count.is_stuck(session.cap)
            || tool.is_some_and(|it| self.count_of(&it.name).is_stuck(it.cap))
    }

    /// The calls of a session that could take a place now, the first of each line.
    fn heads(&self, session: SessionIx) -> Vec<(Option<ToolName>, u64)> {
        let lines = &self.sessions[session.0].lines;
        let heads = lines.iter().filter_map(|(name, line)| {
            let (number, head) = line.first_key_value()?;
            let may = self.has_own_room(&head.wanted) && self.is_first(session, name.as_ref());
            may.then(|| (name.clone(), *number))
        });
        heads.collect()
    }

    /// Whether no other session comes first in the ring of a tool: one that could take its place.
    fn is_first(&self, session: SessionIx, name: Option<&ToolName>) -> bool {
        let Some(tool) = name.and_then(|it| self.tools.get(it)) else { return true };
        let could = |it: &&SessionIx| {
            let other = &self.sessions[it.0];
            **it == session || other.count.has_room(other.cap)
        };
        tool.ring.iter().find(could).is_none_or(|it| *it == session)
    }

    /// Whether its session and its tool have room.
    fn has_own_room(&self, wanted: &Wanted<K>) -> bool {
        let session = &self.sessions[wanted.session.0];
        let tool = wanted.tool.as_ref();
        session.count.has_room(session.cap)
            && tool.is_none_or(|it| self.count_of(&it.name).has_room(it.cap))
    }

    fn count_of(&self, tool: &ToolName) -> Count {
        self.tools.get(tool).map(|it| it.count).unwrap_or_default()
    }

    fn take(&mut self, wanted: Wanted<K>) -> ShareIx {
        self.counts(&wanted).into_iter().for_each(|it| it.held += 1);
        ShareIx(self.held.insert(Held { wanted, overdue: false }))
    }

    /// The counts that a share goes into.
    fn counts(&mut self, wanted: &Wanted<K>) -> impl IntoIterator<Item = &mut Count> {
        let tool = wanted.tool.as_ref();
        let tool = tool.map(|it| &mut self.tools.entry(it.name.clone()).or_default().count);
        let session = &mut self.sessions[wanted.session.0].count;
        [Some(&mut self.all), Some(session), tool].into_iter().flatten()
    }

    fn take_out(
        &mut self,
        session: SessionIx,
        name: &Option<ToolName>,
        number: u64,
    ) -> Option<Waiting<K, W>> {
        let lines = &mut self.sessions[session.0].lines;
        let line = lines.get_mut(name)?;
        let waiting = line.remove(&number)?;
        if line.is_empty() {
            lines.remove(name);
            if lines.is_empty() {
                self.ring.retain(|it| *it != session);
            }
            if let Some(tool) = name.as_ref().and_then(|it| self.tools.get_mut(it)) {
                tool.ring.retain(|it| *it != session);
            }
            self.forget_tool(waiting.wanted.tool.clone());
        }
        Some(waiting)
    }

    /// What nobody runs or waits for is not kept.
    fn forget_tool(&mut self, tool: Option<ToolCap>) {
        let Some(ToolCap { name, .. }) = tool else { return };
        if self.tools.get(&name).is_some_and(|it| it.count.held == 0 && it.ring.is_empty()) {
            self.tools.remove(&name);
        }
    }
}

fn to_back(ring: &mut Ring, session: SessionIx) {
    if let Some(at) = ring.iter().position(|it| *it == session) {
        ring.remove(at);
        ring.push_back(session);
    }
}

#[cfg(test)]
impl<K, W> Allocator<K, W> {
    /// Whether nobody holds anything or waits.
    pub(super) fn is_empty(&self) -> bool {
        let idle = |it: &Session<K, W>| it.count.held == 0 && it.lines.is_empty();
        let counts = self.all.held + self.all.overdue + self.tools.len() + self.ring.len();
        counts == 0 && self.held.is_empty() && self.sessions.iter().all(|(_, it)| idle(it))
    }
}
