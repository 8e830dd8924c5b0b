//! The encoding of a text: found out from its bytes, decoded, and encoded again without a loss.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{DecoderResult, EncoderResult, UTF_8, UTF_16BE, UTF_16LE};

/// The mark at the start of some files in Unicode; the model never sees it.
const MARK: char = '\u{feff}';
/// Bytes at the start among which a zero tells that they are no text.
const START: usize = 64 << 10;
/// One control character in so many bytes is too many for a text.
const CONTROLS: usize = 50;

/// How a text is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoding {
    charset: &'static encoding_rs::Encoding,
    /// Whether a byte order mark comes first.
    mark: bool,
}

/// Why bytes are no text, or a text has no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misencoded {
    /// The bytes are those of some other format.
    Binary,
    /// From this byte on they are damaged, or would not come back as they are.
    Damaged { at: usize },
    /// The encoding doesn't have the character.
    Lacks { character: char },
}

impl Encoding {
    /// That of a new file.
    pub(crate) const UTF8: Self = Self { charset: UTF_8, mark: false };

    /// Finds out the encoding of a text from its bytes, or from its first ones unless `whole`.
    /// `remembered` is the name of the one that it had before: it is preferred where nothing in
    /// the bytes tells.
    ///
    /// # Errors
    ///
    /// [`Misencoded::Binary`].
    pub(crate) fn of(bytes: &[u8], whole: bool, remembered: &str) -> Result<Self, Misencoded> {
        if bytes.starts_with(&[0xff, 0xfe, 0, 0]) {
            return Err(Misencoded::Binary);
        }
        if let Some((charset, _)) = encoding_rs::Encoding::for_bom(bytes) {
            return Ok(Self { charset, mark: true });
        }
        let unmarked = |charset| Ok(Self { charset, mark: false });
        let start = &bytes[..bytes.len().min(START)];
        if memchr::memchr(0, start).is_some() {
            return unmarked(wide(start).ok_or(Misencoded::Binary)?);
        }
        if is_utf8(bytes, whole) {
            return unmarked(UTF_8);
        }
        if bytes.iter().filter(|it| is_control(**it)).count() > bytes.len() / CONTROLS {
            return Err(Misencoded::Binary);
        }
        let known = encoding_rs::Encoding::for_label(remembered.as_bytes());
        let fits = |it: &&'static encoding_rs::Encoding| {
            !is_unicode(it)
                && it.decode_without_bom_handling_and_without_replacement(bytes).is_some()
        };
        if let Some(known) = known.filter(fits) {
            return unmarked(known);
        }
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(bytes, whole);
        unmarked(detector.guess(None, Utf8Detection::Deny))
    }

    /// Its name in the WHATWG standard.
    pub(crate) fn name(self) -> &'static str {
        self.charset.name()
    }

    /// Whether it is only likely, since nothing in the bytes tells it for certain.
    pub(crate) fn is_guessed(self) -> bool {
        !is_unicode(self.charset)
    }

    /// Whether its bytes can be shown as they are.
    pub(crate) fn is_utf8(self) -> bool {
        self.charset == UTF_8
    }

    /// A decoder that takes the bytes piece by piece; a mark comes out as one.
    pub(crate) fn decoder(self) -> encoding_rs::Decoder {
        self.charset.new_decoder_without_bom_handling()
    }

    /// The text of bytes, without the mark. It can be encoded again into the very same bytes.
    ///
    /// # Errors
    ///
    /// [`Misencoded::Damaged`].
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<String, Misencoded> {
        let text = if self.is_utf8() {
            let damaged = |it: std::str::Utf8Error| Misencoded::Damaged { at: it.valid_up_to() };
            std::str::from_utf8(bytes).map_err(damaged)?.to_owned()
        } else {
            self.transcode(bytes)?
        };
        let text =
            if self.mark { text.strip_prefix(MARK).unwrap_or(&text).to_owned() } else { text };
        if !self.is_utf8() {
            // Some old encodings have two spellings for a character.
            let again = self.encode(&text).unwrap_or_default();
            let same = again.iter().zip(bytes).take_while(|(one, other)| one == other).count();
            if same < bytes.len() || again.len() != bytes.len() {
                return Err(Misencoded::Damaged { at: same });
            }
        }
        Ok(text)
    }

    fn transcode(self, bytes: &[u8]) -> Result<String, Misencoded> {
        let mut decoder = self.decoder();
        let room = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len());
        let mut text = String::with_capacity(room);
        match decoder.decode_to_string_without_replacement(bytes, &mut text, true) {
            (DecoderResult::InputEmpty, _) => Ok(text),
            (_, at) => Err(Misencoded::Damaged { at: at.saturating_sub(1) }),
        }
    }

    /// A text as it is seen, whatever is wrong with its bytes, without the mark.
    pub(crate) fn show(self, bytes: &[u8]) -> Cow<'_, str> {
        let (text, _) = self.charset.decode_without_bom_handling(bytes);
        match text.strip_prefix(MARK) {
            Some(text) if self.mark => Cow::Owned(text.to_owned()),
            _ => text,
        }
    }

    /// A text without a mark that comes by itself.
    pub(crate) fn unmarked(self, text: &str) -> &str {
        text.strip_prefix(MARK).filter(|_| self.mark).unwrap_or(text)
    }

    /// The bytes of a text, after the mark if there was one.
    ///
    /// # Errors
    ///
    /// [`Misencoded::Lacks`].
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, Misencoded> {
        let mark = if self.mark { "\u{feff}" } else { "" };
        let units = || mark.encode_utf16().chain(text.encode_utf16());
        if self.charset == UTF_16LE {
            return Ok(units().flat_map(u16::to_le_bytes).collect());
        }
        if self.charset == UTF_16BE {
            return Ok(units().flat_map(u16::to_be_bytes).collect());
        }
        if self.is_utf8() {
            return Ok([mark, text].concat().into_bytes());
        }
        let mut encoder = self.charset.new_encoder();
        let lengths = encoder.max_buffer_length_from_utf8_without_replacement(text.len());
        let mut bytes = Vec::with_capacity(lengths.unwrap_or(text.len()));
        match encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true) {
            (EncoderResult::Unmappable(character), _) => Err(Misencoded::Lacks { character }),
            (EncoderResult::InputEmpty | EncoderResult::OutputFull, _) => Ok(bytes),
        }
    }
}

/// Whether bytes are UTF-8, or were before a few of them were damaged: then an older encoding is
/// no better guess.
fn is_utf8(bytes: &[u8], whole: bool) -> bool {
    let (mut good, mut bad) = (0, 0);
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        good += chunk.valid().chars().filter(|it| !it.is_ascii()).count();
        let cut_off = !whole && chunks.peek().is_none() && chunk.invalid().len() < 4;
        bad += if cut_off { 0 } else { chunk.invalid().len() };
    }
    bad == 0 || good > bad
}

/// UTF-16 without a mark, told by the zeros in mostly western text.
fn wide(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let pairs = bytes.len() / 2;
    let zeros = |from: usize| bytes.iter().skip(from).step_by(2).filter(|it| **it == 0).count();
    match (zeros(0), zeros(1)) {
        (0, low) if low * 10 >= pairs * 9 && pairs > 1 => Some(UTF_16LE),
        (high, 0) if high * 10 >= pairs * 9 && pairs > 1 => Some(UTF_16BE),
        _ => None,
    }
}

fn is_unicode(charset: &'static encoding_rs::Encoding) -> bool {
    charset.output_encoding() == UTF_8
}

fn is_control(byte: u8) -> bool {
    byte < 0x20 && !b"\t\n\r\x0c\x08\x1b".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(bytes: &[u8]) -> Result<(&'static str, String), Misencoded> {
        let encoding = Encoding::of(bytes, true, "")?;
        Ok((encoding.name(), encoding.decode(bytes)?))
    }

    fn wide(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn an_encoding_is_told_from_the_bytes() {
        let french = "Le cœur déçu mais l'âme plutôt naïve, Louÿs rêva de crapaüter en canoë";
        let (western, _, _) = encoding_rs::WINDOWS_1252.encode(french);
        let russian = "Съешь же ещё этих мягких французских булок да выпей чаю";
        let (cyrillic, _, _) = encoding_rs::WINDOWS_1251.encode(russian);
        let japanese = "いろはにほへと ちりぬるを わかよたれそ つねならむ";
        let (shift, _, _) = encoding_rs::SHIFT_JIS.encode(japanese);
        for (bytes, name, text) in [
            (b"plain".to_vec(), "UTF-8", "plain"),
            ("ä€𝄞".into(), "UTF-8", "ä€𝄞"),
            ("\u{feff}ä".into(), "UTF-8", "ä"),
            (wide("\u{feff}ä€𝄞\r\n", u16::to_le_bytes), "UTF-16LE", "ä€𝄞\r\n"),
            (wide("\u{feff}ä€𝄞\r\n", u16::to_be_bytes), "UTF-16BE", "ä€𝄞\r\n"),
            (wide("plain text\r\n", u16::to_le_bytes), "UTF-16LE", "plain text\r\n"),
            (wide("plain text\r\n", u16::to_be_bytes), "UTF-16BE", "plain text\r\n"),
            (western.into(), "windows-1252", french),
            (cyrillic.into(), "windows-1251", russian),
            (shift.into(), "Shift_JIS", japanese),
            (vec![], "UTF-8", ""),
        ] {
            assert_eq!(found(&bytes), Ok((name, text.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_no_text_is_told() {
        for bytes in [
            &b"\x7fELF\x02\x01\x01\0\0\0"[..],
            b"\xff\xfe\0\0a\0\0\0",
            b"PK\x03\x04\x14\x00",
            b"\x1f\x8b\x08\x01\x02\x03\x04\x05\x06",
        ] {
            assert_eq!(Encoding::of(bytes, true, ""), Err(Misencoded::Binary), "{bytes:?}");
        }
    }

    #[test]
    fn damaged_utf8_stays_utf8_and_is_not_decoded() {
        let bytes = "äöü äöü \u{1}".bytes().chain([0xff]).collect::<Vec<_>>();
        assert_eq!(Encoding::of(&bytes, true, ""), Ok(Encoding::UTF8));
        assert_eq!(Encoding::UTF8.decode(&bytes), Err(Misencoded::Damaged { at: 15 }));
        assert!(Encoding::UTF8.show(&bytes).ends_with('\u{fffd}'));
    }

    #[test]
    fn a_character_that_is_cut_by_the_end_of_a_part_does_no_harm() {
        let bytes = "a€".as_bytes();
        assert_eq!(Encoding::of(&bytes[..3], false, ""), Ok(Encoding::UTF8));
        assert_ne!(Encoding::of(&bytes[..3], true, ""), Ok(Encoding::UTF8));
    }

    #[test]
    fn the_encoding_of_before_is_kept_where_the_bytes_do_not_tell() {
        let bytes = b"caf\xe9";
        assert_eq!(Encoding::of(bytes, true, "windows-1251").unwrap().name(), "windows-1251");
        assert_eq!(Encoding::of(b"cafe", true, "windows-1251"), Ok(Encoding::UTF8));
        assert_eq!(Encoding::of("café".as_bytes(), true, "windows-1251"), Ok(Encoding::UTF8));
    }

    #[test]
    fn a_character_that_an_encoding_lacks_is_told() {
        let western = Encoding::of(b"caf\xe9", true, "windows-1252").unwrap();
        assert_eq!(western.encode("5 €"), Ok(b"5 \x80".to_vec()));
        assert_eq!(western.encode("日"), Err(Misencoded::Lacks { character: '日' }));
    }

    proptest! {
        #[test]
        fn what_can_be_decoded_comes_back_byte_for_byte(bytes: Vec<u8>, name in "windows-125[0-8]|big5|gbk|euc-kr|shift_jis|") {
            if let Ok(encoding) = Encoding::of(&bytes, true, &name)
                && let Ok(text) = encoding.decode(&bytes)
            {
                prop_assert_eq!(encoding.encode(&text), Ok(bytes));
            }
        }

        #[test]
        fn every_text_survives_in_unicode(text in "[^\0\u{feff}]*", mark: bool) {
            for charset in [UTF_8, UTF_16LE, UTF_16BE] {
                let encoding = Encoding { charset, mark };
                let bytes = encoding.encode(&text).unwrap();
                prop_assert_eq!(encoding.decode(&bytes), Ok(text.clone()));
                prop_assert_eq!(encoding.show(&bytes), text.as_str());
            }
        }
    }
}
