//! The settings that `toolwright run` works under: the user's files, and what its arguments say.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Screen;
use super::permissions::{shown, tell_problems};
use super::run_args::RunArgs;
use crate::contract::SessionContext;
use crate::permissions::{Mode, Scope};
use crate::settings::{CommandLine, Locations, PlatformFolders, SavedRules, load};
use crate::{Policy, SessionBuilder};

/// What a run may do.
pub(super) struct RunSettings {
    policy: Policy,
    context: SessionContext,
    keeper: SavedRules,
}

impl RunSettings {
    /// Those of a run in this folder. What doesn't count is told.
    ///
    /// # Errors
    ///
    /// An error of `screen`.
    pub(super) fn of(args: &RunArgs, cwd: &Path, screen: &mut Screen<'_>) -> io::Result<Self> {
        let home = std::env::home_dir();
        let folders = PlatformFolders::usual(home.clone(), None);
        let locations = Locations::of(cwd, &folders, command_line(args));
        let loaded = load(&locations);
        tell_problems(&loaded, screen)?;
        let (policy, warnings) = loaded.policy(home);
        for warning in warnings {
            writeln!(screen.err, "warning: {}", shown(&warning.to_string()))?;
        }
        let wanted = if args.allow_everything { Some(Mode::BypassPermissions) } else { args.mode };
        if let Some(wanted) = wanted.filter(|it| *it != policy.mode) {
            writeln!(screen.err, "warning: settings don't allow the mode {wanted}: skipped")?;
        }
        let mut directories = vec![cwd.to_owned()];
        directories.extend(loaded.directories);
        let context =
            SessionContext { cwd: cwd.to_owned(), directories, ..SessionContext::default() };
        Ok(Self { policy, context, keeper: SavedRules::of(&locations) })
    }

    pub(super) fn of_session(self, session: SessionBuilder) -> SessionBuilder {
        let Self { policy, context, keeper } = self;
        session.rules(policy).context(context).keeper(Arc::new(keeper))
    }
}

fn command_line(args: &RunArgs) -> CommandLine {
    let rules = |lists: [&[String]; 2]| lists.concat();
    let listed = |texts: &[String]| texts.iter().flat_map(|it| entries(it)).collect::<Vec<_>>();
    CommandLine {
        settings: args.settings.clone(),
        allowed: rules([&args.allow, &listed(&args.allowed)]),
        disallowed: rules([&args.deny, &listed(&args.disallowed)]),
        mode: if args.allow_everything { Some(Mode::BypassPermissions) } else { args.mode },
        directories: args.directories.iter().map(PathBuf::from).collect(),
        sources: args.sources.as_ref().map(|it| it.iter().map(|it| it.scope()).collect()),
    }
}

/// The rules in a list: commas and spaces part them, outside their brackets.
fn entries(list: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = list.split(|it: char| {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (it == ',' || it.is_whitespace())
    });
    parts.filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// A source of settings that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SettingSource {
    /// The user's own file.
    User,
    /// The project's shared file.
    Project,
    /// The user's file for the project.
    Local,
}

impl SettingSource {
    fn scope(self) -> Scope {
        match self {
            Self::User => Scope::User,
            Self::Project => Scope::Project,
            Self::Local => Scope::Local,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_spaces_part_rules_outside_their_brackets() {
        for (list, rules) in [
            ("Read", &["Read"][..]),
            ("Bash(git push *), Edit  Read(a, b)", &["Bash(git push *)", "Edit", "Read(a, b)"]),
            (" ,", &[]),
            ("Bash(x", &["Bash(x"]),
        ] {
            assert_eq!(entries(list), rules, "{list}");
        }
    }
}
