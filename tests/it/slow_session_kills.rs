//! The program is killed again and again while it runs calls, and resumes its session each time.
//!
//! Each call has one result in all that the program said, no command runs twice, and the journal
//! as a whole breaks no invariant.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use toolwright_contract::{Event, EventKind, history};
use toolwright_journal::{
    CallAt, FILE_NAME, HEADER_BYTES, Header, RealDisk, Record, Scanner, Step, read,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolwright-under-test");
/// Kills of one session in the gate; more with `TOOLWRIGHT_KILLS`.
const KILLS: u64 = 12;

fn kills() -> u64 {
    std::env::var("TOOLWRIGHT_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(KILLS)
}

/// When a life ends.
#[derive(Clone, Copy, Debug)]
enum Death {
    /// Once its journal has so many bytes more.
    Bytes(u64),
    /// After so long.
    After(Duration),
}

/// A session in a folder, and all that was said of its calls.
struct Session {
    folder: PathBuf,
    durability: &'static str,
    lives: u64,
    /// The results that were emitted, by id.
    emitted: BTreeMap<String, Value>,
    /// The results in user messages.
    told: BTreeMap<String, Value>,
}

impl Session {
    fn journal(&self) -> PathBuf {
        self.folder.join("data/s").join(FILE_NAME)
    }

    fn length(&self) -> u64 {
        std::fs::metadata(self.journal()).map_or(0, |it| it.len())
    }

    /// Starts the program, which first does what the dead one owes.
    fn start(&self) -> Child {
        let mut command = Command::new(PROGRAM);
        command.args(["run", "--allow", "Bash", "--ask", "--session", "s", "--data"]);
        command.arg(self.folder.join("data")).arg("--cwd").arg(&self.folder);
        command.args(["--durability", self.durability]);
        if self.length() >= HEADER_BYTES as u64 {
            command.arg("--resume");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts")
    }

    /// A message of this life: commands that leave a mark, reads side by side, a long output, a
    /// question.
    fn message(&self, turn: u64) -> String {
        let id = |name: &str| format!("{name}-{}-{turn}", self.lives);
        let bash = |name: &str, more: &str| {
            let command = format!("echo {} >> counter; {more}", id(name));
            (id(name), "Bash", json!({"command": command}))
        };
        let file = self.folder.join("seen");
        let read = |name: &str| (id(name), "Read", json!({"file_path": file}));
        let new = self.folder.join(id("w"));
        let calls = [
            read("r1"),
            read("r2"),
            bash("b1", "true"),
            bash("b2", "seq 1 9000"),
            (id("w"), "Write", json!({"file_path": new, "content": "x"})),
            read("r3"),
            bash("b3", "false"),
        ];
        let lines = calls.map(|(id, name, input)| {
            json!({"type": "tool_use", "id": id, "name": name, "input": input}).to_string()
        });
        format!("{}\n\n", lines.join("\n"))
    }

    /// One life: messages and answers go in until death comes.
    fn live(&mut self, death: Death) {
        let before = self.length();
        let mut child = self.start();
        let mut input = child.stdin.take().expect("is piped");
        let (say, said) = std::sync::mpsc::channel();
        let output = BufReader::new(child.stdout.take().expect("is piped"));
        let (watched, mine) = (self.journal(), std::thread::current());
        let pid = child.id();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for line in output.lines().map_while(Result::ok) {
                    // What was torn by the kill was not said.
                    if let Ok(line) = serde_json::from_str::<Value>(&line) {
                        say.send(line).unwrap_or_default();
                    }
                }
            });
            scope.spawn(move || {
                die(death, before, &watched);
                kill(pid);
                mine.unpark();
            });
            let mut turn = 0;
            let mut ask = |text: String| input.write_all(text.as_bytes()).unwrap_or_default();
            ask(self.message(turn));
            for line in said {
                match line["type"].as_str() {
                    Some("permission_request") => {
                        let answer = json!({"type": "permission_answer", "request": line["request"], "allow": true});
                        ask(format!("{answer}\n"));
                    }
                    Some("user") if line["resumed"].is_null() => {
                        turn += 1;
                        let next = self.message(turn);
                        ask(next);
                    }
                    _ => {}
                }
                self.hear(&line);
            }
        });
        child.wait().expect("ends");
        self.lives += 1;
    }

    fn hear(&mut self, line: &Value) {
        match line["type"].as_str() {
            Some("tool_result") => {
                let id = line["tool_use_id"].as_str().expect("an id").to_owned();
                let before = self.emitted.insert(id.clone(), line.clone());
                assert_eq!(before, None, "{id} was emitted twice");
            }
            Some("user") => {
                for block in line["message"]["content"].as_array().expect("blocks") {
                    let Some(id) = block["tool_use_id"].as_str() else { continue };
                    if let Some(emitted) = self.emitted.get(id) {
                        assert_eq!(block, emitted, "{id} has two results");
                    }
                    let before = self.told.insert(id.to_owned(), block.clone());
                    assert!(before.is_none_or(|it| it == *block), "{id} has two results");
                }
            }
            _ => {}
        }
    }

    fn records(&self) -> Vec<Record> {
        let bytes = std::fs::read(self.journal()).expect("is there");
        let header = Header::decode(&bytes).expect("a journal");
        let mut scanner = Scanner::new(&bytes[HEADER_BYTES..], header);
        let mut records = Vec::new();
        loop {
            match scanner.step().expect("reads") {
                Step::Frame(frame) => records.extend(
                    frame
                        .records()
                        .map(|it| Record::decode(it, 0).expect("parses").expect("known")),
                ),
                Step::End | Step::Torn(_) => return records,
                Step::Corrupt(corrupt) => panic!("{corrupt}"),
            }
        }
    }

    /// A last life that nobody ends, then the books. Gives how many calls came.
    fn check(mut self) -> usize {
        let mut child = self.start();
        drop(child.stdin.take());
        let output = BufReader::new(child.stdout.take().expect("is piped"));
        for line in output.lines() {
            self.hear(&serde_json::from_str(&line.expect("is read")).expect("JSON"));
        }
        assert!(child.wait().expect("ends").success());
        let recovered = read(&RealDisk, &self.journal()).expect("opens").recovered;
        assert!(recovered.turns.is_empty(), "open: {:?}", recovered.turns);
        assert_eq!(recovered.gaps, 0);
        let (mut came, mut kept) = (BTreeMap::new(), BTreeMap::new());
        let mut emissions = BTreeMap::<CallAt, usize>::new();
        let mut runs = BTreeMap::<u32, Vec<Event>>::new();
        for record in self.records() {
            match record {
                Record::Call(it) => drop(came.insert(it.at, it)),
                Record::Result(it) => drop(kept.insert(it.at, it)),
                Record::Event { run, event } => {
                    if let EventKind::Emitted { call, .. } = event.kind {
                        let at = CallAt { run, turn: event.turn, call };
                        *emissions.entry(at).or_default() += 1;
                    }
                    runs.entry(run).or_default().push(event);
                }
                _ => {}
            }
        }
        let counter = std::fs::read_to_string(self.folder.join("counter")).unwrap_or_default();
        let mut effects = BTreeMap::<&str, usize>::new();
        counter.lines().for_each(|it| *effects.entry(it).or_default() += 1);
        let twice: Vec<_> = effects.iter().filter(|it| *it.1 > 1).collect();
        assert!(twice.is_empty(), "took effect twice: {twice:?}");
        for (at, it) in &came {
            assert_eq!(emissions.get(at), Some(&1), "{at:?} {}", it.id);
            if it.carries_on.is_some() {
                continue;
            }
            let id = it.id.as_str();
            let result = self.told.get(id).or_else(|| self.emitted.get(id));
            let result = result.unwrap_or_else(|| panic!("{id} was never told"));
            let text = result["content"].as_str().unwrap_or_default();
            let took_effect = effects.contains_key(id);
            assert!(!(took_effect && text.contains("had not started")), "{id} lies: {text}");
            if id.starts_with("b1") && result["is_error"] != true {
                assert!(took_effect, "{id} says that it ran");
            }
        }
        for (run, events) in runs {
            let breaches = history::check(&events);
            assert!(breaches.is_empty(), "run {run}: {breaches:?}");
        }
        came.len()
    }
}

/// Waits for death.
fn die(death: Death, before: u64, journal: &Path) {
    match death {
        Death::After(time) => std::thread::sleep(time),
        Death::Bytes(more) => {
            // One that has nothing more to write dies too.
            for _ in 0..20_000 {
                if std::fs::metadata(journal).is_ok_and(|it| it.len() >= before + more) {
                    return;
                }
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }
}

fn kill(pid: u32) {
    let id = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).expect("a process");
    // It may have ended.
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap_or_default();
}

fn kill_often(durability: &'static str, mut death: impl FnMut(u64) -> Death) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("is there");
    std::fs::write(path.join("seen"), "some lines\nto read\n").expect("is written");
    let (emitted, told) = (BTreeMap::new(), BTreeMap::new());
    let mut session = Session { folder: path, durability, lives: 0, emitted, told };
    for kill in 0..kills() {
        session.live(death(kill));
    }
    assert!(session.check() > 0, "none lived long enough for a call");
}

fn random(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
    (*seed >> 33) % below
}

#[test]
fn a_program_that_is_killed_at_any_moment_loses_no_result_and_repeats_no_command() {
    let mut seed = 7;
    kill_often("batch", |_| Death::After(Duration::from_micros(random(&mut seed, 400_000))));
}

#[test]
fn a_program_that_is_killed_at_each_further_write_loses_no_result_and_repeats_no_command() {
    // A record has some 150 bytes, a message some 20,000.
    kill_often("none", |kill| Death::Bytes(1 + kill * 1_013 % 40_000));
}

#[test]
fn a_program_that_is_killed_while_it_recovers_loses_no_result_and_repeats_no_command() {
    let mut seed = 9;
    kill_often("always", |kill| match kill % 11 {
        0 => Death::After(Duration::from_micros(100_000 + random(&mut seed, 300_000))),
        // The first records of a life are its recovery's.
        _ => Death::Bytes(1 + random(&mut seed, 1_500)),
    });
}
