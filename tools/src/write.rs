//! `Write`: makes a file, or replaces one that the session has read.
//!
//! Checks, texts and the structured output are those of Claude Code docs 2.1.240, in their strict
//! form: what was not read is not replaced. The content is written as it was sent, byte for byte.

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
use crate::text_file::{Known, Present, replace};

pub(crate) struct Write;

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
        .telling(&["file_path"])
        .doing("Writing")
    }

    /// A call runs alone, as any does that says nothing else: so the calls of a message change a
    /// file one after another, by whatever names they know it.
    fn conduct(&self, input: &Input) -> Conduct {
        let paths = vec![input.file_path.clone().into()];
        Conduct { destructive: true, paths, ..Conduct::default() }
    }

    async fn validate(&self, input: &Input, cx: &CheckCx) -> Result<(), InvalidInput> {
        let (path, session, reads) =
            (input.file_path.clone(), cx.session.clone(), cx.reads.clone());
        off_thread(move || target(&path, &session, &reads)).await?;
        Ok(())
    }

    /// The file is looked at again: much may have happened to it while somebody was asked.
    async fn run(&self, input: Input, cx: RunCx) -> Result<Output<String>, ToolError> {
        let written = off_thread(move || {
            let (real, present) = target(&input.file_path, &cx.session, &cx.reads)?;
            let seen = replace(&real, input.content.as_bytes(), present.as_ref())?;
            cx.reads.note(real, seen);
            let text = match present {
                None => format!("File created successfully at: {}", input.file_path),
                Some(_) => format!("The file {} has been updated successfully.", input.file_path),
            };
            Ok(Output::from(text).structured(structured(&input, present.as_ref())))
        });
        Ok(written.await?)
    }
}

/// The file that is meant and what it is now, if it may be written.
fn target(
    sent: &str,
    session: &SessionContext,
    reads: &Reads,
) -> Result<(PathBuf, Option<Present>), Fault> {
    let path = paths::absolute(sent, session)?;
    let real = paths::real(&path).map_err(Fault::io("find", &path))?;
    let present = Present::read(&real)?;
    if let Some(present) = &present {
        present.is_known(reads.seen(&real), Known::Everything)?;
    }
    Ok((real, present))
}

fn structured(input: &Input, present: Option<&Present>) -> Value {
    let Input { file_path, content } = input;
    let (kind, original) = match present {
        None => ("create", None),
        Some(present) => ("update", Some(String::from_utf8_lossy(&present.bytes))),
    };
    let patch = original.as_ref().map_or(json!([]), |it| structured_patch(it, content));
    json!({
        "type": kind,
        "filePath": file_path,
        "content": content,
        "structuredPatch": patch,
        "originalFile": original,
    })
}
