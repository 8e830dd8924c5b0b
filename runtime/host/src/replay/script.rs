//! The script of a replay: from a recording to turns of calls, each with its part.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use serde_json::Value;
use toolwright_contract::{Cascade, Content, RawInput, ToolUse, ToolUseId, wording};
use toolwright_wire::{RecordedCall, RecordedEnding, RecordedTurn, Thread};

use super::recorded_tool::Part;
use super::{Clock, Execute, Options, Siblings, catalogue};
use crate::call_of;

/// Most tasks that a call lets go first at its end: enough to mix a full width of calls.
const MOST_YIELDS: u64 = 16;

/// How much longer than any other call one waits that is to be stopped.
const PATIENCE: Duration = Duration::from_secs(1);

/// Turns to play, one after the other.
#[derive(Debug)]
pub(super) struct Script {
    /// The tools that somebody knew. A name that was only ever answered as unknown stays unknown.
    pub(super) tools: BTreeSet<String>,
    pub(super) turns: Vec<ScriptedTurn>,
}

/// One recorded message.
#[derive(Debug)]
pub(super) struct ScriptedTurn {
    pub(super) by_subagent: bool,
    pub(super) cascade: Cascade,
    pub(super) calls: Vec<ToolUse>,
    pub(super) cues: Vec<Cue>,
    pub(super) parts: HashMap<ToolUseId, Part>,
}

/// What the audience is told of a call beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cue {
    /// The call in short.
    pub(super) label: String,
    /// Whether the recording holds a result for it.
    pub(super) has_result: bool,
    /// Whether it has a result, and nothing tells how long that took.
    pub(super) is_untimed: bool,
}

/// Writes the script.
pub(super) fn write(turns: Vec<RecordedTurn>, options: &Options) -> Script {
    let calls = turns.iter().flat_map(|it| &it.calls);
    let known = calls.filter(|it| ending(it) != Some(RecordedEnding::UnknownTool));
    let tools = known.map(|it| it.tool_use.name.clone()).collect();
    let turns = turns.into_iter().filter(|it| !it.calls.is_empty()).enumerate();
    let turns = turns.map(|(at, it)| turn(at as u64, it, options)).collect();
    Script { tools, turns }
}

fn turn(at: u64, recorded: RecordedTurn, options: &Options) -> ScriptedTurn {
    let by_subagent = match recorded.thread {
        Thread::Main => false,
        Thread::Sub { .. } => true,
    };
    let culprit = match (options.siblings, options.execute) {
        (Siblings::Recorded, Execute::Recorded) => culprit(&recorded.calls),
        _ => None,
    };
    let cascade = match options.siblings {
        Siblings::Bash => Cascade::Declared,
        Siblings::Any => Cascade::Any,
        Siblings::Recorded if culprit.is_some() => Cascade::Declared,
        Siblings::Recorded | Siblings::None => Cascade::Never,
    };
    let casting = Casting { options, turn: at, culprit };
    let mut script =
        ScriptedTurn { by_subagent, cascade, calls: vec![], cues: vec![], parts: HashMap::new() };
    for (at, call) in recorded.calls.into_iter().enumerate() {
        let has_result = call.result.is_some();
        let is_untimed = has_result && recorded_time(&call).is_none();
        let (tool_use, part) = casting.call(at, call);
        script.cues.push(Cue { label: label(&tool_use), has_result, is_untimed });
        // The first call keeps an id that comes twice, as in the runtime.
        script.parts.entry(tool_use.id.clone()).or_insert(part);
        script.calls.push(tool_use);
    }
    script
}

/// A call in a few words: the tool and the input that tells most.
fn label(call: &ToolUse) -> String {
    /// Longest input in a label, in characters.
    const LONGEST: usize = 100;
    let card = catalogue::card_of(&call.name);
    let said = match &call.input {
        RawInput::Json(input) => card.telling_text(input).unwrap_or_default(),
        RawInput::Malformed { raw, .. } => raw,
    };
    let said = match said.rsplitn(3, '/').collect::<Vec<_>>()[..] {
        // Of a long path, the end tells the files apart.
        [file, folder, above] if said.starts_with('/') && !above.is_empty() => {
            format!("…/{folder}/{file}")
        }
        _ => said.to_owned(),
    };
    let name = wording::quote(&call.name, LONGEST);
    if said.is_empty() { name } else { format!("{name}({})", wording::quote(&said, LONGEST)) }
}

fn ending(call: &RecordedCall) -> Option<RecordedEnding> {
    call.result.as_ref().map(|it| it.ending)
}

/// The call whose failure took the others down, by what the recording shows: the last failed
/// command before the first cancelled call, denied ones included; else the first failed command;
/// else, as up to 2.1.46, the first failed call of any kind.
fn culprit(calls: &[RecordedCall]) -> Option<usize> {
    let is_cancelled = |it: &RecordedCall| ending(it) == Some(RecordedEnding::SiblingCancelled);
    let has_failed =
        |it: &RecordedCall| it.result.as_ref().is_some_and(|it| it.is_error) && !is_cancelled(it);
    let has_failed_command =
        |it: &RecordedCall| has_failed(it) && catalogue::is_shell(&it.tool_use.name);
    let first = calls.iter().position(is_cancelled)?;
    calls[..first]
        .iter()
        .rposition(has_failed_command)
        .or_else(|| calls.iter().position(has_failed_command))
        .or_else(|| calls.iter().position(has_failed))
}

/// What decides the parts of one turn.
struct Casting<'a> {
    options: &'a Options,
    turn: u64,
    culprit: Option<usize>,
}

impl Casting<'_> {
    fn call(&self, at: usize, call: RecordedCall) -> (ToolUse, Part) {
        let part = Part {
            takes: self.takes(at, &call),
            yields: yields(self.options.seed, self.turn, at as u64),
            cascades: self.cascades(at, &call),
            ..self.answer(&call)
        };
        (call_of(call.tool_use), part)
    }

    fn takes(&self, at: usize, call: &RecordedCall) -> Duration {
        let longest = self.options.max_call;
        let takes = match (self.options.execute, &call.result) {
            (Execute::Dry, _) | (Execute::Recorded, None) => return Duration::ZERO,
            // What it would have taken is not known: it waits for its stop, which comes at the
            // latest when the culprit has taken the longest that a call takes.
            (Execute::Recorded, Some(it))
                if it.ending == RecordedEnding::SiblingCancelled
                    && self.culprit.is_some_and(|culprit| culprit < at) =>
            {
                longest + PATIENCE
            }
            (Execute::Recorded, Some(_)) => recorded_time(call).unwrap_or_default().min(longest),
        };
        match self.options.clock {
            Clock::Virtual => takes,
            Clock::Real { speed } => takes.div_f64(speed.get()),
        }
    }

    fn cascades(&self, at: usize, call: &RecordedCall) -> bool {
        match self.options.siblings {
            Siblings::Recorded => self.culprit == Some(at),
            Siblings::Bash | Siblings::None | Siblings::Any => {
                ending(call) == Some(RecordedEnding::Error)
                    && catalogue::is_shell(&call.tool_use.name)
            }
        }
    }

    /// What it says; the rest is not decided here.
    fn answer(&self, call: &RecordedCall) -> Part {
        let (says, is_error) = match (self.options.execute, &call.result) {
            (Execute::Dry, _) => ("Not run: this replay only admits calls.".into(), false),
            (Execute::Recorded, None) => {
                ("The recording holds no result for this call.".into(), true)
            }
            (Execute::Recorded, Some(it)) => (content(&it.content), it.is_error),
        };
        Part { takes: Duration::ZERO, yields: 0, says, is_error, cascades: false }
    }
}

/// How long a call took, as far as the recording tells.
fn recorded_time(call: &RecordedCall) -> Option<Duration> {
    let stamped = call.duration_ms().map(Duration::from_millis);
    stamped.or_else(|| stated_time(call.result.as_ref()?.structured.as_ref()?))
}

/// What the structured result says of the time: recordings without time stamps have only that.
fn stated_time(structured: &Value) -> Option<Duration> {
    let milliseconds = ["durationMs", "totalDurationMs"].iter().find_map(|it| structured.get(it));
    let seconds = match milliseconds {
        Some(it) => it.as_f64()? / 1_000.0,
        None => structured.get("durationSeconds")?.as_f64()?,
    };
    // Whole milliseconds, as time stamps have.
    Duration::try_from_secs_f64((seconds * 1_000.0).round() / 1_000.0).ok()
}

fn content(recorded: &Value) -> Content {
    match recorded {
        Value::Null => Content::Text(String::new()),
        Value::String(text) => text.as_str().into(),
        Value::Array(blocks) => Content::Blocks(blocks.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => recorded.to_string().into(),
    }
}

/// A number that is as good as random, and the same for the same seed (splitmix64).
fn yields(seed: u64, turn: u64, call: u64) -> u32 {
    let place = (turn << 32 | call).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb), (31, 1)]
        .iter()
        .fold(seed.wrapping_add(place), |it, (by, times)| (it ^ (it >> by)).wrapping_mul(*times));
    (mixed % MOST_YIELDS) as u32
}
