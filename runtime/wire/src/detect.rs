//! Which format a file is in, told from its first lines.

use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use crate::fields::Text;

/// How many bytes are looked at before a file is given up as not understood.
pub(crate) const DETECT_BYTES: usize = 4 << 20;

/// A format that [`read_recording`](crate::read_recording) understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// The body of a streamed Anthropic Messages response.
    AnthropicSse,
    /// A Claude Code session, `~/.claude/projects/*/*.jsonl`.
    Transcript,
    /// The output of `claude -p --output-format stream-json`.
    StreamJson,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AnthropicSse => "anthropic-sse",
            Self::Transcript => "transcript",
            Self::StreamJson => "stream-json",
        })
    }
}

/// Nothing in a file's first lines belongs to a format that is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a format that is understood: give an Anthropic Messages stream (SSE), a Claude Code \
     transcript (JSON Lines) or the output of --output-format stream-json, in UTF-8"
)]
pub struct UnknownFormat;

impl Format {
    /// Tells the format from the first bytes of a file; a last line that is cut still counts.
    pub fn detect(head: &[u8]) -> Option<Self> {
        let mut detector = Detector::default();
        let head = &head[..head.len().min(DETECT_BYTES)];
        for line in head.split(|byte| matches!(byte, b'\n' | b'\r')) {
            match detector.line(line) {
                Verdict::Is(format) => return Some(format),
                Verdict::Unknown => return None,
                Verdict::Unsure => {}
            }
        }
        None
    }
}

/// What the lines so far say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Is(Format),
    Unknown,
    Unsure,
}

/// Looks at one line after the other until one decides.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    begun: bool,
}

impl Detector {
    pub(crate) fn line(&mut self, line: &[u8]) -> Verdict {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return Verdict::Unsure;
        }
        let first = !std::mem::replace(&mut self.begun, true);
        // A JSON array, even of entries, is another format.
        if first && line.starts_with(b"[") {
            let inner = line[1..].trim_ascii_start();
            if matches!(inner.first(), None | Some(b'{' | b']')) {
                return Verdict::Unknown;
            }
        }
        let format = match line.strip_prefix(b"data:") {
            Some(data) => Seen::read(data).is_anthropic_event().then_some(Format::AnthropicSse),
            None if line.starts_with(b"event:") => {
                is_anthropic(line[6..].trim_ascii()).then_some(Format::AnthropicSse)
            }
            None if line.starts_with(b"{") => Seen::read(line).format(),
            None => None,
        };
        format.map_or(Verdict::Unsure, Verdict::Is)
    }
}

/// Event names that no other wire format has; `ping` and `error` are common.
fn is_anthropic(event: &[u8]) -> bool {
    event.starts_with(b"message_start")
        || event.starts_with(b"message_delta")
        || event.starts_with(b"message_stop")
        || event.starts_with(b"content_block_")
}

/// The telling top-level fields of an object, as far as it could be read.
#[derive(Default)]
struct Seen {
    kind: String,
    /// A field that only transcripts have.
    transcript: bool,
    /// A field that only `stream-json` has.
    stream: bool,
    session_id: bool,
}

impl Seen {
    /// An object that is cut, or corrupt further on, has told what stood before.
    fn read(json: &[u8]) -> Self {
        let mut seen = Self::default();
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        match deserializer.deserialize_map(&mut seen) {
            Ok(()) | Err(_) => seen,
        }
    }

    fn is_anthropic_event(&self) -> bool {
        is_anthropic(self.kind.as_bytes())
    }

    fn format(&self) -> Option<Format> {
        match self.kind.as_str() {
            "file-history-snapshot" => Some(Format::Transcript),
            "" => None,
            _ if self.transcript => Some(Format::Transcript),
            _ if self.stream => Some(Format::StreamJson),
            // A lone `result` is what `--output-format json` prints.
            "system" | "assistant" | "user" | "stream_event" | "rate_limit_event"
                if self.session_id =>
            {
                Some(Format::StreamJson)
            }
            _ => None,
        }
    }
}

impl<'de> Visitor<'de> for &mut Seen {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(key) = fields.next_key::<Text<'de>>()? {
            match key.get() {
                Some("type") => {
                    self.kind = fields.next_value::<Text<'de>>()?.to_owned().unwrap_or_default();
                    continue;
                }
                Some("sessionId" | "parentUuid" | "isSidechain" | "leafUuid") => {
                    self.transcript = true;
                }
                Some("parent_tool_use_id") => self.stream = true,
                Some("session_id") => self.session_id = true,
                Some(_) | None => {}
            }
            fields.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_told_from_its_first_telling_line() {
        let cases: &[(&str, Format)] = &[
            ("event: message_start\ndata: {}\n", Format::AnthropicSse),
            (": note\r\n\r\ndata: {\"type\": \"message_start\"}\r\n", Format::AnthropicSse),
            ("data: {\"type\":\"content_block_start\",\"index\"", Format::AnthropicSse),
            (
                "\u{feff}event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_start",
                Format::AnthropicSse,
            ),
            (r#"{"type":"summary","summary":"Tidy up","leafUuid":"u"}"#, Format::Transcript),
            (r#"{"parentUuid":null,"type":"user","message":{"role":"us"#, Format::Transcript),
            (r#"{"type":"file-history-snapshot","messageId":"u"}"#, Format::Transcript),
            ("{corrupt\n{\"type\":\"last-prompt\",\"sessionId\":\"s\"}", Format::Transcript),
            (r#"{"type":"system","subtype":"init","session_id":"s"}"#, Format::StreamJson),
            (r#"{"type":"assistant","message":{},"parent_tool_use_id":null}"#, Format::StreamJson),
        ];
        for (head, format) in cases {
            assert_eq!(Format::detect(head.as_bytes()), Some(*format), "{head}");
        }
    }

    #[test]
    fn other_formats_are_not_understood() {
        let cases = [
            "",
            "\n\n",
            "plain words",
            // OpenAI chat, its responses, Gemini
            "data: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\ndata: [DONE]\n",
            ": OPENROUTER PROCESSING\n\ndata: {\"id\":\"gen-1\",\"choices\":[]}\n",
            "event: response.created\ndata: {\"type\":\"response.created\"}\n\nevent: error\ndata: {\"type\":\"error\"}\n",
            "data: {\"candidates\":[{\"content\":{\"role\":\"model\"}}]}\n",
            // Codex
            r#"{"timestamp":"2025-10-01T00:00:00Z","type":"session_meta","payload":{"id":"x"}}"#,
            // arrays and single objects of Claude Code's own
            "[{\"type\":\"user\",\"sessionId\":\"s\"},\n{\"type\":\"user\",\"sessionId\":\"s\"}\n]",
            "[\n{\"type\":\"user\",\"sessionId\":\"s\"}\n]",
            r#"{"type":"result","subtype":"success","session_id":"s"}"#,
            "{\n  \"type\": \"user\",\n  \"sessionId\": \"s\"\n}",
            r#"{"id":"call","tool":"Bash","version":"2.0.1","cwd":"C:\\x","input":{}}"#,
        ];
        for head in cases {
            assert_eq!(Format::detect(head.as_bytes()), None, "{head}");
        }
    }

    #[test]
    fn a_log_line_in_brackets_is_not_taken_for_an_array() {
        let head = b"[12:00:01.5] started\n{\"type\":\"user\",\"sessionId\":\"s\"}\n";
        assert_eq!(Format::detect(head), Some(Format::Transcript));
    }
}
