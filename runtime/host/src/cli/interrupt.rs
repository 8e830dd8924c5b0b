//! Ctrl-C: the first asks for a clean end, the second ends the process at once.

use std::future;
use std::io;
use std::process;
use std::sync::mpsc;
use std::thread;

use tokio_util::sync::CancellationToken;

use super::INTERRUPTED;

/// Listens from now on, on a thread of its own, so that a busy replay can't keep it from hearing.
/// Where that can't be had, Ctrl-C does what it always does.
pub(super) fn listen() -> CancellationToken {
    let stop = CancellationToken::new();
    let (told, (ready, is_ready)) = (stop.clone(), mpsc::channel());
    let thread = thread::Builder::new().name("ctrl-c".to_owned());
    if thread.spawn(move || hear(&told, &ready)).is_ok() {
        // An error says that the thread has ended, and that nobody listens.
        is_ready.recv().unwrap_or_default();
    }
    stop
}

fn hear(told: &CancellationToken, ready: &mpsc::Sender<()>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let is_heard = async {
            // Polled after the signal, which is heard from then on.
            ready.send(()).unwrap_or_default();
            future::pending().await
        };
        tokio::select! {
            biased;
            heard = tokio::signal::ctrl_c() => heard?,
            () = is_heard => {}
        }
        told.cancel();
        tokio::signal::ctrl_c().await?;
        process::exit(i32::from(INTERRUPTED))
    })
}
