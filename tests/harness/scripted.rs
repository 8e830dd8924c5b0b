//! A tool that does what its input says, and short ways to call it and to read its results.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolwright::TurnResults;
use toolwright_contract::{
    Card, CheckCx, ContextChange, Effects, Footprint, InvalidInput, OnInterrupt, Output, RunCx,
    Safety, Tool, ToolError, ToolUse,
};

/// The tool, under the name `Scripted`.
pub struct Scripted;

/// What it should do. The default takes no time, reads only, and succeeds.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// How long to run, in milliseconds.
    pub ms: u64,
    /// Runs alone.
    pub alone: bool,
    /// May change something.
    pub writes: bool,
    /// Lets a user's interrupt pass by.
    pub block: bool,
    /// Fails with this text.
    pub fail: Option<String>,
    /// Whether the failure takes siblings along.
    pub cascades: bool,
    /// Panics with this text.
    pub panic: Option<String>,
    /// Pays no heed to a stop.
    pub deaf: bool,
    /// Its check says this.
    pub invalid: Option<String>,
    /// Succeeds with this text instead of `ran`.
    pub say: Option<String>,
    /// Appends this to the context's value `trail`.
    pub trail: Option<String>,
    /// The change of the context fails (`error`), panics (`panic`) or hangs (`hang`).
    pub bad_change: Option<String>,
    /// Runs these scripts as nested calls first.
    pub nested: Vec<Value>,
}

impl Tool for Scripted {
    type Input = Script;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Scripted", "Does what its input says.").alias("OldScripted")
    }

    fn safety(&self, it: &Script) -> Safety {
        Safety {
            footprint: if it.alone { Footprint::Exclusive } else { Footprint::Shared },
            effects: if it.writes { Effects::Writes } else { Effects::ReadOnly },
            on_interrupt: if it.block { OnInterrupt::Block } else { OnInterrupt::Cancel },
        }
    }

    async fn validate(&self, it: &Script, _: &CheckCx) -> Result<(), InvalidInput> {
        it.invalid.clone().map_or(Ok(()), |why| Err(InvalidInput(why)))
    }

    async fn run(&self, it: Script, cx: RunCx) -> Result<Output<String>, ToolError> {
        if !it.nested.is_empty() {
            let id = |n: usize| format!("{}.{n}", cx.id);
            let calls = it.nested.iter().enumerate();
            let calls = calls.map(|(n, it)| ToolUse::new(id(n), "Scripted", it.clone())).collect();
            cx.run_nested(calls).await;
        }
        let sleeping = tokio::time::sleep(Duration::from_millis(it.ms));
        if it.deaf {
            sleeping.await;
        } else {
            cx.stop.or(sleeping).await?;
        }
        if let Some(text) = it.panic {
            panic!("{text}");
        }
        if let Some(message) = it.fail {
            return Err(ToolError::Failed { message, cascades: it.cascades });
        }
        let output = Output::from(it.say.unwrap_or_else(|| "ran".to_owned()));
        Ok(match (it.trail, it.bad_change) {
            (Some(mark), _) => output.changing(ContextChange::new(move |mut context| {
                let trail = context.values.entry("trail".into()).or_insert_with(|| "".into());
                *trail = format!("{}{mark}", trail.as_str().unwrap_or_default()).into();
                Ok(context)
            })),
            (None, Some(how)) => output.changing(ContextChange::new(move |_| match &*how {
                "panic" => panic!("the change panics"),
                "hang" => {
                    std::thread::park_timeout(Duration::from_secs(2));
                    Err("hung".to_owned())
                }
                _ => Err("the change fails".to_owned()),
            })),
            (None, None) => output,
        })
    }
}

/// A call of the scripted tool.
#[must_use]
pub fn call(id: &str, script: Value) -> ToolUse {
    ToolUse::new(id, "Scripted", script)
}

/// The ids of results, in their order.
#[must_use]
pub fn ids(results: &TurnResults) -> Vec<&str> {
    results.results.iter().map(|it| it.id.as_str()).collect()
}

/// The texts of results, in their order.
#[must_use]
pub fn texts(results: &TurnResults) -> Vec<String> {
    results.results.iter().map(|it| it.content.text()).collect()
}
