//! Ctrl-C: the first asks for a clean end, the second ends the process at once.

use std::process;

use tokio_util::sync::CancellationToken;

use super::INTERRUPTED;

/// Listens from now on, on a thread of its own, so that a busy replay can't keep it from hearing.
/// Where that can't be had, Ctrl-C does what it always does.
pub(super) fn listen() -> CancellationToken {
    let stop = CancellationToken::new();
    let told = stop.clone();
    let listening = std::thread::Builder::new().name("ctrl-c".to_owned()).spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        runtime.block_on(async {
            tokio::signal::ctrl_c().await?;
            told.cancel();
            tokio::signal::ctrl_c().await?;
            process::exit(i32::from(INTERRUPTED))
        })
    });
    // The thread is left to itself: it ends with the process.
    drop::<Option<std::thread::JoinHandle<std::io::Result<()>>>>(listening.ok());
    stop
}
