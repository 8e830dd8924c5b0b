//! Which tools a turn has: those that were on offer when it was opened.

use harness::{House, Scripted, call, texts};
use serde_json::json;
use toolwright::{AnyTool, Registry};

#[tokio::test(start_paused = true)]
async fn a_turn_keeps_the_tools_that_it_was_opened_with() {
    let house = House::open().await;
    let mut before = house.session.turn().await.unwrap();
    house.session.set_tools(Registry::default());
    before.submit(call("a", json!({}))).await.unwrap();
    assert_eq!(texts(&before.finish().await), ["ran"]);

    let gone = house.run([call("b", json!({}))]).await;
    assert!(texts(&gone)[0].contains("No such tool available: Scripted"), "{:?}", texts(&gone));

    house.session.set_tools(Registry::new([AnyTool::new(Scripted::new())]).unwrap());
    assert_eq!(texts(&house.run([call("c", json!({}))]).await), ["ran"]);
    house.close().await;
}
