//! Files: which are read and written, and what they are relative to.

use toolwright_shell_analysis::{Base, PathUse, may_change_directory, paths, understand};

/// What a command does with files, in short: `r:a` reads, `w:a` writes, `?` is not known.
fn files(command: &str) -> String {
    let paths = paths(&understand(command));
    let short = |it: &PathUse| {
        let letter = if it.written { "w" } else { "r" };
        let dynamic = if it.dynamic { "?" } else { "" };
        format!("{letter}:{}{dynamic}", it.path)
    };
    let mut all: Vec<String> = paths.uses.iter().map(short).collect();
    if !paths.complete {
        all.push("...".to_owned());
    }
    all.join(" ")
}

#[test]
fn files_are_named_with_what_is_done_to_them() {
    for (command, expected) in [
        ("cat a 'b c'", "r:a r:b c"),
        ("cat -n a -", "r:a"),
        ("cat $x ~/y", "r:$x? r:~/y?"),
        ("head -n 5 a", "r:a"),
        ("tail -5 a", "r:a"),
        ("grep -n x a b", "r:a r:b"),
        ("grep -e x a", "r:a"),
        ("grep -f p a", "r:p r:a"),
        ("rg x", ""),
        ("sed -n 1p a", "r:a"),
        ("sed -i s/a/b/ x y", "w:x w:y"),
        ("sed -n 'w o' a", "r:a ..."),
        ("find a b -name x", "r:a r:b"),
        ("find a -delete", "r:a ..."),
        ("sort -o a b", "w:a r:b"),
        ("uniq a b", "r:a w:b"),
        ("echo a > b", "w:b"),
        ("a < b 2>> c", "r:b w:c ..."),
        ("> a", "w:a"),
        ("echo > /dev/null", "w:/dev/null"),
        ("ls > \"$x\"", "w:$x?"),
        ("{ ls; } > a", "w:a"),
        ("diff <(ls a) b", "r:a r:b"),
        ("tee -a a b", "w:a w:b"),
        ("touch a", "w:a"),
        ("mkdir -p a/b", "w:a/b"),
        ("rm -rf a b", "w:a w:b"),
        ("rm --unknown a", "w:a ..."),
        ("mv a b", "w:a w:b"),
        ("cp -r a b c", "r:a r:b w:c"),
        ("ln -s a b", "r:a w:b"),
        ("chmod +x a", "w:a"),
        ("dd if=a of=b bs=1", "r:a w:b"),
        ("timeout 5 cat a", "r:a"),
        ("sh -c 'cat a'", "r:a ..."),
        ("python3 a", "..."),
        ("echo a", ""),
        ("$x a", "..."),
        ("cat <<E\nx\nE", ""),
    ] {
        assert_eq!(files(command), expected, "{command:?}");
    }
}

#[test]
fn a_path_is_relative_to_where_the_command_has_gone() {
    let base = |command: &str| {
        let paths = paths(&understand(command));
        paths.uses.into_iter().next_back().unwrap().base
    };
    let moved = |to: &str| Base::Moved(to.to_owned());
    for (command, expected) in [
        ("cat a", Base::Session),
        ("cd x && cat a", moved("x")),
        ("cd x && cd y && cat a", moved("x/y")),
        ("cd /x && cat a", moved("/x")),
        ("cd x && cat a | cat b", moved("x")),
        ("cd x && ls && cat a", moved("x")),
        ("cd x; cat a", Base::Unknown),
        ("cd x || cat a", Base::Unknown),
        ("cd x && ls; cat a", Base::Unknown),
        ("cd $x && cat a", Base::Unknown),
        ("cd && cat a", Base::Unknown),
        ("cd - && cat a", Base::Unknown),
        ("pushd x && cat a", Base::Unknown),
        ("CDPATH=/y cd x && cat a", Base::Unknown),
        ("eval 'cd x' && cat a", Base::Unknown),
        ("command cd x && cat a", Base::Unknown),
        ("f() { cd x; }; f; cat a", Base::Unknown),
        ("(cd x && ls); cat a", Base::Session),
        ("cd x | cat a", Base::Session),
        ("echo $(cd x); cat a", Base::Session),
        ("cd x & cat a", Base::Session),
        ("for i in 1 2; do cd x && cat a; done", Base::Unknown),
    ] {
        assert_eq!(base(command), expected, "{command:?}");
    }
}

#[test]
fn only_the_shell_itself_takes_the_session_along() {
    for (command, changes) in [
        ("ls", false),
        ("cd x", true),
        ("cd x && ls", true),
        ("ls && pushd x", true),
        ("{ cd x; }", true),
        ("if a; then cd x; fi", true),
        ("f() { cd x; }; f", true),
        ("eval 'cd x'", true),
        ("builtin cd x", true),
        ("(cd x && ls)", false),
        ("echo $(cd x)", false),
        ("cd x | cat", false),
        ("cd x &", false),
        ("bash -c 'cd x'", false),
        ("env cd x", false),
        ("source x", true),
        ("$x", true),
    ] {
        assert_eq!(may_change_directory(&understand(command)), changes, "{command:?}");
    }
}
