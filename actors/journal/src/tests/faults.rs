//! Every file operation fails once, and from then on: nothing that was acknowledged is lost.

use super::sim::{Fault, SimDisk};
use super::story::{Story, open, records};
use crate::record::Record;
use crate::{Durability, Policy};

/// ENOSPC, EIO, EACCES, EMFILE.
const ERRORS: [i32; 4] = [28, 5, 13, 24];

/// A session of two turns, the second of them left open.
fn story() -> Vec<Record> {
    let mut story = Story::new(1);
    story.turn(0).write(0).emitted(0).finished(1);
    story.turn(1).read(0).accepted(1, false).cleared(1, false).start(1, false);
    story.records.split_off(1)
}

/// Writes the story as far as it goes, closes, opens again and recovers. Gives what was
/// acknowledged.
async fn live(disk: &SimDisk, durability: Durability) -> Vec<Record> {
    let mut acknowledged = Vec::new();
    for _ in 0..2 {
        let Ok(opened) = open(disk, durability) else { continue };
        let mut records = story();
        if opened.recovered.records > 0 {
            let mut recovered = opened.recovered;
            records = recovered.settle(Policy::default());
        }
        for record in records {
            // What follows a record that was refused goes on.
            if opened.journal.append(record.clone()).await.is_ok() {
                acknowledged.push(record);
            }
        }
        opened.journal.close().await;
    }
    acknowledged
}

fn check(disk: &SimDisk, acknowledged: &[Record], what: &str) {
    let found = records(disk);
    let mut rest = found.iter().filter(|it| !matches!(it, Record::Opened(_)));
    for record in acknowledged {
        assert!(rest.any(|it| it == record), "{what}: lost, or out of order: {record:?}");
    }
    for (at, record) in found.iter().enumerate() {
        let again = found[at + 1..].contains(record);
        assert!(!again, "{what}: twice: {record:?}");
    }
}

async fn loop_over(
    durability: Durability,
    short: Option<usize>,
    errors: &[i32],
    power: bool,
) -> u64 {
    let mut deepest = 0;
    for &errno in errors {
        for for_ever in [false, true] {
            for at in 1.. {
                let what = format!("{durability:?} {short:?} {errno} at {at} for ever: {for_ever}");
                let disk = SimDisk::default();
                if let Some(bytes) = short {
                    disk.write_short(bytes);
                }
                disk.fail(Fault { at, for_ever, errno });
                let acknowledged = live(&disk, durability).await;
                let struck = disk.heal();
                if power {
                    disk.power_failure(at as usize % 90);
                }
                check(&disk, &acknowledged, &what);
                let opened = open(&disk, durability);
                let opened = opened.unwrap_or_else(|it| panic!("{what}: does not open: {it}"));
                opened.journal.close().await;
                if !struck {
                    deepest = deepest.max(at);
                    break;
                }
            }
        }
    }
    deepest
}

#[tokio::test]
async fn no_fault_loses_an_acknowledged_record_or_keeps_the_file_from_opening() {
    let runs = [
        (Durability::None, Some(120), &ERRORS[..1]),
        (Durability::Batch, None, &ERRORS[1..2]),
        (Durability::Always, None, &ERRORS[..]),
    ];
    for (durability, short, errors) in runs {
        let operations = loop_over(durability, short, errors, false).await;
        assert!(operations > 40, "the loop ended at {operations}");
    }
}

#[tokio::test]
async fn no_fault_before_a_power_failure_loses_a_record_that_was_synced() {
    loop_over(Durability::Always, Some(120), &ERRORS[1..2], true).await;
}
