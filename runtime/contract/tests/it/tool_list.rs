//! The published tool list: what the API takes, and bytes that stay the same for a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolwright_contract::{
    AnyTool, Card, Deferral, Drift, Gates, Loading, MOST_TOOLS, OUTSIDE_DESCRIPTION_CHARS, Origin,
    Output, PermissionMode, Pool, Registry, RunCx, Tool, ToolError, ToolList, check_name, tool,
};

/// What a flag of the program may change between two requests.
#[derive(Clone)]
struct Flagged {
    name: &'static str,
    flag: Arc<AtomicBool>,
    plans: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Tool for Flagged {
    type Input = Nothing;
    type Output = String;

    fn card(&self) -> Card {
        let card = Card::new(self.name, "Is built in.");
        if self.plans { card.only_in(&[PermissionMode::Plan]) } else { card }
    }
    fn prompt(&self) -> std::borrow::Cow<'static, str> {
        if self.flag.load(Ordering::Relaxed) { "The flag is set.".into() } else { "".into() }
    }
    fn is_enabled(&self) -> bool {
        self.name != "Watch" || !self.flag.load(Ordering::Relaxed)
    }
    async fn run(&self, _: Nothing, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(String::new().into())
    }
}

struct Outside(Card);

impl Tool for Outside {
    type Input = Value;
    type Output = String;

    fn card(&self) -> Card {
        self.0.clone()
    }
    async fn run(&self, _: Value, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(String::new().into())
    }
}

fn outside(name: &str, field: &str) -> AnyTool {
    let origin = Origin::Mcp { server: "s".into(), tool: name.into() };
    let card = Card::new(format!("mcp__s__{name}"), "Is outside.").origin(origin);
    let schema = json!({"type": "object", "properties": {field: {"type": "string"}}});
    AnyTool::with_schema(Outside(card), schema).unwrap()
}

fn small(write: impl FnOnce(Card) -> Card) -> AnyTool {
    tool("Small", "Is small.").card(write).run(async |_: Nothing, _| Ok(""))
}

fn published(tools: impl IntoIterator<Item = AnyTool>, deferral: Deferral) -> Vec<Value> {
    let list = ToolList::new(&Registry::unpublished(tools).unwrap(), deferral);
    serde_json::from_str(&bytes(&list)).unwrap()
}

fn bytes(list: &ToolList) -> String {
    serde_json::to_string(list).unwrap()
}

/// The bytes up to the end of the last definition.
fn head(list: &ToolList) -> String {
    bytes(list).strip_suffix(']').unwrap().to_owned()
}

/// A session's surroundings, which may change from request to request.
#[derive(Clone)]
struct World {
    flag: Arc<AtomicBool>,
    gates: Gates,
    denied: Vec<&'static str>,
    servers: Vec<AnyTool>,
}

impl World {
    fn new() -> Self {
        Self {
            flag: Arc::default(),
            gates: Gates::default(),
            denied: Vec::new(),
            servers: vec![outside("find", "query"), outside("open", "id")],
        }
    }

    fn pool(&self) -> Registry {
        let own = [("Look", false), ("Watch", false), ("EndPlan", true)];
        let own =
            own.map(|(name, plans)| AnyTool::new(Flagged { name, flag: self.flag.clone(), plans }));
        let tools = own.into_iter().chain(self.servers.iter().cloned());
        Pool::assemble(tools, &self.gates, |it| self.denied.contains(&&*it.name)).registry
    }
}

#[test]
fn a_definition_has_what_the_api_takes_and_no_more() {
    let tools = [small(|it| it), outside("find", "query")];
    let list = ToolList::new(&Registry::new(tools).unwrap(), Deferral::Honoured);
    insta::assert_snapshot!(bytes(&list).replace("},{", "},\n{"), @r#"
    [{"name":"Small","description":"Is small.","input_schema":{"additionalProperties":false,"type":"object"}},
    {"name":"mcp__s__find","description":"Is outside.","input_schema":{"properties":{"query":{"type":"string"}},"type":"object"},"defer_loading":true}]
    "#);
}

#[test]
fn what_is_always_loaded_is_not_deferred_and_what_asks_for_it_is() {
    let deferred = |loading, deferral| {
        let mut tools = vec![outside("find", "query"), small(|it| it.loading(loading))];
        tools.push(tool("Other", "").run(async |_: Nothing, _| Ok("")));
        let deferred = |it: &Value| it.get("defer_loading").cloned();
        published(tools, deferral).iter().map(deferred).collect::<Vec<_>>()
    };
    let yes = || Some(json!(true));
    assert_eq!(deferred(Loading::Usual, Deferral::Honoured), [yes(), None, None]);
    assert_eq!(deferred(Loading::Always, Deferral::Honoured), [yes(), None, None]);
    assert_eq!(deferred(Loading::Deferred, Deferral::Honoured), [yes(), yes(), None]);
    assert_eq!(deferred(Loading::Deferred, Deferral::Off), [None, None, None]);
}

#[test]
fn where_every_tool_would_be_deferred_all_are_loaded_and_stay_so() {
    let pool = |names: &[&str]| Registry::new(names.iter().map(|it| outside(it, "query"))).unwrap();
    let mut list = ToolList::new(&pool(&["a"]), Deferral::Honoured);
    let before = head(&list);
    list.follow(&pool(&["a", "b"]));
    assert!(bytes(&list).starts_with(&before) && !bytes(&list).contains("defer_loading"));
    assert_eq!(list.deferred().count(), 0);
}

#[test]
fn deferred_tools_can_be_announced_by_name() {
    let tools = [small(|it| it), outside("find", "query")];
    let list = ToolList::new(&Registry::new(tools).unwrap(), Deferral::Honoured);
    assert_eq!(list.deferred().collect::<Vec<_>>(), ["mcp__s__find"]);
}

#[test]
fn a_strict_tool_is_shown_without_bounds_and_still_held_to_them() {
    #[derive(Deserialize, JsonSchema)]
    struct Bounded {
        /// How many.
        #[schemars(range(max = 9))]
        minimum: u32,
    }
    let strict = || {
        tool("Small", "").card(Card::strict).run(async |it: Bounded, _| Ok(it.minimum.to_string()))
    };
    assert_eq!(
        published([strict()], Deferral::Off)[0],
        json!({"name": "Small", "strict": true, "input_schema": {
            "type": "object",
            "properties": {"minimum": {"type": "integer", "description": "How many."}},
            "required": ["minimum"],
            "additionalProperties": false,
        }})
    );
    let tools = Registry::new([strict()]).unwrap();
    let call = toolwright_contract::ToolUse::new("c0", "Small", json!({"minimum": 10}));
    assert!(matches!(call.screen(&tools), toolwright_contract::Screening::Failed(..)));
}

#[test]
fn a_strict_tool_whose_input_is_open_is_refused_with_the_remedy() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its shape counts")]
    struct Open {
        values: std::collections::BTreeMap<String, String>,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its shape counts")]
    struct Tree {
        below: Vec<Tree>,
    }
    let told = [
        tool("Small", "").card(Card::strict).run(async |_: Open, _| Ok("")),
        tool("Small", "").card(Card::strict).run(async |_: Tree, _| Ok("")),
    ]
    .map(|it| Registry::new([it]).unwrap_err().to_string());
    insta::assert_snapshot!(told.join("\n"), @"
    the tool `Small` asks for `strict`, but an object of its input takes fields that it doesn't name; leave `strict` out of its card, or change its input
    the tool `Small` asks for `strict`, but its input holds itself, or a part of it is described by `$ref`; leave `strict` out of its card, or change its input
    ");
}

#[test]
fn a_description_from_outside_is_cut_and_an_own_one_is_not() {
    let long = "é".repeat(OUTSIDE_DESCRIPTION_CHARS + 1);
    for (origin, chars) in [
        (Origin::BuiltIn, OUTSIDE_DESCRIPTION_CHARS + 1),
        (Origin::Mcp { server: "s".into(), tool: "t".into() }, OUTSIDE_DESCRIPTION_CHARS + 1),
    ] {
        let is_outside = origin.is_outside();
        let card = Card::new("Long", long.clone()).origin(origin);
        let list = published([AnyTool::new(Outside(card))], Deferral::Off);
        let shown = list[0]["description"].as_str().unwrap();
        assert_eq!((shown.chars().count(), shown.ends_with('…')), (chars, is_outside));
    }
}

#[test]
fn what_the_api_would_refuse_is_not_published_and_told() {
    let tools =
        Registry::unpublished([AnyTool::new(Outside(Card::new("my tool", ""))), small(|it| it)]);
    let (tools, mut list) = (tools.unwrap(), ToolList::new(&Registry::default(), Deferral::Off));
    let (added, unpublished) = (vec!["Small".to_owned()], vec!["my tool".to_owned()]);
    assert_eq!(list.follow(&tools), Drift { added, unpublished, ..Drift::default() });
}

#[test]
fn no_more_tools_are_published_than_a_request_may_have() {
    let named = |n: usize| AnyTool::new(Outside(Card::new(format!("t{n}"), "")));
    let tools = Registry::unpublished((0..MOST_TOOLS + 2).map(named)).unwrap();
    let mut list = ToolList::new(&tools, Deferral::Off);
    assert_eq!(list.definitions().count(), MOST_TOOLS);
    assert_eq!(list.follow(&tools).unpublished, ["t10000", "t10001"]);
}

#[test]
fn flags_modes_rules_and_reconnects_change_no_byte() {
    let world = World::new();
    let mut list = ToolList::new(&world.pool(), Deferral::Honoured);
    let before = bytes(&list);
    let names = |it: &[&str]| it.iter().map(ToString::to_string).collect::<Vec<_>>();
    let missing = |it: &[&str]| Drift { missing: names(it), ..Drift::default() };
    let mut reversed = world.servers.clone();
    reversed.reverse();
    let only = Some(std::iter::once("Look".to_owned()).collect());
    let (flag, off) = (Arc::new(AtomicBool::new(true)), vec![outside("open", "id")]);
    let changed = vec![outside("find", "other"), outside("open", "id")];
    for (what, world, drift) in [
        ("nothing", world.clone(), Drift::default()),
        (
            "a server's tools in another order",
            World { servers: reversed, ..world.clone() },
            Drift::default(),
        ),
        ("a server that went", World { servers: off, ..world.clone() }, missing(&["mcp__s__find"])),
        (
            "all that went",
            World { servers: vec![], ..world.clone() },
            missing(&["mcp__s__find", "mcp__s__open"]),
        ),
        ("a server that came back", world.clone(), Drift::default()),
        (
            "a server that came back changed",
            World { servers: changed, ..world.clone() },
            Drift { changed: names(&["mcp__s__find"]), ..Drift::default() },
        ),
        (
            "a flag",
            World { flag, ..world.clone() },
            Drift { changed: names(&["Look"]), ..missing(&["Watch"]) },
        ),
        (
            "a gate",
            World { gates: Gates { only, ..Gates::default() }, ..world.clone() },
            missing(&["Watch"]),
        ),
        ("a rule", World { denied: vec!["Watch"], ..world.clone() }, missing(&["Watch"])),
    ] {
        assert_eq!(list.follow(&world.pool()), drift, "{what}");
        assert_eq!(bytes(&list), before, "{what}");
    }
}

#[test]
fn what_is_new_comes_after_all_that_was_published_and_stays_there() {
    let mut world = World::new();
    let mut list = ToolList::new(&world.pool(), Deferral::Honoured);
    let before = head(&list);
    world.gates.mode = PermissionMode::Plan;
    world.servers.insert(0, outside("aim", "at"));
    assert_eq!(list.follow(&world.pool()).added, ["EndPlan", "mcp__s__aim"]);
    let after = bytes(&list);
    assert!(after.starts_with(&before) && after.len() > before.len());
    world.gates.mode = PermissionMode::Default;
    list.follow(&world.pool());
    assert_eq!(bytes(&list), after);
}

#[test]
fn only_to_begin_anew_changes_what_was_published() {
    let mut world = World::new();
    let mut list = ToolList::new(&world.pool(), Deferral::Honoured);
    world.servers.clear();
    list.renew(&world.pool(), Deferral::Off);
    assert_eq!(bytes(&list), bytes(&ToolList::new(&world.pool(), Deferral::Off)));
}

#[test]
fn two_sessions_with_the_same_tools_publish_the_same_bytes() {
    let list = || bytes(&ToolList::new(&World::new().pool(), Deferral::Honoured));
    assert_eq!(list(), list());
}

/// Which servers are there at each request, under which schema and in which order.
fn requests() -> impl Strategy<Value = Vec<Vec<(u8, bool)>>> {
    let servers = prop::collection::vec((0..6_u8, any::<bool>()), 0..6);
    prop::collection::vec(servers, 1..8)
}

proptest! {
    #[test]
    fn whatever_comes_and_goes_each_request_begins_with_the_bytes_of_the_last(
        requests in requests(),
        honoured in any::<bool>(),
    ) {
        let deferral = if honoured { Deferral::Honoured } else { Deferral::Off };
        let pool = |servers: &[(u8, bool)]| {
            let tools = servers.iter().map(|(n, other)| {
                outside(&format!("t{n}"), if *other { "b" } else { "a" })
            });
            Pool::assemble(tools, &Gates::default(), |_| false).registry
        };
        let mut list = ToolList::new(&pool(&requests[0]), deferral);
        for servers in &requests {
            let (before, pool) = (head(&list), pool(servers));
            list.follow(&pool);
            let after = bytes(&list);
            prop_assert!(after.starts_with(&before));
            let names: Vec<Value> = serde_json::from_str(&after).unwrap();
            let names: Vec<&str> = names.iter().map(|it| it["name"].as_str().unwrap()).collect();
            for tool in pool.iter() {
                let name = &*tool.card().name;
                prop_assert_eq!(names.iter().filter(|it| **it == name).count(), 1);
                prop_assert!(check_name(name, 64).is_ok());
            }
        }
    }
}
