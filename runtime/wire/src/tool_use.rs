//! A complete `tool_use` block, and the bounds under which its input is parsed.

use serde_json::{Map, Value};

/// Longest input that is parsed, in bytes of JSON text.
///
/// Half of the 32 MB that the Messages API takes as a whole request; recorded inputs stay under
/// 64 KiB.
pub const MAX_INPUT_BYTES: usize = 16 << 20;

/// Deepest nesting of arrays and objects in an input. This is `serde_json`'s own bound, which
/// keeps parsing and dropping within a small stack.
pub const MAX_INPUT_DEPTH: usize = 127;

/// Longest raw text, in bytes, kept of an input that is not JSON: enough to show the model what
/// it sent.
pub const MAX_RAW_BYTES: usize = 64 << 10;

/// Longest id of a call, in bytes; recorded ones stay under 64.
const MAX_ID_BYTES: usize = 1024;

/// Whether a result could name this id.
pub(crate) fn is_usable_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID_BYTES
}

/// A tool call as the model made it: one complete `tool_use` block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolUse {
    /// The id that its result must name. Opaque: not always `toolu_...`.
    pub id: String,
    /// The tool's name as sent, unchecked; empty where the block had none.
    pub name: String,
    /// The arguments.
    pub input: Input,
}

/// Input of a `tool_use`: parsed, or the text that can't be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Input {
    /// Any JSON value; that it is an object is the schema's business.
    Json(Value),
    /// Text that is not JSON, or is past [`MAX_INPUT_BYTES`] or [`MAX_INPUT_DEPTH`]. Never run.
    Malformed {
        /// The text as sent, or its first [`MAX_RAW_BYTES`].
        raw: String,
        /// What is wrong with it and where, in words that the model can act on.
        error: String,
    },
}

impl Input {
    /// Parses the text of an input. Blank text is `{}`, as the Messages API defines it.
    pub fn parse(raw: &str) -> Self {
        if raw.len() > MAX_INPUT_BYTES {
            return Self::too_long(raw, raw.len());
        }
        if raw.trim_ascii().is_empty() {
            return Self::Json(Value::Object(Map::new()));
        }
        match serde_json::from_str::<Value>(raw) {
            Ok(value) => unwrap_unparsed(value),
            Err(error) => Self::malformed(raw, explain(&error)),
        }
    }

    /// The value, if it is JSON.
    pub fn as_json(&self) -> Option<&Value> {
        match self {
            Self::Json(value) => Some(value),
            Self::Malformed { .. } => None,
        }
    }

    pub(crate) fn malformed(raw: &str, error: String) -> Self {
        let kept = raw.floor_char_boundary(MAX_RAW_BYTES);
        let error = match kept < raw.len() {
            true => format!("{error} (first {kept} of {} bytes kept)", raw.len()),
            false => error,
        };
        Self::Malformed { raw: raw[..kept].to_owned(), error }
    }

    /// An input of `bytes` bytes, of which `head` is the beginning.
    pub(crate) fn too_long(head: &str, bytes: usize) -> Self {
        let kept = head.floor_char_boundary(MAX_RAW_BYTES);
        let error = format!(
            "the input has {bytes} bytes and the limit is {MAX_INPUT_BYTES}: send less at once, \
             or write it to a file in parts (first {kept} bytes kept)"
        );
        Self::Malformed { raw: head[..kept].to_owned(), error }
    }
}

fn explain(error: &serde_json::Error) -> String {
    // serde_json has no category of its own for this error.
    if error.to_string().starts_with("recursion limit exceeded") {
        return format!(
            "the input is nested deeper than {MAX_INPUT_DEPTH} levels at line {} column {}: \
             flatten it",
            error.line(),
            error.column()
        );
    }
    format!("the input could not be parsed as JSON: {error}")
}

/// Claude Code keeps text that it could not parse under `__unparsedToolInput {raw, len}`.
fn unwrap_unparsed(value: Value) -> Input {
    let Some(unparsed) = value.get("__unparsedToolInput") else { return Input::Json(value) };
    let error = "the input could not be parsed as JSON when it was recorded".to_owned();
    match unparsed.get("raw").unwrap_or(unparsed) {
        Value::String(raw) => Input::malformed(raw, error),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => Input::malformed(&other.to_string(), error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error_of(input: &Input) -> &str {
        match input {
            Input::Malformed { error, .. } => error,
            Input::Json(value) => panic!("parsed as {value}"),
        }
    }

    #[test]
    fn blank_text_is_the_empty_object() {
        assert_eq!(Input::parse(""), Input::Json(json!({})));
        assert_eq!(Input::parse(" \n"), Input::Json(json!({})));
    }

    #[test]
    fn text_that_is_not_json_is_kept_with_the_position_of_the_fault() {
        for raw in ["{", "{}{}", r#"{"a":1"#, "{'a':1}", r#"{"a":"\ud800"}"#, "nope"] {
            let Input::Malformed { raw: kept, error } = Input::parse(raw) else {
                panic!("{raw} parsed")
            };
            assert_eq!(kept, raw);
            assert!(error.contains("line 1 column"), "{error}");
        }
    }

    #[test]
    fn the_deepest_allowed_nesting_parses_and_one_more_does_not() {
        let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
        assert!(Input::parse(&nested(MAX_INPUT_DEPTH)).as_json().is_some());
        let deeper = Input::parse(&nested(MAX_INPUT_DEPTH + 1));
        assert!(error_of(&deeper).contains("flatten it"));
    }

    #[test]
    fn a_million_levels_are_a_bounded_error() {
        let input = Input::parse(&r#"{"a":"#.repeat(1_000_000));
        assert!(error_of(&input).contains("nested deeper than 127 levels"));
        let Input::Malformed { raw, .. } = input else { panic!("parsed") };
        assert!(raw.len() <= MAX_RAW_BYTES);
    }

    #[test]
    fn an_input_over_the_limit_is_not_parsed_and_says_how_to_go_on() {
        let input = Input::parse(&format!("\"{}\"", "é".repeat(MAX_INPUT_BYTES / 2)));
        assert!(error_of(&input).contains("write it to a file in parts"));
        let Input::Malformed { raw, .. } = input else { panic!("parsed") };
        assert!(raw.len() <= MAX_RAW_BYTES && raw.ends_with('é'));
    }

    #[test]
    fn input_recorded_as_unparsed_is_malformed_and_keeps_its_text() {
        for (recorded, raw) in [
            (json!({"__unparsedToolInput": {"raw": "{\"a\"", "len": 4}}), "{\"a\""),
            (json!({"__unparsedToolInput": "{"}), "{"),
            (json!({"__unparsedToolInput": {"file_path": 42}}), r#"{"file_path":42}"#),
        ] {
            let Input::Malformed { raw: kept, .. } = Input::parse(&recorded.to_string()) else {
                panic!("{recorded} is runnable")
            };
            assert_eq!(kept, raw);
        }
    }

    #[test]
    fn a_value_that_is_not_an_object_is_kept_for_the_schema_to_refuse() {
        for value in [json!(null), json!([1]), json!("{\"a\":1}"), json!(7)] {
            assert_eq!(Input::parse(&value.to_string()), Input::Json(value));
        }
    }
}
