//! All settings of a session: the files together, by precedence, and read again when they change.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_actors::{Policy, RealLinks};
use toolwright_permissions::{Entry, Fences, List, Mode, RuleSet, Scope, Source, Trust, Warning};

use super::file::{FileSettings, LONGEST_FILE, SettingsError, SettingsWarning};
use super::locations::Locations;
use super::{owner, trust};

/// What all settings say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The entries of all lists that count.
    pub entries: Vec<Entry>,
    /// Whether the project's allows count.
    pub trust: Trust,
    /// The mode that the session starts in.
    pub mode: Mode,
    /// The directories that the session may work in, beside that of the start.
    pub directories: Vec<PathBuf>,
    /// Whether mode bypassPermissions may be chosen.
    pub allows_bypass: bool,
    /// Whether mode auto may be chosen.
    pub allows_auto: bool,
    /// Whether reads outside the working directories are denied.
    pub blocks_reads: bool,
    /// Whether writes outside the working directories are denied.
    pub blocks_writes: bool,
    /// Whether what would be asked is denied.
    pub denies_instead_of_prompting: bool,
    /// Entries and keys that don't count.
    pub warnings: Vec<SettingsWarning>,
    /// Files that can't be used. For one that could be used before, that still counts; for
    /// another, every call is asked about.
    pub broken: Vec<SettingsError>,
    /// What each file said when it could last be read.
    good: BTreeMap<PathBuf, FileSettings>,
}

impl Loaded {
    /// The rules, and what is wrong with single ones. Rules about paths look at the links on their
    /// way.
    #[must_use]
    pub fn rules(&self) -> (RuleSet, Vec<Warning>) {
        let (mut rules, warnings) =
            RuleSet::compile(self.entries.iter().cloned(), self.trust, &RealLinks);
        rules.fences =
            Fences { blocks_reads: self.blocks_reads, blocks_writes: self.blocks_writes };
        (rules, warnings)
    }

    /// What decides about the calls of a session under these settings, and what is wrong with
    /// single rules.
    #[must_use]
    pub fn policy(&self, home: Option<PathBuf>) -> (Policy, Vec<Warning>) {
        let (rules, warnings) = self.rules();
        let policy = Policy {
            rules: Arc::new(rules),
            mode: self.mode,
            denies_instead_of_prompting: self.denies_instead_of_prompting,
            home,
        };
        (policy, warnings)
    }
}

/// Reads all settings.
#[must_use]
pub fn load(locations: &Locations) -> Loaded {
    reload(locations, &Loaded::default())
}

/// Reads all settings again. A file that is broken now, such as one that is half written, counts as
/// it was; one that is gone doesn't count.
#[must_use]
pub fn reload(locations: &Locations, last: &Loaded) -> Loaded {
    let state = locations.state.as_deref();
    let trust = state.map_or(Trust::Untrusted, |it| trust::is_trusted(it, &locations.start));
    let found = Loaded { trust, allows_bypass: true, allows_auto: true, ..Loaded::default() };
    let mut gathering =
        Gathering { locations, last, found, modes: Vec::new(), managed_only: false };
    gathering.all();
    gathering.finish()
}

struct Gathering<'a> {
    locations: &'a Locations,
    last: &'a Loaded,
    found: Loaded,
    /// The modes that sources name, the highest first.
    modes: Vec<Mode>,
    /// Whether others than the administrator may allow nothing.
    managed_only: bool,
}

impl Gathering<'_> {
    /// From the highest scope to the lowest.
    fn all(&mut self) {
        for file in self.locations.managed_files() {
            self.file(Scope::Managed, &file, file.parent().unwrap_or(Path::new("/")));
        }
        self.command_line();
        let start = self.locations.start.clone();
        let locations = self.locations;
        for file in locations.local.iter().filter(|_| locations.reads(Scope::Local)) {
            self.file(Scope::Local, file, &start);
        }
        if locations.reads(Scope::Project) {
            self.file(Scope::Project, &locations.project(), &start);
        }
        if let Some(file) = locations.user_file().filter(|_| locations.reads(Scope::User)) {
            self.file(Scope::User, &file, file.parent().unwrap_or(Path::new("/")));
        }
    }

    fn command_line(&mut self) {
        let line = self.locations.command_line.clone();
        let start = &self.locations.start;
        let source = Source::new(Scope::CommandLine, start);
        let allow = line.allowed.into_iter().map(|it| (List::Allow, it));
        let deny = line.disallowed.into_iter().map(|it| (List::Deny, it));
        let directories = line.directories.iter().map(|it| start.join(it)).collect::<Vec<_>>();
        self.found.directories.extend(directories);
        let rules = allow.chain(deny).collect();
        self.add(
            FileSettings { rules, default_mode: line.mode, ..FileSettings::default() },
            source,
        );
        match line.settings {
            Some(text) if text.trim_start().starts_with('{') => {
                let source = Source::new(Scope::CommandLine, start);
                match FileSettings::parse(&text, Path::new("--settings")) {
                    Ok(settings) => self.add(settings, source),
                    Err(error) => self.broken(error, source),
                }
            }
            Some(file) => {
                let file = start.join(file);
                let root = file.parent().unwrap_or(Path::new("/")).to_owned();
                if !file.exists() {
                    let what = "there is no such file".to_owned();
                    let error = SettingsError::Unreadable { file: file.clone(), what };
                    let source = Source::new(Scope::CommandLine, &root).file(&file);
                    return self.broken(error, source);
                }
                self.file(Scope::CommandLine, &file, &root);
            }
            None => {}
        }
    }

    fn file(&mut self, scope: Scope, file: &Path, root: &Path) {
        let source = Source::new(scope, root).file(file);
        match read(scope, file) {
            Ok(None) => {}
            Ok(Some(settings)) => {
                self.found.good.insert(file.to_owned(), settings.clone());
                self.add(settings, source);
            }
            Err(error) => match self.last.good.get(file) {
                Some(settings) => {
                    self.found.broken.push(error);
                    self.found.good.insert(file.to_owned(), settings.clone());
                    self.add(settings.clone(), source);
                }
                None => self.broken(error, source),
            },
        }
    }

    /// What a file would deny isn't known, so everything is asked about.
    fn broken(&mut self, error: SettingsError, source: Source) {
        self.found.broken.push(error);
        let (list, text) = (List::Ask, "*".to_owned());
        self.found.entries.push(Entry { list, text, source: Arc::new(source) });
    }

    fn add(&mut self, settings: FileSettings, source: Source) {
        let scope = source.scope;
        let is_trusted = self.trusts(&source);
        let file = source.file.clone().unwrap_or_else(|| PathBuf::from(scope.name()));
        self.found.warnings.extend(settings.warnings);
        let warn = |found: &mut Loaded, at: &str, what: &str| {
            let (file, at, what) = (file.clone(), at.to_owned(), what.to_owned());
            found.warnings.push(SettingsWarning { file, at, what });
        };
        if settings.managed_rules_only {
            let key = "allowManagedPermissionRulesOnly";
            if scope == Scope::Managed {
                self.managed_only = true;
            } else {
                warn(&mut self.found, key, "skipped: it counts in managed settings alone");
            }
        }
        if let Some(mode) = settings.default_mode {
            let is_projects = matches!(scope, Scope::Local | Scope::Project);
            if !is_trusted || (is_projects && mode == Mode::Auto) {
                let what = "skipped: a project can't choose this mode for its user";
                warn(&mut self.found, "permissions.defaultMode", what);
            } else {
                self.modes.push(mode);
            }
        }
        if !settings.directories.is_empty() && !is_trusted {
            let what = "skipped: this workspace has not been trusted";
            warn(&mut self.found, "permissions.additionalDirectories", what);
        } else {
            let home = self.locations.state.as_deref().and_then(Path::parent);
            let directories =
                settings.directories.iter().map(|it| directory(it, &self.locations.start, home));
            self.found.directories.extend(directories);
        }
        self.found.allows_bypass &= !settings.disables_bypass;
        self.found.allows_auto &= !settings.disables_auto;
        self.found.blocks_reads |= settings.blocks_reads;
        self.found.blocks_writes |= settings.blocks_writes;
        self.found.denies_instead_of_prompting |= settings.denies_instead_of_prompting
            && matches!(scope, Scope::Managed | Scope::CommandLine | Scope::User);
        let source = Arc::new(source);
        for (list, text) in settings.rules {
            if list == List::Allow && self.managed_only && scope != Scope::Managed {
                let what = "skipped: managed settings alone may allow here";
                warn(&mut self.found, &format!("permissions.allow: `{text}`"), what);
            } else if list == List::Allow && !is_trusted {
                let what = "skipped: this workspace has not been trusted";
                warn(&mut self.found, &format!("permissions.allow: `{text}`"), what);
            } else {
                self.found.entries.push(Entry { list, text, source: source.clone() });
            }
        }
    }

    /// A project's own file needs the user's trust, and so does a local one that came with it.
    fn trusts(&self, source: &Source) -> bool {
        self.found.trust == Trust::Trusted
            || match source.scope {
                Scope::Project => false,
                Scope::Local => source.file.as_deref().is_some_and(|it| !came_with_it(it)),
                Scope::Managed | Scope::CommandLine | Scope::Session | Scope::User => true,
            }
    }

    fn finish(mut self) -> Loaded {
        let may = |it: &Mode| match it {
            Mode::BypassPermissions => self.found.allows_bypass,
            Mode::Auto => self.found.allows_auto,
            Mode::Default | Mode::AcceptEdits | Mode::Plan | Mode::DontAsk => true,
        };
        // The highest decides; what it may not choose is the default, not what a lower one chose.
        self.found.mode = self.modes.first().copied().filter(may).unwrap_or_default();
        self.found
    }
}

fn directory(given: &str, start: &Path, home: Option<&Path>) -> PathBuf {
    match (given.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => start.join(given),
    }
}

/// The settings in a file; nothing if there is none.
fn read(scope: Scope, file: &Path) -> Result<Option<FileSettings>, SettingsError> {
    let unreadable = |error: io::Error| SettingsError::Unreadable {
        file: file.to_owned(),
        what: error.to_string(),
    };
    let found = match fs::metadata(file) {
        Ok(found) => found,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    if scope == Scope::Managed {
        owner::check(file)?;
    }
    if !found.is_file() {
        return Err(unreadable(io::Error::other("it is no regular file")));
    }
    if found.len() > LONGEST_FILE {
        return Err(SettingsError::TooLong(file.to_owned()));
    }
    let text = fs::read_to_string(file).map_err(unreadable)?;
    FileSettings::parse(&text, file).map(Some)
}

/// Whether a local file may have come with the project: git tracks it, or its folder is a link.
fn came_with_it(file: &Path) -> bool {
    let Some(folder) = file.parent() else { return true };
    if folder.symlink_metadata().map_or(true, |it| it.is_symlink()) {
        return true;
    }
    let Some(root) = folder.ancestors().skip(1).find(|it| it.join(".git").exists()) else {
        return false;
    };
    let Ok(path) = file.strip_prefix(root) else { return true };
    let index = root.join(".git/index");
    match fs::read(&index) {
        Ok(index) => is_tracked(&index, &path.to_string_lossy()),
        Err(error) => error.kind() != io::ErrorKind::NotFound || !root.join(".git").is_dir(),
    }
}

/// Whether git's index names a path. One in the compressed format is taken to name all.
fn is_tracked(index: &[u8], path: &str) -> bool {
    const COMPRESSED: &[u8] = &[0, 0, 0, 4];
    index.get(4..8).is_none_or(|it| it == COMPRESSED)
        || index.windows(path.len()).any(|it| it == path.as_bytes())
}
