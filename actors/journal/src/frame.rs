//! The bytes of a journal: a header, then frames that each prove where they belong. No I/O.
//!
//! ```text
//! header  magic 8 │ version u32 │ name length u32 │ name 64, zero-padded │ checksum u32
//! frame   marker 4 │ body length u32 │ first record u64 │ synced u64 │ body checksum u32 │
//!         head checksum u32 │ body
//! body    records, each: length u32 │ kind u16 │ flags u16 │ payload
//! ```
//!
//! Numbers are little-endian. A frame is what one write handed over: all records that were waiting
//! then. Frames, not records, are checked, since a group is acknowledged as a whole, and since
//! under the strictest durability nothing follows a frame that isn't synced: whatever a power
//! failure leaves of it is at the end of the file.
//!
//! The checksum is CRC-32 (`crc32fast`): unlike a hash it is *certain* to find a flipped bit, and
//! any burst of up to 32 bits, and it is kept, pure Rust, and no dearer than the copy it guards
//! (above 1 GB/s). It is no seal: who may write the file can forge it.
//!
//! The head's checksum begins with that of the file's header and takes in the frame's offset, so a
//! frame that was copied, moved, or quoted in a tool's output is none.

use crate::name::{NAME_BYTES, SessionName};

/// The version of the format that is written. Readers refuse any other.
pub const FORMAT_VERSION: u32 = 1;
/// Bytes of a header.
pub const HEADER_BYTES: usize = 84;
/// Bytes of a frame before its body.
pub(crate) const HEAD_BYTES: usize = 32;
/// Bytes of a record before its payload.
pub(crate) const RECORD_HEAD_BYTES: usize = 8;
/// Longest payload of a record, in bytes. What a tool puts out is in a file beyond its limit, so
/// only inputs come near; it bounds what a reader holds.
pub const MAX_PAYLOAD: usize = 16 * 1024 * 1024;
/// Longest body of a frame, in bytes: a record of the greatest length behind a group of short ones.
pub(crate) const MAX_BODY: usize = MAX_PAYLOAD + 1024 * 1024;

const MAGIC: [u8; 8] = *b"\x89TWJRNL\n";
/// A byte that is in no UTF-8 text, so that a search through text finds few false ones.
pub(crate) const MARKER: [u8; 4] = [0xf7, b'T', b'W', b'F'];

/// What a file's header says: it salts the frames of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The session.
    pub session: SessionName,
    salt: u32,
}

/// Why bytes are no header of this format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHeader {
    /// The file ends inside its header, as one does whose making was interrupted.
    #[error("the file ends inside its header, at byte {0}: nothing was recorded in it yet")]
    Short(usize),
    /// Something else.
    #[error("this is no journal: name the file `journal.twj` of a session")]
    NotAJournal,
    /// Another format.
    #[error(
        "the journal has format version {0}, and {FORMAT_VERSION} is known: use a release of \
             Toolwright that writes version {0}"
    )]
    ForeignVersion(u32),
    /// The header fails its checksum.
    #[error("the header of the journal is damaged: restore the file from a copy")]
    Damaged,
}

impl Header {
    /// The header for a session.
    #[must_use]
    pub fn new(session: SessionName) -> Self {
        let salt = u32_at(&Self::bytes(&session), HEADER_BYTES - 4);
        Self { session, salt }
    }

    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        Self::bytes(&self.session)
    }

    fn bytes(session: &SessionName) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let name = session.as_str().as_bytes();
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        // A name has at most 64 bytes.
        bytes[12..16].copy_from_slice(&(name.len() as u32).to_le_bytes());
        bytes[16..16 + name.len()].copy_from_slice(name);
        let checksum = crc32fast::hash(&bytes[..HEADER_BYTES - 4]);
        bytes[HEADER_BYTES - 4..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a header from the start of a file.
    ///
    /// # Errors
    ///
    /// [`BadHeader`], which tells a file that was being made from one that is something else.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadHeader> {
        let shown = bytes.len().min(MAGIC.len());
        if bytes[..shown] != MAGIC[..shown] {
            return Err(BadHeader::NotAJournal);
        }
        let Some(header) = bytes.get(..HEADER_BYTES) else {
            return Err(BadHeader::Short(bytes.len()));
        };
        let salt = u32_at(header, HEADER_BYTES - 4);
        if crc32fast::hash(&header[..HEADER_BYTES - 4]) != salt {
            return Err(BadHeader::Damaged);
        }
        let version = u32_at(header, 8);
        if version != FORMAT_VERSION {
            return Err(BadHeader::ForeignVersion(version));
        }
        let length = u32_at(header, 12) as usize;
        let name = header.get(16..16 + length.min(NAME_BYTES));
        let name = name.and_then(|it| std::str::from_utf8(it).ok()).unwrap_or_default();
        match SessionName::new(name) {
            Ok(session) => Ok(Self { session, salt }),
            Err(_) => Err(BadHeader::Damaged),
        }
    }
}

/// What stands before the body of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The number of its first record, counted from 0 over the file.
    pub(crate) first: u64,
    /// The file was known to be synced up to this offset when the frame was written.
    pub(crate) synced: u64,
    /// Bytes of the body.
    pub(crate) body: u32,
    body_checksum: u32,
}

impl Head {
    /// The bytes of the head at this offset, if they are one.
    pub(crate) fn decode(bytes: &[u8; HEAD_BYTES], header: &Header, offset: u64) -> Option<Self> {
        let true_marker = bytes[..4] == MARKER;
        let body = u32_at(bytes, 4);
        let fits = (1..=MAX_BODY).contains(&(body as usize));
        let checks = checksum_of_head(&bytes[..HEAD_BYTES - 4], header, offset)
            == u32_at(bytes, HEAD_BYTES - 4);
        (true_marker && fits && checks).then(|| Self {
            first: u64_at(bytes, 8),
            synced: u64_at(bytes, 16),
            body,
            body_checksum: u32_at(bytes, 24),
        })
    }

    pub(crate) fn matches(&self, body: &[u8]) -> bool {
        crc32fast::hash(body) == self.body_checksum
    }
}

/// Writes a record at the end of a body.
pub(crate) fn put_record(body: &mut Vec<u8>, kind: u16, flags: u16, payload: &[u8]) {
    // A payload has at most `MAX_PAYLOAD` bytes.
    body.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    body.extend_from_slice(&kind.to_le_bytes());
    body.extend_from_slice(&flags.to_le_bytes());
    body.extend_from_slice(payload);
}

/// Fills in the head of a frame whose first [`HEAD_BYTES`] were left free for it.
pub(crate) fn seal_frame(frame: &mut [u8], header: &Header, offset: u64, first: u64, synced: u64) {
    let Some((head, body)) = frame.split_at_mut_checked(HEAD_BYTES) else { return };
    head[..4].copy_from_slice(&MARKER);
    // A body has at most `MAX_BODY` bytes.
    head[4..8].copy_from_slice(&(body.len() as u32).to_le_bytes());
    head[8..16].copy_from_slice(&first.to_le_bytes());
    head[16..24].copy_from_slice(&synced.to_le_bytes());
    head[24..28].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
    let checksum = checksum_of_head(&head[..HEAD_BYTES - 4], header, offset);
    head[HEAD_BYTES - 4..].copy_from_slice(&checksum.to_le_bytes());
}

fn checksum_of_head(head: &[u8], header: &Header, offset: u64) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header.salt.to_le_bytes());
    hasher.update(&offset.to_le_bytes());
    hasher.update(head);
    hasher.finalize()
}

/// A record as it stands in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRecord<'a> {
    /// Its kind.
    pub kind: u16,
    /// Its flags.
    pub flags: u16,
    /// Its payload: JSON.
    pub payload: &'a [u8],
}

/// The records of a body, in order; `None` where the layout is broken.
pub(crate) fn records(mut body: &[u8]) -> impl Iterator<Item = Option<RawRecord<'_>>> {
    std::iter::from_fn(move || {
        if body.is_empty() {
            return None;
        }
        let record = body.split_at_checked(RECORD_HEAD_BYTES).and_then(|(head, rest)| {
            let (payload, rest) = rest.split_at_checked(u32_at(head, 0) as usize)?;
            let kind = u16::from_le_bytes([head[4], head[5]]);
            let flags = u16::from_le_bytes([head[6], head[7]]);
            body = rest;
            Some(RawRecord { kind, flags, payload })
        });
        if record.is_none() {
            body = &[];
        }
        Some(record)
    })
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}
