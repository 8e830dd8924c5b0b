//! Every bound of the actors in one place, with unit and reason.

use std::time::Duration;

/// Submits that a turn's mailbox may hold before `submit` waits: enough to keep the scheduler
/// busy, small enough that a flood waits at its source.
pub(crate) const MAILBOX: usize = 1_024;

/// Events that a slow subscriber may lag behind before it loses the oldest.
pub(crate) const EVENT_RING: usize = 4_096;

/// How deep calls may nest (Claude Code docs 2.1.240: sub-agents three deep; a little more here,
/// since a tool may nest without being an agent).
pub(crate) const NESTING: u32 = 8;

/// How long a tool's check before the start may take.
pub(crate) const VALIDATE: Duration = Duration::from_secs(60);

/// How long a change of the session's context may take.
pub(crate) const CONTEXT_CHANGE: Duration = Duration::from_secs(1);

/// How long keeping one result may take before it stands inline.
pub(crate) const KEEP: Duration = Duration::from_secs(30);

/// How long a shutdown waits for actors to finish the message that they are at: half of the second
/// that it has for what it drops.
pub(crate) const LET_GO: Duration = Duration::from_millis(500);

/// How long a shutdown waits until all is written: some seconds of what a disk can lag behind.
pub(crate) const CLOSE_LOG: Duration = Duration::from_secs(10);

/// How often a stage is started again before it is given up, within [`RESTART_WINDOW`].
pub(crate) const RESTARTS: usize = 5;

/// The window of [`RESTARTS`].
pub(crate) const RESTART_WINDOW: Duration = Duration::from_secs(60);

/// How long a tool may keep its thread without a break before it is named.
pub(crate) const STALL: Duration = Duration::from_secs(1);

/// How often running tools are looked at for [`STALL`].
pub(crate) const LOOK: Duration = Duration::from_millis(250);

/// Longest tool name in an event, in characters.
pub(crate) const NAME_CHARS: usize = 128;

/// Longest progress text in an event, in characters.
pub(crate) const PROGRESS_CHARS: usize = 500;

/// Contents of results that are known by their hash, so that each is on the disk once: some 1 MB.
pub(crate) const KNOWN_CONTENTS: usize = 10_000;

/// How many file names are tried for one result, should its id come again and again.
pub(crate) const NAMES: u32 = 1_000;
