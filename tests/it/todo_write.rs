//! The list of things to do: what the model reads, and what the session keeps.

use harness::{House, texts};
use serde_json::json;
use toolwright::{Registry, ToolUse, built_in_tools};

async fn house() -> House {
    House::with(|config| config.tools = Registry::new(built_in_tools()).unwrap()).await
}

fn todos(status: &str, content: &str) -> serde_json::Value {
    json!({"todos": [{"content": content, "status": status, "activeForm": "Doing it"}]})
}

#[tokio::test(start_paused = true)]
async fn the_last_list_of_a_message_is_the_list() {
    let house = house().await;
    let calls = [
        ToolUse::new("a", "TodoWrite", todos("pending", "Do it")),
        ToolUse::new("b", "TodoWrite", todos("completed", "Do it")),
    ];
    let results = house.run(calls).await;
    assert_eq!(
        texts(&results),
        [
            "The list is updated: 1 pending, 0 in progress, 0 completed.",
            "The list is updated: 0 pending, 0 in progress, 1 completed.",
        ]
    );
    assert_eq!(house.session.context().values["todos"][0]["status"], "completed");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_thing_without_words_is_refused_and_the_list_stays() {
    let house = house().await;
    let calls = [
        ToolUse::new("a", "TodoWrite", todos("pending", "Do it")),
        ToolUse::new("b", "TodoWrite", todos("pending", " ")),
        ToolUse::new("c", "TodoWrite", todos("done", "Do it")),
    ];
    let results = house.run(calls).await;
    let told = texts(&results);
    assert!(told[1].contains("todos[0].content is empty"), "{}", told[1]);
    assert!(told[2].contains("`todos[0].status`"), "{}", told[2]);
    assert_eq!(house.session.context().values["todos"][0]["content"], "Do it");
    house.close().await;
}
