//! One settings file: strict JSON, of which the permissions are read and the rest is left alone.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toolwright_permissions::{List, Mode};

/// Longest settings file, in bytes (Claude Code docs 2.1.240, of `--settings`).
pub(super) const LONGEST_FILE: u64 = 2 * 1024 * 1024;

/// Why a settings file can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// It isn't strict JSON.
    #[error("{}:{line}:{column}: {what}; settings are strict JSON, without comments", .file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// It isn't an object.
    #[error("{}: it has to be an object: {{ ... }}", .0.display())]
    NoObject(PathBuf),
    /// It can't be read.
    #[error("{}: {what}; make it a readable file, or remove it", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        what: String,
    },
    /// It is longer than settings are.
    #[error("{}: it has more than {LONGEST_FILE} bytes; shorten it", .0.display())]
    TooLong(PathBuf),
    /// Somebody else could have written it.
    #[error("{}: {what}; give it to root, and let nobody else write it", .file.display())]
    Owner {
        /// The file or folder.
        file: PathBuf,
        /// Who can write it.
        what: String,
    },
}

/// Something in a settings file that doesn't count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {at}: {what}", .file.display())]
pub struct SettingsWarning {
    /// The file.
    pub file: PathBuf,
    /// The key, with its parents.
    pub at: String,
    /// What is wrong with it.
    pub what: String,
}

/// What one file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSettings {
    /// The entries of the lists, in order.
    pub rules: Vec<(List, String)>,
    /// `defaultMode`
    pub default_mode: Option<Mode>,
    /// `additionalDirectories`
    pub directories: Vec<String>,
    /// `disableBypassPermissionsMode`
    pub disables_bypass: bool,
    /// `disableAutoMode`
    pub disables_auto: bool,
    /// `blockReadsOutsideWorkingDirectories`
    pub blocks_reads: bool,
    /// `blockWritesOutsideWorkingDirectories`
    pub blocks_writes: bool,
    /// `denyInsteadOfPrompting`
    pub denies_instead_of_prompting: bool,
    /// `allowManagedPermissionRulesOnly`
    pub managed_rules_only: bool,
    /// What doesn't count.
    pub warnings: Vec<SettingsWarning>,
}

/// Keys of `permissions` that are known, and read elsewhere or not at all.
const OTHER_KEYS: [&str; 3] =
    ["blockReadsExemptPaths", "workingDirectoriesAsGiven", "workingDirectoriesExclude"];

impl FileSettings {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// Where the text is no JSON object. A single bad entry is a warning.
    pub fn parse(text: &str, file: &Path) -> Result<Self, SettingsError> {
        // Editors of some systems begin a file with it; nobody sees it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value: Value = serde_json::from_str(text).map_err(|error| SettingsError::Syntax {
            file: file.to_owned(),
            line: error.line(),
            column: error.column(),
            what: what_is_wrong(&error),
        })?;
        let Value::Object(all) = value else {
            return Err(SettingsError::NoObject(file.to_owned()));
        };
        let mut reader = Reader { file, found: Self::default() };
        reader.found.managed_rules_only = reader.flag(&all, "", "allowManagedPermissionRulesOnly");
        match all.get("permissions") {
            None => {}
            Some(Value::Object(permissions)) => reader.permissions(permissions),
            Some(_) => reader.unread("permissions", "it has to be an object"),
        }
        Ok(reader.found)
    }
}

/// The parser's words without the place, which is told apart.
fn what_is_wrong(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or_else(|| text.clone(), |(what, _)| what.to_owned())
}

struct Reader<'a> {
    file: &'a Path,
    found: FileSettings,
}

impl Reader<'_> {
    fn warn(&mut self, at: impl Into<String>, what: impl Into<String>) {
        let (file, at, what) = (self.file.to_owned(), at.into(), what.into());
        self.found.warnings.push(SettingsWarning { file, at, what });
    }

    /// Warns of something that might hold denies: what can't be known is asked about.
    fn unread(&mut self, at: &str, what: &str) {
        self.warn(at, format!("{what}; until it is repaired every call is asked about"));
        self.found.rules.push((List::Ask, "*".to_owned()));
    }

    fn permissions(&mut self, keys: &Map<String, Value>) {
        for (key, value) in keys {
            let at = format!("permissions.{key}");
            match key.as_str() {
                "deny" => self.list(List::Deny, value, &at),
                "ask" => self.list(List::Ask, value, &at),
                "allow" => self.list(List::Allow, value, &at),
                "defaultMode" => match value.as_str().map(str::parse) {
                    Some(Ok(mode)) => self.found.default_mode = Some(mode),
                    Some(Err(error)) => self.warn(at, format!("skipped: {error}")),
                    None => self.warn(at, "skipped: write the name of a mode"),
                },
                "additionalDirectories" => self.directories(value, &at),
                "disableBypassPermissionsMode" => {
                    self.found.disables_bypass = self.disabled(value, &at);
                }
                "disableAutoMode" => self.found.disables_auto = self.disabled(value, &at),
                "blockReadsOutsideWorkingDirectories" => {
                    self.found.blocks_reads = self.flag(keys, "permissions.", key);
                }
                "blockWritesOutsideWorkingDirectories" => {
                    self.found.blocks_writes = self.flag(keys, "permissions.", key);
                }
                "denyInsteadOfPrompting" => {
                    self.found.denies_instead_of_prompting = self.flag(keys, "permissions.", key);
                }
                other if OTHER_KEYS.contains(&other) => {}
                _ => self.warn(at, "no such key: it changes nothing; check the spelling"),
            }
        }
    }

    fn list(&mut self, list: List, value: &Value, at: &str) {
        let Value::Array(entries) = value else {
            if list == List::Allow {
                self.warn(at, "skipped: it has to be a list of rules");
            } else {
                self.unread(at, "it has to be a list of rules");
            }
            return;
        };
        for (index, entry) in entries.iter().enumerate() {
            match entry.as_str() {
                Some(text) => self.found.rules.push((list, text.to_owned())),
                None => self.warn(format!("{at}[{index}]"), "skipped: a rule is a text"),
            }
        }
    }

    fn directories(&mut self, value: &Value, at: &str) {
        let Value::Array(entries) = value else {
            return self.warn(at, "skipped: it has to be a list of directories");
        };
        for (index, entry) in entries.iter().enumerate() {
            match entry.as_str() {
                Some(text) if !text.is_empty() => self.found.directories.push(text.to_owned()),
                _ => self.warn(format!("{at}[{index}]"), "skipped: a directory is a text"),
            }
        }
    }

    /// `"disable"`; anything else that isn't plainly nothing is taken for it.
    fn disabled(&mut self, value: &Value, at: &str) -> bool {
        if value.is_null() {
            return false;
        }
        if value.as_str() != Some("disable") {
            self.warn(at, "taken as \"disable\", the only value that it has");
        }
        true
    }

    /// A switch that makes things stricter: what can't be read is taken as on.
    fn flag(&mut self, keys: &Map<String, Value>, parent: &str, key: &str) -> bool {
        match keys.get(key) {
            Some(Value::Bool(it)) => *it,
            None | Some(Value::Null) => false,
            Some(_) => {
                self.warn(format!("{parent}{key}"), "taken as true; write true or false");
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<FileSettings, SettingsError> {
        FileSettings::parse(text, Path::new("settings.json"))
    }

    #[test]
    fn an_error_names_file_line_and_column() {
        for (text, said) in [
            ("{\n  // no\n}", "settings.json:2:3: "),
            ("{\"a\": [1,]}", "settings.json:1:10: "),
            ("{", "settings.json:1:1: "),
            ("", "settings.json:1:0: "),
            ("[]", "has to be an object"),
        ] {
            let told = parse(text).expect_err("an error").to_string();
            assert!(told.contains(said), "{text}: {told}");
        }
    }

    #[test]
    fn one_bad_entry_is_skipped_and_the_rest_counts() {
        let text = r#"{"permissions": {"deny": ["A", 5, "B"], "alow": [], "defaultMode": "x"}}"#;
        let found = parse(text).expect("settings");
        let rules: Vec<_> = found.rules.iter().map(|it| it.1.as_str()).collect();
        assert_eq!(rules, ["A", "B"]);
        let warned: Vec<_> = found.warnings.iter().map(|it| it.at.as_str()).collect();
        assert_eq!(warned, ["permissions.alow", "permissions.defaultMode", "permissions.deny[1]"]);
    }

    #[test]
    fn a_list_of_denies_that_is_no_list_has_everything_asked() {
        for text in [r#"{"permissions": {"deny": "Bash"}}"#, r#"{"permissions": []}"#] {
            assert_eq!(parse(text).expect("settings").rules, [(List::Ask, "*".to_owned())]);
        }
    }

    #[test]
    fn a_switch_that_cannot_be_read_is_on() {
        let text = r#"{"allowManagedPermissionRulesOnly": "yes",
            "permissions": {"disableBypassPermissionsMode": true, "unknown": 1}}"#;
        let found = parse(text).expect("settings");
        assert!(found.managed_rules_only && found.disables_bypass);
        assert_eq!(found.warnings.len(), 3);
    }

    #[test]
    fn other_keys_are_left_alone() {
        let found = parse(r#"{"hooks": {}, "model": "x", "$schema": "y"}"#).expect("settings");
        assert_eq!(found, FileSettings::default());
    }
}
