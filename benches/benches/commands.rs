//! `Bash` against a bare spawn of the same shell: one command, and a flood of output.
//!
//! Shows what the pipeline and the warden cost. Divide a figure by that of its floor in the same run.
#![allow(clippy::expect_used, reason = "a benchmark that can't run has nothing to say")]
#![allow(clippy::disallowed_methods, reason = "the floor spawns by itself")]

use std::process::{ExitCode, Stdio};

use criterion::{Criterion, Throughput};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::runtime::Runtime;
use toolwright::{
    FileOptions, Processes, Rules, Session, ToolUse, Warden, built_in_tools_with, serve_as_warden,
};
use toolwright_benches::run;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Bytes of the flood.
const FLOOD: u64 = 1 << 30;

/// The argument with which the benchmark starts itself as its warden.
const WARDEN: &str = "warden";

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|it| it == WARDEN) {
        return serve_as_warden();
    }
    let mut criterion = Criterion::default().configure_from_args();
    commands(&mut criterion);
    flood(&mut criterion);
    criterion.final_summary();
    ExitCode::SUCCESS
}

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("starts")
}

fn processes() -> [(&'static str, Processes); 2] {
    let program = std::env::current_exe().expect("a benchmark is a file");
    let warden = Warden::new(program, [WARDEN.into()]);
    [("warden", Processes::with(warden)), ("group", Processes::in_groups())]
}

async fn session(processes: &Processes) -> Session {
    let cwd = std::env::temp_dir().canonicalize().expect("there is one");
    let runtime = toolwright::Runtime::builder()
        .tools(built_in_tools_with(&FileOptions::default(), processes));
    let session = runtime.build().expect("is right").session();
    session.cwd(cwd).rules(Rules::allow_everything()).start().await.expect("starts")
}

fn commands(criterion: &mut Criterion) {
    let tokio = runtime();
    let mut group = criterion.benchmark_group("command");
    group.sample_size(60);
    group.bench_function("bare_spawn", |bench| {
        bench.iter(|| tokio.block_on(async { tokio::spawn(bare("true")).await.expect("runs") }));
    });
    for (name, processes) in processes() {
        let session = tokio.block_on(session(&processes));
        group.bench_function(name, |bench| bench.iter(|| bash(&tokio, &session, "true")));
        tokio.block_on(session.shutdown());
    }
    group.finish();
}

fn flood(criterion: &mut Criterion) {
    let tokio = runtime();
    let command = format!("head -c {FLOOD} /dev/zero");
    let mut group = criterion.benchmark_group("flood");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(FLOOD));
    group.bench_function("bare_spawn", |bench| {
        let command = &command;
        bench.iter(|| tokio.block_on(bare(command)));
    });
    for (name, processes) in processes() {
        let session = tokio.block_on(session(&processes));
        group.bench_function(name, |bench| bench.iter(|| bash(&tokio, &session, &command)));
        tokio.block_on(session.shutdown());
    }
    group.finish();
}

fn bash(tokio: &Runtime, session: &Session, command: &str) {
    let call = ToolUse::new("a", "Bash", json!({"command": command}));
    let session = session.clone();
    let results = tokio.block_on(async move {
        tokio::spawn(async move { run(&session, vec![call]).await }).await.expect("runs")
    });
    assert!(!results.results[0].is_error, "{:?}", results.results[0]);
}

/// The shell, as tokio alone runs it, with both streams in one pipe that is read to its end.
async fn bare(command: &str) -> usize {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut child = tokio::process::Command::new("bash")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(writer.try_clone().expect("a descriptor"))
        .stderr(writer)
        .process_group(0)
        .spawn()
        .expect("there is a shell");
    let reader = tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into()).expect("a pipe");
    let mut reader = reader;
    let (mut count, mut chunk) = (0, vec![0; 64 << 10]);
    while let Ok(read @ 1..) = reader.read(&mut chunk).await {
        count += read;
    }
    child.wait().await.expect("it ends");
    count
}
