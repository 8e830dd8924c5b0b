//! Rules about files that have to be listed somewhere: modules, tools, benchmarks.

use toml::{Table, Value};

use super::{
    syntax::Syntax,
    tree::{Finding, Repository},
};

/// Where the built-in tools are declared and registered.
const TOOL_LIST: &str = "tools/src/lib.rs";
/// Where the benchmarks are listed.
const BENCH_LIST: &str = "benches/Cargo.toml";
/// Folders in which Cargo finds programs by itself.
const DISCOVERED: [&str; 4] = ["tests", "benches", "examples", "bin"];

/// A file that no module declares is not compiled, and its tests do not run.
pub(crate) fn undeclared(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, _) in repository.rust_files() {
        let Some((module, folder)) = module(path) else { continue };
        let mut parents = repository.rust_files().filter(|(parent, _)| may_declare(parent, folder));
        let declares = |(parent, text)| {
            Syntax::parse(parent, text).modules().any(|declared| declared.text == module)
        };
        if !parents.any(declares) {
            let message = format!("is not compiled; declare `mod {module};` beside it or above it");
            findings.push(Finding::new(path, 1, message));
        }
    }
    findings
}

/// The module that a file holds and the folder it belongs to; `None` for the root of a program.
fn module(path: &str) -> Option<(&str, &str)> {
    let (folder, file) = path.rsplit_once('/')?;
    let stem = file.trim_end_matches(".rs");
    if ["lib", "main", "build"].contains(&stem) || is_discovered(folder) {
        None
    } else if stem == "mod" {
        let (above, name) = folder.rsplit_once('/')?;
        Some((name, above))
    } else {
        Some((stem, folder))
    }
}

/// The files that can declare a module of a folder: its head, inside or beside it, and where Cargo
/// takes each file for a program, any of them.
fn may_declare(path: &str, folder: &str) -> bool {
    let Some((around, file)) = path.rsplit_once('/') else { return false };
    let head = ["mod.rs", "lib.rs", "main.rs"].contains(&file) || is_discovered(folder);
    (around == folder && head) || path.strip_suffix(".rs") == Some(folder)
}

fn is_discovered(folder: &str) -> bool {
    let last = folder.rsplit('/').next().unwrap_or(folder);
    DISCOVERED.contains(&last) && (last == "bin" || !folder.contains("/src/"))
}

/// A tool is one file and one line of registration; this finds the file without the line.
pub(crate) fn unregistered_tools(repository: &Repository) -> Vec<Finding> {
    let list = Syntax::parse(TOOL_LIST, repository.text(TOOL_LIST));
    let mut findings = Vec::new();
    for (path, text) in repository.rust_files().filter(|(path, _)| path.starts_with("tools/src/")) {
        let syntax = Syntax::parse(path, text);
        for at in syntax.places(&["Tool", "for"]) {
            let Some(tool) = syntax.at(at + 2).filter(|tool| !syntax.in_test(tool.line)) else {
                continue;
            };
            if !list.uses(&tool.text) {
                let message =
                    format!("the tool `{}` is not registered; add it to {TOOL_LIST}", tool.text);
                findings.push(Finding::new(path, tool.line, message));
            }
        }
    }
    findings
}

/// A benchmark without an entry, or with the built-in harness, silently measures nothing.
pub(crate) fn unlisted_benches(repository: &Repository) -> Vec<Finding> {
    let manifest: Table = repository.text(BENCH_LIST).parse().expect("the manifest parses");
    let entries = manifest.get("bench").and_then(Value::as_array).cloned().unwrap_or_default();
    let listed = |file: &str| {
        entries.iter().any(|entry| {
            let by_default = format!("benches/{}.rs", entry["name"].as_str().unwrap_or_default());
            let path = entry.get("path").and_then(Value::as_str).unwrap_or(&by_default);
            path == file && entry.get("harness").and_then(Value::as_bool) == Some(false)
        })
    };
    let files = repository.rust_files().filter_map(|(path, _)| path.strip_prefix("benches/"));
    let benches = files.filter(|file| match file.split_once('/') {
        None => *file != "lib.rs" && *file != "build.rs",
        Some((folder, rest)) => folder == "benches" && !rest.contains('/'),
    });
    let message = format!("has no [[bench]] with `harness = false`; add it to {BENCH_LIST}");
    let missing = benches.filter(|file| !listed(file));
    missing.map(|file| Finding::new(&format!("benches/{file}"), 1, message.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(findings: Vec<Finding>) -> Vec<String> {
        findings.into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn a_file_without_a_declaration_is_found() {
        let repository = Repository::of(&[
            ("tests/it/main.rs", "mod lanes;"),
            ("tests/it/lanes.rs", "mod wide;"),
            ("tests/it/lanes/wide.rs", ""),
            ("tests/it/forgotten.rs", "// mod forgotten;"),
            ("actors/src/lib.rs", "pub mod hooks;"),
            ("actors/src/hooks/mod.rs", "mod core;"),
            ("actors/src/hooks/core.rs", ""),
            ("actors/src/hooks/lost.rs", ""),
            ("actors/src/hooks/tests/lost.rs", ""),
            ("runtime/kernel/tests/laws.rs", "mod walk;"),
            ("runtime/kernel/tests/walk/mod.rs", ""),
            ("runtime/host/examples/embed.rs", ""),
        ]);
        assert_eq!(
            paths(undeclared(&repository)),
            ["tests/it/forgotten.rs", "actors/src/hooks/lost.rs", "actors/src/hooks/tests/lost.rs"]
        );
    }

    #[test]
    fn a_tool_that_is_only_imported_is_found() {
        let list = "mod echo;\nmod wait;\npub use wait::Wait;\n\
                    pub fn all() -> Tools { tools![echo::Echo] }";
        let repository = Repository::of(&[
            (TOOL_LIST, list),
            ("tools/src/echo.rs", "impl Tool for Echo {}"),
            ("tools/src/wait.rs", "impl toolwright_contract::Tool for Wait {}"),
        ]);
        assert_eq!(paths(unregistered_tools(&repository)), ["tools/src/wait.rs"]);
    }

    #[test]
    fn a_bench_without_its_entry_is_found() {
        let manifest = "[[bench]]\nname = \"a\"\nharness = false\n\
                        [[bench]]\nname = \"b\"\npath = \"b.rs\"\nharness = false\n\
                        [[bench]]\nname = \"c\"\n";
        let repository = Repository::of(&[
            (BENCH_LIST, manifest),
            ("benches/src/lib.rs", ""),
            ("benches/benches/a.rs", ""),
            ("benches/b.rs", ""),
            ("benches/benches/c.rs", ""),
            ("benches/d.rs", ""),
        ]);
        assert_eq!(paths(unlisted_benches(&repository)), ["benches/benches/c.rs", "benches/d.rs"]);
    }
}
