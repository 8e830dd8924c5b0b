//! Files that are not shown as lines of text: pictures, notebooks, and what can't be shown.

use std::io::Read as _;

use serde_json::json;
use toolwright_contract::{Content, Output, SeenFile};

use crate::encoding::Encoding;
use crate::fault::Fault;
use crate::notebook::{LARGEST as LARGEST_NOTEBOOK, Notebook};
use crate::notebook_view;
use crate::picture::{self, Picture};
use crate::read::{Opened, Shown};
use crate::text_file::digest;

/// Largest picture that is looked at, in bytes: it is decoded in memory.
const LARGEST_PICTURE: u64 = 64 << 20;

/// What a file is, as far as it matters for showing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Picture,
    Pdf,
    Notebook,
    Text,
}

impl Kind {
    /// By the first bytes, and for notebooks by the name.
    pub(crate) fn of(start: &[u8], opened: &Opened) -> Self {
        if picture::format(start).is_some() {
            Self::Picture
        } else if start.starts_with(b"%PDF-") {
            Self::Pdf
        } else if opened.real.extension().is_some_and(|it| it == "ipynb") && !start.is_empty() {
            Self::Notebook
        } else {
            Self::Text
        }
    }
}

/// Shows a picture, made fit for the model.
///
/// # Errors
///
/// Why it can't be shown.
pub(crate) fn show_picture(opened: Opened) -> Result<Shown, Fault> {
    let path = opened.real.clone();
    let (bytes, _) = whole(opened, LARGEST_PICTURE)?;
    let picture = Picture::of(bytes);
    let picture = picture.map_err(|why| Fault::BadPicture { path, why: why.to_string() })?;
    let note = picture.note().map(|it| json!({"type": "text", "text": it}));
    let blocks = [picture.block()].into_iter().chain(note).collect();
    let output = Output::from(Content::Blocks(blocks)).structured(picture.structured());
    Ok(Shown { output, seen: None })
}

/// Shows a notebook as its cells.
///
/// # Errors
///
/// Why it can't be shown.
pub(crate) fn show_notebook(opened: Opened) -> Result<Shown, Fault> {
    let (sent, path) = (opened.sent.clone(), opened.real.clone());
    let (bytes, mut seen) = whole(opened, LARGEST_NOTEBOOK)?;
    let bad = |why: String| Fault::NotNotebook { path: path.clone(), why };
    let encoding = Encoding::of(&bytes, true, "");
    let encoding = encoding.map_err(|_| bad("it is no text".to_owned()))?;
    let text = encoding.decode(&bytes).map_err(|_| bad("its text is damaged".to_owned()))?;
    let notebook = Notebook::parse(&text).map_err(|why| bad(why.to_string()))?;
    let view = notebook_view::view(&notebook, &sent);
    seen.partial = view.partial;
    seen.encoding = encoding.name();
    let output = Output::from(view.content).structured(view.structured);
    Ok(Shown { output, seen: Some(seen) })
}

/// The whole of a file that may not be larger than `most` bytes, and what is known of it then.
fn whole(opened: Opened, most: u64) -> Result<(Vec<u8>, SeenFile), Fault> {
    let Opened { real, file, metadata, .. } = opened;
    let too_big = |bytes| Fault::TooBigToShow { path: real.clone(), bytes, limit: most };
    if metadata.len() > most {
        return Err(too_big(metadata.len()));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(Fault::io("read", &real))?;
    let length = bytes.len() as u64;
    if length > most {
        return Err(too_big(length));
    }
    let seen = SeenFile {
        bytes: length,
        digest: digest(&bytes),
        length,
        modified: metadata.modified().ok(),
        partial: false,
        encoding: Encoding::UTF8.name(),
        shown: None,
    };
    Ok((bytes, seen))
}
