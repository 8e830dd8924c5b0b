//! Sessions with a journal: what is written, what waits for it, and what a resumed session is owed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use harness::{House, Scripted, call};
use serde_json::json;
use toolwright::journal::{
    CallAt, Durability, FILE_NAME, HEADER_BYTES, Header, Policy, Record, Resume, Scanner, Step,
};
use toolwright::{
    Answer, Came, HandOut, KeptResult, Question, Resumed, Rules, Runtime, SessionBuilder,
    SessionLog, SetupError, StartAck, StartRecord,
};
use toolwright_contract::{AnyTool, Event, EventKind, HowEnded, StageName, TurnId, history};

const NAME: &str = "s";

fn builder(data: &Path) -> SessionBuilder {
    let runtime = Runtime::builder().tools([AnyTool::new(Scripted::new())]).build().unwrap();
    let session = runtime.session().rules(Rules::allow_everything());
    session.journal_in(data, NAME, Durability::None)
}

fn file(data: &Path) -> PathBuf {
    data.join(NAME).join(FILE_NAME)
}

fn records(data: &Path) -> Vec<Record> {
    let bytes = std::fs::read(file(data)).unwrap();
    let mut scanner = Scanner::new(&bytes[HEADER_BYTES..], Header::decode(&bytes).unwrap());
    let mut records = Vec::new();
    loop {
        match scanner.step().unwrap() {
            Step::Frame(frame) => {
                records.extend(frame.records().map(|it| Record::decode(it, 0).unwrap().unwrap()));
            }
            Step::End => return records,
            Step::Torn(_) | Step::Corrupt(_) => panic!("the journal is damaged"),
        }
    }
}

/// What a record is, in a word.
fn name(record: &Record) -> String {
    match record {
        Record::Event { event, .. } => {
            let event = serde_json::to_value(event).unwrap();
            event["event"].as_str().unwrap().to_owned()
        }
        Record::Opened(_) => "OPENED".into(),
        Record::Call(_) => "CALL".into(),
        Record::Start(_) => "START".into(),
        Record::Result(_) => "RESULT".into(),
        Record::Task(_) | Record::Mode(_) => "OTHER".into(),
    }
}

/// A session of which another data folder has the first bytes of the journal, as after a kill.
fn killed(data: &Path, bytes: usize) -> tempfile::TempDir {
    let killed = tempfile::tempdir().unwrap();
    std::fs::create_dir(killed.path().join(NAME)).unwrap();
    let whole = std::fs::read(file(data)).unwrap();
    std::fs::write(file(killed.path()), &whole[..bytes.min(whole.len())]).unwrap();
    killed
}

/// The same once the file has a record of this name.
async fn killed_after(data: &Path, last: &str) -> tempfile::TempDir {
    loop {
        let killed = killed(data, usize::MAX);
        if records(killed.path()).iter().any(|it| name(it) == last) {
            return killed;
        }
        tokio::task::yield_now().await;
    }
}

/// Finishes all turns and gives each result that the host gets, in its order: by run, turn and id.
/// Checks that what is emitted and what is given in the end are the same.
async fn settle(resumed: Resumed) -> BTreeMap<(u32, TurnId, String), String> {
    let mut all = BTreeMap::new();
    for mut turn in resumed.turns {
        let (run, number, mut results) = (turn.run, turn.turn, turn.handed_out.clone());
        let mut emitted = turn.emitted();
        let finished = turn.finish().await.unwrap();
        while let Ok(result) = emitted.try_recv() {
            results.push(result);
        }
        assert_eq!(results, finished.results);
        assert_eq!(results.len(), finished.ended.len());
        for it in results {
            let key = (run, number, it.id.as_str().to_owned());
            assert_eq!(all.insert(key, it.content.text()), None, "a result came twice");
        }
    }
    resumed.session.shutdown().await;
    all
}

/// Checks that every call of a journal was answered once, and that no history is broken.
fn check(records: &[Record]) {
    let mut emitted = BTreeMap::<CallAt, usize>::new();
    let mut runs = BTreeMap::<u32, Vec<Event>>::new();
    for record in records {
        match record {
            Record::Call(came) => drop(emitted.entry(came.at).or_default()),
            Record::Event { run, event } => {
                runs.entry(*run).or_default().push(event.clone());
                if let EventKind::Emitted { call, .. } = event.kind {
                    let at = CallAt { run: *run, turn: event.turn, call };
                    *emitted.entry(at).or_default() += 1;
                }
            }
            _ => {}
        }
    }
    let wrong: Vec<_> = emitted.iter().filter(|it| *it.1 != 1).collect();
    assert!(wrong.is_empty(), "not answered once: {wrong:?}");
    for (run, events) in runs {
        let breaches = history::check(&events);
        assert!(breaches.is_empty(), "run {run}: {breaches:?}");
    }
}

#[tokio::test]
async fn a_journal_has_a_call_from_its_input_to_its_emission_in_the_order_of_its_life() {
    let data = tempfile::tempdir().unwrap();
    let house = House::of(builder(data.path()).start().await.unwrap());
    house.run([call("a", json!({"writes": true}))]).await;
    house.close().await;
    let names: Vec<_> = records(data.path()).iter().map(name).collect();
    // The end of the message may come anywhere.
    let names: Vec<_> = names.iter().filter(|it| *it != "sealed").map(String::as_str).collect();
    assert_eq!(
        names.join(" "),
        "OPENED turn_opened CALL accepted gated cleared START logged started returned RESULT \
         stored emitted turn_finished"
    );
}

#[tokio::test]
async fn a_session_that_is_killed_anywhere_owes_each_call_one_result_and_tells_the_truth() {
    let data = tempfile::tempdir().unwrap();
    let house = House::of(builder(data.path()).start().await.unwrap());
    let first = [
        call("a", json!({"say": "one"})),
        call("b", json!({"yields": 3, "note": "a note"})),
        call("c", json!({"writes": true, "say": "three"})),
        call("d", json!({"fail": "no"})),
        call("e", json!({"chars": 60_000})),
    ];
    let whole = house.run(first).await;
    house.run([call("a", json!({"writes": true})), call("z", json!({}))]).await;
    house.close().await;
    let texts: BTreeMap<_, _> =
        whole.results.iter().map(|it| (it.id.as_str().to_owned(), it.content.text())).collect();
    let length = std::fs::metadata(file(data.path())).unwrap().len();
    for cut in (HEADER_BYTES..usize::try_from(length).unwrap() + 97).step_by(97) {
        let killed = killed(data.path(), cut);
        let before =
            match toolwright::journal::read(&toolwright::journal::RealDisk, &file(killed.path())) {
                Ok(reading) => reading.recovered,
                Err(error) => panic!("cut at {cut}: {error}"),
            };
        let started: Vec<_> = before.turns.iter().flat_map(|it| &it.calls).collect();
        let started: BTreeMap<_, _> =
            started.iter().map(|it| (it.at, it.start.is_some())).collect();
        let resumed = builder(killed.path()).resume(Policy::default()).await.unwrap();
        let given = settle(resumed).await;
        let records = records(killed.path());
        check(&records);
        for ((run, turn, id), text) in &given {
            let came = records.iter().find_map(|it| match it {
                Record::Call(came) if came.at.turn == *turn && came.id.as_str() == id => Some(came),
                _ => None,
            });
            let at = came.map_or(CallAt { run: *run, turn: *turn, call: 0 }, |it| it.at);
            if *turn == TurnId(0) && text.contains("lost this call") {
                let may_have_run = text.contains("is unknown");
                assert!(may_have_run || !started[&at], "cut at {cut}: {id} had its start record");
            } else if *turn == TurnId(0) {
                // Its folder is another one.
                assert_eq!(text[..10.min(text.len())], texts[id][..10.min(text.len())]);
            }
        }
        let again = builder(killed.path()).resume(Policy::default()).await.unwrap();
        assert_eq!(settle(again).await, given, "cut at {cut}: given again as it was");
        check(&self::records(killed.path()));
    }
}

#[tokio::test]
async fn an_open_question_is_asked_again_until_it_is_answered_and_its_call_runs_once() {
    let data = tempfile::tempdir().unwrap();
    let asking = |data: &Path| builder(data).rules(Rules::default());
    let session = asking(data.path()).start().await.unwrap();
    let mut questions = session.questions();
    let mut turn = session.turn().await.unwrap();
    turn.submit(call("r", json!({"say": "read"}))).await.unwrap();
    turn.submit(call("w", json!({"writes": true, "say": "written"}))).await.unwrap();
    let Some(Question::Asked(_)) = questions.recv().await else { panic!("nobody asked") };
    drop(killed_after(data.path(), "emitted").await);
    let mut folder = killed_after(data.path(), "asking").await;
    turn.stopper().discard();
    turn.finish().await;
    session.shutdown().await;
    for _ in 0..3 {
        // Killed while it asks again, it asks again.
        let resumed = asking(folder.path()).resume(Policy::default()).await.unwrap();
        let mut questions = resumed.session.questions();
        let [turn] = <[_; 1]>::try_from(resumed.turns).unwrap();
        let finishing = tokio::spawn(turn.finish());
        let Some(Question::Asked(ask)) = questions.recv().await else { panic!("nobody asked") };
        assert_eq!((ask.id.as_str(), &*ask.tool), ("w", "Scripted"));
        let asked = records(folder.path()).iter().filter(|it| name(it) == "asking").count();
        let next = loop {
            let next = killed(folder.path(), usize::MAX);
            if records(next.path()).iter().filter(|it| name(it) == "asking").count() > asked {
                break next;
            }
            if asked > 1 {
                break next;
            }
            tokio::task::yield_now().await;
        };
        finishing.abort();
        resumed.session.shutdown().await;
        folder = next;
    }
    let resumed = asking(folder.path()).resume(Policy::default()).await.unwrap();
    let mut questions = resumed.session.questions();
    let session = resumed.session.clone();
    let answering = async move {
        let Some(Question::Asked(ask)) = questions.recv().await else { panic!("nobody asked") };
        session.answer(ask.request, Answer::Allow);
    };
    let (given, ()) = tokio::join!(settle(resumed), answering);
    let texts: Vec<_> = given.values().map(String::as_str).collect();
    assert_eq!(texts, ["read", "written"]);
    let records = records(folder.path());
    check(&records);
    assert_eq!(records.iter().filter(|it| name(it) == "START").count(), 1);
}

#[tokio::test]
async fn a_call_that_had_not_started_is_run_where_the_policy_says_so() {
    let data = tempfile::tempdir().unwrap();
    let session = builder(data.path()).rules(Rules::default()).start().await.unwrap();
    let mut questions = session.questions();
    let mut turn = session.turn().await.unwrap();
    turn.submit(call("w", json!({"alone": true, "writes": true}))).await.unwrap();
    turn.submit(call("x", json!({"writes": true, "say": "later"}))).await.unwrap();
    let Some(Question::Asked(_)) = questions.recv().await else { panic!("nobody asked") };
    let folder = killed_after(data.path(), "asking").await;
    drop(turn);
    session.shutdown().await;
    let policy = Policy { not_started: Resume::Run, asked: Resume::Answer, ..Policy::default() };
    let given = settle(builder(folder.path()).resume(policy).await.unwrap()).await;
    let texts: Vec<_> = given.values().collect();
    assert!(texts[0].contains("lost this call"), "{texts:?}");
    assert_eq!(texts[1], "later");
    check(&records(folder.path()));
}

#[tokio::test]
async fn a_session_is_begun_once_and_open_once_and_only_what_is_there_is_resumed() {
    let data = tempfile::tempdir().unwrap();
    let missing = builder(data.path()).resume(Policy::default()).await.unwrap_err();
    assert_eq!(missing, SetupError::NoSuchSession(NAME.into()));
    let session = builder(data.path()).start().await.unwrap();
    let second = builder(data.path()).resume(Policy::default()).await.unwrap_err();
    assert_eq!(second, SetupError::SessionInUse(NAME.into()));
    session.shutdown().await;
    let again = builder(data.path()).start().await.unwrap_err();
    assert_eq!(again, SetupError::SessionExists(NAME.into()));
    settle(builder(data.path()).resume(Policy::default()).await.unwrap()).await;
    let bad = builder(data.path()).journal_in(data.path(), "../x", Durability::None);
    assert!(matches!(bad.start().await, Err(SetupError::SessionName(_))));
}

/// A log that can't write results, and holds emissions back.
#[derive(Default)]
struct Stubborn(Mutex<Vec<HandOut>>);

impl SessionLog for Stubborn {
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn came(&self, _: Came<'_>) {}

    fn event(&self, _: &Event) {}

    fn emitted(&self, _: &Event, out: HandOut) {
        self.0.lock().unwrap().push(out);
    }

    fn start(&self, _: StartRecord, ack: StartAck) {
        ack.written();
    }

    fn kept(&self, kept: KeptResult) {
        kept.failed("disk full");
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_can_not_be_written_stands_and_the_session_says_so_once() {
    let log = Arc::new(Stubborn::default());
    let held = log.clone();
    let house = House::with(|it| it.log = Some(log)).await;
    let mut turn = house.turn([call("a", json!({})), call("b", json!({}))]).await;
    let mut results = turn.emitted();
    turn.seal();
    while held.0.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert!(results.try_recv().is_err(), "it is handed out once its emission is written");
    // Whichever is acknowledged first, they come in order.
    let second = held.0.lock().unwrap().pop();
    drop(second);
    assert!(results.try_recv().is_err());
    held.0.lock().unwrap().clear();
    assert_eq!(turn.finish().await.ended, [HowEnded::Ok; 2]);
    let order: Vec<_> = std::iter::from_fn(|| results.try_recv().ok()).map(|it| it.id).collect();
    assert_eq!(order, ["a".into(), "b".into()]);
    let failed = |it: &Event| {
        let EventKind::StageFailed { stage: StageName::Journal, why, .. } = &it.kind else {
            return false;
        };
        why == "disk full"
    };
    assert_eq!(house.close().await.iter().filter(|it| failed(it)).count(), 1);
}
