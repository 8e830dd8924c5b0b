//! Rules about one Rust file: its header, lengths, names and sleeps.

use super::{syntax::Syntax, tree::Finding};

/// Characters of the sentence that says what a file is responsible for: one line of an editor.
const HEADER_CHARS: usize = 100;
/// Lines outside tests: what a reader takes in at one sitting.
const FILE_LINES: usize = 500;
/// Lines of a function outside tests: one tall screen.
const FUNCTION_LINES: usize = 70;

/// Names of the built-in tools. Only a tool's own package says them.
const TOOLS: [&str; 7] = ["Bash", "Read", "Edit", "Write", "Grep", "Glob", "TodoWrite"];
/// Where else a tool's name may stand, and why.
const TOOL_NAME_HOMES: [(&str, &str); 6] = [
    ("tools/", "a tool's own file says its name"),
    ("benches/", "a benchmark builds calls as a model would"),
    ("runtime/host/examples/", "an example speaks as an embedder does"),
    ("runtime/permissions/src/names.rs", "the table of names that rules use"),
    ("runtime/wire/src/wording.rs", "recognises what Claude Code wrote into a transcript"),
    ("runtime/host/src/replay/catalogue.rs", "gives recorded calls the safety that they had"),
];

/// Names that say nothing about a module's job.
const EMPTY_NAMES: [&str; 7] = ["utils", "util", "common", "helpers", "helper", "misc", "types"];

pub(crate) fn header(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph.split_inclusive(". ").next().unwrap_or_default().trim();
    let length = sentence.chars().count();
    if length == 0 {
        let message = "does not begin with `//!`; say first what the file is responsible for";
        vec![Finding::new(path, 1, message)]
    } else if length > HEADER_CHARS {
        let message = format!("first sentence has {length} characters; say it in {HEADER_CHARS}");
        vec![Finding::new(path, 1, message)]
    } else {
        Vec::new()
    }
}

pub(crate) fn file_length(path: &str, text: &str) -> Vec<Finding> {
    if is_test_file(path) {
        return Vec::new();
    }
    let syntax = Syntax::parse(path, text);
    let lines = (1..=text.lines().count()).filter(|line| !syntax.in_test(*line)).count();
    let message = format!("{lines} lines outside tests; divide it by purpose below {FILE_LINES}");
    if lines > FILE_LINES { vec![Finding::new(path, 1, message)] } else { Vec::new() }
}

pub(crate) fn function_length(path: &str, text: &str) -> Vec<Finding> {
    if is_test_file(path) {
        return Vec::new();
    }
    let syntax = Syntax::parse(path, text);
    let long = syntax.functions().filter_map(|(name, first, last)| {
        let lines = last - first + 1;
        let message =
            format!("`{name}` has {lines} lines; name its parts ({FUNCTION_LINES} lines)");
        let breach = lines > FUNCTION_LINES && !syntax.in_test(first);
        breach.then(|| Finding::new(path, first, message))
    });
    long.collect()
}

pub(crate) fn tool_names(path: &str, text: &str) -> Vec<Finding> {
    let at_home = TOOL_NAME_HOMES.iter().any(|(home, _)| path.starts_with(home));
    if at_home || path.starts_with("tests/") || is_test_file(path) {
        return Vec::new();
    }
    let syntax = Syntax::parse(path, text);
    let mut findings = Vec::new();
    for name in TOOLS {
        let literal = format!("\"{name}\"");
        for token in syntax.places(&[&literal]).filter_map(|at| syntax.at(at)) {
            if !syntax.in_test(token.line) {
                let message =
                    format!("names the tool {literal}; let its card or its verdict say it");
                findings.push(Finding::new(path, token.line, message));
            }
        }
    }
    findings
}

/// A scripted tool of the harness may sleep, on the paused clock; a thread never.
pub(crate) fn sleeps(path: &str, text: &str) -> Vec<Finding> {
    if file_name(path).starts_with("slow_") {
        return Vec::new();
    }
    let syntax = Syntax::parse(path, text);
    let harness = path.starts_with("tests/harness/");
    let calls = syntax.places(&["sleep", "("]).filter(|at| {
        let by_thread = *at >= 3 && syntax.reads(at - 3, &["thread", ":", ":"]);
        by_thread || !harness
    });
    let lines = calls.filter_map(|at| syntax.at(at)).map(|token| token.line);
    let in_tests = lines.filter(|line| harness || is_test_file(path) || syntax.in_test(*line));
    let message = "sleeps in a test; wait for an event, advance the paused clock, \
                   or move it to a slow_* file";
    in_tests.map(|line| Finding::new(path, line, message)).collect()
}

pub(crate) fn module_names(path: &str, text: &str) -> Vec<Finding> {
    let message = |name: &str| format!("`{name}` says nothing; name the module after its one job");
    let parts = path.trim_end_matches(".rs").split('/');
    let named = parts.filter(|part| EMPTY_NAMES.contains(part));
    let mut findings: Vec<Finding> =
        named.map(|part| Finding::new(path, 1, message(part))).collect();
    let syntax = Syntax::parse(path, text);
    let declared = syntax.modules().filter(|token| EMPTY_NAMES.contains(&token.text.as_str()));
    findings.extend(declared.map(|token| Finding::new(path, token.line, message(&token.text))));
    findings
}

/// Whether a file is test code as a whole. The harness is not: it is read as often as the product.
fn is_test_file(path: &str) -> bool {
    let tests = path.split('/').any(|part| part == "tests") || file_name(path) == "tests.rs";
    tests && !path.starts_with("tests/harness/")
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "actors/src/hooks/core.rs";

    #[test]
    fn a_header_is_present_and_short() {
        assert!(header(CODE, "//! Decides what a hook may change. Then\n//! more.\n").is_empty());
        assert_eq!(header(CODE, "use a;\n//! Late.\n").len(), 1);
        assert_eq!(header(CODE, &format!("//! {}.\n", "long ".repeat(30))).len(), 1);
    }

    #[test]
    fn only_lines_outside_tests_count() {
        let code = "fn a() {}\n".repeat(FILE_LINES);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{code}}}\n");
        assert!(file_length(CODE, &format!("{code}{tests}")).is_empty());
        assert_eq!(file_length(CODE, &format!("{code}const B: u8 = 1;\n{tests}")).len(), 1);
        assert_eq!(file_length(CODE, &format!("{tests}{code}const B: u8 = 1;\n")).len(), 1);
        assert!(file_length("runtime/kernel/tests/laws.rs", &code.repeat(2)).is_empty());
        assert_eq!(file_length("tests/harness/lib.rs", &code.repeat(2)).len(), 1);
    }

    #[test]
    fn a_long_function_is_found_with_its_line() {
        let long = format!("fn long() {{\n{}}}", "    a();\n".repeat(FUNCTION_LINES - 1));
        let found = function_length(CODE, &format!("fn short() {{}}\n{long}\n"));
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2]);
        assert!(function_length(CODE, &format!("#[test]\n{long}\n")).is_empty());
    }

    #[test]
    fn a_tool_is_named_only_at_home() {
        let text = "/// Says \"Bash\".\nfn a(n: &str) -> bool {\n    matches!(n, \"Bash\")\n}\n";
        let lines =
            |path| tool_names(path, text).iter().map(|found| found.line).collect::<Vec<_>>();
        assert_eq!(lines(CODE), [3]);
        assert_eq!(lines("runtime/host/src/session.rs"), [3]);
        assert!(lines("tools/src/bash.rs").is_empty());
        assert!(
            tool_names(CODE, "#[cfg(test)]\nmod tests { const A: &str = \"Bash\"; }").is_empty()
        );
    }

    #[test]
    fn a_sleep_is_found_in_tests_alone() {
        let text = "fn a() { sleep(D); }\n#[test]\nfn b() { tokio::time::sleep(D); }\n";
        let lines = |path| sleeps(path, text).iter().map(|found| found.line).collect::<Vec<_>>();
        assert_eq!(lines(CODE), [3]);
        assert_eq!(lines("tests/it/lanes.rs"), [1, 3]);
        assert!(lines("tests/it/slow_kill.rs").is_empty());
        assert!(lines("tests/harness/scripted.rs").is_empty());
        assert_eq!(sleeps("tests/harness/lib.rs", "fn a() { std::thread::sleep(D) }").len(), 1);
    }

    #[test]
    fn an_empty_name_is_found_in_paths_and_declarations() {
        assert_eq!(module_names("actors/src/utils.rs", "").len(), 1);
        assert_eq!(module_names("actors/src/common/mod.rs", "").len(), 1);
        assert_eq!(module_names(CODE, "pub mod types;\nmod misc { }\nmod wording;").len(), 2);
    }
}
