//! Which commands of git only read.

use crate::{
    options::{self, Arguments},
    understanding::Word,
};

/// Options of whatever shows commits or differences; none writes a file or runs a program.
const SHOWING: &str = "-p -u -s -q -a -b -w -z -# -n= -U= -M? -C? -S= -G= -L= -R -c -i -E -F -P -g -1 \
    --oneline --stat? --shortstat --numstat --summary --name-only --name-status --no-color --color? \
    --graph --all --branches? --tags? --remotes? --decorate? --no-decorate --abbrev-commit --abbrev? \
    --pretty? --format= --date= --author= --committer= --grep= --since= --until= --after= --before= \
    --max-count= --skip= --merges --no-merges --first-parent --reverse --follow --patch --no-patch \
    --unified= --cached --staged --merge-base --diff-filter= --word-diff? --color-words? --raw \
    --ignore-all-space --ignore-space-change --ignore-blank-lines --find-renames? --no-renames \
    --check --quiet --exit-code --minimal --histogram --patience --diff-algorithm= --full-index \
    --binary --compact-summary --dirstat? --relative? --left-right --cherry-pick --cherry-mark \
    --topo-order --date-order --no-ext-diff --no-textconv --show-signature --no-notes \
    --name-rev --source --full-history --simplify-by-decoration --ancestry-path --no-walk \
    --invert-grep --walk-reflogs --text --src-prefix= --dst-prefix= --no-prefix --inter-hunk-context=";

/// Commands that only read, whatever their operands, with their options.
const COMMANDS: &[(&str, &str)] = &[
    ("log", SHOWING),
    ("show", SHOWING),
    ("diff", SHOWING),
    ("diff-tree", "-r -m -t --root --no-commit-id --name-only --name-status --stat -p -s"),
    ("shortlog", "-s -n -e -c --summary --numbered --email --since= --until= --all --no-merges"),
    (
        "status",
        "-s -b -u? -v -z --short --branch --porcelain? --long --untracked-files? --ignored? \
         --show-stash --ahead-behind --no-ahead-behind --no-renames --column? --no-column",
    ),
    (
        "rev-parse",
        "--abbrev-ref? --short? --show-toplevel --git-dir --is-inside-work-tree --verify -q --quiet \
         --symbolic-full-name --show-prefix --show-cdup --all --absolute-git-dir --git-common-dir \
         --is-bare-repository --show-current",
    ),
    (
        "rev-list",
        "--count --all -n= --max-count= --since= --until= --left-right --first-parent --no-merges \
         --merges --reverse --oneline",
    ),
    (
        "describe",
        "--tags --always --abbrev= --all --long --dirty? --match= --exclude= --exact-match",
    ),
    ("blame", "-L= -w -C -M -e -l -s -t -p -f -n --date= --porcelain --line-porcelain --root"),
    (
        "ls-files",
        "-c -d -m -o -i -s -u -z -t -v -x= --cached --deleted --modified --others --ignored --stage \
         --unmerged --exclude-standard --exclude= --error-unmatch --full-name --directory",
    ),
    (
        "ls-tree",
        "-r -d -t -l -z --name-only --name-status --long --full-name --full-tree --abbrev?",
    ),
    ("cat-file", "-p -t -s -e"),
    ("merge-base", "-a --all --octopus --is-ancestor --fork-point --independent"),
    ("for-each-ref", "--sort= --format= --count= --contains? --merged? --no-merged? --points-at="),
    ("name-rev", "--tags --name-only --always --all"),
    ("count-objects", "-v -H --verbose --human-readable"),
    ("check-ignore", "-v -q -n --verbose --quiet --non-matching --no-index"),
    (
        "grep",
        "-n -i -w -v -l -L -c -o -q -E -F -P -G -h -H -e= -A= -B= -C= -W -p -a -I -z -r --cached \
         --untracked --no-index --name-only --files-with-matches --count --line-number --ignore-case \
         --word-regexp --extended-regexp --fixed-strings --perl-regexp --max-depth= --and --or --not \
         --heading --break --show-function --function-context --no-color --color? --recursive",
    ),
    ("version", "--build-options"),
];

/// Commands that only read in the form without operands, or with the operands named.
const LISTING: &[(&str, &str, &[&str])] = &[
    (
        "branch",
        "-a -r -v -vv -l --all --remotes --verbose --list --show-current --no-color --color? --sort= \
         --format= --no-column --column? --contains= --no-contains= --merged? --no-merged? \
         --points-at=",
        &[],
    ),
    (
        "tag",
        "-l -n? --list --sort= --format= --contains= --no-contains= --merged? --points-at=",
        &[],
    ),
    ("remote", "-v --verbose", &["get-url"]),
    ("stash", "-p --stat --oneline", &["list", "show"]),
    ("worktree", "--porcelain -v", &["list"]),
    ("reflog", SHOWING, &["show", "exists"]),
    ("submodule", "--quiet --cached --recursive", &["status", "summary"]),
    (
        "config",
        "-l -z --list --get --get-all --get-regexp --global --local --system \
        --show-origin --show-scope --name-only --null --type=",
        &["list", "get"],
    ),
];

/// Whether a command of git only reads.
pub(super) fn reads(words: &[Word]) -> bool {
    let plain = |it: &&Word| {
        matches!(
            it.literal(),
            Some(
                "--no-pager"
                    | "--no-optional-locks"
                    | "--literal-pathspecs"
                    | "--no-replace-objects"
            )
        )
    };
    let skip = words.iter().take_while(plain).count();
    let words = words.get(skip..).unwrap_or_default();
    let Some((command, rest)) = words.split_first() else { return false };
    let Some(name) = command.literal() else { return false };
    if matches!(name, "--version") {
        return rest.is_empty();
    }
    if let Some((_, table)) = COMMANDS.iter().find(|it| it.0 == name) {
        return options::split(rest, table).is_some();
    }
    let Some((_, table, subcommands)) = LISTING.iter().find(|it| it.0 == name) else {
        return false;
    };
    options::split(rest, table).is_some_and(|found| lists(name, &found, subcommands))
}

fn lists(name: &str, found: &Arguments<'_>, subcommands: &[&str]) -> bool {
    let first = found.operands.first().and_then(|it| it.literal());
    if found.operands.iter().any(|it| it.may_split()) {
        return false;
    }
    match first {
        None => found.operands.is_empty() && name != "stash",
        Some(first) if subcommands.contains(&first) => true,
        // A pattern after `--list`, a name after `--get`: without the option it would be made or set.
        Some(_) => match name {
            "branch" | "tag" => found.has(&["-l", "--list"]),
            "config" => found.has(&["--get", "--get-all", "--get-regexp"]),
            _ => false,
        },
    }
}
