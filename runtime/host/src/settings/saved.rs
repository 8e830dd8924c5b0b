//! Rules that a person has allowed for always, kept in the project's local settings.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};
use toolwright_actors::RuleKeeper;
use toolwright_permissions::{Entry, EntryProblem, List, NoLinks, RuleSet, Scope, Source, Trust};

use super::file::LONGEST_FILE;
use super::locations::Locations;

/// Keeps rules in `settings.local.json`, where they apply without anybody's trust (Claude Code docs
/// 2.1.240). The file is replaced as a whole, so that no reader sees half of it.
#[derive(Debug)]
pub struct SavedRules {
    file: PathBuf,
    /// Held while the file is changed.
    changing: Mutex<()>,
}

/// Why rules could not be kept. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum NotSaved {
    /// A rule would not count.
    #[error("`{0}`: {1}")]
    Rule(String, EntryProblem),
    /// The file isn't what settings are.
    #[error("{}: {what}; repair it or remove it, and allow it again", .file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The file could not be written.
    #[error("{}: {error}; make it a file that you can write", .file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

impl SavedRules {
    /// Those of a session that reads its settings there: at the root of its repository, else where
    /// it starts.
    #[must_use]
    pub fn of(locations: &Locations) -> Self {
        let first = locations.local.first();
        let file = first.cloned().unwrap_or_else(|| locations.usual_local());
        Self { file, changing: Mutex::default() }
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Adds allow rules that aren't there. All else in the file stays as it is.
    ///
    /// # Errors
    ///
    /// [`NotSaved`]: nothing is changed.
    pub fn add(&self, allow: &[String]) -> Result<(), NotSaved> {
        self.check(allow)?;
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut settings = self.read()?;
        let permissions = settings.entry("permissions").or_insert_with(|| json!({}));
        let kept = permissions.as_object_mut().map(|it| it.entry("allow").or_insert(json!([])));
        let Some(Value::Array(kept)) = kept else {
            return Err(self.unusable("permissions.allow is not a list"));
        };
        let count = kept.len();
        for rule in allow {
            if !kept.iter().any(|it| it.as_str() == Some(rule)) {
                kept.push(rule.clone().into());
            }
        }
        if kept.len() > count {
            self.write(&settings)?;
        }
        drop(changing);
        Ok(())
    }

    fn check(&self, allow: &[String]) -> Result<(), NotSaved> {
        let source = std::sync::Arc::new(Source::new(Scope::Local, "/").file(&self.file));
        let entry =
            |it: &String| Entry { list: List::Allow, text: it.clone(), source: source.clone() };
        let (_, warnings) = RuleSet::compile(allow.iter().map(entry), Trust::Trusted, &NoLinks);
        match warnings.into_iter().next() {
            Some(warning) => Err(NotSaved::Rule(warning.entry.text, warning.problem)),
            None => Ok(()),
        }
    }

    fn unusable(&self, what: impl ToString) -> NotSaved {
        NotSaved::Unusable { file: self.file.clone(), what: what.to_string() }
    }

    fn unwritable(&self, error: io::Error) -> NotSaved {
        NotSaved::Unwritable { file: self.file.clone(), error }
    }

    /// What the file says now. A link could lead a project's file to anywhere, so none is followed.
    fn read(&self) -> Result<Map<String, Value>, NotSaved> {
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        for it in [folder, &self.file] {
            if it.symlink_metadata().is_ok_and(|it| it.is_symlink()) {
                return Err(self.unusable(format!("{} is a link", it.display())));
            }
        }
        match fs::metadata(&self.file) {
            Ok(found) if found.len() > LONGEST_FILE => return Err(self.unusable("it is too long")),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
            Err(error) => return Err(self.unusable(error)),
        }
        let text = fs::read_to_string(&self.file).map_err(|error| self.unusable(error))?;
        match serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text)) {
            Ok(Value::Object(settings)) => Ok(settings),
            Ok(_) => Err(self.unusable("it is no object")),
            Err(error) => Err(self.unusable(error)),
        }
    }

    fn write(&self, settings: &Map<String, Value>) -> Result<(), NotSaved> {
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        let written = || -> io::Result<()> {
            fs::create_dir_all(folder)?;
            let mut text = serde_json::to_string_pretty(settings)?;
            text.push('\n');
            // Nobody else may read it, unless its owner has said so.
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(text.as_bytes())?;
            if let Ok(old) = fs::metadata(&self.file) {
                file.as_file().set_permissions(old.permissions())?;
            }
            file.as_file().sync_all()?;
            file.persist(&self.file).map_err(|it| it.error)?;
            Ok(())
        };
        written().map_err(|error| self.unwritable(error))
    }
}

impl RuleKeeper for SavedRules {
    fn keep(&self, allow: &[String]) -> Result<(), String> {
        self.add(allow).map_err(|it| it.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(text: Option<&str>) -> (tempfile::TempDir, SavedRules) {
        let folder = tempfile::tempdir().expect("a folder");
        let locations = Locations { start: folder.path().to_owned(), ..Locations::default() };
        let saved = SavedRules::of(&locations);
        if let Some(text) = text {
            fs::create_dir(saved.file.parent().expect("a folder")).expect("a folder");
            fs::write(&saved.file, text).expect("a file");
        }
        (folder, saved)
    }

    fn rules(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|it| (*it).to_owned()).collect()
    }

    fn told(saved: &SavedRules) -> Value {
        serde_json::from_str(&fs::read_to_string(&saved.file).expect("a file")).expect("JSON")
    }

    #[test]
    fn rules_are_added_once_and_all_else_stays() {
        let (_folder, saved) =
            saved(Some(r#"{"hooks": {"x": 1}, "permissions": {"deny": ["A"], "allow": ["B"]}}"#));
        saved.add(&rules(&["B", "Bash(ls *)"])).expect("is kept");
        let permissions = json!({"deny": ["A"], "allow": ["B", "Bash(ls *)"]});
        assert_eq!(told(&saved), json!({"hooks": {"x": 1}, "permissions": permissions}));
    }

    #[test]
    fn the_file_and_its_folder_are_made() {
        let (_folder, saved) = saved(None);
        saved.add(&rules(&["Bash(ls *)"])).expect("is kept");
        assert_eq!(told(&saved), json!({"permissions": {"allow": ["Bash(ls *)"]}}));
    }

    #[test]
    fn a_file_that_is_no_settings_stays_as_it_is() {
        for text in ["{", "[]", r#"{"permissions": []}"#, r#"{"permissions": {"allow": "x"}}"#] {
            let (_folder, saved) = saved(Some(text));
            assert!(saved.add(&rules(&["Bash(ls *)"])).is_err(), "{text}");
            assert_eq!(fs::read_to_string(&saved.file).expect("a file"), text);
        }
    }

    #[test]
    fn a_rule_that_would_not_count_is_not_kept() {
        let (_folder, saved) = saved(None);
        let error = saved.add(&rules(&["mcp__*"])).expect_err("no such rule");
        assert!(error.to_string().contains("mcp__*"), "{error}");
        assert!(!saved.file.exists());
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed() {
        let (folder, saved) = saved(Some("{}"));
        let other = folder.path().join("other.json");
        fs::rename(&saved.file, &other).expect("is moved");
        std::os::unix::fs::symlink(&other, &saved.file).expect("a link");
        assert!(saved.add(&rules(&["Bash(ls *)"])).is_err());
        assert_eq!(fs::read_to_string(&other).expect("a file"), "{}");
    }
}
