//! The bytes of a journal: every prefix reads as a prefix, every flipped bit is found.

use proptest::prelude::*;

use crate::frame::{BadHeader, HEAD_BYTES, HEADER_BYTES, Header, put_record, seal_frame};
use crate::name::SessionName;
use crate::scan::{Corrupt, Fault, Scanner, Step, Torn};

fn header() -> Header {
    Header::new(SessionName::new("session-1").unwrap())
}

/// A frame of these payloads.
fn frame(header: &Header, at: usize, first: u64, synced: u64, payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut frame = vec![0; HEAD_BYTES];
    for payload in payloads {
        put_record(&mut frame, 7, 1, payload);
    }
    seal_frame(&mut frame, header, at as u64, first, synced);
    frame
}

/// A file of these groups, each synced before the next, and where its frames begin.
fn file(groups: &[Vec<Vec<u8>>]) -> (Vec<u8>, Vec<usize>) {
    let header = header();
    let mut bytes = header.encode().to_vec();
    let (mut first, mut starts) = (0, Vec::new());
    for group in groups {
        let at = bytes.len();
        starts.push(at);
        let synced = if at == HEADER_BYTES { 0 } else { at as u64 };
        bytes.extend(frame(&header, at, first, synced, group));
        first += group.len() as u64;
    }
    (bytes, starts)
}

#[derive(Debug, PartialEq)]
enum End {
    BadHeader(BadHeader),
    Whole,
    Torn(Torn),
    Corrupt(Corrupt),
}

/// All payloads up to the end, and the end. Reads in small pieces.
fn read(bytes: &[u8]) -> (Vec<Vec<u8>>, End) {
    let header = match Header::decode(bytes) {
        Ok(header) => header,
        Err(error) => return (vec![], End::BadHeader(error)),
    };
    let mut scanner = Scanner::new(Trickle(&bytes[HEADER_BYTES..]), header);
    let mut payloads = Vec::new();
    let end = loop {
        match scanner.step().unwrap() {
            Step::Frame(frame) => payloads.extend(frame.records().map(|it| it.payload.to_vec())),
            Step::End => break End::Whole,
            Step::Torn(torn) => break End::Torn(torn),
            Step::Corrupt(corrupt) => break End::Corrupt(corrupt),
        }
    };
    (payloads, end)
}

/// Gives seven bytes at a time, after a signal.
struct Trickle<'a>(&'a [u8]);

impl std::io::Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0.len() % 3 == 1 && buffer.len() > 1 {
            let length = self.0.len().min(1);
            return std::io::Read::read(&mut self.0, &mut buffer[..length]);
        }
        let length = buffer.len().min(7);
        std::io::Read::read(&mut self.0, &mut buffer[..length])
    }
}

fn groups() -> impl Strategy<Value = Vec<Vec<Vec<u8>>>> {
    let payload = prop::collection::vec(any::<u8>(), 0..20);
    prop::collection::vec(prop::collection::vec(payload, 1..4), 0..4)
}

fn small() -> (Vec<u8>, Vec<usize>, Vec<Vec<u8>>) {
    let groups = [vec![b"one".to_vec(), b"two".to_vec()], vec![vec![]], vec![b"four".to_vec()]];
    let (bytes, starts) = file(&groups);
    (bytes, starts, groups.concat())
}

#[test]
fn every_flipped_bit_is_found_and_only_the_last_frame_can_look_torn() {
    let (bytes, starts, all) = small();
    let last = starts[2];
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let (read, end) = read(&flipped);
        let broken = starts.iter().rposition(|it| *it <= bit / 8);
        match (broken, end) {
            (None, End::BadHeader(_)) => assert!(read.is_empty()),
            (Some(2), End::Torn(torn)) => {
                assert_eq!(torn, Torn { at: last as u64, bytes: (bytes.len() - last) as u64 });
                assert_eq!(read, all[..3]);
            }
            (Some(frame), End::Corrupt(corrupt)) if frame < 2 => {
                assert_eq!(corrupt.at, starts[frame] as u64, "bit {bit}");
                assert_eq!(corrupt.next, Some(starts[frame + 1] as u64));
                assert!(corrupt.promised, "bit {bit}");
                assert_eq!(read, all[..[0, 2][frame]]);
            }
            (broken, end) => panic!("bit {bit} in frame {broken:?} gives {end:?}"),
        }
    }
}

#[test]
fn a_hole_that_was_never_synced_is_told_from_one_that_was() {
    let header = header();
    let mut bytes = header.encode().to_vec();
    for first in 0..3 {
        let at = bytes.len();
        bytes.extend(frame(&header, at, first, 0, &[b"x".to_vec()]));
    }
    bytes[HEADER_BYTES + HEAD_BYTES + 8] = 0;
    let (_, end) = read(&bytes);
    let End::Corrupt(corrupt) = end else { panic!("{end:?}") };
    assert_eq!((corrupt.promised, corrupt.records), (false, 0));
}

#[test]
fn a_frame_that_was_moved_or_quoted_is_none() {
    let (bytes, starts, _) = small();
    // A whole frame as the payload of a record whose own frame is torn.
    let quoted = bytes[starts[0]..starts[1]].to_vec();
    let (mut outer, outer_starts) = file(&[vec![b"first".to_vec()], vec![quoted, vec![1; 50]]]);
    outer.truncate(outer.len() - 1);
    assert_eq!(
        read(&outer).1,
        End::Torn(Torn {
            at: outer_starts[1] as u64,
            bytes: (outer.len() - outer_starts[1]) as u64
        })
    );
    // The same frame twice.
    let mut twice = bytes.clone();
    twice.extend_from_slice(&bytes[starts[2]..]);
    assert!(matches!(read(&twice).1, End::Torn(_)));
    // A frame of another session.
    let other = Header::new(SessionName::new("session-2").unwrap());
    let mut mixed = bytes.clone();
    mixed.extend(frame(&other, bytes.len(), 4, 0, &[b"x".to_vec()]));
    assert!(matches!(read(&mixed).1, End::Torn(_)));
}

#[test]
fn a_record_that_is_missing_is_told() {
    let header = header();
    let mut bytes = header.encode().to_vec();
    bytes.extend(frame(&header, HEADER_BYTES, 5, 0, &[b"x".to_vec()]));
    let (_, end) = read(&bytes);
    let End::Corrupt(corrupt) = end else { panic!("{end:?}") };
    assert_eq!(corrupt.fault, Fault::Order { expected: 0, found: 5 });
}

#[test]
fn another_version_and_another_file_are_told_apart() {
    let mut bytes = header().encode();
    bytes[8] = 2;
    let checksum = crc32fast::hash(&bytes[..HEADER_BYTES - 4]);
    bytes[HEADER_BYTES - 4..].copy_from_slice(&checksum.to_le_bytes());
    assert_eq!(Header::decode(&bytes), Err(BadHeader::ForeignVersion(2)));
    assert_eq!(Header::decode(b"{\"type\":\"user\"}"), Err(BadHeader::NotAJournal));
    assert_eq!(Header::decode(b""), Err(BadHeader::Short(0)));
}

#[test]
fn a_marker_across_the_edge_of_a_chunk_is_found() {
    // Around the size of the scanner's chunk, so that some head straddles it.
    for garbage in (256 * 1024 - 70)..(256 * 1024 + 6) {
        let header = header();
        let mut bytes = header.encode().to_vec();
        bytes.resize(HEADER_BYTES + garbage, 0x20);
        let at = bytes.len();
        bytes.extend(frame(&header, at, 0, 0, &[b"x".to_vec()]));
        let mut scanner = Scanner::new(&bytes[HEADER_BYTES..], header);
        let Step::Corrupt(corrupt) = scanner.step().unwrap() else { panic!("{garbage}") };
        assert_eq!(corrupt.next, Some(at as u64));
    }
}

proptest! {
    // Each case reads a file once for each of its bytes.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_prefix_of_a_file_reads_as_a_prefix_of_its_records(groups in groups()) {
        let (bytes, starts) = file(&groups);
        let all = groups.concat();
        for cut in 0..=bytes.len() {
            let (payloads, end) = read(&bytes[..cut]);
            prop_assert_eq!(&payloads[..], &all[..payloads.len()]);
            let whole = starts.iter().rev().find(|it| **it <= cut).copied();
            match whole {
                None if cut < HEADER_BYTES => {
                    prop_assert_eq!(end, End::BadHeader(BadHeader::Short(cut)));
                }
                _ if cut == HEADER_BYTES || cut == bytes.len() || starts.contains(&cut) => {
                    prop_assert_eq!(end, End::Whole);
                }
                Some(at) => {
                    let torn = Torn { at: at as u64, bytes: (cut - at) as u64 };
                    prop_assert_eq!(end, End::Torn(torn));
                }
                None => prop_assert!(false, "no frame before {}", cut),
            }
        }
    }
}

proptest! {
    #[test]
    fn a_file_reads_as_what_was_written(groups in groups()) {
        let (bytes, _) = file(&groups);
        prop_assert_eq!(read(&bytes), (groups.concat(), End::Whole));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = header().encode().to_vec();
        bytes.extend(&noise);
        let (payloads, end) = read(&bytes);
        prop_assert!(payloads.is_empty());
        let is_told = matches!(end, End::Torn(it) if it.bytes == noise.len() as u64);
        prop_assert!(noise.is_empty() || is_told);
        drop(read(&noise));
    }

    #[test]
    fn whole_frames_around_noise_prove_it_not_to_be_the_tail(
        groups in groups(),
        noise in prop::collection::vec(any::<u8>(), 1..60),
    ) {
        let header = header();
        let (mut bytes, _) = file(&groups);
        let at = bytes.len();
        bytes.extend(&noise);
        let next = bytes.len();
        bytes.extend(frame(&header, next, 99, 0, &[vec![]]));
        let (payloads, end) = read(&bytes);
        prop_assert_eq!(payloads, groups.concat());
        let is_told = matches!(&end, End::Corrupt(it)
            if it.at == at as u64 && it.next == Some(next as u64));
        prop_assert!(is_told, "{:?}", end);
    }
}
