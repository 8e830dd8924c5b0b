//! Answers that last, and what a yes is a yes to.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use harness::{House, asked, call_of, texts};
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright::contract::Family;
use toolwright::permissions::Suggestion;
use toolwright::settings::{CommandLine, Locations, PlatformFolders, SavedRules, load};
use toolwright::{Answer, AnyTool, Ask, Lasting, Question, Rules, SessionContext, ToolUse, tool};
use toolwright_contract::HowEnded::{Ok, Refused};

#[derive(Deserialize, schemars::JsonSchema)]
struct Command {
    #[expect(dead_code, reason = "rules read it")]
    command: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct File {
    #[expect(dead_code, reason = "rules read it")]
    file_path: String,
}

fn tools() -> [AnyTool; 2] {
    [
        tool("Shell", "Runs.")
            .card(|it| it.about(Family::Command, "command"))
            .run(async |_: Command, _| Result::Ok("ran")),
        tool("Change", "Writes.")
            .card(|it| it.about(Family::EditPath, "file_path"))
            .run(async |_: File, _| Result::Ok("changed")),
    ]
}

fn shell(command: &str) -> ToolUse {
    call_of("Shell", command, json!({"command": command}))
}

async fn house_in(cwd: &Path, keeper: Option<SavedRules>) -> House {
    House::with_tools(tools(), |it| {
        it.context = SessionContext { cwd: cwd.to_owned(), ..SessionContext::default() };
        it.rules = Rules::default().into();
        it.keeper = keeper.map(|it| Arc::new(it) as _);
    })
    .await
}

fn from_now(ask: &Ask, lasting: Lasting) -> Answer {
    Answer::AllowFromNow(ask.suggestions[0].clone(), lasting)
}

#[tokio::test(start_paused = true)]
async fn a_yes_for_the_session_spares_the_same_question_and_clears_what_is_open_like_it() {
    let folder = tempfile::tempdir().unwrap();
    let house = house_in(folder.path(), None).await;
    let mut questions = house.session.questions();
    let turn = house.turn([shell("git push a"), shell("touch x")]).await;
    let first = asked(&mut questions).await;
    let rules = Suggestion::Allow(vec!["Bash(git push *)".to_owned()]);
    assert_eq!(first.suggestions, [rules]);
    house.session.answer(first.request, from_now(&first, Lasting::Session));
    let second = asked(&mut questions).await;
    house.session.answer(second.request, Answer::Allow);
    assert_eq!(turn.finish().await.ended, [Ok, Ok]);
    while house.session.policy().rules.entries().count() == 0 {
        tokio::task::yield_now().await;
    }
    // Other rules leave it as it is; a deny comes first all the same.
    house.session.set_rules(Rules::default());
    assert_eq!(house.run([shell("git push b")]).await.ended, [Ok]);
    house.session.set_rules(Rules { deny: ["Bash(git push c)"].into(), ..Rules::default() });
    let ended = house.run([shell("git push b"), shell("git push c")]).await.ended;
    assert_eq!(ended, [Ok, Refused]);
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_yes_for_always_is_kept_and_counts_in_the_next_session() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = folder.path().canonicalize().unwrap();
    let (nowhere, line) = (PlatformFolders::default(), CommandLine::default());
    let locations = Locations::of(&cwd, &nowhere, line);
    let file = cwd.join(".claude/settings.local.json");
    fs::create_dir(cwd.join(".claude")).unwrap();
    fs::write(&file, r#"{"other": 1}"#).unwrap();
    let house = house_in(&cwd, Some(SavedRules::of(&locations))).await;
    let mut questions = house.session.questions();
    let turn = house.turn([shell("git push a")]).await;
    let ask = asked(&mut questions).await;
    house.session.answer(ask.request, from_now(&ask, Lasting::Always));
    assert_eq!(turn.finish().await.ended, [Ok]);
    while house.session.tasks() > 0 {
        tokio::task::yield_now().await;
    }
    house.close().await;
    let kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(kept, json!({"other": 1, "permissions": {"allow": ["Bash(git push *)"]}}));
    let next = house_in(&cwd, None).await;
    next.session.set_rules(load(&locations).policy(None).0);
    assert_eq!(next.run([shell("git push b")]).await.ended, [Ok]);
    next.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_yes_for_always_that_cannot_be_kept_counts_for_the_session_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let house = house_in(folder.path(), None).await;
    let mut questions = house.session.questions();
    let turn = house.turn([shell("git push a")]).await;
    let ask = asked(&mut questions).await;
    house.session.answer(ask.request, from_now(&ask, Lasting::Always));
    let told = questions.recv().await;
    assert!(matches!(told, Some(Question::NotKept(request, _)) if request == ask.request));
    assert_eq!(turn.finish().await.ended, [Ok]);
    assert_eq!(house.run([shell("git push b")]).await.ended, [Ok]);
    house.close().await;
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn a_yes_to_a_path_is_none_to_where_it_leads_by_then() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("file");
    let house = house_in(folder.path(), None).await;
    let mut questions = house.session.questions();
    let change = || call_of("Change", "a", json!({"file_path": path}));
    for swaps in [false, true] {
        let turn = house.turn([change()]).await;
        let ask = asked(&mut questions).await;
        if swaps {
            std::os::unix::fs::symlink(other.path().join("file"), &path).unwrap();
        }
        house.session.answer(ask.request, Answer::Allow);
        let results = turn.finish().await;
        assert_eq!(results.ended, [if swaps { Refused } else { Ok }]);
        assert_eq!(texts(&results)[0].contains("has changed"), swaps);
    }
    house.close().await;
}
