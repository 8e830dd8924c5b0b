//! Which files a command reads and writes, as far as its words say it.

use crate::{
    directory::{self, Base},
    options,
    programs::{self, Operands},
    understanding::{Carries, Command, Direction, ExpansionKind, Understanding, Word},
};

/// The files of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paths {
    /// Files that are named.
    pub uses: Vec<PathUse>,
    /// Whether each program's files are among them. A program that is not known may use any.
    pub complete: bool,
}

/// A file that is read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUse {
    /// The path after quote removal; an expansion stands in it as it was written.
    pub path: String,
    /// Whether an expansion decides what it is, so that it is not known.
    pub dynamic: bool,
    /// Whether it may be made, changed or removed; otherwise it is read.
    pub written: bool,
    /// Whether a redirection names it.
    pub redirected: bool,
    /// What it is relative to.
    pub base: Base,
    /// The command that uses it: its index in the list.
    pub command: usize,
}

/// The files that a command reads and writes.
#[must_use]
pub fn paths(understanding: &Understanding) -> Paths {
    let mut paths = Paths { uses: Vec::new(), complete: understanding.is_full() };
    let bases = directory::bases(understanding);
    for (at, (command, base)) in understanding.commands.iter().zip(bases).enumerate() {
        let mut found = Found { paths: &mut paths, base, command: at };
        found.redirections(command);
        found.program(command);
    }
    paths
}

/// What collects the files of one command.
struct Found<'a> {
    paths: &'a mut Paths,
    base: Base,
    command: usize,
}

impl Found<'_> {
    fn add(&mut self, word: &Word, path: &str, written: bool, redirected: bool) {
        // A pipe that the shell makes is no file.
        let process = |it: &crate::Expansion| it.kind == ExpansionKind::Process && it.at.start == 0;
        if word.expansions.iter().any(process) || path == "-" {
            return;
        }
        self.paths.uses.push(PathUse {
            path: path.to_owned(),
            dynamic: word.literal().is_none(),
            written,
            redirected,
            base: self.base.clone(),
            command: self.command,
        });
    }

    fn redirections(&mut self, command: &Command) {
        for redirection in &command.redirections {
            let direction = redirection.direction;
            let target = &redirection.target;
            if direction.writes() {
                self.add(target, &target.text, true, true);
            }
            if direction.reads() && direction != Direction::ReadWrite {
                self.add(target, &target.text, false, true);
            }
        }
    }

    fn program(&mut self, command: &Command) {
        if command.words.is_empty() || command.carries == Carries::Transparent {
            return;
        }
        let words = command.arguments();
        match command.program_name() {
            Some("cd" | "export" | "local" | "declare" | "unset" | "shift" | "trap" | "eval") => {}
            Some("find") => self.found(words, command.carries),
            Some("sed") => self.sed(words),
            Some("dd") => self.dd(words),
            Some("sort") => self.sort(words),
            Some(name) => match programs::known(name) {
                Some(program) => self.operands(&program, words),
                None => self.paths.complete = false,
            },
            None => self.paths.complete = false,
        }
    }

    fn operands(&mut self, program: &programs::Program, words: &[Word]) {
        let Some(found) = options::split(words, program.options) else {
            self.paths.complete = false;
            self.guess(words, program.operands);
            return;
        };
        found.read.iter().for_each(|(word, path)| self.add(word, path, false, false));
        found.written.iter().for_each(|(word, path)| self.add(word, path, true, false));
        let count = found.operands.len();
        let patterned = !found.has(&["-e", "-f", "--regexp", "--file", "--files"]);
        for (at, word) in found.operands.into_iter().enumerate() {
            match program.operands {
                Operands::Text => {}
                Operands::Read if program.name == "uniq" && at == 1 => {
                    self.add(word, &word.text, true, false);
                }
                Operands::Read => self.add(word, &word.text, false, false),
                Operands::PatternThenRead if at == 0 && patterned => {}
                Operands::PatternThenRead => self.add(word, &word.text, false, false),
                Operands::Write => self.add(word, &word.text, true, false),
                Operands::ModeThenWrite if at == 0 => {}
                Operands::ModeThenWrite => self.add(word, &word.text, true, false),
                Operands::ReadThenWrite => {
                    self.add(word, &word.text, at + 1 == count, false);
                }
            }
        }
    }

    /// Names what may be a file when the options of a program are not understood.
    fn guess(&mut self, words: &[Word], operands: Operands) {
        let written = match operands {
            Operands::Write | Operands::ModeThenWrite | Operands::ReadThenWrite => true,
            Operands::Text => return,
            Operands::Read | Operands::PatternThenRead => false,
        };
        for word in words.iter().filter(|it| !it.text.starts_with('-')) {
            self.add(word, &word.text, written, false);
        }
    }

    fn found(&mut self, words: &[Word], carries: Carries) {
        let mut start = true;
        for word in words {
            let text = word.text.as_str();
            start &= !(text.starts_with('-') || matches!(text, "(" | "!"))
                || matches!(text, "-H" | "-L" | "-P");
            if start && !text.starts_with('-') {
                self.add(word, text, false, false);
            }
            if text == "-delete" {
                self.paths.complete = false;
            }
            if text.starts_with("-fprint") || matches!(text, "-fls" | "-files0-from") {
                self.paths.complete = false;
            }
        }
        if carries != Carries::Nothing {
            self.paths.complete = false;
        }
    }

    fn sed(&mut self, words: &[Word]) {
        const OPTIONS: &str = "-n -E -r -s -u -z -i? -e= -f< --quiet --silent --regexp-extended \
            --separate --expression= --file< --in-place? --posix";
        let Some(found) = options::split(words, OPTIONS) else {
            self.paths.complete = false;
            return self.guess(words, Operands::Write);
        };
        let written = found.has(&["-i", "--in-place"]);
        let scripted = found.has(&["-e", "-f", "--expression", "--file"]);
        found.read.iter().for_each(|(word, path)| self.add(word, path, false, false));
        for word in found.operands.iter().skip(usize::from(!scripted)) {
            self.add(word, &word.text, written, false);
        }
        let prints: Vec<Word> = words
            .iter()
            .filter(|it| !it.text.starts_with("-i") && !it.text.starts_with("--in-place"))
            .cloned()
            .collect();
        self.paths.complete &= crate::sed::reads(&prints);
    }

    fn sort(&mut self, words: &[Word]) {
        let table = programs::known("sort").map(|it| format!("{} -o> --output>", it.options));
        let Some(table) = table else { return };
        match options::split(words, &table) {
            Some(found) => {
                found.written.iter().for_each(|(word, path)| self.add(word, path, true, false));
                found.operands.iter().for_each(|it| self.add(it, &it.text, false, false));
            }
            None => {
                self.paths.complete = false;
                self.guess(words, Operands::Write);
            }
        }
    }

    fn dd(&mut self, words: &[Word]) {
        for word in words {
            match word.text.split_once('=') {
                Some(("if", path)) => self.add(word, path, false, false),
                Some(("of", path)) => self.add(word, path, true, false),
                Some(_) if word.literal().is_some() => {}
                _ => self.paths.complete = false,
            }
        }
    }
}
