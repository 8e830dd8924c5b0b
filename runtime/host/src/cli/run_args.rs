//! What may be said to `toolwright run`.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use toolwright_contract::Cascade;
use toolwright_journal::Durability;

use super::args::seconds;
use super::run_settings::SettingSource;
use crate::permissions::Mode;
use crate::pipe::Asking;

pub(super) const EXAMPLES: &str = r#"
Examples:
  echo '{"type":"tool_use","id":"t1","name":"TodoWrite","input":{"todos":[]}}' | toolwright run
  toolwright run --events < calls.jsonl                  every event beside the results
  toolwright run --cwd ~/project --allow Edit,Write < calls.jsonl
  toolwright run --data ~/data --session 0f3c < calls.jsonl       with a journal; --resume goes on
  curl -sN … | toolwright run                            the stream of a Messages API response

Input, one of the two, told apart by how it begins:
  lines of JSON    a tool_use block on each line; a blank line or {"type":"message_stop"} ends a
                   message, and so does the end of the input
  a stream         the body of a streamed Messages API response, perhaps of several

Output, lines of JSON:
  {"type":"tool_result",…}            each result, in the order of the calls, as soon as it is there
  {"type":"user","message":{…}}       at the end of each message, what to send to the model next
  {"type":"user","resumed":{…},…}    with --resume: of a turn of the dead process; perhaps again
  {"type":"event",…}                  with --events
  {"type":"permission_request","request":0,…}     with --ask; to be answered by a line of input:
  {"type":"permission_answer","request":0,"allow":true}     or false, with a "message"; with a
                   "suggestion" of the question's, it counts from now on: "lasting" "session" or "always"

Exit status: 0; 2 if the arguments are wrong or nothing of the input could be read; 130 after
Ctrl-C and 143 after SIGTERM, with the calls that ran stopped and every call answered; a second
one ends at once."#;

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// The folder to work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) cwd: PathBuf,

    /// Write every event too
    #[arg(long)]
    pub(super) events: bool,

    /// Start calls of these tools; what settings deny or ask about is denied all the same
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(super) allow: Vec<String>,

    /// Never start calls of these tools
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(super) deny: Vec<String>,

    /// Ask before other calls that don't only read, by a line that a line of the input answers;
    /// otherwise they are denied
    #[arg(long)]
    ask: bool,

    /// DANGEROUS: START EVERY CALL THAT IS NOT DENIED, WITHOUT ANY QUESTION. Commands and edits
    /// that a model asks for reach everything that you can reach. For a sandbox only
    #[arg(long, conflicts_with = "ask")]
    pub(super) allow_everything: bool,

    /// Rules for calls that start: `Bash(git status) Edit(src/**)`
    #[arg(long = "allowedTools", alias = "allowed-tools", value_name = "RULES")]
    pub(super) allowed: Vec<String>,

    /// Rules for calls that never start
    #[arg(long = "disallowedTools", alias = "disallowed-tools", value_name = "RULES")]
    pub(super) disallowed: Vec<String>,

    /// What starts without a question where no rule decides: default, acceptEdits, plan, dontAsk …
    #[arg(long = "permission-mode", value_name = "MODE", conflicts_with = "allow_everything")]
    pub(super) mode: Option<Mode>,

    /// One more folder to work in
    #[arg(long = "add-dir", value_name = "DIR")]
    pub(super) directories: Vec<PathBuf>,

    /// Settings beside the usual files: a file, or the JSON itself
    #[arg(long, value_name = "FILE|JSON")]
    pub(super) settings: Option<String>,

    /// Which of the usual files to read; the administrator's are read in any case
    #[arg(long = "setting-sources", value_name = "SOURCE,...", value_delimiter = ',', value_enum)]
    pub(super) sources: Option<Vec<SettingSource>>,

    /// Most calls at once in a message
    #[arg(long, value_name = "N", default_value = "10")]
    pub(super) cap: NonZeroU16,

    /// What a failed call does to its siblings
    #[arg(long, value_enum, default_value_t = Siblings::Bash, value_name = "POLICY")]
    pub(super) siblings: Siblings,

    /// The longest that a call may run, unless its tool says otherwise
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) deadline: Option<Duration>,

    /// Where long results are kept whole; otherwise they are cut, or with --data kept there
    #[arg(long, value_name = "DIR")]
    pub(super) results: Option<PathBuf>,

    /// Keep a journal of the session in DIR/ID, so that it can be resumed if this process dies
    #[arg(long, value_name = "DIR", requires = "session")]
    pub(super) data: Option<PathBuf>,

    /// The session: letters, digits, `-` and `_`
    #[arg(long, value_name = "ID", requires = "data")]
    pub(super) session: Option<String>,

    /// Go on with that session: what its dead process owes comes first
    #[arg(long, requires = "data")]
    pub(super) resume: bool,

    /// What a power failure may cost of the journal; a process that dies costs nothing
    #[arg(long, value_enum, default_value_t = Durable::Batch, value_name = "HOW", requires = "data")]
    pub(super) durability: Durable,
}

/// What a power failure may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Durable {
    /// What the system had not written.
    None,
    /// The last fifth of a second.
    Batch,
    /// Nothing; each step waits for the disk.
    Always,
}

impl Durable {
    pub(super) fn durability(self) -> Durability {
        match self {
            Self::None => Durability::None,
            Self::Batch => Durability::Batch,
            Self::Always => Durability::Always,
        }
    }
}

/// What a failed call does to its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Siblings {
    /// A failed command stops them.
    Bash,
    /// Nothing stops them.
    None,
    /// Any failed call stops them.
    Any,
}

impl Siblings {
    pub(super) fn cascade(self) -> Cascade {
        match self {
            Self::Bash => Cascade::Declared,
            Self::None => Cascade::Never,
            Self::Any => Cascade::Any,
        }
    }
}

impl RunArgs {
    pub(super) fn asking(&self) -> Asking {
        if self.ask { Asking::ByLine } else { Asking::Headless }
    }
}
