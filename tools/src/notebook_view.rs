//! What a notebook shows: its cells with their names, sources and outputs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use toolwright_contract::Content;

use crate::notebook::{Cell, Fields, Notebook, joined};
use crate::picture::Picture;

/// Characters of one output that are shown.
const OUTPUT_CHARS: usize = 10_000;
/// Characters of all cells that are shown: some 25,000 tokens.
const CHARS: usize = 100_000;
/// Pictures that are shown: with more, the API takes only small ones.
const PICTURES: usize = 20;

/// What is shown of a notebook.
pub(crate) struct NotebookView {
    pub(crate) content: Content,
    pub(crate) structured: Value,
    /// Whether cells were left out.
    pub(crate) partial: bool,
}

/// Shows a notebook.
pub(crate) fn view(notebook: &Notebook<'_>, path: &str) -> NotebookView {
    let mut viewing = Viewing::default();
    let mut cells = Vec::new();
    let mut shown = 0;
    for (at, cell) in notebook.cells.iter().enumerate() {
        let outputs = outputs(cell);
        let text = cell_text(notebook, at, cell, &outputs);
        if viewing.chars + text.chars().count() > CHARS {
            break;
        }
        viewing.add(&text, &outputs);
        cells.push(structured_cell(notebook, at, cell, &outputs));
        shown += 1;
    }
    let partial = shown < notebook.cells.len();
    if notebook.cells.is_empty() {
        viewing.text.push_str("The notebook exists, but it has no cells.");
    }
    if partial {
        let left = notebook.cells.len() - shown;
        viewing.text.push_str(&format!(
            "\n[PARTIAL view: {left} more cells are too much to be shown. Look at them with a \
             command that knows JSON.]"
        ));
    }
    if viewing.left_out > 0 {
        viewing.text.push_str(&format!("\n[{} pictures are not shown.]", viewing.left_out));
    }
    let structured = json!({"type": "notebook", "file": {"filePath": path, "cells": cells}});
    NotebookView { content: viewing.content(), structured, partial }
}

#[derive(Default)]
struct Viewing {
    chars: usize,
    text: String,
    blocks: Vec<Value>,
    pictures: usize,
    left_out: usize,
}

impl Viewing {
    fn add(&mut self, text: &str, outputs: &[Shown]) {
        self.chars += text.chars().count();
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        for picture in outputs.iter().filter_map(|it| it.picture.as_ref()) {
            if self.pictures == PICTURES {
                self.left_out += 1;
                continue;
            }
            self.pictures += 1;
            self.flush();
            self.blocks.push(picture.block());
        }
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            self.blocks.push(json!({"type": "text", "text": text}));
        }
    }

    fn content(mut self) -> Content {
        if self.blocks.is_empty() {
            return Content::Text(self.text);
        }
        self.flush();
        Content::Blocks(self.blocks)
    }
}

/// One output, ready to be shown.
struct Shown {
    kind: String,
    text: String,
    picture: Option<Picture>,
}

fn cell_text(notebook: &Notebook<'_>, at: usize, cell: &Cell<'_>, outputs: &[Shown]) -> String {
    let count = count(notebook, cell).map(|it| format!(" execution_count=\"{it}\""));
    let mut text = format!(
        "<cell id=\"{}\" type=\"{}\"{}>\n{}\n",
        notebook.name(at),
        cell.kind,
        count.unwrap_or_default(),
        cell.source
    );
    for output in outputs.iter().filter(|it| !it.text.is_empty()) {
        text.push_str(&format!("<output>\n{}\n</output>\n", output.text.trim_end_matches('\n')));
    }
    text + "</cell>"
}

fn count(notebook: &Notebook<'_>, cell: &Cell<'_>) -> Option<u64> {
    cell.fields.get(notebook.version.count_field())?.get().parse().ok()
}

fn structured_cell(
    notebook: &Notebook<'_>,
    at: usize,
    cell: &Cell<'_>,
    outputs: &[Shown],
) -> Value {
    let mut value = json!({
        "cell_id": notebook.name(at), "cellType": cell.kind, "source": cell.source,
    });
    if cell.kind == "code" {
        value["language"] = json!(notebook.language);
        value["execution_count"] = json!(count(notebook, cell));
        let outputs = outputs.iter().map(|it| json!({"output_type": it.kind, "text": it.text}));
        value["outputs"] = outputs.collect();
    }
    value
}

/// The outputs of a cell. One that can't be read is shown as nothing: the notebook is still good.
fn outputs(cell: &Cell<'_>) -> Vec<Shown> {
    let outputs = cell.fields.get("outputs").map_or("[]", |it| it.get());
    let outputs: Vec<Fields<'_>> = serde_json::from_str(outputs).unwrap_or_default();
    outputs.iter().map(shown).collect()
}

fn shown(output: &Fields<'_>) -> Shown {
    let kind = text_of(output, "output_type").unwrap_or_default();
    // Since version 4 what is shown stands below `data`, by its type.
    let data: Option<Fields<'_>> =
        output.get("data").and_then(|it| serde_json::from_str(it.get()).ok());
    let data = data.as_ref().unwrap_or(output);
    let error = || {
        let lines: Vec<String> = serde_json::from_str(output.get("traceback")?.get()).ok()?;
        Some(lines.join("\n"))
    };
    let names = ["text/plain", "text", "text/markdown", "text/html"];
    let text = error().or_else(|| names.iter().find_map(|it| text_of(data, it)));
    let pictures = ["image/png", "image/jpeg", "png", "jpeg"];
    let picture = pictures.iter().find_map(|it| picture(&text_of(data, it)?));
    Shown { kind, text: short(&without_colours(&text.unwrap_or_default())), picture }
}

fn text_of(fields: &Fields<'_>, name: &str) -> Option<String> {
    joined(fields.get(name)?).ok()
}

fn picture(base64: &str) -> Option<Picture> {
    let base64: String = base64.split_whitespace().collect();
    Picture::of(BASE64.decode(base64).ok()?).ok()
}

fn short(text: &str) -> String {
    match text.char_indices().nth(OUTPUT_CHARS) {
        Some((at, _)) => {
            let left = text[at..].chars().count();
            format!("{}\n[{left} more characters of output are not shown.]", &text[..at])
        }
        None => text.to_owned(),
    }
}

/// Tracebacks are coloured for a terminal.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|it: char| it.is_ascii_alphabetic()).map_or(part.len(), |it| it + 1);
        plain.push_str(&part[end..]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_shown_with_what_they_have_put_out() {
        let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
        let text = json!({
            "cells": [
                {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# T\n", "x"]},
                {"cell_type": "code", "id": "b", "execution_count": 3, "metadata": {}, "source": "f()", "outputs": [
                    {"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]},
                    {"output_type": "display_data", "data": {"image/png": pixel, "text/plain": "<Figure>"}},
                    {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["\u{1b}[0;31mE\u{1b}[0m", "bad"]},
                    {"output_type": "stream", "name": "stdout", "text": "y".repeat(20_000)},
                ]},
            ],
            "metadata": {"language_info": {"name": "julia"}}, "nbformat": 4, "nbformat_minor": 5,
        })
        .to_string();
        let view = view(&Notebook::parse(&text).unwrap(), "/a.ipynb");
        let Content::Blocks(blocks) = &view.content else { panic!("{:?}", view.content) };
        assert_eq!(blocks.len(), 2);
        assert_eq!(blocks[1]["source"]["media_type"], "image/png");
        let text = view.content.text().replace(&"y".repeat(10_000), "y…");
        assert_eq!(
            text,
            "<cell id=\"a\" type=\"markdown\">\n# T\nx\n</cell>\n\
             <cell id=\"b\" type=\"code\" execution_count=\"3\">\nf()\n\
             <output>\n1\n2\n</output>\n<output>\n<Figure>\n</output>\n<output>\nE\nbad\n</output>\n\
             <output>\ny…\n[10000 more characters of output are not shown.]\n</output>\n</cell>"
        );
        let cells = &view.structured["file"]["cells"];
        assert_eq!(
            (&cells[1]["language"], &cells[0]["source"]),
            (&json!("julia"), &json!("# T\nx"))
        );
        assert!(!view.partial);
    }

    #[test]
    fn what_is_too_much_is_left_out_and_told() {
        let cell = json!({"cell_type": "raw", "metadata": {}, "source": "x".repeat(60_000)});
        let text = json!({"cells": [cell, cell], "nbformat": 4, "nbformat_minor": 4}).to_string();
        let view = view(&Notebook::parse(&text).unwrap(), "/a.ipynb");
        assert!(view.partial && view.content.text().contains("[PARTIAL view: 1 more cells"));
    }

    #[test]
    fn an_output_that_cannot_be_read_is_not_shown() {
        let text = json!({"cells": [{"cell_type": "code", "source": "", "outputs": [{"output_type": 1, "data": {"image/png": "?"}}]}], "nbformat": 4, "nbformat_minor": 4}).to_string();
        let view = view(&Notebook::parse(&text).unwrap(), "/a.ipynb");
        assert_eq!(view.content.text(), "<cell id=\"cell-0\" type=\"code\">\n\n</cell>");
    }
}
