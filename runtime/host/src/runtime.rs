//! The runtime value: what the sessions of one process have in common, and what each begins with.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use toolwright_actors::{Config, Shares};
use toolwright_contract::{AnyTool, Registry};

use crate::session_builder::{SessionBuilder, SetupError, cap, known};

/// The cap of a runtime that says none: four sessions at the cap of one that says none.
const DEFAULT_CAP: NonZeroU16 = NonZeroU16::new(256).unwrap();

/// What sessions have in common: caps on the calls that run at once, and what each session begins
/// with unless it says otherwise. Cheap to clone; nothing about it is process-wide, so a program may
/// have several.
///
/// Where a cap is full, free places go round over the sessions whose calls wait, so that a session
/// with a thousand waiting calls holds up none with a single one. A call that waits for a person, or
/// for calls of its own, holds no place. One that was answered without ending, because it ignored
/// its stop, holds its place until it has ended; where such calls hold all places that another call
/// could take, that one is answered once its own wait is over, whichever session it belongs to. Let
/// the cap of a session be below that of the runtime, and no session can hold all of it.
///
/// ```
/// use serde_json::json;
/// use toolwright::{Rules, Runtime, ToolUse, built_in_tools};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder()
///     .tools(built_in_tools())
///     .cap(32)
///     .tool_cap("Bash", 4)
///     .each_session(|it| it.cap(8).rules(Rules::allow_everything()))
///     .build()?;
///
/// // As many sessions as there are conversations.
/// let (one, other) = (runtime.session().start().await?, runtime.session().start().await?);
/// for session in [one, other] {
///     let mut turn = session.turn().await?;
///     turn.submit(ToolUse::new("toolu_1", "TodoWrite", json!({"todos": []}))).await?;
///     assert!(!turn.finish().await.results[0].is_error);
///     session.shutdown().await;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Runtime {
    each: SessionBuilder,
}

/// Sets a [`Runtime`] up; see [`Runtime::builder`]. What isn't said has its default.
#[must_use = "nothing is set up before `build`"]
pub struct RuntimeBuilder {
    cap: Option<u16>,
    tool_caps: Vec<(String, u16)>,
    each: SessionBuilder,
}

impl Runtime {
    /// Begins a runtime. [`build`](RuntimeBuilder::build) says what is wrong with what was said:
    ///
    /// ```
    /// use toolwright::{Runtime, SetupError, built_in_tools};
    ///
    /// let error = Runtime::builder().tools(built_in_tools()).tool_cap("Bsh", 1).build().err();
    /// assert!(matches!(error, Some(SetupError::NoSuchTool { .. })));
    /// ```
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder {
            cap: None,
            tool_caps: Vec::new(),
            each: SessionBuilder::new(Config::new(Registry::default())),
        }
    }

    /// Begins a session of this runtime, which lives on its own.
    pub fn session(&self) -> SessionBuilder {
        self.each.clone()
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("each", &self.each).finish_non_exhaustive()
    }
}

impl RuntimeBuilder {
    /// The tools that each session offers, unless it has its own.
    pub fn tools(self, tools: impl IntoIterator<Item = AnyTool>) -> Self {
        self.each_session(|it| it.tools(tools))
    }

    /// The same, registered already, or as a [`Pool`](crate::Pool) gives them.
    pub fn registry(self, tools: Registry) -> Self {
        self.each_session(|it| it.registry(tools))
    }

    /// Most calls at once in all sessions together (default 256, or as many as in a session where
    /// those are more).
    pub fn cap(self, most: u16) -> Self {
        Self { cap: Some(most), ..self }
    }

    /// Most calls of a tool at once in all sessions together, whatever its card says: for what the
    /// tool uses, and the sessions share. It goes by the name, also for a session's own tools. A call
    /// that waits for it holds up no call of another tool.
    pub fn tool_cap(mut self, tool: impl Into<String>, most: u16) -> Self {
        self.tool_caps.push((tool.into(), most));
        self
    }

    /// What each session begins with: deadlines, caps, rules, hooks. A session may say otherwise.
    pub fn each_session(mut self, set_up: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Self {
        self.each = set_up(self.each);
        self
    }

    /// The runtime. It starts nothing.
    ///
    /// # Errors
    ///
    /// [`SetupError`]: what it names can't be right.
    pub fn build(self) -> Result<Runtime, SetupError> {
        let config = self.each.clone().config()?;
        let most = match self.cap {
            Some(most) => cap(most, "of the runtime")?,
            None => DEFAULT_CAP.max(config.session_width),
        };
        let mut caps = BTreeMap::<_, NonZeroU16>::new();
        for (name, most) in self.tool_caps {
            let name = known(&config.tools, name, "a cap")?;
            caps.insert(name, cap(most, "of a tool")?);
        }
        Ok(Runtime { each: self.each.sharing(Shares::new(most, caps)) })
    }
}
