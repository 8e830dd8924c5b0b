//! `Edit`: replaces a text in a file that the session has read.
//!
//! Checks, texts and the structured output are those of Claude Code docs 2.1.240.

use schemars::JsonSchema;
use serde::Deserialize;
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

pub(crate) struct Edit(pub(crate) FileOptions);

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
        .about(Family::EditPath, "file_path")
        .telling(&["file_path"])
        .doing("Editing")
    }

    /// A call runs alone, as any does that says nothing else: so the calls of a message change a
    /// file one after another, by whatever names they know it.
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
                let text = target.written(&input.file_path);
                let output = Output::from(revision.told(text));
                Ok(output.structured(input.structured(&revision)))
            })
        };
        Ok(off_thread(change).await?)
    }
}

impl Input {
    fn revise(&self, target: &Target, desk: &Desk) -> Result<Revision, Fault> {
        if self.old_string == self.new_string {
            return Err(Misfit::Same.into());
        }
        if target.present.is_none() && !self.old_string.is_empty() {
            return Err(missing(self.file_path.clone().into(), &desk.session));
        }
        let (old, new) = (&*self.old_string, &*self.new_string);
        Revision::of(target, &[Replacement { old, new, all: self.replace_all }])
    }

    fn structured(&self, revision: &Revision) -> Value {
        json!({
            "filePath": self.file_path,
            "oldString": self.old_string,
            "newString": self.new_string,
            "originalFile": revision.old,
            "structuredPatch": revision.patch(),
            "userModified": false,
            "replaceAll": self.replace_all,
        })
    }
}
