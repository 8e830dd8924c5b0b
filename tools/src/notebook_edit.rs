//! `NotebookEdit`: replaces, inserts or deletes one cell of a notebook that the session has read.
//!
//! Input as in Claude Code docs 2.1.240. A cell is named by its id, or by its place from 0 as in
//! `cell-3`; what isn't touched keeps its bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_contract::{
    Card, CheckCx, Conduct, Family, InvalidInput, Output, RunCx, Tool, ToolError, present::Present,
};

use crate::changes::Changes;
use crate::fault::{Fault, off_thread};
use crate::notebook::{LARGEST, Notebook};
use crate::notebook_change::ChangedNotebook;
use crate::options::FileOptions;
use crate::patch::structured_patch;
use crate::target::{Desk, Target};
use crate::text_file::{Known, missing};

pub(crate) struct NotebookEdit(pub(crate) FileOptions);

/// A cell and what it should become.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The absolute path of the notebook.
    notebook_path: String,
    /// The source that the cell should have. Ignored when it is deleted.
    new_source: String,
    /// The cell's id, or `cell-N` with its place from 0. When inserting: the cell to insert
    /// after; without one the new cell becomes the first.
    cell_id: Option<String>,
    /// The cell's type. Needed when inserting; a replaced cell keeps its own without it.
    cell_type: Option<Kind>,
    /// What to do with the cell.
    #[serde(default)]
    edit_mode: Mode,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Code,
    Markdown,
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Replace,
    Insert,
    Delete,
}

impl Tool for NotebookEdit {
    type Input = Input;
    type Output = String;

    fn card(&self) -> Card {
        Card::new(
            "NotebookEdit",
            "Replaces the source of one cell of a notebook (.ipynb), or inserts or deletes a cell. \
             Read the notebook first.",
        )
        .about(Family::EditPath, "notebook_path")
        .telling(&["notebook_path"])
        .doing("Editing")
    }

    fn conduct(&self, input: &Input) -> Conduct {
        let paths = vec![input.notebook_path.clone().into()];
        Conduct { destructive: true, paths, ..Conduct::default() }
    }

    fn present(&self) -> Box<dyn Present> {
        Box::new(Changes)
    }

    async fn validate(&self, input: &Input, cx: &CheckCx) -> Result<(), InvalidInput> {
        let (input, desk) = (input.clone(), Desk::checking(cx, &self.0));
        let look = move || {
            let target = desk.look(&input.notebook_path, Known::Everything)?;
            input.changed(&target, &desk)
        };
        off_thread(look).await?;
        Ok(())
    }

    /// The file is looked at again: much may have happened to it while somebody was asked.
    async fn run(&self, input: Input, cx: RunCx) -> Result<Output<String>, ToolError> {
        let desk = Desk::running(&cx, &self.0);
        let change = move || {
            desk.change(&input.notebook_path, Known::Everything, |target| {
                let change = input.changed(&target, &desk)?;
                desk.write(&target, &change.changed.text)?;
                let output = Output::from(input.told(&change.changed.cell));
                Ok(output.structured(input.structured(&change)))
            })
        };
        Ok(off_thread(change).await?)
    }
}

/// What a call comes to.
struct Change {
    original: String,
    language: String,
    kind: String,
    changed: ChangedNotebook,
}

impl Input {
    fn changed(&self, target: &Target, desk: &Desk) -> Result<Change, Fault> {
        let path = || target.real.clone();
        if target.real.extension().is_none_or(|it| it != "ipynb") {
            return Err(Fault::NotIpynb(path()));
        }
        let Some(present) = &target.present else {
            return Err(missing(self.notebook_path.clone().into(), &desk.session));
        };
        let bytes = present.bytes.len() as u64;
        if bytes > LARGEST {
            return Err(Fault::TooBig { path: path(), bytes, limit: LARGEST });
        }
        let original = target.text()?;
        let notebook = Notebook::parse(&original)
            .map_err(|why| Fault::NotNotebook { path: path(), why: why.to_string() })?;
        let named = self.cell_id.as_deref().map(|it| {
            let cells = notebook.cells.len();
            notebook.find(it).ok_or_else(|| Fault::NoCell { cell: it.to_owned(), cells })
        });
        let named = named.transpose()?;
        let kind = self.cell_type.map(Kind::name);
        let changed = match self.edit_mode {
            Mode::Insert => {
                let kind = kind.ok_or(Fault::NoCellType)?;
                notebook.insert(named, &self.new_source, kind)
            }
            Mode::Replace => {
                notebook.replace(named.ok_or(Fault::WhichCell)?, &self.new_source, kind)
            }
            Mode::Delete => notebook.delete(named.ok_or(Fault::WhichCell)?),
        };
        let own = named.and_then(|it| notebook.cells.get(it)).map(|it| it.kind.clone());
        let kind = kind.map(str::to_owned).or(own).unwrap_or_default();
        Ok(Change { language: notebook.language.clone(), kind, changed, original })
    }

    fn told(&self, cell: &str) -> String {
        match self.edit_mode {
            Mode::Replace => format!("Updated cell {cell} with {}", self.new_source),
            Mode::Insert => format!("Inserted cell {cell} with {}", self.new_source),
            Mode::Delete => format!("Deleted cell {cell}"),
        }
    }

    fn structured(&self, change: &Change) -> Value {
        let Change { original, language, kind, changed } = change;
        json!({
            "new_source": self.new_source,
            "cell_id": changed.cell,
            "cell_type": kind,
            "language": language,
            "edit_mode": self.edit_mode,
            "notebook_path": self.notebook_path,
            "original_file": original,
            "updated_file": changed.text,
            "structuredPatch": structured_patch(original, &changed.text),
        })
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
        }
    }
}
