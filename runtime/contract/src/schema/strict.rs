//! The form of a schema that the API takes where it is to hold the model to it (`strict`).
//!
//! It takes a subset (platform docs, structured outputs): objects that are closed, and no bounds
//! of numbers, texts and lists. Bounds are left out here, and inputs are still held against them.

use serde_json::Value;

use super::derived::each;

/// Keywords that can be left out without a change of shape.
const BOUNDS: [&str; 12] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// The schema for the model. The error says what the API wouldn't take, as half a sentence.
pub(crate) fn for_strict(schema: &Value) -> Result<Value, String> {
    let mut strict = schema.clone();
    let mut open = false;
    each(&mut strict, &mut |it| {
        BOUNDS.iter().for_each(|bound| drop(it.remove(*bound)));
        let object =
            it.get("type").is_some_and(|it| it == "object") || it.contains_key("properties");
        open |= object && it.get("additionalProperties") != Some(&Value::Bool(false));
    });
    if open {
        return Err("an object of its input takes fields that it doesn't name".to_owned());
    }
    if has_reference(&strict) {
        return Err("its input holds itself, or a part of it is described by `$ref`".to_owned());
    }
    Ok(strict)
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(has_reference),
        Value::Array(list) => list.iter().any(has_reference),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
