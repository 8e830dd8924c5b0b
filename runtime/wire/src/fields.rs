//! Fields of recorded JSON that may hold anything: what is expected is kept, the rest is absent.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::tool_use::MAX_RAW_BYTES;

/// A string, borrowed where it has no escapes; `None` for any other value.
#[derive(Debug, Default, Clone)]
pub(crate) struct Text<'a>(pub(crate) Option<Cow<'a, str>>);

impl Text<'_> {
    pub(crate) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(crate) fn to_owned(&self) -> Option<String> {
        self.get().map(str::to_owned)
    }
}

/// A boolean; `None` for any other value.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flag(pub(crate) Option<bool>);

/// One scalar, or something else that was skipped.
enum Scalar<'a> {
    Text(Cow<'a, str>),
    Bool(bool),
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match deserializer.deserialize_any(AnyScalar)? {
            Scalar::Text(text) => Some(text),
            Scalar::Bool(_) | Scalar::Other => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match deserializer.deserialize_any(AnyScalar)? {
            Scalar::Bool(flag) => Some(flag),
            Scalar::Text(_) | Scalar::Other => None,
        }))
    }
}

struct AnyScalar;

impl<'de> Visitor<'de> for AnyScalar {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(flag))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

/// A value left as text. Unlike `Option<&RawValue>`, tells `null` from an absent field.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Raw<'a>(pub(crate) Option<&'a str>);

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Some(<&RawValue>::deserialize(deserializer)?.get())))
    }
}

/// A string as bytes, in which a surrogate may stand alone (WTF-8); the other half may be in the
/// next piece.
#[derive(Debug)]
pub(crate) struct Piece<'a>(pub(crate) Cow<'a, [u8]>);

impl<'de: 'a, 'a> Deserialize<'de> for Piece<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Cow<'de, [u8]>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(bytes))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Cow::Owned(bytes.to_owned()))
            }
        }
        deserializer.deserialize_bytes(Bytes).map(Self)
    }
}

/// Reads an object. Derived structs would also take a list of their fields, which no format has.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> serde_json::Result<T> {
    if json.trim_ascii_start().starts_with('[') {
        return Err(serde::de::Error::custom("a list where an object was due"));
    }
    serde_json::from_str(json)
}

/// The objects of a list that have one shape. Anything else in the list, or in its place, is left
/// out.
pub(crate) fn objects<'a, T: Deserialize<'a>>(raw: Raw<'a>) -> Vec<T> {
    let Some(list) = raw.0.filter(|text| text.starts_with('[')) else { return Vec::new() };
    serde_json::from_str(list).unwrap_or_else(|_| {
        let items: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
        items.iter().filter_map(|item| object(item.get()).ok()).collect()
    })
}

/// A recorded value. What does not parse is repaired or kept as text: a result must not be lost.
pub(crate) fn value(raw: Raw<'_>) -> Value {
    let Some(text) = raw.0 else { return Value::Null };
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&without_lone_surrogates(text)))
        .unwrap_or_else(|_| Value::String(text[..text.floor_char_boundary(MAX_RAW_BYTES)].into()))
}

/// Puts U+FFFD in place of each `\ud800`-like escape that has no other half.
fn without_lone_surrogates(text: &str) -> String {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut repaired = String::with_capacity(text.len());
    let mut rest = 0;
    while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[rest..]) {
        let at = rest + found;
        repaired.push_str(&text[rest..at]);
        // An escape is two characters, or six with four digits, or twelve as a pair.
        let end = match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at + 12,
            (Some(0xD800..=0xDFFF), _) => {
                repaired.push_str("\\ufffd");
                rest = at + 6;
                continue;
            }
            (Some(_), _) => at + 6,
            (None, _) => text.len().min(at + 2),
        };
        let end = text.ceil_char_boundary(end);
        repaired.push_str(&text[at..end]);
        rest = end;
    }
    repaired.push_str(&text[rest..]);
    repaired
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_recorded_value_survives_halves_of_surrogate_pairs() {
        let cases = [
            (r#""a\ud83d b""#, json!("a\u{fffd} b")),
            (r#""\ud83d\ude00 \ude00""#, json!("😀 \u{fffd}")),
            (r#""\\ud83d \ud83d""#, json!("\\ud83d \u{fffd}")),
            (r#"["\ud83d\n"]"#, json!(["\u{fffd}\n"])),
        ];
        for (raw, expected) in cases {
            assert_eq!(value(Raw(Some(raw))), expected, "{raw}");
        }
    }

    #[test]
    fn a_value_nested_too_deep_is_kept_as_its_text() {
        let raw = "[".repeat(200) + &"]".repeat(200);
        assert_eq!(value(Raw(Some(&raw))), json!(raw));
    }

    #[test]
    fn a_list_keeps_its_objects_and_drops_the_rest() {
        #[derive(serde::Deserialize)]
        struct Named<'a> {
            #[serde(default, borrow)]
            name: Text<'a>,
        }
        let raw = r#"["x", {"name": "a"}, 3, null, {"name": ["b"]}, {}]"#;
        let names: Vec<_> =
            objects::<Named>(Raw(Some(raw))).iter().map(|one| one.name.to_owned()).collect();
        assert_eq!(names, [Some("a".to_owned()), None, None]);
        assert!(objects::<Named>(Raw(Some("\"text\""))).is_empty());
        assert!(objects::<Named>(Raw(None)).is_empty());
    }
}
