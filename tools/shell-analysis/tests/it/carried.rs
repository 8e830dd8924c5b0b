//! Wrappers and scripts: what a command runs is in the list behind it.

use toolwright_shell_analysis::{Carries, Reason, understand};

use crate::{doubt, programs};

#[test]
fn wrappers_name_what_they_run() {
    for (command, expected) in [
        ("timeout 5 a", "timeout a"),
        ("timeout -k 1 --signal=KILL 5s a -x", "timeout a"),
        ("nice a", "nice a"),
        ("nice -n 5 timeout 3 nohup a", "nice timeout nohup a"),
        ("nice -10 a", "nice a"),
        ("stdbuf -oL a", "stdbuf a"),
        ("command a", "command a"),
        ("command -v a", "command"),
        ("command -p a", "command a"),
        ("builtin command a", "builtin command a"),
        ("exec a", "exec a"),
        ("exec -a x a", "exec a"),
        ("exec 3>f", "exec"),
        ("noglob a", "noglob a"),
        ("env a", "env a"),
        ("env", "env"),
        ("env -i x=1 y=2 a b", "env a"),
        ("env -u x -- a", "env a"),
        ("/usr/bin/env a", "/usr/bin/env a"),
        ("sudo -u root x=1 a", "sudo a"),
        ("sudo -E env a", "sudo env a"),
        ("setsid -f a", "setsid a"),
        ("ionice -c3 a", "ionice a"),
        ("flock l a", "flock a"),
        ("unshare -r a", "unshare a"),
        ("nsenter -t 1 a", "nsenter a"),
        ("busybox a", "busybox a"),
        ("chroot / a", "chroot a"),
        ("xargs a", "xargs a"),
        ("xargs", "xargs"),
        ("xargs -n1 -P 4 a -x", "xargs a"),
        ("xargs -I{} a {}", "xargs a"),
        ("xargs -a f a", "xargs a"),
        ("find . -exec a {} \\;", "find a"),
        ("find . -name x -execdir a {} + -o -ok b ';'", "find a b"),
        ("fd x -x a", "fd a"),
        ("watch -n1 'a | b'", "watch a b"),
        ("watch a -x", "watch a"),
        ("parallel a ::: 1 2", "parallel a"),
        ("script -qc 'a b' /dev/null", "script a"),
        ("su -c 'a; b' root", "su a b"),
        ("sh -c 'a; b $1' x y", "sh a b"),
        ("bash -lc 'a && b'", "bash a b"),
        ("bash -e -c 'a'", "bash a"),
        ("bash script.sh", "bash"),
        ("bash <<'E'\na\nb\nE", "bash a b"),
        ("sh <<< 'a'", "sh a"),
        ("eval a b", "eval a"),
        ("eval 'a; b' '; c'", "eval a b c"),
        ("eval \"eval 'a'\"", "eval eval a"),
        ("trap 'a; b' EXIT INT", "trap a b"),
        ("trap - EXIT", "trap"),
        ("git submodule foreach 'a'", "git a"),
        ("git submodule foreach --recursive git status", "git git"),
        ("git bisect run a b", "git a"),
        ("git rebase -x 'a' main", "git a"),
        ("env sudo timeout 5 sh -c 'eval a'", "env sudo timeout sh eval a"),
    ] {
        assert_eq!(programs(command), expected, "{command:?}");
    }
}

#[test]
fn what_a_wrapper_runs_may_be_unclear() {
    for command in [
        "timeout $x a",
        "timeout --unknown 5 a",
        "timeout 5 -x a",
        "env -S 'a b'",
        "env $x a",
        "sudo -i a",
        "xargs --replace a",
        "find $x -name y",
        "find . \"$x\" a \\;",
        "watch -x a",
        "time x=1 a",
        "flock f -c a",
        "parallel --unknown a",
    ] {
        assert!(
            matches!(doubt(command), Some(Reason::Wrapper(_))),
            "{command}: {:?}",
            doubt(command)
        );
    }
}

#[test]
fn a_script_that_is_not_in_the_text_is_in_doubt() {
    for (command, reason) in [
        ("eval \"$x\"", Reason::DynamicScript),
        ("eval a $x", Reason::DynamicScript),
        ("bash -c \"$x\"", Reason::DynamicScript),
        ("sh -c \"a $x\"", Reason::DynamicScript),
        ("trap \"$x\" EXIT", Reason::DynamicScript),
        ("xargs -I{} sh -c 'a {}'", Reason::DynamicScript),
        ("find . -exec sh -c 'a {}' \\;", Reason::DynamicScript),
        ("xargs sh -c", Reason::DynamicScript),
        ("source f", Reason::UnseenScript),
        (". f", Reason::UnseenScript),
        ("a | sh", Reason::UnseenScript),
        ("bash -s < f", Reason::UnseenScript),
        ("sudo bash", Reason::UnseenScript),
        ("bash -$x", Reason::DynamicScript),
        ("parallel ::: a b", Reason::UnseenScript),
        ("git -c core.pager=a log", Reason::UnseenScript),
        ("git -c alias.x='!a' x", Reason::UnseenScript),
        ("xargs -I{} {} x", Reason::DynamicProgram),
        ("xargs env", Reason::Wrapper("env".to_owned())),
        ("find . -exec {} \\;", Reason::DynamicProgram),
        ("sh -c '$1' x a", Reason::DynamicProgram),
        ("sh -c '[[ a ]]'", Reason::ShellsDiffer),
    ] {
        assert_eq!(doubt(command), Some(reason), "{command}");
    }
}

#[test]
fn a_wrapper_says_who_may_look_through_it() {
    for (command, carries) in [
        ("timeout 5 a", Carries::Transparent),
        ("nohup a", Carries::Transparent),
        ("xargs a", Carries::Transparent),
        ("xargs -n1 a", Carries::Opaque),
        ("env a", Carries::Opaque),
        ("sudo a", Carries::Opaque),
        ("find . -exec a \\;", Carries::Opaque),
        ("sh -c a", Carries::Opaque),
        ("eval a", Carries::Opaque),
        ("command -v a", Carries::Nothing),
        ("npx a", Carries::Nothing),
        ("docker exec x a", Carries::Nothing),
    ] {
        let understanding = understand(command);
        assert_eq!(understanding.commands[0].carries, carries, "{command}");
        let inner = understanding.commands.get(1).map(|it| it.carried_by);
        let expected = (carries != Carries::Nothing).then_some(Some(0));
        assert_eq!(inner, expected, "{command}");
    }
}

#[test]
fn what_comes_through_xargs_is_no_literal_argument() {
    let understanding = understand("xargs a -x");
    let last = understanding.commands[1].words.last().unwrap();
    assert!(last.may_split() && last.literal().is_none());
}
