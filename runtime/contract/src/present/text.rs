//! Styled text: words with a meaning, shown plainly or with ANSI colours.

use std::fmt::Write as _;

use crate::wording::turns_writing;

/// Text in pieces, each with the meaning that decides its style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(Vec<(Tone, String)>);

/// What a piece of text means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Plain,
    /// What it is about.
    Strong,
    /// What can be passed over.
    Faint,
    /// It went well.
    Good,
    /// It went wrong.
    Bad,
    /// It needs attention.
    Warning,
}

impl Text {
    /// Text in one tone.
    pub fn of(tone: Tone, text: impl AsRef<str>) -> Self {
        Self::default().and(tone, text)
    }

    /// The same and more. Control characters become visible, so that no text can steer a terminal.
    #[must_use]
    pub fn and(mut self, tone: Tone, text: impl AsRef<str>) -> Self {
        self.0.push((tone, text.as_ref().chars().map(visible).collect()));
        self
    }

    /// The words alone.
    #[must_use]
    pub fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| &**text).collect()
    }

    /// The words with ANSI styles.
    #[must_use]
    pub fn ansi(&self) -> String {
        let mut styled = String::new();
        for (tone, text) in &self.0 {
            match tone.code() {
                // Writing to a string can't fail.
                Some(code) => write!(styled, "\u{1b}[{code}m{text}\u{1b}[0m").unwrap_or_default(),
                None => styled.push_str(text),
            }
        }
        styled
    }
}

impl Tone {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Faint => Some("2"),
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
            Self::Warning => Some("33"),
        }
    }
}

/// Line breaks and tabs stay; other control characters, and the marks that turn the direction of
/// writing, are replaced.
fn visible(it: char) -> char {
    let breaks = it == '\n' || it == '\t';
    if (it.is_control() && !breaks) || turns_writing(it) { char::REPLACEMENT_CHARACTER } else { it }
}
