//! What may be said to `toolwright permissions`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::permissions::Mode;

/// The home of the calls that `decide` is made for.
const HOME: &str = concat!("/home", "/u");

pub(super) const EXAMPLES: &str = r#"
Examples:
  toolwright permissions explain 'Bash(git push)'        what would become of it here, step by step
  toolwright permissions explain 'Read(~/.ssh/id_rsa)' --mode plan
  toolwright permissions check                           rules of your settings that do nothing
  toolwright permissions check .claude/settings.json
  toolwright permissions decide --json < calls.jsonl     a decision for each line

Input of decide, lines of JSON; rules are those of a trusted project, rooted in cwd:
  {"id":"a","tool":"Bash","input":{"command":"ls"},"rules":{"deny":["Bash(rm *)"]},
   "mode":"default","cwd":"/repo"}

Exit status: 0; 1 if check has found something; 2 if the input or a file could not be read."#;

#[derive(Debug, Args)]
pub(super) struct PermissionsArgs {
    #[command(subcommand)]
    pub(super) command: PermissionsCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum PermissionsCommand {
    /// Decide about each call of the input, by the rules that stand beside it
    Decide(DecideArgs),
    /// Decide about one call, by your settings, and tell each step
    Explain(ExplainArgs),
    /// Look for settings that can't be read and rules that do nothing
    Check(CheckArgs),
}

#[derive(Debug, Args)]
pub(super) struct DecideArgs {
    /// Answer with a line of JSON for each line; without it, with a line of text
    #[arg(long)]
    pub(super) json: bool,

    /// The home that `~` stands for
    #[arg(long, value_name = "DIR", default_value = HOME)]
    pub(super) home: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// A call as a rule would write it: `Tool`, or `Tool(...)` with its command, path or address
    #[arg(value_name = "CALL")]
    pub(super) call: String,

    /// The folder that the session would start in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) cwd: PathBuf,

    /// The permission mode; otherwise that of the settings
    #[arg(long, value_name = "MODE")]
    pub(super) mode: Option<Mode>,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Settings files; without any, all that count here
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
}
