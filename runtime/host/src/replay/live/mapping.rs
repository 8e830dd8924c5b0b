//! From the recorded working directory to the copy, in any text, and back.

use std::path::Path;

use serde_json::Value;

/// Two directories that stand for one another.
pub(super) struct PathMap {
    recorded: String,
    copy: String,
}

impl PathMap {
    /// Nothing if the recorded directory is not one of its own: relative, or the root of all.
    pub(super) fn new(recorded: &str, copy: &Path) -> Option<Self> {
        let recorded = recorded.trim_end_matches('/');
        let copy = copy.to_str()?.to_owned();
        recorded.starts_with('/').then(|| Self { recorded: recorded.to_owned(), copy })
    }

    /// Maps every text in an input; names of fields stay.
    pub(super) fn map(&self, input: &mut Value) {
        match input {
            Value::String(text) => *text = replace(text, &self.recorded, &self.copy),
            Value::Array(values) => values.iter_mut().for_each(|it| self.map(it)),
            Value::Object(fields) => fields.values_mut().for_each(|it| self.map(it)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Maps a text of the copy back.
    pub(super) fn back(&self, text: &str) -> String {
        replace(text, &self.copy, &self.recorded)
    }
}

/// Replaces a path where it stands as a whole: neither as the end of a longer one, nor as the
/// beginning of a longer name.
fn replace(text: &str, from: &str, to: &str) -> String {
    let (mut replaced, mut rest, mut before) = (String::with_capacity(text.len()), text, None);
    while let Some(at) = rest.find(from) {
        let (head, tail) = (&rest[..at], &rest[at + from.len()..]);
        before = head.chars().next_back().or(before);
        let is_whole = !before.is_some_and(|it| is_of_name(it) || it == '~') && !begins_name(tail);
        replaced.push_str(head);
        replaced.push_str(if is_whole { to } else { from });
        (rest, before) = (tail, from.chars().next_back());
    }
    replaced.push_str(rest);
    replaced
}

fn is_of_name(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '_' | '-' | '.' | '+' | '@' | '}')
}

/// Whether the text goes on with the name before it. A dot that ends a sentence doesn't.
fn begins_name(text: &str) -> bool {
    let mut chars = text.chars();
    match chars.next() {
        Some('.') => chars.next().is_some_and(is_of_name),
        Some(it) => is_of_name(it) || it == '~',
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_directory_is_mapped_where_it_stands_as_a_whole() {
        let paths = PathMap::new("/a/b/", Path::new("/copy")).unwrap();
        for (text, mapped) in [
            ("/a/b", "/copy"),
            ("/a/b/c.rs", "/copy/c.rs"),
            ("cd /a/b && ls '/a/b/c' \"/a/b\";", "cd /copy && ls '/copy/c' \"/copy\";"),
            ("in /a/b.", "in /copy."),
            ("X=/a/b:/a/b/c", "X=/copy:/copy/c"),
            ("file:///a/b/c", "file:///copy/c"),
            ("/a/bc /a/b-1 /a/b.rs /a/b_ /a/b~", "/a/bc /a/b-1 /a/b.rs /a/b_ /a/b~"),
            ("/x/a/b ./a/b ~/a/b ${X}/a/b", "/x/a/b ./a/b ~/a/b ${X}/a/b"),
            ("/a/b/a/b", "/copy/a/b"),
            ("/a/b/a/b/a/b", "/copy/a/b/a/b"),
            ("ä/a/b ,/a/b", "ä/a/b ,/copy"),
        ] {
            let mut input = json!({"/a/b": [text]});
            paths.map(&mut input);
            assert_eq!(input, json!({"/a/b": [mapped]}));
        }
    }

    #[test]
    fn what_is_mapped_back_is_as_it_was() {
        let paths = PathMap::new("/a/b", Path::new("/copy")).unwrap();
        let mut input = json!("/a/b/c and /a/b");
        paths.map(&mut input);
        assert_eq!(paths.back(input.as_str().unwrap()), "/a/b/c and /a/b");
    }

    #[test]
    fn a_directory_that_is_no_place_of_its_own_is_not_mapped() {
        for recorded in ["", "/", "//", "project", "~/x"] {
            assert!(PathMap::new(recorded, Path::new("/copy")).is_none(), "{recorded}");
        }
    }
}
