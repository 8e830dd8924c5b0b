//! Display: what a person sees of a call, with nothing said by the tool itself.

use serde_json::json;
use toolwright_contract::present::{Detail, Present, Text, Tone, Usual};
use toolwright_contract::{Card, Content};

fn card() -> Card {
    Card::new("Search", "Searches.").telling(&["pattern"])
}

#[test]
fn each_point_of_a_calls_life_has_a_line() {
    let (card, input) = (card(), json!({"pattern": "fn main", "path": "src"}));
    let said = ["one file".to_owned(), "two files".to_owned()];
    for (shown, line) in [
        (Usual.used(&card, &input, Detail::Condensed), "Search(fn main)"),
        (Usual.queued(&card, &input), "Search(fn main) waits for its turn"),
        (Usual.progress(&card, &input, &[]), "Running Search(fn main)"),
        (Usual.progress(&card, &input, &said), "Running Search(fn main)  two files"),
        (Usual.rejected(&card, &input, Detail::Condensed), "Search(fn main) was not allowed"),
    ] {
        assert_eq!(shown.plain(), line);
    }
    assert_eq!(Usual.activity(&card, &input), "Running Search(fn main)");
}

#[test]
fn a_full_view_shows_the_whole_input() {
    let full = Usual.used(&card(), &json!({"pattern": "a"}), Detail::Full).plain();
    assert_eq!(full, "Search\n{\n  \"pattern\": \"a\"\n}");
}

#[test]
fn an_input_of_any_shape_can_be_shown() {
    for input in [json!(null), json!([1]), json!("text"), json!({"pattern": 5})] {
        assert_eq!(Usual.used(&card(), &input, Detail::Condensed).plain(), "Search");
    }
}

#[test]
fn a_condensed_result_has_three_lines_and_says_how_many_are_left_out() {
    let content = Content::from("1\n2\n3\n4\n5\n");
    assert_eq!(
        Usual.result(&json!({}), &content, Detail::Condensed).plain(),
        "1\n2\n3\n… 2 more lines"
    );
    assert_eq!(Usual.result(&json!({}), &content, Detail::Full).plain(), "1\n2\n3\n4\n5");
    assert!(Usual.is_cut(&content) && !Usual.is_cut(&"1\n2\n3\n".into()));
}

#[test]
fn a_long_line_is_cut() {
    let content = Content::from("x".repeat(500));
    assert_eq!(
        Usual.result(&json!({}), &content, Detail::Condensed).plain(),
        "x".repeat(160) + "…"
    );
    assert!(Usual.is_cut(&content));
}

#[test]
fn an_error_is_shown_without_the_wrapper_that_the_model_gets() {
    let content = Content::from("<tool_use_error>No such tool</tool_use_error>");
    let error = Usual.error(&content, Detail::Condensed);
    assert_eq!(error.plain(), "No such tool");
    assert_eq!(error.ansi(), "\u{1b}[31mNo such tool\u{1b}[0m");
}

#[test]
fn several_calls_are_one_line_and_one_call_is_not() {
    let inputs = [json!({}), json!({}), json!({})];
    let group = |n: usize| Usual.group(&card(), &inputs[..n]).map(|it| it.plain());
    assert_eq!((group(0), group(1), group(3)), (None, None, Some("Search × 3".into())));
}

#[test]
fn no_text_steers_a_terminal() {
    let evil = "a\u{1b}[31mb\u{7}c\u{202e}d\r\n\te";
    let plain = Text::of(Tone::Plain, evil).plain();
    assert_eq!(plain, "a\u{fffd}[31mb\u{fffd}c\u{fffd}d\u{fffd}\n\te");
    assert_eq!(Text::of(Tone::Plain, evil).ansi(), plain);
}

#[test]
fn a_tool_says_what_a_call_is_doing_and_a_control_character_does_nothing() {
    let (doing, mute) = (card().doing("Searching for"), card());
    let told = |card: &Card, input| Usual.activity(card, &input);
    assert_eq!(told(&doing, json!({"pattern": "a\u{7}b"})), "Searching for a\u{fffd}b");
    assert_eq!(told(&doing, json!(null)), "Searching for");
    assert_eq!(told(&mute, json!(null)), "Running Search");
}

#[test]
fn what_has_no_text_is_named_and_what_is_empty_is_said_to_be() {
    let image = json!({"type": "image", "source": {"data": "AAAA"}});
    let text = json!({"type": "text", "text": "a cat"});
    let shown = |it: &Content| Usual.result(&json!({}), it, Detail::Condensed).plain();
    assert_eq!(shown(&Content::Blocks(vec![text, image])), "a cat\n[image]");
    assert_eq!(shown(&Content::Blocks(vec![json!(5)])), "[block]");
    for empty in [Content::from(" \n"), Content::Blocks(vec![])] {
        assert_eq!((shown(&empty), Usual.is_cut(&empty)), ("(no output)".into(), false));
    }
}

#[test]
fn each_member_has_a_condensed_and_a_full_form_that_suit_any_tool() {
    let (card, input) = (Card::new("Anything", "Does something."), json!({"n": 5, "on": true}));
    let long = Content::from("1\n2\n3\n4");
    let failed = Content::from("<tool_use_error>Error: no\nwhy</tool_use_error>");
    let mut shown = vec![
        format!("name: {}", Usual.name(&card, &input)),
        format!("activity: {}", Usual.activity(&card, &input)),
        format!("queued: {}", Usual.queued(&card, &input).plain()),
        format!("progress: {}", Usual.progress(&card, &input, &["half".into()]).plain()),
        format!(
            "group: {:?}",
            Usual.group(&card, &[input.clone(), input.clone()]).map(|it| it.plain())
        ),
        format!("search: {:?}", Usual.search_text(&long)),
    ];
    for detail in [Detail::Condensed, Detail::Full] {
        shown.extend([
            format!("{detail:?}: {}", Usual.used(&card, &input, detail).ansi()),
            Usual.result(&json!({}), &long, detail).ansi(),
            Usual.error(&failed, detail).ansi(),
            Usual.rejected(&card, &input, detail).ansi(),
        ]);
    }
    insta::assert_snapshot!(shown.join("\n").replace('\u{1b}', "<ESC>"), @r#"
    name: Anything
    activity: Running Anything
    queued: Anything waits for its turn
    progress: Running Anything  half
    group: Some("Anything × 2")
    search: "1\n2\n3\n4"
    Condensed: <ESC>[1mAnything<ESC>[0m
    1
    2
    3<ESC>[2m
    … 1 more line<ESC>[0m
    <ESC>[31mError: no
    why<ESC>[0m
    <ESC>[1mAnything<ESC>[0m<ESC>[33m was not allowed<ESC>[0m
    Full: <ESC>[1mAnything<ESC>[0m
    {
      "n": 5,
      "on": true
    }
    1
    2
    3
    4
    <ESC>[31mError: no
    why<ESC>[0m
    <ESC>[1mAnything<ESC>[0m
    {
      "n": 5,
      "on": true
    }<ESC>[33m was not allowed<ESC>[0m
    "#);
}
