//! What a shell command would do, read without running it.
//!
//! [`understand`] reads a command by the grammar of bash and lists the simple commands in it, with
//! those that hide in substitutions, wrappers and quoted scripts. What can't be told for sure is a
//! [`Doubt`], as much a part of the answer as the list: **while there is none, no program runs that
//! the list does not name**. Everything else here is a plain function of that answer.
//!
//! Nothing is run, opened or looked up; the same text always gives the same answer.
//!
//! ```
//! use toolwright_shell_analysis::{is_read_only, understand};
//!
//! let understanding = understand("timeout 5 grep -rn main src | head -3");
//! assert!(understanding.is_full());
//! let programs: Vec<&str> = understanding.programs().collect();
//! assert_eq!(programs, ["timeout", "grep", "head"]);
//! assert!(is_read_only(&understanding));
//! ```

mod carried;
mod destruction;
mod directory;
mod display;
mod doubt;
mod exit_code;
mod options;
mod paths;
mod polling;
mod programs;
mod read_only;
mod reader;
mod screen;
mod sed;
mod shell_state;
mod understanding;
mod wrappers;

pub use destruction::destruction;
pub use directory::{Base, may_change_directory};
pub use display::{Display, display};
pub use doubt::{Doubt, Reason};
pub use exit_code::{Ending, ending};
pub use paths::{PathUse, Paths, paths};
pub use polling::{Polling, polling};
pub use read_only::{is_read_only, is_read_only_in};
pub use sed::{SedEdit, sed_edit};
pub use understanding::{
    Assignment, Carries, Command, Connector, Descriptor, Direction, Expansion, ExpansionKind,
    Place, Redirection, Understanding, Word,
};

use reader::Draft;

/// Characters of a command that are read (Claude Code docs 2.1.240: longer ones always ask).
pub const MAX_CHARACTERS: usize = 10_000;
/// Levels of nesting that are followed. A level takes below 3 KiB of stack without optimisation, so
/// all of them fit into the smallest stack that a thread gets by default.
pub const MAX_DEPTH: usize = 100;
/// Programs that one runs by way of another; each is read once more.
const MAX_CARRIED: usize = 32;

/// Reads a command without running it.
///
/// Never fails: what is not understood is in [`Understanding::doubts`], and what was read up to
/// there in [`Understanding::commands`].
#[must_use]
pub fn understand(command: &str) -> Understanding {
    let mut draft = Draft { scopes: vec![0], doubts: screen::screen(command), ..Draft::default() };
    if command.len() > MAX_CHARACTERS && command.chars().count() > MAX_CHARACTERS {
        draft.doubt(Reason::TooLong, 0);
    } else {
        reader::read(command, None, 0, Place::default(), &mut draft);
        carried::unfold(&mut draft);
        shell_state::check_evaluated(&mut draft);
    }
    let Draft { commands, doubts, functions, scopes, .. } = draft;
    Understanding { commands, doubts, functions, scopes }
}
