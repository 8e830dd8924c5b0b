//! `toolwright permissions`: what rules decide, why, and which of them do nothing.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::permissions_args::{
    CheckArgs, DecideArgs, ExplainArgs, PermissionsArgs, PermissionsCommand,
};
use super::{Screen, USAGE, VIOLATED};
use crate::RealLinks;
use crate::permissions::{
    Call, Case, Entry, HookWord, List, Mode, Places, RuleSet, Scope, Source, Trust, decide,
    explain, known_tool, lint,
};
use crate::settings::{
    CommandLine, FileSettings, Loaded, Locations, PlatformFolders, SettingsError, load,
};

/// Longest line of `decide`, in bytes: a call of a model is far shorter.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// Runs the command and gives its exit status.
///
/// # Errors
///
/// An error of `screen`.
pub(super) fn run(args: &PermissionsArgs, screen: &mut Screen<'_>) -> io::Result<u8> {
    match &args.command {
        PermissionsCommand::Decide(args) => decide_lines(args, &mut io::stdin().lock(), screen),
        PermissionsCommand::Explain(args) => explain_call(args, screen),
        PermissionsCommand::Check(args) => check(args, screen),
    }
}

/// A line of `decide`.
#[derive(Deserialize)]
struct Line {
    id: Value,
    tool: String,
    input: Value,
    #[serde(default)]
    rules: Lists,
    #[serde(default)]
    mode: Mode,
    cwd: PathBuf,
    /// What is known of the call beside its input.
    #[serde(default)]
    meta: Meta,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Lists {
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Meta {
    server: Option<String>,
    #[serde(rename = "_meta")]
    of_tool: Value,
}

fn decide_lines(
    args: &DecideArgs,
    input: &mut dyn BufRead,
    screen: &mut Screen<'_>,
) -> io::Result<u8> {
    let mut status = 0;
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        if io::Read::take(&mut *input, LONGEST_LINE).read_until(b'\n', &mut text)? == 0 {
            break;
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line>(&text) {
            Ok(line) => answer(&line, args, screen)?,
            Err(error) => {
                writeln!(screen.err, "error: line {number}: {error}; see --help for its shape")?;
                status = USAGE;
            }
        }
    }
    Ok(status)
}

fn answer(line: &Line, args: &DecideArgs, screen: &mut Screen<'_>) -> io::Result<()> {
    let source = Arc::new(Source::new(Scope::Project, &line.cwd));
    let lists = &line.rules;
    let lists = [(List::Deny, &lists.deny), (List::Ask, &lists.ask), (List::Allow, &lists.allow)];
    let entries = lists.into_iter().flat_map(|(list, texts)| {
        let source = source.clone();
        texts.iter().map(move |it| Entry { list, text: it.clone(), source: source.clone() })
    });
    let (rules, _) = RuleSet::compile(entries, Trust::Trusted, &RealLinks);
    let places = Places::new(&line.cwd, Some(&args.home), &RealLinks);
    let mut call = Call::by_name(&line.tool, &line.input, &places, &RealLinks);
    call.server = line.meta.server.as_deref();
    call.needs_user |=
        line.meta.of_tool["anthropic/requiresUserInteraction"].as_bool() == Some(true);
    let decision = decide(&case(&call, &rules, line.mode, &places));
    let (verdict, reason) = (decision.verdict.name(), decision.reason.to_string());
    if args.json {
        let answer = json!({"id": line.id, "decision": verdict, "reason": reason});
        return writeln!(screen.out, "{answer}");
    }
    let id = line.id.as_str().map_or_else(|| line.id.to_string(), str::to_owned);
    writeln!(screen.out, "{}: {verdict}: {}", id.escape_debug(), reason.escape_debug())
}

fn case<'a>(call: &'a Call<'a>, rules: &'a RuleSet, mode: Mode, places: &'a Places) -> Case<'a> {
    Case { call, rules, mode, places, hook: &HookWord::None, classifier: None }
}

fn settings_at(cwd: &Path) -> io::Result<(Loaded, Places)> {
    let cwd = cwd.canonicalize()?;
    let home = std::env::home_dir();
    let folders = PlatformFolders::usual(home.clone(), None);
    let loaded = load(&Locations::of(&cwd, &folders, CommandLine::default()));
    let mut places = Places::new(&cwd, home.as_deref(), &RealLinks);
    for directory in &loaded.directories {
        places.add(directory, &RealLinks);
    }
    Ok((loaded, places))
}

fn explain_call(args: &ExplainArgs, screen: &mut Screen<'_>) -> io::Result<u8> {
    let (loaded, places) = match settings_at(&args.cwd) {
        Ok(found) => found,
        Err(error) => {
            let cwd = args.cwd.display();
            writeln!(screen.err, "error: cannot look from {cwd}: {error}; give a folder by --cwd")?;
            return Ok(USAGE);
        }
    };
    tell_problems(&loaded, screen)?;
    let (rules, warnings) = loaded.rules();
    for warning in warnings {
        writeln!(screen.err, "warning: {warning}")?;
    }
    let (tool, input) = input_of(&args.call);
    let call = Call::by_name(tool, &input, &places, &RealLinks);
    let mode = args.mode.unwrap_or(loaded.mode);
    let (decision, steps) = explain(&case(&call, &rules, mode, &places));
    writeln!(screen.out, "{} in mode {mode}", shown(&args.call))?;
    for (number, step) in steps.iter().enumerate() {
        writeln!(screen.out, "{:>3}. {}", number + 1, shown(step))?;
    }
    for suggestion in decision.suggestions() {
        match suggestion {
            crate::permissions::Suggestion::Allow(rules) => {
                writeln!(screen.out, "     would be allowed by: {}", shown(&rules.join(", ")))?;
            }
            crate::permissions::Suggestion::Mode(mode) => {
                writeln!(screen.out, "     would be allowed in mode {mode}")?;
            }
        }
    }
    Ok(0)
}

/// The tool and the input that a call in the form of a rule stands for.
fn input_of(call: &str) -> (&str, Value) {
    let Some((tool, rest)) = call.split_once('(') else { return (call.trim(), json!({})) };
    let tool = tool.trim();
    let text = rest.strip_suffix(')').unwrap_or(rest);
    let fields = known_tool(tool).map(|it| it.fields).unwrap_or_default();
    // Where no field is the primary one, the next is what the tool is called for.
    let field = fields.iter().find(|it| !it.is_empty());
    let text =
        text.strip_prefix("domain:").map_or_else(|| text.to_owned(), |it| format!("https://{it}/"));
    (tool, field.map_or_else(|| json!({}), |it| json!({*it: text})))
}

pub(super) fn shown(text: &str) -> String {
    text.chars()
        .flat_map(|it| if it.is_control() { it.escape_default().collect() } else { vec![it] })
        .collect()
}

pub(super) fn tell_problems(loaded: &Loaded, screen: &mut Screen<'_>) -> io::Result<usize> {
    for error in &loaded.broken {
        writeln!(screen.err, "error: {error}")?;
    }
    for warning in &loaded.warnings {
        writeln!(screen.err, "warning: {warning}")?;
    }
    Ok(loaded.broken.len() + loaded.warnings.len())
}

fn check(args: &CheckArgs, screen: &mut Screen<'_>) -> io::Result<u8> {
    let loaded = if args.files.is_empty() {
        settings_at(Path::new("."))?.0
    } else {
        read_files(&args.files)
    };
    let problems = tell_problems(&loaded, screen)?;
    // Trust is the user's to give; here the question is what the rules would do.
    let (_, warnings) =
        RuleSet::compile(loaded.entries.iter().cloned(), Trust::Trusted, &RealLinks);
    let findings = lint(&loaded.entries);
    for warning in &warnings {
        writeln!(screen.out, "{}", shown(&warning.to_string()))?;
    }
    for finding in &findings {
        writeln!(screen.out, "{}", shown(&finding.to_string()))?;
    }
    if !loaded.broken.is_empty() {
        return Ok(USAGE);
    }
    let count = problems + warnings.len() + findings.len();
    if count == 0 {
        writeln!(screen.out, "{} rules, and each may decide something", loaded.entries.len())?;
    }
    Ok(if count == 0 { 0 } else { VIOLATED })
}

fn read_files(files: &[PathBuf]) -> Loaded {
    let mut loaded = Loaded::default();
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|error| SettingsError::Unreadable {
            file: file.clone(),
            what: error.to_string(),
        });
        match text.and_then(|text| FileSettings::parse(&text, file)) {
            Ok(settings) => {
                let root = file.parent().unwrap_or(Path::new("/"));
                let source = Arc::new(Source::new(Scope::Project, root).file(file));
                let entry = |(list, text)| Entry { list, text, source: source.clone() };
                loaded.entries.extend(settings.rules.into_iter().map(entry));
                loaded.warnings.extend(settings.warnings);
            }
            Err(error) => loaded.broken.push(error),
        }
    }
    loaded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(run: impl FnOnce(&mut Screen<'_>) -> io::Result<u8>) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut screen = Screen {
            out: &mut out,
            err: &mut err,
            columns: 100,
            draws_progress: false,
            #[cfg(unix)]
            processes: Default::default(),
        };
        let status = run(&mut screen).expect("is written");
        let text = |it| String::from_utf8(it).expect("text");
        (status, text(out), text(err))
    }

    #[test]
    fn each_line_gets_its_decision_and_a_bad_one_is_told() {
        let input = concat!(
            r#"{"id":"a","tool":"Bash","input":{"command":"ls"},"cwd":"/repo"}"#,
            "\n\n{\n",
            r#"{"id":2,"tool":"Bash","input":{"command":"rm x"},"rules":{"deny":["Bash(rm *)"]},"#,
            r#""mode":"bypassPermissions","cwd":"/repo"}"#,
        );
        let args = DecideArgs { json: true, home: "/u/ann".into() };
        let (status, out, err) = told(|it| decide_lines(&args, &mut input.as_bytes(), it));
        let lines: Vec<Value> =
            out.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
        let decided: Vec<_> = lines.iter().map(|it| (&it["id"], &it["decision"])).collect();
        assert_eq!(decided, [(&json!("a"), &json!("allow")), (&json!(2), &json!("deny"))]);
        assert!(status == USAGE && err.starts_with("error: line 3: "), "{err}");
    }

    #[test]
    fn check_tells_what_does_nothing_and_says_so_by_its_status() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("settings.json");
        let check = |text: &str| {
            std::fs::write(&file, text).expect("a file");
            told(|it| check(&CheckArgs { files: vec![file.clone()] }, it))
        };
        let (status, out, _) = check(r#"{"permissions": {"allow": ["Bash(ls *)"]}}"#);
        assert_eq!((status, out.as_str()), (0, "1 rules, and each may decide something\n"));
        let (status, out, _) =
            check(r#"{"permissions": {"deny": ["Bash"], "allow": ["Bash(x)"]}}"#);
        assert!(status == VIOLATED && out.contains("`Bash` in deny comes first"), "{out}");
        let (status, out, _) = check(r#"{"permissions": {"deny": ["Write(x)", "Bahs"]}}"#);
        assert!(status == VIOLATED && out.contains("write `Edit(...)`"), "{out}");
        assert!(out.contains("no tool is called `Bahs`"), "{out}");
        let (status, _, err) = check("{]");
        assert!(status == USAGE && err.contains("settings.json:1:2: "), "{err}");
    }

    #[test]
    fn a_call_in_the_form_of_a_rule_is_a_call() {
        for (text, tool, input) in [
            ("Bash(git push)", "Bash", json!({"command": "git push"})),
            ("Read(~/x)", "Read", json!({"file_path": "~/x"})),
            ("WebFetch(domain:x.test)", "WebFetch", json!({"url": "https://x.test/"})),
            ("Skill(commit)", "Skill", json!({"skill": "commit"})),
            ("TodoWrite", "TodoWrite", json!({})),
        ] {
            assert_eq!(input_of(text), (tool, input), "{text}");
        }
    }
}
