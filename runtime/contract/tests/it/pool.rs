//! The pool: which tools a session offers, in which order, under which names.

use toolwright_contract::{AnyTool, Card, Loading, Origin, Output, Pool, RunCx, Tool, ToolError};

#[derive(Clone, Default)]
struct Named {
    name: &'static str,
    alias: Option<&'static str>,
    outside: bool,
    off: bool,
    panics: bool,
}

impl Tool for Named {
    type Input = serde_json::Value;
    type Output = String;

    fn card(&self) -> Card {
        let server = || Origin::Mcp { server: "s".into(), tool: self.name.into() };
        let origin = if self.outside { server() } else { Origin::BuiltIn };
        let card = Card::new(self.name, "A name.").origin(origin);
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
    let tools = tools.iter().cloned().map(AnyTool::new);
    Pool::assemble(tools, |card| denied.contains(&&*card.name))
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
    assert_eq!((names(&pool), pool.dropped), (vec!["a".into(), "b".into()], vec!["a".into()]));
}

#[test]
fn a_former_name_that_is_taken_is_left_out_and_its_tool_stays() {
    let old = Named { alias: Some("a"), ..named("b") };
    let pool = assemble(&[named("a"), old], &[]);
    assert_eq!(
        (names(&pool), &*pool.dropped),
        (vec!["a".into(), "b".into()], &["a".to_owned()][..])
    );
    assert_eq!(pool.registry.get("a").unwrap().card().name, "a");
}

#[test]
fn what_is_denied_or_switched_off_is_not_offered() {
    let off = Named { off: true, ..named("b") };
    let broken = Named { panics: true, ..named("c") };
    assert_eq!(names(&assemble(&[named("a"), off, broken, named("d")], &["d"])), ["a"]);
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
