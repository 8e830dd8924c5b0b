//! Images and documents in a result: measured in bytes, and held against what the API takes.
//!
//! A block that the API refuses would be refused with each later request too, since the history is
//! sent again: it is replaced by a word on what was there before it enters any history.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use imagesize::{ImageType, blob_size, image_type};
use serde_json::{Value, json};

/// Largest image, in base64 characters (Messages API: 5 MB an image).
const IMAGE: usize = 5 * 1024 * 1024;

/// Longest side of an image, in pixels (Messages API).
const SIDE: usize = 8_000;

/// Largest document, in base64 characters: a request of the Messages API holds 32 MB in all.
const DOCUMENT: usize = 16 * 1024 * 1024;

/// Whether a block is an image or a document that is sent along as base64.
pub(super) fn is_media(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("image" | "document"))
        && block["source"]["type"] == "base64"
}

/// What becomes of a block.
#[derive(Debug, PartialEq)]
pub(super) enum Fate {
    /// It stays, as this.
    Stays(Value),
    /// It goes: nobody can show it.
    Broken(String),
    /// It goes to a file of this extension: it is more than the model may get.
    TooMuch { bytes: Vec<u8>, extension: &'static str, why: String },
}

/// Looks at a block of media. `room` says whether the message has room for so many base64
/// characters, and takes it.
pub(super) fn fate(mut block: Value, room: impl FnOnce(usize) -> bool) -> Fate {
    let is_image = block["type"] == "image";
    let data = block["source"]["data"].as_str().unwrap_or_default();
    let bytes = match BASE64_STANDARD.decode(data) {
        Ok(bytes) if bytes.is_empty() => return Fate::Broken("it is empty".to_owned()),
        Ok(bytes) => bytes,
        Err(error) => return Fate::Broken(format!("its base64 data is wrong: {error}")),
    };
    let known = if is_image { image(&bytes) } else { document(&block, &bytes) };
    let (media_type, extension) = match known {
        Ok(known) => known,
        Err(why) => return Fate::Broken(why),
    };
    let most = if is_image { IMAGE } else { DOCUMENT };
    let side = if is_image { longest_side(&bytes) } else { 0 };
    let why = if data.len() > most {
        format!("it has {} base64 characters, and the API takes {most}", data.len())
    } else if side > SIDE {
        format!("its longer side has {side} pixels, and the API takes {SIDE}")
    } else if !room(data.len()) {
        "the message has as much of them as the API takes already".to_owned()
    } else {
        block["source"]["media_type"] = json!(media_type);
        return Fate::Stays(block);
    };
    Fate::TooMuch { bytes, extension, why }
}

/// The type that the bytes are of: the API compares, and tools often go by a file's name.
fn image(bytes: &[u8]) -> Result<(String, &'static str), String> {
    let known = match image_type(bytes) {
        Ok(ImageType::Png) => ("image/png", "png"),
        Ok(ImageType::Jpeg) => ("image/jpeg", "jpg"),
        Ok(ImageType::Gif) => ("image/gif", "gif"),
        Ok(ImageType::Webp) => ("image/webp", "webp"),
        Ok(_) | Err(_) => return Err("it is neither PNG nor JPEG, GIF or WebP".to_owned()),
    };
    match blob_size(bytes) {
        Ok(size) if size.width > 0 && size.height > 0 => Ok((known.0.to_owned(), known.1)),
        Ok(_) => Err("it has no pixels".to_owned()),
        Err(error) => Err(format!("it can't be decoded: {error}")),
    }
}

fn longest_side(bytes: &[u8]) -> usize {
    blob_size(bytes).map(|it| it.width.max(it.height)).unwrap_or_default()
}

fn document(block: &Value, bytes: &[u8]) -> Result<(String, &'static str), String> {
    let media_type = block["source"]["media_type"].as_str().unwrap_or_default();
    match media_type {
        "application/pdf" if bytes.starts_with(b"%PDF-") => Ok((media_type.to_owned(), "pdf")),
        "application/pdf" => Err("it is no PDF".to_owned()),
        _ => Err(format!("the API takes no document of the type {media_type:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG as far as its header says: so many pixels, and so many bytes behind it.
    fn png(width: u32, height: u32, filling: usize) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89]);
        bytes.extend(vec![0; filling]);
        bytes
    }

    fn block(kind: &str, media_type: &str, bytes: &[u8]) -> Value {
        let data = BASE64_STANDARD.encode(bytes);
        json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}})
    }

    fn fate_of(block: Value) -> Fate {
        fate(block, |_| true)
    }

    #[test]
    fn an_image_that_the_api_takes_stays_and_is_labelled_as_what_it_is() {
        let right = block("image", "image/png", &png(1, 1, 0));
        assert_eq!(fate_of(right.clone()), Fate::Stays(right.clone()));
        assert_eq!(fate_of(block("image", "image/jpeg", &png(1, 1, 0))), Fate::Stays(right));
    }

    #[test]
    fn what_nobody_can_show_goes() {
        let empty = block("image", "image/png", b"");
        let mut wrong = empty.clone();
        wrong["source"]["data"] = json!("no base64!");
        let mut missing = empty.clone();
        missing["source"]["data"] = Value::Null;
        for block in [
            empty,
            wrong,
            missing,
            block("image", "image/png", b"a text"),
            block("image", "image/png", &png(1, 1, 0)[..20]),
            block("image", "image/png", &png(0, 1, 0)),
            block("document", "application/pdf", b"a text"),
            block("document", "text/html", b"<p>"),
        ] {
            assert!(matches!(fate_of(block.clone()), Fate::Broken(_)), "{block}");
        }
    }

    #[test]
    fn what_is_more_than_the_api_takes_goes_to_a_file() {
        let long = png(8_001, 1, 0);
        let heavy = png(1, 1, IMAGE / 4 * 3);
        for bytes in [long, heavy] {
            let Fate::TooMuch { bytes: kept, extension, .. } =
                fate_of(block("image", "image/png", &bytes))
            else {
                panic!("too much")
            };
            assert_eq!((kept, extension), (bytes, "png"));
        }
        let full = fate(block("document", "application/pdf", b"%PDF-1.7"), |_| false);
        assert!(matches!(full, Fate::TooMuch { extension: "pdf", .. }), "{full:?}");
    }
}
