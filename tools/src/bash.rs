//! `Bash`: runs a command in a shell, in the directory that the session is in.
//!
//! Names, times, limits and texts are those of Claude Code docs 2.1.240. Nothing runs on in the
//! background: a command that reaches its time is ended, and so is what a command leaves behind.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolwright_contract::{
    Card, CheckCx, Conduct, ContextChange, Effects, Family, Footprint, InvalidInput, Look,
    OnInterrupt, Output, ResultLimit, RunCx, Safety, SessionContext, Tool, ToolError,
};

use toolwright_shell_analysis::{
    Display, destruction, display, is_read_only, may_change_directory, understand,
};

use crate::exit_code;
use crate::process::{Asked, Ended, How, Processes};

/// How long a command may run unless the call says otherwise, in milliseconds.
const TIME: u64 = 120_000;
/// The longest that a call can ask for; more is taken as this.
const LONGEST: u64 = 600_000;
/// Most characters of output that are shown of a command that succeeded.
const SHOWN: usize = 30_000;
/// The same of one that failed.
const SHOWN_OF_FAILURE: usize = 10_000;
/// Most characters of a result: what is shown, with a word around it.
const RESULT: usize = SHOWN + 2_000;
/// The code of a command that was asked to end (SIGTERM).
const ENDED: i32 = 143;

pub(crate) struct Bash(pub(crate) Processes);

/// A command and how long it may run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The command, in the language of bash.
    command: String,
    /// How long it may run, in milliseconds: 120000 unless said otherwise, at most 600000.
    timeout: Option<u64>,
    /// What it does, in a few words for a person.
    #[expect(dead_code, reason = "for those who watch: hooks and displays read the input itself")]
    description: Option<String>,
    /// Not supported yet: leave it out.
    #[serde(default)]
    run_in_background: bool,
    /// There is no sandbox, so it changes nothing.
    #[serde(default, rename = "dangerouslyDisableSandbox")]
    #[expect(dead_code, reason = "accepted, since it asks for what is so anyway")]
    dangerously_disable_sandbox: bool,
}

impl Tool for Bash {
    type Input = Input;
    type Output = String;

    fn card(&self) -> Card {
        Card::new(
            "Bash",
            "Runs a command in bash, in the session's working directory, without input. A change \
             of directory lasts if it stays inside the session's directories; variables don't. \
             What it leaves running is ended with it.",
        )
        .about(Family::Command, "command")
        .telling(&["command"])
        .doing("Running")
        .result_limit(ResultLimit::Chars(RESULT))
    }

    /// A command runs beside others exactly if it only reads and stays where it is. One that was not
    /// understood may do anything.
    fn safety(&self, input: &Input) -> Safety {
        let on_interrupt = OnInterrupt::Cancel;
        if only_looks(&input.command) {
            return Safety { on_interrupt, ..Safety::read_only() };
        }
        Safety { footprint: Footprint::Exclusive, effects: Effects::Writes, on_interrupt }
    }

    fn conduct(&self, input: &Input) -> Conduct {
        let it = understand(&input.command);
        let reads = is_read_only(&it);
        Conduct {
            destructive: !it.is_full() || destruction(&it).is_some(),
            open_world: !reads,
            look: match display(&it) {
                Display::Search => Look::Search,
                Display::Read => Look::Read,
                Display::List => Look::List,
                Display::Other => Look::None,
            },
            for_classifier: Some(input.command.clone()),
            ..Conduct::default()
        }
    }

    async fn validate(&self, input: &Input, cx: &CheckCx) -> Result<(), InvalidInput> {
        let wrong = if input.command.trim().is_empty() {
            "command is empty: send the command to run"
        } else if input.command.contains('\0') {
            "command contains a NUL character, which no command can: send it without"
        } else if input.timeout == Some(0) {
            "timeout is 0: send how many milliseconds the command may run, or leave it out"
        } else if input.run_in_background {
            "run_in_background is not supported yet: run the command in the foreground, with a \
             timeout that is long enough"
        } else if !cx.session.cwd.is_absolute() {
            "the session has no working directory, so no command can run: tell the user to set one"
        } else {
            return Ok(());
        };
        Err(InvalidInput(wrong.to_owned()))
    }

    /// Both streams are told as one, also to programs, as `stdout`: their order is worth more.
    async fn run(&self, input: Input, cx: RunCx) -> Result<Output<String>, ToolError> {
        let cwd = &cx.session.cwd;
        if !cwd.is_dir() {
            return Err(ToolError::failed(format!(
                "The working directory {} is gone, so the command was not run. Make it again (a \
                 file that is written into it does that), or ask the user.",
                cwd.display()
            )));
        }
        let time = Duration::from_millis(input.timeout.unwrap_or(TIME).min(LONGEST));
        let unstarted = |it: io::Error| {
            ToolError::failed(format!(
                "The command could not be started: {it}. If it is very long, write it to a file \
                 and run that."
            ))
        };
        let report = Report::new().map_err(unstarted)?;
        let script = report.script(&input.command);
        let arguments = ["-c", &script].map(OsStr::new);
        let asked = Asked { program: OsStr::new("bash"), arguments: &arguments, folder: cwd, time };
        let ended = self.0.run(&asked, &cx.stop).await.map_err(unstarted)?;
        let Ended { how, output } = ended;
        let status = match how {
            How::Itself(status) => status,
            How::Stopped => return Err(ToolError::Stopped),
            How::TimedOut => {
                let output = output.text(SHOWN_OF_FAILURE);
                let told = format!("Command timed out after {}", spoken(time));
                return Err(failed(&input.command, ENDED, &[&told, &output]));
            }
            How::Lost => {
                let told = "The process that watched over the command was killed, and the command \
                            with it. What it has done is unknown.";
                return Err(failed(
                    &input.command,
                    exit_code::of_signal(9),
                    &[told, &output.text(SHOWN_OF_FAILURE)],
                ));
            }
            How::Stuck(pid) => {
                let told = format!(
                    "The command was told to end, but process {pid} could not be killed. Tell the \
                     user, and don't wait for it."
                );
                return Err(failed(&input.command, exit_code::of_signal(9), &[&told]));
            }
        };
        let (code, report) = (code(status), report.read());
        if exit_code::is_answer(code, &report.last_command) {
            let moved = report.cwd.map(|it| Moved::new(&cx.session, it)).unwrap_or_default();
            let text = output.text(SHOWN);
            let structured = json!({"stdout": text, "stderr": "", "interrupted": false});
            return Ok(moved.output(text).structured(structured));
        }
        let signal = exit_code::signal_name(code)
            .map(|it| format!("A shell gives the code {code} for an end by {it}."));
        Err(failed(
            &input.command,
            code,
            &[&signal.unwrap_or_default(), &output.text(SHOWN_OF_FAILURE)],
        ))
    }
}

/// Whether a command changes nothing, not even where the session is.
fn only_looks(command: &str) -> bool {
    let it = understand(command);
    is_read_only(&it) && !may_change_directory(&it)
}

/// The failure of a command that ran. What was sent beside it may depend on what it should have
/// changed.
fn failed(command: &str, code: i32, parts: &[&str]) -> ToolError {
    let mut text = format!("Exit code {code}");
    for part in parts.iter().filter(|it| !it.is_empty()) {
        text.push('\n');
        text.push_str(part);
    }
    if only_looks(command) { ToolError::failed(text) } else { ToolError::cascading(text) }
}

fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    let by_signal = || exit_code::of_signal(status.signal().unwrap_or_default());
    status.code().unwrap_or_else(by_signal)
}

/// A time as it is said: `2m 0s`, `30s`, `0.5s`.
fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        60.. => format!("{}m {}s", seconds / 60, seconds % 60),
        _ if time.subsec_millis() > 0 => format!("{}s", time.as_secs_f64()),
        _ => format!("{seconds}s"),
    }
}

/// The file in which the shell tells, as it ends, where it is and what it did last.
struct Report(tempfile::NamedTempFile);

/// What a shell has told. One that was replaced or killed tells nothing.
#[derive(Default)]
struct Told {
    cwd: Option<PathBuf>,
    /// The simple command whose code is the shell's.
    last_command: String,
}

impl Report {
    fn new() -> io::Result<Self> {
        tempfile::NamedTempFile::with_prefix("toolwright-").map(Self)
    }

    /// The command, so that the shell reports at its end. It stands in lines of its own, so that
    /// its comments and here-documents end where they should.
    fn script(&self, command: &str) -> String {
        let file = quoted(&self.0.path().to_string_lossy());
        let tell = format!(r#"{{ pwd -P && printf %s "$BASH_COMMAND"; }} >| {file} 2>/dev/null"#);
        format!("trap {} EXIT\n{command}\n", quoted(&tell))
    }

    fn read(self) -> Told {
        let told = fs::read(self.0.path()).unwrap_or_default();
        let told = String::from_utf8_lossy(&told);
        let Some((cwd, last)) = told.split_once('\n') else { return Told::default() };
        Told { cwd: Some(cwd.into()), last_command: last.to_owned() }
    }
}

/// A word as bash reads it, whatever is in it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Where a command has taken the session.
#[derive(Default)]
struct Moved {
    to: Option<PathBuf>,
    /// It went where it may not stay: the session is here again.
    back_to: Option<PathBuf>,
}

impl Moved {
    fn new(session: &SessionContext, now: PathBuf) -> Self {
        let real = |it: &Path| it.canonicalize().unwrap_or_else(|_| it.to_owned());
        if now == real(&session.cwd) {
            return Self::default();
        }
        let allowed = session.allowed_directories().iter().any(|it| now.starts_with(real(it)));
        if allowed {
            Self { to: Some(now), back_to: None }
        } else {
            Self { to: None, back_to: Some(session.cwd.clone()) }
        }
    }

    fn output(self, mut text: String) -> Output<String> {
        if let Some(cwd) = self.back_to {
            let line = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{line}Shell cwd was reset to {}", cwd.display()));
        }
        let output = Output::from(text);
        match self.to {
            Some(to) => {
                output.changing(ContextChange::new(move |context| Ok(context.moved_to(&to))))
            }
            None => output,
        }
    }
}
