//! What may be said of journals on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(super) const EXAMPLES: &str = "\
Examples:
  toolwright journal verify ~/data/0f3c/journal.twj    is it whole, and what is open in it?
  toolwright journal show ~/data/0f3c/journal.twj      each record as a line of JSON
  toolwright journal repair ~/data/0f3c/journal.twj    cut it off where it is damaged

Exit status: 0; 1 if the journal is damaged or breaks an invariant; 2 if it could not be read.";

#[derive(Debug, Args)]
pub(super) struct JournalArgs {
    #[command(subcommand)]
    pub(super) command: JournalCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum JournalCommand {
    /// Print each record as a line of JSON
    Show(JournalFile),
    /// Check every byte and every history, and tell what a resumed session would have to do
    Verify(JournalFile),
    /// Cut a damaged journal off where the damage begins, and keep the whole beside it
    Repair(JournalFile),
}

#[derive(Debug, Args)]
pub(super) struct JournalFile {
    /// The journal
    pub(super) file: PathBuf,
}
