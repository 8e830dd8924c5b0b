//! Compound commands: groups, branches, loops, tests, arithmetic, functions.

use super::{Read, Reader, begins_name, in_name};
use crate::{
    doubt::Reason,
    understanding::{ExpansionKind, Place, Word},
};

impl Reader<'_> {
    /// Reads a compound command if one is next.
    pub(super) fn compound(&mut self) -> Option<Read<()>> {
        let branch = Place { conditional: true, ..self.place };
        let looped = Place { looped: true, ..branch };
        Some(match self.peek()? {
            b'(' if self.starts("((") => self.arithmetic_command(),
            b'(' => self.subshell(),
            b'{' if self.eat_word("{") => self.body(&["}"]).map(drop),
            b'[' if self.eat_word("[[") => self.conditional(),
            b'i' if self.eat_word("if") => self.placed(branch, Self::branches),
            b'c' if self.eat_word("case") => self.placed(branch, Self::case),
            b'f' if self.eat_word("for") => self.placed(looped, Self::loop_over),
            b'f' if self.eat_word("function") => self.named_function(),
            b'w' if self.eat_word("while") => self.placed(looped, Self::loop_while),
            b'u' if self.eat_word("until") => self.placed(looped, Self::loop_while),
            _ => return None,
        })
    }

    fn subshell(&mut self) -> Read<()> {
        self.eat("(");
        let scope = self.draft.new_scope(self.place.scope);
        self.placed(Place { scope, ..self.place }, |it| it.body(&[")"]).map(drop))
    }

    fn branches(&mut self) -> Read<()> {
        self.body(&["then"])?;
        loop {
            match self.body(&["elif", "else", "fi"])? {
                "elif" => drop(self.body(&["then"])?),
                "else" => return self.body(&["fi"]).map(drop),
                _ => return Ok(()),
            }
        }
    }

    fn loop_while(&mut self) -> Read<()> {
        self.body(&["do"])?;
        self.body(&["done"]).map(drop)
    }

    fn loop_over(&mut self) -> Read<()> {
        self.skip_blanks();
        if self.starts("((") {
            self.arithmetic_loop()?;
        } else {
            let position = self.position();
            let name = self.name()?;
            self.skip_lines()?;
            if self.eat_word("in") {
                for value in self.words_of_loop()? {
                    self.draft.assign(&name, Some(&value), position);
                }
            } else {
                self.draft.assign(&name, None, position);
            }
        }
        self.skip_blanks();
        self.eat(";");
        self.skip_lines()?;
        if !self.eat_word("do") {
            return self.halt(Reason::Syntax("`do`"));
        }
        self.body(&["done"]).map(drop)
    }

    fn words_of_loop(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b';' | b'\n') => return Ok(words),
                None | Some(b'&' | b'|' | b'(' | b')') => {
                    return self.halt(Reason::Syntax("`;` and `do`"));
                }
                Some(_) => words.push(self.word()?),
            }
        }
    }

    fn name(&mut self) -> Read<String> {
        if !self.peek().is_some_and(begins_name) {
            return self.halt(Reason::Syntax("a variable's name"));
        }
        let mut name = String::new();
        while let Some(it) = self.peek().filter(|it| in_name(*it)) {
            name.push(char::from(it));
            self.at += 1;
        }
        if self.peek().is_some_and(|it| !super::ends_word(it)) {
            return self.halt(Reason::Syntax("a variable's name"));
        }
        Ok(name)
    }

    fn case(&mut self) -> Read<()> {
        self.skip_blanks();
        self.word()?;
        self.skip_lines()?;
        if !self.eat_word("in") {
            return self.halt(Reason::Syntax("`in`"));
        }
        loop {
            self.skip_lines()?;
            if self.eat_word("esac") {
                return Ok(());
            }
            self.eat("(");
            loop {
                self.skip_blanks();
                self.word()?;
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                return self.halt(Reason::Syntax("`)` after a pattern"));
            }
            if self.list(&[";;&", ";;", ";&", "esac"])? == "esac" {
                return Ok(());
            }
        }
    }

    fn named_function(&mut self) -> Read<()> {
        self.skip_blanks();
        let name = self.word()?;
        let Some(name) = name.literal().filter(|_| !name.quoted).map(str::to_owned) else {
            return self.halt(Reason::DynamicProgram);
        };
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            if !self.eat(")") {
                return self.halt(Reason::Syntax("`)`"));
            }
        }
        self.function(name)
    }

    /// The body of a function. It counts as run: whether its name is called can't be told.
    pub(super) fn function(&mut self, name: String) -> Read<()> {
        self.draft.functions.push(name);
        self.skip_lines()?;
        let place = Place { conditional: true, ..self.place };
        self.placed(place, |it| match it.compound() {
            Some(body) => body.and_then(|()| it.redirections_of_function()),
            None => it.halt(Reason::Syntax("a function's body")),
        })
    }

    fn redirections_of_function(&mut self) -> Read<()> {
        self.skip_blanks();
        let mut command = self.command();
        while let Some(redirection) = self.redirection()? {
            command.redirections.push(redirection);
            self.skip_blanks();
        }
        if !command.redirections.is_empty() {
            self.finish(command);
        }
        Ok(())
    }

    /// `[[ ... ]]`, listed as a command of that name.
    fn conditional(&mut self) -> Read<()> {
        let mut command = self.command();
        command.words.push(Word { text: "[[".to_owned(), ..Word::default() });
        let mut parentheses = 0_usize;
        loop {
            self.skip_lines()?;
            if parentheses == 0 && command.words.len() > 1 && self.eat_word("]]") {
                break;
            }
            let regex = command.words.last().and_then(Word::literal) == Some("=~");
            let operators = ["&&", "||", "(", ")", "<", ">"];
            let operator = operators.into_iter().find(|it| !regex && self.starts(it));
            match operator {
                Some("<" | ">") if self.ahead(1) == Some(b'(') => {}
                Some(operator) => {
                    self.eat(operator);
                    parentheses += usize::from(operator == "(");
                    if operator == ")" && parentheses == 0 {
                        return self.halt(Reason::Syntax("`]]`"));
                    }
                    parentheses -= usize::from(operator == ")");
                    continue;
                }
                None if self.peek().is_none_or(|it| matches!(it, b';' | b'&' | b'|') && !regex) => {
                    return self.halt(Reason::Unfinished("`[[`"));
                }
                None => {}
            }
            self.regex = regex.then_some(0);
            let word = self.word();
            self.regex = None;
            let word = word?;
            self.check_operand(&command.words, &word);
            command.words.push(word);
        }
        self.finish(command);
        Ok(())
    }

    /// Operands that are evaluated as arithmetic, names or patterns.
    fn check_operand(&mut self, before: &[Word], word: &Word) {
        let operator = before.last().and_then(Word::literal).unwrap_or_default();
        let own = word.literal().unwrap_or_default();
        let number = |it: &Word| {
            let digits = it.text.strip_prefix('-').unwrap_or(&it.text);
            let counted = matches!(it.text.as_str(), "$#" | "$?" | "$$");
            counted || (!digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()))
        };
        const ARITHMETIC: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
        let operand = if ARITHMETIC.contains(&own) && !word.quoted {
            before.last()
        } else if ARITHMETIC.contains(&operator) {
            Some(word)
        } else {
            None
        };
        match operand {
            Some(operand) if !number(operand) => match variable(&operand.text) {
                Some(name) => {
                    let position = word.span.start;
                    self.draft.evaluated.push((name.to_owned(), position));
                }
                None => self.doubt(Reason::Arithmetic),
            },
            _ if matches!(operator, "-v" | "-R") && word.text.contains('[') => {
                self.doubt(Reason::Arithmetic);
            }
            _ if operator == "-v" && word.literal().is_none() => self.doubt(Reason::Arithmetic),
            _ if operator == "=~" && !is_pattern(word) => self.doubt(Reason::ShellsDiffer),
            _ => {}
        }
    }
}

/// Whether nothing in a word is replaced but by what it matches.
fn is_pattern(word: &Word) -> bool {
    word.expansions.iter().all(|it| matches!(it.kind, ExpansionKind::Glob | ExpansionKind::Brace))
}

/// The variable that an operand is, alone.
fn variable(text: &str) -> Option<&str> {
    let bare = text.strip_prefix("${").and_then(|it| it.strip_suffix('}'));
    let name = bare.or_else(|| text.strip_prefix('$')).unwrap_or(text);
    let plain = name.bytes().next().is_some_and(begins_name) && name.bytes().all(in_name);
    plain.then_some(name)
}
