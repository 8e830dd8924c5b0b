//! Texts in which `*` stands for any characters.

/// A text with `*`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wildcard(String);

impl Wildcard {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether the whole of a text fits.
    pub(crate) fn fits(&self, text: &str) -> bool {
        fits(&self.0, text)
    }
}

/// Goes back to the last `*` only, which suffices, so that the time is at most the product of both
/// lengths.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, from));
            at += 1;
        } else if pattern.get(at) == Some(&text[from]) {
            (at, from) = (at + 1, from + 1);
        } else if let Some((last, tried)) = star {
            star = Some((last, tried + 1));
            (at, from) = (last + 1, tried + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|it| *it == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, is_fit) in [
            ("*", "", true),
            ("", "", true),
            ("a*", "ab", true),
            ("a*", "ba", false),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("*b", "a*b", true),
            ("ä*ö", "äxö", true),
            ("a", "ab", false),
            ("a**b", "ab", true),
        ] {
            assert_eq!(fits(pattern, text), is_fit, "{pattern} of {text}");
        }
    }
}
