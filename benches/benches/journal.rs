//! The journal: what a record costs under each durability, and how long a long one takes to recover.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]

use std::fs::File;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde::de::IgnoredAny;
use serde_json::json;
use toolwright::contract::{
    CascadeName, EVENT_VERSION, Event, EventKind, HowEnded, ToolResult, TurnId, VerdictName,
};
use toolwright_benches::{Noop, noops, run, runtime, session_with};
use toolwright_journal::{
    CallAt, CallCame, Durability, FILE_NAME, HEADER_BYTES, Header, Input, Journal, Kept, Opened,
    Options, RealDisk, Record, Scanner, SessionName, Starting, Step, read,
};

/// Calls of the long journal, in turns of 10, every other of which writes.
const CALLS: u32 = 100_000;
/// Records appended at once, as by the calls of one message.
const TOGETHER: usize = 1_000;

fn open(folder: &Path, durability: Durability) -> Journal {
    let opened =
        Opened { run: 0, at_ms: 0, event_version: EVENT_VERSION, process: None, cwd: None };
    let session = SessionName::new("bench").expect("a good name");
    let options = Options { durability, ..Options::new(folder.to_owned(), session, opened) };
    Journal::open(options).expect("opens").journal
}

/// The records of a call's whole life.
fn life(turn: u32, call: u32, seq: &mut u64, put: &mut impl FnMut(Record)) {
    let at = CallAt { run: 1, turn: TurnId(turn), call };
    let id = toolwright::contract::ToolUseId::from(format!("toolu_01{turn:08}{call:08}"));
    let (read_only, tool) = (call % 2 == 1, "Probe".to_owned());
    let input = json!({"path": format!("src/module_{call}.rs"), "pattern": "fn [a-z_]+"});
    put(Record::Call(CallCame {
        at,
        id: id.clone(),
        tool: tool.clone(),
        input: Input::Json(input),
        carries_on: None,
    }));
    let mut event = |kind, put: &mut dyn FnMut(Record)| {
        put(Record::Event { run: 1, event: Event { seq: *seq, at_us: *seq, turn: at.turn, kind } });
        *seq += 1;
    };
    let exclusive = !read_only;
    let accepted =
        EventKind::Accepted { call, id: id.clone(), tool: tool.clone(), exclusive, read_only };
    event(accepted, put);
    event(EventKind::Gated { call }, put);
    event(EventKind::Cleared { call, exclusive, read_only }, put);
    if !read_only {
        let id = id.clone();
        put(Record::Start(Starting { at, id, tool, input: None, idempotent: false }));
        event(EventKind::Logged { call }, put);
    }
    event(EventKind::Started { call }, put);
    event(EventKind::Returned { call, verdict: VerdictName::Ok, cascades: false }, put);
    let content = "a line of output\n".repeat(12).into();
    let result = ToolResult { id: id.clone(), content, is_error: false };
    put(Record::Result(Kept::of(at, &result, HowEnded::Ok)));
    event(EventKind::Stored { call, spilled: None }, put);
    event(EventKind::Emitted { call, id, ended: HowEnded::Ok, is_error: false }, put);
}

/// A journal of so many calls whose last turn is open.
fn write_long(folder: &Path) {
    let (journal, tokio) = (open(folder, Durability::None), runtime());
    tokio.block_on(async {
        let mut seq = 0;
        for turn in 0..CALLS / 10 {
            let mut records = Vec::new();
            let (version, cascade) = (EVENT_VERSION, CascadeName::Declared);
            let opened = EventKind::TurnOpened { version, parent: None, cascade, width: 10 };
            let event = Event { seq, at_us: seq, turn: TurnId(turn), kind: opened };
            records.push(Record::Event { run: 1, event });
            seq += 1;
            for call in 0..10 {
                life(turn, call, &mut seq, &mut |it| records.push(it));
            }
            if turn + 1 < CALLS / 10 {
                let kind = EventKind::TurnFinished { calls: 10 };
                let event = Event { seq, at_us: seq, turn: TurnId(turn), kind };
                records.push(Record::Event { run: 1, event });
                seq += 1;
            }
            for record in records {
                journal.note(record).await.expect("is taken");
            }
        }
        journal.flush().await.expect("is written");
        journal.close().await;
    });
}

fn recovery(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    write_long(folder.path());
    let path = folder.path().join(FILE_NAME);
    let bytes = std::fs::read(&path).expect("reads");
    let recovered = read(&RealDisk, &path).expect("reads").recovered;
    assert_eq!((recovered.finished_turns, recovered.turns.len()), (u64::from(CALLS / 10) - 1, 1));
    let mut group = criterion.benchmark_group("recover 100,000 calls");
    group.sample_size(10).throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("journal", |it| it.iter(|| read(&RealDisk, &path).expect("reads")));
    group.bench_function("floor: frames alone", |it| it.iter(|| walk(&path, |_| {})));
    group.bench_function("floor: frames and JSON skipped", |it| {
        it.iter(|| {
            walk(&path, |payload| {
                black_box(serde_json::from_slice::<IgnoredAny>(payload).expect("is JSON"));
            });
        });
    });
    group.finish();
}

fn walk(path: &Path, mut each: impl FnMut(&[u8])) {
    use std::io::Read as _;
    let mut file = File::open(path).expect("opens");
    let mut header = [0; HEADER_BYTES];
    file.read_exact(&mut header).expect("reads");
    let mut scanner = Scanner::new(file, Header::decode(&header).expect("a journal"));
    while let Step::Frame(frame) = scanner.step().expect("reads") {
        frame.records().for_each(|it| each(it.payload));
    }
}

fn appending(criterion: &mut Criterion) {
    let tokio = runtime();
    let mut records = Vec::new();
    life(0, 0, &mut 0, &mut |it| records.push(it));
    let start = records.iter().find(|it| matches!(it, Record::Start(_))).expect("has one").clone();
    let lengths = records.iter().map(|it| it.encode().expect("is JSON").2.len());
    let (count, bytes) = (records.len(), lengths.sum::<usize>());
    assert!(bytes < 4_096, "a call's life has {count} records of {bytes} bytes");
    for (name, durability) in
        [("none", Durability::None), ("batch", Durability::Batch), ("always", Durability::Always)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = open(folder.path(), durability);
        let mut group = criterion.benchmark_group(format!("append, {name}"));
        group.sample_size(20);
        group.bench_function("one start record, waited for", |it| {
            it.to_async(&tokio).iter(|| async {
                journal.append(start.clone()).await.expect("is written");
            });
        });
        group.bench_function("1,000 start records at once", |it| {
            it.to_async(&tokio).iter_batched(
                || vec![start.clone(); TOGETHER],
                |records| async {
                    let acks: Vec<_> =
                        records.into_iter().map(|it| journal.try_append(it)).collect();
                    for ack in acks {
                        ack.expect("has room").await.expect("is written");
                    }
                },
                BatchSize::LargeInput,
            );
        });
        group.bench_function("the life of a call, noted", |it| {
            it.to_async(&tokio).iter_batched(
                || records.clone(),
                |records| async {
                    for record in records {
                        journal.note(record).await.expect("is taken");
                    }
                },
                BatchSize::SmallInput,
            );
        });
        floor(&mut group, folder.path(), &start, durability);
        group.finish();
        tokio.block_on(journal.close());
    }
}

/// The bare write, and the bare sync where that is promised.
fn floor(
    group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>,
    folder: &Path,
    start: &Record,
    durability: Durability,
) {
    let payload = start.encode().expect("is JSON").2;
    let mut file = File::create(folder.join("floor")).expect("opens");
    group.bench_function("floor: one bare write of it", |it| {
        it.iter(|| {
            file.write_all(&payload).expect("writes");
            if durability == Durability::Always {
                file.sync_data().expect("syncs");
            }
        });
    });
}

/// A turn of reads that do nothing, by a session that writes it all down and by one that doesn't.
fn sessions(criterion: &mut Criterion) {
    let tokio = runtime();
    let folder = tempfile::tempdir().expect("a folder");
    let mut group = criterion.benchmark_group("a turn of 1,000 reads");
    group.sample_size(20);
    let journals = [
        ("without a journal", None),
        ("none", Some(Durability::None)),
        ("batch", Some(Durability::Batch)),
        ("always", Some(Durability::Always)),
    ];
    for (name, durability) in journals {
        let session = tokio.block_on(session_with(Noop, |it| match durability {
            Some(durability) => it.journal_in(folder.path(), name, durability),
            None => it,
        }));
        group.bench_function(name, |it| {
            it.to_async(&tokio).iter_batched(
                || noops(TOGETHER),
                |calls| async { run(&session, calls).await.results.len() },
                BatchSize::LargeInput,
            );
        });
        tokio.block_on(session.shutdown());
    }
    group.finish();
}

criterion_group!(journal, recovery, appending, sessions);
criterion_main!(journal);
