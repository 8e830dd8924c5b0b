//! Notebooks: how they are read, and one cell changed.

use harness::Folder;
use serde_json::{Value, json};

const NOTEBOOK: &str = r#"{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 1,
   "id": "first",
   "metadata": {},
   "outputs": [{"name": "stdout", "output_type": "stream", "text": ["1\n"]}],
   "source": [
    "print(1)"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"#;

fn edit(path: &str, more: Value) -> Value {
    let mut input = json!({"notebook_path": path, "new_source": "x = 2"});
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

#[tokio::test]
async fn a_notebook_that_was_read_is_changed_cell_by_cell() {
    let folder = Folder::open().await;
    let path = folder.put("a.ipynb", NOTEBOOK);
    let read = folder.ok("Read", json!({"file_path": path})).await;
    let change = |more: Value| folder.ok("NotebookEdit", edit(&path, more));
    let texts = [
        read,
        change(json!({"cell_id": "first"})).await,
        change(json!({"edit_mode": "insert", "cell_type": "markdown", "cell_id": "cell-0"})).await,
        change(json!({"edit_mode": "delete", "cell_id": "first"})).await,
        folder.ok("Read", json!({"file_path": path})).await,
    ];
    insta::assert_snapshot!(texts.join("\n"), @r#"
    <cell id="first" type="code" execution_count="1">
    print(1)
    <output>
    1
    </output>
    </cell>
    Updated cell first with x = 2
    Inserted cell eb2bad91 with x = 2
    Deleted cell first
    <cell id="eb2bad91" type="markdown">
    x = 2
    </cell>
    "#);
    folder.close().await;
}

#[tokio::test]
async fn a_notebook_is_read_before_it_is_changed_or_written() {
    let folder = Folder::open().await;
    let path = folder.put("a.ipynb", NOTEBOOK);
    let unread = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>";
    let change = edit(&path, json!({"cell_id": "first"}));
    assert_eq!(folder.fails("NotebookEdit", change).await, unread);
    let write = json!({"file_path": path, "content": "{}"});
    assert_eq!(folder.fails("Write", write).await, unread);
    assert_eq!(folder.get("a.ipynb"), NOTEBOOK.as_bytes());
    folder.close().await;
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_what_to_do() {
    let folder = Folder::open().await;
    let path = folder.put("a.ipynb", NOTEBOOK);
    let text = folder.put("a.txt", NOTEBOOK);
    let bad = folder.put("bad.ipynb", "{}");
    let mut texts = vec![folder.fails("Read", json!({"file_path": bad})).await];
    for it in [&path, &text] {
        folder.ok("Read", json!({"file_path": it})).await;
    }
    for input in [
        edit(&path, json!({})),
        edit(&path, json!({"cell_id": "cell-1"})),
        edit(&path, json!({"edit_mode": "insert"})),
        edit(&path, json!({"edit_mode": "move"})),
        edit(&text, json!({"cell_id": "first"})),
        edit(&folder.name("none.ipynb"), json!({"cell_id": "first"})),
    ] {
        texts.push(folder.fails("NotebookEdit", input).await);
    }
    insta::assert_snapshot!(texts.join("\n"), @"
    DIR/bad.ipynb can't be dealt with as a notebook: it has no `nbformat`. Look at it with a command.
    <tool_use_error>cell_id is missing. Send the id of the cell, or `cell-N` with its place from 0.</tool_use_error>
    <tool_use_error>There is no cell `cell-1` among the 1 cells. Read the notebook and send a cell's id, or `cell-N` with its place from 0.</tool_use_error>
    <tool_use_error>cell_type is missing. Send `code` or `markdown` for the cell that is to be inserted.</tool_use_error>
    <tool_use_error>InputValidationError: NotebookEdit failed due to the following issue:
    The parameter `edit_mode` value is expected as `replace` or `insert` or `delete` but provided as `move`</tool_use_error>
    <tool_use_error>DIR/a.txt is not named as a notebook (.ipynb). Send the path of one, or edit the file as text.</tool_use_error>
    <tool_use_error>File does not exist: DIR/none.ipynb. The working directory is DIR; look there for the right name.</tool_use_error>
    ");
    folder.close().await;
}
