//! What recorded tools are: the one table that gives a recorded name the safety that it had.
//!
//! The names are Claude Code's own, former ones included (docs 2.1.240 and transcripts from 1.0
//! on). What is not listed, `mcp__*` included, runs alone and is taken to write: fail closed.

use serde_json::Value;
use toolwright_contract::{Card, Effects, Footprint, OnInterrupt, ResultLimit, Safety};
use toolwright_shell_analysis::{is_read_only, may_change_directory, understand};

/// Look at things and change nothing.
const READERS: &[&str] = &[
    "AgentOutputTool",
    "BashOutput",
    "Glob",
    "Grep",
    "LS",
    "LSP",
    "ListMcpResources",
    "ListMcpResourcesTool",
    "NotebookRead",
    "Read",
    "ReadMcpResource",
    "ReadMcpResourceTool",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
];

/// May change something and yet run side by side: each is an agent with calls of its own.
const AGENTS: &[&str] = &["Agent", "Task"];

/// Run commands: a failure of theirs takes its siblings along under `--siblings bash`.
const SHELLS: &[&str] = &["Bash", "PowerShell"];

/// Runs commands that can be read before they run.
const COMMANDS: &str = "Bash";

/// The inputs that tell most of a recorded call, the most telling first.
const TELLING: &[&str] = &[
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "description",
    "subject",
    "skill",
    "path",
];

/// The card of a recorded tool. What was recorded has been through the limits of its own time.
pub(super) fn card_of(name: &str) -> Card {
    Card::new(name.to_owned(), "Answers what was recorded.")
        .telling(TELLING)
        .result_limit(ResultLimit::Unlimited)
}

/// What a call of this tool may do.
pub(super) fn safety_of(name: &str, input: &Value) -> Safety {
    if READERS.contains(&name) || (name == COMMANDS && only_looks(input)) {
        Safety::read_only()
    } else if AGENTS.contains(&name) {
        Safety {
            footprint: Footprint::Shared,
            effects: Effects::Writes,
            on_interrupt: OnInterrupt::Cancel,
        }
    } else {
        Safety::default()
    }
}

/// Whether a command changes nothing, not even where its session is.
fn only_looks(input: &Value) -> bool {
    let command = understand(input["command"].as_str().unwrap_or_default());
    let runs_something = command.programs().next().is_some();
    runs_something && is_read_only(&command) && !may_change_directory(&command)
}

/// Whether the tool runs commands.
pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn readers_and_agents_run_side_by_side_and_only_readers_need_no_start_record() {
        for name in READERS {
            assert_eq!(safety_of(name, &Value::Null), Safety::read_only(), "{name}");
        }
        for name in AGENTS {
            let safety = safety_of(name, &Value::Null);
            assert_eq!((safety.footprint, safety.effects), (Footprint::Shared, Effects::Writes));
        }
    }

    #[test]
    fn what_is_not_listed_runs_alone() {
        for name in ["Bash", "Edit", "Write", "mcp__files__read", "read", "Read ", "", "Later"] {
            assert_eq!(safety_of(name, &Value::Null), Safety::default(), "{name:?}");
        }
    }

    #[test]
    fn a_command_runs_beside_others_if_it_only_reads_and_stays_where_it_is() {
        for (tool, command, reads) in [
            ("Bash", "git log --oneline | head -3", true),
            ("Bash", "cargo test", false),
            ("Bash", "cd src && ls", false),
            ("Bash", "cat a > b", false),
            ("Bash", "", false),
            ("PowerShell", "ls", false),
        ] {
            let safety = safety_of(tool, &json!({"command": command}));
            assert_eq!(safety == Safety::read_only(), reads, "{tool} {command}");
        }
    }

    #[test]
    fn only_shells_are_shells() {
        assert!(is_shell("Bash") && is_shell("PowerShell"));
        assert!(!is_shell("BashOutput") && !is_shell("bash") && !is_shell("mcp__x__Bash"));
    }
}
