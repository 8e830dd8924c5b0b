//! Derives the schema of a Rust type and says in it what a model needs, and no more.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// The schema of a type, draft 2020-12, without marks of Rust: no `$schema`, no type's name as a
/// title, no `uint64`, no `null` where a field can be left out.
pub(super) fn raw<T: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(root) = &mut schema {
        root.remove("title");
    }
    each(&mut schema, &mut plain);
    schema
}

fn plain(schema: &mut Map<String, Value>) {
    let numeric = |it: &Value| it == "integer" || it == "number";
    if schema.get("type").is_some_and(|it| types(it).any(numeric)) {
        schema.remove("format");
    }
    let required = schema.get("required").cloned();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (name, property) in properties {
        let needed =
            required.as_ref().and_then(Value::as_array).is_some_and(|it| it.contains(&json!(name)));
        if let (false, Value::Object(property)) = (needed, property) {
            drop_null(property);
        }
    }
}

/// A field that may be absent needs no second way to say nothing: models know it so from Claude
/// Code, whose optional fields refuse `null`.
fn drop_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|it| it != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            property.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(options)) = property.get_mut("enum") {
        options.retain(|it| !it.is_null());
    }
    if property.get("default").is_some_and(Value::is_null) {
        property.remove("default");
    }
    if let Some(Value::Array(branches)) = property.get_mut("anyOf") {
        branches.retain(|it| *it != json!({"type": "null"}));
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            property.remove("anyOf");
            for (key, value) in only {
                property.entry(key).or_insert(value);
            }
        }
    }
}

/// Closes every object that doesn't say what else it may hold: a field that nobody knows is a
/// mistake of the model, whether or not the type says `deny_unknown_fields`.
pub(super) fn closed(mut schema: Value) -> Value {
    // A type that takes anything takes any object.
    if schema == Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty) {
        schema = json!({"type": "object", "additionalProperties": true});
    }
    close(&mut schema, true);
    schema
}

fn close(schema: &mut Value, closes: bool) {
    let Value::Object(map) = schema else { return };
    let has = |key: &str| map.contains_key(key);
    let composed = has("allOf") || has("anyOf") || has("oneOf") || has("$ref");
    // What is composed with an object's own fields is judged together with them.
    let object =
        map.get("type").is_some_and(|it| it == "object") || has("properties") || has("allOf");
    let open = !has("additionalProperties") && !has("unevaluatedProperties");
    if closes && object && open {
        let keyword = if composed { "unevaluatedProperties" } else { "additionalProperties" };
        map.insert(keyword.to_owned(), Value::Bool(false));
    }
    for (key, value) in map {
        match key.as_str() {
            "allOf" | "anyOf" | "oneOf" => {
                let branches = value.as_array_mut().into_iter().flatten();
                branches.for_each(|it| close(it, closes && !object));
            }
            _ => subschemas(key, value).for_each(|it| close(it, true)),
        }
    }
}

/// Changes a schema and each that it holds.
pub(super) fn each(schema: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(map) = schema else { return };
    change(map);
    for (key, value) in map {
        subschemas(key, value).for_each(|it| each(it, change));
    }
}

/// The schemas that a keyword holds.
fn subschemas<'a>(
    keyword: &str,
    value: &'a mut Value,
) -> Box<dyn Iterator<Item = &'a mut Value> + 'a> {
    match (keyword, value) {
        ("properties" | "patternProperties" | "$defs" | "dependentSchemas", Value::Object(map)) => {
            Box::new(map.values_mut())
        }
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
            Box::new(list.iter_mut())
        }
        (
            "items"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else"
            | "propertyNames",
            value,
        ) => Box::new(std::iter::once(value)),
        _ => Box::new(std::iter::empty()),
    }
}

fn types(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice).iter()
}
