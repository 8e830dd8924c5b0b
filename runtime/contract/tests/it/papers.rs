//! The papers: screening, checking and running one tool, whatever it does.

use serde_json::{Value, json};
use toolwright_contract::{
    AnyTool, Card, CheckCx, Content, Effects, Footprint, InvalidInput, OnInterrupt, Outcome,
    Output, Permit, RawInput, Refusal, Registry, RunCx, Safety, Screened, Screening, Tool,
    ToolError, ToolResult, ToolUse, Verdict,
};

/// Does what its input says, wherever it says so.
struct Moody;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mood {
    /// Where it panics.
    #[serde(default)]
    panic_in: String,
    /// What it answers.
    #[serde(default)]
    say: String,
}

impl Mood {
    fn pass(&self, stage: &str) {
        assert!(self.panic_in != stage, "no mood for {stage}");
    }
}

impl Tool for Moody {
    type Input = Mood;
    type Output = Said;

    fn card(&self) -> Card {
        Card::new("Moody", "Does what its input says.").alias("Temper")
    }
    fn safety(&self, mood: &Mood) -> Safety {
        mood.pass("safety");
        if mood.say == "write" { Safety::default() } else { Safety::read_only() }
    }
    async fn validate(&self, mood: &Mood, _: &CheckCx) -> Result<(), InvalidInput> {
        mood.pass("validate");
        if mood.say == "no" { Err(InvalidInput("not today".into())) } else { Ok(()) }
    }
    async fn run(&self, mood: Mood, _: RunCx) -> Result<Output<Said>, ToolError> {
        mood.pass("run");
        assert!(mood.panic_in != "loud", "loudly:\u{7}{}", mood.say);
        match mood.say.as_str() {
            "fail" => Err(ToolError::failed("it failed")),
            "cascade" => Err(ToolError::cascading("it failed badly")),
            "stop" => Err(ToolError::Stopped),
            _ => Ok(Output::from(Said(mood)).note("by the way")),
        }
    }
}

struct Said(Mood);

impl From<Said> for Content {
    fn from(Said(mood): Said) -> Self {
        mood.pass("map");
        mood.say.into()
    }
}

/// A tool without defaults of its own: what isn't said fails closed.
struct Plain;

impl Tool for Plain {
    type Input = Value;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("Plain", "Nothing special.")
    }
    async fn run(&self, _: Value, _: RunCx) -> Result<Output<String>, ToolError> {
        panic!("{}", "a formatted panic")
    }
}

fn screen(name: &str, input: RawInput) -> Result<Box<Screened>, (Refusal, String)> {
    let tools = Registry::new([AnyTool::new(Moody), AnyTool::new(Plain)])
        .map_err(|it| (Refusal::UnknownTool, it.to_string()))?;
    match (ToolUse { id: "c0".into(), name: name.to_owned(), input }).screen(&tools) {
        Screening::Passed(screened) => Ok(screened),
        Screening::Failed(why, text) => Err((why, text)),
    }
}

fn moody(input: Value) -> Result<Box<Screened>, (Refusal, String)> {
    screen("Moody", RawInput::Json(input))
}

fn refusal(screened: Result<Box<Screened>, (Refusal, String)>) -> (Option<Refusal>, String) {
    screened.err().map_or((None, String::new()), |(why, text)| (Some(why), text))
}

async fn run(screened: Screened) -> Outcome {
    let cx = RunCx::detached(screened.id().clone());
    screened.clear(Permit::granted()).run(cx).await
}

fn check_cx() -> CheckCx {
    CheckCx::default()
}

#[test]
fn what_does_not_fit_is_an_invalid_input_that_says_where() {
    let texts: Vec<String> = [
        json!({"say": 7}),
        json!({"say": null}),
        json!({"shout": "x"}),
        json!(["say"]),
        json!(null),
    ]
    .into_iter()
    .map(|input| {
        let (why, text) = refusal(moody(input));
        assert_eq!(why, Some(Refusal::InvalidInput));
        text
    })
    .collect();
    insta::assert_snapshot!(texts.join("\n"), @"
    <tool_use_error>InputValidationError: Moody failed due to the following issue:
    The parameter `say` type is expected as `string` but provided as `number`</tool_use_error>
    <tool_use_error>InputValidationError: Moody failed due to the following issue:
    The parameter `say` type is expected as `string` but provided as `null`</tool_use_error>
    <tool_use_error>InputValidationError: Moody failed due to the following issue:
    An unexpected parameter `shout` was provided</tool_use_error>
    <tool_use_error>InputValidationError: Moody failed due to the following issue:
    The input must be a JSON object</tool_use_error>
    <tool_use_error>InputValidationError: Moody failed due to the following issue:
    The input must be a JSON object</tool_use_error>
    ");
}

#[test]
fn what_is_not_json_is_an_invalid_input_that_quotes_it() {
    let raw = format!("{{\"say\": \u{7}{}", "x".repeat(10_000));
    let error = "control character in a string at line 1 column 9".to_owned();
    let (why, text) = refusal(screen("Moody", RawInput::Malformed { raw, error }));
    assert_eq!(why, Some(Refusal::InvalidInput));
    insta::assert_snapshot!(text.replace(&"x".repeat(180), "x…x"), @r#"
    <tool_use_error>InputValidationError: Moody was called with input that could not be parsed as JSON (control character in a string at line 1 column 9).
    You sent (10009 bytes): {"say": �x…xxxxxxxxxxxx…</tool_use_error>
    "#);
}

#[test]
fn an_unknown_name_is_quoted_in_short_and_without_control_characters() {
    for (name, shown) in [
        ("moody", "moody".to_owned()),
        ("", String::new()),
        ("\u{1b}[2J\n", "\u{fffd}[2J\u{fffd}".to_owned()),
        (&"\u{0}é".repeat(5_000), format!("{}…", "\u{fffd}é".repeat(100))),
    ] {
        let expected =
            format!("<tool_use_error>Error: No such tool available: {shown}</tool_use_error>");
        let found = refusal(screen(name, RawInput::Json(json!({}))));
        assert_eq!(found, (Some(Refusal::UnknownTool), expected));
    }
}

#[test]
fn a_tool_is_found_by_its_former_name() {
    let screened = screen("Temper", RawInput::Json(json!({}))).map(|it| it.tool().clone());
    assert_eq!(screened.map(|it| it.card().name.to_string()), Ok("Moody".to_owned()));
}

#[test]
fn a_panic_in_safety_is_an_invalid_input() {
    insta::assert_snapshot!(refusal(moody(json!({"panic_in": "safety"}))).1, @"
    <tool_use_error>InputValidationError: Moody crashed while it read its input: no mood for safety</tool_use_error>
    ");
}

#[test]
fn a_tool_that_says_nothing_of_its_safety_runs_alone_with_a_record_to_its_end() {
    let screened = screen("Plain", RawInput::Json(json!({}))).map(|it| it.safety());
    let careful = Safety {
        footprint: Footprint::Exclusive,
        effects: Effects::Writes,
        on_interrupt: OnInterrupt::Block,
    };
    assert_eq!(screened, Ok(careful));
}

#[tokio::test]
async fn a_check_says_no_in_words_and_a_panic_in_it_is_a_no() {
    let mut answers = Vec::new();
    for input in [json!({"say": "yes"}), json!({"say": "no"}), json!({"panic_in": "validate"})] {
        let screened = moody(input).map_err(|it| it.1).unwrap();
        answers.push(format!("{:?}", screened.validate(&check_cx()).await));
    }
    insta::assert_snapshot!(answers.join("\n"), @r#"
    Ok(())
    Err(InvalidInput("not today"))
    Err(InvalidInput("InputValidationError: Moody crashed while it read its input: no mood for validate"))
    "#);
}

#[tokio::test]
async fn whatever_a_run_comes_to_is_an_outcome() {
    let mut outcomes = Vec::new();
    for input in [
        json!({"say": "hello"}),
        json!({"say": "fail"}),
        json!({"say": "cascade"}),
        json!({"say": "stop"}),
        json!({"panic_in": "run"}),
        json!({"panic_in": "map"}),
    ] {
        let outcome = run(*moody(input).map_err(|it| it.1).unwrap()).await;
        outcomes.push(format!("{:?}: {}", outcome.verdict, outcome.content.text()));
    }
    let plain = screen("Plain", RawInput::Json(json!({}))).map_err(|it| it.1).unwrap();
    outcomes.push(run(*plain).await.content.text());
    insta::assert_snapshot!(outcomes.join("\n"), @"
    Good: hello
    Bad { cascades: false }: it failed
    Bad { cascades: true }: it failed badly
    Stopped: <tool_use_error>Error: the tool crashed: it ended as if stopped, and nobody had stopped it. What it had done by then is unknown.</tool_use_error>
    Crashed: <tool_use_error>Error: the tool crashed: no mood for run. What it had done by then is unknown.</tool_use_error>
    Good: <tool_use_error>The tool succeeded, but its output could not be shown: no mood for map</tool_use_error>
    <tool_use_error>Error: the tool crashed: a formatted panic. What it had done by then is unknown.</tool_use_error>
    ");
}

#[tokio::test]
async fn a_panic_is_quoted_in_short_and_without_control_characters() {
    let stage = format!("run {}\u{7}", "x".repeat(10_000));
    let input = json!({"panic_in": "loud", "say": stage});
    let text = run(*moody(input).map_err(|it| it.1).unwrap()).await.content.text();
    assert_eq!(text.chars().filter(|it| *it == 'x').count(), 200 - "loudly:\u{7}run ".len());
    assert!(text.contains("\u{fffd}run x"), "{text}");
}

#[tokio::test]
async fn a_success_keeps_its_notes_even_if_its_output_can_not_be_shown() {
    let screened = moody(json!({"panic_in": "map"})).map_err(|it| it.1).unwrap();
    let outcome = run(*screened).await;
    assert_eq!((outcome.verdict, outcome.notes), (Verdict::Good, vec!["by the way".to_owned()]));
}

#[test]
fn a_changed_input_is_parsed_and_judged_anew() {
    let mut screened = moody(json!({"say": "read"})).map_err(|it| it.1).unwrap();
    assert_eq!(screened.safety(), Safety::read_only());
    assert_eq!(screened.change_input(json!({"say": "write"})), Ok(()));
    assert_eq!(screened.safety(), Safety::default());
    assert_eq!(screened.input(), &json!({"say": "write"}));
}

#[test]
fn a_change_that_does_not_fit_leaves_the_call_as_it_was() {
    let mut screened = moody(json!({"say": "write"})).map_err(|it| it.1).unwrap();
    for bad in [json!({"say": 1}), json!({"panic_in": "safety"})] {
        assert!(screened.change_input(bad).is_err());
        assert_eq!(screened.safety(), Safety::default());
        assert_eq!(screened.input(), &json!({"say": "write"}));
    }
}

#[tokio::test]
async fn what_runs_is_the_changed_input() {
    let mut screened = moody(json!({"say": "old"})).map_err(|it| it.1).unwrap();
    screened.change_input(json!({"say": "new"})).unwrap();
    assert_eq!(run(*screened).await.content.text(), "new");
}

#[test]
fn the_schema_comes_from_the_input_type_and_from_nothing_else() {
    let tool = AnyTool::new(Moody);
    insta::assert_snapshot!(serde_json::to_string_pretty(tool.schema().unwrap()).unwrap(), @r#"
    {
      "additionalProperties": false,
      "properties": {
        "panic_in": {
          "default": "",
          "description": "Where it panics.",
          "type": "string"
        },
        "say": {
          "default": "",
          "description": "What it answers.",
          "type": "string"
        }
      },
      "type": "object"
    }
    "#);
}

#[test]
fn a_result_is_a_block_of_the_messages_api() {
    let result = |content, is_error| ToolResult { id: "c0".into(), content, is_error };
    let blocks = Content::Blocks(vec![json!({"type": "text", "text": "t"})]);
    for (result, block) in [
        (
            result("hello".into(), false),
            json!({"type": "tool_result", "tool_use_id": "c0", "content": "hello"}),
        ),
        (
            result(blocks, true),
            json!({
                "type": "tool_result",
                "tool_use_id": "c0",
                "content": [{"type": "text", "text": "t"}],
                "is_error": true,
            }),
        ),
    ] {
        assert_eq!(result.to_block(), block);
    }
}

#[test]
fn an_input_is_told_to_everybody_as_its_tool_understands_it() {
    let whole = json!({"n": "5", "on": "true", "text": "5", "list": [{"n": " +6"}, {"n": 7.0}]});
    let tool = toolwright_contract::tool("Counts", "").run(async |_: Counts, _| Ok(""));
    let tools = Registry::new([tool]).unwrap();
    let screened = match ToolUse::new("c0", "Counts", whole).screen(&tools) {
        Screening::Passed(it) => it,
        Screening::Failed(_, text) => panic!("{text}"),
    };
    let understood = json!({"n": 5, "on": true, "text": "5", "list": [{"n": 6}, {"n": 7}]});
    assert_eq!(screened.input(), &understood);
    assert_eq!(screened.clear(Permit::granted()).input(), &understood);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its shape counts")]
struct Counts {
    n: u32,
    #[serde(default)]
    on: bool,
    #[serde(default)]
    text: String,
    #[serde(default)]
    list: Vec<Counts>,
}
