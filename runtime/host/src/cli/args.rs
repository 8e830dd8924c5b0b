//! What may be said on the command line.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use super::journal_args::{self, JournalArgs};
use super::permissions_args::{self, PermissionsArgs};
use super::run_args::{self, RunArgs};
use crate::AnyTool;
use crate::replay::{Clock, Execute, Live, Options, Siblings, Speed};

/// The runtime that executes an LLM agent's tool calls.
#[derive(Debug, Parser)]
#[command(name = "toolwright", version, max_term_width = 100)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Put recorded sessions through the real scheduler and see what their tool calls did.
    ///
    /// Understands Claude Code transcripts, the output of `claude -p --output-format stream-json`
    /// and streams of the Anthropic Messages API; the content of a file decides, not its name.
    /// Unless the replay is live, no recorded tool is run: each call takes its recorded time, on a
    /// clock that jumps, and answers what was recorded. One file is shown message by message,
    /// several as a table.
    ///
    /// A live replay runs the real tools in a copy of the tree that the session began with, on the
    /// real clock, and tells where their results differ. Files are worked on in the copy alone. A
    /// command starts there, but nothing confines it: use --commands in a sandbox only.
    #[command(after_help = EXAMPLES)]
    Replay(ReplayArgs),

    /// Run the tool calls that come through standard input, and write their results.
    ///
    /// The smallest embedding, for any language: one session, in which each message is a turn. A
    /// call starts as soon as its block is complete. Calls that only read start by themselves;
    /// what becomes of the others is for --allow, --ask and --deny to say.
    #[command(after_help = run_args::EXAMPLES)]
    Run(RunArgs),

    /// Look at the journal of a session, check it, or repair it.
    #[command(after_help = journal_args::EXAMPLES)]
    Journal(JournalArgs),
    /// See what permission rules decide, and why.
    #[command(after_help = permissions_args::EXAMPLES)]
    Permissions(PermissionsArgs),
}

const EXAMPLES: &str = "\
Examples:
  toolwright replay tests/fixtures/sample-session.jsonl      the sample, message by message
  toolwright replay ~/.claude/projects                       all of your own sessions
  toolwright replay run.ndjson --siblings bash               what if a failing command cancelled?
  toolwright replay run.ndjson --cap 1                       what did running side by side save?
  toolwright replay run.ndjson --clock real --speed 10       in real time, ten times as fast
  toolwright replay ~/.claude/projects --json | tail -n 1    the sums, for a program
  toolwright replay run.jsonl --execute live --tree before --into copy --only Read,Write,Edit
                                                             work on files again, in a copy

Exit status: 0, also where results of a live replay differ; 1 if an invariant was violated; 2 if nothing could be read; 130 after Ctrl-C.";

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// Recordings, and folders to search for *.jsonl, *.ndjson, *.sse and *.txt
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(super) paths: Vec<PathBuf>,

    /// What a call does
    #[arg(long, value_enum, default_value_t = ExecuteName::Recorded, value_name = "HOW")]
    execute: ExecuteName,

    /// Live: the tree that the session began with; it is only read
    #[arg(long, value_name = "DIR", required_if_eq("execute", "live"))]
    tree: Option<PathBuf>,

    /// Live: where its copy is made, a folder that is empty or doesn't exist
    #[arg(long, value_name = "DIR", required_if_eq("execute", "live"))]
    into: Option<PathBuf>,

    /// Live: run these tools, and answer the rest from the recording (default: all but commands)
    #[arg(long, value_name = "TOOL,...", value_delimiter = ',')]
    only: Vec<String>,

    /// Live: run commands too. They start in the copy, and reach all that you can reach
    #[arg(long)]
    commands: bool,

    /// What a failed call does to its siblings
    #[arg(long, value_enum, default_value_t = Siblings::Recorded, value_name = "POLICY")]
    siblings: Siblings,

    /// Whose time passes: a clock that jumps to what happens next, or everybody's
    #[arg(long, value_enum, default_value_t = ClockName::Virtual, value_name = "CLOCK")]
    clock: ClockName,

    /// How many times as fast as recorded the real clock is
    #[arg(long, value_name = "N", value_parser = speed, default_value = "1")]
    speed: Speed,

    /// The longest that a call takes: recorded time may hold a person who was asked
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    max_call: Duration,

    /// Most calls at once in a message
    #[arg(long, value_name = "N", default_value = "10")]
    cap: NonZeroU16,

    /// Decides the order of what happens at the same instant
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// A line of JSON for each session, and a last one with the sums
    #[arg(long)]
    pub(super) json: bool,

    /// Show every message, also those with one call and those of several files
    #[arg(long, short)]
    pub(super) verbose: bool,

    /// Write every event as a line of JSON; a session begins at "seq":0
    #[arg(long, value_name = "FILE")]
    pub(super) history: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExecuteName {
    /// Takes its recorded time and answers what was recorded.
    Recorded,
    /// Takes no time: admission alone.
    Dry,
    /// Runs, in a copy of the tree, with --tree and --into.
    Live,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ClockName {
    /// Jumps to the next thing that happens: hours in milliseconds, the same bytes each time.
    Virtual,
    /// Everybody's, with --speed.
    Real,
}

impl ReplayArgs {
    /// What runs and where, if the replay is live.
    pub(super) fn live(&self, tools: Vec<AnyTool>) -> Result<Option<Live>, &'static str> {
        let is_live = self.execute == ExecuteName::Live;
        match (&self.tree, &self.into) {
            (Some(tree), Some(into)) if is_live => Ok(Some(Live {
                tree: tree.clone(),
                into: into.clone(),
                only: self.only.clone(),
                commands: self.commands,
                tools,
            })),
            (None, None) if !is_live && self.only.is_empty() && !self.commands => Ok(None),
            _ => Err("--tree, --into, --only and --commands belong to --execute live"),
        }
    }

    pub(super) fn options(&self) -> Options {
        Options {
            execute: match self.execute {
                ExecuteName::Recorded | ExecuteName::Live => Execute::Recorded,
                ExecuteName::Dry => Execute::Dry,
            },
            siblings: self.siblings,
            clock: match (self.execute, self.clock) {
                (ExecuteName::Live, _) => Clock::Real { speed: Speed::AS_RECORDED },
                (_, ClockName::Virtual) => Clock::Virtual,
                (_, ClockName::Real) => Clock::Real { speed: self.speed },
            },
            cap: self.cap,
            seed: self.seed,
            max_call: self.max_call,
        }
    }
}

fn speed(text: &str) -> Result<Speed, String> {
    let factor = text.parse().ok().and_then(Speed::new);
    factor.ok_or_else(|| "give a number from 0.001 to 1000000".to_owned())
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    /// A year, in seconds: what lies beyond is a slip, and timers can't hold it.
    const LONGEST: f64 = 365.0 * 86_400.0;
    let seconds = text.parse().ok().filter(|it| (0.0..=LONGEST).contains(it));
    let seconds = seconds.ok_or_else(|| "give seconds, from 0 to a year of them".to_owned())?;
    // Whole milliseconds, as recorded times are.
    Ok(Duration::from_millis((seconds * 1_000.0).round() as u64))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_defaults_of_the_command_line_are_those_of_the_library() {
        let cli = Cli::parse_from(["toolwright", "replay", "x"]);
        let Command::Replay(args) = cli.command else { panic!("another command") };
        assert_eq!(args.options(), Options::default());
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        for bad in [
            &["--cap", "0"],
            &["--cap", "70000"],
            &["--speed", "0"],
            &["--speed", "inf"],
            &["--speed", "NaN"],
            &["--max-call", "-1"],
            &["--max-call", "NaN"],
            &["--max-call", "1e300"],
            &["--seed", "-1"],
        ] {
            let args = ["toolwright", "replay", "x"].iter().chain(bad);
            assert_eq!(Cli::try_parse_from(args).unwrap_err().exit_code(), 2, "{bad:?}");
        }
    }
}
