//! Laws: denies only tighten, order means nothing, disguises and broken entries loosen nothing.

use proptest::prelude::*;
use serde_json::json;
use toolwright_permissions::Mode;

use crate::setting::Setting;

const RULES: [&str; 22] = [
    "+Bash",
    "+Bash(ls *)",
    "+Bash(touch *)",
    "+Bash(git *)",
    "+Bash(* m)",
    "+Edit",
    "+Edit(**)",
    "+Read(//**)",
    "-Bash(touch *)",
    "-Bash(rm:*)",
    "-Bash(git push *)",
    "-Read(.env)",
    "-Edit(m)",
    "-Bash",
    "?Bash(git *)",
    "?Bash(touch m)",
    "?Read(x/**)",
    "-Bash(touch",
    "?Edit([)",
    "-*",
    "+Write",
    "-Bash(run_in_background:true)",
];

const COMMANDS: [&str; 16] = [
    "ls",
    "touch m",
    "rm -rf build",
    "git push x",
    "git status",
    "cat .env",
    "ls > m",
    "cat x/a",
    "cd sub && touch m",
    "rm -rf /",
    "$x m",
    "touch",
    "cp .env m",
    "echo $(touch m)",
    "make",
    "ls 'x",
];

const MODES: [Mode; 6] = [
    Mode::Default,
    Mode::AcceptEdits,
    Mode::Plan,
    Mode::Auto,
    Mode::DontAsk,
    Mode::BypassPermissions,
];

fn strictness(mode: Mode, rules: &[&str], command: &str) -> u8 {
    let input = json!({"command": command});
    Setting::mode(mode).decide(rules, "Bash", &input).verdict.strictness()
}

fn rules() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(RULES.as_slice()), 0..6)
}

fn command() -> impl Strategy<Value = &'static str> {
    prop::sample::select(COMMANDS.as_slice())
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(MODES.as_slice())
}

/// Ways of running the same command. What only a simple command can follow isn't put before others.
fn disguised(command: &str, how: u8) -> String {
    let is_simple = !["(", "{", "!", "if ", "for ", "A="].iter().any(|it| command.starts_with(it));
    let how = if is_simple { how % 14 } else { how % 8 };
    match how {
        0 => format!("( {command} )"),
        1 => format!("{{ {command}; }}"),
        2 => format!("true && {command}"),
        3 => format!("! {command}"),
        4 => format!("echo \"$({command})\""),
        5 => format!("if true; then {command}; fi"),
        6 => format!("for i in 1; do {command}; done"),
        7 => format!("cat <({command})"),
        8 => format!("timeout 9 {command}"),
        9 => format!("env A=1 {command}"),
        10 => format!("A=1 {command}"),
        11 => format!("nohup nice {command}"),
        12 => format!("sudo {command}"),
        _ => format!("{command} > /dev/null"),
    }
}

proptest! {
    #[test]
    fn one_more_deny_or_ask_never_allows_more(
        rules in rules(), more in prop::sample::select(RULES.as_slice()), command in command(), mode in mode(),
    ) {
        let more = if more.starts_with('+') { "-Bash(ls *)" } else { more };
        let mut after = rules.clone();
        after.push(more);
        prop_assert!(strictness(mode, &after, command) >= strictness(mode, &rules, command));
    }

    #[test]
    fn one_more_allow_never_lifts_a_deny(
        rules in rules(), more in prop::sample::select(RULES.as_slice()), command in command(), mode in mode(),
    ) {
        let more = if more.starts_with('+') { more } else { "+Bash(touch *)" };
        let mut after = rules.clone();
        after.push(more);
        // In this mode a deny may be an ask that nobody is asked.
        if mode != Mode::DontAsk && strictness(mode, &rules, command) == 2 {
            prop_assert_eq!(strictness(mode, &after, command), 2);
        }
    }

    #[test]
    fn the_order_of_rules_means_nothing(
        (rules, shuffled) in rules().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
        command in command(), mode in mode(),
    ) {
        let input = json!({"command": command});
        let of = |rules: &[&str]| Setting::mode(mode).decide(rules, "Bash", &input);
        prop_assert_eq!(of(&rules), of(&shuffled));
    }

    #[test]
    fn a_denied_command_in_any_disguise_is_not_allowed(
        disguises in prop::collection::vec(any::<u8>(), 0..4), mode in mode(),
    ) {
        let command = disguises.iter().fold("touch m".to_owned(), |it, how| disguised(&it, *how));
        prop_assert!(strictness(mode, &["+Bash", "-Bash(touch *)"], &command) > 0, "{}", command);
    }

    #[test]
    fn a_text_that_is_no_rule_loosens_nothing(
        rules in rules(), text in "\\PC{0,12}", sign in "[-?]", command in command(), mode in mode(),
    ) {
        let broken = format!("{sign}{text}");
        let mut after = rules.clone();
        after.push(&broken);
        prop_assert!(strictness(mode, &after, command) >= strictness(mode, &rules, command));
    }

    #[test]
    fn blanks_and_quotes_change_no_verdict(
        rules in rules(), command in command(), mode in mode(), blanks in 1_usize..4,
    ) {
        prop_assume!(!command.contains(['\'', '$', '>']));
        let wide = command.replace(' ', &" ".repeat(blanks));
        let (program, rest) = command.split_once(' ').unwrap_or((command, ""));
        let expected = strictness(mode, &rules, command);
        for other in [wide, format!("\"{program}\" {rest}"), format!("\\{program} {rest}")] {
            prop_assert_eq!(strictness(mode, &rules, &other), expected, "{}", other);
        }
    }

    #[test]
    fn no_text_is_too_odd_to_decide_about(command in "\\PC{0,60}", mode in mode()) {
        let verdict = Setting::mode(mode).bash(&["+Bash(ls *)", "-Bash(rm *)", "-Read(.env)"], &command);
        prop_assert!(["allow", "ask", "deny"].contains(&verdict));
    }
}
