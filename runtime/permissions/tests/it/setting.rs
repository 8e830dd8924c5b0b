//! The setting of the tables: a project in `/w/app`, rules as one line, a verdict as one word.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_permissions::{
    Call, Case, Decision, Entry, Fences, HookWord, Links, List, Mode, NoLinks, Places, RuleSet,
    Scope, Source, Trust, decide,
};

/// A decision to be made, with what is usual for it.
pub(crate) struct Setting {
    pub(crate) mode: Mode,
    pub(crate) hook: HookWord,
    pub(crate) trust: Trust,
    pub(crate) links: Box<dyn Links>,
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) fences: Fences,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            mode: Mode::Default,
            hook: HookWord::None,
            trust: Trust::Trusted,
            links: Box::new(NoLinks),
            directories: Vec::new(),
            fences: Fences::default(),
        }
    }
}

impl Setting {
    pub(crate) fn mode(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Decides under rules like `+Bash(ls *)`, `-Bash(rm *)` and `?Bash(git push *)`, told apart by
    /// their first character.
    pub(crate) fn decide(&self, rules: &[&str], tool: &str, input: &Value) -> Decision {
        let links = &*self.links;
        let (mut rules, _) = RuleSet::compile(entries(rules), self.trust, links);
        rules.fences = self.fences;
        let mut places = Places::new(Path::new("/w/app"), Some(Path::new("/u/ann")), links);
        for directory in &self.directories {
            places.add(directory, links);
        }
        let call = Call::by_name(tool, input, &places, links);
        decide(&Case {
            call: &call,
            rules: &rules,
            mode: self.mode,
            places: &places,
            hook: &self.hook,
            classifier: None,
        })
    }

    pub(crate) fn verdict(&self, rules: &[&str], tool: &str, input: &Value) -> &'static str {
        self.decide(rules, tool, input).verdict.name()
    }

    pub(crate) fn bash(&self, rules: &[&str], command: &str) -> &'static str {
        self.verdict(rules, "Bash", &json!({"command": command}))
    }

    /// Checks rows of rules (separated by two blanks), command and verdict.
    pub(crate) fn check_commands(&self, rows: &[(&str, &str, &str)]) {
        for (rules, command, verdict) in rows {
            let found = self.decide(&split(rules), "Bash", &json!({"command": command}));
            let name = found.verdict.name();
            assert_eq!(name, *verdict, "{rules} | {command} | {}", found.reason);
        }
    }

    /// The same for calls about one file.
    pub(crate) fn check_files(&self, rows: &[(&str, &str, &str, &str)]) {
        for (rules, tool, path, verdict) in rows {
            let field = match *tool {
                "NotebookEdit" => "notebook_path",
                "Glob" | "Grep" => "path",
                _ => "file_path",
            };
            let found = self.decide(&split(rules), tool, &json!({field: path}));
            let name = found.verdict.name();
            assert_eq!(name, *verdict, "{rules} | {tool} {path} | {}", found.reason);
        }
    }
}

pub(crate) fn split(rules: &str) -> Vec<&str> {
    rules.split("  ").filter(|it| !it.is_empty()).collect()
}

pub(crate) fn entries(rules: &[&str]) -> Vec<Entry> {
    let source =
        Arc::new(Source::new(Scope::Project, "/w/app").file("/w/app/.claude/settings.json"));
    let entry = |rule: &&str| {
        let (sign, text) = rule.split_at(1);
        let list = match sign {
            "+" => List::Allow,
            "-" => List::Deny,
            "?" => List::Ask,
            other => panic!("`{other}` is no list"),
        };
        Entry { list, text: text.to_owned(), source: source.clone() }
    };
    rules.iter().map(entry).collect()
}
