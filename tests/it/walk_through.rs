//! The walk through the README for authors of tools: its file and its line, compiled and run.

mod count_lines;

use harness::{House, call_of, texts};
use serde_json::json;
use toolwright::{AnyTool, Deferral, Registry, ToolList};

const README: &str = include_str!("../../README.md");
const FILE: &str = include_str!("walk_through/count_lines.rs");

fn registered() -> Result<Registry, Box<dyn std::error::Error>> {
    let tools = Registry::new([AnyTool::new(count_lines::CountLines)])?;
    Ok(tools)
}

#[test]
fn the_readme_shows_the_very_file_and_the_very_line_that_are_tested() {
    assert!(README.contains(&format!("```rust\n{FILE}```\n")), "the file differs");
    let line = "let tools = Registry::new([AnyTool::new(count_lines::CountLines)])?;";
    assert!(README.contains(&format!("\n{line}\n")), "the line differs");
    assert!(include_str!("walk_through.rs").contains(&format!("\n    {line}\n")));
}

#[test]
fn the_tool_of_the_readme_can_be_published_as_it_stands() {
    let list = ToolList::new(&registered().unwrap(), Deferral::Off);
    insta::assert_snapshot!(serde_json::to_string(&list).unwrap(), @r#"[{"name":"CountLines","description":"Counts the lines of a text file.","input_schema":{"additionalProperties":false,"description":"What the model sends. Comments become the descriptions that it reads.","properties":{"blank":{"default":false,"description":"Whether lines without text count too.","type":"boolean"},"file_path":{"description":"The absolute path of the file.","type":"string"}},"required":["file_path"],"type":"object"}}]"#);
}

#[tokio::test]
async fn the_tool_of_the_readme_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("poem.txt");
    std::fs::write(&file, "one\n\ntwo\n").unwrap();
    let tools = registered().unwrap();
    let house = House::with_tools(tools.iter().cloned(), |_| {}).await;
    let calls = [
        json!({"file_path": file}),
        json!({"file_path": file, "blank": "true"}),
        json!({"file_path": "poem.txt"}),
        json!({"file_path": folder.path().join("gone")}),
    ];
    let calls = calls.into_iter().enumerate();
    let results = house.run(calls.map(|(n, it)| call_of("CountLines", &n.to_string(), it))).await;
    insta::assert_snapshot!(texts(&results).join("\n"), @"
    2 lines
    3 lines
    <tool_use_error>file_path is not absolute: send the whole path</tool_use_error>
    The file can't be read: No such file or directory (os error 2)
    ");
    house.close().await;
}
