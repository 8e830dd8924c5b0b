//! Commands that wait by sleeping, and what to do instead.

use crate::understanding::{Carries, Command, Connector, Understanding};

/// A wait that keeps the call busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polling {
    /// It sleeps and looks again.
    Loop,
    /// It sleeps before it does anything.
    SleepFirst,
}

/// Seconds that a command may sleep before it starts: what a server takes to come up.
const SHORT_SLEEP: f64 = 2.0;

impl Polling {
    /// What to do instead, for the model.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::Loop => {
                "This command sleeps in a loop. Run what it waits for in the background and read its \
                 output when it is done, or monitor it for the line that matters."
            }
            Self::SleepFirst => {
                "This command sleeps before it does anything. Run what it waits for in the \
                 background and ask for its output instead, or sleep no longer than two seconds."
            }
        }
    }
}

/// Whether a command in the foreground waits by sleeping.
#[must_use]
pub fn polling(understanding: &Understanding) -> Option<Polling> {
    let own = |it: &&Command| it.carries == Carries::Nothing;
    let mut commands = understanding.commands.iter().filter(own);
    let sleeps = |it: &Command| it.program_name() == Some("sleep") && !it.place.background;
    if commands.clone().any(|it| sleeps(it) && it.place.looped) {
        return Some(Polling::Loop);
    }
    let first = commands.next().filter(|it| sleeps(it))?;
    let long = match first.arguments() {
        [one] => one.literal().is_none_or(|it| seconds(it).is_none_or(|it| it > SHORT_SLEEP)),
        _ => true,
    };
    let followed = commands.next().is_some_and(|it| it.place.after != Connector::Pipe);
    (long && followed).then_some(Polling::SleepFirst)
}

fn seconds(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(['s', 'm', 'h', 'd']);
    let factor = match text.strip_prefix(digits)? {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    digits.parse::<f64>().ok().map(|it| it * factor)
}
