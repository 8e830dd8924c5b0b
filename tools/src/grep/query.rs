//! What a call asks for, compiled: the expression, the files, and how much is shown.

use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder};
use ignore::overrides::Override;
use ignore::types::{Types, TypesBuilder};

use super::{Input, Mode};
use crate::fault::Fault;
use crate::pattern::{listed, selection};
use crate::ranking::Room;

/// Longest expression that is compiled, in bytes.
const LONGEST: usize = 16 << 10;
/// Largest size of a compiled expression, in bytes: above it, compiling takes more than a second.
const COMPILED: usize = 32 << 20;
/// Most memory for the states that a thread remembers while it matches, in bytes.
const STATES: usize = 32 << 20;
/// Longest line that is searched, and largest file for `multiline`, in bytes: a thread holds it
/// in memory.
const HELD: usize = 128 << 20;
/// Most text that is kept of a result, in bytes. A model gets the first 50,000 characters and a
/// file with the rest.
const KEPT: usize = 8 << 20;
/// Most lines of context on either side, as the schema says too.
const CONTEXT: u64 = 1_000;

/// See the module.
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    pub(super) mode: Mode,
    pub(super) only_matching: bool,
    /// Lines before and after a match.
    pub(super) context: (usize, usize),
    /// How many lines are left out, and how many of the rest are shown.
    pub(super) offset: usize,
    pub(super) limit: usize,
    numbers: bool,
    multiline: bool,
}

/// Which files of a tree are searched.
pub(super) struct Filters {
    pub(super) globs: Override,
    pub(super) types: Types,
}

impl Query {
    pub(super) fn new(input: &Input) -> Result<Self, Fault> {
        let lines = |it: Option<u64>| {
            let lines = it.or(input.around).or(input.context).unwrap_or(0).min(CONTEXT);
            if input.output_mode == Mode::Content { size(lines) } else { 0 }
        };
        Ok(Self {
            matcher: matcher(input)?,
            mode: input.output_mode,
            only_matching: input.only_matching,
            context: (lines(input.before), lines(input.after)),
            offset: size(input.offset),
            limit: if input.head_limit == 0 { usize::MAX } else { size(input.head_limit) },
            numbers: input.numbers,
            multiline: input.multiline,
        })
    }

    /// What has to be kept to show what is asked for.
    pub(super) fn room(&self) -> Room {
        Room { lines: self.offset.saturating_add(self.limit), bytes: KEPT }
    }

    /// Whether lines around matches are shown.
    pub(super) fn has_context(&self) -> bool {
        self.context != (0, 0)
    }

    /// A searcher as `rg` sets it up for files of a folder.
    pub(super) fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(self.numbers && self.mode == Mode::Content)
            .before_context(self.context.0)
            .after_context(self.context.1)
            .multi_line(self.multiline)
            .heap_limit(Some(HELD))
            .build()
    }

    /// Which files below a folder are searched; globs begin at `root`.
    pub(super) fn filters(&self, root: &Path, input: &Input) -> Result<Filters, Fault> {
        let globs = listed(input.glob.as_deref().unwrap_or_default());
        let mut types = TypesBuilder::new();
        types.add_defaults();
        if let Some(name) = &input.file_type {
            types.select(name);
        }
        let types = types.build().map_err(|it| Fault::BadPattern {
            engine: it.to_string(),
            remedy: "Send a type like `rust`, `py` or `js`, or a glob instead.",
        })?;
        Ok(Filters { globs: selection(root, globs)?, types })
    }
}

/// No number of lines is larger than what can be counted here.
fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The expression of a call, compiled as `rg` does it.
///
/// # Errors
///
/// What the engine says of it.
pub(super) fn matcher(input: &Input) -> Result<RegexMatcher, Fault> {
    let bytes = input.pattern.len();
    if bytes > LONGEST {
        return Err(Fault::TooLong { what: "pattern", bytes, limit: LONGEST });
    }
    if input.pattern.contains('\0') {
        return Err(Fault::NulInPattern);
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(true)
        .octal(false)
        .case_insensitive(input.ignore_case)
        .dot_matches_new_line(input.multiline)
        .ban_byte(Some(b'\0'))
        .size_limit(COMPILED)
        .dfa_size_limit(STATES);
    if !input.multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&input.pattern).map_err(|it| {
        let remedy = match it.kind() {
            grep_regex::ErrorKind::NotAllowed(_) => {
                "Set multiline to true to match across lines, or leave it out of the pattern."
            }
            grep_regex::ErrorKind::Regex(_) | _ => "Correct or simplify the pattern; `\\` before a special character takes it as it stands.",
        };
        Fault::BadPattern { engine: it.to_string(), remedy }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pattern: &str) -> String {
        let input = Input { pattern: pattern.to_owned(), ..Input::default() };
        matcher(&input).map_or_else(|it| it.to_string(), |_| "fine".to_owned())
    }

    #[test]
    fn what_the_engine_refuses_is_told_with_a_remedy() {
        let (deep, long) = ("(".repeat(9_000), "a".repeat(20_000));
        let refused = ["a(", "a\nb", "(?=a)", "a\0", "a{1000}{1000}{1000}", &deep[..300], &long];
        insta::assert_snapshot!(refused.map(told).join("\n--\n"), @r#"
        regex parse error:
            (?:a()
            ^
        error: unclosed group
        Correct or simplify the pattern; `\` before a special character takes it as it stands.
        --
        the literal "\n" is not allowed in a regex
        Set multiline to true to match across lines, or leave it out of the pattern.
        --
        regex parse error:
            (?:(?=a))
               ^^^
        error: look-around, including look-ahead and look-behind, is not supported
        Correct or simplify the pattern; `\` before a special character takes it as it stands.
        --
        The pattern contains a NUL character, which no text does. Send it without.
        --
        compiled regex exceeds size limit of 33554432
        Correct or simplify the pattern; `\` before a special character takes it as it stands.
        --
        regex parse error:
            (?:(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((()
                                                                                                                                                                                                                                                                                                                         ^
        error: unclosed group
        Correct or simplify the pattern; `\` before a special character takes it as it stands.
        --
        The pattern has 20000 bytes, and more than 16384 are not compiled. Send a shorter one, or search several times.
        "#);
    }

    #[test]
    fn a_pattern_that_other_engines_never_finish_is_fine() {
        assert_eq!(told("(a+)+$"), "fine");
        assert_eq!(told(r"(x+x+)+y|\w{1,500}"), "fine");
    }
}
