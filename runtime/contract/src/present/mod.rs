//! Display: how a call is shown to a person, at each point of its life.
//!
//! Independent of any user interface: everything is [`Text`], which a terminal shows with colours
//! and a log without. A tool overrides what it can say better; the rest looks right for any tool.

mod text;

use std::borrow::Cow;

use serde_json::Value;

pub use text::{Text, Tone};

use crate::card::Card;
use crate::content::Content;
use crate::wording::{no_output, quote};

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Detail {
    /// A line or a few.
    #[default]
    Condensed,
    /// All of it.
    Full,
}

/// Characters of an input on a condensed line.
const INPUT_CHARS: usize = 80;

/// Lines of a result that a condensed view shows.
const RESULT_LINES: usize = 3;

/// Characters of a line of a condensed result.
const LINE_CHARS: usize = 160;

/// How calls of a tool are shown. Every method has a default that suits any tool. `input` is the
/// raw input, which may be any JSON, also one that was refused.
pub trait Present: Send + Sync {
    /// What people call the tool, perhaps depending on the input.
    fn name<'a>(&self, card: &'a Card, _input: &Value) -> Cow<'a, str> {
        Cow::Borrowed(&card.name)
    }

    /// What the call is doing, for a line of status: `Reading src/a.rs`, `Running Grep(fn main)`.
    fn activity(&self, card: &Card, input: &Value) -> String {
        let line = match (&*card.doing, card.telling_text(input)) {
            ("", _) => format!("Running {}", self.used(card, input, Detail::Condensed).plain()),
            (doing, Some(telling)) => format!("{doing} {}", quote(telling, INPUT_CHARS)),
            (doing, None) => doing.to_owned(),
        };
        Text::of(Tone::Plain, line).plain()
    }

    /// The call as it was asked for.
    fn used(&self, card: &Card, input: &Value, detail: Detail) -> Text {
        let name = Text::of(Tone::Strong, self.name(card, input));
        match (detail, card.telling_text(input)) {
            (Detail::Condensed, Some(telling)) => {
                name.and(Tone::Plain, format!("({})", quote(telling, INPUT_CHARS)))
            }
            (Detail::Condensed, None) => name,
            (Detail::Full, _) => name.and(Tone::Plain, format!("\n{input:#}")),
        }
    }

    /// The call while it waits for its turn.
    fn queued(&self, card: &Card, input: &Value) -> Text {
        self.used(card, input, Detail::Condensed).and(Tone::Faint, " waits for its turn")
    }

    /// The call while it runs; `said` is what it has reported, the latest last.
    fn progress(&self, card: &Card, input: &Value, said: &[String]) -> Text {
        let activity = Text::of(Tone::Plain, self.activity(card, input));
        match said.last() {
            Some(latest) => activity.and(Tone::Faint, format!("  {}", quote(latest, LINE_CHARS))),
            None => activity,
        }
    }

    /// A result that is no error.
    fn result(&self, _input: &Value, content: &Content, detail: Detail) -> Text {
        shown(content, detail, Tone::Plain)
    }

    /// A result that is no error, from its structured form, where that shows more than the text.
    fn structured(&self, _structured: &Value, _detail: Detail) -> Option<Text> {
        None
    }

    /// A result that is an error.
    fn error(&self, content: &Content, detail: Detail) -> Text {
        shown(content, detail, Tone::Bad)
    }

    /// A call that was refused, by a rule or a person.
    fn rejected(&self, card: &Card, input: &Value, detail: Detail) -> Text {
        self.used(card, input, detail).and(Tone::Warning, " was not allowed")
    }

    /// Several calls of the tool as one line; nothing if each should have its own.
    fn group(&self, card: &Card, inputs: &[Value]) -> Option<Text> {
        let [first, _, ..] = inputs else { return None };
        let name = Text::of(Tone::Strong, self.name(card, first));
        Some(name.and(Tone::Plain, format!(" × {}", inputs.len())))
    }

    /// The text of a result that a search over a session should find.
    fn search_text(&self, content: &Content) -> String {
        content.text()
    }

    /// Whether the condensed view leaves something out.
    fn is_cut(&self, content: &Content) -> bool {
        let text = readable(content);
        let mut lines = text.trim_end().lines();
        lines.by_ref().take(RESULT_LINES).any(|it| it.chars().count() > LINE_CHARS)
            || lines.next().is_some()
    }
}

/// The display of a tool that has nothing to add.
pub struct Usual;

impl Present for Usual {}

fn shown(content: &Content, detail: Detail, tone: Tone) -> Text {
    let text = readable(content);
    let text = unwrapped(text.trim_end());
    match detail {
        _ if text.is_empty() => Text::of(Tone::Faint, no_output()),
        Detail::Full => Text::of(tone, text),
        Detail::Condensed => {
            let lines: Vec<_> = text.lines().collect();
            let some: Vec<_> =
                lines.iter().take(RESULT_LINES).map(|it| quote(it, LINE_CHARS)).collect();
            let shown = Text::of(tone, some.join("\n"));
            match lines.len().saturating_sub(RESULT_LINES) {
                0 => shown,
                1 => shown.and(Tone::Faint, "\n… 1 more line"),
                more => shown.and(Tone::Faint, format!("\n… {more} more lines")),
            }
        }
    }
}

/// The text in a content, with the kind of each block that has none: `[image]`.
fn readable(content: &Content) -> String {
    let Content::Blocks(blocks) = content else { return content.text() };
    let shown = |it: &Value| match (it["type"].as_str(), it["text"].as_str()) {
        (Some("text"), Some(text)) => text.to_owned(),
        (kind, _) => format!("[{}]", kind.unwrap_or("block")),
    };
    blocks.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// The wrapper of errors is for the model, not for people.
fn unwrapped(text: &str) -> &str {
    let inner =
        text.strip_prefix("<tool_use_error>").and_then(|it| it.strip_suffix("</tool_use_error>"));
    inner.unwrap_or(text)
}
