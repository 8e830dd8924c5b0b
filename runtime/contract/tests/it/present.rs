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
        (Usual.rejected(&card, &input), "Search(fn main) was not allowed"),
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
    assert_eq!(Usual.result(&content, Detail::Condensed).plain(), "1\n2\n3\n… 2 more lines");
    assert_eq!(Usual.result(&content, Detail::Full).plain(), "1\n2\n3\n4\n5");
    assert!(Usual.is_cut(&content) && !Usual.is_cut(&"1\n2\n3\n".into()));
}

#[test]
fn a_long_line_is_cut() {
    let content = Content::from("x".repeat(500));
    assert_eq!(Usual.result(&content, Detail::Condensed).plain(), "x".repeat(160) + "…");
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
