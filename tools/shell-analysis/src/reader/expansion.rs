//! Expansions: parameters, substitutions of commands and processes.

use super::{Read, Reader, begins_name, in_name, word::Draught};
use crate::{
    doubt::Reason,
    understanding::{Connector, ExpansionKind, Place},
};

/// What stands between `${` and `}`.
pub(super) struct Braces {
    /// The parameter.
    pub(super) name: String,
    /// Whether the value is the parameter's, unchanged.
    pub(super) plain: bool,
    /// Whether the value is a length.
    pub(super) length: bool,
}

impl Reader<'_> {
    /// Reads what a dollar sign begins.
    pub(super) fn dollar(&mut self, draught: &mut Draught, quoted: bool) -> Read<()> {
        let start = self.at;
        let kind = match self.ahead(1) {
            Some(b'\'') if !quoted => return self.ansi_c_quotes(draught),
            Some(b'"') if !quoted => {
                // bash translates the text, zsh keeps the dollar sign.
                self.doubt(Reason::ShellsDiffer);
                self.eat("$");
                return self.double_quotes(draught);
            }
            Some(b'(') if self.ahead(2) == Some(b'(') => {
                self.nested(Self::arithmetic_expansion)?;
                ExpansionKind::Arithmetic
            }
            Some(b'(') => {
                self.eat("$");
                self.substitution()?;
                ExpansionKind::Command
            }
            Some(b'{') => {
                let braces = self.nested(|it| it.braces(quoted))?;
                if braces.plain { ExpansionKind::Parameter } else { ExpansionKind::ParameterForm }
            }
            Some(b'[') => return self.halt(Reason::ShellsDiffer),
            Some(it) if begins_name(it) => {
                self.eat("$");
                while self.peek().is_some_and(in_name) {
                    self.at += 1;
                }
                self.check_subscript();
                ExpansionKind::Parameter
            }
            Some(it) if it.is_ascii_digit() || b"@*#?-$!".contains(&it) => {
                self.eat("$");
                self.peek();
                self.at += 1;
                self.check_subscript();
                ExpansionKind::Parameter
            }
            _ => {
                self.at += 1;
                draught.word.text.push('$');
                return Ok(());
            }
        };
        let source = self.text.get(start..self.at).unwrap_or_default();
        draught.expand(kind, source, quoted);
        Ok(())
    }

    /// `$name[...]` is an element in zsh, and its index is evaluated.
    fn check_subscript(&mut self) {
        if self.ahead(0) == Some(b'[') {
            self.doubt(Reason::ShellsDiffer);
        }
    }

    /// Commands in parentheses that run in a process of their own, standing at the parenthesis.
    fn substitution(&mut self) -> Read<()> {
        let start = self.at;
        self.eat("(");
        let place = self.substituted();
        let pending = std::mem::take(&mut self.pending);
        let regex = self.regex.take();
        self.placed(place, |it| it.list(&[")"]))?;
        self.regex = regex;
        let own = std::mem::replace(&mut self.pending, pending);
        let lines = self.text.get(start..self.at).unwrap_or_default().contains('\n');
        if !own.is_empty() || (lines && !self.pending.is_empty()) {
            return self.halt(Reason::HereDocument);
        }
        Ok(())
    }

    fn substituted(&mut self) -> Place {
        let scope = self.draft.new_scope(self.place.scope);
        let after = Connector::Sequence;
        Place { scope, after, substituted: true, piped: false, background: false, ..self.place }
    }

    /// `<(...)` and `>(...)`
    pub(super) fn process(&mut self, draught: &mut Draught) -> Read<()> {
        let start = self.at;
        self.at += 1;
        self.substitution()?;
        let source = self.text.get(start..self.at).unwrap_or_default();
        draught.expand(ExpansionKind::Process, source, false);
        Ok(())
    }

    /// A command in backquotes: its text loses one level of backslashes and is read by itself.
    pub(super) fn backquotes(&mut self, draught: &mut Draught, quoted: bool) -> Read<()> {
        let start = self.at;
        let mut script = Vec::new();
        self.at += 1;
        loop {
            match self.byte(self.at) {
                None => return self.halt(Reason::Unfinished("a substitution")),
                Some(b'`') => break,
                Some(b'\\') => {
                    let escaped = self.byte(self.at + 1);
                    if quoted && escaped == Some(b'"') {
                        self.doubt(Reason::Quoting);
                    }
                    if !matches!(escaped, Some(b'$' | b'`' | b'\\')) {
                        script.push(b'\\');
                    }
                    script.extend(escaped);
                    self.at += 1;
                }
                Some(byte) => script.push(byte),
            }
            self.at += 1;
        }
        self.at += 1;
        let script = String::from_utf8_lossy(&script).into_owned();
        if script.contains('\n') && !self.pending.is_empty() {
            return self.halt(Reason::HereDocument);
        }
        let position = self.position_of(start);
        let place = self.substituted();
        super::read(&script, Some(position), self.depth, place, self.draft);
        let source = self.text.get(start..self.at).unwrap_or_default();
        draught.expand(ExpansionKind::Command, source, quoted);
        Ok(())
    }

    /// `${...}`
    pub(super) fn braces(&mut self, quoted: bool) -> Read<Braces> {
        self.eat("${");
        let length = self.starts("#") && self.ahead(1) != Some(b'}');
        if length {
            self.eat("#");
        }
        let indirect = self.eat("!");
        let name = self.parameter()?;
        let whole = self.subscript()?;
        if indirect && !whole {
            // The name that the variable holds may have a subscript, which is evaluated.
            self.doubt(Reason::Expansion);
        }
        let plain = !length && !indirect && self.starts("}");
        if length && !self.starts("}") {
            return self.halt(Reason::Expansion);
        }
        self.operator(&name, quoted)?;
        Ok(Braces { name, plain, length })
    }

    fn parameter(&mut self) -> Read<String> {
        let mut name = String::new();
        match self.peek() {
            Some(it) if in_name(it) => {
                let digits = it.is_ascii_digit();
                while let Some(it) = self.peek().filter(|it| in_name(*it)) {
                    if digits && !it.is_ascii_digit() {
                        break;
                    }
                    name.push(char::from(it));
                    self.at += 1;
                }
            }
            Some(it) if b"@*#?-$!".contains(&it) => {
                name.push(char::from(it));
                self.at += 1;
            }
            _ => return self.halt(Reason::Expansion),
        }
        Ok(name)
    }

    /// Reads `[...]` after a parameter, and whether it stands for all elements.
    fn subscript(&mut self) -> Read<bool> {
        if !self.eat("[") {
            return Ok(false);
        }
        if self.eat("@]") || self.eat("*]") {
            return Ok(true);
        }
        self.nested(|it| it.arithmetic_until(&["]"]))?;
        self.eat("]");
        Ok(false)
    }

    fn operator(&mut self, name: &str, quoted: bool) -> Read<()> {
        let colon = self.starts(":");
        let operator = self.ahead(usize::from(colon));
        match operator {
            Some(b'}') if !colon => {
                self.eat("}");
                Ok(())
            }
            Some(b'-' | b'=' | b'?' | b'+') => {
                if operator == Some(b'=') {
                    self.draft.assign(name, None, self.fixed.unwrap_or(self.at));
                }
                self.alternative(quoted)
            }
            Some(_) if colon => {
                self.eat(":");
                self.nested(|it| it.arithmetic_until(&["}", ":"]))?;
                if self.eat(":") {
                    self.nested(|it| it.arithmetic_until(&["}"]))?;
                }
                self.eat("}");
                Ok(())
            }
            Some(b'#' | b'%' | b'/' | b'^' | b',') => self.alternative(quoted),
            Some(b'@') => {
                self.eat("@");
                let letter = self.peek();
                self.at += 1;
                match letter {
                    Some(b'P') => self.doubt(Reason::Expansion),
                    Some(it) if b"UuLQEAKak".contains(&it) => {}
                    _ => return self.halt(Reason::Expansion),
                }
                if self.eat("}") { Ok(()) } else { self.halt(Reason::Expansion) }
            }
            _ => self.halt(Reason::Expansion),
        }
    }

    /// The word of a form, to the brace. Quotes in quotes have several readings.
    fn alternative(&mut self, quoted: bool) -> Read<()> {
        let mut scratch = Draught::default();
        loop {
            match self.peek() {
                None => return self.halt(Reason::Unfinished("an expansion")),
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\'' | b'"') if quoted => return self.halt(Reason::Quoting),
                Some(b'{') => return self.halt(Reason::Quoting),
                Some(b'\'') => self.single_quotes(&mut scratch)?,
                Some(b'"') => self.double_quotes(&mut scratch)?,
                Some(b'$') => self.dollar(&mut scratch, quoted)?,
                Some(b'`') => self.backquotes(&mut scratch, quoted)?,
                Some(b'\\') => self.at = (self.at + 2).min(self.text.len()),
                Some(b'<' | b'>') if self.ahead(1) == Some(b'(') => {
                    if quoted {
                        return self.halt(Reason::Quoting);
                    }
                    self.process(&mut scratch)?;
                }
                Some(byte) => {
                    if byte == b'(' && !quoted {
                        self.doubt(Reason::ShellsDiffer);
                    }
                    self.at += 1;
                }
            }
        }
    }
}
