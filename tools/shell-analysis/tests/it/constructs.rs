//! Constructs: whatever a command stands in, it is in the list.

use toolwright_shell_analysis::{Connector, Descriptor, Direction, understand};

use crate::programs;

#[test]
fn every_construct_gives_its_commands() {
    for (command, expected) in [
        ("", ""),
        ("  # nothing", ""),
        ("a", "a"),
        ("a b; c d", "a c"),
        ("a && b || c", "a b c"),
        ("a | b |& c", "a b c"),
        ("a & b", "a b"),
        ("a\nb\n\n c", "a b c"),
        ("a \\\n b", "a"),
        ("a; # b\nc", "a c"),
        ("a#b c", "a#b"),
        ("! a", "a"),
        ("! ! a", "a"),
        ("time a", "time a"),
        ("time -p { a; }", "a"),
        ("time ! a", "a"),
        ("! time ( a )", "a"),
        ("{ a; b; }", "a b"),
        ("{ { a; } }", "a"),
        ("(a; b)", "a b"),
        ("(a) > f", "a"),
        ("if a; then b; elif c; then d; else e; fi", "a b c d e"),
        ("if (a) then b; fi", "a b"),
        ("while a; do b; done < f", "a b"),
        ("until a; do b; done", "a b"),
        ("for x in 1 2; do a $x; done", "a"),
        ("for x in $(a); do b; done", "a b"),
        ("for x; do a; done", "a"),
        ("for ((i=0; i<3; i++)); do a; done", "a"),
        ("case $x in a|b) c;; (d) e;& *) f;; esac", "c e f"),
        ("case x in\na)\n;;\nesac", ""),
        ("f() { a; }; f", "a f"),
        ("f () ( a )", "a"),
        ("function f { a; }", "a"),
        ("function f() { a; } > o", "a"),
        ("[[ -f x && $(a) = b ]]", "a [["),
        ("[[ $x =~ ^(a|b c)+$ ]] && d", "[[ d"),
        ("[[ ( -n x || ! -z y ) ]]", "[["),
        ("(( i = 1 + (2 * 3) ))", "(("),
        ("echo $(( 1 + $(( 2 )) ))", "echo"),
        ("echo $(a)", "a echo"),
        ("echo \"x $(a \"y $(b)\") z\"", "b a echo"),
        ("echo `a`", "a echo"),
        ("echo `a \\`b\\``", "b a echo"),
        ("echo \"`a`\"", "a echo"),
        ("echo ${x:-$(a)}", "a echo"),
        ("echo \"${x:+$(a)}\"", "a echo"),
        ("echo ${x/$(a)/`b`}", "a b echo"),
        ("x=$(a)", "a"),
        ("x=$(a) b", "a b"),
        ("x=(1 $(a) \"$b\")", "a"),
        ("export x=$(a) y=(1 2)", "a export"),
        ("a > $(b)", "b a"),
        ("a <<< $(b)", "b a"),
        ("a <(b) >(c)", "b c a"),
        ("a --f=<(b)", "b a"),
        ("a 2> >(b)", "b a"),
        ("a <<E\n$(b)\nE", "a b"),
        ("a <<'E'\n$(b)\nE", "a"),
        ("a <<\\E\n`b`\nE\nc", "a c"),
        ("a <<-E\n\t$(b)\n\tE\nc", "a b c"),
        ("a <<E && b\nx\nE\nc", "a b c"),
        ("a <<E <<F\n$(b)\nE\n$(c)\nF\nd", "a b c d"),
        ("a <<E\n\\$(b)\nE", "a"),
        ("a \"$(cat <<'E'\nit's\nE\n)\"", "cat a"),
        ("a=1 b=2 c", "c"),
        ("a[0]=1", ""),
        (">f a", "a"),
        ("> f", ""),
        ("a {fd}>f 3<&1 4>&-", "a"),
        ("a &> f; b &>> g", "a b"),
        ("{ a; } 2>&1 | b", "a b"),
        ("~/bin/a b", "~/bin/a"),
        ("/bin/a", "/bin/a"),
    ] {
        assert_eq!(programs(command), expected, "{command:?}");
    }
}

#[test]
fn quoted_programs_are_named_as_they_run() {
    for command in
        ["r\"m\" x", "r'm' x", "r\\m x", "\"rm\" x", "r\\\nm x", "$'rm' x", "$'\\x72m' x", "r''m x"]
    {
        assert_eq!(programs(command), "rm", "{command:?}");
    }
}

#[test]
fn a_redirection_says_what_goes_where() {
    use Direction::{Append, AppendBoth, Duplicate, HereString, Read, ReadWrite, Write, WriteBoth};
    for (source, direction, target) in [
        (">f", Write, "f"),
        ("> f", Write, "f"),
        (">|f", Write, "f"),
        (">>f", Append, "f"),
        ("<f", Read, "f"),
        ("<>f", ReadWrite, "f"),
        ("&>f", WriteBoth, "f"),
        (">&f", WriteBoth, "f"),
        (">&$x", WriteBoth, "$x"),
        ("&>>f", AppendBoth, "f"),
        (">&2", Duplicate, "2"),
        (">&-", Duplicate, "-"),
        ("<&3", Duplicate, "3"),
        ("<<<f", HereString, "f"),
        (">\\\n>f", Append, "f"),
        (">'a b'", Write, "a b"),
    ] {
        let understanding = understand(&format!("a {source}"));
        assert!(understanding.is_full(), "{source}: {:?}", understanding.doubts);
        let found = &understanding.commands[0].redirections[0];
        assert_eq!((found.direction, found.target.text.as_str()), (direction, target), "{source}");
    }
}

#[test]
fn a_descriptor_is_told_from_a_word() {
    let descriptor = |command: &str| {
        let understanding = understand(command);
        let command = &understanding.commands[0];
        (command.words.len(), command.redirections[0].descriptor.clone())
    };
    assert_eq!(descriptor("a 2>f"), (1, Some(Descriptor::Number(2))));
    assert_eq!(descriptor("a 2 >f"), (2, None));
    assert_eq!(descriptor("a x2>f"), (2, None));
    assert_eq!(descriptor("a {x}>f"), (1, Some(Descriptor::Variable("x".to_owned()))));
    assert_eq!(descriptor("a {x,y}>f"), (2, None));
}

#[test]
fn a_here_document_keeps_its_text() {
    let body = |command: &str| {
        let understanding = understand(command);
        assert!(understanding.is_full(), "{command:?}: {:?}", understanding.doubts);
        let target = &understanding.commands[0].redirections[0].target;
        (target.text.clone(), target.literal().is_some())
    };
    assert_eq!(body("a <<E\nx $y\nE\n"), ("x $y\n".to_owned(), false));
    assert_eq!(body("a <<'E'\nx $y\nE\n"), ("x $y\n".to_owned(), true));
    assert_eq!(body("a <<\"E F\"\nx\nE F"), ("x\n".to_owned(), true));
    assert_eq!(body("a <<E\nE"), (String::new(), true));
    assert_eq!(body("a <<E\nE \n E\nE"), ("E \n E\n".to_owned(), true));
}

#[test]
fn the_surroundings_of_a_command_are_known() {
    let understanding = understand("a && b | c & if d; then e; fi; while f; do g; done; h $(i)");
    let commands = &understanding.commands;
    let place = |name: &str| commands.iter().find(|it| it.program() == Some(name)).unwrap().place;
    assert_eq!(place("b").after, Connector::And);
    assert_eq!(place("c").after, Connector::Pipe);
    assert!(place("c").piped && !place("b").piped);
    assert!(place("a").background && place("c").background && !place("d").background);
    assert!(place("e").conditional && !place("e").looped);
    assert!(place("g").looped && place("f").looped);
    assert!(place("i").substituted && !place("h").substituted);
}

#[test]
fn assignments_are_told_from_words() {
    let understanding = understand("a=1 b+=\"x y\" c=(1 2) d e=3");
    let command = &understanding.commands[0];
    let names: Vec<&str> = command.assignments.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(command.assignments[1].append && command.assignments[2].array);
    assert_eq!(command.assignments[2].value.len(), 2);
    assert_eq!(command.words.len(), 2);
}
