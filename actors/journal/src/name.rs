//! The name of a session, as it may stand in a path and in a file's header.

use std::fmt;

/// Longest name, in bytes: a UUID has 36, and every file system takes 64.
pub(crate) const NAME_BYTES: usize = 64;

/// The name of a session: 1 to 64 letters, digits, `-` and `_`, beginning with a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionName(Box<str>);

/// Why a text can't name a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} can't name a session: use 1 to 64 letters, digits, `-` and `_`, the first of them a \
     letter or digit"
)]
pub struct BadSessionName(pub String);

impl SessionName {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// [`BadSessionName`] for what could leave its folder, or could not be a file's name.
    pub fn new(name: &str) -> Result<Self, BadSessionName> {
        let is_good = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
        let starts = name.bytes().next().is_some_and(|it| it.is_ascii_alphanumeric());
        if starts && name.len() <= NAME_BYTES && name.bytes().all(is_good) {
            Ok(Self(name.into()))
        } else {
            Err(BadSessionName(name.chars().take(NAME_BYTES).collect()))
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_not_leave_its_folder() {
        for bad in ["", ".", "..", "a/b", "a\\b", "-x", "a\0", "ä", "con:", &"x".repeat(65)] {
            assert!(SessionName::new(bad).is_err(), "{bad:?}");
        }
        for good in ["a", "0f3c-11", &"x".repeat(64)] {
            assert_eq!(SessionName::new(good).unwrap().as_str(), good);
        }
    }
}
