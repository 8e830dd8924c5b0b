//! Lists, pipelines and simple commands.

use super::{Read, Reader, begins_name, in_name};
use crate::{
    doubt::Reason,
    understanding::{Assignment, Command, Connector, Place, Word},
};

/// Words that only have a meaning where something else went before.
const MISPLACED: [&str; 12] =
    ["!", "then", "else", "elif", "fi", "do", "done", "esac", "}", "]]", "coproc", "select"];
/// Words that are no program where a command may begin.
const RESERVED: [&str; 21] = [
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "until", "while",
];
/// Builtins whose arguments may be array assignments.
const DECLARING: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];

impl Reader<'_> {
    /// Reads commands until one of the stops, takes it, and says which it was; `""` is the end of
    /// the text.
    pub(super) fn list(&mut self, stops: &[&'static str]) -> Read<&'static str> {
        let mut connector = Connector::Sequence;
        loop {
            self.skip_lines()?;
            if let Some(stop) = stops.iter().find(|it| self.stops_at(it)) {
                self.eat(stop);
                return Ok(stop);
            }
            if self.peek().is_none() {
                return self.halt(Reason::Unfinished("a compound command"));
            }
            let first = self.draft.commands.len();
            self.and_or(connector)?;
            connector = Connector::Sequence;
            self.skip_blanks();
            if self.starts(";;") || self.starts(";&") {
                continue;
            }
            match self.peek() {
                Some(b'&') => {
                    self.at += 1;
                    self.background(first);
                }
                Some(b';') => self.at += 1,
                Some(b'\n') => self.newline()?,
                None => {}
                _ if stops.iter().any(|it| self.stops_at(it)) => {}
                _ => return self.halt(Reason::Syntax("an operator between commands")),
            }
        }
    }

    fn stops_at(&self, stop: &str) -> bool {
        match stop {
            "" => self.ahead(0).is_none(),
            ")" | ";;" | ";&" | ";;&" => self.starts(stop),
            word => self.at_word(word),
        }
    }

    /// A list that must hold a command.
    pub(super) fn body(&mut self, stops: &[&'static str]) -> Read<&'static str> {
        let first = self.at;
        self.skip_lines()?;
        if stops.iter().any(|it| self.stops_at(it)) {
            self.at = first;
            return self.halt(Reason::Syntax("a command"));
        }
        self.list(stops)
    }

    fn background(&mut self, first: usize) {
        self.own_process(first);
        for command in self.draft.commands.get_mut(first..).unwrap_or_default() {
            command.place.background = true;
        }
    }

    fn and_or(&mut self, connector: Connector) -> Read<()> {
        let place = self.place;
        self.place.after = connector;
        let mut result = self.pipeline();
        while result.is_ok() {
            self.skip_blanks();
            let after = if self.eat("&&") {
                Connector::And
            } else if self.eat("||") {
                Connector::Or
            } else {
                break;
            };
            self.place = Place { after, conditional: true, ..place };
            result = self.skip_lines().and_then(|()| self.pipeline());
        }
        self.place = place;
        result
    }

    fn pipeline(&mut self) -> Read<()> {
        self.skip_blanks();
        while self.eat_word("!") || self.skip_time_of_compound() {
            self.skip_blanks();
        }
        let place = self.place;
        let mut first = self.draft.commands.len();
        let mut result = self.nested(Self::any_command);
        while result.is_ok() {
            self.skip_blanks();
            if self.starts("||") || !(self.eat("|&") || self.eat("|")) {
                break;
            }
            self.own_process(first);
            first = self.draft.commands.len();
            self.place = Place { after: Connector::Pipe, piped: true, ..place };
            result = self.skip_lines().and_then(|()| self.nested(Self::any_command));
        }
        self.place = place;
        result
    }

    /// What was read from `first` on runs in a process of its own.
    fn own_process(&mut self, first: usize) {
        let own = self.draft.new_scope(self.place.scope);
        for command in self.draft.commands.get_mut(first..).unwrap_or_default() {
            if command.place.scope == self.place.scope {
                command.place.scope = own;
            }
        }
    }

    /// `time` before a compound command is no program; before a simple one it is read as a wrapper.
    fn skip_time_of_compound(&mut self) -> bool {
        let start = self.at;
        if !self.eat_word("time") {
            return false;
        }
        self.skip_blanks();
        if self.eat_word("-p") {
            self.skip_blanks();
        }
        const COMPOUND: [&str; 8] = ["{", "if", "for", "while", "until", "case", "[[", "!"];
        let compound = self.starts("(") || COMPOUND.iter().any(|it| self.at_word(it));
        if !compound {
            self.at = start;
        }
        compound
    }

    fn any_command(&mut self) -> Read<()> {
        self.skip_blanks();
        if let Some(compound) = self.compound() {
            compound?;
            return self.redirections_of_compound();
        }
        if MISPLACED.iter().any(|it| self.at_word(it)) {
            return self.halt(Reason::Syntax("a command that can be followed"));
        }
        self.simple()
    }

    fn redirections_of_compound(&mut self) -> Read<()> {
        let mut command = self.command();
        self.skip_blanks();
        while let Some(redirection) = self.redirection()? {
            command.redirections.push(redirection);
            self.skip_blanks();
        }
        if !command.redirections.is_empty() {
            self.finish(command);
        }
        Ok(())
    }

    fn simple(&mut self) -> Read<()> {
        let mut command = self.command();
        loop {
            let end = self.at;
            self.skip_blanks();
            if let Some(redirection) = self.redirection()? {
                command.redirections.push(redirection);
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => {
                    command.span.end = self.position_of(end);
                    break;
                }
                Some(b'(') => return self.parenthesis(&command),
                Some(_) => {}
            }
            if command.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                self.note(&assignment);
                command.assignments.push(assignment);
                continue;
            }
            let word = self.argument(&command)?;
            command.words.push(word);
        }
        let empty = command.words.is_empty() && command.assignments.is_empty();
        if empty && command.redirections.is_empty() {
            return self.halt(Reason::Syntax("a command"));
        }
        self.check_program(&command);
        self.draft.commands.push(command);
        Ok(())
    }

    /// A word of a simple command; a declaration's may be an array.
    fn argument(&mut self, command: &Command) -> Read<Word> {
        let name = command.words.first().and_then(Word::literal).unwrap_or_default();
        let start = self.at;
        if DECLARING.contains(&name)
            && let Some(assignment) = self.assignment()?
        {
            let position = self.position_of(start);
            self.draft.assign(&assignment.name, None, position);
            let text = self.text.get(start..self.at).unwrap_or_default();
            let expansions = match assignment.value.as_slice() {
                [one] if !assignment.array => {
                    let shift = assignment.name.len() + 1 + usize::from(assignment.append);
                    let moved = |mut it: crate::understanding::Expansion| {
                        it.at = it.at.start + shift..it.at.end + shift;
                        it
                    };
                    let sign = if assignment.append { "+=" } else { "=" };
                    let text = format!("{}{sign}{}", assignment.name, one.text);
                    let expansions = one.expansions.iter().cloned().map(moved).collect();
                    return Ok(Word {
                        text,
                        expansions,
                        quoted: one.quoted,
                        span: one.span.clone(),
                    });
                }
                several => several.iter().flat_map(|it| it.expansions.clone()).collect(),
            };
            let span = self.position_of(start)..self.position();
            return Ok(Word { text: text.to_owned(), expansions, quoted: false, span });
        }
        self.word()
    }

    /// `(` after words: a function's definition, or nothing that is understood.
    fn parenthesis(&mut self, command: &Command) -> Read<()> {
        let alone = command.assignments.is_empty() && command.redirections.is_empty();
        if let [name] = command.words.as_slice()
            && alone
            && !name.quoted
            && let Some(name) = name.literal()
        {
            let name = name.to_owned();
            self.eat("(");
            self.skip_blanks();
            if self.eat(")") {
                return self.function(name);
            }
        }
        self.halt(Reason::ExtendedGlob)
    }

    /// What makes the name of a program doubtful.
    fn check_program(&mut self, command: &Command) {
        let Some(word) = command.words.first() else { return };
        let position = word.span.start;
        match command.program() {
            None => self.draft.doubt(Reason::DynamicProgram, position),
            Some("") => self.draft.doubt(Reason::Syntax("a program's name"), position),
            Some(name) if !name.is_ascii() => self.draft.doubt(Reason::LookalikeProgram, position),
            Some(name) if name.bytes().any(|it| it.is_ascii_control() || it == b' ') => {
                self.draft.doubt(Reason::LookalikeProgram, position);
            }
            Some("repeat" | "foreach" | "nocorrect" | "-" | "end" | "always") => {
                self.draft.doubt(Reason::ShellsDiffer, position);
            }
            // Behind a redirection or an assignment bash takes some of them for what they mean.
            Some(name) if !word.quoted && RESERVED.contains(&name) => {
                self.draft.doubt(Reason::Syntax("a program that is no reserved word"), position);
            }
            Some(_) => {}
        }
    }

    /// `NAME=value`, `NAME+=value`, `NAME=(a b)` if that is what is next.
    pub(super) fn assignment(&mut self) -> Read<Option<Assignment>> {
        if !self.peek().is_some_and(begins_name) {
            return Ok(None);
        }
        let mut length = 1;
        while self.ahead(length).is_some_and(in_name) {
            length += 1;
        }
        let name: String =
            (0..length).filter_map(|skip| self.ahead(skip)).map(char::from).collect();
        let mut skip = length;
        let subscript = self.ahead(skip) == Some(b'[');
        if subscript {
            skip += 1;
            while self.ahead(skip).is_some_and(|it| it != b']' && !ends_subscript(it)) {
                skip += 1;
            }
            if self.ahead(skip) != Some(b']') {
                // What stands between the brackets may be anything, words included.
                self.doubt(Reason::Arithmetic);
                return Ok(None);
            }
            skip += 1;
        }
        let append = self.ahead(skip) == Some(b'+');
        if self.ahead(skip + usize::from(append)) != Some(b'=') {
            return Ok(None);
        }
        let index: Vec<u8> =
            (length + 1..skip.max(1) - 1).filter_map(|it| self.ahead(it)).collect();
        if subscript && !index.iter().all(u8::is_ascii_digit) {
            self.doubt(Reason::Arithmetic);
        }
        for _ in 0..=skip + usize::from(append) {
            self.at = self.joined(self.at) + 1;
        }
        let array = self.starts("(");
        let value = if array { self.array()? } else { vec![self.value()?] };
        Ok(Some(Assignment { name, value, append, array: array || subscript }))
    }

    fn array(&mut self) -> Read<Vec<Word>> {
        self.eat("(");
        let mut elements = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat(")") {
                return Ok(elements);
            }
            if self.peek() == Some(b'[') {
                self.doubt(Reason::Arithmetic);
            }
            if self.peek().is_none_or(|it| matches!(it, b';' | b'&' | b'|' | b'(')) {
                return self.halt(Reason::Unfinished("an array"));
            }
            elements.push(self.word()?);
        }
    }
}

/// Whether a byte can't stand in the subscript of a plain assignment.
fn ends_subscript(it: u8) -> bool {
    super::ends_word(it) || matches!(it, b'"' | b'\'' | b'`' | b'$' | b'\\')
}
