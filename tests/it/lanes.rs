//! Who may overlap with whom, and for how long a turn takes.

use harness::{House, call, ids};
use serde_json::json;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn safe_calls_overlap_and_unsafe_calls_do_not() {
    let house = House::open().await;
    let started = Instant::now();
    let results = house.run((0..5).map(|i| call(&i.to_string(), json!({"ms": 100})))).await;
    assert_eq!(
        (started.elapsed().as_millis(), ids(&results)),
        (100, vec!["0", "1", "2", "3", "4"])
    );

    let started = Instant::now();
    let alone = json!({"ms": 100, "alone": true, "writes": true});
    let results = house.run((0..5).map(|i| call(&i.to_string(), alone.clone()))).await;
    assert_eq!((started.elapsed().as_millis(), results.results.len()), (500, 5));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_failing_call_that_cascades_stops_its_siblings_at_once() {
    let house = House::open().await;
    let started = Instant::now();
    let results = house
        .run([
            call("a", json!({"ms": 10, "fail": "exit 1", "cascades": true, "writes": true})),
            call("b", json!({"ms": 10_000})),
            call("c", json!({"ms": "x"})),
            call("d", json!({"ms": 5, "alone": true})),
        ])
        .await;
    assert_eq!(started.elapsed().as_millis(), 10);
    let told = harness::texts(&results);
    assert_eq!(told[0], "exit 1");
    assert!(told[1].contains("Scripted(exit 1) errored. This call had started"), "{}", told[1]);
    assert!(told[2].contains("InputValidationError: Scripted failed"), "{}", told[2]);
    assert!(told[3].contains("This call had not started"), "{}", told[3]);
    let events = house.close().await;
    assert!(!events.is_empty());
}
