//! The table of tool names that rules use: families, fields and former names.
//!
//! It is the only place of the package that names tools. A tool that isn't here is [`Plain`], or
//! [`Server`] by its prefix (Claude Code docs 2.1.240).
//!
//! [`Plain`]: Family::Plain
//! [`Server`]: Family::Server

use toolwright_contract::Family;

/// What is known of a tool from its name.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The name.
    pub name: &'static str,
    /// What its rules are about.
    pub family: Family,
    /// The tool whose specifiers are consulted for it.
    pub rules: &'static str,
    /// Fields of the input that a parameter rule can name. The first is the primary one, which
    /// parameter rules can't name; it is empty where there is none.
    pub fields: &'static [&'static str],
    /// Whether a call starts without a question where no rule says otherwise.
    pub is_free: bool,
    /// Whether only a person can answer it.
    pub needs_user: bool,
}

const COMMAND: &str = "Bash";
const FOREIGN: &str = "PowerShell";
const READ: &str = "Read";
const EDIT: &str = "Edit";

/// The prefix of every tool of an MCP server.
pub(crate) const SERVER_PREFIX: &str = "mcp__";
/// What stands between server and tool.
pub(crate) const SERVER_SEPARATOR: &str = "__";

const fn known(
    name: &'static str,
    family: Family,
    rules: &'static str,
    fields: &'static [&'static str],
    is_free: bool,
) -> Known {
    Known { name, family, rules, fields, is_free, needs_user: false }
}

const fn free(name: &'static str) -> Known {
    known(name, Family::Plain, name, &[], true)
}

const fn asked(name: &'static str) -> Known {
    known(name, Family::Plain, name, &[], false)
}

const SHELL_FIELDS: &[&str] =
    &["command", "timeout", "description", "run_in_background", "dangerouslyDisableSandbox"];
const GREP_FIELDS: &[&str] =
    &["path", "pattern", "glob", "type", "output_mode", "multiline", "head_limit", "offset"];
const AGENT_FIELDS: &[&str] = &[
    "",
    "subagent_type",
    "model",
    "effort",
    "run_in_background",
    "name",
    "isolation",
    "description",
    "prompt",
    "team_name",
    "mode",
];

const TOOLS: &[Known] = &[
    known(COMMAND, Family::Command, COMMAND, SHELL_FIELDS, false),
    known(
        "Monitor",
        Family::Command,
        COMMAND,
        &["command", "description", "timeout_ms", "persistent"],
        false,
    ),
    known(FOREIGN, Family::ForeignCommand, FOREIGN, SHELL_FIELDS, false),
    known(READ, Family::ReadPath, READ, &["file_path", "offset", "limit", "pages"], true),
    known("Grep", Family::ReadPath, READ, GREP_FIELDS, true),
    known("Glob", Family::ReadPath, READ, &["path", "pattern"], true),
    known("LS", Family::ReadPath, READ, &["path", "ignore"], true),
    known("LSP", Family::ReadPath, READ, &["file_path", "operation", "line", "character"], true),
    known("NotebookRead", Family::ReadPath, READ, &["notebook_path", "cell_id"], true),
    known(
        EDIT,
        Family::EditPath,
        EDIT,
        &["file_path", "old_string", "new_string", "replace_all"],
        false,
    ),
    known("Write", Family::EditPath, EDIT, &["file_path", "content"], false),
    known("MultiEdit", Family::EditPath, EDIT, &["file_path", "edits"], false),
    known(
        "NotebookEdit",
        Family::EditPath,
        EDIT,
        &["notebook_path", "new_source", "cell_id", "cell_type", "edit_mode"],
        false,
    ),
    known("WebFetch", Family::Domain, "WebFetch", &["url", "prompt", "offset"], false),
    known("Skill", Family::Skill, "Skill", &["", "skill", "args"], false),
    known("Agent", Family::Agent, "Agent", AGENT_FIELDS, true),
    Known { needs_user: true, ..free("AskUserQuestion") },
    asked("Artifact"),
    asked("EnterWorktree"),
    asked("ExitPlanMode"),
    asked("WebSearch"),
    asked("Workflow"),
    asked("ShareOnboardingGuide"),
    asked("Cd"),
    asked("REPL"),
    free("CronCreate"),
    free("CronDelete"),
    free("CronList"),
    free("EndConversation"),
    free("EnterPlanMode"),
    free("ExitWorktree"),
    free("ListAgents"),
    free("ListMcpResourcesTool"),
    free("PushNotification"),
    free("ReadMcpResourceTool"),
    free("ReadMcpResourceDirTool"),
    free("RemoteTrigger"),
    free("ReportFindings"),
    free("ScheduleWakeup"),
    free("SendMessage"),
    free("SendUserFile"),
    free("TaskCreate"),
    free("TaskGet"),
    free("TaskList"),
    free("TaskOutput"),
    free("TaskStop"),
    free("TaskUpdate"),
    free("TodoWrite"),
    free("ToolSearch"),
    free("WaitForMcpServers"),
];

/// Former names, and what they are now.
const FORMER: &[(&str, &str)] = &[
    ("Task", "Agent"),
    ("BashOutput", "TaskOutput"),
    ("AgentOutputTool", "TaskOutput"),
    ("KillShell", "TaskStop"),
    ("KillBash", "TaskStop"),
    ("exit_plan_mode", "ExitPlanMode"),
];

/// The name that a name stands for today.
#[must_use]
pub fn canonical(name: &str) -> &str {
    FORMER.iter().find(|(former, _)| *former == name).map_or(name, |(_, now)| now)
}

/// What is known of a tool, by its present or a former name.
#[must_use]
pub fn known_tool(name: &str) -> Option<&'static Known> {
    let name = canonical(name);
    TOOLS.iter().find(|it| it.name == name)
}

/// What a tool's rules are about.
#[must_use]
pub fn family_of(name: &str) -> Family {
    match known_tool(name) {
        Some(known) => known.family,
        None if name.starts_with(SERVER_PREFIX) => Family::Server,
        None => Family::Plain,
    }
}

/// The tool whose name stands in the rules of a family, if the family has one.
#[must_use]
pub(crate) const fn rule_name(family: Family) -> Option<&'static str> {
    match family {
        Family::Command => Some(COMMAND),
        Family::ForeignCommand => Some(FOREIGN),
        Family::ReadPath => Some(READ),
        Family::EditPath => Some(EDIT),
        Family::Domain => Some("WebFetch"),
        Family::Skill => Some("Skill"),
        Family::Agent => Some("Agent"),
        Family::Server | Family::Plain => None,
    }
}

/// Whether a `Read` deny also stops this tool, which changes files (Claude Code 2.1.208, 2.1.228).
#[must_use]
pub(crate) fn heeds_read_deny(tool: &str) -> bool {
    tool != "NotebookEdit"
}

/// The field that holds a pattern of paths, in a search.
#[must_use]
pub(crate) fn glob_field(tool: &str) -> Option<&'static str> {
    match tool {
        "Glob" => Some("pattern"),
        "Grep" => Some("glob"),
        _ => None,
    }
}

/// Whether a name is that of the user's own command for changing directory, which no tool has.
#[must_use]
pub(crate) fn is_cd(name: &str) -> bool {
    name == "Cd"
}

/// The agent type that is meant where a call names none.
pub(crate) const DEFAULT_AGENT: &str = "general-purpose";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_name_is_the_present_tool() {
        assert_eq!(canonical("Task"), "Agent");
        assert_eq!(known_tool("KillBash").map(|it| it.name), Some("TaskStop"));
    }

    #[test]
    fn a_name_that_nobody_knows_is_plain_or_a_servers() {
        assert_eq!(family_of("toString"), Family::Plain);
        assert_eq!(family_of("mcp__a__b"), Family::Server);
    }
}
