//! `toolwright journal`: what a journal holds, whether it is whole, and how it is made whole.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;
use toolwright_contract::{Progress, history};
use toolwright_journal::{
    Damage, Duty, End, OpenError, OpenTurn, Policy, RealDisk, Record, kind_name, read, repair, walk,
};

use super::journal_args::{JournalArgs, JournalCommand};
use super::{Screen, USAGE, VIOLATED};

/// Most breaches that are told of one run.
const MOST_BREACHES: usize = 20;

pub(super) fn run(args: &JournalArgs, screen: &mut Screen<'_>) -> io::Result<u8> {
    let (JournalCommand::Show(of) | JournalCommand::Verify(of) | JournalCommand::Repair(of)) =
        &args.command;
    // Opening for a look must not make it.
    if !of.file.is_file() {
        writeln!(screen.err, "error: {} is no file", of.file.display())?;
        return Ok(USAGE);
    }
    match &args.command {
        JournalCommand::Show(_) => show(&of.file, screen),
        JournalCommand::Verify(_) => verify(&of.file, screen),
        JournalCommand::Repair(_) => mend(&of.file, screen),
    }
}

fn failed(error: &OpenError, screen: &mut Screen<'_>) -> io::Result<u8> {
    writeln!(screen.err, "error: {error}")?;
    Ok(match error {
        OpenError::Corrupt(_) | OpenError::Record(_) | OpenError::Header(_) => VIOLATED,
        OpenError::InUse
        | OpenError::OtherSession(_)
        | OpenError::Io { .. }
        | OpenError::NotWritten(_) => USAGE,
    })
}

#[derive(Serialize)]
struct Line<'a> {
    record: u64,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a RawValue>,
}

fn show(path: &Path, screen: &mut Screen<'_>) -> io::Result<u8> {
    let mut told = Ok(());
    let walked = walk(&RealDisk, path, |record, raw| {
        let body = serde_json::from_slice(raw.payload).ok();
        let line = Line { record, kind: kind_name(raw.kind), body };
        told = serde_json::to_string(&line)
            .map_err(io::Error::from)
            .and_then(|line| writeln!(screen.out, "{line}"));
        told.is_ok()
    });
    told?;
    match walked {
        Ok(end) => tell_damage(&end, screen),
        Err(error) => failed(&error, screen),
    }
}

/// Says what is wrong with the bytes, if anything is.
fn tell_damage(end: &End, screen: &mut Screen<'_>) -> io::Result<u8> {
    match &end.damage {
        None => Ok(0),
        Some(Damage::Torn(torn)) => {
            writeln!(
                screen.err,
                "note: the last {} bytes, from byte {} on, were not written whole. Nothing in them \
                 was acknowledged; they are cut when the session is opened",
                torn.bytes, torn.at
            )?;
            Ok(0)
        }
        Some(Damage::Corrupt(corrupt)) => {
            writeln!(screen.err, "error: {corrupt}")?;
            if !corrupt.promised {
                let why = "that place had not been synced: a power failure may have left it";
                writeln!(screen.err, "note: {why}")?;
            }
            Ok(VIOLATED)
        }
    }
}

fn verify(path: &Path, screen: &mut Screen<'_>) -> io::Result<u8> {
    let mut histories = BTreeMap::<u32, history::Checker>::new();
    let walked = walk(&RealDisk, path, |number, raw| {
        if let Ok(Some(Record::Event { run, event })) = Record::decode(raw, number) {
            histories.entry(run).or_default().step(&event);
        }
        true
    });
    let damage = match walked {
        Ok(end) => tell_damage(&end, screen)?,
        Err(error) => return failed(&error, screen),
    };
    if damage != 0 {
        return Ok(damage);
    }
    let recovered = match read(&RealDisk, path) {
        Ok(reading) => reading.recovered,
        Err(error) => return failed(&error, screen),
    };
    let runs = recovered.last_opened.as_ref().map_or(0, |it| it.run);
    let (records, finished) = (recovered.records, recovered.finished_turns);
    writeln!(screen.out, "{records} records, {runs} runs, {finished} finished turns")?;
    if recovered.gaps > 0 {
        let gaps = recovered.gaps;
        writeln!(screen.out, "{gaps} records speak of what could not be recorded")?;
    }
    for turn in &recovered.turns {
        tell_open(turn, screen)?;
    }
    for task in &recovered.tasks {
        writeln!(screen.out, "in the background: {}", task.task)?;
    }
    let mut status = 0;
    for (run, checker) in &histories {
        for breach in checker.breaches().iter().take(MOST_BREACHES) {
            status = VIOLATED;
            writeln!(screen.err, "error: run {run}: {breach}")?;
        }
    }
    Ok(status)
}

/// What the resumption of the session would do by default.
fn tell_open(turn: &OpenTurn, screen: &mut Screen<'_>) -> io::Result<()> {
    let OpenTurn { run, turn: number, .. } = turn;
    writeln!(screen.out, "open: turn {} of run {run}", number.0)?;
    for call in &turn.calls {
        let what = match call.duty(Policy::default()) {
            Duty::Nothing => "was handed out",
            Duty::Emit => "has its result, to be handed out",
            Duty::Answer(Progress::NotStarted) => "interrupted (not started)",
            Duty::Answer(Progress::MayHaveRun) => "interrupted (may have run)",
            Duty::Run { question: Some(_) } => "a person is asked again",
            Duty::Run { question: None } => "is run again",
        };
        writeln!(
            screen.out,
            "  {}: {what}",
            toolwright_contract::wording::quote(call.id.as_str(), 80)
        )?;
    }
    Ok(())
}

fn mend(path: &Path, screen: &mut Screen<'_>) -> io::Result<u8> {
    let mut copy = path.as_os_str().to_owned();
    copy.push(".damaged");
    let copy = Path::new(&copy);
    match repair(&RealDisk, path, copy) {
        Ok(End { damage: None, records, .. }) => {
            writeln!(screen.out, "nothing to repair: {records} records, all whole")?;
            Ok(0)
        }
        Ok(End { damage: Some(_), records, end, .. }) => {
            let copy = copy.display();
            writeln!(
                screen.out,
                "cut at byte {end}: {records} records are left; the whole is in {copy}"
            )?;
            Ok(0)
        }
        Err(error) => failed(&error, screen),
    }
}
