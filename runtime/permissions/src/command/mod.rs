//! Commands: what rules, paths and modes say about each part of one, and so about the whole.
//!
//! A deny or an ask counts if it is about any part, seen through every wrapper; an allow only if
//! each part has its own. What the shell analysis is in doubt about is asked.

mod allowed;
mod files;
mod part;
mod stopped;

use toolwright_shell_analysis::{Reason as DoubtReason, Understanding, paths, understand};

use crate::decide::Case;
use crate::decision::Reason;
use crate::guarded::is_protected;
use crate::place::{Links, Places};
use files::{File, Place};
use part::Part;

/// What a command would do, and to which files, before any rule is asked.
#[derive(Clone, Debug)]
pub struct Facts {
    understanding: Understanding,
    parts: Vec<Part>,
    /// The text as it was given, for what isn't analysed.
    text: String,
    /// Whether the language is one that isn't analysed.
    is_foreign: bool,
}

/// Where a command runs.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub(crate) places: &'a Places,
    pub(crate) links: &'a dyn Links,
}

impl Facts {
    /// Those of a command of a POSIX shell.
    pub(crate) fn of(text: &str, world: World<'_>) -> Self {
        let understanding = understand(text);
        let mut uses = vec![Vec::new(); understanding.commands.len()];
        for it in paths(&understanding).uses {
            if let Some(uses) = uses.get_mut(it.command) {
                uses.push(File::of(&it, world.places, world.links));
            }
        }
        let pairs = understanding.commands.iter().zip(uses);
        let mut parts: Vec<Part> =
            pairs.map(|(command, files)| Part::new(command, files, world)).collect();
        // Where a second step leads depends on the first.
        for place in parts.iter_mut().filter_map(|it| it.moves_to.as_mut()).skip(1) {
            if !matches!(place, Place::Known(it) if it.given.starts_with('/')) {
                *place = Place::Unknown;
            }
        }
        Self { understanding, parts, text: text.to_owned(), is_foreign: false }
    }

    /// Those of a command in a language that isn't analysed.
    pub(crate) fn foreign(text: &str) -> Self {
        let understanding = Understanding::default();
        Self { understanding, parts: Vec::new(), text: text.to_owned(), is_foreign: true }
    }

    /// The command as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Each part with the command that it is.
    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter()
    }

    /// The texts of the parts for which a rule could spare the question.
    pub(crate) fn unallowed<'a>(&'a self, case: &'a Case<'_>) -> Vec<&'a Part> {
        let covered = self.covered(case);
        let pairs = self.parts.iter().enumerate();
        let open = pairs.filter(|(at, _)| covered.get(*at).is_none_or(Result::is_err));
        open.map(|(_, part)| part).collect()
    }

    /// The first protected path that is written.
    pub(crate) fn protected(&self) -> Option<String> {
        let written = self.parts().flat_map(|it| it.written());
        let guarded = |it: &&File| match &it.place {
            Place::Known(file) => is_protected(&file.path) || is_protected(&file.real),
            Place::Among(file, _) => is_protected(&file.path) || is_protected(&file.real),
            Place::Unknown => false,
        };
        written.into_iter().find(guarded).map(|it| it.text.clone())
    }

    /// Why the command isn't understood, if it is so whatever the rules say.
    fn unreadable(&self) -> Option<Reason> {
        let doubt = self.understanding.doubts.iter().find(|it| is_of_text(&it.reason));
        doubt.map(|it| Reason::NotUnderstood(it.to_string()))
    }
}

/// Whether a doubt is one about what the text says, and not about what a known program does.
fn is_of_text(reason: &DoubtReason) -> bool {
    match reason {
        DoubtReason::TooLong
        | DoubtReason::TooDeep
        | DoubtReason::HiddenCharacter(_)
        | DoubtReason::LookalikeSpace(_)
        | DoubtReason::Syntax(_)
        | DoubtReason::Unfinished(_)
        | DoubtReason::HereDocument
        | DoubtReason::Quoting
        | DoubtReason::Network => true,
        DoubtReason::DynamicProgram
        | DoubtReason::LookalikeProgram
        | DoubtReason::DynamicScript
        | DoubtReason::UnseenScript
        | DoubtReason::Expansion
        | DoubtReason::Arithmetic
        | DoubtReason::ExtendedGlob
        | DoubtReason::ShellsDiffer
        | DoubtReason::History
        | DoubtReason::Wrapper(_)
        | DoubtReason::ChangesShell(_) => false,
    }
}
