//! Words: what is left of them when their quotes are removed, and what stays to be replaced.

use toolwright_shell_analysis::{ExpansionKind, Word, understand};

fn argument(source: &str) -> Word {
    let understanding = understand(&format!("echo {source}"));
    assert!(understanding.is_full(), "{source}: {:?}", understanding.doubts);
    let last = understanding.commands.last().unwrap();
    assert_eq!(last.words.len(), 2, "{source}: {:?}", last.words);
    last.words[1].clone()
}

#[test]
fn quotes_are_removed_as_a_shell_does_it() {
    for (source, text) in [
        ("plain", "plain"),
        ("'single $x `y` \\'", "single $x `y` \\"),
        ("\"double 'x'\"", "double 'x'"),
        (r#""\$ \` \" \\ \n""#, r#"$ ` " \ \n"#),
        (r"a\ b\'c\$", "a b'c$"),
        (r#"a'b'"c"\d"#, "abcd"),
        ("''", ""),
        ("\"\"", ""),
        (r"$'a\tb\n\x41\101\'\\'", "a\tb\nAA'\\"),
        ("a\\\nb", "ab"),
        ("\"a\\\nb\"", "ab"),
        ("'a\\\nb'", "a\\\nb"),
        ("a#b", "a#b"),
        ("'#'", "#"),
        ("-x=y", "-x=y"),
        ("a=b", "a=b"),
        ("{}", "{}"),
        ("{a}", "{a}"),
        ("a{b", "a{b"),
        ("[", "["),
        ("a$", "a$"),
        ("\"$\"", "$"),
        ("%1", "%1"),
        ("ä'ö'", "äö"),
        ("\"a\nb\"", "a\nb"),
    ] {
        assert_eq!(argument(source).literal(), Some(text), "{source}");
    }
}

#[test]
fn what_is_replaced_has_its_kind() {
    use ExpansionKind::{
        Arithmetic, Brace, Command, Glob, Parameter, ParameterForm, Process, Tilde,
    };
    for (source, kind) in [
        ("$x", Parameter),
        ("\"$x\"", Parameter),
        ("${x}", Parameter),
        ("$1", Parameter),
        ("$@", Parameter),
        ("${a[@]}", Parameter),
        ("${x:-y}", ParameterForm),
        ("${#x}", ParameterForm),
        ("${x%.*}", ParameterForm),
        ("${x//a/b}", ParameterForm),
        ("${x:1:2}", ParameterForm),
        ("${x^^}", ParameterForm),
        ("${!a[@]}", ParameterForm),
        ("$(b)", Command),
        ("`b`", Command),
        ("<(b)", Process),
        (">(b)", Process),
        ("$((1+2))", Arithmetic),
        ("~", Tilde),
        ("~u/x", Tilde),
        ("*.rs", Glob),
        ("a?", Glob),
        ("[ab]", Glob),
        ("{a,b}", Brace),
        ("x{1..3}", Brace),
    ] {
        let word = argument(source);
        assert_eq!(word.literal(), None, "{source}");
        assert_eq!(word.expansions[0].kind, kind, "{source}");
    }
}

#[test]
fn only_an_unquoted_value_splits() {
    for (source, splits) in [
        ("$x", true),
        ("a$x", true),
        ("\"$x\"", false),
        ("\"$@\"", true),
        ("\"${a[@]}\"", true),
        ("\"$*\"", false),
        ("*", true),
        ("\"*\"", false),
        ("{a,b}", true),
        ("~/x", false),
        ("\"$(b)\"", false),
        ("$(b)", true),
    ] {
        assert_eq!(argument(source).may_split(), splits, "{source}");
    }
}

#[test]
fn an_expansion_keeps_its_place_in_the_word() {
    let word = argument("'a b'\"$x\"c");
    assert_eq!(word.text, "a b$xc");
    assert_eq!(word.expansions[0].at, 3..5);
    assert_eq!(word.literal_prefix(), "a b");
    assert!(word.quoted);
}

#[test]
fn a_word_says_where_it_stands() {
    let command = "cat 'a b'  c";
    let understanding = understand(command);
    let spans: Vec<&str> =
        understanding.commands[0].words.iter().map(|it| &command[it.span.clone()]).collect();
    assert_eq!(spans, ["cat", "'a b'", "c"]);
    assert_eq!(understanding.commands[0].span, 0..12);
}
