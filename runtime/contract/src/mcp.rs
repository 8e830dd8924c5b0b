//! Tools of MCP servers: how they are named, and what a server's metadata says of them.
//!
//! Names and keys are those of Claude Code (docs 2.1.240).

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::card::{Card, Loading, Origin, ResultLimit};

/// Characters of a result that a server may ask to keep inline.
pub const MOST_RESULT_CHARS: usize = 500_000;

/// The name by which a model calls a server's tool: `mcp__<server>__<tool>`, with `_` for each
/// character that no name may have. One that comes out too long is refused when the tool is
/// registered.
#[must_use]
pub fn mcp_name(server: &str, tool: &str) -> String {
    format!("{}__{}", mcp_server_name(server), plain(tool))
}

/// The name by which a rule is about all tools of a server: `mcp__<server>`.
pub(crate) fn mcp_server_name(server: &str) -> String {
    format!("mcp__{}", plain(server))
}

fn plain(name: &str) -> String {
    let kept = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    name.chars().map(|it| if kept(it) { it } else { '_' }).collect()
}

impl Card {
    /// The card of a server's tool. `meta` is the tool's `_meta`: what it says of loading, search
    /// and the length of results is taken, and all of it stays on the card.
    #[must_use]
    pub fn of_mcp(
        server: &str,
        tool: &str,
        description: impl Into<Cow<'static, str>>,
        meta: Option<Value>,
    ) -> Self {
        let origin = Origin::Mcp { server: server.to_owned(), tool: tool.to_owned() };
        let mut card = Self::new(mcp_name(server, tool), description).origin(origin);
        let said = |key: &str| meta.as_ref()?.get(key).cloned();
        if said("anthropic/alwaysLoad") == Some(Value::Bool(true)) {
            card.loading = Loading::Always;
        }
        if let Some(Value::String(hint)) = said("anthropic/searchHint") {
            card.search_hint = hint.into();
        }
        if let Some(chars) = said("anthropic/maxResultSizeChars").and_then(|it| it.as_u64()) {
            let chars = usize::try_from(chars).unwrap_or(MOST_RESULT_CHARS);
            card.result_limit = ResultLimit::Chars(chars.min(MOST_RESULT_CHARS));
        }
        Self { meta: meta.map(Arc::new), ..card }
    }
}
