//! What a person is offered, so that the same isn't asked again.

use toolwright_contract::Family;

use crate::call::Subject;
use crate::command::Facts;
use crate::decide::Case;
use crate::decision::{Reason, Suggestion};
use crate::mode::Mode;
use crate::names;

/// Most rules that one question offers (Claude Code docs 2.1.240).
const MOST_RULES: usize = 5;

/// Programs whose first word says what they do.
const WITH_SUBCOMMANDS: [&str; 24] = [
    "apt",
    "aws",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "deno",
    "docker",
    "dotnet",
    "gcloud",
    "gh",
    "git",
    "go",
    "gradle",
    "kubectl",
    "make",
    "mvn",
    "npm",
    "pip",
    "pnpm",
    "poetry",
    "terraform",
    "uv",
    "yarn",
];

/// Words of theirs that run whatever follows.
const RUNNERS: [&str; 7] = ["exec", "run", "x", "dlx", "eval", "shell", "tool"];

/// What spares a question, where a rule or a mode can.
pub(crate) fn suggestions(
    case: &Case<'_>,
    reason: &Reason,
    facts: Option<&Facts>,
) -> Vec<Suggestion> {
    let is_open = matches!(
        reason,
        Reason::NoRule(_)
            | Reason::OutsideWorkingDirectories(_)
            | Reason::Unvouched(_)
            | Reason::DoubtfulAddress(..)
    );
    if !is_open || case.mode == Mode::Plan {
        return Vec::new();
    }
    let tool = names::rule_name(case.call.family).unwrap_or(case.call.tool);
    let rules: Vec<String> = match (&case.call.subject, facts) {
        (Subject::Command(_), Some(facts)) => {
            let parts = facts.unallowed(case);
            if parts.len() > MOST_RULES {
                return Vec::new();
            }
            let rules = parts.iter().map(|it| command(&it.text));
            let rules: Option<Vec<String>> = rules.collect();
            rules.unwrap_or_default().iter().map(|it| format!("{tool}({it})")).collect()
        }
        (Subject::Files(files), _) => {
            let is_edit = case.call.family == Family::EditPath;
            if is_edit && files.iter().all(|it| case.places.contain(it)) {
                return vec![Suggestion::Mode(Mode::AcceptEdits)];
            }
            let folders = files.iter().filter_map(|it| it.path.parent());
            folders.map(|it| format!("{tool}(/{}/**)", escaped(&it.to_string_lossy()))).collect()
        }
        (Subject::Address(Ok(address)), _) => vec![format!("{tool}(domain:{})", address.host)],
        (Subject::Named { name, bare }, _) => {
            vec![format!("{tool}({name}{})", if *bare { "" } else { " *" })]
        }
        (Subject::Tool, _) => vec![case.call.tool.to_owned()],
        (Subject::Command(_) | Subject::Address(Err(_)) | Subject::Malformed(_), _) => Vec::new(),
    };
    if rules.is_empty() { Vec::new() } else { vec![Suggestion::Allow(rules)] }
}

/// The rule for a part: its subcommand with any arguments where it has one, else the part itself.
fn command(text: &str) -> Option<String> {
    let mut words = text.split(' ');
    let program = words.next().filter(|it| !it.is_empty())?;
    let second = words.next().unwrap_or_default();
    let is_word = second.starts_with(|it: char| it.is_ascii_lowercase())
        && second.bytes().all(|it| it.is_ascii_alphanumeric() || b"-:_".contains(&it));
    if WITH_SUBCOMMANDS.contains(&program) && is_word && !RUNNERS.contains(&second) {
        return Some(format!("{program} {second} *"));
    }
    // A rule has no way to say a star that is meant.
    let is_plain = !text.contains('*') && !text.contains('\n');
    is_plain.then(|| text.to_owned())
}

/// A path as a pattern for it alone.
fn escaped(path: &str) -> String {
    let mut text = String::new();
    for it in path.chars() {
        if "[]*?\\".contains(it) {
            text.push('\\');
        }
        text.push(it);
    }
    text
}
