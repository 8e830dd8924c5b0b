//! The store actor: writes long results in a task that owns the paper.

use std::path::PathBuf;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use serde_json::Value;

use super::core::{Plan, Saved, Saving, inline, left_out, moved_out, plan, shown};
use super::media::{Fate, fate};
use super::{Folder, Room, StoreMsg};
use crate::crew::Crew;
use crate::limits::KEEP;
use crate::owed::{Keep, Owed};

/// The stage.
pub(crate) struct Store;

/// What it is started with, again if need be.
#[derive(Clone)]
pub(crate) struct StoreArgs {
    pub(crate) folder: Option<Folder>,
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
        match plan(&keep.result.content, keep.limit, job.owed.room()) {
            Plan::Inline => job.owed.kept(None, inline),
            Plan::Save(saving) => {
                args.crew.spawn(save(args.clone(), job.owed, saving));
            }
        }
        Ok(())
    }
}

async fn save(args: StoreArgs, owed: Owed<Keep>, saving: Saving) {
    let Some(keep) = owed.paper() else { return };
    let id = keep.result.id.clone();
    let (file_id, room) = (id.clone(), owed.room().clone());
    let Saving { text, media } = saving;
    // Left alone at the deadline, the write ends or fails by itself; the result doesn't name its
    // file then.
    let writing = args.crew.spawn_blocking(move || {
        let job = Job { folder: args.folder, id: file_id.as_str(), room: &room };
        let saved = job.save(text.as_ref().map(|it| it.text.as_str()), media);
        (text, saved)
    });
    let (text, saved) = match tokio::time::timeout(KEEP, writing).await {
        Ok(Ok(done)) => done,
        // Unpaid, the result stands, cut.
        Ok(Err(panic)) => return tracing::error!(%id, %panic, "a result could not be saved"),
        Err(_) => {
            tracing::warn!(%id, "the disk took longer than {} s to save a result", KEEP.as_secs());
            return;
        }
    };
    if let Some(Err(why)) = &saved.text {
        tracing::warn!(%id, why, "a long result could not be saved");
    }
    let bytes = (saved.bytes > 0).then_some(saved.bytes);
    owed.kept(bytes, |content| shown(&content, text, saved));
}

/// Saves what of one result isn't shown.
struct Job<'a> {
    folder: Option<Folder>,
    id: &'a str,
    room: &'a Room,
}

impl Job<'_> {
    fn save(&self, text: Option<&str>, media: Vec<Value>) -> Saved {
        let mut saved =
            Saved { text: text.map(|it| self.keep("txt", it.as_bytes())), ..Saved::default() };
        if let (Some(text), Some(Ok(_))) = (text, &saved.text) {
            saved.bytes += text.len() as u64;
        }
        for block in media {
            saved.media.push(match fate(block.clone(), |chars| self.room.take_media(chars)) {
                Fate::Stays(block) => block,
                Fate::Broken(why) => left_out(&block, &why),
                Fate::TooMuch { bytes, extension, why } => match self.keep(extension, &bytes) {
                    Ok(path) => {
                        saved.bytes += bytes.len() as u64;
                        moved_out(&block, &why, &path)
                    }
                    Err(failed) => {
                        left_out(&block, &format!("{why}; it could not be saved: {failed}"))
                    }
                },
            });
        }
        saved
    }

    fn keep(&self, extension: &str, bytes: &[u8]) -> Result<PathBuf, String> {
        let folder = self.folder.as_ref().ok_or("the session has no data folder")?;
        folder.keep(self.id, extension, bytes).map_err(|it| it.to_string())
    }
}
