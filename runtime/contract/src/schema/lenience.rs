//! Lenience: takes a number or a boolean that was sent as text, where nothing else can be meant.
//!
//! Models send `"5000"` for 5000 (Claude Code 2.1.140 takes ` 10` and `+10` for a line number).
//! The schema alone says where that is safe: at a place that takes numbers and no text. Nothing
//! is guessed: `"5s"` and `"yes"` stay what they are and are refused, as is an array as text.

use serde_json::{Number, Value};

use super::bounds::resolve;

/// Schemas at one place that are looked at; where there are more, nothing is changed.
const CANDIDATES: usize = 64;
/// The largest whole number up to which a float names one number only.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Makes an input fit its schema as far as that can be done without a guess. What fits is left as
/// it is, but for `5000.0` where a whole number is wanted, which becomes `5000`.
pub(super) fn coerce(whole: &Value, input: &mut Value) {
    let mut place = Place::default();
    place.add(whole, whole, false);
    at(whole, &place, input);
}

/// What may stand at one place of the input, as far as the schema says.
#[derive(Default)]
struct Place<'a> {
    /// Each with whether it is one of several that an input may choose from.
    schemas: Vec<(&'a Value, bool)>,
    /// Something may stand here that no schema describes.
    anything: bool,
}

impl<'a> Place<'a> {
    /// Adds a schema, and those that speak of the same place.
    fn add(&mut self, whole: &'a Value, schema: &'a Value, chosen: bool) {
        if self.anything || self.schemas.len() >= CANDIDATES {
            self.anything = true;
            return;
        }
        let Value::Object(map) = schema else {
            self.anything |= schema != &Value::Bool(false);
            return;
        };
        self.schemas.push((schema, chosen));
        if let Some(reference) = map.get("$ref") {
            match resolve(whole, reference) {
                Some(target) => self.add(whole, target, chosen),
                None => self.anything = true,
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = map.get(keyword) else { continue };
            let chosen = chosen || (keyword != "allOf" && branches.len() > 1);
            branches.iter().for_each(|it| self.add(whole, it, chosen));
        }
    }

    fn admits(&self, kind: &str) -> bool {
        self.anything
            || self.schemas.iter().any(|(schema, _)| match schema.get("type") {
                Some(Value::Array(types)) => types.iter().any(|it| it == kind),
                Some(only) => only == kind,
                // What says nothing itself leaves it to what it is made of.
                None => {
                    !["$ref", "allOf", "anyOf", "oneOf"].iter().any(|it| schema.get(it).is_some())
                }
            })
    }

    fn field(&self, whole: &'a Value, name: &str) -> Self {
        let mut place = Self { anything: self.anything, ..Self::default() };
        for &(schema, chosen) in &self.schemas {
            if schema.get("patternProperties").is_some() {
                place.anything = true;
            }
            let named = schema.get("properties").and_then(|it| it.get(name));
            match named.or_else(|| schema.get("additionalProperties")) {
                Some(described) => place.add(whole, described, chosen),
                // One of several may leave it free, unless it can't be meant.
                None if chosen && takes_objects(schema) => place.anything = true,
                None => {}
            }
        }
        place
    }

    fn item(&self, whole: &'a Value, at: usize) -> Self {
        let mut place = Self { anything: self.anything, ..Self::default() };
        for &(schema, chosen) in &self.schemas {
            let first = schema.get("prefixItems").and_then(|it| it.get(at));
            if let Some(described) = first.or_else(|| schema.get("items")) {
                place.add(whole, described, chosen);
            }
        }
        place
    }
}

/// Whether a schema describes objects by itself, rather than by what it is made of.
fn takes_objects(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|it| it == "object"),
        Some(only) => only == "object",
        None => schema.get("required").is_some(),
    }
}

fn at<'a>(whole: &'a Value, place: &Place<'a>, value: &mut Value) {
    match value {
        Value::String(text) if !place.admits("string") => {
            if let Some(meant) = meant(place, text) {
                *value = meant;
            }
        }
        Value::Number(number) if place.admits("integer") => {
            if let Some(whole) = number.as_f64().filter(|_| number.is_f64()).and_then(whole_number)
            {
                *number = whole;
            }
        }
        Value::Object(map) => {
            for (name, value) in map {
                at(whole, &place.field(whole, name), value);
            }
        }
        Value::Array(list) => {
            for (n, value) in list.iter_mut().enumerate() {
                at(whole, &place.item(whole, n), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn meant(place: &Place<'_>, text: &str) -> Option<Value> {
    if place.schemas.is_empty() {
        return None;
    }
    let number = || {
        let whole = place.admits("integer").then(|| whole_text(text)).flatten();
        whole.or_else(|| place.admits("number").then(|| decimal_text(text)).flatten())
    };
    let truth = || place.admits("boolean").then(|| text.parse().ok()).flatten();
    number().map(Value::Number).or_else(|| truth().map(Value::Bool))
}

/// A whole number in decimal digits, with a sign and white space around it if need be.
fn whole_text(text: &str) -> Option<Number> {
    let text = text.trim();
    let number = text.parse::<u64>().ok().map(Number::from);
    number.or_else(|| text.parse::<i64>().ok().map(Number::from))
}

/// A number in decimal digits. Names of numbers (`inf`) and exponents are none.
fn decimal_text(text: &str) -> Option<Number> {
    let text = text.trim();
    let plain = |it: char| it.is_ascii_digit() || "+-.".contains(it);
    let number = || Number::from_f64(text.parse().ok()?);
    whole_text(text).or_else(|| text.chars().all(plain).then(number).flatten())
}

#[expect(clippy::cast_possible_truncation, reason = "a whole number in the range of i64")]
fn whole_number(float: f64) -> Option<Number> {
    (float.fract() == 0.0 && float.abs() <= EXACT).then(|| Number::from(float as i64))
}
