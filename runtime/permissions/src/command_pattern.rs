//! Patterns of commands: `*` anywhere, ` *` and `:*` at the end, quoting as the shell reads it.

use crate::wildcard::fits;

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    /// In the form that [`word`] gives the words of a command; without what ends it.
    head: String,
    end: End,
}

/// How a pattern ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// As written.
    Whole,
    /// ` *` or `:*`: nothing, or a space and anything.
    Arguments,
}

impl CommandPattern {
    pub(crate) fn new(text: &str) -> Self {
        let text = text.trim();
        let head = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
        let (head, end) = match head {
            Some(head) => (head.trim_end(), End::Arguments),
            None => (text, End::Whole),
        };
        Self { head: canonical(head), end }
    }

    /// Whether a command in the form of [`word`] fits.
    pub(crate) fn fits(&self, command: &str) -> bool {
        match self.end {
            End::Whole => fits(&self.head, command),
            End::Arguments if !self.head.contains('*') => {
                let rest = command.strip_prefix(self.head.as_str());
                rest.is_some_and(|it| it.is_empty() || it.starts_with(' '))
            }
            End::Arguments => {
                fits(&self.head, command) || fits(&format!("{} *", self.head), command)
            }
        }
    }

    /// Whether a command that begins so, and goes on in a way that can't be told, may fit.
    pub(crate) fn may_continue(&self, start: &str) -> bool {
        let literal = self.head.split('*').next().unwrap_or_default();
        literal.starts_with(start) || start.starts_with(literal)
    }

    /// Whether whatever fits another fits this one too, as far as the texts tell.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match other.end {
            End::Whole => self.fits(&other.head),
            End::Arguments => self.fits(&other.head) && self.fits(&format!("{} *", other.head)),
        }
    }

    /// Whether it is this very command, a quoted star included.
    pub(crate) fn is(&self, command: &str) -> bool {
        self.end == End::Whole && self.head == command
    }

    /// What stands before its end.
    pub(crate) fn head(&self) -> &str {
        &self.head
    }

    /// Whether it has no wildcard, so that it is about one command.
    pub(crate) fn is_exact(&self) -> bool {
        self.end == End::Whole && !self.head.contains('*')
    }

    /// The program that every command which fits begins with, if the pattern says it in full.
    pub(crate) fn program(&self) -> Option<&str> {
        let (first, is_last) = match self.head.split_once(' ') {
            Some((first, _)) => (first, false),
            None => (self.head.as_str(), true),
        };
        let is_open = first.contains('*') || first.starts_with('\'') || first.is_empty();
        let is_cut = is_last && self.end == End::Whole && first.ends_with('*');
        (!is_open && !is_cut).then_some(first)
    }

    /// Whether it is about whatever a program is given, or about any program.
    pub(crate) fn is_broad(&self) -> bool {
        match self.head.split_once(' ') {
            None => !self.is_exact(),
            Some((_, rest)) => rest.chars().all(|it| it == '*' || it == ' '),
        }
    }
}

/// A word as it stands in a canonical command: as it is, or in single quotes if quotes made it one
/// word. So each way of quoting a word gives the same text.
pub(crate) fn word(text: &str, quoted: bool) -> String {
    let special = |it: char| it.is_whitespace() || "'\"$`\\;&|<>()*?[]{}#!~".contains(it);
    if (quoted && text.contains(special)) || text.is_empty() {
        format!("'{}'", text.replace('\'', r"'\''"))
    } else {
        text.to_owned()
    }
}

/// The pattern with its words in the form of [`word`]; as written if its quotes don't pair.
fn canonical(pattern: &str) -> String {
    let mut words = Vec::new();
    let mut chars = pattern.chars().peekable();
    while chars.peek().is_some() {
        while chars.next_if(|it| it.is_whitespace()).is_some() {}
        if chars.peek().is_none() {
            break;
        }
        let (mut text, mut quoted) = (String::new(), false);
        while let Some(it) = chars.next_if(|it| !it.is_whitespace()) {
            match it {
                '\'' => {
                    quoted = true;
                    if !take_until(&mut chars, '\'', &mut text) {
                        return pattern.to_owned();
                    }
                }
                '"' => {
                    quoted = true;
                    if !take_until(&mut chars, '"', &mut text) {
                        return pattern.to_owned();
                    }
                }
                '\\' => match chars.next() {
                    Some(next) => {
                        quoted = true;
                        text.push(next);
                    }
                    None => return pattern.to_owned(),
                },
                other => text.push(other),
            }
        }
        words.push(word(&text, quoted));
    }
    words.join(" ")
}

fn take_until(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    end: char,
    text: &mut String,
) -> bool {
    while let Some(it) = chars.next() {
        match it {
            it if it == end => return true,
            '\\' if end == '"' && chars.peek().is_some_and(|it| "\"\\$`".contains(*it)) => {
                text.extend(chars.next());
            }
            other => text.push(other),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_documented() {
        for (pattern, command, is_fit) in [
            ("npm run build", "npm run build", true),
            ("npm run build", "npm run build --x", false),
            ("ls *", "ls", true),
            ("ls *", "ls -la", true),
            ("ls *", "lsof", false),
            ("ls*", "lsof", true),
            ("ls:*", "ls -la", true),
            ("ls:*", "lsof", false),
            ("git:* push", "git push", false),
            ("git * main", "git push origin main", true),
            ("git * main", "git push origin mains", false),
            ("* --version", "node --version", true),
            ("* --help *", "npm --help", true),
            ("* --help *", "npm --help run", true),
            ("* --help *", "npm --helper", false),
            ("find . -name \"*.bak\" -delete", "find . -name '*.bak' -delete", true),
            ("git  commit", "git commit", true),
            ("echo \"a b\"", "echo a b", false),
            ("*", "anything at all", true),
        ] {
            assert_eq!(CommandPattern::new(pattern).fits(command), is_fit, "{pattern}: {command}");
        }
    }

    #[test]
    fn a_pattern_knows_its_program() {
        for (pattern, program) in [
            ("rm *", Some("rm")),
            ("rm:*", Some("rm")),
            ("rm -rf build", Some("rm")),
            ("rm*", None),
            ("* --help", None),
            ("git * main", Some("git")),
        ] {
            assert_eq!(CommandPattern::new(pattern).program(), program, "{pattern}");
        }
    }

    #[test]
    fn each_way_of_quoting_a_word_gives_the_same_text() {
        for pattern in [r#"echo "a b""#, "echo 'a b'", r"echo a\ b", r#"echo a" "b"#] {
            assert_eq!(canonical(pattern), "echo 'a b'");
        }
        assert_eq!(canonical("'ec'ho x"), "echo x");
        assert_eq!(canonical("echo 'open"), "echo 'open");
    }
}
