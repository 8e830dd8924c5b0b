//! Properties: nothing panics, and what means the same is understood the same.

use proptest::prelude::*;
use toolwright_shell_analysis::{
    Display, Understanding, destruction, display, ending, is_read_only, may_change_directory,
    paths, polling, sed_edit, understand,
};

use crate::scripts::script;

/// Asks everything there is to ask; where something is in doubt, each answer is the careful one.
fn ask_all(it: &Understanding) {
    assert!(destruction(it).is_none_or(|it| !it.is_empty()));
    assert!(polling(it).is_none_or(|it| !it.advice().is_empty()));
    let careful = !is_read_only(it)
        && may_change_directory(it)
        && !paths(it).complete
        && display(it) == Display::Other
        && ending(it, 1).failed
        && sed_edit(it).is_none();
    assert!(it.is_full() || careful, "{it:?}");
    assert!(it.doubts.iter().all(|it| !it.to_string().is_empty()));
}

/// Text in which what has a meaning is frequent.
fn shellish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~\n\t]{1,4}",
        prop::sample::select(vec![
            "$(",
            "`",
            "${",
            "$((",
            "((",
            "[[",
            "]]",
            "<<E\n",
            "\nE\n",
            "<(",
            "'",
            "\"",
            "\\",
            ")",
            "}",
            "if ",
            "then ",
            "fi",
            "do ",
            "done",
            "case x in ",
            ";;",
            "esac",
            "eval ",
            "sh -c '",
            "find . -exec ",
            "xargs ",
            "env ",
            "sed -i s/",
            "for x in ",
            "{a,",
            "*",
            "~",
            "$x",
            "$'",
            "\\\n",
            "ä",
            "\u{200b}",
            "=",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|it| it.concat())
}

proptest! {
    #[test]
    fn nothing_panics_on_any_text(text in any::<String>()) {
        ask_all(&understand(&text));
    }

    #[test]
    fn nothing_panics_on_what_looks_like_a_script(text in shellish()) {
        let understanding = understand(&text);
        ask_all(&understanding);
        for command in &understanding.commands {
            prop_assert!(text.get(command.span.clone()).is_some(), "{:?}", command.span);
            for word in &command.words {
                prop_assert!(text.get(word.span.clone()).is_some());
                for it in &word.expansions {
                    prop_assert!(word.text.get(it.at.clone()).is_some());
                }
            }
        }
        for doubt in &understanding.doubts {
            prop_assert!(doubt.position <= text.len());
        }
    }

    #[test]
    fn a_literal_word_survives_any_quoting(word in "[a-zA-Z0-9 $`\"\\\\*?(){};&|<>#~!=-]{1,12}") {
        let single = format!("'{word}'");
        let escaped: String = word.chars().map(|it| format!("\\{it}")).collect();
        let double: String = word.chars().map(|it| match it {
            '$' | '`' | '"' | '\\' => format!("\\{it}"),
            other => other.to_string(),
        }).collect();
        for quoted in [single, escaped, format!("\"{double}\"")] {
            let understanding = understand(&format!("echo  {quoted} "));
            prop_assert!(understanding.is_full(), "{quoted}: {:?}", understanding.doubts);
            prop_assert_eq!(understanding.commands[0].words[1].literal(), Some(word.as_str()));
        }
    }

    #[test]
    fn blanks_and_continuations_change_nothing(words in prop::collection::vec("x[a-z]{0,3}", 1..5), blank in "[ \t]{1,3}|\\\\\n ") {
        let plain = understand(&words.join(" "));
        let spaced = understand(&format!("{blank}{}{blank}", words.join(&blank)));
        let texts = |it: &Understanding| {
            it.commands[0].words.iter().map(|it| it.text.clone()).collect::<Vec<_>>()
        };
        prop_assert_eq!(texts(&plain), texts(&spaced));
    }

    #[test]
    fn wrapping_keeps_every_program(wrappers in prop::collection::vec(0..WRAPPINGS.len(), 0..6)) {
        let mut text = "touch x".to_owned();
        for wrapper in wrappers {
            let (before, after, simple) = WRAPPINGS[wrapper];
            if simple && text.contains(['{', '(', ';', '|', '<', '&', '$', '\n', '!', '=']) {
                continue;
            }
            text = format!("{before}{text}{after}");
        }
        let understanding = understand(&text);
        prop_assert!(understanding.programs().any(|it| it == "touch"), "{text}");
        prop_assert!(!is_read_only(&understanding), "{text}");
    }

    #[test]
    fn a_command_beside_it_never_makes_it_read_only(seed in any::<u64>()) {
        let text = script(seed);
        let joined = understand(&format!("touch x\n{text}"));
        prop_assert!(!is_read_only(&joined));
        prop_assert_eq!(joined.programs().next(), Some("touch"));
    }
}

/// What stands before and after a command, and whether only a simple one may stand there.
const WRAPPINGS: [(&str, &str, bool); 24] = [
    ("( ", "\n)", false),
    ("{ ", "\n}", false),
    ("if true; then ", "\nfi", false),
    ("while ", "\ndo :; done", false),
    ("for i in 1; do ", "\ndone", false),
    ("case x in x) ", "\n;; esac", false),
    ("echo $( ", "\n)", false),
    ("echo \"$( ", "\n)\"", false),
    ("cat <( ", "\n)", false),
    ("ls && ", "", false),
    ("ls; ", "", false),
    ("ls | ", "", false),
    ("ls\n", "\nls", false),
    ("f() { ", "\n}", false),
    ("x=$( ", "\n)", false),
    ("FOO=1 ", "", true),
    ("timeout 5 ", "", true),
    ("env ", "", true),
    ("command ", "", true),
    ("sudo nice -n 3 ", "", true),
    (">/dev/null ", "", true),
    ("", " 2>&1", true),
    ("xargs -n 1 ", "", true),
    ("eval ", "", true),
];
