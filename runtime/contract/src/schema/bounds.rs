//! Bounds what a schema from elsewhere can cost: a stack, or a second, for each input.

use serde_json::Value;

use super::BadSchema;

/// Schemas that may follow one another at one place of the input, by `$ref` or `allOf` and kin.
/// Each is a stack frame for each level of the input.
const CHAIN: usize = 16;
/// Such steps in all, from every place of the schema.
const STEPS: usize = 100_000;
/// Levels of the schema itself: those that serde_json reads.
const DEPTH: usize = 128;

/// Checks a schema before it is compiled.
pub(super) fn check(whole: &Value) -> Result<(), BadSchema> {
    let mut steps = STEPS;
    walk(whole, whole, DEPTH, &mut steps)
}

/// The place in the schema that a `$ref` names, if it is a pointer within it.
pub(super) fn resolve<'a>(whole: &'a Value, reference: &Value) -> Option<&'a Value> {
    let pointer = reference.as_str()?.strip_prefix('#')?;
    if pointer.contains('%') { None } else { whole.pointer(pointer) }
}

pub(super) fn leads_nowhere(reference: &Value) -> BadSchema {
    let target = crate::wording::quote(reference.as_str().unwrap_or_default(), 200);
    BadSchema::Invalid(format!("`{target}` leads nowhere within it"))
}

fn walk(whole: &Value, node: &Value, depth: usize, steps: &mut usize) -> Result<(), BadSchema> {
    let Some(below) = depth.checked_sub(1) else {
        return Err(BadSchema::Invalid(format!("it nests deeper than {DEPTH}")));
    };
    match node {
        Value::Object(map) => {
            follow(whole, node, CHAIN, steps)?;
            for (key, value) in map {
                match key.as_str() {
                    // Data, whatever it looks like.
                    "const" | "default" | "enum" | "examples" => {}
                    "$dynamicRef" | "$recursiveRef" if value.is_string() => {
                        return Err(leads_nowhere(value));
                    }
                    "$id" if value.is_string() && depth < DEPTH => {
                        return Err(BadSchema::Invalid("a part of it has an `$id`".to_owned()));
                    }
                    _ => walk(whole, value, below, steps)?,
                }
            }
            Ok(())
        }
        Value::Array(list) => list.iter().try_for_each(|it| walk(whole, it, below, steps)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Follows all that is asked of one place of the input.
fn follow(whole: &Value, schema: &Value, chain: usize, steps: &mut usize) -> Result<(), BadSchema> {
    let Value::Object(map) = schema else { return Ok(()) };
    for (key, value) in map {
        let next: Vec<&Value> = match (key.as_str(), value) {
            ("$ref", Value::String(_)) => {
                vec![resolve(whole, value).ok_or_else(|| leads_nowhere(value))?]
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => list.iter().collect(),
            ("dependentSchemas" | "dependencies", Value::Object(map)) => map.values().collect(),
            ("not" | "if" | "then" | "else", schema) => vec![schema],
            _ => continue,
        };
        let Some(below) = chain.checked_sub(1) else {
            let what = format!("more than {CHAIN} schemas follow one another at one place");
            return Err(BadSchema::Invalid(what));
        };
        for schema in next {
            *steps = steps.checked_sub(1).ok_or_else(|| {
                BadSchema::Invalid(format!("following it takes more than {STEPS} steps"))
            })?;
            follow(whole, schema, below, steps)?;
        }
    }
    Ok(())
}
