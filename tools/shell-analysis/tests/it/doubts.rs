//! Doubts: what is not understood is said, with its reason and its place.

use toolwright_shell_analysis::{Reason, understand};

use crate::doubt;

#[test]
fn each_trick_has_its_reason() {
    use Reason::{
        Arithmetic, DynamicProgram, Expansion, ExtendedGlob, HereDocument, History,
        LookalikeProgram, Network, Quoting, ShellsDiffer, Syntax, Unfinished,
    };
    for (command, reason) in [
        // Programs.
        ("$x a", DynamicProgram),
        ("\"$x\" a", DynamicProgram),
        ("$(a) b", DynamicProgram),
        ("`a` b", DynamicProgram),
        ("tou${x}ch a", DynamicProgram),
        ("touch${IFS}a", DynamicProgram),
        ("{touch,a}", DynamicProgram),
        ("/bin/t*h a", DynamicProgram),
        ("~u/a", DynamicProgram),
        ("<(a)", DynamicProgram),
        ("gіt status", LookalikeProgram),
        ("ｒm x", LookalikeProgram),
        ("'a b'", LookalikeProgram),
        // Arithmetic that evaluates data.
        ("(( a[$(b)] ))", Arithmetic),
        ("echo $(( x ))", Arithmetic),
        ("x=$(a); echo $((x + 1))", Arithmetic),
        ("x=1; read x; echo $((x))", Arithmetic),
        ("echo $(( $(a) ))", Arithmetic),
        ("echo ${x[$i]}", Arithmetic),
        ("echo ${x:$i}", Arithmetic),
        ("[[ $x -eq 0 ]]", Arithmetic),
        ("[[ 'a[$(b)]' -eq 0 ]]", Arithmetic),
        ("[[ -v 'a[$(b)]' ]]", Arithmetic),
        ("[[ -v $x ]]", Arithmetic),
        ("test -v 'a[$(b)]'", Arithmetic),
        ("let 'a[$(b)]=1'", Arithmetic),
        ("printf -v 'a[$(b)]' x", Arithmetic),
        ("read 'a[$(b)]'", Arithmetic),
        ("unset 'a[$(b)]'", Arithmetic),
        ("declare 'a[$(b)]=1'", Arithmetic),
        ("declare -n x=y", Arithmetic),
        ("declare -i x", Arithmetic),
        ("integer x='a[$(b)]'", Arithmetic),
        ("wait -p 'a[$(b)]'", Arithmetic),
        ("a[$(b)]=1", Arithmetic),
        ("((a) | b)", Arithmetic),
        // Expansions.
        ("echo ${!x}", Expansion),
        ("echo ${x@P}", Expansion),
        ("echo ${ a; }", Expansion),
        ("echo ${|a;}", Expansion),
        ("echo ${(e)x}", Expansion),
        ("echo ${=x}", Expansion),
        ("echo \"${x:-'a'}\"", Quoting),
        ("echo \"${x:-\"a\"}\"", Quoting),
        ("echo ${x:-{}}", Quoting),
        // What shells read differently.
        ("=a b", ShellsDiffer),
        ("echo =a", ShellsDiffer),
        ("echo $\"a\"", ShellsDiffer),
        ("echo $x[1]", ShellsDiffer),
        ("echo $[1]", ShellsDiffer),
        ("echo $'\\u00e4'", ShellsDiffer),
        ("echo $'\\c1'", ShellsDiffer),
        ("echo $'a\\0b'", ShellsDiffer),
        ("a >!f", ShellsDiffer),
        ("repeat 3 a", ShellsDiffer),
        ("- a", ShellsDiffer),
        ("[[ a =~ $x ]]", ShellsDiffer),
        ("a <<E\nx\\\nE\nE", ShellsDiffer),
        ("ls *(e:a:)", ExtendedGlob),
        ("ls !(a)", ExtendedGlob),
        ("ls @(a|b)", ExtendedGlob),
        ("echo a(b)", ExtendedGlob),
        ("!a b", History),
        ("echo !!", History),
        ("cat < /dev/tcp/a/1", Network),
        ("echo > /dev/udp/a/1", Network),
        // Here-documents.
        ("a <<E\nx", HereDocument),
        ("a <<E", HereDocument),
        ("a <<$x\n$x", HereDocument),
        ("a $(b <<E)\nx\nE", HereDocument),
        ("a <<E $(b\n)\nE", HereDocument),
        ("a <<-E\n$(b <<F\n\tF\nc\nF\n)\nE", HereDocument),
        // Grammar.
        ("a &&", Syntax("a command")),
        ("&& a", Syntax("a command")),
        ("a ; ; b", Syntax("a command")),
        ("a ;; b", Syntax("a command")),
        ("()", Syntax("a command")),
        ("{ }", Syntax("a command")),
        ("if ; then a; fi", Syntax("a command")),
        ("fi", Syntax("a command that can be followed")),
        (">f ! a", Syntax("a program that is no reserved word")),
        ("x=1 if a", Syntax("a program that is no reserved word")),
        ("a | ! b", Syntax("a command that can be followed")),
        ("coproc a", Syntax("a command that can be followed")),
        ("a )", Syntax("an operator between commands")),
        ("{ a; } b", Syntax("an operator between commands")),
        ("a > ", Syntax("the target of a redirection")),
        ("a >> | b", Syntax("the target of a redirection")),
        ("a 99999999999999>x", Syntax("a descriptor")),
        ("(a", Unfinished("a compound command")),
        ("echo $(a", Unfinished("a compound command")),
        ("echo 'a", Unfinished("a quote")),
        ("echo \"a", Unfinished("a quote")),
        ("echo `a", Unfinished("a substitution")),
        ("echo ${x:-a", Unfinished("an expansion")),
        ("[[ a", Unfinished("`[[`")),
    ] {
        assert_eq!(doubt(command), Some(reason), "{command:?}");
    }
}

#[test]
fn builtins_that_change_the_shell_are_in_doubt() {
    for command in [
        "alias ls='a'",
        "hash -p /x ls",
        "enable -f x y",
        "shopt -s extglob",
        "set -o posix",
        "set -k",
        "bind -x '\"a\": b'",
        "complete -C a b",
        "mapfile -C a -c 1 x",
        "history -s a",
        "fc -s",
        "print -P '$(a)'",
        "emulate zsh -c a",
        "BASH_ENV=f bash x",
        "export PROMPT_COMMAND=a",
        "PS4='$(a)'; set -x",
        "env BASH_ENV=f bash x",
        "for PS4 in a; do b; done",
        "read PS4",
    ] {
        assert!(
            matches!(doubt(command), Some(Reason::ChangesShell(_))),
            "{command}: {:?}",
            doubt(command)
        );
    }
}

#[test]
fn characters_that_hide_something_are_in_doubt() {
    for it in [
        '\0',
        '\r',
        '\u{1b}',
        '\u{7f}',
        '\u{85}',
        '\u{200b}',
        '\u{202e}',
        '\u{2066}',
        '\u{feff}',
        '\u{e0041}',
    ] {
        let reason = doubt(&format!("echo a{it}b"));
        let seen = matches!(reason, Some(Reason::HiddenCharacter(_) | Reason::LookalikeSpace(_)));
        assert!(seen, "{it:?}: {reason:?}");
    }
    for it in ['\u{a0}', '\u{1680}', '\u{2003}', '\u{202f}', '\u{3000}', '\u{2028}', '\u{3164}'] {
        assert_eq!(doubt(&format!("echo a{it}b")), Some(Reason::LookalikeSpace(it)), "{it:?}");
    }
}

#[test]
fn text_of_people_is_in_no_doubt() {
    for command in ["echo 'Grüße, 世界 ✅'", "git commit -m \"⚠️ 👩‍💻 done\"", "echo 1️⃣", "echo a\tb"]
    {
        assert_eq!(doubt(command), None, "{command}");
    }
}

#[test]
fn everyday_commands_are_in_no_doubt() {
    for command in [
        "set -euo pipefail; a",
        "set -- a b; shift",
        "i=0; while [ $i -lt 3 ]; do i=$((i + 1)); done",
        "n=5; (( n > 3 )) && a",
        "for i in 1 2 3; do echo $((i * 2)); done",
        "for i in {1..9}; do echo $((i * 2)); done",
        "[[ $# -eq 0 ]] && exit 1",
        "read -r -p '[y/n] ' x",
        "wait $!",
        "echo \"Hello!\"",
        "[ a != b ]",
        "find . ! -name x",
        "IFS=, read -r a b <<< \"$x\"",
        "while IFS= read -r l; do a \"$l\"; done < <(b)",
        "printf '%s\\n' \"${a[@]}\"",
        "echo \"${x%.*}\" \"${x##*/}\" \"${x//a/b}\"",
        "git -c user.name=x commit -m y",
        "trap 'rm -f \"$t\"' EXIT",
        "export PATH=\"$HOME/bin:$PATH\"",
        "[[ $x == *.rs && ! -d $y ]]",
        "[[ $x =~ ^[0-9]+(\\.[0-9]+)?$ ]]",
    ] {
        assert_eq!(doubt(command), None, "{command}");
    }
}

#[test]
fn a_doubt_says_where() {
    let position = |command: &str| understand(command).doubts[0].position;
    assert_eq!(position("a; b; $x"), 6);
    assert_eq!(position("echo ${!x}"), 9);
    assert_eq!(position("a\u{200b}"), 1);
    assert_eq!(position("a; eval '$x'"), 3);
    let text = understand("a; $x").doubts[0].to_string();
    assert_eq!(text, "an expansion decides which program runs (at byte 3)");
}

#[test]
fn what_was_read_before_a_doubt_stays() {
    let understanding = understand("a; b $(c); d ${!e}; f; (");
    assert_eq!(understanding.programs().collect::<Vec<_>>(), ["a", "c", "b", "d", "f"]);
    assert_eq!(understanding.doubts.len(), 2);
}
