//! Turns, calls and results of a recording, each counted once and paired by id.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;

use crate::problem::{Problem, ProblemKind};
use crate::recording::{MAX_PROBLEMS, RecordedCall, RecordedResult, RecordedTurn, Thread};
use crate::tool_use::is_usable_id;
use crate::wording::RecordedEnding;

/// Collects what a file says in whatever order it says it; pairs it at the end.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    turns: Vec<RecordedTurn>,
    by_message: HashMap<String, usize>,
    /// Turn and place of each call; several where an id was used again.
    calls: HashMap<String, Vec<(usize, usize)>>,
    /// The first call that said the same, by fingerprint: looking at each use of an id would take
    /// hours where every call has the same one.
    said: HashMap<u64, (usize, usize)>,
    fingerprints: RandomState,
    results: Vec<HeldResult>,
    denied: HashSet<String>,
    problems: Vec<Problem>,
    omitted: usize,
}

#[derive(Debug)]
struct HeldResult {
    line: usize,
    id: String,
    result: RecordedResult,
}

impl Ledger {
    pub(crate) fn problem(&mut self, line: usize, kind: ProblemKind) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { line, kind });
        } else {
            self.omitted += 1;
        }
    }

    /// The turn of a message, by its id over the whole file; a new one where it has no id.
    pub(crate) fn turn(
        &mut self,
        message_id: Option<&str>,
        thread: impl FnOnce() -> Thread,
    ) -> usize {
        if let Some(known) = message_id.and_then(|id| self.by_message.get(id)) {
            return *known;
        }
        let turn = self.turns.len();
        if let Some(id) = message_id {
            self.by_message.insert(id.to_owned(), turn);
        }
        self.turns.push(RecordedTurn {
            message_id: message_id.map(str::to_owned),
            thread: thread(),
            calls: Vec::new(),
            truncated: false,
        });
        turn
    }

    pub(crate) fn turn_mut(&mut self, turn: usize) -> &mut RecordedTurn {
        &mut self.turns[turn]
    }

    pub(crate) fn knows(&self, id: &str) -> bool {
        self.calls.contains_key(id)
    }

    /// Counts a call once. Entries come again after a resume, and as a whole message after its
    /// parts; what differs is no repetition.
    pub(crate) fn call(&mut self, turn: usize, line: usize, call: RecordedCall) {
        let id = &call.tool_use.id;
        if !is_usable_id(id) {
            return self.problem(line, ProblemKind::UnusableId);
        }
        if let Some(&(turn, place)) = self.said.get(&self.fingerprints.hash_one(&call.tool_use)) {
            let known = &mut self.turns[turn].calls[place];
            known.used_at_ms = known.used_at_ms.or(call.used_at_ms);
            return;
        }
        if self.is_in_turn(turn, id) {
            let id = id.clone();
            return self.problem(line, ProblemKind::DuplicateId { id });
        }
        if self.knows(id) {
            let id = id.clone();
            self.problem(line, ProblemKind::ReusedId { id });
        }
        self.keep(turn, call);
    }

    /// Looks through the shorter list: the uses of the id, or the calls of the turn.
    fn is_in_turn(&self, turn: usize, id: &str) -> bool {
        let Some(uses) = self.calls.get(id) else { return false };
        let calls = &self.turns[turn].calls;
        if uses.len() < calls.len() {
            uses.iter().any(|(other, _)| *other == turn)
        } else {
            calls.iter().any(|call| call.tool_use.id == id)
        }
    }

    /// Adds a call that is known to be new to its turn.
    pub(crate) fn keep(&mut self, turn: usize, call: RecordedCall) {
        let calls = &mut self.turns[turn].calls;
        let place = (turn, calls.len());
        self.said.entry(self.fingerprints.hash_one(&call.tool_use)).or_insert(place);
        self.calls.entry(call.tool_use.id.clone()).or_default().push(place);
        calls.push(call);
    }

    pub(crate) fn result(&mut self, line: usize, id: &str, result: RecordedResult) {
        self.results.push(HeldResult { line, id: id.to_owned(), result });
    }

    /// The recording says elsewhere that this call was refused.
    pub(crate) fn deny(&mut self, id: &str) {
        self.denied.insert(id.to_owned());
    }

    /// Pairs the results and gives back the turns that have calls, and the problems by line.
    pub(crate) fn finish(mut self) -> (Vec<RecordedTurn>, Vec<Problem>) {
        let mut used: HashMap<String, usize> = HashMap::new();
        let mut answers = HashSet::new();
        for HeldResult { line, id, mut result } in std::mem::take(&mut self.results) {
            let Some(calls) = self.calls.get(&id) else {
                self.problem(line, ProblemKind::OrphanResult { id });
                continue;
            };
            if result.ending == RecordedEnding::Error && self.denied.contains(&id) {
                result.ending = RecordedEnding::Denied;
            }
            let answer = self.fingerprints.hash_one((&id, result.is_error, &result.content));
            let answered = used.entry(id.clone()).or_default();
            match calls.get(*answered) {
                Some(&(turn, place)) => {
                    *answered += 1;
                    answers.insert(answer);
                    self.turns[turn].calls[place].result = Some(result);
                }
                None if answers.contains(&answer) => {}
                None => self.problem(line, ProblemKind::DuplicateResult { id }),
            }
        }
        self.turns.retain(|turn| turn.truncated || !turn.calls.is_empty());
        self.problems.sort_by_key(|problem| problem.line);
        if self.omitted > 0 {
            let line = self.problems.last().map_or(0, |problem| problem.line);
            let kind = ProblemKind::Omitted { count: self.omitted };
            self.problems.push(Problem { line, kind });
        }
        (self.turns, self.problems)
    }
}
