//! `Edit`: replaces a text in a file that the session has read.
//!
//! Checks, texts and the structured output are those of Claude Code docs 2.1.240, in their strict
//! form: what was not read is not changed. A hard link to the file keeps the old content.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_contract::{
    Card, CheckCx, Conduct, InvalidInput, Output, Reads, RunCx, SessionContext, Tool, ToolError,
};

use crate::fault::{Fault, off_thread};
use crate::patch::structured_patch;
use crate::paths;
use crate::replacement::{Misfit, Replacement};
use crate::text_file::{Known, Present, missing, replace};

pub(crate) struct Edit;

/// A text and what it should become.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The absolute path of the file.
    file_path: String,
    /// The text to replace, exactly as it stands in the file, without line numbers. Empty: the
    /// file is empty or doesn't exist yet.
    old_string: String,
    /// The text to put in its place; it must differ. Empty: the text goes, with the end of its line.
    new_string: String,
    /// Replace every occurrence instead of the only one.
    #[serde(default)]
    replace_all: bool,
}

impl Tool for Edit {
    type Input = Input;
    type Output = String;

    fn card(&self) -> Card {
        Card::new(
            "Edit",
            "Replaces a text in a file. Read the file first. The text must occur exactly once, \
             unless replace_all is set: quote enough around the place that is meant.",
        )
        .telling(&["file_path"])
        .doing("Editing")
    }

    /// A call runs alone, as any does that says nothing else: so the calls of a message change a
    /// file one after another, by whatever names they know it.
    fn conduct(&self, input: &Input) -> Conduct {
        let paths = vec![input.file_path.clone().into()];
        Conduct { destructive: true, paths, ..Conduct::default() }
    }

    async fn validate(&self, input: &Input, cx: &CheckCx) -> Result<(), InvalidInput> {
        let (input, session, reads) = (input.clone(), cx.session.clone(), cx.reads.clone());
        off_thread(move || Plan::new(&input, &session, &reads)).await?;
        Ok(())
    }

    /// The file is looked at again: much may have happened to it while somebody was asked.
    async fn run(&self, input: Input, cx: RunCx) -> Result<Output<String>, ToolError> {
        let told = off_thread(move || {
            let plan = Plan::new(&input, &cx.session, &cx.reads)?;
            let seen = replace(&plan.real, plan.new.as_bytes(), plan.present.as_ref())?;
            let text = match &plan.present {
                Some(_) => format!("The file {} has been updated successfully.", input.file_path),
                None => format!("File created successfully at: {}", input.file_path),
            };
            let structured = plan.structured(&input);
            cx.reads.note(plan.real, seen);
            Ok(Output::from(text).structured(structured))
        });
        Ok(told.await?)
    }
}

/// What a call comes to if the file stays as it is.
struct Plan {
    real: PathBuf,
    present: Option<Present>,
    old: String,
    new: String,
}

impl Plan {
    fn new(input: &Input, session: &SessionContext, reads: &Reads) -> Result<Self, Fault> {
        let path = paths::absolute(&input.file_path, session)?;
        if input.old_string == input.new_string {
            return Err(Misfit::Same.into());
        }
        let real = paths::real(&path).map_err(Fault::io("find", &path))?;
        let Some(present) = Present::read(&real)? else {
            return if input.old_string.is_empty() {
                let new = input.new_string.clone();
                Ok(Self { real, present: None, old: String::new(), new })
            } else {
                Err(missing(path, session))
            };
        };
        present.is_known(reads.seen(&real), Known::WhatWasRead)?;
        let old = std::str::from_utf8(&present.bytes)
            .map_err(|it| Fault::NotUtf8 { path, at: it.valid_up_to() })?
            .to_owned();
        let new = if old.is_empty() && input.old_string.is_empty() {
            input.new_string.clone()
        } else {
            let (old_string, new_string) = (&input.old_string, &input.new_string);
            Replacement { old: old_string, new: new_string, all: input.replace_all }.apply(&old)?
        };
        Ok(Self { real, present: Some(present), old, new })
    }

    fn structured(&self, input: &Input) -> Value {
        json!({
            "filePath": input.file_path,
            "oldString": input.old_string,
            "newString": input.new_string,
            "originalFile": self.old,
            "structuredPatch": structured_patch(&self.old, &self.new),
            "userModified": false,
            "replaceAll": input.replace_all,
        })
    }
}
