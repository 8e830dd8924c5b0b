//! A process that is killed while it writes its journal loses nothing that it was promised.
//!
//! No effect comes twice either, and each call has one result, which is true.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use toolwright_contract::{Event, EventKind, HowEnded, history};
use toolwright_journal::{CallAt, FILE_NAME, HEADER_BYTES, Header, Record, Scanner, Step};

const PROGRAM: &str = env!("CARGO_BIN_EXE_journal-under-test");
/// Kills of one session; as many for each durability.
const KILLS: u64 = 60;

/// Starts the process and kills it after so many lines. Gives what it acknowledged: the number of
/// each record, and its digest.
fn live(folder: &Path, durability: &str, lines: u64) -> Vec<(u64, String)> {
    let mut command = Command::new(PROGRAM);
    let command = command.arg(folder).arg(durability).stdout(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let mut output = BufReader::new(child.stdout.take().expect("is piped"));
    let mut told = Vec::new();
    let mut next = |told: &mut Vec<_>| {
        let mut line = String::new();
        let is_whole = output.read_line(&mut line).expect("is read") > 0 && line.ends_with('\n');
        if let Some((number, digest)) = line.trim_end().split_once(' ').filter(|_| is_whole) {
            let number = number.parse().expect("a number");
            told.push((number, serde_json::from_str(digest).expect("a digest")));
        }
        is_whole
    };
    for _ in 0..lines {
        assert!(next(&mut told), "the process ended by itself");
    }
    child.kill().expect("is killed");
    // It was ahead of us.
    while next(&mut told) {}
    child.wait().expect("ends");
    told
}

/// All records of a journal whose tail may be torn, by number.
fn records(folder: &Path) -> Vec<(Record, String)> {
    let bytes = std::fs::read(folder.join(FILE_NAME)).expect("is there");
    let header = Header::decode(&bytes).expect("a journal");
    let mut scanner = Scanner::new(&bytes[HEADER_BYTES..], header);
    let mut records = Vec::new();
    loop {
        match scanner.step().expect("reads") {
            Step::Frame(frame) => records.extend(frame.records().map(|raw| {
                let sum = raw
                    .payload
                    .iter()
                    .fold(0_u64, |sum, it| sum.wrapping_mul(31).wrapping_add(u64::from(*it)));
                let digest = format!("{}:{}:{sum}", raw.kind, raw.payload.len());
                (Record::decode(raw, 0).expect("parses").expect("is known"), digest)
            })),
            Step::End | Step::Torn(_) => return records,
            Step::Corrupt(corrupt) => panic!("{corrupt}"),
        }
    }
}

/// How each call was told to have ended; panics if one was told twice.
fn endings(records: &[(Record, String)]) -> BTreeMap<CallAt, HowEnded> {
    let mut endings = BTreeMap::new();
    for (record, _) in records {
        if let Record::Event { run, event } = record
            && let EventKind::Emitted { call, ended, .. } = event.kind
        {
            let at = CallAt { run: *run, turn: event.turn, call };
            assert_eq!(endings.insert(at, ended), None, "{at:?} was answered twice");
        }
    }
    endings
}

fn effects(folder: &Path) -> BTreeSet<CallAt> {
    let text = std::fs::read_to_string(folder.join("effects")).unwrap_or_default();
    let mut effects = BTreeSet::new();
    for line in text.lines() {
        let numbers: Vec<u32> = line.split(' ').map(|it| it.parse().expect("a number")).collect();
        let [run, turn, call] = numbers[..] else { panic!("{line}") };
        let at = CallAt { run, turn: toolwright_contract::TurnId(turn), call };
        assert!(effects.insert(at), "{at:?} took effect twice");
    }
    effects
}

fn kill_often(durability: &str, seed: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut acknowledged = Vec::new();
    let mut random = seed;
    for kill in 0..KILLS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        // Every third is killed while it recovers, as far as that takes any records.
        let lines = (random >> 33) % if kill % 3 == 0 { 6 } else { 70 };
        acknowledged.extend(live(folder, durability, lines));
    }
    // The last one lives long enough to have recovered.
    acknowledged.extend(live(folder, durability, 40));
    let records = records(folder);
    for (number, digest) in acknowledged {
        let found = usize::try_from(number).ok().and_then(|it| records.get(it));
        let found = found.map(|(_, digest)| digest);
        assert_eq!(found, Some(&digest), "record {number} of {}, seed {seed}", records.len());
    }
    check_calls(folder, &records);
}

fn check_calls(folder: &Path, records: &[(Record, String)]) {
    let endings = endings(records);
    let effects = effects(folder);
    let last = records.iter().rev().find_map(|it| match &it.0 {
        Record::Opened(it) => Some(it.run),
        _ => None,
    });
    for (record, _) in records {
        if let Record::Call(came) = record
            && Some(came.at.run) != last
        {
            let ended = endings.get(&came.at);
            let took_effect = effects.contains(&came.at);
            match ended {
                None => panic!("{:?} has no result", came.at),
                Some(HowEnded::StoppedNotStarted) => {
                    assert!(!took_effect, "{:?} took effect and is told not to", came.at);
                }
                Some(HowEnded::Ok) => assert!(took_effect || came.at.call % 2 == 1),
                Some(_) => {}
            }
        }
    }
    let mut runs = BTreeMap::<u32, Vec<Event>>::new();
    for (record, _) in records {
        if let Record::Event { run, event } = record {
            runs.entry(*run).or_default().push(event.clone());
        }
    }
    for (run, events) in runs.iter().filter(|(run, _)| Some(**run) != last) {
        let breaches = history::check(events);
        assert!(breaches.is_empty(), "run {run}: {breaches:?}");
    }
}

#[test]
fn a_process_that_is_killed_again_and_again_loses_nothing_that_was_handed_over() {
    kill_often("none", 1);
}

#[test]
fn a_process_that_is_killed_between_syncs_loses_nothing_that_was_handed_over() {
    kill_often("batch", 2);
}

#[test]
fn a_process_that_is_killed_while_it_syncs_loses_nothing_that_was_synced() {
    kill_often("always", 3);
}
