//! Bounds: what is too long or too deep is said to be, on a small stack and in little time.

use std::thread;

use toolwright_shell_analysis::{MAX_CHARACTERS, Reason, Understanding, understand};

/// Bytes of stack that the deepest reading may take, without optimisation.
const STACK: usize = 256 * 1024;

/// Reads on a small stack, so that an unbounded recursion ends the test.
fn understand_on_small_stack(text: String) -> Understanding {
    let read = move || understand(&text);
    let thread = thread::Builder::new().stack_size(STACK).spawn(read).unwrap();
    thread.join().expect("reading never panics")
}

fn reasons(understanding: &Understanding) -> Vec<&Reason> {
    understanding.doubts.iter().map(|it| &it.reason).collect()
}

#[test]
fn any_nesting_is_read_on_a_small_stack() {
    let pieces = [
        "(",
        "( ",
        "$(",
        "$((",
        "${x:-",
        "\"$(",
        "`",
        "{ ",
        "((",
        "if ",
        "while ",
        "until ",
        "for x in $(",
        "case x in (a) ",
        "f() { ",
        "function f { ",
        "! ",
        "[[ ",
        "[[ ( ",
        "<(",
        ">(",
        "a=(",
        "a=($(",
        "\\",
        "\"",
        "'",
        "$'",
        "<<E ",
        "a | ",
        "a && ",
        "time ",
        "eval ",
        "env ",
        "sh -c ",
        "nice ",
        "${",
        "$[",
        "coproc ",
        "select ",
        "{a,",
        "[",
        "~",
        "\\\n",
        "${x[",
        "$(( (",
        "find -exec ",
        "xargs ",
        "\"${x:-$(",
        "[[ -n $(",
        "! { ",
        "if { ",
        "=~ (",
        "[[ a =~ ((",
        "$(<",
        "a[",
        "2>",
        "{x}>",
        "&",
        "&&",
        ";;",
        "#",
    ];
    for piece in pieces {
        for closed in ["", ")", "}", "\"", " ]]", "; done"] {
            let times = 9_000 / (piece.len() + closed.len());
            let text = format!("{}x{}", piece.repeat(times), closed.repeat(times));
            drop(understand_on_small_stack(text));
        }
    }
}

#[test]
fn what_is_nested_too_deep_is_not_understood() {
    for (open, close) in [("$(", ")"), ("( ", ")"), ("{ ", "; }"), ("\"${x:-$(", ")}\"")] {
        let text = format!("{}x{}", open.repeat(200), close.repeat(200));
        let text = if open.starts_with('{') || open.starts_with('(') {
            text
        } else {
            format!("echo {text}")
        };
        let understanding = understand_on_small_stack(text);
        assert!(!understanding.is_full(), "{open}");
    }
    let deep = understand(&format!("echo {}x{}", "$(echo ".repeat(200), ")".repeat(200)));
    assert!(reasons(&deep).contains(&&Reason::TooDeep));
    let script = (0..200).fold("x".to_owned(), |it, _| format!("eval {it}"));
    assert!(reasons(&understand(&script)).contains(&&Reason::TooDeep));
}

#[test]
fn what_people_nest_is_understood() {
    for depth in 1..=20 {
        let text = format!("echo {}x{}", "\"$(echo ".repeat(depth), ")\"".repeat(depth));
        assert!(understand(&text).is_full(), "{depth}");
        let text = format!("{}x{}", "if a; then ".repeat(depth), "; fi".repeat(depth));
        assert!(understand(&text).is_full(), "{depth}");
    }
}

#[test]
fn a_command_is_read_up_to_ten_thousand_characters() {
    let command = |characters: usize| format!("echo {}", "ä".repeat(characters - 5));
    assert!(understand(&command(MAX_CHARACTERS)).is_full());
    let long = understand(&command(MAX_CHARACTERS + 1));
    assert_eq!(reasons(&long), [&Reason::TooLong]);
}

#[test]
fn no_part_of_a_long_chain_is_left_out() {
    let chain = "a && ".repeat(1_900);
    let understanding = understand(&format!("{chain}touch x"));
    assert!(understanding.is_full());
    assert_eq!(understanding.commands.len(), 1_901);
    assert_eq!(understanding.programs().last(), Some("touch"));
}
