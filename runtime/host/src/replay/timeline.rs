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

/// Shortest and longest bar, in columns.
const SHORTEST_BAR: usize = 16;
const LONGEST_BAR: usize = 60;

/// Shortest wait that is drawn and told, in microseconds: on a real clock, each call waits a bit.
const SHORTEST_WAIT: u64 = 1_000;

/// Most calls of a message that are drawn: a screen or two of them.
const MOST_CALLS: usize = 60;

/// Results above this many characters are worth a word: the usual limit of what stays inline.
const LONG_RESULT: usize = 30_000;

const FAINT: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();
const RAN: Style = AnsiColor::Green.on_default();
const FAILED: Style = AnsiColor::Red.on_default();
const CANCELLED: Style = AnsiColor::Yellow.on_default();

/// What the signs of a picture mean.
pub(crate) const LEGEND: &str = "█ runs   · waits for its turn   ✗ failed   ⊘ cancelled";

/// Where things stand in the lines of a session's pictures.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    label: usize,
    bar: usize,
}

impl Columns {
    /// Columns in which these turns fit, within a width if that is possible.
    pub fn fitting<'a>(turns: impl IntoIterator<Item = &'a PlayedTurn>, width: usize) -> Self {
        let width = width.clamp(NARROWEST, WIDEST);
        let (mut label, mut marks) = (8, 0);
        for turn in turns {
            for (at, call) in turn.calls.iter().enumerate() {
                label = label.max(measure_text_width(&call.label));
                marks = marks.max(measure_text_width(&mark(&turn.calls, at).1));
            }
        }
        let label = label.min(width * 3 / 10);
        // Number, label, bar, time and mark, with what is between them.
        let bar = width.saturating_sub(5 + label + 1 + 10 + 2 + marks);
        Self { label, bar: bar.clamp(SHORTEST_BAR, LONGEST_BAR) }
    }
}

/// The picture of a turn, with colours; write it through a stream that strips them if need be.
#[derive(Clone, Copy, Debug)]
pub struct Timeline<'a> {
    /// The turn.
    pub turn: &'a PlayedTurn,
    /// Its number, as people count.
    pub number: usize,
    /// Where things stand.
    pub columns: Columns,
}

/// Where the bars of a turn stand, and for which time.
struct Scale {
    bar: usize,
    from_us: u64,
    to_us: u64,
}

impl fmt::Display for Timeline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.heading(f)?;
        let calls = &self.turn.calls;
        let Columns { label: width, bar } = self.columns;
        let (from_us, to_us) = extent(calls);
        let scale = Scale { bar, from_us, to_us };
        for (at, call) in calls.iter().enumerate().take(MOST_CALLS) {
            let label = truncate_str(&call.label, width, "…");
            let pad = " ".repeat(width - measure_text_width(&label));
            let time = call.ran_us().map_or(Cow::Borrowed("–"), |it| Cow::Owned(time(it)));
            let (style, mark) = mark(calls, at);
            write!(f, "{FAINT}{:>4}{FAINT:#} {label}{pad} ", at + 1)?;
            scale.bar(f, call, style)?;
            write!(f, " {time:>9}")?;
            match mark.is_empty() {
                true => writeln!(f)?,
                false => writeln!(f, "  {style}{mark}{style:#}")?,
            }
        }
        match calls.len().saturating_sub(MOST_CALLS) {
            0 => Ok(()),
            more => writeln!(f, "{FAINT}     and {more} more{FAINT:#}"),
        }
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
}

impl Scale {
    fn bar(&self, f: &mut fmt::Formatter<'_>, call: &PlayedCall, style: Style) -> fmt::Result {
        let end = self.column(call.ended_us);
        let start = call.started_us.map_or(end, |it| self.column(it).min(self.bar - 1));
        let waits = if call.waited_us() >= SHORTEST_WAIT { start } else { 0 };
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
            (CANCELLED, vec![format!("⊘ {}, not started", why(call.stopped))])
        }
        Some(HowEnded::StoppedMayHaveRun) => {
            (CANCELLED, vec![format!("⊘ {} while running", why(call.stopped))])
        }
        Some(HowEnded::Refused) => (FAILED, vec![format!("✗ refused: {}", no(call.refused))]),
        Some(HowEnded::Crashed) => (FAILED, vec!["✗ crashed".to_owned()]),
        Some(HowEnded::Error) if call.is_unanswered() => {
            (CANCELLED, vec!["? no recorded result".to_owned()])
        }
        Some(HowEnded::Error) if took_others_along(calls, at) => {
            (FAILED, vec!["✗ failed, stops the rest".to_owned()])
        }
        Some(HowEnded::Error) => (FAILED, vec!["✗ failed".to_owned()]),
        Some(HowEnded::Ok) => (FAINT, vec![]),
        None => (FAILED, vec!["✗ never answered".to_owned()]),
    };
    // Of the others, the dots tell enough.
    if call.waited_us() >= SHORTEST_WAIT && words.is_empty() {
        words.push(format!("waited {}", time(call.waited_us())));
    }
    if call.result_chars > LONG_RESULT {
        words.push(format!("{} k characters", call.result_chars / 1_000));
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

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use toolwright_contract::Cascade;

    use super::*;

    fn call(label: &str, times_ms: (u64, Option<u64>, u64), ended: HowEnded) -> PlayedCall {
        let (admitted, started, over) = times_ms;
        PlayedCall {
            label: label.to_owned(),
            alone: false,
            accepted_us: 0,
            admitted_us: started.map(|_| admitted * 1_000),
            started_us: started.map(|it| it * 1_000),
            ended_us: over * 1_000,
            ended: Some(ended),
            is_error: ended != HowEnded::Ok,
            refused: None,
            stopped: None,
            was_recorded: true,
            is_untimed: false,
            result_chars: 0,
            beside: 1,
        }
    }

    fn picture(calls: Vec<PlayedCall>, width: usize) -> String {
        let turn = PlayedTurn { by_subagent: true, cascade: Cascade::Any, calls };
        let columns = Columns::fitting([&turn], width);
        strip_str(&Timeline { turn: &turn, number: 7, columns }.to_string()).to_string()
    }

    #[test]
    fn a_picture_shows_who_ran_waited_failed_and_was_cancelled_and_why() {
        let by_second = Stopped { cause: StopName::Sibling, culprit: Some(1) };
        let calls = vec![
            call("Look(a)", (0, Some(0), 500), HowEnded::Ok),
            call("Run(b)", (500, Some(500), 1_500), HowEnded::Error),
            PlayedCall {
                stopped: Some(by_second),
                ..call("Look(c)", (0, Some(250), 1_500), HowEnded::StoppedMayHaveRun)
            },
            PlayedCall {
                stopped: Some(by_second),
                ..call("Look(d)", (0, None, 1_500), HowEnded::StoppedNotStarted)
            },
            PlayedCall {
                refused: Some(RefusalName::UnknownTool),
                ..call("Nobody", (0, None, 0), HowEnded::Refused)
            },
            PlayedCall { was_recorded: false, ..call("Look(e)", (0, Some(0), 0), HowEnded::Error) },
            PlayedCall {
                result_chars: 78_000,
                ..call("Look(f)", (1_000, Some(1_000), 2_000), HowEnded::Ok)
            },
        ];
        insta::assert_snapshot!(picture(calls, 100), @r"
        message 7 · 7 calls · 2.00 s instead of 3.75 s · by a subagent
           1 Look(a)  ███████████                                   500 ms
           2 Run(b)   ···········█████████████████████              1.00 s  ✗ failed, stops the rest
           3 Look(c)        ██████████████████████████              1.25 s  ⊘ cancelled by 2 while running
           4 Look(d)  ································                   –  ⊘ cancelled by 2, not started
           5 Nobody                                                      –  ✗ refused: no tool has this name
           6 Look(e)  █                                               0 ms  ? no recorded result
           7 Look(f)  ·····················█████████████████████    1.00 s  waited 1.00 s, 78 k characters
        ");
    }

    #[test]
    fn no_line_of_a_picture_is_wider_than_asked_for_if_that_is_possible() {
        let label = "Look(".to_owned() + &"ü漢".repeat(60) + ")";
        for width in [64, 80, 100, 140] {
            let calls = vec![call(&label, (3, Some(3), 9), HowEnded::Ok); 3];
            for line in picture(calls, width).lines() {
                assert!(measure_text_width(line) <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn of_very_many_calls_the_rest_is_counted() {
        let picture = picture(vec![call("Look", (0, Some(0), 1), HowEnded::Ok); 10_000], 80);
        assert_eq!(picture.lines().count(), MOST_CALLS + 2);
        assert!(picture.ends_with("and 9940 more\n"), "{picture}");
    }

    #[test]
    fn a_turn_without_time_still_shows_that_its_calls_ran() {
        let picture = picture(vec![call("Look", (0, Some(0), 0), HowEnded::Ok); 2], 80);
        assert_eq!(picture.matches('█').count(), 2, "{picture}");
    }

    #[test]
    fn times_read_as_people_say_them() {
        for (us, said) in [
            (0, "0 ms"),
            (999, "999 µs"),
            (1_000, "1 ms"),
            (999_999, "999 ms"),
            (1_000_000, "1.00 s"),
            (61_000_000, "1 m 01 s"),
            (3_599_999_999, "59 m 59 s"),
            (7_380_000_000, "2 h 03 m"),
        ] {
            assert_eq!(time(us), said);
        }
    }
}
