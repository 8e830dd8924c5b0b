//! The house rules that a machine can check, one test a rule.
//!
//! Each check is a function from a path and a text to findings, so that it can be tried on a bad
//! sample beside it; the tests here run it over the repository. A finding names file, line and
//! remedy. An exception is an entry in a table with its reason, never a weaker rule.

mod docs;
mod edges;
mod lists;
mod source;
mod syntax;
mod tree;

use tree::{Finding, Repository};

/// Fails with every finding of a rule, so that one run shows all that there is to do.
fn assert_clean(findings: &[Finding]) {
    let report: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(report.is_empty(), "{} findings:\n{}", report.len(), report.join("\n"));
}

#[test]
fn every_file_says_first_what_it_is_responsible_for() {
    assert_clean(&Repository::read().each_rust_file(source::header));
}

#[test]
fn no_file_is_longer_than_its_reader_can_hold() {
    assert_clean(&Repository::read().each_rust_file(source::file_length));
}

#[test]
fn no_function_is_longer_than_a_screen() {
    assert_clean(&Repository::read().each_rust_file(source::function_length));
}

#[test]
fn tool_names_appear_only_at_home() {
    assert_clean(&Repository::read().each_rust_file(source::tool_names));
}

#[test]
fn no_test_sleeps() {
    assert_clean(&Repository::read().each_rust_file(source::sleeps));
}

#[test]
fn no_module_is_named_after_nothing() {
    assert_clean(&Repository::read().each_rust_file(source::module_names));
}

#[test]
fn nothing_is_left_to_do_in_a_comment() {
    assert_clean(&Repository::read().each_file(docs::notes_to_self));
}

#[test]
fn no_file_knows_a_developer_machine() {
    assert_clean(&Repository::read().each_file(docs::machine_paths));
}

#[test]
fn packages_come_from_the_public_registry_alone() {
    assert_clean(&Repository::read().each_file(docs::registries));
}

#[test]
fn the_code_map_names_only_what_exists() {
    let repository = Repository::read();
    let exists = |path: &str| repository.exists(path);
    for map in ["README.md", "ARCHITECTURE.md"] {
        assert_clean(&docs::code_map(map, repository.text(map), exists));
    }
}

#[test]
fn the_architecture_names_every_package() {
    let repository = Repository::read();
    let members = edges::members(repository.text("Cargo.toml"));
    let map = "ARCHITECTURE.md";
    assert_clean(&docs::members_named(map, repository.text(map), &members));
}

#[test]
fn packages_depend_only_downwards() {
    let repository = Repository::read();
    let root = repository.text("Cargo.toml");
    for member in edges::members(root) {
        let manifest = format!("{member}/Cargo.toml");
        assert_clean(&edges::forbidden(&member, repository.text(&manifest), root));
    }
}

#[test]
fn every_file_is_part_of_a_program() {
    assert_clean(&lists::undeclared(&Repository::read()));
}

#[test]
fn every_tool_is_registered() {
    assert_clean(&lists::unregistered_tools(&Repository::read()));
}

#[test]
fn every_benchmark_is_listed() {
    assert_clean(&lists::unlisted_benches(&Repository::read()));
}
