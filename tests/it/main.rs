//! The integration tests: each file is a behaviour, each function a sentence.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "in a test program a panic is the report, in its own functions too"
)]
#![allow(clippy::disallowed_methods, reason = "a test may spawn; the house must be empty")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test looks for one kind of event")]

mod admission;
mod built_in_inputs;
mod built_in_schemas;
mod checkpoints;
mod context;
mod crashes;
mod display;
mod edit;
mod embedding;
mod empty_house;
mod glob;
mod grep;
mod hooks;
mod input;
mod journal;
mod journaled_sessions;
mod lanes;
mod lasting_answers;
mod live_replay;
mod loose_ends;
mod multi_edit;
mod nested;
mod notebook_edit;
mod observation;
mod offered_tools;
mod permission_rules;
mod permissions;
mod pipe;
mod read;
mod replay;
mod results;
mod shared_caps;
mod siblings;
mod sleeping_machine;
#[cfg(unix)]
mod slow_bash;
#[cfg(unix)]
mod slow_journal_kills;
mod slow_replay_cli;
mod slow_ripgrep;
mod slow_run_cli;
#[cfg(target_os = "linux")]
mod slow_session_kills;
mod slow_stalls;
#[cfg(target_os = "linux")]
mod slow_warden;
mod start_records;
mod stops;
mod streaming;
mod ten_sessions;
mod tidy;
mod todo_write;
mod waits;
mod walk_through;
mod workloads;
mod write;
