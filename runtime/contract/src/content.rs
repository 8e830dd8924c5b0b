//! Content: what a `tool_result` holds for the model to read.

use serde_json::{Value, json};

/// The content of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Content blocks of the Messages API (text, image, document …), as they are sent.
    Blocks(Vec<Value>),
}

impl Content {
    /// Characters of text in it; other blocks count nothing.
    #[must_use]
    pub fn chars(&self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Blocks(blocks) => {
                blocks.iter().filter_map(block_text).map(|it| it.chars().count()).sum()
            }
        }
    }

    /// All text in it, blocks apart by a newline.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                blocks.iter().filter_map(block_text).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// Whether there is nothing that a model could read: the API wants a result to say something.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Blocks(blocks) => {
                blocks.iter().all(|it| block_text(it).is_some_and(|text| text.trim().is_empty()))
            }
        }
    }

    /// The value of the `content` field of a `tool_result` block.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Blocks(blocks) => json!(blocks),
        }
    }
}

fn block_text(block: &Value) -> Option<&str> {
    (block.get("type")? == "text").then(|| block.get("text")?.as_str()).flatten()
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_blocks_count_as_text() {
        let content = Content::Blocks(vec![
            json!({"type": "text", "text": "äb"}),
            json!({"type": "image", "source": {"data": "xxxx"}}),
            json!({"type": "text", "text": "c"}),
        ]);
        assert_eq!((content.chars(), content.text()), (3, "äb\nc".to_owned()));
        assert!(!content.is_blank());
    }

    #[test]
    fn white_space_is_blank_and_an_image_is_not() {
        assert!(Content::from(" \n").is_blank());
        assert!(Content::Blocks(vec![]).is_blank());
        assert!(!Content::Blocks(vec![json!({"type": "image"})]).is_blank());
    }
}
