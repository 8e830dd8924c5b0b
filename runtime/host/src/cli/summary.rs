//! What a run says to a person: messages, a summary, a table of sessions and its sums.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use toolwright_contract::wording;
use toolwright_wire::Format;

use crate::replay::{
    Clock, Columns, Execute, Figures, LEGEND, Options, Replayed, Timeline, plural, time,
};

const FAINT: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Most violations that a person is shown; all of them are in the report for programs.
const MOST_VIOLATIONS: usize = 20;

/// Longest version and session id, in characters: a recording may say anything.
const LONGEST_NAME: usize = 64;

/// What is kept of a session once it has been replayed.
pub(super) struct Session {
    /// Its file, as it is.
    pub(super) file: String,
    pub(super) format: Format,
    pub(super) figures: Figures,
    pub(super) problems: usize,
    pub(super) interrupted: bool,
}

impl Session {
    pub(super) fn new(file: String, replayed: &Replayed) -> Self {
        Self {
            file,
            format: replayed.format,
            figures: replayed.figures.clone(),
            problems: replayed.problems.len(),
            interrupted: replayed.interrupted,
        }
    }

    /// Its file for a person to read.
    fn shown(&self) -> String {
        wording::quote(&self.file, usize::MAX)
    }
}

/// The sums of the sessions. A violation says which file it was in.
pub(super) fn total(sessions: &[Session]) -> Figures {
    let mut total = Figures::default();
    for session in sessions {
        total += &session.figures;
    }
    let named = |it: &Session| {
        let file = it.file.clone();
        let violations = it.figures.violations.clone();
        violations.into_iter().map(move |violation| format!("{file}: {violation}"))
    };
    total.violations = sessions.iter().flat_map(named).collect();
    total
}

/// The messages of a session that are worth a look: with several calls, or all.
pub(super) fn turns(
    out: &mut dyn Write,
    session: &Session,
    replayed: &Replayed,
    columns: usize,
    all: bool,
) -> io::Result<()> {
    write!(out, "{STRONG}{}{STRONG:#}{FAINT}  {}", session.shown(), session.format)?;
    if let Some(version) = &replayed.version {
        write!(out, ", Claude Code {}", wording::quote(version, LONGEST_NAME))?;
    }
    if let Some(id) = &replayed.session_id {
        write!(out, ", session {}", wording::quote(id, LONGEST_NAME))?;
    }
    writeln!(out, "{FAINT:#}\n")?;
    let numbered = replayed.turns.iter().enumerate();
    let shown: Vec<_> = numbered.filter(|(_, it)| all || it.calls.len() > 1).collect();
    let columns = Columns::fitting(shown.iter().map(|(_, turn)| *turn), columns);
    for &(at, turn) in &shown {
        writeln!(out, "{}", Timeline { turn, number: at + 1, columns })?;
    }
    let left_out = replayed.turns.len() - shown.len();
    if !shown.is_empty() {
        writeln!(out, "{FAINT}{LEGEND}{FAINT:#}")?;
    }
    if left_out > 0 {
        let messages = plural(left_out, "message");
        writeln!(out, "{FAINT}{messages} with a single call not shown: see --verbose{FAINT:#}")?;
    }
    if !replayed.turns.is_empty() {
        writeln!(out)?;
    }
    Ok(())
}

/// The summary of a session, or of all.
pub(super) fn figures(
    out: &mut dyn Write,
    it: &Figures,
    problems: usize,
    options: &Options,
) -> io::Result<()> {
    let mut row = |name: &str, text: String| writeln!(out, "{FAINT}{name:>12}{FAINT:#}  {text}");
    row("calls", calls(it))?;
    let notable = notable(it, problems);
    if !notable.is_empty() {
        row("of these", notable)?;
    }
    if options.execute == Execute::Dry {
        row("time", "none: a dry replay only admits calls".to_owned())?;
    } else if it.serial_us == 0 {
        row("time", "none was recorded".to_owned())?;
    } else {
        times(&mut row, it, options)?;
    }
    row("overhead", format!("{:.0} µs of CPU a call", it.overhead.us_per_call()))?;
    verdict(out, it)
}

fn times(
    row: &mut impl FnMut(&str, String) -> io::Result<()>,
    it: &Figures,
    options: &Options,
) -> io::Result<()> {
    let clock = match options.clock {
        Clock::Virtual => "",
        Clock::Real { .. } => " on the real clock",
    };
    if it.parallel_groups > 0 && it.groups > it.parallel_groups {
        let (took, serial) = (time(it.parallel_makespan_us), time(it.parallel_serial_us));
        let messages = plural(it.parallel_groups, "message");
        row("side by side", format!("{messages} took {took} instead of {serial}"))?;
    }
    row("one by one", time(it.serial_us))?;
    let times = it.serial_us as f64 / it.makespan_us.max(1) as f64;
    let gain =
        if times < 1.005 { "no faster".to_owned() } else { format!("{times:.2} times as fast") };
    row("replayed", format!("{}{clock}, {gain}", time(it.makespan_us)))?;
    let (bound, path) = (time(it.bound_us), time(it.critical_path_us));
    let lanes = plural(options.cap.get().into(), "lane");
    let at_best = match it.bound_us == it.critical_path_us {
        true => format!("{path}, however many lanes there are"),
        false => format!("{bound} with {lanes}, {path} with any number"),
    };
    row("at best", at_best)
}

fn calls(it: &Figures) -> String {
    let messages = plural(it.groups, "message");
    let together = match (it.parallel_groups, it.groups, it.max_parallel) {
        (0, ..) => String::new(),
        (_, 1, most) => format!(", at most {most} at once"),
        (some, _, most) => {
            format!(", {some} of them with calls side by side, at most {most} at once")
        }
    };
    format!("{} in {messages}{together}", it.calls)
}

fn notable(it: &Figures, problems: usize) -> String {
    let count = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let failed = it.errors.saturating_sub(it.cancelled + it.unanswered);
    let errors = count(failed, "failed");
    let cancelled = count(it.cancelled, "cancelled");
    let unanswered = count(it.unanswered, "without a recorded result");
    let waited = (it.max_wait_us > 0).then(|| format!("longest wait {}", time(it.max_wait_us)));
    let problems =
        (problems > 0).then(|| format!("{} in the recording", plural(problems, "problem")));
    let untimed = count(it.untimed, "without a recorded time");
    let all = [errors, cancelled, unanswered, untimed, waited, problems];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn verdict(out: &mut dyn Write, it: &Figures) -> io::Result<()> {
    if it.violations.is_empty() {
        let whose = match it.calls {
            0 => "there was no tool_use to answer".to_owned(),
            1 => "the one tool_use got exactly one tool_result".to_owned(),
            many => format!("each of {many} tool_use got exactly one tool_result, in order"),
        };
        return writeln!(out, "{GOOD}{:>12}  {whose}{GOOD:#}", "✓");
    }
    let count = plural(it.violations.len(), "violation");
    writeln!(out, "{BAD}{:>12}  {count} of the invariants{BAD:#}", "✗")?;
    for violation in it.violations.iter().take(MOST_VIOLATIONS) {
        writeln!(out, "{:>12}  {}", "", wording::quote(violation, usize::MAX))?;
    }
    let more = it.violations.len().saturating_sub(MOST_VIOLATIONS);
    if more > 0 {
        writeln!(out, "{:>12}  and {more} more: see --json", "")?;
    }
    Ok(())
}

/// A line a session, and the sums.
pub(super) fn table(
    out: &mut dyn Write,
    sessions: &[Session],
    total: &Figures,
    columns: usize,
) -> io::Result<()> {
    const NUMBERS: [&str; 8] =
        ["calls", "msgs", "errors", "cancelled", "at once", "one by one", "replayed", "faster"];
    /// Columns that the numbers take.
    const TAKEN: usize = 72;
    let name = columns.saturating_sub(TAKEN).clamp(16, 60);
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(std::iter::once("session").chain(NUMBERS).map(Cell::new));
    for session in sessions {
        table.add_row(row(short_name(&session.shown(), name), &session.figures));
    }
    table.add_row(row(plural(sessions.len(), "session"), total));
    for at in 1..=NUMBERS.len() {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.to_string();
    let count = lines.lines().count();
    for (at, line) in lines.lines().enumerate() {
        let style = if at == 0 {
            FAINT
        } else if at + 1 == count {
            STRONG
        } else {
            Style::new()
        };
        writeln!(out, "{style}{}{style:#}", line.trim_end())?;
    }
    writeln!(out)
}

fn row(name: String, it: &Figures) -> Vec<Cell> {
    let faster = match it.makespan_us {
        0 => "–".to_owned(),
        some => format!("× {:.2}", it.serial_us as f64 / some as f64),
    };
    let name = if it.violations.is_empty() { name } else { format!("✗ {name}") };
    let counts = [it.calls, it.groups, it.errors, it.cancelled, it.max_parallel as usize];
    let times = [time(it.serial_us), time(it.makespan_us), faster];
    let cells = std::iter::once(name).chain(counts.map(|it| it.to_string())).chain(times);
    cells.map(Cell::new).collect()
}

/// The end of a path, where files differ.
pub(super) fn short_name(name: &str, columns: usize) -> String {
    let chars = name.chars().count();
    if chars <= columns {
        return name.to_owned();
    }
    let end: String = name.chars().skip(chars + 1 - columns).collect();
    format!("…{end}")
}
