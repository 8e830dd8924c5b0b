//! Meanings: how a command is shown, warned of, and what its exit code says.

use toolwright_shell_analysis::{
    Display, Polling, SedEdit, destruction, display, ending, polling, sed_edit, understand,
};

#[test]
fn an_exit_code_is_read_by_the_program_that_gave_it() {
    for (code, command, failed) in [
        (0, "false", false),
        (1, "grep x a", false),
        (1, "LC_ALL=C grep x a", false),
        (1, "/usr/bin/grep x a", false),
        (1, "ls | grep x", false),
        (1, "timeout 5 grep x a", false),
        (1, "cd a && grep x b", false),
        (1, "ls; grep x a", false),
        (1, "grep a b && grep x a", false),
        (1, "rg x", false),
        (1, "find . -name x", false),
        (1, "diff a b", false),
        (1, "test -f a", false),
        (1, "[ 1 = 2 ]", false),
        (1, "[[ a = b ]]", false),
        (1, "git diff --exit-code", false),
        (1, "git grep x", false),
        (1, "make && grep x a", true),
        (1, "make && env grep x a", true),
        (1, "env grep x a", false),
        (1, "timeout 5 grep x a; make", true),
        (1, "trap 'grep x a' EXIT; make", true),
        (1, "make | grep x", false),
        (1, "grep x a | wc", true),
        (1, "echo $(grep x a)", true),
        (1, "git status", true),
        (2, "grep x a", true),
        (1, "false", true),
        (1, "'b grep' x", true),
        (127, "grep x a", true),
        (-1, "grep x a", true),
        (1, "", true),
        (1, "grep x a; (", true),
    ] {
        assert_eq!(ending(&understand(command), code).failed, failed, "{code} of {command:?}");
    }
    assert_eq!(ending(&understand("grep x a"), 1).text, Some("nothing matches"));
    assert_eq!(ending(&understand("diff a b"), 1).text, Some("the files differ"));
}

#[test]
fn a_command_that_looks_is_shown_as_what_it_does() {
    for (command, expected) in [
        ("grep -rn x .", Display::Search),
        ("cd a && rg x | head", Display::Search),
        ("find . -name x", Display::Search),
        ("git grep x", Display::Search),
        ("cat a | grep x", Display::Read),
        ("head -5 a", Display::Read),
        ("sed -n 1p a", Display::Read),
        ("ls -la", Display::List),
        ("echo --- && ls", Display::List),
        ("echo a", Display::Other),
        ("ls && make", Display::Other),
        ("cat a > b", Display::Other),
        ("sed -i s/a/b/ x", Display::Other),
        ("find . -delete", Display::Other),
        ("cat ${!x}", Display::Other),
    ] {
        assert_eq!(display(&understand(command)), expected, "{command:?}");
    }
}

#[test]
fn what_destroys_is_told() {
    let text = |command: &str| destruction(&understand(command));
    assert_eq!(text("ls"), None);
    assert_eq!(text("git push"), None);
    assert_eq!(text("rm a").as_deref(), Some("`rm` removes files for good"));
    assert_eq!(
        text("a && git reset --hard; sudo rm -rf b").as_deref(),
        Some("`git reset` discards changes that are not committed; `rm` removes files for good")
    );
    for command in [
        "echo $(rm a)",
        "sh -c 'rm a'",
        "find . -delete",
        "find . -exec rm {} +",
        "git push --force",
        "git push -uf origin x",
        "git clean -fd",
        "git branch -D x",
        "git -C x checkout -- .",
        "mkfs.ext4 /dev/x",
        "dd if=a of=b",
        "chmod -R 777 .",
        "kubectl delete pod x",
        "rsync -a --delete a b",
    ] {
        assert!(text(command).is_some(), "{command}");
    }
}

#[test]
fn waiting_by_sleep_is_seen() {
    for (command, expected) in [
        ("while ! curl x; do sleep 5; done", Some(Polling::Loop)),
        ("for i in 1 2 3; do a; sleep 1; done", Some(Polling::Loop)),
        ("until a; do timeout 9 sleep 1; done", Some(Polling::Loop)),
        ("sleep 30 && cat log", Some(Polling::SleepFirst)),
        ("timeout 99 sleep 50; a", Some(Polling::SleepFirst)),
        ("sleep 1m; a", Some(Polling::SleepFirst)),
        ("sleep $x; a", Some(Polling::SleepFirst)),
        ("sleep 1 && a", None),
        ("sleep 0.5; a", None),
        ("sleep 60", None),
        ("a & sleep 5; b", None),
        ("sleep 60 & a", None),
        ("a", None),
    ] {
        assert_eq!(polling(&understand(command)), expected, "{command:?}");
    }
    assert!(Polling::Loop.advice().contains("background"));
    assert!(Polling::SleepFirst.advice().contains("background"));
}

#[test]
fn a_plain_sed_in_place_is_an_edit() {
    let edit = sed_edit(&understand("sed -i -E 's|a(.)|b\\1|gI' x 'y z'")).unwrap();
    let expected = SedEdit {
        files: vec!["x".to_owned(), "y z".to_owned()],
        pattern: "a(.)".to_owned(),
        replacement: "b\\1".to_owned(),
        extended: true,
        global: true,
        ignore_case: true,
    };
    assert_eq!(edit, expected);
    let plain = sed_edit(&understand("sed -i -e 's/a\\/b/c/' x")).unwrap();
    assert_eq!((plain.pattern.as_str(), plain.global, plain.extended), ("a\\/b", false, false));
}

#[test]
fn any_other_sed_is_none() {
    for command in [
        "sed s/a/b/ x",
        "sed -i.bak s/a/b/ x",
        "sed -i '' s/a/b/ x",
        "sed -i s/a/b/w x",
        "sed -i s/a/b/e x",
        "sed -i s/a/b/2 x",
        "sed -i '1s/a/b/' x",
        "sed -i 's/a/b/;s/c/d/' x",
        "sed -i \"s/$a/b/\" x",
        "sed -i s/a/b/ $x",
        "sed -i s/a/b/ *.rs",
        "sed -i s/a/b/",
        "sed -i s/a/b/ x > y",
        "sed -i s/a/b/ x && ls",
        "LANG=C sed -i s/a/b/ x",
        "sed -n -i s/a/b/ x",
        "sed -i -e s/a/b/ -e s/c/d/ x",
        "find . -exec sed -i s/a/b/ {} +",
        "sed -i s/a/b/ x &",
    ] {
        assert_eq!(sed_edit(&understand(command)), None, "{command}");
    }
}
