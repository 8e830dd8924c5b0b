//! The pool: which tools a session offers, in which order, under which names.

use toolwright_contract::{
    AnyTool, Card, Gates, Loading, NameTaken, Origin, Output, PermissionMode, Pool, RunCx, Tool,
    ToolError,
};

#[derive(Clone, Default)]
struct Named {
    name: &'static str,
    alias: Option<&'static str>,
    outside: bool,
    server: &'static str,
    lsp: bool,
    off: bool,
    panics: bool,
    plans: bool,
}

impl Tool for Named {
    type Input = serde_json::Value;
    type Output = String;

    fn card(&self) -> Card {
        let origin = match (self.outside, self.lsp) {
            (true, _) => Origin::Mcp { server: self.server.into(), tool: self.name.into() },
            (false, true) => Origin::Lsp,
            (false, false) => Origin::BuiltIn,
        };
        let card = Card::new(self.name, "A name.").origin(origin);
        let card = if self.plans { card.only_in(&[PermissionMode::Plan]) } else { card };
        self.alias.into_iter().fold(card, Card::alias)
    }
    fn is_enabled(&self) -> bool {
        assert!(!self.panics, "asked whether it is enabled");
        !self.off
    }
    async fn run(&self, _: Self::Input, _: RunCx) -> Result<Output<String>, ToolError> {
        Ok(String::new().into())
    }
}

fn named(name: &'static str) -> Named {
    Named { name, ..Named::default() }
}

fn outside(name: &'static str) -> Named {
    Named { outside: true, ..named(name) }
}

fn assemble(tools: &[Named], denied: &[&str]) -> Pool {
    gated(tools, &Gates::default(), denied)
}

fn gated(tools: &[Named], gates: &Gates, denied: &[&str]) -> Pool {
    let tools = tools.iter().cloned().map(AnyTool::new);
    Pool::assemble(tools, gates, |card| denied.contains(&&*card.name))
}

fn left_out(pool: &Pool) -> String {
    pool.left_out.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn names(pool: &Pool) -> Vec<String> {
    pool.registry.iter().map(|it| it.card().name.to_string()).collect()
}

#[test]
fn built_in_tools_come_first_and_each_part_is_sorted_by_name() {
    let tools = [outside("b"), named("z"), outside("a"), named("c")];
    assert_eq!(names(&assemble(&tools, &[])), ["c", "z", "a", "b"]);
}

#[test]
fn the_order_in_which_tools_arrive_makes_no_difference() {
    let mut tools = [named("b"), outside("a"), named("d"), outside("c")];
    let there = names(&assemble(&tools, &[]));
    tools.reverse();
    assert_eq!(names(&assemble(&tools, &[])), there);
}

#[test]
fn of_two_with_one_name_the_built_in_one_stays() {
    let pool = assemble(&[outside("a"), named("a"), outside("b")], &[]);
    assert_eq!(names(&pool), ["a", "b"]);
    assert!(!pool.registry.get("a").unwrap().card().origin.is_outside());
    assert_eq!(pool.left_out, [NameTaken("a".into()).into()]);
}

#[test]
fn a_former_name_that_is_taken_is_left_out_and_its_tool_stays() {
    let old = Named { alias: Some("a"), ..named("b") };
    let pool = assemble(&[named("a"), old], &[]);
    assert_eq!(names(&pool), ["a", "b"]);
    assert_eq!(pool.left_out, [NameTaken("a".into()).into()]);
    assert_eq!(pool.registry.get("a").unwrap().card().name, "a");
}

#[test]
fn what_is_denied_or_switched_off_is_not_offered() {
    let off = Named { off: true, ..named("b") };
    let broken = Named { panics: true, ..named("c") };
    assert_eq!(names(&assemble(&[named("a"), off, broken, named("d")], &["d"])), ["a"]);
}

#[test]
fn of_two_outside_tools_with_one_name_the_same_stays_whichever_came_first() {
    let from = |server| Named { server, ..outside("a") };
    let stays = |tools: &[Named]| {
        let pool = assemble(tools, &[]);
        assert_eq!((names(&pool).len(), pool.left_out.len()), (1, 1));
        pool.registry.get("a").unwrap().card().origin.clone()
    };
    assert_eq!(stays(&[from("x"), from("y")]), stays(&[from("y"), from("x")]));
}

#[test]
fn a_tool_with_a_language_server_behind_it_is_one_of_the_built_in_ones() {
    let lsp = Named { lsp: true, ..named("c") };
    assert_eq!(names(&assemble(&[outside("a"), lsp, named("d")], &[])), ["c", "d", "a"]);
    assert!(!Card::new("c", "").origin(Origin::Lsp).is_deferred());
}

#[test]
fn a_gate_decides_which_built_in_tools_exist_and_lets_outside_ones_through() {
    let old = Named { alias: Some("former"), ..named("b") };
    let tools = [named("a"), old, named("c"), outside("d")];
    for (only, offered) in [
        (None, &["a", "b", "c", "d"][..]),
        (Some(&["a", "former", "nobody"][..]), &["a", "b", "d"]),
        (Some(&[]), &["d"]),
    ] {
        let only = only.map(|it| it.iter().map(ToString::to_string).collect());
        let gates = Gates { only, ..Gates::default() };
        assert_eq!(names(&gated(&tools, &gates, &[])), offered);
    }
}

#[test]
fn a_tool_of_one_mode_is_not_offered_in_another() {
    let tools = [named("a"), Named { plans: true, ..named("b") }];
    for (mode, offered) in [
        (PermissionMode::Plan, &["a", "b"][..]),
        (PermissionMode::Default, &["a"]),
        (PermissionMode::BypassPermissions, &["a"]),
    ] {
        let gates = Gates { mode, ..Gates::default() };
        assert_eq!(names(&gated(&tools, &gates, &[])), offered, "{mode:?}");
    }
}

#[test]
fn a_tool_that_can_not_be_published_is_left_out_alone_and_says_how_to_mend_it() {
    let pool = assemble(&[named("a"), outside("my tool"), named("c")], &[]);
    assert_eq!(names(&pool), ["a", "c"]);
    insta::assert_snapshot!(left_out(&pool), @"`my tool` can't name a tool: use 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`");
}

#[test]
fn outside_tools_are_deferred_unless_they_say_otherwise() {
    let mcp = Origin::Mcp { server: "s".into(), tool: "t".into() };
    let card = |origin: &Origin, loading| {
        Card::new("a", "").origin(origin.clone()).loading(loading).is_deferred()
    };
    for (loading, built_in, from_server) in [
        (Loading::Usual, false, true),
        (Loading::Always, false, false),
        (Loading::Deferred, true, true),
    ] {
        let deferred = (card(&Origin::BuiltIn, loading), card(&mcp, loading));
        assert_eq!(deferred, (built_in, from_server), "{loading:?}");
    }
}
