//! Where the results of a live replay differ from the recorded ones, for a person.

use std::io::{self, Write};

use anstyle::Style;
use toolwright_contract::wording::quote;

use crate::replay::{Compared, plural};

const FAINT: Style = Style::new().dimmed();

/// Longest quoted line, id and name, in characters.
const LINE: usize = 80;

/// Writes each call whose result differs, with the first line that does, and the sums.
pub(super) fn table(out: &mut dyn Write, compared: &[Compared]) -> io::Result<()> {
    let different: Vec<_> = compared.iter().filter(|it| !it.same).collect();
    if !different.is_empty() {
        writeln!(out)?;
    }
    for it in &different {
        let (id, tool) = (quote(it.id.as_str(), LINE), quote(&it.tool, LINE));
        let recorded = match it.recorded_is_error {
            None => "nothing was recorded",
            Some(true) => "was an error",
            Some(false) => "was no error",
        };
        let new = if it.new_is_error { "is an error" } else { "is no error" };
        writeln!(out, "{tool} {FAINT}{id}{FAINT:#}  {recorded}, {new}")?;
        writeln!(out, "  {FAINT}recorded{FAINT:#}  {}", shown(&it.recorded_line))?;
        writeln!(out, "  {FAINT}now{FAINT:#}       {}", shown(&it.new_line))?;
    }
    let is_other = |it: &&&Compared| it.recorded_is_error != Some(it.new_is_error);
    let others = different.iter().filter(is_other).count();
    let (calls, same) = (plural(compared.len(), "call"), compared.len() - different.len());
    writeln!(
        out,
        "{FAINT}{:>12}{FAINT:#}  {calls} ran: {same} with the recorded result, {} with another, \
         {others} of these in whether it is an error",
        "live",
        different.len()
    )
}

/// A line of a result; a tab would be taken for something that steers the terminal.
fn shown(line: &str) -> String {
    quote(&line.replace('\t', " "), LINE)
}
