//! Which package may depend on which, as the manifests say it.

use toml::{Table, Value};

use super::tree::Finding;

/// A member and the members that it may know. Dependencies for tests count too.
const LAYERS: &[(&str, &[&str])] = &[
    ("runtime/kernel", &[]),
    ("runtime/contract", &["runtime/kernel"]),
    ("runtime/permissions", &["runtime/contract", "tools/shell-analysis"]),
    ("runtime/wire", &["runtime/contract"]),
    ("tools", &["runtime/contract", "tools/warden", "tools/shell-analysis"]),
    ("tools/warden", &[]),
    ("tools/shell-analysis", &["runtime/contract"]),
    ("actors", &["runtime/kernel", "runtime/contract", "runtime/permissions"]),
    ("actors/journal", &["runtime/contract"]),
    (
        "runtime/host",
        &[
            "runtime/kernel",
            "runtime/contract",
            "runtime/permissions",
            "runtime/wire",
            "actors",
            "actors/journal",
            "tools",
            "tools/shell-analysis",
        ],
    ),
];
/// Members that may know everything, and that nothing below may know.
const TOP: [&str; 2] = ["tests", "benches"];
/// The member that has no dependency at all outside its tests.
const BARE: &str = "runtime/kernel";

/// The members of the workspace, as paths.
pub(crate) fn members(root: &str) -> Vec<String> {
    let members = table(root)["workspace"]["members"].clone();
    let members = members.as_array().expect("members is a list").clone();
    members.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The dependencies that a member should not have.
pub(crate) fn forbidden(member: &str, manifest: &str, root: &str) -> Vec<Finding> {
    let path = format!("{member}/Cargo.toml");
    let line = |name: &str| {
        let named = |line: &str| line.trim_start().starts_with(name);
        manifest.lines().position(named).map_or(1, |at| at + 1)
    };
    let finding = |name: &str, message: String| Finding::new(&path, line(name), message);
    if TOP.contains(&member) {
        return Vec::new();
    }
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == member) else {
        let message = format!("`{member}` has no place among the layers; add it to {}", file!());
        return vec![finding("[package]", message)];
    };
    let mut findings = Vec::new();
    for (section, name, spec) in dependencies(&table(manifest)) {
        if spec.get("path").is_some() {
            let message = format!("`{name}` by path; say `{name}.workspace = true`");
            findings.push(finding(&name, message));
        }
        let Some(target) = local_path(&name, &spec, root) else {
            if member == BARE && section != "dev-dependencies" {
                let message = format!("`{name}`: the kernel has no dependency; remove it");
                findings.push(finding(&name, message));
            }
            continue;
        };
        if !allowed.contains(&target.as_str()) {
            let message = format!(
                "`{name}`: `{member}` may not know `{target}`, only {allowed:?}; \
                 move what it needs down, or pass it in"
            );
            findings.push(finding(&name, message));
        }
    }
    findings
}

fn table(text: &str) -> Table {
    text.parse().unwrap_or_else(|error| panic!("a manifest does not parse: {error}"))
}

/// Section, name and specification of each dependency, those for one platform included.
fn dependencies(manifest: &Table) -> Vec<(String, String, Value)> {
    let platforms = manifest.get("target").and_then(Value::as_table).cloned().unwrap_or_default();
    let tables = platforms.values().filter_map(Value::as_table).chain([manifest]);
    let mut found = Vec::new();
    for table in tables {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let entries = table.get(section).and_then(Value::as_table).cloned().unwrap_or_default();
            found.extend(entries.into_iter().map(|(name, spec)| (section.to_owned(), name, spec)));
        }
    }
    found
}

/// The member that a dependency points to; `None` for a package from outside.
fn local_path(name: &str, spec: &Value, root: &str) -> Option<String> {
    spec.get("workspace")?;
    let shared = table(root)["workspace"].get("dependencies")?.get(name)?.clone();
    shared.get("path").and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = r#"
        [workspace]
        members = ["runtime/kernel", "runtime/host", "tools"]
        [workspace.dependencies]
        toolwright-kernel = { path = "runtime/kernel" }
        toolwright = { path = "runtime/host" }
        serde = "1"
    "#;

    #[test]
    fn members_are_listed_by_path() {
        assert_eq!(members(ROOT), ["runtime/kernel", "runtime/host", "tools"]);
    }

    #[test]
    fn a_dependency_upwards_is_found_with_its_line() {
        let manifest = "[package]\n[dependencies]\nserde.workspace = true\n\
                        toolwright-kernel.workspace = true\n";
        let found = forbidden("tools", manifest, ROOT);
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [4]);
        assert!(forbidden("runtime/host", manifest, ROOT).is_empty());
    }

    #[test]
    fn a_dependency_for_tests_or_one_platform_counts() {
        let manifest = "[dev-dependencies]\ntoolwright.workspace = true\n\
                        [target.'cfg(unix)'.dependencies]\ntoolwright.workspace = true\n";
        assert_eq!(forbidden("actors", manifest, ROOT).len(), 2);
        assert!(forbidden("tests", manifest, ROOT).is_empty());
    }

    #[test]
    fn the_kernel_has_no_dependency_but_for_tests() {
        let manifest = "[dependencies]\nserde = \"1\"\n[dev-dependencies]\nproptest = \"1\"\n";
        assert_eq!(forbidden("runtime/kernel", manifest, ROOT).len(), 1);
    }

    #[test]
    fn a_path_would_go_round_the_rule() {
        let manifest = "[dependencies]\ntoolwright = { path = \"../runtime/host\" }\n";
        assert_eq!(forbidden("tools", manifest, ROOT).len(), 1);
    }

    #[test]
    fn a_new_package_needs_a_layer() {
        assert_eq!(forbidden("tools/mcp", "[package]\n", ROOT).len(), 1);
    }
}
