//! `Write`: makes a file, or replaces one that the session has read.
//!
//! Checks, texts and the structured output are those of Claude Code docs 2.1.240. A new file holds
//! what was sent, byte for byte; one that is replaced keeps its encoding, mark and line endings.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_contract::{
    Card, CheckCx, Conduct, Family, InvalidInput, Output, RunCx, Tool, ToolError, present::Present,
};

use crate::changes::Changes;
use crate::fault::off_thread;
use crate::options::FileOptions;
use crate::patch::structured_patch;
use crate::replacement::with_endings_of;
use crate::target::Desk;
use crate::text_file::Known;

pub(crate) struct Write(pub(crate) FileOptions);

/// A file's whole content.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The absolute path of the file.
    file_path: String,
    /// All that the file should hold.
    content: String,
}

impl Tool for Write {
    type Input = Input;
    type Output = String;

    fn card(&self) -> Card {
        Card::new(
            "Write",
            "Writes a whole file, with the folders above it. A file that exists is replaced: read \
             it first.",
        )
        .about(Family::EditPath, "file_path")
        .telling(&["file_path"])
        .doing("Writing")
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
        let (path, desk) = (input.file_path.clone(), Desk::checking(cx, &self.0));
        off_thread(move || desk.look(&path, Known::Everything)).await?;
        Ok(())
    }

    /// The file is looked at again: much may have happened to it while somebody was asked.
    async fn run(&self, input: Input, cx: RunCx) -> Result<Output<String>, ToolError> {
        let desk = Desk::running(&cx, &self.0);
        let change = move || {
            desk.change(&input.file_path, Known::Everything, |target| {
                let old = target.present.as_ref().map(|it| target.encoding.show(&it.bytes));
                let content = match &old {
                    Some(old) => with_endings_of(old, target.encoding.unmarked(&input.content)),
                    None => input.content.clone(),
                };
                desk.write(&target, &content)?;
                let text = target.written(&input.file_path);
                Ok(Output::from(text).structured(input.structured(old.as_deref())))
            })
        };
        Ok(off_thread(change).await?)
    }
}

impl Input {
    fn structured(&self, original: Option<&str>) -> Value {
        let kind = if original.is_some() { "update" } else { "create" };
        let patch = original.map_or(json!([]), |it| structured_patch(it, &self.content));
        json!({
            "type": kind,
            "filePath": self.file_path,
            "content": self.content,
            "structuredPatch": patch,
            "originalFile": original,
        })
    }
}
