//! `MultiEdit`: several edits of one file, all of them or none.
//!
//! Input and texts are those of recorded sessions of Claude Code 1.0, where the tool was offered.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_contract::{
    Card, CheckCx, Conduct, Family, InvalidInput, Output, RunCx, Tool, ToolError, present::Present,
};

use crate::changes::Changes;
use crate::fault::{Fault, off_thread};
use crate::options::FileOptions;
use crate::replacement::{Misfit, Replacement};
use crate::revision::Revision;
use crate::target::{Desk, Target};
use crate::text_file::{Known, missing};

/// Most edits of a call: each goes through the whole text.
const MOST: usize = 1_000;
/// Characters of each text that the result shows.
const SHOWN: usize = 50;

pub(crate) struct MultiEdit(pub(crate) FileOptions);

/// Texts and what they should become.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The absolute path of the file.
    file_path: String,
    /// The edits, in order: each works on what the one before has left.
    edits: Vec<Edit>,
}

/// A text and what it should become.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The text to replace, exactly as it stands in the file by then, without line numbers. Empty
    /// in the first edit: the file is empty or doesn't exist yet.
    old_string: String,
    /// The text to put in its place; it must differ. Empty: the text goes, with the end of its line.
    new_string: String,
    /// Replace every occurrence instead of the only one.
    #[serde(default)]
    replace_all: bool,
}

impl Tool for MultiEdit {
    type Input = Input;
    type Output = String;

    fn card(&self) -> Card {
        Card::new(
            "MultiEdit",
            "Replaces several texts in one file, in order, and nothing if one of them does not \
             fit. Read the file first. Each text must occur exactly once by then, unless its \
             replace_all is set.",
        )
        .about(Family::EditPath, "file_path")
        .telling(&["file_path"])
        .doing("Editing")
    }

    fn conduct(&self, input: &Input) -> Conduct {
        let paths = vec![input.file_path.clone().into()];
        Conduct { destructive: true, paths, ..Conduct::default() }
    }

    fn present(&self) -> Box<dyn Present> {
        Box::new(Changes)
    }

    async fn validate(&self, input: &Input, cx: &CheckCx) -> Result<(), InvalidInput> {
        let (input, desk) = (input.clone(), Desk::checking(cx, &self.0));
        let look = move || {
            let target = desk.look(&input.file_path, Known::WhatWasRead)?;
            input.revise(&target, &desk)
        };
        off_thread(look).await?;
        Ok(())
    }

    /// The file is looked at again: much may have happened to it while somebody was asked.
    async fn run(&self, input: Input, cx: RunCx) -> Result<Output<String>, ToolError> {
        let desk = Desk::running(&cx, &self.0);
        let change = move || {
            desk.change(&input.file_path, Known::WhatWasRead, |target| {
                let revision = input.revise(&target, &desk)?;
                desk.write(&target, &revision.new)?;
                let output = Output::from(revision.told(input.told()));
                Ok(output.structured(input.structured(&revision)))
            })
        };
        Ok(off_thread(change).await?)
    }
}

impl Input {
    fn revise(&self, target: &Target, desk: &Desk) -> Result<Revision, Fault> {
        let first = self.edits.first().ok_or(Fault::NoEdits(MOST))?;
        if self.edits.len() > MOST {
            return Err(Fault::TooManyEdits { sent: self.edits.len(), most: MOST });
        }
        if target.present.is_none() && !first.old_string.is_empty() {
            return Err(missing(self.file_path.clone().into(), &desk.session));
        }
        let edits: Vec<_> = self.edits.iter().map(Edit::replacement).collect();
        let revision = Revision::of(target, &edits)?;
        if target.present.is_some() && revision.old == revision.new {
            return Err(Misfit::Undone.into());
        }
        Ok(revision)
    }

    fn told(&self) -> String {
        let count = self.edits.len();
        let edits = if count == 1 { "edit" } else { "edits" };
        let mut text = format!("Applied {count} {edits} to {}:", self.file_path);
        for (at, edit) in self.edits.iter().enumerate() {
            let (old, new) = (shown(&edit.old_string), shown(&edit.new_string));
            write!(text, "\n{}. Replaced \"{old}\" with \"{new}\"", at + 1).unwrap_or_default();
        }
        text
    }

    fn structured(&self, revision: &Revision) -> Value {
        json!({
            "filePath": self.file_path,
            "edits": self.edits,
            "originalFileContents": revision.old,
            "structuredPatch": revision.patch(),
            "userModified": false,
        })
    }
}

impl Edit {
    fn replacement(&self) -> Replacement<'_> {
        Replacement { old: &self.old_string, new: &self.new_string, all: self.replace_all }
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
