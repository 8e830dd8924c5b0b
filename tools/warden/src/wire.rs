//! What host and keeper say to each other, as bytes.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

/// Longest specification, in bytes: more than a system takes as arguments anyway (Linux: 2 MiB
/// for all, 128 KiB for one).
const SPEC: usize = 8 << 20;

/// The word with which the host hands a control socket and an output to the warden.
pub const HANDOVER: u8 = b'h';

/// What a command is started with. The host sends it first, as soon as it has the control socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// The program, by path or by name.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its working directory.
    pub folder: PathBuf,
    /// Variables of its environment beside those that the warden has, or without a value instead
    /// of those.
    pub variables: Vec<(OsString, Option<OsString>)>,
}

impl Spec {
    /// The bytes of it, with their number before them.
    ///
    /// # Errors
    ///
    /// If it is longer than any system takes.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let mut fields = Fields(Vec::new());
        fields.text(&self.program);
        fields.text(self.folder.as_os_str());
        fields.number(self.arguments.len());
        self.arguments.iter().for_each(|it| fields.text(it));
        fields.number(self.variables.len());
        for (name, value) in &self.variables {
            fields.text(name);
            fields.number(usize::from(value.is_some()));
            fields.text(value.as_deref().unwrap_or_default());
        }
        if fields.0.len() > SPEC {
            return Err(io::Error::from(io::ErrorKind::ArgumentListTooLong));
        }
        let mut bytes = (fields.0.len() as u32).to_le_bytes().to_vec();
        bytes.append(&mut fields.0);
        Ok(bytes)
    }

    /// Reads one.
    ///
    /// # Errors
    ///
    /// If it ends early or isn't one.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > SPEC {
            return Err(io::Error::from(io::ErrorKind::ArgumentListTooLong));
        }
        let mut bytes = vec![0; length];
        from.read_exact(&mut bytes)?;
        Self::decode(&bytes).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    fn decode(mut bytes: &[u8]) -> Option<Self> {
        let from = &mut bytes;
        let (program, folder) = (text(from)?, PathBuf::from(text(from)?));
        let arguments = (0..number(from)?).map(|_| text(from)).collect::<Option<_>>()?;
        let variables = (0..number(from)?).map(|_| {
            let (name, has_value, value) = (text(from)?, number(from)?, text(from)?);
            Some((name, (has_value == 1).then_some(value)))
        });
        let variables = variables.collect::<Option<_>>()?;
        from.is_empty().then_some(Self { program, arguments, folder, variables })
    }
}

struct Fields(Vec<u8>);

impl Fields {
    fn number(&mut self, number: usize) {
        // What is longer than that is refused as a whole.
        self.0.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn text(&mut self, text: &OsStr) {
        self.number(text.len());
        self.0.extend(text.as_bytes());
    }
}

fn number(from: &mut &[u8]) -> Option<u32> {
    let (number, rest) = from.split_first_chunk::<4>()?;
    *from = rest;
    Some(u32::from_le_bytes(*number))
}

fn text(from: &mut &[u8]) -> Option<OsString> {
    let length = number(from)? as usize;
    let (text, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(OsString::from_vec(text.to_vec()))
}

/// What the host tells a keeper, after the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Ask all below you to end (SIGTERM).
    AskToEnd,
    /// Kill all below you, and say when they are gone.
    Kill,
}

impl Word {
    /// Its byte.
    #[must_use]
    pub fn byte(self) -> u8 {
        match self {
            Self::AskToEnd => b't',
            Self::Kill => b'k',
        }
    }

    /// The word of a byte, if there is one.
    #[must_use]
    pub fn of(byte: u8) -> Option<Self> {
        [Self::AskToEnd, Self::Kill].into_iter().find(|it| it.byte() == byte)
    }
}

/// What a keeper tells its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The keeper has the specification. Until then, nothing has been started.
    Taken,
    /// The command runs, as this process.
    Started(i32),
    /// It could not be started: the system's error number.
    Failed(i32),
    /// The command's own process has ended, with this wait status. Others may still run.
    Ended(i32),
    /// Nothing is left. The keeper goes.
    Gone,
    /// This process was killed and doesn't go. The keeper stays with it.
    Stuck(i32),
}

/// Bytes of a report.
pub const REPORT: usize = 5;

impl Report {
    /// Its bytes.
    #[must_use]
    pub fn bytes(self) -> [u8; REPORT] {
        let (tag, number) = match self {
            Self::Taken => (b't', 0),
            Self::Started(pid) => (b's', pid),
            Self::Failed(errno) => (b'f', errno),
            Self::Ended(status) => (b'e', status),
            Self::Gone => (b'g', 0),
            Self::Stuck(pid) => (b'p', pid),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [tag, a, b, c, d]
    }

    /// The report of these bytes, if there is one.
    #[must_use]
    pub fn of([tag, a, b, c, d]: [u8; REPORT]) -> Option<Self> {
        let number = i32::from_le_bytes([a, b, c, d]);
        match tag {
            b't' => Some(Self::Taken),
            b's' => Some(Self::Started(number)),
            b'f' => Some(Self::Failed(number)),
            b'e' => Some(Self::Ended(number)),
            b'g' => Some(Self::Gone),
            b'p' => Some(Self::Stuck(number)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec {
            program: "bash".into(),
            arguments: vec!["-c".into(), OsString::from_vec(b"echo \xff\n".to_vec()), "".into()],
            folder: "/somewhere".into(),
            variables: vec![("A".into(), Some("b".into())), ("C".into(), None)],
        }
    }

    #[test]
    fn what_is_sent_is_what_is_read() {
        for spec in [spec(), Spec::default()] {
            let bytes = spec.encode().unwrap();
            let mut from = bytes.as_slice();
            assert_eq!(Spec::read(&mut from).unwrap(), spec);
            assert!(from.is_empty());
        }
        for report in [
            Report::Taken,
            Report::Started(7),
            Report::Failed(2),
            Report::Ended(256),
            Report::Gone,
            Report::Stuck(i32::MAX),
        ] {
            assert_eq!(Report::of(report.bytes()), Some(report));
        }
        for word in [Word::AskToEnd, Word::Kill] {
            assert_eq!(Word::of(word.byte()), Some(word));
        }
    }

    #[test]
    fn what_is_cut_or_changed_is_refused_and_never_a_panic() {
        let bytes = spec().encode().unwrap();
        for length in 0..bytes.len() {
            assert!(Spec::read(&mut &bytes[..length]).is_err());
        }
        for at in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                // A letter may have become another one; the rest is refused.
                drop(Spec::read(&mut changed.as_slice()));
            }
        }
        assert_eq!((Word::of(b'x'), Report::of(*b"xabcd")), (None, None));
    }

    #[test]
    fn what_no_system_takes_is_not_sent() {
        let long = Spec { arguments: vec!["x".repeat(SPEC).into()], ..Spec::default() };
        assert_eq!(long.encode().unwrap_err().kind(), io::ErrorKind::ArgumentListTooLong);
    }
}
