//! Edits of one file, one after another: what becomes of its text, and what the model is told.

use serde_json::Value;

use crate::fault::Fault;
use crate::forgiving::Overlooked;
use crate::patch::structured_patch;
use crate::replacement::{Misfit, Replaced, Replacement};
use crate::target::{Standing, Target};

/// What edits come to.
pub(crate) struct Revision {
    pub(crate) old: String,
    pub(crate) new: String,
    /// What the model should know beyond that it is done.
    notes: Vec<String>,
}

impl Revision {
    /// Applies edits in order, each to what the one before has left.
    ///
    /// # Errors
    ///
    /// The first that doesn't fit.
    pub(crate) fn of(target: &Target, edits: &[Replacement<'_>]) -> Result<Self, Fault> {
        let old = target.text()?;
        let mut new = old.clone();
        let mut notes = Vec::new();
        for (at, edit) in edits.iter().enumerate() {
            let misfit = |misfit: Misfit| match edits.len() {
                1 => Fault::Misfit(misfit),
                all => Fault::OneOf { at: at + 1, all, misfit },
            };
            if edit.old.is_empty() && new.is_empty() && !edit.new.is_empty() {
                edit.new.clone_into(&mut new);
                continue;
            }
            let replaced = edit.apply(&new).map_err(misfit)?;
            refuse_guesses(target.standing, &replaced)?;
            notes.extend(replaced.overlooked.map(|it| overlooked(edits.len(), at, it)));
            new = replaced.text;
        }
        if target.standing == Standing::Changed {
            let text = "The file has changed elsewhere since it was read: read it again before \
                        relying on the rest of it.";
            notes.push(text.to_owned());
        }
        Ok(Self { old, new, notes })
    }

    /// A text for the model, and what it should know besides.
    pub(crate) fn told(&self, text: String) -> String {
        self.notes.iter().fold(text, |text, note| text + "\n" + note)
    }

    pub(crate) fn patch(&self) -> Value {
        structured_patch(&self.old, &self.new)
    }
}

/// What the session doesn't know it changes only where there is no doubt.
fn refuse_guesses(standing: Standing, replaced: &Replaced) -> Result<(), Fault> {
    let certain = replaced.overlooked.is_none() && replaced.places == 1;
    match standing {
        Standing::Unread if !certain => Err(Fault::Unread),
        Standing::Changed if !certain => Err(Fault::Changed),
        Standing::Known | Standing::Unread | Standing::Changed => Ok(()),
    }
}

fn overlooked(all: usize, at: usize, it: Overlooked) -> String {
    let which = if all == 1 { String::new() } else { format!(" of edit {}", at + 1) };
    format!("The old_string{which} was not there exactly: {it} did not match, and were overlooked.")
}
