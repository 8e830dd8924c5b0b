//! Programs that run another program: which they are, and where it begins among their arguments.

use crate::{
    options::{self, Arguments},
    understanding::{Carries, Command, Word},
};

/// A program that runs the program that its arguments name.
struct Wrapper {
    name: &'static str,
    carries: Carries,
    /// Its options, see [`options`].
    options: &'static str,
    /// Operands before the program.
    operands: usize,
    /// Whether `NAME=value` may stand before the program.
    assigns: bool,
}

const fn transparent(name: &'static str, options: &'static str, operands: usize) -> Wrapper {
    Wrapper { name, carries: Carries::Transparent, options, operands, assigns: false }
}

const fn opaque(name: &'static str, options: &'static str, operands: usize) -> Wrapper {
    Wrapper { name, carries: Carries::Opaque, options, operands, assigns: false }
}

const fn assigning(name: &'static str, options: &'static str) -> Wrapper {
    Wrapper { name, carries: Carries::Opaque, options, operands: 0, assigns: true }
}

/// The transparent ones are those that Claude Code strips before it matches (docs 2.1.240).
const WRAPPERS: [Wrapper; 32] = [
    transparent(
        "timeout",
        "-k= -s= -v -f -p --kill-after= --signal= --foreground --preserve-status --verbose",
        1,
    ),
    transparent("time", "-p", 0),
    transparent("nice", "-n= --adjustment= -#", 0),
    transparent("nohup", "", 0),
    transparent("stdbuf", "-i= -o= -e= --input= --output= --error=", 0),
    transparent("command", "-p", 0),
    transparent("builtin", "", 0),
    transparent("noglob", "", 0),
    opaque("exec", "-c -l -a=", 0),
    assigning("env", "- -i -0 -u= -v -C= --ignore-environment --null --unset= --chdir= --debug"),
    assigning(
        "sudo",
        "-A -b -E -H -K -k -n -P -S -u= -g= -p= -C= -D= -h= -R= -r= -T= -t= -U= --user= --group= \
         --non-interactive --preserve-env? --set-home --background --stdin --chdir= --host= --prompt=",
    ),
    assigning("doas", "-n -L -u= -C="),
    opaque("setsid", "-c -f -w --ctty --fork --wait", 0),
    opaque("ionice", "-c= -n= -t --class= --classdata= --ignore", 0),
    opaque("chrt", "-a -b -f -i -m -o -r -R -v --batch --fifo --idle --other --rr --verbose", 1),
    opaque("taskset", "-a -c --all-tasks --cpu-list", 1),
    opaque("chroot", "--userspec= --groups= --skip-chdir", 1),
    opaque(
        "unshare",
        "-m -u -i -n -p -U -C -T -f -r -c --mount? --net? --pid? --user? --fork \
         --map-root-user --mount-proc?",
        0,
    ),
    opaque(
        "nsenter",
        "-a -m -u -i -n -p -U -C -T -F -t= --all --target= --mount? --net? --pid?",
        0,
    ),
    opaque("strace", "-f -ff -c -C -q -y -v -t -tt -T -r -e= -o> -s= -p= -E= -P= -u=", 0),
    opaque("ltrace", "-f -c -C -S -e= -o> -s= -p= -l= -u=", 0),
    opaque(
        "flock",
        "-s -x -e -u -n -o -F -v -w= -E= --shared --exclusive --unlock --nonblock --wait= --timeout= \
         --close --verbose --no-fork",
        1,
    ),
    opaque("busybox", "", 0),
    opaque("toybox", "", 0),
    opaque("fakeroot", "-u --unknown-is-real", 0),
    opaque("setarch", "-R -v --addr-no-randomize", 1),
    opaque("setpriv", "--no-new-privs --reuid= --regid= --clear-groups --init-groups", 0),
    opaque("dbus-run-session", "--", 0),
    opaque("xvfb-run", "-a -s= -n= -e> --auto-servernum --server-args=", 0),
    opaque("caffeinate", "-d -i -m -s -u -t= -w=", 0),
    opaque("pkexec", "--user= --disable-internal-agent --keep-cwd", 0),
    opaque("ssh-agent", "-c -s -k -D -d -a= -E= -P= -t=", 0),
];

/// What a program does with its arguments.
pub(crate) enum Carried {
    /// It runs nothing that they name.
    Nothing,
    /// It runs the program that begins at this argument.
    Program {
        at: usize,
        carries: Carries,
        /// Variables that are set for it.
        assigned: Vec<String>,
        /// Whether words that are not seen follow its arguments.
        input: bool,
        /// What is replaced in its words.
        replaced: Option<String>,
    },
    /// What it runs can't be told.
    Unclear,
}

/// Looks for the program that a wrapper runs.
pub(crate) fn carried(command: &Command) -> Carried {
    let Some(name) = command.program_name() else { return Carried::Nothing };
    match name {
        "xargs" => return input_program(command),
        "command" if is_query(command.arguments()) => return Carried::Nothing,
        _ => {}
    }
    let Some(wrapper) = WRAPPERS.iter().find(|it| it.name == name) else { return Carried::Nothing };
    let Some(found) = options::split_leading(command.arguments(), wrapper.options) else {
        return Carried::Unclear;
    };
    let mut at = found.rest;
    let mut assigned = Vec::new();
    let words = command.arguments();
    let fixed = |it: &Word| it.literal().is_some() || !it.may_split();
    for _ in 0..wrapper.operands {
        match words.get(at) {
            Some(word) if fixed(word) => at += 1,
            Some(_) => return Carried::Unclear,
            None => return Carried::Nothing,
        }
    }
    while wrapper.assigns
        && let Some(word) = words.get(at)
        && let Some((name, _)) = word.literal_prefix().split_once('=')
    {
        if word.may_split() || name.is_empty() {
            return Carried::Unclear;
        }
        assigned.push(name.to_owned());
        at += 1;
    }
    program(words, at, wrapper, assigned)
}

fn program(words: &[Word], at: usize, wrapper: &Wrapper, assigned: Vec<String>) -> Carried {
    match words.get(at).map(|it| it.text.as_str()) {
        None => Carried::Nothing,
        // What the shell reads as its own grammar behind `time`, and an option after operands.
        Some(first) if first == "!" || first.starts_with('-') => Carried::Unclear,
        Some(first) if wrapper.name == "time" && first.contains('=') => Carried::Unclear,
        Some(_) => {
            let carries = wrapper.carries;
            Carried::Program { at, carries, assigned, input: false, replaced: None }
        }
    }
}

fn is_query(words: &[Word]) -> bool {
    words
        .first()
        .and_then(Word::literal)
        .is_some_and(|it| matches!(it, "-v" | "-V" | "-pv" | "-pV"))
}

/// `xargs`: transparent when bare (Claude Code docs 2.1.240). What it reads becomes arguments.
fn input_program(command: &Command) -> Carried {
    const OPTIONS: &str = "-0 -r -t -x -p -n= -L= -l? -P= -I= -i? -s= -d= -E= -e? -a< --null --verbose \
        --no-run-if-empty --exit --max-args= --max-procs= --max-lines? --delimiter= --arg-file< \
        --replace? --max-chars= --interactive --open-tty -o";
    let Some(found) = options::split_leading(command.arguments(), OPTIONS) else {
        return Carried::Unclear;
    };
    let Arguments { rest: at, options, values, .. } = found;
    if command.arguments().get(at).is_none() {
        return Carried::Nothing;
    }
    if options.iter().any(|it| matches!(*it, "-i" | "--replace")) {
        return Carried::Unclear;
    }
    let carries = if options.is_empty() { Carries::Transparent } else { Carries::Opaque };
    let replaced = values.iter().find(|it| it.0 == "-I").map(|it| it.2.to_owned());
    Carried::Program { at, carries, assigned: Vec::new(), input: replaced.is_none(), replaced }
}
