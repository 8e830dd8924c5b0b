//! Reads frames from the start of a journal and says how its end, or its damage, looks.
//!
//! What follows a bad place decides what it is. Nothing that proves itself a frame: the file ends
//! there, **torn** as a write was cut short, and the tail holds nothing that was acknowledged.
//! A later frame: bytes in the middle are **corrupt**, which is never passed over in silence.
//! One case looks the same from either side: damage inside the very last frame is told as a torn
//! tail, since nothing after it bears witness.

use std::io::{self, Read};

use memchr::memmem;

use crate::frame::{HEAD_BYTES, Head, Header, MARKER, RawRecord, records};

/// How much is asked of the source at once: large enough that calls don't count.
const CHUNK: usize = 256 * 1024;

/// A tail that was not written whole. It is cut when the journal is opened for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Where it begins, in bytes from the start of the file.
    pub at: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Damage that later frames prove not to be the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the journal is damaged at byte {at} ({fault}); {after}. Run `toolwright journal repair` to \
     keep the {records} records before it, and a copy of the whole",
    after = self.after()
)]
pub struct Corrupt {
    /// Where, in bytes from the start of the file.
    pub at: u64,
    /// What is wrong there.
    pub fault: Fault,
    /// Where the next frame begins that is whole at least in its head.
    pub next: Option<u64>,
    /// Records before the damage.
    pub records: u64,
    /// Whether a later frame says that this place had been synced. If not, a power failure may
    /// have left the hole, and nothing that was promised to survive one is in it.
    pub promised: bool,
}

impl Corrupt {
    fn after(&self) -> String {
        match self.next {
            Some(next) => format!("good bytes go on at {next}"),
            None => "its frame proves itself".to_owned(),
        }
    }
}

/// What is wrong at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No frame begins where one should.
    #[error("no frame begins there")]
    Head,
    /// The body fails its checksum.
    #[error("a frame fails its checksum")]
    Body,
    /// Records are missing, or come again.
    #[error("record {found} follows where record {expected} should")]
    Order {
        /// The number of the record that should follow.
        expected: u64,
        /// The number that the frame has.
        found: u64,
    },
    /// A body that is whole is no row of records.
    #[error("a whole frame is no row of records")]
    Layout,
}

/// One thing that a scan comes to.
#[derive(Debug)]
pub enum Step<'a> {
    /// A frame that is whole.
    Frame(Frame<'a>),
    /// The end, after a whole frame.
    End,
    /// The end, after a tail that isn't.
    Torn(Torn),
    /// Damage in the middle.
    Corrupt(Corrupt),
}

/// A frame that is whole.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// The number of its first record.
    pub first: u64,
    body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Its records, in order.
    pub fn records(&self) -> impl Iterator<Item = RawRecord<'a>> + use<'a> {
        // The scan has walked them once.
        records(self.body).flatten()
    }
}

/// Reads a journal frame by frame; holds one frame.
pub struct Scanner<R> {
    source: R,
    header: Header,
    /// What was read, up to `filled`; the part before `start` is done with.
    buffer: Vec<u8>,
    filled: usize,
    start: usize,
    /// The place of `start` in the file.
    offset: u64,
    next_record: u64,
    ended: bool,
}

impl<R: Read> Scanner<R> {
    /// A scan of what follows the header; `source` stands just behind it.
    pub fn new(source: R, header: Header) -> Self {
        let offset = crate::frame::HEADER_BYTES as u64;
        Self {
            source,
            header,
            buffer: Vec::new(),
            filled: 0,
            start: 0,
            offset,
            next_record: 0,
            ended: false,
        }
    }

    /// Where the next frame begins, or would.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of the next record.
    pub fn next_record(&self) -> u64 {
        self.next_record
    }

    /// The next step. After an end or damage, the scan is over.
    ///
    /// # Errors
    ///
    /// What the source says.
    pub fn step(&mut self) -> io::Result<Step<'_>> {
        if !self.fill(HEAD_BYTES)? {
            return match self.rest().len() {
                0 => Ok(Step::End),
                bytes => Ok(Step::Torn(Torn { at: self.offset, bytes: bytes as u64 })),
            };
        }
        let Some(head) = self.head_at(self.start) else { return self.judge(Fault::Head) };
        let length = HEAD_BYTES + head.body as usize;
        if !self.fill(length)? {
            return self.judge(Fault::Body);
        }
        let body = &self.rest()[HEAD_BYTES..length];
        if !head.matches(body) {
            return self.judge(Fault::Body);
        }
        let Some(count) = records(body).try_fold(0, |count, it| it.map(|_| count + 1)) else {
            return Ok(self.proven(Fault::Layout));
        };
        if head.first != self.next_record {
            let fault = Fault::Order { expected: self.next_record, found: head.first };
            return Ok(self.proven(fault));
        }
        let (at, offset) = (self.start, self.offset);
        self.start += length;
        self.offset += length as u64;
        self.next_record += count;
        let body = &self.buffer[at + HEAD_BYTES..at + length];
        Ok(Step::Frame(Frame { offset, first: head.first, body }))
    }

    fn proven(&self, fault: Fault) -> Step<'_> {
        Step::Corrupt(Corrupt {
            at: self.offset,
            fault,
            next: None,
            records: self.next_record,
            promised: true,
        })
    }

    /// Looks through all that follows a bad place for heads that prove themselves.
    fn judge(&mut self, fault: Fault) -> io::Result<Step<'_>> {
        let (at, records) = (self.offset, self.next_record);
        let mut next = None;
        let mut promised = false;
        // Past the first byte, so that the bad head itself isn't found.
        self.skip(1);
        loop {
            let full = self.fill(CHUNK)?;
            let found = memmem::find_iter(self.rest(), &MARKER).find_map(|it| {
                let head = self.head_at(self.start + it)?;
                Some((it, head))
            });
            match found {
                Some((skipped, head)) => {
                    next = next.or(Some(self.offset + skipped as u64));
                    promised |= head.synced > at;
                    self.skip(skipped + MARKER.len());
                }
                // A head may begin in the last bytes and go on in the next chunk.
                None if full => self.skip(self.rest().len() - (HEAD_BYTES - 1)),
                None => break,
            }
        }
        let end = self.offset + self.rest().len() as u64;
        Ok(match next {
            Some(_) => Step::Corrupt(Corrupt { at, fault, next, records, promised }),
            None => Step::Torn(Torn { at, bytes: end - at }),
        })
    }

    fn head_at(&self, at: usize) -> Option<Head> {
        let bytes = self.buffer[..self.filled].get(at..at + HEAD_BYTES)?.first_chunk()?;
        Head::decode(bytes, &self.header, self.offset + (at - self.start) as u64)
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.filled]
    }

    fn skip(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    /// Reads on until so many bytes are at hand, or the source ends: then it gives no.
    fn fill(&mut self, bytes: usize) -> io::Result<bool> {
        if self.buffer.len() < bytes {
            let mut longer = vec![0; bytes + CHUNK];
            longer[..self.filled].copy_from_slice(&self.buffer[..self.filled]);
            self.buffer = longer;
        }
        if self.buffer.len() < self.start + bytes {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.filled -= std::mem::take(&mut self.start);
        }
        while self.rest().len() < bytes && !self.ended {
            match self.source.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.rest().len() >= bytes)
    }
}
