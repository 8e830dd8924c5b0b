//! The pure part of the hook stage: how the answers of several hooks become one.

use serde_json::Value;

use super::{BeforeAnswer, HookDecision};

/// What hooks want of the permission stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Nothing in particular.
    #[default]
    None,
    /// Spare the default question.
    Allow,
    /// Ask, with this message.
    Ask(String),
}

/// The one answer of all hooks.
#[derive(Debug, PartialEq)]
pub(crate) enum Merged {
    /// Don't start the call.
    Deny(String),
    /// Go on to the permission stage.
    GoOn { wish: Wish, input: Option<Value>, conflict: bool, context: Vec<String> },
}

/// Deny beats ask beats allow, whatever the order; of several inputs the last configured one is
/// taken (contracts section 0, item 6).
pub(crate) fn merge(answers: impl IntoIterator<Item = BeforeAnswer>) -> Merged {
    let (mut wish, mut denied) = (Wish::None, None);
    let (mut inputs, mut input, mut context) = (0, None, Vec::new());
    for answer in answers {
        match (answer.decision, &wish) {
            (Some(HookDecision::Deny(why)), _) => denied = denied.or(Some(why)),
            (Some(HookDecision::Ask(why)), Wish::None | Wish::Allow) => wish = Wish::Ask(why),
            (Some(HookDecision::Allow), Wish::None) => wish = Wish::Allow,
            (Some(HookDecision::Ask(_) | HookDecision::Allow) | None, _) => {}
        }
        if let Some(it) = answer.input {
            inputs += 1;
            input = Some(it);
        }
        context.extend(answer.context);
    }
    match denied {
        Some(why) => Merged::Deny(why),
        None => Merged::GoOn { wish, input, conflict: inputs > 1, context },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn says(decision: HookDecision) -> BeforeAnswer {
        BeforeAnswer { decision: Some(decision), ..Default::default() }
    }

    fn any_answer() -> impl Strategy<Value = BeforeAnswer> {
        prop_oneof![
            Just(BeforeAnswer::default()),
            Just(says(HookDecision::Allow)),
            Just(says(HookDecision::Ask("ask".into()))),
            Just(says(HookDecision::Deny("deny".into()))),
        ]
    }

    proptest! {
        #[test]
        fn a_deny_wins_in_whatever_order(mut answers in prop::collection::vec(any_answer(), 0..6)) {
            let deny = answers.iter().any(|it| *it == says(HookDecision::Deny("deny".into())));
            prop_assert_eq!(matches!(merge(answers.clone()), Merged::Deny(_)), deny);
            let there = merge(answers.clone());
            answers.reverse();
            prop_assert_eq!(there, merge(answers));
        }
    }

    #[test]
    fn the_last_configured_input_is_taken_and_the_conflict_told() {
        let of = |n: u32| BeforeAnswer { input: Some(json!(n)), ..Default::default() };
        let Merged::GoOn { input, conflict, .. } = merge([of(1), of(2)]) else { panic!("denied") };
        assert_eq!((input, conflict), (Some(json!(2)), true));
    }

    #[test]
    fn an_ask_beats_an_allow() {
        let merged = merge([says(HookDecision::Allow), says(HookDecision::Ask("why".into()))]);
        let Merged::GoOn { wish, .. } = merged else { panic!("denied") };
        assert_eq!(wish, Wish::Ask("why".into()));
    }
}
