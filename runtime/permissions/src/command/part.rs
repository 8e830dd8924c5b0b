//! One part of a command: its texts for patterns, its files, and what running it amounts to.

use std::path::PathBuf;

use toolwright_shell_analysis::{
    Assignment, Carries, Command, Descriptor, ExpansionKind, Redirection, Understanding, Word,
    is_read_only, paths,
};

use super::World;
use super::files::{self, File, Place};
use crate::command_pattern::word;
use crate::guarded::{Reach, is_critical};
use crate::place::Touched;

/// Programs whose changes of files mode acceptEdits lets start (Claude Code docs 2.1.240).
const EDITING: [&str; 7] = ["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];
/// Programs that remove what they are given.
const REMOVING: [&str; 2] = ["rm", "rmdir"];
/// Programs that put what they are given into their last operand.
const PLACING: [&str; 4] = ["mv", "cp", "ln", "install"];
/// Programs with options that run another program or write a file: a name that a wildcard finds may
/// be such an option.
const WITH_RUNNING_OPTIONS: [&str; 17] = [
    "tar", "rsync", "zip", "unzip", "7z", "find", "sort", "sed", "awk", "gawk", "git", "ssh",
    "scp", "curl", "wget", "man", "xargs",
];
/// Shells, which run what they read unless they are given something else.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish"];
/// Longest text that is taken for a path, in bytes (Linux).
const LONGEST_PATH: usize = 4_096;
/// Builtins that set variables.
const DECLARING: [&str; 6] = ["export", "declare", "typeset", "local", "readonly", "integer"];
/// The option that makes a removal one of everything below.
const RECURSIVE: [&str; 3] = ["r", "R", "--recursive"];

/// A part of a command.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The words, each way of quoting them the same; without assignments.
    pub(crate) text: String,
    /// The same with what is assigned for it.
    pub(crate) whole: String,
    /// The words without any quotes, for denies alone.
    pub(crate) plain: String,
    /// The texts under which a deny or an ask may know it.
    pub(crate) strict_texts: Vec<String>,
    /// The program without its folder.
    pub(crate) program: Option<String>,
    pub(crate) carries: Carries,
    pub(crate) carried_by: Option<usize>,
    pub(crate) files: Vec<File>,
    /// Directories that are read with all that is in them.
    pub(crate) searched: Vec<PathBuf>,
    /// Words that no program's table calls a file, and that may be one.
    pub(crate) perhaps_files: Vec<Place>,
    /// Whether its own words only read. Where its files are is another question.
    pub(crate) only_reads: bool,
    /// Whether all its files are known.
    pub(crate) is_complete: bool,
    /// Whether what is assigned for it is harmless.
    pub(crate) has_harmless_assignments: bool,
    /// What it removes that no rule lets go.
    pub(crate) critical: Option<String>,
    /// Where it goes, if it changes the directory.
    pub(crate) moves_to: Option<Place>,
    /// Whether it is a shell that runs what it reads, so that its commands are not in the text.
    pub(crate) runs_its_input: bool,
    /// Whether names of files may be taken for options that run something.
    pub(crate) may_gain_options: bool,
    /// The length of what stands before the first expansion, in [`Part::plain`].
    pub(crate) settled: Option<usize>,
}

impl Part {
    pub(crate) fn new(command: &Command, mut files: Vec<File>, world: World<'_>) -> Self {
        let mut alone = Understanding::default();
        alone.commands.push(command.clone());
        let is_complete = paths(&alone).complete;
        // What redirections write is looked at apart.
        alone.commands[0].redirections.retain(|it| !it.direction.writes() || is_named(it));
        let only_reads = is_read_only(&alone);
        let program = command.program_name().map(str::to_owned);
        let name = program.as_deref().unwrap_or_default();
        let text = joined(command.words.iter().map(|it| word(&it.text, it.quoted)));
        let assigned = command.assignments.iter().map(|it| {
            let value = joined(it.value.iter().map(|it| word(&it.text, it.quoted)));
            format!("{}={value}", it.name)
        });
        if PLACING.contains(&name) {
            place_into_last(&mut files, name, world);
        }
        let whole = joined(assigned.chain((!text.is_empty()).then(|| text.clone())));
        let plain = joined(command.words.iter().map(|it| it.text.clone()));
        Self {
            strict_texts: strict_texts(&text, &plain, &whole, program.as_deref()),
            whole,
            plain,
            runs_its_input: SHELLS.contains(&name)
                && command.carries == Carries::Nothing
                && command.arguments().iter().all(|it| it.text.starts_with('-')),
            may_gain_options: WITH_RUNNING_OPTIONS.contains(&name)
                && command
                    .arguments()
                    .iter()
                    .any(|it| it.text.starts_with(['*', '?', '[']) && it.literal().is_none()),
            settled: settled(&command.words),
            carries: command.carries,
            carried_by: command.carried_by,
            searched: searched(command, name, &files, world),
            perhaps_files: if only_reads { Vec::new() } else { perhaps_files(command, world) },
            only_reads,
            is_complete,
            has_harmless_assignments: has_harmless_assignments(command, name),
            critical: REMOVING.contains(&name).then(|| critical(command, &files, world)).flatten(),
            moves_to: moves_to(command, name, world),
            text,
            program,
            files,
        }
    }

    pub(crate) fn written(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|it| it.is_written && !it.is_nowhere())
    }

    pub(crate) fn read(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|it| !it.is_written)
    }

    /// Whether mode acceptEdits may let it start.
    pub(crate) fn edits(&self) -> bool {
        let is_editing = self.program.as_deref().is_some_and(|it| EDITING.contains(&it));
        // A path to a program of that name may be another program.
        is_editing
            && self.is_complete
            && self.text.starts_with(self.program.as_deref().unwrap_or(" "))
    }

    /// What a person is shown of it.
    pub(crate) fn shown(&self) -> String {
        const MOST: usize = 200;
        let cut = self.whole.chars().take(MOST).collect::<String>();
        if cut.len() < self.whole.len() { format!("{cut}...") } else { cut }
    }
}

/// Whether the descriptor is kept in a variable, which is then written too.
fn is_named(it: &Redirection) -> bool {
    matches!(it.descriptor, Some(Descriptor::Variable(_)))
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

/// The words as they are, without quotes, with what is assigned, and by the program's bare name.
fn strict_texts(text: &str, plain: &str, whole: &str, program: Option<&str>) -> Vec<String> {
    let mut texts = vec![text.to_owned()];
    let mut add = |text: &str| {
        if !text.is_empty() && texts.iter().all(|it| it != text) {
            texts.push(text.to_owned());
        }
    };
    add(plain);
    add(whole);
    if let Some(program) = program.filter(|it| !plain.starts_with(it)) {
        match plain.split_once(' ') {
            Some((_, rest)) => add(&format!("{program} {rest}")),
            None => add(program),
        }
    }
    texts
}

/// Where in the joined words the first expansion begins.
fn settled(words: &[Word]) -> Option<usize> {
    let mut at = 0;
    for it in words {
        if it.literal().is_none() {
            return Some(at + it.literal_prefix().len());
        }
        at += it.text.len() + 1;
    }
    None
}

/// Whether what a command sets changes the meaning of nothing that runs later: as `NAME=value`
/// before it, or as an argument of a builtin that declares variables.
fn has_harmless_assignments(command: &Command, name: &str) -> bool {
    let mut assignments = command.assignments.clone();
    if DECLARING.contains(&name) {
        let words = command.arguments().iter().filter(|it| !it.text.starts_with(['-', '+']));
        assignments.extend(words.map(|it| Assignment {
            name: it.text.split(['=', '+']).next().unwrap_or_default().to_owned(),
            value: vec![it.clone()],
            append: false,
            array: false,
        }));
    }
    if assignments.is_empty() {
        return true;
    }
    let mut alone = Understanding::default();
    alone.commands.push(Command { assignments, ..Command::default() });
    is_read_only(&alone)
}

/// What is moved is written too, and each thing lands under its own name.
fn place_into_last(files: &mut Vec<File>, name: &str, world: World<'_>) {
    let Some(last) = files.iter().rposition(|it| it.is_written && !it.is_redirected) else {
        return;
    };
    let target = files[last].clone();
    let mut landed = Vec::new();
    for it in files.iter_mut().filter(|it| !it.is_redirected && !it.is_written) {
        it.is_written = name == "mv";
        let Place::Known(into) = &target.place else { continue };
        let place = match &it.place {
            Place::Known(from) if !it.text.ends_with("/.") => from.path.file_name().map(|name| {
                let path = into.path.join(name);
                Place::Known(world.places.touched(&path.to_string_lossy(), world.links))
            }),
            Place::Known(_) | Place::Among(..) | Place::Unknown => Some(Place::Unknown),
        };
        let place = place.unwrap_or(Place::Unknown);
        landed.push(File { place, is_written: true, text: it.text.clone(), ..target.clone() });
    }
    files.extend(landed);
}

/// Arguments, and what is glued to an option or follows a sign in one, that may be files which no
/// table knows.
fn perhaps_files(command: &Command, world: World<'_>) -> Vec<Place> {
    let texts = command.arguments().iter().flat_map(|it| {
        let signed = it.text.split(['=', '@', ',']).skip(1);
        let glued = it.text.strip_prefix('-').and_then(|it| it.get(1..));
        let is_dynamic = it.literal().is_none();
        signed.chain([it.text.as_str()]).chain(glued).map(move |it| (it, is_dynamic))
    });
    let is_path =
        |it: &(&str, bool)| !it.0.is_empty() && !it.0.starts_with('-') && it.0.len() < LONGEST_PATH;
    let place = |(text, dynamic)| {
        files::place(text, dynamic, Some(world.places.cwd()), world.places, world.links)
    };
    texts.filter(is_path).map(place).filter(|it| *it != Place::Unknown).collect()
}

/// The first thing of a removal that no rule lets go.
fn critical(command: &Command, files: &[File], world: World<'_>) -> Option<String> {
    let mut is_recursive = false;
    let mut only_operands = false;
    for it in command.arguments() {
        let text = it.text.as_str();
        if text == "--" && !only_operands {
            only_operands = true;
        } else if text.starts_with('-') && !only_operands {
            let letters = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
            is_recursive |=
                RECURSIVE.contains(&text) || letters.is_some_and(|it| it.contains(['r', 'R']));
        } else if is_critical_word(it, files, is_recursive, world) {
            return Some(text.to_owned());
        }
    }
    None
}

fn is_critical_word(it: &Word, files: &[File], is_recursive: bool, world: World<'_>) -> bool {
    let file = files.iter().find(|file| file.text == it.text);
    let is_critical = |file: &Touched, reach| is_critical(file, reach, world.places);
    match file.map(|it| &it.place) {
        Some(Place::Known(file)) => is_critical(file, Reach::Whole),
        Some(Place::Among(file, names)) => {
            let all = names.last().is_some_and(|it| it.chars().all(|it| "*?.[]!^".contains(it)));
            let at_root = file.path.parent().is_none() || file.real.parent().is_none();
            names.len() == 1 && (at_root || (all && is_critical(file, Reach::Contents)))
        }
        // Directly under a variable: it may be empty, and then this is the root.
        Some(Place::Unknown) | None => {
            let Some(end) = it.expansions.iter().map(|it| it.at.end).min() else { return false };
            let leads = it.expansions.iter().any(|it| it.at.start == 0);
            let rest = it.text.get(end..).unwrap_or_default();
            let is_bare = rest.is_empty() && is_recursive && it.may_split();
            let is_under = rest.starts_with('/') && !rest.contains(|it: char| it.is_alphanumeric());
            let is_brace = it.expansions.iter().any(|it| it.kind == ExpansionKind::Brace);
            (leads && (is_under || is_bare)) || (is_brace && it.literal_prefix() == "/")
        }
    }
}

/// The directories that a search goes through: those that it names, else the one that it is in.
fn searched(command: &Command, name: &str, files: &[File], world: World<'_>) -> Vec<PathBuf> {
    let is_asked_to = || {
        command.arguments().iter().any(|it| {
            let letters = it.text.strip_prefix('-').filter(|it| !it.starts_with('-'));
            letters.is_some_and(|it| it.contains(['r', 'R'])) || it.text.starts_with("--rec")
        })
    };
    let is_search = match name {
        "rg" | "ag" | "ack" => true,
        "grep" | "egrep" | "fgrep" | "zgrep" | "diff" => is_asked_to(),
        _ => false,
    };
    if !is_search {
        return Vec::new();
    }
    let named = files.iter().filter(|it| !it.is_written && !it.is_redirected);
    let mut directories: Vec<PathBuf> = named
        .filter_map(|it| match &it.place {
            Place::Known(it) | Place::Among(it, _) => Some(it.path.clone()),
            Place::Unknown => None,
        })
        .collect();
    if directories.is_empty() {
        directories.push(world.places.cwd().to_owned());
    }
    directories
}

/// Where a change of directory leads.
fn moves_to(command: &Command, name: &str, world: World<'_>) -> Option<Place> {
    if !matches!(name, "cd" | "chdir" | "pushd" | "popd") {
        return None;
    }
    let at = |it: &Word| {
        let dynamic = it.literal().is_none();
        files::place(&it.text, dynamic, Some(world.places.cwd()), world.places, world.links)
    };
    Some(match command.arguments() {
        [word] if !word.text.starts_with('-') => at(word),
        _ => Place::Unknown,
    })
}
