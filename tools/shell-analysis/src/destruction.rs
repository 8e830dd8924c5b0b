//! What a command may destroy, in words for the person who is asked.

use crate::understanding::{Command, Understanding};

/// A program, the argument that makes it destructive (`""`: any), and the text.
type Danger = (&'static str, &'static str, &'static str);

const DANGERS: &[Danger] = &[
    ("chmod", "-R", "changes the permissions of whole folders"),
    ("chown", "-R", "changes the owner of whole folders"),
    ("dd", "", "overwrites files or devices byte for byte"),
    ("dropdb", "", "deletes a database"),
    ("fdisk", "", "changes the partitions of a disk"),
    ("find", "-delete", "deletes the files that it finds"),
    ("kill", "", "ends processes"),
    ("killall", "", "ends processes by name"),
    ("kubectl", "delete", "deletes resources of a cluster"),
    ("mkswap", "", "overwrites a device"),
    ("parted", "", "changes the partitions of a disk"),
    ("pkill", "", "ends processes by name"),
    ("rm", "", "removes files for good"),
    ("rmdir", "", "removes folders"),
    ("rsync", "--delete", "deletes files that the source doesn't have"),
    ("shred", "", "overwrites files so that nothing brings them back"),
    ("terraform", "destroy", "destroys what terraform has set up"),
    ("truncate", "", "cuts files short"),
    ("unlink", "", "removes a file for good"),
    ("wipefs", "", "erases a file system"),
];

/// The same for git: the command, its argument, and the text.
const GIT_DANGERS: &[Danger] = &[
    ("branch", "-D", "deletes a branch that may not be merged"),
    ("branch", "--delete", "deletes a branch"),
    ("checkout", "--", "discards changes that are not committed"),
    ("checkout", ".", "discards changes that are not committed"),
    ("checkout", "-f", "discards changes that are not committed"),
    ("clean", "", "removes files that git doesn't track"),
    ("commit", "--amend", "rewrites the last commit"),
    ("filter-branch", "", "rewrites history"),
    ("gc", "--prune=now", "removes what no branch reaches"),
    ("push", "--delete", "deletes a remote branch"),
    ("push", "--force", "overwrites remote history"),
    ("push", "--force-with-lease", "overwrites remote history"),
    ("push", "-f", "overwrites remote history"),
    ("push", "--mirror", "overwrites all remote branches"),
    ("rebase", "", "rewrites history"),
    ("reflog", "expire", "removes what undo needs"),
    ("reset", "--hard", "discards changes that are not committed"),
    ("restore", "", "discards changes that are not committed"),
    ("stash", "clear", "deletes all stashes"),
    ("stash", "drop", "deletes a stash"),
    ("update-ref", "-d", "deletes a reference"),
    ("worktree", "remove", "removes a working tree"),
];

/// What a command may destroy; `None` if nothing is known to be destroyed.
///
/// A hint for the person, not a rule: what is missing here may destroy as well.
#[must_use]
pub fn destruction(understanding: &Understanding) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for command in &understanding.commands {
        if let Some((name, text)) = danger(command) {
            let text = format!("`{name}` {text}");
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn danger(command: &Command) -> Option<(String, &'static str)> {
    let name = command.program_name()?;
    let words = command.arguments();
    let has = |wanted: &str, from: usize| {
        let words = words.get(from..).unwrap_or_default();
        wanted.is_empty()
            || words.iter().any(|it| it.text == wanted || is_in_cluster(&it.text, wanted))
    };
    if name == "git" {
        let valued = |it: &str| matches!(it, "-C" | "-c" | "--git-dir" | "--work-tree");
        let mut before = "";
        let at = words.iter().position(|it| {
            let value = valued(std::mem::replace(&mut before, &it.text));
            !value && !it.text.starts_with('-')
        })?;
        let subcommand = words[at].text.as_str();
        let found = GIT_DANGERS.iter().find(|it| it.0 == subcommand && has(it.1, at + 1))?;
        return Some((format!("git {subcommand}"), found.2));
    }
    if name.starts_with("mkfs") {
        return Some((name.to_owned(), "makes a new file system over the old one"));
    }
    DANGERS.iter().find(|it| it.0 == name && has(it.1, 0)).map(|it| (name.to_owned(), it.2))
}

/// Whether a short option stands among others, as `-R` in `-vR`.
fn is_in_cluster(word: &str, option: &str) -> bool {
    let letter = option.strip_prefix('-').filter(|it| it.len() == 1 && *it != "-");
    let cluster = word.strip_prefix('-').filter(|it| !it.starts_with('-'));
    matches!((letter, cluster), (Some(letter), Some(cluster)) if cluster.contains(letter))
}
