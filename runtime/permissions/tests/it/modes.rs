//! Modes: what each lets start, and how a decision is explained.

use std::path::Path;

use serde_json::{Value, json};
use toolwright_permissions::{
    Call, Case, Classifier, HookWord, Mode, NoLinks, Places, Reason, RuleSet, Suggestion, Trust,
    Verdict, decide, explain,
};

use crate::setting::{Setting, entries};

#[test]
fn each_mode_lets_its_calls_start() {
    use Mode::{AcceptEdits, Auto, BypassPermissions, Default, DontAsk, Plan};
    let command = |it: &str| ("Bash", json!({"command": it}));
    let write = |it: &str| ("Write", json!({"file_path": it}));
    let read = |it: &str| ("Read", json!({"file_path": it}));
    let modes = [Default, AcceptEdits, Plan, Auto, DontAsk, BypassPermissions];
    for ((tool, input), rules, verdicts) in [
        (command("ls"), "", "allow allow allow allow allow allow"),
        (command("make"), "", "ask ask ask ask deny allow"),
        (command("make"), "+Bash(make)", "allow allow ask allow allow allow"),
        (command("make"), "+Bash", "allow allow ask ask allow allow"),
        (command("make"), "?Bash(make)", "ask ask ask ask deny ask"),
        (command("make"), "-Bash(make)", "deny deny deny deny deny deny"),
        (command("mkdir a"), "", "ask allow ask ask deny allow"),
        (read("/w/app/a"), "", "allow allow allow allow allow allow"),
        (read("/etc/a"), "", "ask ask ask ask deny allow"),
        (write("/w/app/a"), "", "ask allow ask ask deny allow"),
        (write("/w/app/a"), "+Edit", "ask allow ask ask deny allow"),
        (write("/w/app/a"), "+Write", "allow allow ask allow allow allow"),
        (write("/w/app/.npmrc"), "+Write", "ask ask ask ask deny allow"),
        (("AskUserQuestion", json!({})), "", "ask ask ask ask deny ask"),
    ] {
        let rules: Vec<&str> = rules.split("  ").filter(|it| !it.is_empty()).collect();
        let found = modes.map(|mode| Setting::mode(mode).verdict(&rules, tool, &input));
        assert_eq!(found.join(" "), verdicts, "{rules:?} {tool} {input}");
    }
}

struct Fixed(Option<bool>);

impl Classifier for Fixed {
    fn judge(&self, _: &Call<'_>, _: &Reason) -> Option<(bool, String)> {
        Some((self.0?, "judged".to_owned()))
    }
}

fn with_case<T>(
    rules: &[&str],
    mode: Mode,
    classifier: Option<&dyn Classifier>,
    input: &Value,
    then: impl Fn(&Case<'_>) -> T,
) -> T {
    let places = Places::new(Path::new("/w/app"), None, &NoLinks);
    let (rules, _) = RuleSet::compile(entries(rules), Trust::Trusted, &NoLinks);
    let call = Call::by_name("Bash", input, &places, &NoLinks);
    let (call, rules, places) = (&call, &rules, &places);
    then(&Case { call, rules, mode, places, hook: &HookWord::None, classifier })
}

#[test]
fn a_classifier_decides_what_a_person_would_and_nothing_else() {
    for (rules, judged, verdict) in [
        ("", Some(true), "allow"),
        ("", Some(false), "deny"),
        ("", None, "ask"),
        ("+Bash", Some(false), "deny"),
        ("?Bash(make)", Some(true), "ask"),
        ("-Bash(make)", Some(true), "deny"),
    ] {
        let rules: Vec<&str> = rules.split("  ").filter(|it| !it.is_empty()).collect();
        let input = json!({"command": "make"});
        let found = with_case(&rules, Mode::Auto, Some(&Fixed(judged)), &input, decide);
        assert_eq!(found.verdict.name(), verdict, "{rules:?} {judged:?}");
    }
}

#[test]
fn a_decision_tells_how_it_came_about() {
    let input = json!({"command": "ls | make; touch m"});
    let (_, steps) = with_case(&["+Bash(make *)"], Mode::Default, None, &input, explain);
    insta::assert_snapshot!(steps.join("\n"), @r"
    no deny rule is about it
    nothing has it asked in every mode
    no protected path is written
    `ls`: allowed: it only reads, within the working directories
    `make`: allowed: the allow rule `Bash(make *)` of project settings (/w/app/.claude/settings.json)
    `touch m`: not allowed: no rule allows `touch m`
    neither a rule nor the mode default allows it: no rule allows `touch m`
    ask: no rule allows `touch m`
    ");
}

#[test]
fn a_question_offers_the_rules_that_would_spare_it() {
    let input = json!({"command": "git push origin main && make && ls && rm x"});
    let found = with_case(&[], Mode::Default, None, &input, decide);
    let rules = ["Bash(git push *)", "Bash(make)", "Bash(rm x)"].map(str::to_owned).to_vec();
    assert_eq!(found.verdict, Verdict::Ask(vec![Suggestion::Allow(rules.clone())]));
    let signed: Vec<String> = rules.iter().map(|it| format!("+{it}")).collect();
    let signed: Vec<&str> = signed.iter().map(String::as_str).collect();
    assert_eq!(with_case(&signed, Mode::Default, None, &input, decide).verdict, Verdict::Allow);
}
