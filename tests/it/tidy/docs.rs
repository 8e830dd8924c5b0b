//! Rules about any text: what the documents claim, and what no file may carry.

use super::tree::{Finding, is_fixture};

/// The one place that packages come from.
const REGISTRY: &str = "https://github.com/rust-lang/crates.io-index";
/// What marks a note to oneself; written so that this file passes its own rule.
const NOTES: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
/// Roots of home and work folders on a developer's machine.
const HOMES: [&str; 4] = ["home", "root", "work", "Users"];
/// Endings by which a word in backquotes is taken for a path.
const ENDINGS: [&str; 4] = [".rs", ".toml", ".md", ".jsonl"];
/// First folders by which a word in backquotes is taken for a path.
const TOP: [&str; 6] = ["actors/", "benches/", "runtime/", "tests/", "tools/", ".ci/"];

pub(crate) fn notes_to_self(path: &str, text: &str) -> Vec<Finding> {
    if is_fixture(path) {
        return Vec::new();
    }
    let message = "holds a note to oneself; do it, or file an issue";
    let holds = |line: &str| words(line).any(|word| NOTES.contains(&word));
    lines_where(path, text, message, holds)
}

pub(crate) fn machine_paths(path: &str, text: &str) -> Vec<Finding> {
    if is_fixture(path) {
        return Vec::new();
    }
    let roots: Vec<String> = HOMES.iter().map(|home| format!("/{home}/")).collect();
    let message = "holds a path of somebody's machine; make it relative, or a fixture";
    let starts = |line: &str, root: &str| {
        line.match_indices(root).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "._-~*}".contains(c))
        })
    };
    lines_where(path, text, message, |line| roots.iter().any(|root| starts(line, root)))
}

/// The lock file and the configuration name the public registry and no mirror of it.
pub(crate) fn registries(path: &str, text: &str) -> Vec<Finding> {
    let lock = path == "Cargo.lock";
    let config = path.contains(".cargo/config");
    let message = "names another registry; packages come from crates.io";
    lines_where(path, text, message, |line| {
        let source = lock && line.starts_with("source = ") && !line.contains(REGISTRY);
        let replaced =
            config && ["replace-with", "registry", "index"].iter().any(|w| line.contains(w));
        source || replaced || line.contains(concat!("sparse", "+http"))
    })
}

/// A path in backquotes or in a fenced block is a claim that something is there.
pub(crate) fn code_map(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, code) in code_spans(text) {
        for word in code.split(|c: char| c.is_whitespace() || "(),;\"".contains(c)) {
            if is_path(word) && !exists(word) {
                let message = format!("names `{word}`, which does not exist; correct the map");
                findings.push(Finding::new(path, line, message));
            }
        }
    }
    findings
}

pub(crate) fn members_named(path: &str, text: &str, members: &[String]) -> Vec<Finding> {
    let spans = code_spans(text);
    let named = |member: &str| spans.iter().any(|(_, code)| code.trim_end_matches('/') == member);
    let missing = members.iter().filter(|member| !named(member));
    let message = |member| format!("does not name the package `{member}`; add it to the code map");
    missing.map(|member| Finding::new(path, 1, message(member))).collect()
}

fn lines_where(
    path: &str,
    text: &str,
    message: &str,
    breach: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let numbered = text.lines().zip(1..);
    let hits = numbered.filter(|(line, _)| breach(line));
    hits.map(|(_, number)| Finding::new(path, number, message)).collect()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// What stands in backquotes, and each line of a fenced block, with line numbers.
fn code_spans(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut spans = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            spans.push((number, line));
        } else {
            spans.extend(line.split('`').skip(1).step_by(2).map(|span| (number, span)));
        }
    }
    spans
}

/// A word is a path of ours by its first folder or its ending; patterns and outside paths are not.
fn is_path(word: &str) -> bool {
    let outside = word.starts_with(['/', '~', '.']) && !word.starts_with(".ci/");
    let pattern = word.contains(['*', '<', '{', ':', '$', '…']) || word.contains("..");
    let ours = TOP.iter().any(|top| word.starts_with(top));
    let named = ENDINGS.iter().any(|ending| word.len() > ending.len() && word.ends_with(ending));
    (ours || named) && !outside && !pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(findings: &[Finding]) -> Vec<usize> {
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_note_to_self_is_a_whole_word() {
        let note = NOTES[0];
        let text = format!("// {note}: later\nlet a = \"{note}Write\";\n# ({note})\n");
        assert_eq!(lines(&notes_to_self("tools/src/a.rs", &text)), [1, 3]);
        assert!(notes_to_self("tests/fixtures/a.jsonl", &text).is_empty());
    }

    #[test]
    fn a_machine_path_is_absolute() {
        let text = HOMES.map(|home| format!("see \"/{home}/dev/a\"\nsee a/{home}/dev\n")).concat();
        assert_eq!(lines(&machine_paths("README.md", &text)), [1, 3, 5, 7]);
        assert!(machine_paths("runtime/wire/tests/fixtures/a.jsonl", &text).is_empty());
    }

    #[test]
    fn a_mirror_is_not_the_registry() {
        let mirror = "source = \"registry+https://mirror.example/index\"\n";
        assert_eq!(lines(&registries("Cargo.lock", mirror)), [1]);
        let public = format!("source = \"registry+{REGISTRY}\"\n");
        assert!(registries("Cargo.lock", &public).is_empty());
        let config = "[source.crates-io]\nreplace-with = \"mirror\"\n";
        assert_eq!(lines(&registries(".cargo/config.toml", config)), [2]);
    }

    #[test]
    fn a_code_map_claims_paths_only() {
        let text = "`tools/` and `tools/src/gone.rs` and `tool_use/tool_result`, `~/a.md`\n\
                    ```text\nrun -- tests/gone.jsonl | tests/it/*.rs\n```\n`LOST.md`\n";
        let found = code_map("README.md", text, |path| path == "tools/");
        assert_eq!(lines(&found), [1, 3, 5]);
    }

    #[test]
    fn a_member_is_named_in_backquotes() {
        let members = ["actors".to_owned(), "tools".to_owned()];
        assert_eq!(members_named("A.md", "`tools/` and actors", &members).len(), 1);
    }
}
