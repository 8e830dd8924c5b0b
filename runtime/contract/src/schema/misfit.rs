//! Misfit: what is wrong with an input, one line a problem, all at once, in Claude Code's words.
//!
//! First what is missing, then what is wrong, then what is too much, each in the order of the
//! schema.

use std::collections::BTreeSet;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use crate::wording;

/// Lines that the model gets; more would not help it.
const LINES: usize = 20;
/// Alternatives within alternatives whose problems are looked into.
const DEPTH: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Missing,
    Type,
    Value,
    Unexpected,
}

struct Problem {
    rank: Rank,
    path: String,
    line: String,
}

/// The lines for the model.
pub(super) fn lines<'a>(errors: impl Iterator<Item = ValidationError<'a>>) -> Vec<String> {
    let mut problems = Vec::new();
    errors.for_each(|it| describe(&it, DEPTH, &mut problems));
    // A value of the wrong type can't have a wrong length as well, and is told once.
    let mistyped: BTreeSet<String> =
        problems.iter().filter(|it| it.rank == Rank::Type).map(|it| it.path.clone()).collect();
    problems.retain(|it| it.rank != Rank::Value || !mistyped.contains(&it.path));
    problems.sort_by_key(|it| match it.rank {
        Rank::Missing => 0,
        Rank::Type | Rank::Value => 1,
        Rank::Unexpected => 2,
    });
    let mut told = BTreeSet::new();
    problems.retain(|it| told.insert(it.line.clone()));
    let more = problems.len().saturating_sub(LINES);
    let mut lines: Vec<String> = problems.into_iter().take(LINES).map(|it| it.line).collect();
    if more > 0 {
        lines.push(wording::and_more(more));
    }
    lines
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the validator may learn more keywords")]
fn describe(error: &ValidationError<'_>, depth: usize, problems: &mut Vec<Problem>) {
    let path = path(error.instance_path(), None);
    let mut say = |rank, path: &str, line| {
        problems.push(Problem { rank, path: path.to_owned(), line });
    };
    match error.kind() {
        Kind::Required { property } => {
            let path = self::path(error.instance_path(), property.as_str());
            let line = wording::missing_parameter(&path);
            say(Rank::Missing, &path, line);
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                let path = self::path(error.instance_path(), Some(name));
                let line = wording::unexpected_parameter(&path);
                say(Rank::Unexpected, &path, line);
            }
        }
        Kind::Type { kind } => {
            let expected = expected(kind, error.instance());
            let line = wording::mistyped_parameter(&path, &expected, kind_of(error.instance()));
            say(Rank::Type, &path, line);
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } if depth > 0 => {
            of_branches(error, context, depth - 1, problems);
        }
        kind => {
            let line = match expectation(kind) {
                Some(expected) => {
                    let provided = measured(kind, error.instance());
                    wording::misfit_parameter(&path, &expected, &provided)
                }
                None => wording::refused_parameter(&path, &error.to_string()),
            };
            say(Rank::Value, &path, line);
        }
    }
}

/// The problems of the alternative that was meant; if none was, what each of them expects.
fn of_branches(
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
    depth: usize,
    problems: &mut Vec<Problem>,
) {
    let here = error.instance_path();
    if let Some(names) = needs(here, branches) {
        let path = path(here, Some(&names));
        let line = wording::missing_parameter(&path);
        return problems.push(Problem { rank: Rank::Missing, path, line });
    }
    let told_apart = |it: &ValidationError<'_>| matches!(it.kind(), Kind::Constant { .. });
    let of_shape = |it: &ValidationError<'_>| {
        let shape =
            matches!(it.kind(), Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. });
        shape && it.instance_path() == here
    };
    let fits = branches.iter().filter(|it| !it.is_empty() && !it.iter().any(of_shape));
    let meant = fits.min_by_key(|it| (it.iter().filter(|it| told_apart(it)).count(), it.len()));
    if let Some(meant) = meant {
        let (apart, other): (Vec<_>, Vec<_>) = meant.iter().partition(|it| told_apart(it));
        other.iter().for_each(|it| describe(it, depth, problems));
        for it in apart {
            let same = |other: &&ValidationError<'_>| other.instance_path() == it.instance_path();
            let all = branches.iter().flatten().filter(same);
            offer(it, all, problems);
        }
        return;
    }
    offer(error, branches.iter().flatten().filter(|it| it.instance_path() == here), problems);
}

/// The names of which one is needed, if that is all that the alternatives ask for.
fn needs(here: &Location, branches: &[Vec<ValidationError<'static>>]) -> Option<String> {
    let name = |branch: &Vec<ValidationError<'static>>| match branch.as_slice() {
        [only] if only.instance_path() == here => {
            let Kind::Required { property } = only.kind() else { return None };
            property.as_str().map(str::to_owned)
        }
        _ => None,
    };
    let names: Option<Vec<String>> = branches.iter().map(name).collect();
    names.filter(|it| !it.is_empty()).map(|it| it.join("` or `"))
}

/// One line of all that some errors at one place expect.
fn offer<'a>(
    error: &ValidationError<'_>,
    errors: impl Iterator<Item = &'a ValidationError<'static>>,
    problems: &mut Vec<Problem>,
) {
    let (mut types, mut values) = (Vec::new(), Vec::new());
    let provided = error.instance();
    for it in errors {
        if let Kind::Type { kind } = it.kind() {
            types.push(expected(kind, provided));
        } else if let Some(options) = options(it.kind()) {
            values.extend(options);
        }
    }
    types.dedup();
    values.dedup();
    let path = path(error.instance_path(), None);
    let (rank, line) = if !values.is_empty() {
        let expected = wording::one_of(&values);
        (Rank::Value, wording::misfit_parameter(&path, &expected, &shown(provided)))
    } else if !types.is_empty() {
        let types = types.join(" or ");
        (Rank::Type, wording::mistyped_parameter(&path, &types, kind_of(provided)))
    } else {
        (Rank::Value, wording::refused_parameter(&path, "it fits none of the alternatives"))
    };
    problems.push(Problem { rank, path, line });
}

/// What a keyword wants of a value, as the end of "is expected as".
#[expect(clippy::wildcard_enum_match_arm, reason = "the others have no short form")]
fn expectation(kind: &Kind) -> Option<String> {
    let bound = |words: &str, limit: &dyn std::fmt::Display| Some(format!("{words} `{limit}`"));
    match kind {
        Kind::Constant { .. } | Kind::Enum { .. } => Some(wording::one_of(&options(kind)?)),
        Kind::Maximum { limit } => bound("at most", limit),
        Kind::Minimum { limit } => bound("at least", limit),
        Kind::ExclusiveMaximum { limit } => bound("less than", limit),
        Kind::ExclusiveMinimum { limit } => bound("more than", limit),
        Kind::MultipleOf { multiple_of } => bound("a multiple of", multiple_of),
        Kind::MaxLength { limit } => Some(format!("at most `{limit}` characters")),
        Kind::MinLength { limit } => Some(format!("at least `{limit}` characters")),
        Kind::MaxItems { limit } => Some(format!("at most `{limit}` items")),
        Kind::MinItems { limit } => Some(format!("at least `{limit}` items")),
        Kind::MaxProperties { limit } => Some(format!("at most `{limit}` fields")),
        Kind::MinProperties { limit } => Some(format!("at least `{limit}` fields")),
        Kind::Pattern { pattern } => bound("text that matches", pattern),
        Kind::Format { format } => bound("text in the format", format),
        Kind::UniqueItems => Some("items that differ".to_owned()),
        _ => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other keyword lists values")]
fn options(kind: &Kind) -> Option<Vec<String>> {
    match kind {
        Kind::Constant { expected_value } => Some(vec![shown(expected_value)]),
        Kind::Enum { options } => {
            Some(options.as_array()?.iter().filter(|it| !it.is_null()).map(shown).collect())
        }
        _ => None,
    }
}

/// The value, or the measure of it that its keyword is about.
fn measured(kind: &Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::MaxLength { .. } | Kind::MinLength { .. }, Value::String(text)) => {
            text.chars().count().to_string()
        }
        (Kind::MaxItems { .. } | Kind::MinItems { .. }, Value::Array(list)) => {
            list.len().to_string()
        }
        (Kind::MaxProperties { .. } | Kind::MinProperties { .. }, Value::Object(map)) => {
            map.len().to_string()
        }
        (_, value) => shown(value),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The types that a keyword allows. `null` is how a field is left out, so it isn't offered; and
/// where a number isn't whole, that is what is wrong.
fn expected(kind: &TypeKind, provided: &Value) -> String {
    let name = |it: JsonType| match it {
        JsonType::Integer if provided.is_number() => "integer",
        JsonType::Integer | JsonType::Number => "number",
        JsonType::Null => "null",
        JsonType::Boolean => "boolean",
        JsonType::String => "string",
        JsonType::Array => "array",
        JsonType::Object => "object",
    };
    match kind {
        TypeKind::Single(only) => name(*only).to_owned(),
        TypeKind::Multiple(several) => {
            let named = several.iter().filter(|it| *it != JsonType::Null).map(name);
            named.collect::<Vec<_>>().join(" or ")
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// `edits[1].old_string`
fn path(location: &Location, then: Option<&str>) -> String {
    let mut path = String::new();
    let field = |path: &mut String, name: &str| {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
    };
    for segment in location.segments() {
        match segment {
            LocationSegment::Property(name) => field(&mut path, &name),
            LocationSegment::Index(at) => path.push_str(&format!("[{at}]")),
        }
    }
    if let Some(name) = then {
        field(&mut path, name);
    }
    path
}
