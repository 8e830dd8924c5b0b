//! Rules about commands, files and servers, as a real session carries them out.

use std::fs;
use std::path::Path;

use harness::{House, asked, texts};
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright::contract::{Family, Origin};
use toolwright::permissions::{Mode, Suggestion};
use toolwright::{
    Answer, AnyTool, BeforeAnswer, Card, Hook, Matcher, Otherwise, Question, Rules, SessionContext,
    ToolUse, tool,
};
use toolwright_actors::Config;

#[derive(Deserialize, schemars::JsonSchema)]
struct Command {
    command: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct File {
    #[expect(dead_code, reason = "rules read it")]
    file_path: String,
}

/// Tools that do nothing. What rules are about is on their cards; their names say nothing.
fn tools() -> [AnyTool; 4] {
    let of = |family, field| move |card: Card| card.about(family, field);
    let served = Origin::Mcp { server: "files".to_owned(), tool: "list".to_owned() };
    [
        tool("Shell", "Runs.")
            .card(of(Family::Command, "command"))
            .run(async |it: Command, _| Ok(format!("ran {}", it.command))),
        tool("Look", "Reads.")
            .card(of(Family::ReadPath, "file_path"))
            .read_only()
            .run(async |_: File, _| Ok("looked")),
        tool("Change", "Writes.")
            .card(of(Family::EditPath, "file_path"))
            .run(async |_: File, _| Ok("changed")),
        tool("mcp__files__list", "Lists.")
            .card(|it| it.origin(served))
            .run(async |_: Value, _| Ok("listed")),
    ]
}

fn shell(command: &str) -> ToolUse {
    ToolUse::new(command, "Shell", json!({"command": command}))
}

fn on(tool: &str, path: &Path) -> ToolUse {
    ToolUse::new(path.to_string_lossy().into_owned(), tool, json!({"file_path": path}))
}

async fn house_in(cwd: &Path, rules: Rules, change: impl FnOnce(&mut Config)) -> House {
    House::with_tools(tools(), |it| {
        it.context = SessionContext { cwd: cwd.to_owned(), ..SessionContext::default() };
        it.rules = rules.into();
        change(it);
    })
    .await
}

fn folder() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

/// What became of a call when nobody listens.
fn verdict(text: &str) -> &'static str {
    if text.contains("requires approval") {
        "ask"
    } else if text.contains("has been denied") {
        "deny"
    } else {
        "allow"
    }
}

async fn verdicts(house: &House, calls: impl IntoIterator<Item = ToolUse>) -> Vec<&'static str> {
    let results = house.run(calls).await;
    texts(&results).iter().map(|it| verdict(it)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_deny_beats_an_ask_and_an_ask_beats_an_allow_in_each_part_of_a_command() {
    let (_folder, cwd) = folder();
    let rules = Rules {
        deny: ["Bash(git push *)"].into(),
        ask: ["Bash(git commit *)", "Bash(git push --dry-run)"].into(),
        allow: ["Bash(git *)", "Bash(make)"].into(),
        ..Rules::default()
    };
    let house = house_in(&cwd, rules, |_| {}).await;
    let cases = [
        ("git fetch", "allow"),
        ("git commit -m x", "ask"),
        ("git push --dry-run", "deny"),
        ("git fetch && make", "allow"),
        ("git fetch && touch x", "ask"),
        ("make; git commit -m x", "ask"),
        ("git commit -m x | git push origin", "deny"),
        ("make $(git push origin)", "deny"),
        ("timeout 5 nice git push origin", "deny"),
        ("ls", "allow"),
        ("ls > .bashrc", "ask"),
        ("cat /etc/passwd", "ask"),
        ("git fetch '", "ask"),
    ];
    let told = verdicts(&house, cases.map(|it| shell(it.0))).await;
    assert_eq!(told, cases.map(|it| it.1), "{cases:?}");
    house.close().await;
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn a_path_is_allowed_by_what_it_is_and_leads_to_and_denied_by_either() {
    let ((_folder, cwd), (_other, outside)) = (folder(), folder());
    fs::create_dir(cwd.join("secret")).unwrap();
    for file in [cwd.join("plain"), cwd.join("secret/key"), outside.join("far")] {
        fs::write(file, "x").unwrap();
    }
    std::os::unix::fs::symlink(cwd.join("secret/key"), cwd.join("alias")).unwrap();
    std::os::unix::fs::symlink(outside.join("far"), cwd.join("away")).unwrap();
    std::os::unix::fs::symlink(&outside, cwd.join("out")).unwrap();
    let deny = ["Read(secret/**)"].into();
    let rules = || Rules { deny, ..Rules::default() };
    let house = house_in(&cwd, rules(), |_| {}).await;
    let cases = [
        ("plain", "allow"),
        ("secret/key", "deny"),
        ("./x/../secret/key", "deny"),
        ("alias", "deny"),
        ("away", "ask"),
        ("out/far", "ask"),
        ("../elsewhere", "ask"),
    ];
    let told = verdicts(&house, cases.map(|it| on("Look", &cwd.join(it.0)))).await;
    assert_eq!(told, cases.map(|it| it.1), "{cases:?}");
    // What may not be read may not be replaced, whatever the mode.
    house.session.set_mode(Mode::AcceptEdits);
    let changes = ["plain", "secret/key", "alias", "away", ".git/config"];
    let told = verdicts(&house, changes.map(|it| on("Change", &cwd.join(it)))).await;
    assert_eq!(told, ["allow", "deny", "deny", "ask", "ask"], "{changes:?}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_rule_about_a_server_is_about_its_tools_and_they_are_asked_about_without_one() {
    let list = || ToolUse::new("a", "mcp__files__list", json!({}));
    for (rules, told) in [
        (Rules::default(), "ask"),
        (Rules { allow: ["mcp__files"].into(), ..Rules::default() }, "allow"),
        (Rules { allow: ["mcp__other"].into(), ..Rules::default() }, "ask"),
        (Rules { deny: ["mcp__files__*"].into(), ..Rules::allow_everything() }, "deny"),
    ] {
        let house = House::with_tools(tools(), |it| it.rules = rules.clone().into()).await;
        assert_eq!(verdicts(&house, [list()]).await, [told], "{rules:?}");
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_where_the_mode_or_the_settings_say_so() {
    let (_folder, cwd) = folder();
    for denies in [false, true] {
        let rules = Rules { otherwise: Otherwise::Deny, ..Rules::default() };
        let house = house_in(&cwd, rules, |it| {
            if denies {
                let mut policy = Rules::default().compiled(&cwd);
                policy.denies_instead_of_prompting = true;
                it.rules = policy.into();
            }
        })
        .await;
        let mut questions = house.session.questions();
        let told = verdicts(&house, [shell("touch x"), shell("ls")]).await;
        assert_eq!(told, [if denies { "ask" } else { "deny" }, "allow"]);
        assert!(questions.try_recv().is_err(), "somebody was asked");
        house.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_input_that_a_hook_has_changed_is_decided_anew() {
    let (_folder, cwd) = folder();
    let hook = Hook::before("changes", Matcher::All, |_| async {
        let input = Some(json!({"command": "rm -r src"}));
        BeforeAnswer { input, ..BeforeAnswer::default() }
    });
    let rules =
        Rules { allow: ["Bash(make)"].into(), deny: ["Bash(rm *)"].into(), ..Rules::default() };
    let house = house_in(&cwd, rules, |it| it.hooks = vec![hook]).await;
    assert_eq!(verdicts(&house, [shell("make")]).await, ["deny"]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_input_that_a_person_has_written_is_held_to_what_is_denied_and_needs_no_second_yes() {
    let (_folder, cwd) = folder();
    let rules = Rules { deny: ["Bash(rm *)"].into(), ..Rules::default() };
    let house = house_in(&cwd, rules, |_| {}).await;
    let mut questions = house.session.questions();
    for (command, told) in [("rm -r src", "deny"), ("touch y", "allow")] {
        let turn = house.turn([shell("touch x")]).await;
        let ask = asked(&mut questions).await;
        house.session.answer(ask.request, Answer::AllowWith(json!({"command": command})));
        assert_eq!(verdict(&texts(&turn.finish().await)[0]), told, "{command}");
    }
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_mode_or_a_directory_that_changes_decides_open_questions_again() {
    let ((_folder, cwd), (_other, outside)) = (folder(), folder());
    let house = house_in(&cwd, Rules::default(), |_| {}).await;
    let mut questions = house.session.questions();
    let calls = [on("Look", &outside.join("x")), on("Change", &cwd.join("y")), shell("touch z")];
    for (call, changes) in calls.into_iter().zip(0..) {
        house.session.set_mode(Mode::Default);
        let turn = house.turn([call]).await;
        let ask = asked(&mut questions).await;
        match changes {
            0 => house.session.add_directory(&outside),
            1 => {
                assert_eq!(ask.suggestions, [Suggestion::Mode(Mode::AcceptEdits)]);
                house.session.set_mode(Mode::AcceptEdits);
            }
            _ => house.session.set_mode(Mode::DontAsk),
        }
        assert_eq!(questions.recv().await, Some(Question::Withdrawn(ask.request)));
        let told = texts(&turn.finish().await);
        assert_eq!(verdict(&told[0]), if changes < 2 { "allow" } else { "deny" }, "{told:?}");
    }
    house.close().await;
}
