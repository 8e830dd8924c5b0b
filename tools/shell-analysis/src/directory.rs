//! Where commands run: what may change the session's directory, and what paths are relative to.

use crate::understanding::{Command, Connector, Understanding};

/// Builtins that change the directory of their shell.
const MOVING: [&str; 4] = ["cd", "chdir", "pushd", "popd"];

/// Whether the session's shell may be in another directory afterwards.
///
/// What runs in a process of its own (a subshell, a part of a pipeline before the last, `&`) doesn't
/// count; what is not understood does.
#[must_use]
pub fn may_change_directory(understanding: &Understanding) -> bool {
    let session = |it: &Command| Understanding::is_session(it.place.scope);
    !understanding.is_full() || understanding.commands.iter().any(|it| session(it) && moves(it))
}

/// Whether a command changes the directory of its shell, or jumps out so that this can't be told.
fn moves(command: &Command) -> bool {
    command.program().is_some_and(|it| MOVING.contains(&it))
}

/// What a relative path is relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// The directory of the session.
    Session,
    /// A directory that the command has changed to, as written, from the session's.
    Moved(String),
    /// Can't be told: a change may have failed, or an expansion says where to.
    Unknown,
}

/// The base of each command.
pub(crate) fn bases(understanding: &Understanding) -> Vec<Base> {
    let commands = &understanding.commands;
    let searched = commands.iter().any(|it| it.assignments.iter().any(|it| it.name == "CDPATH"));
    // Where a wrapper or a script moves to is not followed.
    if searched || commands.iter().any(|it| it.carried_by.is_some() && moves(it)) {
        return vec![Base::Unknown; commands.len()];
    }
    let mut scopes: Vec<Option<Base>> = vec![None; understanding.scopes.len()];
    let mut bases: Vec<Base> = Vec::with_capacity(commands.len());
    for command in commands {
        let carrier = command.carried_by.and_then(|it| bases.get(it)).cloned();
        bases
            .push(carrier.unwrap_or_else(|| own_base(command, &mut scopes, &understanding.scopes)));
    }
    bases
}

/// The base of a command by those before it; notes what it changes.
fn own_base(command: &Command, scopes: &mut [Option<Base>], parents: &[usize]) -> Base {
    let scope = command.place.scope;
    let chain = chain(scope, parents);
    let inherited = scopes.get(scope).is_none_or(Option::is_none);
    let known = chain.iter().find_map(|it| scopes.get(*it).cloned().flatten());
    let mut base = known.unwrap_or(Base::Session);
    if matches!(base, Base::Moved(_)) {
        if command.place.substituted && inherited {
            base = Base::Unknown;
        } else if matches!(command.place.after, Connector::Sequence | Connector::Or) {
            // The change may have failed, for this command and for what follows it anywhere.
            base = Base::Unknown;
            for it in chain {
                scopes[it] = Some(Base::Unknown);
            }
        }
    }
    let after = match (moves(command), is_certain(command)) {
        (false, _) => base.clone(),
        (true, true) => moved(&base, command),
        (true, false) => Base::Unknown,
    };
    if let Some(known) = scopes.get_mut(scope) {
        *known = Some(after);
    }
    base
}

/// A shell and those around it.
fn chain(scope: usize, parents: &[usize]) -> Vec<usize> {
    let mut chain = vec![scope];
    while let Some(parent) = parents.get(chain[chain.len() - 1]).filter(|it| !chain.contains(it)) {
        chain.push(*parent);
    }
    chain
}

/// Whether a change of directory runs once, if at all, and is then seen by what `&&` follows with.
fn is_certain(command: &Command) -> bool {
    !command.place.looped
        && matches!(command.place.after, Connector::Sequence | Connector::And)
        && (!command.place.conditional || command.place.after == Connector::And)
}

fn moved(base: &Base, command: &Command) -> Base {
    let to = match command.arguments() {
        [word] if command.program() == Some("cd") => word.literal(),
        _ => None,
    };
    match (base, to) {
        (_, Some(to)) if to.starts_with('/') => Base::Moved(to.to_owned()),
        (_, Some(to)) if to.is_empty() || to.starts_with('-') => Base::Unknown,
        (Base::Session, Some(to)) => Base::Moved(to.to_owned()),
        (Base::Moved(from), Some(to)) => {
            Base::Moved(format!("{}/{to}", from.trim_end_matches('/')))
        }
        (Base::Unknown, _) | (_, None) => Base::Unknown,
    }
}
