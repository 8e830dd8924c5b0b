//! A tool that does what its input says, under whatever name and limits a test needs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use toolwright_contract::{
    Card, CheckCx, Conduct, Content, ContextChange, Effects, Footprint, InvalidInput, OnInterrupt,
    Output, Permission, ResultLimit, RunCx, Safety, Tool, ToolError, ToolResult, ToolUse,
};

use crate::{Script, step_aside};

/// See the module.
pub struct Scripted(Card);

impl Scripted {
    /// The tool `Scripted`, which answers to `OldScripted` too.
    #[must_use]
    pub fn new() -> Self {
        Self(Card::new("Scripted", "Does what its input says.").alias("OldScripted"))
    }

    /// The same under another name.
    #[must_use]
    pub fn named(name: &'static str) -> Self {
        Self(Card::new(name, "Does what its input says."))
    }

    /// Adds a former name.
    #[must_use]
    pub fn alias(self, name: &'static str) -> Self {
        Self(self.0.alias(name))
    }

    /// Sets its deadline.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Self(self.0.deadline(deadline))
    }

    /// Sets how much of its results stays inline.
    #[must_use]
    pub fn limit(self, limit: ResultLimit) -> Self {
        Self(self.0.result_limit(limit))
    }
}

impl Default for Scripted {
    fn default() -> Self {
        Self::new()
    }
}

/// A PNG of one pixel, in base64.
pub const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ\
                     RU5ErkJggg==";

/// Takes time, on the paused clock, as a tool that works does.
pub async fn busy(time: Duration) {
    sleep(time).await;
}

/// What a run gave, before it is mapped.
pub struct Said {
    text: String,
    image: bool,
    panics: bool,
}

impl From<Said> for Content {
    fn from(said: Said) -> Self {
        assert!(!said.panics, "the mapping panics");
        if !said.image {
            return said.text.into();
        }
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}});
        Self::Blocks(vec![json!({"type": "text", "text": said.text}), image])
    }
}

impl Tool for Scripted {
    type Input = Script;
    type Output = Said;

    fn card(&self) -> Card {
        self.0.clone()
    }

    fn safety(&self, it: &Script) -> Safety {
        panic_if(it, "safety");
        Safety {
            footprint: if it.alone { Footprint::Exclusive } else { Footprint::Shared },
            effects: if it.writes { Effects::Writes } else { Effects::ReadOnly },
            on_interrupt: if it.block { OnInterrupt::Block } else { OnInterrupt::Cancel },
        }
    }

    fn conduct(&self, it: &Script) -> Conduct {
        let for_classifier = Some("run".to_owned());
        Conduct { needs_user: it.person, for_classifier, ..Conduct::default() }
    }

    async fn validate(&self, it: &Script, _: &CheckCx) -> Result<(), InvalidInput> {
        panic_if(it, "validate");
        if it.check_ms > 0 {
            sleep(Duration::from_millis(it.check_ms)).await;
        }
        it.invalid.clone().map_or(Ok(()), |why| Err(InvalidInput(why)))
    }

    fn check_permissions(&self, it: &Script, _: &CheckCx) -> Permission {
        panic_if(it, "permission");
        match it.permission.as_deref() {
            None => Permission::Unsaid,
            Some("allow") => Permission::Allow,
            Some("never") => Permission::Deny("never".to_owned()),
            Some(why) => Permission::Ask(why.to_owned()),
        }
    }

    async fn run(&self, mut it: Script, cx: RunCx) -> Result<Output<Said>, ToolError> {
        panic_if(&it, "start");
        assert!(!cx.stop.is_told(), "it began after its stop");
        if let Some(text) = it.progress.take() {
            cx.progress(text);
        }
        if let Some(text) = it.notify.take() {
            cx.notify(text);
        }
        if it.tells_context {
            it.say = Some(told_by(&cx));
        }
        if !it.nested.is_empty() {
            let said = nested(self.0.name.as_ref(), &mut it, &cx).await;
            it.say.get_or_insert(said);
        }
        take_time(&it, &cx).await?;
        for _ in 0..it.yields {
            step_aside().await;
        }
        if let Some(text) = it.panic {
            panic!("{text}");
        }
        if let Some(message) = it.fail {
            return Err(ToolError::Failed { message, cascades: it.cascades });
        }
        Ok(output(it))
    }
}

/// What a context says, a line each; the application state is a text.
fn told_by(cx: &RunCx) -> String {
    let tools: Vec<_> = cx.tools.iter().map(|it| &*it.card().name).collect();
    format!(
        "{} {:?} {:?} {:?} {:?}",
        cx.identity.session,
        cx.identity.agent.as_ref().map(ToString::to_string),
        tools,
        cx.deadline,
        cx.state.get::<String>()
    )
}

fn panic_if(it: &Script, part: &str) {
    assert!(it.panic_in.as_deref() != Some(part), "it panics in {part}");
}

async fn take_time(it: &Script, cx: &RunCx) -> Result<(), ToolError> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(it.busy) {
        std::hint::spin_loop();
    }
    if it.blocking > 0 {
        let (wait, (_never, told)) =
            (Duration::from_millis(it.blocking), std::sync::mpsc::channel::<()>());
        // Nobody tells it anything: it ends by its time alone.
        drop(tokio::task::spawn_blocking(move || told.recv_timeout(wait)).await);
    }
    // A call that takes no time doesn't even yield.
    if it.ms == 0 {
        return if cx.stop.is_told() && !it.deaf { Err(ToolError::Stopped) } else { Ok(()) };
    }
    let sleeping = sleep(Duration::from_millis(it.ms));
    if it.deaf {
        sleeping.await;
        Ok(())
    } else {
        cx.stop.or(sleeping).await
    }
}

fn output(it: Script) -> Output<Said> {
    let text = match it.chars {
        0 => it.say.unwrap_or_else(|| "ran".to_owned()),
        chars => "x".repeat(chars),
    };
    let panics = it.panic_in.as_deref() == Some("output");
    let mut output = Output::from(Said { text, image: it.image, panics });
    if let Some(note) = it.note {
        output = output.note(note);
    }
    match (it.trail, it.bad_change) {
        (Some(mark), _) => output.changing(ContextChange::new(move |mut context| {
            let trail = context.values.entry("trail".into()).or_insert_with(|| "".into());
            *trail = format!("{}{mark}", trail.as_str().unwrap_or_default()).into();
            Ok(context)
        })),
        (None, Some(how)) => output.changing(ContextChange::new(move |_| {
            assert!(how != "panic", "the change panics");
            Err("the change fails".to_owned())
        })),
        (None, None) => output,
    }
}

/// Runs the nested scripts as the script says. Gives their texts, joined.
async fn nested(tool: &str, it: &mut Script, cx: &RunCx) -> String {
    let calls = |round: &str| {
        let id = |n: usize| format!("{}{round}.{n}", cx.id);
        let calls = it.nested.iter().enumerate();
        calls.map(|(n, it)| ToolUse::new(id(n), tool, Value::clone(it))).collect::<Vec<_>>()
    };
    if let Some(ms) = it.patience {
        let patience = Duration::from_millis(ms);
        if let Ok(results) = timeout(patience, cx.run_nested(calls(""))).await {
            return joined(&results);
        }
        if it.gives_up {
            return "gave up".to_owned();
        }
        return joined(&cx.run_nested(calls(" again")).await);
    }
    if !it.split {
        return joined(&cx.run_nested(calls("")).await);
    }
    let mut turns = tokio::task::JoinSet::new();
    for call in calls("") {
        let cx = cx.clone();
        turns.spawn(async move { cx.run_nested(vec![call]).await });
    }
    joined(&turns.join_all().await.concat())
}

fn joined(results: &[ToolResult]) -> String {
    results.iter().map(|it| it.content.text()).collect::<Vec<_>>().join("|")
}
