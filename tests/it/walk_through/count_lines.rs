//! `CountLines`: counts the lines of a text file.

use std::path::PathBuf;

use toolwright::{Card, CheckCx, Conduct, InvalidInput, Output, RunCx, Safety, Tool, ToolError};

pub(crate) struct CountLines;

/// What the model sends. Comments become the descriptions that it reads.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Input {
    /// The absolute path of the file.
    file_path: PathBuf,
    /// Whether lines without text count too.
    #[serde(default)]
    blank: bool,
}

impl Tool for CountLines {
    type Input = Input;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("CountLines", "Counts the lines of a text file.")
            .telling(&["file_path"])
            .doing("Counting the lines of")
    }

    // It changes nothing, so it may run beside others, and nobody need be asked.
    fn safety(&self, _: &Input) -> Safety {
        Safety::read_only()
    }

    fn conduct(&self, input: &Input) -> Conduct {
        Conduct { paths: vec![input.file_path.clone()], ..Conduct::default() }
    }

    // A look at the world before the start, after earlier calls of the message.
    async fn validate(&self, input: &Input, _: &CheckCx) -> Result<(), InvalidInput> {
        if input.file_path.is_absolute() {
            Ok(())
        } else {
            Err(InvalidInput("file_path is not absolute: send the whole path".to_owned()))
        }
    }

    async fn run(&self, input: Input, cx: RunCx) -> Result<Output<String>, ToolError> {
        // The first `?` is the stop: a tool that waits should heed it.
        let text = cx.stop.or(tokio::fs::read_to_string(&input.file_path)).await?;
        let text = text.map_err(|it| ToolError::failed(format!("The file can't be read: {it}")))?;
        let lines = text.lines().filter(|it| input.blank || !it.trim().is_empty());
        Ok(format!("{} lines", lines.count()).into())
    }
}
