//! How calls of the built-in tools are shown to people, at each point of their lives.

use toolwright::built_in_tools;
use toolwright_contract::present::Detail;

use crate::built_in_inputs::right;

#[test]
fn each_built_in_tool_says_what_a_call_is_and_what_it_is_doing() {
    let mut shown = Vec::new();
    for (tool, (_, input)) in built_in_tools().iter().zip(right()) {
        let (card, present) = (tool.card(), tool.present());
        shown.push(format!(
            "{} | {} | {} | {} | {}",
            present.name(card, &input),
            present.used(card, &input, Detail::Condensed).plain(),
            present.activity(card, &input),
            present.queued(card, &input).plain(),
            present.rejected(card, &input, Detail::Condensed).plain(),
        ));
    }
    insta::assert_snapshot!(shown.join("\n"), @"
    Bash | Bash(ls) | Running ls | Bash(ls) waits for its turn | Bash(ls) was not allowed
    Edit | Edit(/a) | Editing /a | Edit(/a) waits for its turn | Edit(/a) was not allowed
    Glob | Glob(*.rs) | Finding *.rs | Glob(*.rs) waits for its turn | Glob(*.rs) was not allowed
    Grep | Grep(a) | Searching for a | Grep(a) waits for its turn | Grep(a) was not allowed
    MultiEdit | MultiEdit(/a) | Editing /a | MultiEdit(/a) waits for its turn | MultiEdit(/a) was not allowed
    NotebookEdit | NotebookEdit(/a.ipynb) | Editing /a.ipynb | NotebookEdit(/a.ipynb) waits for its turn | NotebookEdit(/a.ipynb) was not allowed
    Read | Read(/a) | Reading /a | Read(/a) waits for its turn | Read(/a) was not allowed
    TodoWrite | TodoWrite | Updating the list of things to do | TodoWrite waits for its turn | TodoWrite was not allowed
    Write | Write(/a) | Writing /a | Write(/a) waits for its turn | Write(/a) was not allowed
    ");
}

#[test]
fn each_built_in_tool_shows_an_input_that_was_refused() {
    for tool in built_in_tools() {
        for input in
            [serde_json::json!(null), serde_json::json!({"file_path": 5}), serde_json::json!([1])]
        {
            let shown = tool.present().used(tool.card(), &input, Detail::Condensed).plain();
            assert_eq!(shown, tool.card().name);
        }
    }
}
