//! The pure part of the store: what stays inline, and what the preview says.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolwright_contract::{Content, ResultLimit, wording};

use super::media::is_media;
use super::room::Room;

/// Characters of a preview (Claude Code 2.1.x: "first 2KB").
const PREVIEW_CHARS: usize = 2_000;

/// What becomes of a content.
#[derive(Debug, PartialEq)]
pub(crate) enum Plan {
    /// It stays as it is.
    Inline,
    /// Something of it is kept in a file, or looked at first.
    Save(Saving),
}

/// What is not simply shown.
#[derive(Debug, PartialEq)]
pub(crate) struct Saving {
    /// All text in it, where that is too long.
    pub(crate) text: Option<Spill>,
    /// The images and documents in it.
    pub(crate) media: Vec<Value>,
}

/// A text that is too long.
#[derive(Debug, PartialEq)]
pub(crate) struct Spill {
    pub(crate) text: String,
    /// How many characters of it may be shown, should it not be saved.
    pub(crate) most: ResultLimit,
}

/// What has become of what was not simply shown.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    pub(crate) text: Option<Result<PathBuf, String>>,
    /// One block for each of the media.
    pub(crate) media: Vec<Value>,
    /// Bytes that went to files.
    pub(crate) bytes: u64,
}

/// Plans for a content, and takes what it will show from the message's room. A tool without a
/// limit answers for its results itself.
pub(crate) fn plan(content: &Content, limit: ResultLimit, room: &Room) -> Plan {
    let ResultLimit::Chars(limit) = limit else { return Plan::Inline };
    let chars = content.chars();
    // A preview takes as much, so that nothing shorter is saved for want of room.
    let most = limit.min(room.chars().max(PREVIEW_CHARS));
    let text =
        (chars > most).then(|| Spill { text: content.text(), most: ResultLimit::Chars(most) });
    room.take_chars(if text.is_some() { PREVIEW_CHARS } else { chars });
    let media: Vec<_> = match content {
        Content::Text(_) => Vec::new(),
        Content::Blocks(blocks) => blocks.iter().filter(|it| is_media(it)).cloned().collect(),
    };
    if text.is_none() && media.is_empty() {
        Plan::Inline
    } else {
        Plan::Save(Saving { text, media })
    }
}

/// The content as the model gets it.
pub(crate) fn shown(content: &Content, spill: Option<Spill>, saved: Saved) -> Content {
    let content = match (spill, saved.text) {
        (Some(spill), Some(Ok(path))) => wrapper(content, &spill.text, &path),
        (Some(spill), Some(Err(why))) => cut(content, spill.most, &why),
        (Some(spill), None) => cut(content, spill.most, "nothing was saved"),
        (None, _) => content.clone(),
    };
    let Content::Blocks(mut blocks) = content else { return content };
    let mut media = saved.media.into_iter();
    for block in blocks.iter_mut().filter(|it| is_media(it)) {
        *block = media.next().unwrap_or_else(|| left_out(block, "it was not looked at"));
    }
    inline(Content::Blocks(blocks))
}

/// The block that stands for media which the model can't get.
pub(crate) fn left_out(block: &Value, why: &str) -> Value {
    let kind = block["type"].as_str().unwrap_or("block");
    json!({"type": "text", "text": format!("[{kind} left out: {why}]")})
}

/// The block that stands for media which went to a file.
pub(crate) fn moved_out(block: &Value, why: &str, path: &Path) -> Value {
    let kind = block["type"].as_str().unwrap_or("block");
    let text = format!("[{kind} saved to {}: {why}]", path.display());
    json!({"type": "text", "text": text})
}

/// The content that stands for a text that went to a file. What isn't text stays.
fn wrapper(content: &Content, text: &str, path: &Path) -> Content {
    let preview: String = text.chars().take(PREVIEW_CHARS).collect();
    let wrapped = format!(
        "<persisted-output>\nOutput too large ({}). Full output saved to: {}\n\n\
         Preview (first 2KB):\n{preview}\n...\n</persisted-output>",
        size(text.len()),
        path.display(),
    );
    with_text(content, wrapped)
}

/// The content cut to its limit, with a word on why the rest is lost.
fn cut(content: &Content, limit: ResultLimit, why: &str) -> Content {
    let ResultLimit::Chars(most) = limit else { return content.clone() };
    let text = content.text();
    let chars = text.chars().count();
    if chars <= most {
        return content.clone();
    }
    let kept: String = text.chars().take(most).collect();
    let kept = format!(
        "{kept}\n... [{} of {chars} characters left out: the full output could not be saved: {why}]",
        chars - most
    );
    with_text(content, kept)
}

/// The content where nothing could be kept or looked at.
pub(crate) fn unkept(content: &Content, limit: ResultLimit, why: &str) -> Content {
    match (cut(content, limit, why), limit) {
        (Content::Blocks(mut blocks), ResultLimit::Chars(_)) => {
            blocks.iter_mut().filter(|it| is_media(it)).for_each(|it| *it = left_out(it, why));
            Content::Blocks(blocks)
        }
        (content, _) => content,
    }
}

/// A blank content says that it is blank, and blank text beside an image goes: the API wants a
/// result, and each text in it, to say something.
pub(crate) fn inline(content: Content) -> Content {
    match content {
        it if it.is_blank() => wording::no_output().into(),
        Content::Blocks(mut blocks) => {
            let is_blank = |it: &str| it.trim().is_empty();
            blocks.retain(|it| it["type"] != "text" || !it["text"].as_str().is_some_and(is_blank));
            Content::Blocks(blocks)
        }
        text @ Content::Text(_) => text,
    }
}

fn with_text(content: &Content, text: String) -> Content {
    match content {
        Content::Text(_) => Content::Text(text),
        Content::Blocks(blocks) => {
            let rest = blocks.iter().filter(|it| it["type"] != "text").cloned();
            let first = json!({"type": "text", "text": text});
            Content::Blocks(std::iter::once(first).chain(rest).collect())
        }
    }
}

fn size(bytes: usize) -> String {
    const KB: f64 = 1024.0;
    let kilobytes = bytes as f64 / KB;
    if kilobytes < KB { format!("{kilobytes:.1}KB") } else { format!("{:.1}MB", kilobytes / KB) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spilled(text: &str, limit: ResultLimit, room: usize) -> Option<ResultLimit> {
        match plan(&text.into(), limit, &Room::new(room)) {
            Plan::Inline => None,
            Plan::Save(saving) => saving.text.map(|it| it.most),
        }
    }

    #[test]
    fn a_result_at_its_limit_stays_inline_and_one_above_is_spilled() {
        let limit = ResultLimit::Chars;
        assert_eq!(spilled("äöü", limit(3), 9_000), None);
        assert_eq!(spilled("äöü", limit(2), 9_000), Some(limit(2)));
        assert_eq!(spilled("äöü", ResultLimit::Unlimited, 0), None);
    }

    #[test]
    fn results_of_one_message_share_its_room() {
        let room = Room::new(10_000);
        let limit = ResultLimit::Chars(6_000);
        let spills =
            |chars: usize| matches!(plan(&"x".repeat(chars).into(), limit, &room), Plan::Save(_));
        assert!(!spills(6_000), "there is room for all");
        assert!(spills(4_001), "there is room for 4,000");
        assert!(!spills(2_000), "the preview has taken 2,000");
        assert!(spills(2_001), "there is no room");
        assert!(!spills(PREVIEW_CHARS), "a preview would take as much");
    }

    #[test]
    fn the_preview_names_size_and_path() {
        let text = "x".repeat(5_000);
        let wrapped = wrapper(&text.clone().into(), &text, Path::new("/data/a.txt")).text();
        let head = "<persisted-output>\nOutput too large (4.9KB). Full output saved to: \
                    /data/a.txt\n\nPreview (first 2KB):\nxxx";
        assert!(wrapped.starts_with(head), "{wrapped}");
        assert!(wrapped.ends_with("xxx\n...\n</persisted-output>"));
        let preview = wrapped.lines().find(|it| it.starts_with('x')).unwrap();
        assert_eq!(preview.len(), 2_000);
    }

    #[test]
    fn an_image_beside_a_long_text_stays() {
        let image = json!({"type": "image", "source": {}});
        let content = Content::Blocks(vec![json!({"type": "text", "text": "long"}), image.clone()]);
        let Content::Blocks(blocks) = cut(&content, ResultLimit::Chars(1), "disk full") else {
            panic!("blocks become text")
        };
        assert_eq!(blocks[1], image);
        assert!(blocks[0]["text"].as_str().unwrap().contains("disk full"));
    }

    #[test]
    fn blank_results_say_so() {
        assert_eq!(inline(" \n".into()), "(no output)".into());
    }

    #[test]
    fn blank_text_beside_an_image_goes() {
        let image = json!({"type": "image", "source": {}});
        let content = Content::Blocks(vec![json!({"type": "text", "text": " \n"}), image.clone()]);
        assert_eq!(inline(content), Content::Blocks(vec![image]));
    }

    proptest! {
        #[test]
        fn a_cut_is_never_inside_a_character(text in "\\PC{0,50}", most in 0_usize..60) {
            let cut = cut(&text.clone().into(), ResultLimit::Chars(most), "why").text();
            let kept: String = text.chars().take(most).collect();
            prop_assert!(cut.starts_with(&kept));
        }
    }
}
