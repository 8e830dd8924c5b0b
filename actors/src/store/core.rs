//! The pure part of the store: what stays inline, what the preview says, what a file is called.

use std::path::Path;

use toolwright_contract::{Content, ResultLimit, wording};

/// Characters of a preview (Claude Code 2.1.x: "first 2KB").
const PREVIEW_CHARS: usize = 2_000;

/// Longest encoded file name, in bytes: well under the 255 of common file systems.
const NAME_BYTES: usize = 120;

/// What is kept of an id that isn't a plain name, in characters.
const HEAD_CHARS: usize = 40;

/// What becomes of a content.
#[derive(Debug, PartialEq)]
pub(crate) enum Plan {
    /// It fits.
    Inline,
    /// This text goes to a file.
    Spill(String),
}

pub(crate) fn plan(content: &Content, limit: ResultLimit) -> Plan {
    match limit {
        ResultLimit::Chars(most) if content.chars() > most => Plan::Spill(content.text()),
        ResultLimit::Chars(_) | ResultLimit::Unlimited => Plan::Inline,
    }
}

/// The content that stands for a text that went to a file. What isn't text stays.
pub(crate) fn wrapper(content: &Content, text: &str, path: &Path) -> Content {
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
pub(crate) fn cut(content: &Content, limit: ResultLimit, why: &str) -> Content {
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
            let first = serde_json::json!({"type": "text", "text": text});
            Content::Blocks(std::iter::once(first).chain(rest).collect())
        }
    }
}

fn size(bytes: usize) -> String {
    const KB: f64 = 1024.0;
    let kilobytes = bytes as f64 / KB;
    if kilobytes < KB { format!("{kilobytes:.1}KB") } else { format!("{:.1}MB", kilobytes / KB) }
}

/// The file name of a result: the id where that is a plain name, else what is plain of it and a
/// hash. `attempt` counts the names that were taken already: by an id that came again, or by one
/// that differs in letter case alone on a file system that doesn't tell them apart.
pub(crate) fn file_name(id: &str, attempt: u32) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    let plain = !id.is_empty() && id.chars().all(is_plain) && id.len() <= NAME_BYTES;
    let stem = if plain && !is_reserved(&id.to_ascii_lowercase()) {
        id.to_owned()
    } else {
        let head: String = id.chars().filter(|&it| is_plain(it)).take(HEAD_CHARS).collect();
        format!("{head}.{:016x}", hash(id))
    };
    match attempt {
        0 => format!("{stem}.txt"),
        more => format!("{stem}.{more}.txt"),
    }
}

/// Names that mean a device on Windows.
fn is_reserved(id: &str) -> bool {
    matches!(id, "con" | "prn" | "aux" | "nul")
        || (id.len() == 4 && (id.starts_with("com") || id.starts_with("lpt")))
}

/// FNV-1a: the same on every machine and in every version.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_at_its_limit_stays_inline_and_one_above_is_spilled() {
        assert_eq!(plan(&"äöü".into(), ResultLimit::Chars(3)), Plan::Inline);
        assert_eq!(plan(&"äöü".into(), ResultLimit::Chars(2)), Plan::Spill("äöü".into()));
        assert_eq!(plan(&"äöü".into(), ResultLimit::Unlimited), Plan::Inline);
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

    #[test]
    fn path_characters_never_reach_the_file_system() {
        for id in ["../../etc/passwd", "a/b", "a\\b", "", ".", "..", "a\0b", "nul", "ä"] {
            let name = file_name(id, 0);
            let stem = name.strip_suffix(".txt").unwrap();
            assert!(stem.chars().all(|it| it.is_ascii_alphanumeric() || "_-.".contains(it)));
            assert!(!matches!(stem, "" | "." | ".." | "nul"), "{id:?} became {name:?}");
        }
    }

    proptest! {
        #[test]
        fn different_ids_have_different_names(a in ".{0,300}", b in ".{0,300}") {
            let (x, y) = (file_name(&a, 0), file_name(&b, 0));
            prop_assert!(a == b || x != y);
            prop_assert!(x.len() <= 200 && x != file_name(&a, 1));
        }

        #[test]
        fn a_cut_is_never_inside_a_character(text in "\\PC{0,50}", most in 0_usize..60) {
            let cut = cut(&text.clone().into(), ResultLimit::Chars(most), "why").text();
            let kept: String = text.chars().take(most).collect();
            prop_assert!(cut.starts_with(&kept));
        }
    }
}
