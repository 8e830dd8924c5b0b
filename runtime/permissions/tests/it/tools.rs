//! Rules about tools as a whole, parameters, web addresses, servers, agents and skills.

use serde_json::{Value, json};
use toolwright_permissions::{HookWord, Mode, Trust};

use crate::setting::{Setting, split};

fn check(rows: &[(&str, &str, Value, &str)]) {
    for (rules, tool, input, verdict) in rows {
        let found = Setting::default().decide(&split(rules), tool, input);
        assert_eq!(found.verdict.name(), *verdict, "{rules} | {tool} {input} | {}", found.reason);
    }
}

#[test]
fn deny_comes_before_ask_and_ask_before_allow_whatever_is_more_specific() {
    check(&[
        ("+Bash(aws s3 ls)  -Bash(aws *)", "Bash", json!({"command": "aws s3 ls"}), "deny"),
        ("+Bash(git *)  ?Bash(git push *)", "Bash", json!({"command": "git push x"}), "ask"),
        ("?Bash(git *)  -Bash(git push *)", "Bash", json!({"command": "git push x"}), "deny"),
        ("-*", "TodoWrite", json!({}), "deny"),
        ("+*", "Bash", json!({"command": "touch m"}), "ask"),
        ("-Bash(*)", "Bash", json!({"command": "ls"}), "deny"),
        ("-Bash", "Monitor", json!({"command": "ls"}), "deny"),
        ("+Task", "Agent", json!({}), "allow"),
        ("-Task", "Agent", json!({}), "deny"),
        ("-Agent", "Task", json!({}), "deny"),
        ("+Bash", "Вash", json!({"command": "ls"}), "ask"),
        ("", "TodoWrite", json!({}), "allow"),
        ("", "SomethingNew", json!({}), "ask"),
        ("+AskUserQuestion", "AskUserQuestion", json!({}), "ask"),
    ]);
}

#[test]
fn a_parameter_is_matched_in_what_was_sent() {
    let background = json!({"command": "make", "run_in_background": true});
    check(&[
        ("+Bash(make)  -Bash(run_in_background:true)", "Bash", background.clone(), "deny"),
        ("+Bash(make)  -Bash(run_in_background : t*)", "Bash", background, "deny"),
        ("+Bash(make)  -Bash(run_in_background:true)", "Bash", json!({"command": "make"}), "allow"),
        ("-Bash(command:rm *)", "Bash", json!({"command": "rm x"}), "ask"),
        ("-Agent(model:opus)", "Agent", json!({"model": "opus"}), "deny"),
        ("-Agent(model:opus)", "Agent", json!({"model": ["opus"]}), "allow"),
    ]);
}

#[test]
fn an_entry_that_cannot_be_read_never_loosens() {
    check(&[
        ("+Bash  -Bash(rm *", "Bash", json!({"command": "make"}), "ask"),
        ("+Bash  ?Bash(rm *", "Bash", json!({"command": "make"}), "ask"),
        ("+Bash(rm *", "Bash", json!({"command": "rm x"}), "ask"),
        ("-Bash(rm *", "Read", json!({"file_path": "a"}), "allow"),
        ("-Read([)", "Read", json!({"file_path": "a"}), "ask"),
    ]);
}

#[test]
fn addresses_are_matched_by_host() {
    let url = |it: &str| json!({"url": it, "prompt": "x"});
    let one = "+WebFetch(domain:example.com)";
    check(&[
        (one, "WebFetch", url("https://example.com/x"), "allow"),
        (one, "WebFetch", url("https://EXAMPLE.com.:8443/x"), "allow"),
        (one, "WebFetch", url("https://example.com.evil.test/"), "ask"),
        (one, "WebFetch", url("https://notexample.com/"), "ask"),
        (one, "WebFetch", url("https://evil.test/example.com"), "ask"),
        (one, "WebFetch", url("https://evil.test#@example.com"), "ask"),
        (one, "WebFetch", url("https://example.com@evil.test/"), "ask"),
        ("+WebFetch", "WebFetch", url("https://u:p@example.com/"), "ask"),
        ("+WebFetch", "WebFetch", url("https://example.com/"), "allow"),
        ("+WebFetch", "WebFetch", url("http://169.254.169.254/"), "ask"),
        ("+WebFetch(domain:*)", "WebFetch", url("http://127.1/"), "ask"),
        ("+WebFetch(domain:localhost)", "WebFetch", url("http://localhost:3000/"), "allow"),
        ("+WebFetch", "WebFetch", url("file:///etc/passwd"), "deny"),
        ("+WebFetch", "WebFetch", url("nothing"), "deny"),
        ("-WebFetch(domain:*)", "WebFetch", url("https://x.test/"), "deny"),
        (
            "+WebFetch  -WebFetch(domain:xn--bcher-kva.test)",
            "WebFetch",
            url("https://bücher.test/"),
            "deny",
        ),
    ]);
}

#[test]
fn a_server_is_named_in_full() {
    let none = || json!({});
    check(&[
        ("+mcp__git", "mcp__git__push", none(), "allow"),
        ("+mcp__git", "mcp__git2__push", none(), "ask"),
        ("+mcp__git", "mcp__git__evil__push", none(), "ask"),
        ("-mcp__git", "mcp__git__evil__push", none(), "deny"),
        ("+mcp__git__get_*", "mcp__git__get_x", none(), "allow"),
        ("+mcp__git__get_*", "mcp__git__delete", none(), "ask"),
        ("+mcp__*", "mcp__git__push", none(), "ask"),
        ("-mcp__*", "mcp__git__push", none(), "deny"),
        ("", "mcp__git__get", none(), "ask"),
    ]);
}

#[test]
fn skills_and_agents_are_named() {
    check(&[
        ("+Skill(commit)", "Skill", json!({"skill": "commit"}), "allow"),
        ("+Skill(commit)", "Skill", json!({"skill": "commit", "args": "x"}), "ask"),
        ("+Skill(commit *)", "Skill", json!({"skill": "commit", "args": "x"}), "allow"),
        ("+Skill  -Skill(commit)", "Skill", json!({"skill": "commit", "args": "x"}), "deny"),
        ("-Agent(Explore)", "Agent", json!({"subagent_type": "Explore"}), "deny"),
        ("-Agent(Explore)", "Agent", json!({"subagent_type": "Plan"}), "allow"),
        ("-Agent(general-purpose)", "Agent", json!({}), "deny"),
    ]);
}

#[test]
fn an_input_of_another_shape_is_asked_about() {
    for input in [json!({"command": ["ls"]}), json!({}), json!(null), json!("ls")] {
        for mode in [Mode::Default, Mode::BypassPermissions] {
            assert_eq!(Setting::mode(mode).verdict(&["+Bash"], "Bash", &input), "ask", "{input}");
        }
    }
}

#[test]
fn a_hook_never_lifts_a_rule() {
    let with = |hook| Setting { hook, ..Setting::default() };
    let (allow, ask) = (HookWord::Allow, HookWord::Ask("why".into()));
    let deny = HookWord::Deny("why".into());
    assert_eq!(with(allow.clone()).bash(&[], "touch m"), "allow");
    assert_eq!(with(allow.clone()).bash(&["?Bash(touch *)"], "touch m"), "ask");
    assert_eq!(with(allow.clone()).bash(&["-Bash(touch *)"], "touch m"), "deny");
    assert_eq!(with(allow.clone()).bash(&["+Bash"], "rm -rf /"), "ask");
    assert_eq!(with(allow).bash(&[], "touch .zshrc"), "ask");
    assert_eq!(with(ask.clone()).bash(&["+Bash"], "touch m"), "ask");
    assert_eq!(with(ask).bash(&["-Bash"], "touch m"), "deny");
    assert_eq!(with(deny).bash(&["+Bash"], "touch m"), "deny");
}

#[test]
fn a_project_that_is_not_trusted_denies_and_allows_nothing() {
    let setting = Setting { trust: Trust::Untrusted, ..Setting::default() };
    assert_eq!(setting.bash(&["+Bash"], "touch m"), "ask");
    assert_eq!(setting.bash(&["+Bash", "-Bash(touch *)"], "touch m"), "deny");
}
