//! Quotes: `'...'`, `"..."`, `$'...'`.

use super::{Read, Reader, word::Draught};
use crate::doubt::Reason;

impl Reader<'_> {
    /// `'...'`
    pub(super) fn single_quotes(&mut self, draught: &mut Draught) -> Read<()> {
        draught.word.quoted = true;
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        let Some(length) = rest.find('\'') else {
            return self.halt(Reason::Unfinished("a quote"));
        };
        draught.word.text.push_str(rest.get(..length).unwrap_or_default());
        self.at += length + 2;
        Ok(())
    }

    /// `"..."`
    pub(super) fn double_quotes(&mut self, draught: &mut Draught) -> Read<()> {
        draught.word.quoted = true;
        self.at += 1;
        loop {
            match self.peek() {
                None => return self.halt(Reason::Unfinished("a quote")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.quoted_piece(draught, true)?,
            }
        }
    }

    /// The next piece of a text in which only `$`, backquotes and some backslashes have a meaning.
    pub(super) fn quoted_piece(&mut self, draught: &mut Draught, in_quotes: bool) -> Read<()> {
        match self.peek() {
            Some(b'$') => self.dollar(draught, true),
            Some(b'`') => self.backquotes(draught, true),
            Some(b'\\') => {
                let escaped = self.byte(self.at + 1);
                let removed = matches!(escaped, Some(b'$' | b'`' | b'\\'))
                    || (in_quotes && escaped == Some(b'"'));
                if removed {
                    self.at += 1;
                }
                self.character(draught);
                Ok(())
            }
            _ => {
                self.character(draught);
                Ok(())
            }
        }
    }

    /// `$'...'`, standing at the dollar sign.
    pub(super) fn ansi_c_quotes(&mut self, draught: &mut Draught) -> Read<()> {
        draught.word.quoted = true;
        self.eat("$'");
        loop {
            match self.byte(self.at) {
                None => return self.halt(Reason::Unfinished("a quote")),
                Some(b'\'') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.ansi_c_escape(draught);
                }
                Some(_) => self.character(draught),
            }
        }
    }

    fn ansi_c_escape(&mut self, draught: &mut Draught) {
        let Some(byte) = self.byte(self.at) else { return };
        let plain = match byte {
            b'a' => '\x07',
            b'b' => '\x08',
            b'e' | b'E' => '\x1b',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'v' => '\x0b',
            b'\\' | b'\'' | b'"' | b'?' => char::from(byte),
            b'0'..=b'7' => return self.numbered(draught, 8, 3),
            b'x' => {
                self.at += 1;
                return self.numbered(draught, 16, 2);
            }
            b'u' | b'U' => {
                self.at += 1;
                return self.numbered(draught, 16, if byte == b'u' { 4 } else { 8 });
            }
            _ => {
                // An unknown escape stays as it is in one shell and loses its backslash in another.
                self.doubt(Reason::ShellsDiffer);
                return;
            }
        };
        self.at += 1;
        draught.word.text.push(plain);
    }

    /// A character by its number. One that is not ASCII depends on the locale, and zero ends the
    /// text.
    fn numbered(&mut self, draught: &mut Draught, radix: u32, most: usize) {
        let mut value = 0_u32;
        let mut digits = 0;
        while digits < most
            && let Some(digit) = self.byte(self.at).and_then(|it| char::from(it).to_digit(radix))
        {
            value = value.saturating_mul(radix).saturating_add(digit);
            digits += 1;
            self.at += 1;
        }
        match char::from_u32(value).filter(|it| it.is_ascii() && *it != '\0' && digits > 0) {
            Some(it) => draught.word.text.push(it),
            None => self.doubt(Reason::ShellsDiffer),
        }
    }
}
