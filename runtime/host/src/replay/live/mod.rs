//! Live replay: the real tools run what was recorded, in a copy of the tree that it began with.
//!
//! The recorded working directory is mapped to the copy wherever it stands as a path in an input,
//! also in text that a call writes. What a call asks for in the copy starts, and nothing else that
//! isn't answered from the recording. **A command is not confined:** it starts in the copy, and
//! reaches whatever its user reaches; that is why commands run only where that was said, and
//! belong into a sandbox.

mod compare;
mod confine;
mod copy;
mod mapping;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use toolwright_actors::{Names, Otherwise, Rules, Session};
use toolwright_contract::{AnyTool, NameTaken, RawInput, Registry};

use super::catalogue;
use super::script::{Script, ScriptedTurn};
use crate::SessionBuilder;

pub use compare::Compared;
pub(super) use compare::Expected;
use confine::Confinement;
pub use copy::CopyError;
use mapping::PathMap;

/// What a live replay runs, and where.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// The tree that the recorded session began with; it is only read.
    pub tree: PathBuf,
    /// Where its copy is made: a folder that doesn't exist, or is empty.
    pub into: PathBuf,
    /// Tools that run; the others are answered from the recording. Empty: all but commands.
    pub only: Vec<String>,
    /// Commands run too, without being named in [`only`](Self::only).
    pub commands: bool,
    /// The tools that there are.
    pub tools: Vec<AnyTool>,
}

/// Why a live replay can't begin.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// A tool that isn't built in can't run.
    #[error("there is no built-in tool `{name}`: name some of {known}")]
    NoSuchTool {
        /// What was named.
        name: String,
        /// What there is.
        known: String,
    },
    /// Nothing could be mapped to the copy.
    #[error(
        "the recording doesn't name the absolute directory that it worked in: take a transcript \
         or the output of --output-format stream-json"
    )]
    NoDirectory,
    /// The copy could not be made.
    #[error(transparent)]
    Copy(#[from] CopyError),
}

/// A copy that is ready to be worked in.
pub(super) struct Workplace {
    /// Tools that run.
    tools: Registry,
    root: PathBuf,
    paths: PathMap,
    confinement: Option<Arc<Confinement>>,
}

impl Workplace {
    /// Makes the copy.
    pub(super) fn prepare(live: &Live, recorded_in: Option<&str>) -> Result<Self, LiveError> {
        let tools = chosen(live)?;
        let root = copy::destination(&live.tree, &live.into)?;
        let paths = recorded_in.and_then(|it| PathMap::new(it, &root));
        let paths = paths.ok_or(LiveError::NoDirectory)?;
        copy::copy(&live.tree, &root)?;
        Ok(Self { tools, root, paths, confinement: None })
    }

    /// Puts the real tools in the place of recorded ones.
    pub(super) fn furnish(
        &mut self,
        session: SessionBuilder,
        script: &Script,
        recorded: impl Fn(&String) -> AnyTool,
    ) -> Result<SessionBuilder, NameTaken> {
        let names = script.tools.iter().filter(|it| self.tools.get(it).is_none());
        let names: BTreeSet<String> = names.cloned().collect();
        let tools = names.iter().map(recorded).chain(self.tools.iter().cloned());
        let confinement = Arc::new(Confinement::new(self.root.clone(), names.clone()));
        let hook = confinement.hook();
        self.confinement = Some(confinement);
        let allow = Names::new(names.iter().cloned());
        Ok(session
            .registry(Registry::unpublished(tools)?)
            .rules(Rules { allow, otherwise: Otherwise::Deny, ..Rules::default() })
            .hook(hook)
            .cwd(self.root.clone()))
    }

    /// The session has begun, or is about to end.
    pub(super) fn watch(&self, session: Option<Session>) {
        if let Some(it) = &self.confinement {
            it.watch(session);
        }
    }

    /// Maps what the real tools will be asked, and lets recorded answers come at once. Gives what
    /// the real ones should answer.
    pub(super) fn cast(&self, turn: &mut ScriptedTurn) -> Vec<Expected> {
        turn.parts.values_mut().for_each(|it| it.takes = std::time::Duration::ZERO);
        let mut expected: Vec<Expected> = Vec::new();
        for (call, cue) in turn.calls.iter_mut().zip(&turn.cues) {
            let Some(tool) = self.tools.get(&call.name) else { continue };
            if let RawInput::Json(input) = &mut call.input {
                self.paths.map(input);
            }
            // A call that repeats an id has no result.
            let is_new = expected.iter().all(|it| it.id != call.id);
            if let (true, Some(part)) = (is_new, turn.parts.get(&call.id)) {
                let recorded = cue.has_result.then(|| (part.says.text(), part.is_error));
                let (id, tool) = (call.id.clone(), tool.card().name.to_string());
                expected.push(Expected { id, tool, recorded });
            }
        }
        expected
    }

    /// Compares what the real tools answered with what was recorded.
    pub(super) fn compare(
        &self,
        expected: Vec<Expected>,
        results: &[toolwright_contract::ToolResult],
    ) -> Vec<Compared> {
        let result = |it: &Expected| results.iter().find(|result| result.id == it.id);
        let pairs = expected.into_iter().filter_map(|it| Some((result(&it)?, it)));
        pairs.map(|(result, it)| it.against(result, &self.paths)).collect()
    }
}

fn chosen(live: &Live) -> Result<Registry, LiveError> {
    let all = Registry::unpublished(live.tools.iter().cloned()).unwrap_or_default();
    let of = |name: &String| all.get(name).map(|it| it.card().name.to_string());
    let mut named = BTreeSet::new();
    for name in &live.only {
        let known = || all.iter().map(|it| &*it.card().name).collect::<Vec<_>>().join(", ");
        let tool =
            of(name).ok_or_else(|| LiveError::NoSuchTool { name: name.clone(), known: known() })?;
        named.insert(tool);
    }
    let runs = |it: &&AnyTool| {
        let name = &*it.card().name;
        match catalogue::is_shell(name) {
            true => named.contains(name) || live.commands,
            false => named.contains(name) || named.is_empty(),
        }
    };
    // A part of a registry has no name twice either.
    Ok(Registry::unpublished(all.iter().filter(runs).cloned()).unwrap_or_default())
}
