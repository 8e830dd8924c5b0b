//! What an acknowledgement promises, and what a disk that fails does to it.

use std::borrow::Cow;
use std::sync::{Arc, mpsc};

use serde_json::json;

use super::sim::{Fault, SimDisk};
use super::story::{Story, open, opened, options, path, records};
use crate::record::{Mode, Record};
use crate::{
    AppendError, Durability, Journal, OpenError, Options, QUEUE_ROOM, Redact, SYNC_BYTES,
    SessionName,
};

const ENOSPC: i32 = 28;
const EIO: i32 = 5;
const EACH: [Durability; 3] = [Durability::None, Durability::Batch, Durability::Always];

fn mode(n: usize) -> Record {
    Record::Mode(Mode { mode: format!("mode {n}") })
}

fn fail_from(at: u64, errno: i32) -> Fault {
    Fault { at, for_ever: true, errno }
}

#[tokio::test]
async fn an_acknowledged_record_survives_the_process_under_each_durability() {
    for durability in EACH {
        let disk = SimDisk::default();
        let opened = open(&disk, durability).unwrap();
        for n in 0..5 {
            let position = opened.journal.append(mode(n)).await.unwrap();
            assert_eq!(position.record, n as u64 + 1);
            assert_eq!(records(&disk)[n + 1], mode(n));
        }
        opened.journal.close().await;
    }
}

#[tokio::test]
async fn an_acknowledged_record_survives_a_power_failure_if_it_was_synced() {
    for kept in [0, 1, 20, 40] {
        let disk = SimDisk::default();
        let opened = open(&disk, Durability::Always).unwrap();
        for n in 0..5 {
            opened.journal.append(mode(n)).await.unwrap();
        }
        disk.power_failure(kept);
        assert_eq!(records(&disk).len(), 6);
    }
    let disk = SimDisk::default();
    let opened = open(&disk, Durability::None).unwrap();
    opened.journal.append(mode(0)).await.unwrap();
    opened.journal.flush().await.unwrap();
    opened.journal.append(mode(1)).await.unwrap();
    disk.power_failure(0);
    assert_eq!(records(&disk).len(), 2, "a flush syncs under any durability, and nothing after it");
}

#[tokio::test]
async fn a_batch_is_synced_by_itself_once_it_is_large() {
    let disk = SimDisk::default();
    let opened = open(&disk, Durability::Batch).unwrap();
    let long = |n: usize| Record::Mode(Mode { mode: "x".repeat(SYNC_BYTES as usize / 2 + n) });
    for n in 0..2 {
        opened.journal.append(long(n)).await.unwrap();
    }
    // The writer syncs after it has answered; its next answer comes after that.
    opened.journal.append(mode(0)).await.unwrap();
    disk.power_failure(0);
    assert_eq!(records(&disk)[1..3], [long(0), long(1)]);
}

#[tokio::test]
async fn what_waits_together_is_synced_once() {
    let disk = SimDisk::default();
    let opened = open(&disk, Durability::Always).unwrap();
    let before = disk.syncs();
    // The writer is held up by the first reply until the others are in the queue.
    let (go, held) = mpsc::channel::<()>();
    opened.journal.append_then(mode(0), move |_| held.recv().unwrap());
    let acks: Vec<_> = (1..100).map(|n| opened.journal.try_append(mode(n)).unwrap()).collect();
    go.send(()).unwrap();
    for ack in acks {
        ack.await.unwrap();
    }
    // The first may have taken some of the others along.
    assert!(disk.syncs() - before <= 2, "{} syncs", disk.syncs() - before);
    assert_eq!(records(&disk).len(), 101);
}

#[tokio::test]
async fn a_full_queue_says_that_it_is_busy_or_makes_its_caller_wait() {
    let disk = SimDisk::default();
    let opened = open(&disk, Durability::None).unwrap();
    let journal = opened.journal;
    let (go, held) = mpsc::channel::<()>();
    let (holds, is_held) = tokio::sync::oneshot::channel();
    let stall = move |_| {
        holds.send(()).unwrap();
        held.recv().unwrap();
    };
    journal.append_then(mode(0), stall);
    is_held.await.unwrap();
    for n in 0..QUEUE_ROOM as usize {
        journal.append_then(mode(n), |it| assert!(it.is_ok()));
    }
    assert_eq!(journal.try_append(mode(0)).unwrap_err(), AppendError::Busy);
    let (tell, told) = mpsc::channel();
    journal.append_then(mode(0), move |it| tell.send(it).unwrap());
    assert_eq!(told.try_recv(), Ok(Err(AppendError::Busy)));
    let mut ready = Box::pin(journal.ready());
    assert!(futures_poll(ready.as_mut()).await.is_pending());
    // What follows from what has its room needs none, and is written in its order.
    let (tell, follows) = tokio::sync::oneshot::channel();
    journal.append_at_once(mode(8), move |it| tell.send(it).unwrap());
    let waiting = journal.append(mode(9));
    tokio::pin!(waiting);
    // It waits: nothing that could let it go has happened.
    let now = futures_poll(waiting.as_mut()).await;
    assert!(now.is_pending());
    go.send(()).unwrap();
    assert_eq!(follows.await.unwrap().unwrap().record, u64::from(QUEUE_ROOM) + 2);
    assert_eq!(waiting.await.unwrap().record, u64::from(QUEUE_ROOM) + 3);
    ready.await;
}

async fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
    let mut future = Some(future);
    std::future::poll_fn(move |cx| std::task::Poll::Ready(future.take().unwrap().poll(cx))).await
}

#[tokio::test]
async fn a_full_disk_refuses_records_until_there_is_space() {
    for durability in EACH {
        let disk = SimDisk::default();
        let opened = open(&disk, durability).unwrap();
        opened.journal.append(mode(0)).await.unwrap();
        disk.fail(Fault { at: 1, for_ever: false, errno: ENOSPC });
        let told = opened.journal.append(mode(1)).await.unwrap_err();
        assert!(matches!(told, AppendError::NotWritten(_)), "{told}");
        assert!(disk.heal());
        opened.journal.append(mode(2)).await.unwrap();
        assert_eq!(records(&disk)[1..], [mode(0), mode(2)]);
    }
}

#[tokio::test]
async fn a_disk_that_fills_in_the_middle_of_a_record_leaves_none_of_it() {
    let disk = SimDisk::default();
    let opened = open(&disk, Durability::None).unwrap();
    let length = disk.bytes(&path()).len();
    disk.write_short(10);
    disk.fail(Fault { at: 3, for_ever: false, errno: ENOSPC });
    let told = opened.journal.append(mode(0)).await.unwrap_err();
    assert!(matches!(told, AppendError::NotWritten(_)), "{told}");
    assert_eq!(disk.bytes(&path()).len(), length);
    disk.heal();
    opened.journal.append(mode(1)).await.unwrap();
    assert_eq!(records(&disk)[1..], [mode(1)]);
}

#[tokio::test]
async fn a_tail_that_can_not_be_cut_ends_the_journal_and_the_next_open_cuts_it() {
    let disk = SimDisk::default();
    let opened = open(&disk, Durability::None).unwrap();
    disk.write_short(10);
    disk.fail(fail_from(2, EIO));
    let told = opened.journal.append(mode(0)).await.unwrap_err();
    assert!(matches!(told, AppendError::Broken(_)), "{told}");
    disk.heal();
    let told = opened.journal.append(mode(1)).await.unwrap_err();
    assert!(matches!(told, AppendError::Broken(_)), "{told}");
    opened.journal.close().await;
    let again = open(&disk, Durability::None).unwrap();
    assert_eq!(again.torn.map(|it| it.bytes), Some(10));
    assert_eq!(again.journal.run(), 2);
}

#[tokio::test]
async fn a_sync_that_failed_is_never_tried_again() {
    let disk = SimDisk::default();
    let opened = open(&disk, Durability::Always).unwrap();
    disk.fail(Fault { at: 2, for_ever: false, errno: EIO });
    let told = opened.journal.append(mode(0)).await.unwrap_err();
    assert!(matches!(told, AppendError::Broken(_)), "{told}");
    assert!(disk.heal());
    let syncs = disk.syncs();
    for n in 1..4 {
        let told = opened.journal.append(mode(n)).await.unwrap_err();
        assert!(matches!(told, AppendError::Broken(_)), "{told}");
    }
    assert!(matches!(opened.journal.flush().await, Err(AppendError::Broken(_))));
    opened.journal.close().await;
    assert_eq!(disk.syncs(), syncs);
}

#[tokio::test]
async fn short_writes_and_signals_are_gone_through() {
    for durability in EACH {
        let disk = SimDisk::default();
        disk.write_short(3);
        disk.interrupt();
        let opened = open(&disk, durability).unwrap();
        opened.journal.append(mode(0)).await.unwrap();
        opened.journal.close().await;
        assert_eq!(records(&disk)[1..], [mode(0)]);
        assert!(open(&disk, durability).unwrap().torn.is_none());
    }
}

#[tokio::test]
async fn a_session_is_open_once_and_free_when_its_journal_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionName::new("s").unwrap();
    let options = || Options::new(folder.path().join("a/s"), session.clone(), opened());
    let first = Journal::open(options()).unwrap();
    assert!(matches!(Journal::open(options()), Err(OpenError::InUse)));
    first.journal.append(mode(0)).await.unwrap();
    first.journal.close().await;
    let second = Journal::open(options()).unwrap();
    assert_eq!((second.journal.run(), second.recovered.mode.as_deref()), (2, Some("mode 0")));
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_may_read_a_journal_and_no_link_is_followed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("s");
    let options = |session| Options::new(own.clone(), SessionName::new(session).unwrap(), opened());
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join(crate::FILE_NAME), "").unwrap();
    let loose = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(own.join(crate::FILE_NAME), loose).unwrap();
    Journal::open(options("s")).unwrap().journal.close().await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&own), mode(&own.join(crate::FILE_NAME))), (0o700, 0o600));
    let told = Journal::open(options("other")).unwrap_err();
    assert!(matches!(told, OpenError::OtherSession(it) if it.as_str() == "s"));
    std::fs::rename(own.join(crate::FILE_NAME), own.join("real")).unwrap();
    symlink(own.join("real"), own.join(crate::FILE_NAME)).unwrap();
    assert!(matches!(Journal::open(options("s")), Err(OpenError::Io { .. })));
}

struct Hush;

impl Redact for Hush {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        assert!(!text.contains("panic"), "told to");
        if text.contains("secret") {
            Cow::Owned(text.replace("secret", "[redacted]"))
        } else {
            Cow::Borrowed(text)
        }
    }
}

#[tokio::test]
async fn what_is_redacted_is_never_written() {
    let disk = SimDisk::default();
    let redact = Arc::new(Hush);
    let mut options = Options { redact, ..options(&disk, Durability::None) };
    options.opened.cwd = Some("a/secret/folder".into());
    let opened = Journal::open(options).unwrap();
    let mut story = Story::new(1);
    story.turn(0).write(0);
    for record in &mut story.records[1..] {
        match record {
            Record::Call(it) => {
                it.tool = "secret".into();
                it.input = crate::Input::Json(json!({"a secret": ["x", {"b": "my secret"}]}));
            }
            Record::Start(it) => it.input = Some(json!("secret")),
            Record::Result(it) => {
                it.content = json!([{"type": "text", "text": "a secret"}]);
                it.structured = Some(json!({"secret": "secret"}));
                it.notes = vec!["secret".into()];
            }
            Record::Opened(_) | Record::Event { .. } | Record::Task(_) | Record::Mode(_) => {}
        }
    }
    for record in story.records.drain(1..) {
        opened.journal.append(record).await.unwrap();
    }
    let bytes = disk.bytes(&path());
    assert!(memchr::memmem::find(&bytes, b"secret").is_none());
    assert_eq!(memchr::memmem::find_iter(&bytes, b"[redacted]").count(), 9);
}

#[tokio::test]
async fn a_redactor_that_panics_keeps_its_record_out() {
    let disk = SimDisk::default();
    let opened =
        Journal::open(Options { redact: Arc::new(Hush), ..options(&disk, Durability::None) });
    let journal = opened.unwrap().journal;
    let task = |text: &str| {
        let at = Story::new(1).at(0);
        let state = crate::TaskState::Ended(text.into());
        Record::Task(crate::Task { task: "t".into(), at, state })
    };
    assert_eq!(journal.append(task("panic")).await, Err(AppendError::Unredacted));
    journal.append(task("fine")).await.unwrap();
    assert_eq!(records(&disk)[1..], [task("fine")]);
}

#[tokio::test]
async fn a_record_beyond_the_limit_is_refused_and_one_at_it_is_read_again() {
    let disk = SimDisk::default();
    let journal = open(&disk, Durability::None).unwrap().journal;
    let of = |length: usize| Record::Mode(Mode { mode: "x".repeat(length) });
    let frame = r#"{"mode":""}"#.len();
    let told = journal.append(of(crate::MAX_PAYLOAD - frame + 1)).await.unwrap_err();
    assert_eq!(told, AppendError::TooLong(crate::MAX_PAYLOAD + 1));
    journal.note(mode(0)).await.unwrap();
    journal.append(of(crate::MAX_PAYLOAD - frame)).await.unwrap();
    assert_eq!(records(&disk).len(), 3);
}

#[tokio::test]
async fn a_damaged_journal_is_refused_until_it_is_repaired_and_the_whole_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionName::new("s").unwrap();
    let options = || Options::new(folder.path().to_owned(), session.clone(), opened());
    let journal = Journal::open(options()).unwrap().journal;
    journal.append(mode(0)).await.unwrap();
    let at = journal.append(mode(1)).await.unwrap().frame;
    journal.append(mode(2)).await.unwrap();
    journal.close().await;
    let path = folder.path().join(crate::FILE_NAME);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[at as usize + 40] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let told = Journal::open(options()).unwrap_err();
    assert!(matches!(told, OpenError::Corrupt(it) if it.at == at), "{told}");
    let copy = folder.path().join("copy");
    let end = crate::repair(&crate::RealDisk, &path, &copy).unwrap();
    assert_eq!((end.end, end.records), (at, 2));
    assert_eq!(std::fs::read(&copy).unwrap(), bytes);
    let again = Journal::open(options()).unwrap();
    assert_eq!(again.recovered.mode.as_deref(), Some("mode 0"));
    assert!(matches!(crate::repair(&crate::RealDisk, &path, &copy), Err(OpenError::InUse)));
    again.journal.close().await;
    assert!(crate::repair(&crate::RealDisk, &path, &copy).unwrap().damage.is_none());
}
