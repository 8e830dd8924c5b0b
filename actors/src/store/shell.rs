//! The store actor: writes long results in a task that owns the paper.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use toolwright_contract::{ResultLimit, ToolUseId};

use super::StoreMsg;
use super::core::{Plan, cut, file_name, inline, plan, wrapper};
use crate::crew::Crew;
use crate::limits::{KEEP, NAMES};
use crate::owed::{Keep, Owed};

/// The stage.
pub(crate) struct Store;

/// What it is started with, again if need be.
#[derive(Clone)]
pub(crate) struct StoreArgs {
    /// The folder of long results; it is made when it is needed.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) crew: Crew,
}

impl Actor for Store {
    type Msg = StoreMsg;
    type State = StoreArgs;
    type Arguments = StoreArgs;

    async fn pre_start(
        &self,
        _: ActorRef<StoreMsg>,
        args: StoreArgs,
    ) -> Result<StoreArgs, ActorProcessingErr> {
        Ok(args)
    }

    async fn handle(
        &self,
        _: ActorRef<StoreMsg>,
        msg: StoreMsg,
        args: &mut StoreArgs,
    ) -> Result<(), ActorProcessingErr> {
        #[cfg(test)]
        crate::faults::strike(toolwright_contract::StageName::Store);
        let StoreMsg::Keep(job) = msg;
        let Some(keep) = job.owed.paper() else { return Ok(()) };
        match plan(&keep.result.content, keep.limit) {
            Plan::Inline => job.owed.kept(None, inline),
            Plan::Spill(text) => {
                let (id, limit) = (keep.result.id.clone(), keep.limit);
                args.crew.spawn(spill(args.clone(), job.owed, id, text, limit));
            }
        }
        Ok(())
    }
}

async fn spill(args: StoreArgs, owed: Owed<Keep>, id: ToolUseId, text: String, limit: ResultLimit) {
    let bytes = text.len() as u64;
    let kept = match args.folder {
        None => Err("the session has no data folder".to_owned()),
        Some(folder) => {
            // Left alone at the deadline, the write ends or fails by itself; the result doesn't
            // name its file then.
            let file_id = id.clone();
            let writing = args.crew.spawn_blocking(move || {
                write_atomically(&folder, file_id.as_str(), text.as_bytes())
                    .map(|path| (path, text))
            });
            match tokio::time::timeout(KEEP, writing).await {
                Ok(Ok(written)) => written.map_err(|it| it.to_string()),
                Ok(Err(panic)) => Err(panic.to_string()),
                Err(_) => Err(format!("the disk took longer than {} s", KEEP.as_secs())),
            }
        }
    };
    match kept {
        Ok((path, text)) => {
            owed.kept(Some(bytes), |content| wrapper(&content, &text, &path));
        }
        Err(why) => {
            tracing::warn!(%id, why, "a long result could not be saved");
            owed.kept(None, |content| cut(&content, limit, &why));
        }
    }
}

/// Writes a temporary file and renames it to a name that nobody has, readable by the owner alone.
fn write_atomically(folder: &Path, id: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    make_private_folder(folder)?;
    let mut file = tempfile::Builder::new().prefix(".result-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    for attempt in 0..NAMES {
        let path = folder.join(file_name(id, attempt));
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => file = taken.file,
            Err(failed) => return Err(failed.error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "every name for this result is taken"))
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
