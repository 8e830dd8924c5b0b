//! Whether each part of a command may start unasked, and by what.

use toolwright_shell_analysis::Carries;

use toolwright_contract::Family;

use super::Facts;
use super::files::{File, Place};
use super::part::Part;
use crate::decide::{Case, edit_allowed, read_allowed, whole_tool_allowed};
use crate::decision::{Reason, Trail};
use crate::mode::Mode;
use crate::rule::List;

impl Facts {
    /// Why the command may start unasked, or why not.
    pub(crate) fn allowance(&self, case: &Case<'_>, trail: &mut Trail) -> Result<Reason, Reason> {
        if self.is_foreign {
            return self.foreign_allowed(case);
        }
        if self.parts.is_empty() {
            return Err(Reason::NoRule(None));
        }
        let covered = self.covered(case);
        for (part, covered) in self.parts().zip(&covered) {
            trail.note(|| match covered {
                Ok(reason) => format!("`{}`: allowed: {reason}", part.shown()),
                Err(reason) => format!("`{}`: not allowed: {reason}", part.shown()),
            });
        }
        let mut reasons: Vec<Reason> = Vec::new();
        for reason in covered {
            let reason = reason?;
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        match reasons.len() {
            1 => Ok(reasons.remove(0)),
            _ => Ok(Reason::Parts(reasons)),
        }
    }

    /// By which reason each part may start.
    pub(super) fn covered(&self, case: &Case<'_>) -> Vec<Result<Reason, Reason>> {
        let whole = (case.mode != Mode::Plan).then(|| whole_tool_allowed(case)).flatten();
        let mut covered: Vec<Result<Reason, Reason>> = Vec::with_capacity(self.parts.len());
        // Whether a rule is about the part as it stands, so that what it runs is meant too.
        let mut vouched: Vec<Option<Reason>> = Vec::with_capacity(self.parts.len());
        for part in self.parts() {
            let by_wrapper = part.carried_by.and_then(|it| vouched.get(it).cloned().flatten());
            let by_rule = whole.clone().or(by_wrapper).or_else(|| rule_for(case, part));
            let reason = match &by_rule {
                Some(reason) => self.by_rule(case, part, reason.clone()),
                None => self.by_mode(case, part),
            };
            covered.push(reason.and_then(|it| redirections_allowed(case, part).map(|()| it)));
            vouched.push(by_rule);
        }
        covered
    }

    /// A rule lets the part run; where it runs may still matter.
    fn by_rule(&self, case: &Case<'_>, part: &Part, reason: Reason) -> Result<Reason, Reason> {
        let is_git = part.program.as_deref() == Some("git");
        if is_git && whole_tool_allowed(case).is_none() && self.moves_away(case) {
            return Err(elsewhere(part));
        }
        Ok(reason)
    }

    fn by_mode(&self, case: &Case<'_>, part: &Part) -> Result<Reason, Reason> {
        if part.carries == Carries::Opaque {
            return Err(Reason::Unvouched(part.shown()));
        }
        if let Some(place) = &part.moves_to {
            return match place {
                Place::Known(to) if part.only_reads => {
                    read_allowed(case, to).map(|_| Reason::ReadOnly)
                }
                Place::Known(_) | Place::Among(..) | Place::Unknown => {
                    Err(Reason::NoRule(Some(part.shown())))
                }
            };
        }
        let is_git = part.program.as_deref() == Some("git");
        if is_git && self.moves_away(case) {
            return Err(elsewhere(part));
        }
        if part.only_reads {
            for it in part.read() {
                file_read(case, it)?;
            }
            return Ok(Reason::ReadOnly);
        }
        if case.mode == Mode::AcceptEdits && part.edits() && part.has_harmless_assignments {
            for it in &part.files {
                if it.is_written { file_edited(case, it)? } else { file_read(case, it)? }
            }
            return Ok(Reason::Mode(case.mode));
        }
        Err(Reason::NoRule(Some(part.shown())))
    }

    /// Whether the command may leave the directory that the session is in: git would then obey
    /// another repository.
    fn moves_away(&self, case: &Case<'_>) -> bool {
        self.parts().filter_map(|it| it.moves_to.as_ref()).any(|it| match it {
            Place::Known(to) => to.path != case.places.cwd(),
            Place::Among(..) | Place::Unknown => true,
        })
    }

    /// In a language that isn't analysed an allow is for one command alone.
    fn foreign_allowed(&self, case: &Case<'_>) -> Result<Reason, Reason> {
        if let Some(reason) = whole_tool_allowed(case) {
            return Ok(reason);
        }
        let text = self.text.trim();
        let rules = case.rules.commands(List::Allow, Family::ForeignCommand);
        let found = rules.about(text).find(|it| it.0.is(text));
        found.map_or(Err(Reason::NoRule(None)), |it| Ok(case.told(it.1)))
    }
}

fn elsewhere(part: &Part) -> Reason {
    Reason::Unvouched(format!("{} in another directory", part.shown()))
}

/// The allow rule about a part. Wrappers of any kind, actions of a search and unusual variables
/// need the exact command.
fn rule_for(case: &Case<'_>, part: &Part) -> Option<Reason> {
    if case.mode == Mode::Plan || part.text.is_empty() {
        return None;
    }
    let rules = case.rules.commands(List::Allow, Family::Command);
    let runs_others = part.carries == Carries::Opaque
        || (part.program.as_deref() == Some("find") && !part.only_reads);
    let needs_exact = runs_others || part.may_gain_options || !part.has_harmless_assignments;
    let fits = |text: &str| {
        let mut found = rules.about(text).filter(|(it, _)| {
            let is_set_aside = case.mode == Mode::Auto && it.is_broad();
            it.fits(text) && (it.is(text) || !needs_exact) && !is_set_aside
        });
        found.next().map(|it| it.1)
    };
    let exact = (part.whole != part.text).then(|| fits(&part.whole)).flatten();
    let rule =
        exact.or_else(|| part.has_harmless_assignments.then(|| fits(&part.text)).flatten())?;
    Some(case.told(rule))
}

/// What is redirected into files is a change of those files.
fn redirections_allowed(case: &Case<'_>, part: &Part) -> Result<(), Reason> {
    part.written().filter(|it| it.is_redirected).try_for_each(|it| file_edited(case, it))
}

fn file_read(case: &Case<'_>, it: &File) -> Result<(), Reason> {
    if it.is_nowhere() {
        return Ok(());
    }
    let place = match &it.place {
        Place::Known(file) => file,
        Place::Among(directory, _) => directory,
        Place::Unknown => return Err(Reason::NotUnderstood(unknown(it))),
    };
    if let Some(flaw) = place.flaw {
        return Err(Reason::Path(flaw, it.text.clone()));
    }
    read_allowed(case, place).map(|_| ())
}

fn file_edited(case: &Case<'_>, it: &File) -> Result<(), Reason> {
    match &it.place {
        Place::Known(file) if !it.is_dynamic => edit_allowed(case, file).map(|_| ()),
        Place::Known(_) | Place::Among(..) | Place::Unknown => {
            Err(Reason::NotUnderstood(unknown(it)))
        }
    }
}

fn unknown(it: &File) -> String {
    format!("which file `{}` is can't be told before it runs", it.text)
}
