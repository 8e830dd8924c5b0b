//! Start records: a call that may change something starts only once its record is written.

use std::sync::{Arc, Mutex};

use harness::{House, OnStart, call, texts};
use serde_json::json;
use toolwright::{SessionLog, StartAck, StartRecord};
use toolwright_contract::{CallIx, Event, EventKind, HowEnded, TurnId};

/// A log in memory, which a test answers.
#[derive(Default)]
struct Notebook(Mutex<Vec<(StartRecord, StartAck)>>);

impl Notebook {
    fn log(self: &Arc<Self>) -> Option<Arc<dyn SessionLog>> {
        let notebook = self.clone();
        let note = move |record, ack| notebook.0.lock().unwrap().push((record, ack));
        Some(Arc::new(OnStart(note)))
    }

    fn take(&self) -> Option<(StartRecord, StartAck)> {
        self.0.lock().unwrap().pop()
    }

    async fn next(&self) -> (StartRecord, StartAck) {
        loop {
            if let Some(entry) = self.take() {
                return entry;
            }
            tokio::task::yield_now().await;
        }
    }
}

async fn with_notebook() -> (House, Arc<Notebook>) {
    let notebook = Arc::new(Notebook::default());
    (House::with(|it| it.log = notebook.log()).await, notebook)
}

fn at(events: &[Event], is_it: impl Fn(&EventKind) -> bool) -> Option<usize> {
    events.iter().position(|it| is_it(&it.kind))
}

#[tokio::test(start_paused = true)]
async fn a_call_that_writes_waits_for_its_record() {
    let (house, notebook) = with_notebook().await;
    let turn = house.turn([call("a", json!({"writes": true}))]).await;
    let (record, ack) = notebook.next().await;
    let (turn_id, tool, input) = (TurnId(0), "Scripted".into(), None);
    let expected = StartRecord { turn: turn_id, call: CallIx(0), id: "a".into(), tool, input };
    assert_eq!(record, expected);
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    ack.written();
    assert_eq!(turn.finish().await.ended, [HowEnded::Ok]);
    let events = house.close().await;
    let logged = at(&events, |it| matches!(it, EventKind::Logged { call: 0 })).unwrap();
    assert!(matches!(events[logged + 1].kind, EventKind::Started { call: 0 }));
    assert_eq!(events[logged].at_us, 60_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_only_reads_is_not_recorded() {
    let (house, notebook) = with_notebook().await;
    assert_eq!(house.run([call("a", json!({}))]).await.ended, [HowEnded::Ok]);
    assert!(notebook.take().is_none());
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_record_that_fails_or_is_forgotten_keeps_its_call_from_starting() {
    let (house, notebook) = with_notebook().await;
    for forgets in [false, true] {
        let turn = house.turn([call("a", json!({"writes": true}))]).await;
        let (_, ack) = notebook.next().await;
        let why = if forgets { "the journal gave no answer" } else { "disk full" };
        if forgets {
            drop(ack);
        } else {
            ack.failed("disk full");
        }
        let results = turn.finish().await;
        assert_eq!(results.ended, [HowEnded::Refused]);
        let told = format!("could not be recorded ({why}), so it was not started");
        assert!(texts(&results)[0].contains(&told), "{:?}", texts(&results));
    }
    let events = house.close().await;
    assert_eq!(at(&events, |it| matches!(it, EventKind::Started { .. })), None);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_hook_made_write_is_recorded_and_one_it_made_read_is_not() {
    let notebook = Arc::new(Notebook::default());
    let swap = toolwright::Hook::before(
        "swap",
        toolwright::Matcher::All,
        |call: toolwright::BeforeCall| {
            let input = json!({"writes": call.id.as_str() == "reads"});
            std::future::ready(toolwright::BeforeAnswer {
                input: Some(input),
                ..Default::default()
            })
        },
    );
    let house = House::with(|it| (it.log, it.hooks) = (notebook.log(), vec![swap])).await;
    let calls = [call("reads", json!({})), call("writes", json!({"writes": true}))];
    let turn = house.turn(calls).await;
    let (record, ack) = notebook.next().await;
    assert_eq!(record.id, "reads".into());
    assert_eq!(record.input, Some(json!({"writes": true})), "it runs with another input than came");
    ack.written();
    assert_eq!(turn.finish().await.ended, [HowEnded::Ok; 2]);
    assert!(notebook.take().is_none());
    house.close().await;
}
