//! Arithmetic. What a variable holds is evaluated too, and may run commands: `a[$(...)]`.

use super::{Read, Reader, begins_name, in_name, word::Draught};
use crate::{
    doubt::Reason,
    understanding::{Expansion, ExpansionKind, Word},
};

impl Reader<'_> {
    /// `$((...))`
    pub(super) fn arithmetic_expansion(&mut self) -> Read<()> {
        self.eat("$((");
        self.arithmetic_until(&["))"])?;
        self.eat("))");
        Ok(())
    }

    /// `((...))`, listed as a command of that name.
    pub(super) fn arithmetic_command(&mut self) -> Read<()> {
        let mut command = self.command();
        self.eat("((");
        self.nested(|it| it.arithmetic_until(&["))"]))?;
        self.eat("))");
        command.words.push(Word { text: "((".to_owned(), ..Word::default() });
        self.finish(command);
        Ok(())
    }

    /// `((a; b; c))` of a loop.
    pub(super) fn arithmetic_loop(&mut self) -> Read<()> {
        self.eat("((");
        for close in [";", ";", "))"] {
            self.nested(|it| it.arithmetic_until(&[close]))?;
            self.eat(close);
        }
        Ok(())
    }

    /// Reads an expression up to one of the closing tokens, which stays.
    pub(super) fn arithmetic_until(&mut self, close: &[&str]) -> Read<()> {
        let mut parentheses = 0_usize;
        loop {
            if parentheses == 0 && close.iter().any(|it| self.starts(it)) {
                return Ok(());
            }
            match self.peek() {
                None => return self.halt(Reason::Unfinished("arithmetic")),
                Some(b'\n') if !self.pending.is_empty() => return self.halt(Reason::HereDocument),
                Some(b'(') => {
                    parentheses += 1;
                    self.at += 1;
                }
                Some(b')') if parentheses > 0 => {
                    parentheses -= 1;
                    self.at += 1;
                }
                Some(it) if it.is_ascii_digit() => {
                    while self.peek().is_some_and(|it| in_name(it) || it == b'#') {
                        self.at += 1;
                    }
                }
                Some(it) if begins_name(it) => self.variable()?,
                Some(b'$') => self.arithmetic_dollar()?,
                Some(it) if b" \t\n+-*/%<>=!&|^~?:,".contains(&it) => self.at += 1,
                Some(_) => return self.halt(Reason::Arithmetic),
            }
        }
    }

    fn variable(&mut self) -> Read<()> {
        let position = self.position();
        let mut name = String::new();
        while let Some(it) = self.peek().filter(|it| in_name(*it)) {
            name.push(char::from(it));
            self.at += 1;
        }
        if self.starts("(") {
            self.doubt(Reason::ShellsDiffer);
        }
        if self.eat("[") {
            self.nested(|it| it.arithmetic_until(&["]"]))?;
            self.eat("]");
            self.doubt(Reason::Arithmetic);
        }
        let mut skip = 0;
        while self.ahead(skip) == Some(b' ') {
            skip += 1;
        }
        if self.ahead(skip) == Some(b'=') && self.ahead(skip + 1) != Some(b'=') {
            let at = 0..1;
            let expansion = Expansion { kind: ExpansionKind::Arithmetic, at, quoted: false };
            let number = Word { text: "0".into(), expansions: vec![expansion], ..Word::default() };
            self.draft.assign(&name, Some(&number), position);
        } else {
            self.draft.evaluated.push((name, position));
        }
        Ok(())
    }

    /// What is put into an expression is evaluated with it.
    fn arithmetic_dollar(&mut self) -> Read<()> {
        let position = self.position();
        match self.ahead(1) {
            Some(b'(') if self.ahead(2) == Some(b'(') => self.nested(Self::arithmetic_expansion),
            Some(b'{') => {
                let braces = self.nested(|it| it.braces(false))?;
                let named = braces.name.bytes().next().is_some_and(begins_name);
                if braces.plain && named {
                    self.draft.evaluated.push((braces.name, position));
                } else if !braces.length && !matches!(braces.name.as_str(), "#" | "?" | "$") {
                    self.doubt(Reason::Arithmetic);
                }
                Ok(())
            }
            Some(b'#' | b'?' | b'$' | b'!') => {
                self.eat("$");
                self.peek();
                self.at += 1;
                Ok(())
            }
            Some(it) if begins_name(it) => {
                self.eat("$");
                self.variable()
            }
            Some(_) => {
                self.doubt(Reason::Arithmetic);
                self.dollar(&mut Draught::default(), true)
            }
            None => self.halt(Reason::Unfinished("arithmetic")),
        }
    }
}
