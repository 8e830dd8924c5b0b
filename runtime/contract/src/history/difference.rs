//! Differences: where two histories that should be the same part (I8).

use std::fmt;

use crate::event::Event;

/// The first place at which two histories are not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Index of the first differing event.
    pub at: usize,
    /// The event of the first history, if it goes on so far.
    pub left: Option<Event>,
    /// The event of the second history, if it goes on so far.
    pub right: Option<Event>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "I8: the histories differ from event {} on", self.at)?;
        for (side, event) in [("left", &self.left), ("right", &self.right)] {
            match event {
                Some(event) => writeln!(f, "  {side}: {event:?}")?,
                None => writeln!(f, "  {side}: ends here")?,
            }
        }
        Ok(())
    }
}

/// Where the second history leaves the first; `None` if they are the same.
#[must_use]
pub fn first_difference(left: &[Event], right: &[Event]) -> Option<Difference> {
    let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    if same == left.len() && same == right.len() {
        return None;
    }
    Some(Difference { at: same, left: left.get(same).cloned(), right: right.get(same).cloned() })
}
