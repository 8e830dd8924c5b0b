//! Which commands of docker only read, from the daemon that is set up.

use crate::{options, understanding::Word};

const COMMANDS: [(&str, &str); 9] = [
    (
        "ps",
        "-a -q -n= -l -s -f= --all --quiet --no-trunc --last= --latest --size --filter= --format=",
    ),
    ("images", "-a -q -f= --all --quiet --no-trunc --digests --filter= --format="),
    ("logs", "-f -t -n= --follow --timestamps --tail= --since= --until= --details"),
    ("inspect", "-f= -s --format= --size --type="),
    ("version", "-f= --format="),
    ("info", "-f= --format="),
    ("top", ""),
    ("port", ""),
    ("history", "-q -H --quiet --no-trunc --human --format="),
];

/// Whether a command of docker only reads; any option before it may choose another daemon.
pub(super) fn reads(words: &[Word]) -> bool {
    let Some((command, rest)) = words.split_first() else { return false };
    let known = COMMANDS.iter().find(|it| command.literal() == Some(it.0));
    known.is_some_and(|(_, table)| options::split(rest, table).is_some())
}
