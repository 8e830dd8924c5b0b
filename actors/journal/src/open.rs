//! Opens a journal: lock, scan, cut the torn tail, say that this process is here.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam::channel::unbounded;
use tokio::sync::{Semaphore, watch};

use crate::disk::{Disk, DiskFile, ReadFrom, RealDisk};
use crate::fold::Fold;
use crate::frame::{BadHeader, HEAD_BYTES, HEADER_BYTES, Header, put_record};
use crate::journal::{Journal, QUEUE_ROOM};
use crate::name::SessionName;
use crate::record::{BadRecord, Opened, Record};
use crate::recovery::Recovered;
use crate::redact::{KeepAll, Redact};
use crate::scan::{Corrupt, Scanner, Step, Torn};
use crate::tail::{Tail, Unwritten, write_all};
use crate::writer::{Durability, run};

/// The name of a journal in its session's folder.
pub const FILE_NAME: &str = "journal.twj";

/// How often a lock that somebody has is tried again, with a moment between.
const LOOKS: u32 = 10;

/// See [`LOOKS`]: a process that is being started has become a program by then.
const MOMENT: Duration = Duration::from_millis(20);

/// How a journal is opened.
pub struct Options {
    /// The session's own folder. It is made, and closed to others.
    pub folder: PathBuf,
    /// The session.
    pub session: SessionName,
    /// What an acknowledgement promises.
    pub durability: Durability,
    /// What is taken out before anything is written (default: nothing).
    pub redact: Arc<dyn Redact>,
    /// Where the file is (default: on the disk of this machine).
    pub disk: Arc<dyn Disk>,
    /// Who opens it.
    pub opened: Opened,
}

impl Options {
    /// The defaults, for this session in this folder.
    #[must_use]
    pub fn new(folder: PathBuf, session: SessionName, opened: Opened) -> Self {
        let (redact, disk) = (Arc::new(KeepAll), Arc::new(RealDisk));
        Self { folder, session, durability: Durability::default(), redact, disk, opened }
    }
}

/// A journal that was opened, and what its file held.
#[derive(Debug)]
pub struct Reading<J> {
    /// The journal, if it was opened for writing.
    pub journal: J,
    /// What earlier runs left open.
    pub recovered: Recovered,
    /// The tail that was cut off; if the file was only read, it is still there.
    pub torn: Option<Torn>,
}

/// Why a journal could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process, or this one, has it open.
    #[error("the session is open in another process: end that one, or resume another session")]
    InUse,
    /// The file is of another session.
    #[error("the journal is that of session {0}: move it back to its folder")]
    OtherSession(SessionName),
    /// The header can't be read.
    #[error(transparent)]
    Header(#[from] BadHeader),
    /// There is damage that isn't a torn tail.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// A whole record makes no sense.
    #[error(transparent)]
    Record(#[from] BadRecord),
    /// The file operation failed.
    #[error("the journal could not be opened ({doing}: {why}): mend its folder, or free space")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the operating system said.
        why: io::Error,
    },
    /// Its first record could not be written.
    #[error("the journal could not be written: {0}. Free space, or mend its folder")]
    NotWritten(String),
}

pub(crate) trait While<T> {
    fn doing(self, doing: &'static str) -> Result<T, OpenError>;
}

impl<T> While<T> for io::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, OpenError> {
        self.map_err(|why| OpenError::Io { doing, why })
    }
}

impl Journal {
    /// Opens the journal of a session, and starts its writer thread. Reads the whole file: on
    /// an async runtime, call it where blocking is allowed.
    ///
    /// # Errors
    ///
    /// [`OpenError`]. The file is then as it was, or as an earlier open of the same would have
    /// left it: opening again once the cause is gone is safe.
    pub fn open(options: Options) -> Result<Reading<Self>, OpenError> {
        let Options { folder, session, durability, redact, disk, mut opened } = options;
        let header = Header::new(session.clone());
        disk.make_folder(&folder).doing("making its folder")?;
        let mut file = disk.open(&folder.join(FILE_NAME)).doing("opening its file")?;
        if !lock(&mut *file).doing("locking it")? {
            return Err(OpenError::InUse);
        }
        let found = match read_header(&mut *file)? {
            Some(found) if found == header => scan(&mut *file, found)?,
            Some(other) => return Err(OpenError::OtherSession(other.session)),
            None => {
                begin(&mut *file, &header, durability)?;
                let end = HEADER_BYTES as u64;
                Scanned { fold: Fold::default(), end, next: 0, torn: None }
            }
        };
        let Scanned { fold, end, next, torn } = found;
        let run_number = fold.runs() + 1;
        let recovered = fold.finish()?;
        if torn.is_some() {
            file.cut(end).doing("cutting its torn tail")?;
            file.sync().doing("syncing the cut")?;
        }
        // Under any durability: a flush makes the file durable, not its name.
        disk.sync_folder(&folder).doing("syncing its folder")?;
        let mut tail = Tail::new(file, header, end, next);
        opened.run = run_number;
        let mut record = Record::Opened(opened);
        record.redact(&*redact);
        write_first(&mut tail, &record, durability)?;
        // Bounded by the room that its records take, not by the channel.
        let (jobs, waiting) = unbounded();
        let (alive, over) = watch::channel(());
        let writer = std::thread::Builder::new().name("toolwright-journal".into());
        let thread = writer.spawn(move || {
            run(tail, durability, &waiting);
            drop(alive);
        });
        thread.doing("starting its thread")?;
        let journal = Self {
            jobs,
            room: Arc::new(Semaphore::new(QUEUE_ROOM as usize)),
            redact,
            session,
            run: run_number,
            over: Arc::new(over),
        };
        Ok(Reading { journal, recovered, torn })
    }
}

/// Locks the file, unless somebody has it for longer than a moment: a process that this one is just
/// starting holds a copy of what another journal's file had locked, until it becomes a program.
fn lock(file: &mut dyn DiskFile) -> io::Result<bool> {
    for _ in 0..LOOKS {
        if file.try_lock()? {
            return Ok(true);
        }
        std::thread::sleep(MOMENT);
    }
    file.try_lock()
}

/// The header; none in a file whose making was interrupted.
pub(crate) fn read_header(file: &mut dyn DiskFile) -> Result<Option<Header>, OpenError> {
    let mut bytes = [0; HEADER_BYTES];
    let mut read = 0;
    while read < HEADER_BYTES {
        match file.read(read as u64, &mut bytes[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).doing("reading its header"),
        }
    }
    match Header::decode(&bytes[..read]) {
        Ok(header) => Ok(Some(header)),
        Err(BadHeader::Short(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn begin(
    file: &mut dyn DiskFile,
    header: &Header,
    durability: Durability,
) -> Result<(), OpenError> {
    file.cut(0).doing("clearing it")?;
    write_all(file, 0, &header.encode()).doing("writing its header")?;
    if durability == Durability::None { Ok(()) } else { file.sync().doing("syncing its header") }
}

pub(crate) struct Scanned {
    pub(crate) fold: Fold,
    end: u64,
    next: u64,
    pub(crate) torn: Option<Torn>,
}

pub(crate) fn scan(file: &mut dyn DiskFile, header: Header) -> Result<Scanned, OpenError> {
    let mut fold = Fold::default();
    let mut scanner = Scanner::new(ReadFrom { file, at: HEADER_BYTES as u64 }, header);
    let torn = loop {
        match scanner.step().doing("reading it")? {
            Step::Frame(frame) => {
                for (number, record) in (frame.first..).zip(frame.records()) {
                    fold.take(record, number)?;
                }
            }
            Step::End => break None,
            Step::Torn(torn) => break Some(torn),
            Step::Corrupt(corrupt) => return Err(corrupt.into()),
        }
    };
    let end = torn.map_or(scanner.offset(), |it| it.at);
    Ok(Scanned { fold, end, next: scanner.next_record(), torn })
}

fn write_first(tail: &mut Tail, record: &Record, durability: Durability) -> Result<(), OpenError> {
    let encoded = record.encode().map_err(|it| OpenError::NotWritten(it.to_string()));
    let (kind, flags, payload) = encoded?;
    let mut frame = vec![0; HEAD_BYTES];
    put_record(&mut frame, kind, flags, &payload);
    let written = tail.write(&mut frame, 1).and_then(|()| match durability {
        Durability::None | Durability::Batch => Ok(()),
        Durability::Always => tail.sync(),
    });
    written.map_err(|why| match why {
        Unwritten::ThisOne(why) | Unwritten::Broken(why) => OpenError::NotWritten(why),
    })
}
