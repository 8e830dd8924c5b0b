//! What stops a command, or has it asked in every mode: rules, critical removals, doubts.

use toolwright_contract::Family;

use super::Facts;
use super::files::{File, Place, may_stand_for};
use super::part::Part;
use crate::command_pattern::CommandPattern;
use crate::decide::Case;
use crate::decision::Reason;
use crate::mode::Mode;
use crate::names;
use crate::place::Touched;
use crate::rule::List;
use crate::rule_set::{RuleIx, ToolName};

impl Facts {
    /// A deny rule about some part, or a file that settings keep every call away from.
    pub(crate) fn denied(&self, case: &Case<'_>) -> Option<Reason> {
        self.stopped(case, List::Deny).or_else(|| {
            let fences = case.rules.fences;
            let is_outside = |it: &&File| match &it.place {
                Place::Known(file) | Place::Among(file, _) => !case.places.contain(file),
                Place::Unknown => true,
            };
            let is_kept = |it: &&File| {
                let blocks = if it.is_written { fences.blocks_writes } else { fences.blocks_reads };
                blocks && !it.is_nowhere() && is_outside(it)
            };
            let found = self.parts().flat_map(|it| &it.files).find(is_kept)?;
            Some(Reason::OutsideWorkingDirectories(found.text.clone()))
        })
    }

    /// What has the command asked in every mode.
    pub(crate) fn asked(&self, case: &Case<'_>) -> Option<Reason> {
        self.stopped(case, List::Ask)
            .or_else(|| self.parts().find_map(|it| it.critical.clone()).map(Reason::Critical))
            .or_else(|| self.unreadable())
            .or_else(|| self.perhaps(case, List::Deny))
            .or_else(|| self.perhaps(case, List::Ask))
            .or_else(|| self.doubtful(case))
    }

    fn stopped(&self, case: &Case<'_>, list: List) -> Option<Reason> {
        if self.is_foreign {
            return self.foreign_stopped(case, list);
        }
        self.parts().find_map(|part| {
            let rule = command_rule(case, list, part).or_else(|| file_rule(case, list, part))?;
            Some(Reason::Rule(case.rules.rule(rule), Some(part.shown())))
        })
    }

    /// A language that isn't analysed: each stretch between operators may be a command.
    fn foreign_stopped(&self, case: &Case<'_>, list: List) -> Option<Reason> {
        let rules = case.rules.commands(list, Family::ForeignCommand);
        self.text.split([';', '|', '&', '\n', '\r', '(', ')', '{', '}']).find_map(|text| {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let found = rules.about(&text).find(|it| it.0.fits(&text))?;
            Some(Reason::Rule(case.rules.rule(found.1), Some(text)))
        })
    }

    /// A rule that may be about what can't be told: words and paths that the shell expands.
    fn perhaps(&self, case: &Case<'_>, list: List) -> Option<Reason> {
        self.parts().find_map(|part| {
            let rule =
                perhaps_command(case, list, part).or_else(|| perhaps_file(case, list, part))?;
            Some(Reason::PerhapsRule(case.rules.rule(rule), part.shown()))
        })
    }

    /// What isn't understood may be what a rule is about. Where none stops anything, the mode that
    /// lets everything start lets this start too.
    fn doubtful(&self, case: &Case<'_>) -> Option<Reason> {
        let is_restrained = [List::Deny, List::Ask].into_iter().any(|list| {
            case.rules.has_paths(list) || !case.rules.commands(list, case.call.family).is_empty()
        });
        if case.mode == Mode::BypassPermissions && !is_restrained {
            return None;
        }
        if self.is_foreign {
            let why = "its language isn't analysed, and rules stop some commands of it";
            return is_restrained.then(|| Reason::NotUnderstood(why.to_owned()));
        }
        if self.is_vouched_for(case) {
            return None;
        }
        if let Some(doubt) = self.understanding.doubts.first() {
            return Some(Reason::NotUnderstood(doubt.to_string()));
        }
        let unseen = self.parts().find(|it| it.runs_its_input).filter(|_| is_restrained)?;
        Some(Reason::NotUnderstood(format!("`{}` runs what it reads", unseen.shown())))
    }

    /// Whether an allow rule is this very command, and nothing else.
    fn is_vouched_for(&self, case: &Case<'_>) -> bool {
        let [part] = self.parts.as_slice() else { return false };
        let rules = case.rules.commands(List::Allow, case.call.family);
        rules.about(&part.whole).any(|(it, _)| it.is(&part.whole))
    }
}

fn command_rule(case: &Case<'_>, list: List, part: &Part) -> Option<RuleIx> {
    let rules = case.rules.commands(list, case.call.family);
    if rules.is_empty() {
        return None;
    }
    let fits = |text: &String| rules.about(text).filter(|it| it.0.fits(text)).map(|it| it.1).min();
    part.strict_texts.iter().filter_map(fits).min()
}

/// A pattern that a part fits up to where the shell expands something.
fn perhaps_command(case: &Case<'_>, list: List, part: &Part) -> Option<RuleIx> {
    let settled = part.settled?;
    let text = part.plain.get(..settled)?;
    let rules = case.rules.commands(list, case.call.family);
    let fits = |it: &&(CommandPattern, RuleIx)| it.0.may_continue(text);
    rules.about(&part.plain).filter(fits).map(|it| it.1).min()
}

/// A rule about a file of the part, or about all files.
fn file_rule(case: &Case<'_>, list: List, part: &Part) -> Option<RuleIx> {
    let whole = |family| {
        let name = names::rule_name(family)?;
        case.rules.whole_tool(list, ToolName { name, server: None })
    };
    part.files.iter().filter(|it| !it.is_nowhere()).find_map(|it| {
        let family = if it.is_written { Family::EditPath } else { Family::ReadPath };
        if let Some(rule) = whole(family).filter(|_| it.is_redirected || part.is_complete) {
            return Some(rule);
        }
        match &it.place {
            Place::Known(file) => known_file_rule(case, list, file, it.is_written),
            // The directory itself, and so all in it.
            Place::Among(directory, names) => {
                let rest = names.join("/");
                let (path, real) = (directory.path.join(&rest), directory.real.join(rest));
                let inside = Touched { path, real, ..directory.clone() };
                known_file_rule(case, list, &inside, it.is_written)
            }
            Place::Unknown => None,
        }
    })
}

fn known_file_rule(
    case: &Case<'_>,
    list: List,
    file: &Touched,
    is_written: bool,
) -> Option<RuleIx> {
    let read = || case.rules.read(list, file, case.places);
    if is_written {
        // What may not be read may not be replaced either.
        case.rules.edit(list, file, case.places).or_else(|| (list == List::Deny).then(read)?)
    } else {
        read()
    }
}

/// A rule that may be about a file whose name isn't known, or that only looks like one.
fn perhaps_file(case: &Case<'_>, list: List, part: &Part) -> Option<RuleIx> {
    if !case.rules.has_paths(list) {
        return None;
    }
    let expanded = part.files.iter().filter(|it| !it.is_nowhere()).find_map(|it| match &it.place {
        Place::Known(_) => None,
        Place::Among(..) => perhaps_among(case, list, it),
        Place::Unknown => case.rules.any_path(list),
    });
    let named = || {
        part.perhaps_files.iter().find_map(|it| match it {
            Place::Known(file) => {
                let read = case.rules.read(list, file, case.places);
                read.or_else(|| case.rules.edit(list, file, case.places))
            }
            Place::Among(..) | Place::Unknown => None,
        })
    };
    expanded.or_else(named).or_else(|| {
        // What is searched as a whole may hold what a rule is about.
        part.searched.iter().find_map(|it| case.rules.below(list, it, case.places))
    })
}

fn perhaps_among(case: &Case<'_>, list: List, file: &File) -> Option<RuleIx> {
    let Place::Among(directory, names) = &file.place else { return None };
    let may_be = |pattern: &str| names.iter().any(|it| may_stand_for(it, pattern));
    case.rules.among(list, &directory.path, case.places, &may_be)
}
