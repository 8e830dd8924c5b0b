//! The picture of one turn: a line a call, with a bar where it ran and dots where it waited.

use std::borrow::Cow;
use std::fmt;

use anstyle::{AnsiColor, Style};
use console::{measure_text_width, truncate_str};
use toolwright_contract::{HowEnded, RefusalName, StopName};

use super::PlayedTurn;
use super::played::{PlayedCall, Stopped};

/// Narrowest picture, in columns: below it, lines are longer than asked for.
const NARROWEST: usize = 64;

/// Widest picture, in columns: a bar need not be longer to be read.
const WIDEST: usize = 140;

/// Results above this many characters are worth a word: the usual limit of what stays inline.
const LONG_RESULT: usize = 30_000;

const FAINT: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();
const RAN: Style = AnsiColor::Green.on_default();
const FAILED: Style = AnsiColor::Red.on_default();
const CANCELLED: Style = AnsiColor::Yellow.on_default();

/// What the signs of a picture mean.
pub(crate) const LEGEND: &str = "█ runs   · waits for its turn   ✗ failed   ⊘ cancelled";

/// The picture of a turn, with colours; write it through a stream that strips them if need be.
#[derive(Clone, Copy, Debug)]
pub struct Timeline<'a> {
    /// The turn.
    pub turn: &'a PlayedTurn,
    /// Its number, as people count.
    pub number: usize,
    /// Columns that it may take.
    pub width: usize,
}

/// Where things stand in a line.
struct Layout {
    label: usize,
    bar: usize,
    from_us: u64,
    to_us: u64,
}

impl fmt::Display for Timeline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = &self.turn.calls;
        self.heading(f)?;
        let marks: Vec<_> = (0..calls.len()).map(|it| mark(calls, it)).collect();
        let layout = self.layout(&marks);
        for (at, (call, (style, mark))) in calls.iter().zip(&marks).enumerate() {
            let label = truncate_str(&call.label, layout.label, "…");
            let pad = " ".repeat(layout.label - measure_text_width(&label));
            let time = call.ran_us().map_or(Cow::Borrowed("–"), |it| Cow::Owned(time(it)));
            write!(f, "{FAINT}{:>4}{FAINT:#} {label}{pad} ", at + 1)?;
            layout.bar(f, call, *style)?;
            write!(f, " {time:>9}")?;
            match mark.is_empty() {
                true => writeln!(f)?,
                false => writeln!(f, "  {style}{mark}{style:#}")?,
            }
        }
        Ok(())
    }
}

impl Timeline<'_> {
    fn heading(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = &self.turn.calls;
        let (from, to) = extent(calls);
        let serial: u64 = calls.iter().filter_map(PlayedCall::ran_us).sum();
        let took = to.saturating_sub(from);
        let (number, count) = (self.number, plural(calls.len(), "call"));
        write!(f, "{STRONG}message {number}{STRONG:#}{FAINT} · {count} · {}", time(took))?;
        if serial > took {
            write!(f, " instead of {}", time(serial))?;
        }
        if self.turn.by_subagent {
            write!(f, " · by a subagent")?;
        }
        writeln!(f, "{FAINT:#}")
    }

    fn layout(&self, marks: &[(Style, String)]) -> Layout {
        let width = self.width.clamp(NARROWEST, WIDEST);
        let labels = self.turn.calls.iter().map(|it| measure_text_width(&it.label));
        let label = labels.max().unwrap_or(0).clamp(8, width / 3);
        let mark = marks.iter().map(|(_, it)| measure_text_width(it)).max().unwrap_or(0);
        // Number, label, bar, time, mark, with what is between them.
        let bar = width.saturating_sub(5 + label + 1 + 10 + 2 + mark).clamp(10, 60);
        let (from_us, to_us) = extent(&self.turn.calls);
        Layout { label, bar, from_us, to_us }
    }
}

impl Layout {
    fn bar(&self, f: &mut fmt::Formatter<'_>, call: &PlayedCall, style: Style) -> fmt::Result {
        let end = self.column(call.ended_us);
        let start = call.started_us.map_or(end, |it| self.column(it).min(self.bar - 1));
        let waits = if call.waited_us() > 0 { start } else { 0 };
        let runs = match call.started_us {
            // The shortest run is seen too.
            Some(_) => (end - start.min(end)).max(1),
            None => 0,
        };
        let style = if style == FAINT { RAN } else { style };
        let (gap, rest) = (start - waits, self.bar - start - runs);
        write!(f, "{}{FAINT}{}{FAINT:#}", " ".repeat(gap), "·".repeat(waits))?;
        write!(f, "{style}{}{style:#}{}", "█".repeat(runs), " ".repeat(rest))
    }

    fn column(&self, at_us: u64) -> usize {
        let all = self.to_us.saturating_sub(self.from_us).max(1);
        let done = at_us.clamp(self.from_us, self.to_us.max(self.from_us)) - self.from_us;
        (u128::from(done) * self.bar as u128).div_ceil(u128::from(all)) as usize
    }
}

/// From the first place in line to the last end.
fn extent(calls: &[PlayedCall]) -> (u64, u64) {
    let from = calls.iter().map(|it| it.accepted_us).min().unwrap_or(0);
    (from, calls.iter().map(|it| it.ended_us).max().unwrap_or(from))
}

/// What is worth a word about a call.
fn mark(calls: &[PlayedCall], at: usize) -> (Style, String) {
    let call = &calls[at];
    let (style, mut words) = match call.ended {
        Some(HowEnded::StoppedNotStarted) => {
            (CANCELLED, vec![format!("⊘ {} before it started", why(call.stopped))])
        }
        Some(HowEnded::StoppedMayHaveRun) => {
            (CANCELLED, vec![format!("⊘ {} while it ran", why(call.stopped))])
        }
        Some(HowEnded::Refused) => (FAILED, vec![format!("✗ refused: {}", no(call.refused))]),
        Some(HowEnded::Crashed) => (FAILED, vec!["✗ crashed".to_owned()]),
        Some(HowEnded::Error) if !call.was_recorded => {
            (CANCELLED, vec!["? no result was recorded".to_owned()])
        }
        Some(HowEnded::Error) if took_others_along(calls, at) => {
            (FAILED, vec!["✗ failed, which stops the rest".to_owned()])
        }
        Some(HowEnded::Error) => (FAILED, vec!["✗ failed".to_owned()]),
        Some(HowEnded::Ok) => (FAINT, vec![]),
        None => (FAILED, vec!["✗ never answered".to_owned()]),
    };
    if call.waited_us() > 0 && call.started_us.is_some() {
        words.push(format!("waited {}", time(call.waited_us())));
    }
    if call.result_chars > LONG_RESULT {
        words.push(format!("long result, {} k characters", call.result_chars / 1_000));
    }
    (style, words.join(", "))
}

fn took_others_along(calls: &[PlayedCall], at: usize) -> bool {
    let by = |it: &PlayedCall| it.was_cancelled().then_some(it.stopped?.culprit).flatten();
    calls.iter().any(|it| by(it).is_some_and(|culprit| culprit as usize == at))
}

fn why(stopped: Option<Stopped>) -> String {
    match stopped {
        Some(Stopped { cause: StopName::Sibling, culprit: Some(by) }) => {
            format!("cancelled by {}", by + 1)
        }
        Some(Stopped { cause: StopName::Sibling, culprit: None }) => {
            "cancelled by a sibling".into()
        }
        Some(Stopped { cause: StopName::User, .. }) => "interrupted".into(),
        Some(Stopped { cause: StopName::Deadline, .. }) => "timed out".into(),
        Some(Stopped { cause: StopName::Discarded, .. }) => "discarded".into(),
        Some(Stopped { cause: StopName::Shutdown, .. }) => "ended with the session".into(),
        Some(Stopped { cause: StopName::TooManyCalls, .. }) => "one of too many calls".into(),
        None => "stopped".into(),
    }
}

fn no(refused: Option<RefusalName>) -> &'static str {
    match refused {
        Some(RefusalName::UnknownTool) => "no tool has this name",
        Some(RefusalName::InvalidInput) => "its input is malformed",
        Some(RefusalName::Denied) => "denied",
        Some(RefusalName::StageFailed) => "a stage broke down",
        Some(RefusalName::Unrecorded) => "its start could not be recorded",
        None => "no reason was given",
    }
}

/// A time as people say it.
pub(crate) fn time(us: u64) -> String {
    const SECOND: u64 = 1_000_000;
    match us {
        0 => "0 ms".to_owned(),
        1..1_000 => format!("{us} µs"),
        1_000..SECOND => format!("{} ms", us / 1_000),
        _ if us < 60 * SECOND => format!("{:.2} s", us as f64 / SECOND as f64),
        _ if us < 3_600 * SECOND => {
            let seconds = us / SECOND;
            format!("{} m {:02} s", seconds / 60, seconds % 60)
        }
        _ => {
            let minutes = us / SECOND / 60;
            format!("{} h {:02} m", minutes / 60, minutes % 60)
        }
    }
}

/// `1 call`, `2 calls`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
