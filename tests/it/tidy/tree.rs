//! The repository's text files, and what a rule has to say about one.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// Folders whose Rust files the rules about source apply to.
const CODE: [&str; 5] = ["actors/", "benches/", "runtime/", "tests/", "tools/"];

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    /// What is wrong, then what to do about it.
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Every text file of the repository, by its path from the root with forward slashes.
pub(crate) struct Repository {
    files: Vec<(String, String)>,
}

impl Repository {
    /// Reads the working tree; build output and version control are not part of it.
    pub(crate) fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent");
        let mut files = Vec::new();
        collect(root, root, &mut files);
        files.sort();
        Self { files }
    }

    /// A repository made of samples.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        Self { files: files.iter().map(owned).collect() }
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust files of the workspace's packages, without the fixtures that tests feed on.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(|(path, _)| {
            path.ends_with(".rs")
                && !is_fixture(path)
                && CODE.iter().any(|dir| path.starts_with(dir))
        })
    }

    pub(crate) fn find(&self, path: &str) -> Option<&str> {
        self.files().find(|(known, _)| *known == path).map(|(_, text)| text)
    }

    pub(crate) fn text(&self, path: &str) -> &str {
        self.find(path).unwrap_or_else(|| panic!("{path} is missing; a rule reads it"))
    }

    /// Whether a file or a folder of that name is there.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let inside =
            |known: &str| known.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        self.files().any(|(known, _)| known == path || inside(known))
    }

    pub(crate) fn each_file(&self, check: impl Fn(&str, &str) -> Vec<Finding>) -> Vec<Finding> {
        self.files().flat_map(|(path, text)| check(path, text)).collect()
    }

    pub(crate) fn each_rust_file(
        &self,
        check: impl Fn(&str, &str) -> Vec<Finding>,
    ) -> Vec<Finding> {
        assert!(self.rust_files().count() > 0, "no Rust file found: the rules look at nothing");
        self.rust_files().flat_map(|(path, text)| check(path, text)).collect()
    }
}

/// Material that tests read: it imitates the outside world and keeps no house rules.
pub(crate) fn is_fixture(path: &str) -> bool {
    path.split('/').any(|part| part == "fixtures")
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default();
        if name == ".git" || name == "target" || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files);
        } else if let Ok(text) = String::from_utf8(fs::read(&path).unwrap()) {
            let relative = path.strip_prefix(root).expect("walked from the root");
            files.push((relative.to_string_lossy().replace('\\', "/"), text));
        }
    }
}

#[test]
fn a_folder_exists_when_a_file_is_in_it() {
    let repository = Repository::of(&[("tools/src/lib.rs", "")]);
    assert!(repository.exists("tools/"));
    assert!(repository.exists("tools/src/lib.rs"));
    assert!(!repository.exists("tool"));
}
