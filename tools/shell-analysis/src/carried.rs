//! Adds what commands run to the list: behind wrappers, in quoted scripts, for each file found.

use crate::{
    MAX_CARRIED,
    doubt::Reason,
    options,
    reader::{self, Draft},
    shell_state,
    understanding::{Carries, Command, Direction, Expansion, ExpansionKind, Place, Word},
    wrappers::{self, Carried},
};

/// Shells that run the script of their `-c`.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh"];
/// Options of those shells; `-c` is looked for apart.
const SHELL_OPTIONS: &str = "-c -e -u -x -l -i -f -v -n -p -r -a -b -h -m -B -C -E -H -T -s -o= -O= \
    --norc --noprofile --posix --login --restricted --verbose --rcfile= --init-file=";
/// Actions of `find` that run a program.
const ACTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// A script within the words of a command.
enum Script {
    Text(String),
    /// Shells read it differently.
    Unportable(String),
    /// An expansion decides what it says; this is how it is written.
    Dynamic(String),
    /// It comes from somewhere else.
    Unseen,
    /// The arguments of the program that runs it are not understood.
    Unclear(String),
    None,
}

/// Follows every command to what it runs, and that to what it runs; it stands right behind it.
pub(crate) fn unfold(draft: &mut Draft) {
    let read = std::mem::take(&mut draft.commands);
    let mut waiting: Vec<(Command, usize)> = read.into_iter().rev().map(|it| (it, 0)).collect();
    let mut done = Vec::with_capacity(waiting.len());
    while let Some((mut command, level)) = waiting.pop() {
        shell_state::check(&command, draft);
        let carries = follow(&command, level, draft);
        let found = std::mem::take(&mut draft.commands);
        if !found.is_empty() {
            command.carries = carries;
        }
        let at = done.len();
        waiting.extend(found.into_iter().rev().map(|mut it| {
            it.carried_by = Some(at);
            (it, level + 1)
        }));
        done.push(command);
    }
    draft.commands = done;
}

/// Puts what a command runs into the draft, and says how it does.
fn follow(command: &Command, level: usize, draft: &mut Draft) -> Carries {
    let position = command.span.start;
    if level >= MAX_CARRIED {
        draft.doubt(Reason::TooDeep, position);
        return Carries::Nothing;
    }
    let Some(name) = command.program_name() else { return Carries::Nothing };
    let mut own = || Place { scope: draft.new_scope(command.place.scope), ..command.place };
    let unclear = || Script::Unclear(name.to_owned());
    let (script, place) = match name {
        "eval" => (script_of_eval(command), command.place),
        "trap" => (script_of_trap(command), command.place),
        "." | "source" if !command.arguments().is_empty() => (Script::Unseen, command.place),
        "watch" | "parallel" | "script" | "su" | "runuser" => {
            (script_of_runner(name, command).map_or_else(unclear, portable), own())
        }
        "git" => (portable(script_of_git(command.arguments())), own()),
        _ if is_bash_like(name) => (script_of_shell(command), own()),
        _ if SHELLS.contains(&name) => (portable(script_of_shell(command)), own()),
        "find" | "fd" | "fdfind" => {
            for_each_found(command, draft);
            return Carries::Opaque;
        }
        _ => return wrapped(command, name, draft),
    };
    run(script, place, level, draft, position);
    Carries::Opaque
}

/// Puts the program behind a wrapper into the draft.
fn wrapped(command: &Command, name: &str, draft: &mut Draft) -> Carries {
    let position = command.span.start;
    let (start, carries, assigned, input, replaced) = match wrappers::carried(command) {
        Carried::Nothing => return Carries::Nothing,
        Carried::Unclear => {
            draft.doubt(Reason::Wrapper(name.to_owned()), position);
            return Carries::Nothing;
        }
        Carried::Program { at, carries, assigned, input, replaced } => {
            (at, carries, assigned, input, replaced)
        }
    };
    for name in &assigned {
        draft.assign(name, None, position);
    }
    let mut words = command.arguments().get(start..).unwrap_or_default().to_vec();
    if let Some(token) = replaced {
        words.iter_mut().for_each(|it| replace(it, &token));
    }
    if input {
        words.push(unknown_words());
    }
    let mut place = command.place;
    if !is_in_shell(name) {
        place.scope = draft.new_scope(place.scope);
    }
    add(words, command, place, draft);
    carries
}

/// Whether a wrapper runs a builtin in the shell itself.
fn is_in_shell(name: &str) -> bool {
    matches!(name, "command" | "builtin" | "time" | "noglob" | "exec")
}

fn add(words: Vec<Word>, outer: &Command, place: Place, draft: &mut Draft) {
    let command = Command { words, place, span: outer.span.clone(), ..Command::default() };
    match command.program() {
        None => draft.doubt(Reason::DynamicProgram, outer.span.start),
        Some(name) if !name.is_ascii() => draft.doubt(Reason::LookalikeProgram, outer.span.start),
        Some(_) => {}
    }
    draft.commands.push(command);
}

/// Marks what a program puts something else for.
fn replace(word: &mut Word, token: &str) {
    let kind = ExpansionKind::Input;
    let places: Vec<usize> = word.text.match_indices(token).map(|it| it.0).collect();
    let expansion = |at: usize| Expansion { kind, at: at..at + token.len(), quoted: true };
    word.expansions.extend(places.into_iter().map(expansion));
}

/// Stands for the words that a wrapper reads from its input.
fn unknown_words() -> Word {
    let expansion = Expansion { kind: ExpansionKind::Input, at: 0..0, quoted: false };
    Word { expansions: vec![expansion], ..Word::default() }
}

fn run(script: Script, place: Place, level: usize, draft: &mut Draft, position: usize) {
    match script {
        Script::None => {}
        Script::Dynamic(text) => {
            draft.doubt(Reason::DynamicScript, position);
            reader::read(&text, Some(position), level, place, draft);
        }
        Script::Unclear(name) => draft.doubt(Reason::Wrapper(name), position),
        Script::Unseen => draft.doubt(Reason::UnseenScript, position),
        Script::Unportable(text) => {
            draft.doubt(Reason::ShellsDiffer, position);
            reader::read(&text, Some(position), level, place, draft);
        }
        Script::Text(text) => reader::read(&text, Some(position), level, place, draft),
    }
}

/// Words that a program joins into a script.
fn joined(words: &[Word]) -> Script {
    if words.is_empty() {
        return Script::None;
    }
    let text = words.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join(" ");
    let literal = words.iter().all(|it| it.literal().is_some());
    if literal { Script::Text(text) } else { Script::Dynamic(text) }
}

fn one(word: Option<&Word>) -> Script {
    joined(word.map(std::slice::from_ref).unwrap_or_default())
}

fn script_of_eval(command: &Command) -> Script {
    let words = command.arguments();
    let first = words.first().and_then(Word::literal);
    joined(if first == Some("--") { &words[1..] } else { words })
}

fn script_of_trap(command: &Command) -> Script {
    let words = command.arguments();
    match words.first().map(Word::literal) {
        Some(Some("-l" | "-p")) => Script::None,
        Some(Some("--")) => one(words.get(1)),
        Some(Some("-" | "")) => Script::None,
        _ => one(words.first()),
    }
}

/// The script of `sh -c`, or of its input. A shell that reads a file is a program like any other.
fn script_of_shell(command: &Command) -> Script {
    let words = command.arguments();
    let Some(found) = options::split_leading(words, SHELL_OPTIONS) else {
        let literal = words.iter().all(|it| it.literal().is_some());
        return if literal { Script::Unseen } else { Script::Dynamic(String::new()) };
    };
    let first = words.get(found.rest);
    if found.has(&["-c"]) {
        return one(first);
    }
    if found.has(&["-s"]) || first.is_none() {
        let input = command.redirections.iter().rfind(|it| it.descriptor.is_none());
        return match input.map(|it| (it.direction, it.target.literal())) {
            Some((Direction::HereDocument | Direction::HereString, Some(text))) => {
                Script::Text(text.to_owned())
            }
            _ => Script::Unseen,
        };
    }
    Script::None
}

fn is_bash_like(name: &str) -> bool {
    matches!(name, "bash" | "zsh")
}

/// A script for whatever shell the system has: what only bash knows reads differently there.
fn portable(script: Script) -> Script {
    const BASH_ONLY: [&str; 10] =
        ["((", "[[", "<(", ">(", "$'", "&>", "|&", "function", ";&", "<<<"];
    match script {
        Script::Text(text) if BASH_ONLY.iter().any(|it| text.contains(it)) => {
            Script::Unportable(text)
        }
        other @ (Script::Text(_)
        | Script::Dynamic(_)
        | Script::Unseen
        | Script::None
        | Script::Unclear(_)
        | Script::Unportable(_)) => other,
    }
}

/// Programs that hand their words, or the value of an option, to a shell.
fn script_of_runner(name: &str, command: &Command) -> Option<Script> {
    let words = command.arguments();
    let table = match name {
        "watch" => {
            "-n= -d -t -b -e -g -c -p -w -x --interval= --differences? --no-title --color --exec \
             --errexit --chgexit --precise"
        }
        "parallel" => "-j= -k -n= -0 -u -v --jobs= --keep-order --dry-run --bar --halt= -a<",
        "script" => "-q -e -f -a -c= --quiet --return --flush --append --command=",
        _ => "- -l -m -p -c= -s= -u= -g= --login --command= --shell= --user=",
    };
    let found = options::split_leading(words, table)?;
    let rest = words.get(found.rest..).unwrap_or_default();
    let given = found.values.iter().find(|it| matches!(it.0, "-c" | "--command"));
    Some(match name {
        "watch" if found.has(&["-x", "--exec"]) => return None,
        "watch" => joined(rest),
        "parallel" => {
            let end = rest.iter().position(|it| it.text.starts_with(":::")).unwrap_or(rest.len());
            if end == 0 { Script::Unseen } else { joined(rest.get(..end)?) }
        }
        _ => match given {
            Some((_, word, value)) if word.literal().is_some() => Script::Text((*value).to_owned()),
            Some((_, _, value)) => Script::Dynamic((*value).to_owned()),
            None => match rest.iter().position(|it| it.literal() == Some("-c")) {
                Some(at) => one(rest.get(at + 1)),
                None => Script::Unseen,
            },
        },
    })
}

/// Commands that git runs for each commit or submodule, and settings that name programs.
fn script_of_git(words: &[Word]) -> Script {
    const PLAIN: [&str; 12] = [
        "user.",
        "color.",
        "commit.gpgsign=",
        "core.quotepath=",
        "core.autocrlf=",
        "advice.",
        "init.defaultbranch=",
        "safe.directory=",
        "log.",
        "column.",
        "gc.auto=",
        "diff.renames=",
    ];
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.literal() {
            Some("-c" | "--config-env") => {
                let setting = words.get(at + 1).map(|it| it.literal_prefix().to_ascii_lowercase());
                let plain = |it: &String| PLAIN.iter().any(|known| it.starts_with(known));
                if !setting.as_ref().is_some_and(plain) {
                    return Script::Unseen;
                }
                at += 2;
            }
            Some("-C" | "--git-dir" | "--work-tree") => at += 2,
            Some(it) if it.starts_with("--exec-path=") => return Script::Unseen,
            Some(it) if it.starts_with('-') => at += 1,
            Some(_) => break,
            None => return Script::Unseen,
        }
    }
    let rest = words.get(at + 1..).unwrap_or_default();
    let text = |it: usize| rest.get(it).and_then(Word::literal);
    match words.get(at).and_then(Word::literal) {
        Some("submodule") if text(0) == Some("foreach") => {
            let skip = 1 + usize::from(matches!(text(1), Some("--recursive" | "-q" | "--quiet")));
            joined(rest.get(skip..).unwrap_or_default())
        }
        Some("bisect") if text(0) == Some("run") => joined(rest.get(1..).unwrap_or_default()),
        Some("rebase") => {
            match rest.iter().position(|it| matches!(it.literal(), Some("-x" | "--exec"))) {
                Some(at) => one(rest.get(at + 1)),
                None if rest
                    .iter()
                    .any(|it| it.text.starts_with("--exec=") || it.text.starts_with("-x")) =>
                {
                    Script::Unseen
                }
                None => Script::None,
            }
        }
        Some("filter-branch") => Script::Unseen,
        _ => Script::None,
    }
}

/// Programs that `find` runs for what it finds.
fn for_each_found(command: &Command, draft: &mut Draft) {
    let finds = command.program_name() == Some("find");
    if command.arguments().windows(2).any(|it| may_hide_action(&it[0], &it[1]))
        || command.arguments().first().is_some_and(|it| it.may_split() && it.may_become_option())
    {
        draft.doubt(Reason::Wrapper("find".to_owned()), command.span.start);
    }
    let mut words = command.arguments().iter();
    while let Some(word) = words.next() {
        let action = if finds {
            word.literal().is_some_and(|it| ACTIONS.contains(&it))
        } else {
            word.literal().is_some_and(|it| {
                matches!(it, "-x" | "-X" | "--exec" | "--exec-batch")
                    || it.starts_with("--exec=")
                    || it.starts_with("--exec-batch=")
            })
        };
        if !action {
            continue;
        }
        if word.text.contains('=') {
            draft.doubt(Reason::Wrapper("fd".to_owned()), word.span.start);
            continue;
        }
        let ends = |it: &Word| it.literal() == Some(";") || (finds && it.literal() == Some("+"));
        let mut program: Vec<Word> = words.by_ref().take_while(|it| !ends(it)).cloned().collect();
        program.iter_mut().for_each(|it| replace(it, "{}"));
        let scope = draft.new_scope(command.place.scope);
        add(program, command, Place { scope, ..command.place }, draft);
    }
}

/// Whether a word may turn out to be an action: it may be several, or it stands where one does.
fn may_hide_action(before: &Word, word: &Word) -> bool {
    let after_option = before.text.starts_with('-');
    word.may_become_option() && (word.may_split() || !after_option)
}
