//! The first of many results by their rank, in bounded memory, whatever order they come in.

use std::collections::BTreeMap;

use crate::walk::Gather;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) lines: usize,
    pub(crate) bytes: usize,
}

/// Keeps the results of the lowest ranks: as many as fill the room, and none beyond. What is kept
/// depends on the results alone, not on their order or on the threads that found them.
#[derive(Debug)]
pub(crate) struct Ranking<R, T> {
    kept: BTreeMap<R, (T, Room)>,
    taken: Room,
    room: Room,
}

impl<R: Ord, T> Ranking<R, T> {
    pub(crate) fn new(room: Room) -> Self {
        Self { kept: BTreeMap::new(), taken: Room { lines: 0, bytes: 0 }, room }
    }

    /// Whether a result of this rank would be kept.
    pub(crate) fn has_room(&self, rank: &R) -> bool {
        !self.is_full(self.taken) || self.kept.last_key_value().is_none_or(|(last, _)| rank < last)
    }

    /// Adds a result, with the room that it takes.
    pub(crate) fn add(&mut self, rank: R, result: T, takes: Room) {
        if !self.has_room(&rank) {
            return;
        }
        if let Some((_, old)) = self.kept.insert(rank, (result, takes)) {
            self.taken = less(self.taken, old);
        }
        self.taken.lines += takes.lines;
        self.taken.bytes += takes.bytes;
        while let Some(last) = self.kept.last_entry() {
            let without = less(self.taken, last.get().1);
            if !is_full(self.room, without) {
                break;
            }
            last.remove();
            self.taken = without;
        }
    }

    /// The results, in order.
    pub(crate) fn into_results(self) -> impl Iterator<Item = (R, T)> {
        self.kept.into_iter().map(|(rank, (result, _))| (rank, result))
    }

    fn is_full(&self, taken: Room) -> bool {
        is_full(self.room, taken)
    }
}

fn is_full(room: Room, taken: Room) -> bool {
    taken.lines >= room.lines || taken.bytes >= room.bytes
}

fn less(taken: Room, part: Room) -> Room {
    Room { lines: taken.lines - part.lines, bytes: taken.bytes - part.bytes }
}

impl<R: Ord + Send, T: Send> Gather for Ranking<R, T> {
    fn merge(&mut self, other: Self) {
        for (rank, (result, takes)) in other.kept {
            self.add(rank, result, takes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { lines: 4, bytes: 100 };

    fn ranking(results: &[(u32, usize)]) -> Ranking<u32, usize> {
        let mut ranking = Ranking::new(ROOM);
        for &(rank, lines) in results {
            ranking.add(rank, lines, Room { lines, bytes: lines * 10 });
        }
        ranking
    }

    fn kept(ranking: Ranking<u32, usize>) -> Vec<u32> {
        ranking.into_results().map(|(rank, _)| rank).collect()
    }

    #[test]
    fn the_lowest_ranks_are_kept_until_the_room_is_full() {
        let results = [(5, 1), (3, 2), (1, 1), (4, 1), (2, 1)];
        assert_eq!(kept(ranking(&results)), [1, 2, 3]);
        assert!(!ranking(&results).has_room(&4) && ranking(&results).has_room(&0));
    }

    #[test]
    fn bytes_fill_the_room_as_lines_do() {
        let mut ranking = Ranking::new(Room { lines: 100, bytes: 10 });
        for rank in [3, 1, 2] {
            ranking.add(rank, (), Room { lines: 1, bytes: 6 });
        }
        assert_eq!(ranking.into_results().map(|(rank, ())| rank).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn neither_order_nor_threads_change_what_is_kept() {
        let results = [(5, 1), (3, 9), (1, 1), (4, 1), (2, 1)];
        let (one, other) = results.split_at(2);
        let mut merged = ranking(one);
        merged.merge(ranking(other));
        let mut reversed = results;
        reversed.reverse();
        assert_eq!(kept(merged), kept(ranking(&reversed)));
        assert_eq!(kept(ranking(&reversed)), [1, 2, 3]);
    }

    #[test]
    fn a_room_of_nothing_keeps_nothing() {
        let mut ranking = Ranking::new(Room { lines: 0, bytes: 100 });
        ranking.add(1, (), Room { lines: 1, bytes: 1 });
        assert_eq!(ranking.into_results().count(), 0);
    }
}
