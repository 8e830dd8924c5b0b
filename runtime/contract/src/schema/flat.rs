//! Makes a schema whose root is one object: the Messages API takes no alternatives there.
//!
//! What is published may thus be looser than the whole, which inputs are held against.

use serde_json::{Map, Value, json};

use super::BadSchema;
use super::bounds::{leads_nowhere, resolve};

/// Alternatives within alternatives at the root, as deep as anybody has reason to nest them.
const DEPTH: usize = 8;

/// The schema for the model.
pub(super) fn published(whole: &Value) -> Result<Value, BadSchema> {
    let mut flat = flatten(whole, whole, DEPTH)?.ok_or(BadSchema::RootNotObject)?;
    flat.remove("$schema");
    flat.insert("type".to_owned(), "object".into());
    Ok(Value::Object(flat))
}

/// One object in place of a schema and the alternatives at its root; nothing if it takes none.
fn flatten(
    whole: &Value,
    schema: &Value,
    depth: usize,
) -> Result<Option<Map<String, Value>>, BadSchema> {
    let too_deep = || BadSchema::Invalid(format!("alternatives nest deeper than {DEPTH}"));
    let below = depth.checked_sub(1).ok_or_else(too_deep)?;
    let Value::Object(schema) = schema else { return Ok(None) };
    if schema.get("type").is_some_and(|it| !admits_object(it)) {
        return Ok(None);
    }
    let mut flat = schema.clone();
    if let Some(target) = flat.remove("$ref") {
        let target = resolve(whole, &target).ok_or_else(|| leads_nowhere(&target))?;
        let Some(target) = flatten(whole, target, below)? else { return Ok(None) };
        merge(&mut flat, &[target], true);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = flat.remove(keyword) else { continue };
        let mut objects = Vec::new();
        for branch in &branches {
            objects.extend(flatten(whole, branch, below)?);
        }
        let together = keyword == "allOf";
        if objects.is_empty() || (together && objects.len() < branches.len()) {
            return Ok(None);
        }
        merge(&mut flat, &objects, together);
    }
    if let Some(rest) = flat.remove("unevaluatedProperties") {
        flat.entry("additionalProperties").or_insert(rest);
    }
    Ok(Some(flat))
}

fn admits_object(types: &Value) -> bool {
    types == "object" || types.as_array().is_some_and(|it| it.contains(&json!("object")))
}

/// Takes up the fields of branches, which hold `together` or one instead of another.
fn merge(flat: &mut Map<String, Value>, branches: &[Map<String, Value>], together: bool) {
    let required = |it: &Map<String, Value>| {
        it.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut needed = required(flat);
    let each: Vec<_> = branches.iter().map(required).collect();
    for name in each.iter().flatten() {
        if !needed.contains(name) && (together || each.iter().all(|it| it.contains(name))) {
            needed.push(name.clone());
        }
    }
    if !needed.is_empty() {
        flat.insert("required".to_owned(), needed.into());
    }
    let closed = |it: &Map<String, Value>| it.get("additionalProperties") == Some(&json!(false));
    if !together && branches.iter().all(closed) {
        flat.entry("additionalProperties").or_insert(json!(false));
    }
    let properties = flat.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(properties) = properties else { return };
    for (name, schema) in
        branches.iter().filter_map(|it| it.get("properties")?.as_object()).flatten()
    {
        match properties.get_mut(name) {
            Some(known) => join(known, schema),
            None => drop(properties.insert(name.clone(), schema.clone())),
        }
    }
}

/// Makes a field's schema take what either takes.
fn join(known: &mut Value, other: &Value) {
    if known == other {
        return;
    }
    if let (Some(mut options), Some(more)) = (options(known), options(other)) {
        options.extend(
            more.into_iter()
                .filter(|it| !known["enum"].as_array().is_some_and(|all| all.contains(it))),
        );
        let kind = known.get("type").filter(|it| Some(*it) == other.get("type")).cloned();
        *known = json!({"enum": options});
        if let Some(kind) = kind {
            known["type"] = kind;
        }
    } else if let Some(Value::Array(branches)) = known.get_mut("anyOf") {
        if !branches.contains(other) {
            branches.push(other.clone());
        }
    } else {
        *known = json!({"anyOf": [known.take(), other]});
    }
}

fn options(schema: &Value) -> Option<Vec<Value>> {
    let one = schema.get("const").map(|it| vec![it.clone()]);
    one.or_else(|| schema.get("enum")?.as_array().cloned())
}
