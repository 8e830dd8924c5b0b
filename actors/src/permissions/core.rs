//! The pure part of the permission stage: from rules and a call to a decision.

use std::collections::BTreeSet;

use toolwright_contract::{Card, Permission, Safety, wording};
use toolwright_kernel::Effects;

use crate::hooks::Wish;

/// The tools that a list of rules is about.
///
/// A rule is a tool's name; `Name(*)` is the same, and `*` in a name stands for any letters.
/// `mcp__server`, or `mcp__server__*`, is every tool of that server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    whole: BTreeSet<String>,
    globs: BTreeSet<String>,
    /// Tools of rules with arguments (`Name(specifier)`). Which calls they are about can't be told
    /// yet, so a deny or an ask of one asks about every call of the tool, and an allow of one
    /// allows none.
    partly: BTreeSet<String>,
}

impl Names {
    /// These rules.
    pub fn new<S: Into<String>>(rules: impl IntoIterator<Item = S>) -> Self {
        let mut names = Self::default();
        for rule in rules {
            let rule: String = rule.into();
            let (name, all) = match rule.split_once('(') {
                None => (rule.trim(), true),
                Some((name, rest)) => (name.trim(), rest == "*)"),
            };
            let server = name.strip_suffix("__*").filter(|it| it.starts_with("mcp__"));
            if let Some(server) = server.filter(|it| all && !it.contains('*')) {
                names.whole.insert(server.to_owned());
            }
            let list = match (all, name.contains('*')) {
                (false, _) => &mut names.partly,
                (true, true) => &mut names.globs,
                (true, false) => &mut names.whole,
            };
            list.insert(name.to_owned());
        }
        names
    }

    /// Whether every call of the tool is meant, by its very name.
    fn has(&self, tool: &str) -> bool {
        self.whole.contains(tool)
    }

    /// Whether every call of the tool is meant.
    fn covers(&self, tool: &str) -> bool {
        self.has(tool) || self.globs.iter().any(|it| glob(it, tool))
    }

    /// Whether some calls of the tool are meant.
    fn touches(&self, tool: &str) -> bool {
        self.partly.iter().any(|it| glob(it, tool))
    }
}

/// Whether `name` fits a pattern in which `*` stands for any letters.
fn glob(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<_> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(last)
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Names {
    fn from(names: [S; N]) -> Self {
        Self::new(names)
    }
}

/// The rules of a session. A deny beats an ask, an ask beats an allow, whatever the order.
///
/// ```
/// use toolwright_actors::{Otherwise, Rules};
/// use toolwright_contract::Card;
///
/// let rules = Rules {
///     deny: ["WebFetch", "mcp__mail"].into(),
///     ask: ["Bash"].into(),
///     allow: ["Edit", "Write"].into(),
///     otherwise: Otherwise::Deny,
/// };
/// // A tool that is denied as a whole need not be offered.
/// assert!(rules.removes(&Card::of_mcp("mail", "send", "Sends a mail.", None)));
/// ```
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

    /// Whether a rule denies every call of the tool: a model need not be told of it.
    #[must_use]
    pub fn removes(&self, card: &Card) -> bool {
        card.rule_names().any(|it| self.deny.covers(&it))
    }

    /// Decides. A rule for a former name of the tool counts like one for its name.
    pub(crate) fn decide(&self, case: &Case<'_>) -> Decision {
        let Case { card, safety, needs_user, own, wish } = *case;
        let tool = &*card.name;
        let any = |is_meant: &dyn Fn(&str) -> bool| card.rule_names().any(|it| is_meant(&it));
        if self.removes(card) {
            return Decision::Deny(wording::denied(tool));
        }
        if let Permission::Deny(why) = own {
            return Decision::Deny(why.clone());
        }
        if any(&|it| self.deny.touches(it)) {
            let why = format!("A rule denies some uses of {tool}, and which can't be told yet.");
            return Decision::Ask(why);
        }
        if let Wish::Ask(why) = wish {
            return Decision::Ask(why.clone());
        }
        if let Permission::Ask(why) = own {
            return Decision::Ask(why.clone());
        }
        if needs_user {
            return Decision::Ask(format!("{tool} needs a person."));
        }
        if any(&|it| self.ask.covers(it) || self.ask.touches(it)) {
            return Decision::Ask(format!("A rule asks before {tool}."));
        }
        if any(&|it| self.allow.has(it)) || *wish == Wish::Allow || *own == Permission::Allow {
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

/// What there is to decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) card: &'a Card,
    pub(crate) safety: Safety,
    /// Whether the call can't do without a person, whatever rules say.
    pub(crate) needs_user: bool,
    /// What the tool itself says.
    pub(crate) own: &'a Permission,
    pub(crate) wish: &'a Wish,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decide(rules: &Rules, tool: &str, safety: Safety, wish: Wish) -> Decision {
        let card = Card::new(tool.to_owned(), "");
        let own = &Permission::Unsaid;
        rules.decide(&Case { card: &card, safety, needs_user: false, own, wish: &wish })
    }

    #[test]
    fn a_call_that_needs_a_person_is_asked_about_whatever_allows_it_and_denied_all_the_same() {
        let rules = Rules { allow: ["A"].into(), deny: ["B"].into(), ..Rules::allow_everything() };
        let needs = |tool: &'static str, wish| {
            let (card, safety) = (Card::new(tool, ""), Safety::read_only());
            let own = &Permission::Allow;
            rules.decide(&Case { card: &card, safety, needs_user: true, own, wish: &wish })
        };
        assert!(matches!(needs("A", Wish::Allow), Decision::Ask(_)));
        assert!(matches!(needs("C", Wish::None), Decision::Ask(_)));
        assert!(matches!(needs("B", Wish::None), Decision::Deny(_)));
    }

    #[test]
    fn a_call_that_no_rule_names_starts_only_if_it_reads() {
        let rules = Rules::default();
        assert_eq!(decide(&rules, "A", Safety::read_only(), Wish::None), Decision::Allow);
        let writes = decide(&rules, "A", Safety::default(), Wish::None);
        assert!(matches!(writes, Decision::Ask(_)));
    }

    #[test]
    fn a_rule_with_arguments_asks_where_it_might_deny_and_allows_nothing() {
        let wish = || Wish::None;
        for (rules, tool, asks) in [
            (Rules { deny: ["A(rm *)"].into(), ..Rules::allow_everything() }, "A", true),
            (Rules { deny: ["A(rm *)"].into(), ..Rules::allow_everything() }, "B", false),
            (Rules { ask: ["A(rm *)"].into(), ..Rules::allow_everything() }, "A", true),
            (Rules { allow: ["A(ls *)"].into(), ..Rules::default() }, "A", true),
            (Rules { allow: ["A(*)"].into(), ..Rules::default() }, "A", false),
        ] {
            let decision = decide(&rules, tool, Safety::default(), wish());
            assert_eq!(matches!(decision, Decision::Ask(_)), asks, "{rules:?} of {tool}");
        }
    }

    #[test]
    fn a_star_in_a_name_denies_and_asks_but_does_not_allow() {
        let deny = Rules { deny: ["mcp__*"].into(), ..Rules::allow_everything() };
        let allow = Rules { allow: ["mcp__*"].into(), ..Rules::default() };
        let of = |rules, tool| decide(rules, tool, Safety::default(), Wish::None);
        assert!(matches!(of(&deny, "mcp__files__read"), Decision::Deny(_)));
        assert_eq!(of(&deny, "Read"), Decision::Allow);
        assert!(matches!(of(&allow, "mcp__files__read"), Decision::Ask(_)));
    }

    #[test]
    fn a_servers_name_is_a_rule_about_each_of_its_tools_and_about_no_other() {
        let of = |rules: &Rules, server: &str, tool: &str| {
            let card = Card::of_mcp(server, tool, "", None);
            let (safety, wish, own) = (Safety::default(), Wish::None, &Permission::Unsaid);
            let case = Case { card: &card, safety, needs_user: false, own, wish: &wish };
            match rules.decide(&case) {
                Decision::Allow => "allow",
                Decision::Ask(_) => "ask",
                Decision::Deny(_) => "deny",
            }
        };
        for rule in ["mcp__files", "mcp__files__*", "mcp__files(*)"] {
            let deny = Rules { deny: [rule].into(), ..Rules::allow_everything() };
            let ask = Rules { ask: [rule].into(), ..Rules::allow_everything() };
            let allow = Rules { allow: [rule].into(), ..Rules::default() };
            for (server, tool, decided) in [
                ("files", "read", ["deny", "ask", "allow"]),
                ("files", "a__b", ["deny", "ask", "allow"]),
                ("files2", "read", ["allow", "allow", "ask"]),
                ("mail", "files", ["allow", "allow", "ask"]),
            ] {
                let all = [&deny, &ask, &allow].map(|it| of(it, server, tool));
                assert_eq!(all, decided, "{rule} of {server} {tool}");
            }
        }
        let allow = Rules { allow: ["mcp__files"].into(), ..Rules::default() };
        assert_eq!(of(&allow, "files__more", "read"), "ask", "another server");
        let dotted = Rules { allow: ["mcp__my_files"].into(), ..Rules::default() };
        assert_eq!(of(&dotted, "my.files", "read"), "allow", "as its tools are named");
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("*", "a", true),
            ("a*", "ab", true),
            ("a*", "ba", false),
            ("*a", "ba", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ä*", "äö", true),
            ("a", "ab", false),
        ] {
            assert_eq!(glob(pattern, name), fits, "{pattern} of {name}");
        }
    }

    #[test]
    fn a_hooks_allow_spares_the_default_question_but_no_rule() {
        let rules = Rules { ask: ["B"].into(), deny: ["C"].into(), ..Rules::default() };
        assert_eq!(decide(&rules, "A", Safety::default(), Wish::Allow), Decision::Allow);
        assert!(matches!(decide(&rules, "B", Safety::default(), Wish::Allow), Decision::Ask(_)));
        assert!(matches!(decide(&rules, "C", Safety::default(), Wish::Allow), Decision::Deny(_)));
    }

    #[test]
    fn what_a_tool_says_itself_stands_between_the_rules_that_deny_and_those_that_allow() {
        use Permission::{Allow, Ask, Deny, Unsaid};
        let rules = Rules {
            ask: ["B"].into(),
            deny: ["C"].into(),
            allow: ["D"].into(),
            ..Rules::default()
        };
        let (ask, deny) = (Ask("doubt".to_owned()), Deny("never".to_owned()));
        let of = |tool: &str, own: &Permission| {
            let (card, safety, wish) =
                (Card::new(tool.to_owned(), ""), Safety::default(), Wish::Allow);
            let wish = if tool == "A" { Wish::None } else { wish };
            match rules.decide(&Case { card: &card, safety, needs_user: false, own, wish: &wish }) {
                Decision::Allow => "allow".to_owned(),
                Decision::Ask(why) | Decision::Deny(why) => why,
            }
        };
        for (tool, own, decided) in [
            ("A", &Unsaid, "A may change something, and no rule allows it."),
            ("A", &Allow, "allow"),
            ("B", &Allow, "A rule asks before B."),
            ("C", &Allow, "Permission to use C has been denied."),
            ("D", &ask, "doubt"),
            ("D", &deny, "never"),
            ("C", &ask, "Permission to use C has been denied."),
        ] {
            assert_eq!(of(tool, own), decided, "{tool} {own:?}");
        }
    }

    #[test]
    fn a_rule_for_an_alias_counts() {
        let rules = Rules { deny: ["Old"].into(), ..Rules::allow_everything() };
        let card = Card::new("New", "").alias("Old");
        let (safety, wish) = (Safety::default(), Wish::None);
        let own = &Permission::Unsaid;
        let case = Case { card: &card, safety, needs_user: false, own, wish: &wish };
        let decision = rules.decide(&case);
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
            after.deny.whole.insert(more);
            let strict = |it: &Rules| match decide(it, &tool, Safety::default(), Wish::None) {
                Decision::Allow => 0,
                Decision::Ask(_) => 1,
                Decision::Deny(_) => 2,
            };
            prop_assert!(strict(&after) >= strict(&before));
        }
    }
}
