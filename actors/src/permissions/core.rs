//! The pure part of the permission stage: from rules and a call to a decision.

use std::collections::BTreeSet;

use toolwright_contract::{Safety, wording};
use toolwright_kernel::Effects;

use crate::hooks::Wish;

/// Tool names of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// These names. A rule with arguments (`Tool(specifier)`) is not understood yet and matches
    /// nothing.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    fn has(&self, tool: &str) -> bool {
        self.0.contains(tool)
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Names {
    fn from(names: [S; N]) -> Self {
        Self::new(names)
    }
}

/// The rules of a session. A deny beats an ask, an ask beats an allow, whatever the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Never start these.
    pub deny: Names,
    /// Ask before these.
    pub ask: Names,
    /// Start these without a question.
    pub allow: Names,
    /// What holds for a call that only reads and that no rule names: it starts. For the rest:
    pub otherwise: Otherwise,
}

/// What becomes of a call that may change something and that no rule names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// A person is asked.
    #[default]
    Ask,
    /// It starts.
    Allow,
    /// It is denied.
    Deny,
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Allow,
    Ask(String),
    Deny(String),
}

impl Rules {
    /// Rules that start everything: for sandboxes, benchmarks and replays.
    #[must_use]
    pub fn allow_everything() -> Self {
        Self { otherwise: Otherwise::Allow, ..Self::default() }
    }

    /// Decides. `names` are the tool's name and its aliases: a rule for any of them counts.
    pub(crate) fn decide<'a>(
        &self,
        names: impl Iterator<Item = &'a str> + Clone,
        safety: Safety,
        wish: &Wish,
    ) -> Decision {
        let tool = names.clone().next().unwrap_or_default();
        let named_in = |rule: &Names| names.clone().any(|it| rule.has(it));
        if named_in(&self.deny) {
            return Decision::Deny(wording::denied(tool));
        }
        if let Wish::Ask(why) = wish {
            return Decision::Ask(why.clone());
        }
        if named_in(&self.ask) {
            return Decision::Ask(format!("A rule asks before {tool}."));
        }
        if named_in(&self.allow) || *wish == Wish::Allow {
            return Decision::Allow;
        }
        match (safety.effects, self.otherwise) {
            (Effects::ReadOnly, _) | (Effects::Writes, Otherwise::Allow) => Decision::Allow,
            (Effects::Writes, Otherwise::Ask) => {
                Decision::Ask(format!("{tool} may change something, and no rule allows it."))
            }
            (Effects::Writes, Otherwise::Deny) => Decision::Deny(wording::denied(tool)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decide(rules: &Rules, tool: &str, safety: Safety, wish: Wish) -> Decision {
        rules.decide([tool].into_iter(), safety, &wish)
    }

    #[test]
    fn a_call_that_no_rule_names_starts_only_if_it_reads() {
        let rules = Rules::default();
        assert_eq!(decide(&rules, "A", Safety::read_only(), Wish::None), Decision::Allow);
        let writes = decide(&rules, "A", Safety::default(), Wish::None);
        assert!(matches!(writes, Decision::Ask(_)));
    }

    #[test]
    fn a_hooks_allow_spares_the_default_question_but_no_rule() {
        let rules = Rules { ask: ["B"].into(), deny: ["C"].into(), ..Rules::default() };
        assert_eq!(decide(&rules, "A", Safety::default(), Wish::Allow), Decision::Allow);
        assert!(matches!(decide(&rules, "B", Safety::default(), Wish::Allow), Decision::Ask(_)));
        assert!(matches!(decide(&rules, "C", Safety::default(), Wish::Allow), Decision::Deny(_)));
    }

    #[test]
    fn a_rule_for_an_alias_counts() {
        let rules = Rules { deny: ["Old"].into(), ..Rules::allow_everything() };
        let decision = rules.decide(["New", "Old"].into_iter(), Safety::default(), &Wish::None);
        assert!(matches!(decision, Decision::Deny(_)));
    }

    proptest! {
        #[test]
        fn one_more_deny_never_allows_more(
            deny in prop::collection::btree_set("[ABC]", 0..3),
            ask in prop::collection::btree_set("[ABC]", 0..3),
            allow in prop::collection::btree_set("[ABC]", 0..3),
            tool in "[ABC]",
            more in "[ABC]",
        ) {
            let before = Rules {
                deny: Names::new(deny), ask: Names::new(ask), allow: Names::new(allow),
                otherwise: Otherwise::Allow,
            };
            let mut after = before.clone();
            after.deny.0.insert(more);
            let strict = |it: &Rules| match decide(it, &tool, Safety::default(), Wish::None) {
                Decision::Allow => 0,
                Decision::Ask(_) => 1,
                Decision::Deny(_) => 2,
            };
            prop_assert!(strict(&after) >= strict(&before));
        }
    }
}
