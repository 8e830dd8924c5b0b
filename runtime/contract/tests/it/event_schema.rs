//! The event schema on disk: a change must be seen here, and raise the version if readers break.

use toolwright_contract::{
    CascadeName, EVENT_VERSION, Event, EventKind, HowEnded, RefusalName, StageName, StopName,
    VerdictName,
};

use crate::script::history;

/// One event of each kind, in the order of the schema.
const ONE_OF_EACH: &str = "open; t1: open never parent=c0; read 0; dup c0; gate 0; ask 0 1; \
    withdraw 1; clear 0 write; refuse 0; log 0; start 0; say 0; notify 0; lend 0; resume 0; \
    stop 0 user; stop 0 sibling=1; fail 0; overdue 0; gone 0; change 0; change 0 ignored; \
    store 0; emit 0 ok; seal; finish 1; lose; stall 0";

fn as_lines(events: &[Event]) -> Result<String, serde_json::Error> {
    events.iter().map(|it| Ok(serde_json::to_string(it)? + "\n")).collect()
}

#[test]
fn each_kind_of_event_is_written_as_it_always_was() {
    insta::assert_snapshot!(as_lines(&history(ONE_OF_EACH)).unwrap(), @r#"
    {"seq":0,"at_us":0,"turn":0,"event":"turn_opened","version":1,"parent":null,"cascade":"declared","width":2}
    {"seq":1,"at_us":10,"turn":1,"event":"turn_opened","version":1,"parent":"c0","cascade":"never","width":2}
    {"seq":2,"at_us":20,"turn":0,"event":"accepted","call":0,"id":"c0","tool":"Tool","exclusive":false,"read_only":true}
    {"seq":3,"at_us":30,"turn":0,"event":"duplicate","id":"c0"}
    {"seq":4,"at_us":40,"turn":0,"event":"gated","call":0}
    {"seq":5,"at_us":50,"turn":0,"event":"asking","call":0,"request":1}
    {"seq":6,"at_us":60,"turn":0,"event":"withdrawn","request":1}
    {"seq":7,"at_us":70,"turn":0,"event":"cleared","call":0,"exclusive":true,"read_only":false}
    {"seq":8,"at_us":80,"turn":0,"event":"refused","call":0,"why":"denied"}
    {"seq":9,"at_us":90,"turn":0,"event":"logged","call":0}
    {"seq":10,"at_us":100,"turn":0,"event":"started","call":0}
    {"seq":11,"at_us":110,"turn":0,"event":"progressed","call":0,"text":"working"}
    {"seq":12,"at_us":120,"turn":0,"event":"notified","call":0,"text":"take note"}
    {"seq":13,"at_us":130,"turn":0,"event":"lent","call":0}
    {"seq":14,"at_us":140,"turn":0,"event":"resumed","call":0}
    {"seq":15,"at_us":150,"turn":0,"event":"stopping","call":0,"cause":"user","culprit":null}
    {"seq":16,"at_us":160,"turn":0,"event":"stopping","call":0,"cause":"sibling","culprit":1}
    {"seq":17,"at_us":170,"turn":0,"event":"returned","call":0,"verdict":"error","cascades":true}
    {"seq":18,"at_us":180,"turn":0,"event":"overdue","call":0}
    {"seq":19,"at_us":190,"turn":0,"event":"gone","call":0}
    {"seq":20,"at_us":200,"turn":0,"event":"context_changed","call":0,"ignored":null}
    {"seq":21,"at_us":210,"turn":0,"event":"context_changed","call":0,"ignored":"not alone"}
    {"seq":22,"at_us":220,"turn":0,"event":"stored","call":0,"spilled":null}
    {"seq":23,"at_us":230,"turn":0,"event":"emitted","call":0,"id":"c0","ended":"ok","is_error":false}
    {"seq":24,"at_us":240,"turn":0,"event":"sealed"}
    {"seq":25,"at_us":250,"turn":0,"event":"turn_finished","calls":1}
    {"seq":26,"at_us":260,"turn":0,"event":"stage_failed","stage":"scheduler","why":"it panicked","restarted":false}
    {"seq":27,"at_us":270,"turn":0,"event":"stalled","call":0,"for_ms":500}
    "#);
}

#[test]
fn each_kind_of_event_is_read_as_it_was_written() {
    for event in history(ONE_OF_EACH) {
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), event, "{json}");
    }
}

/// What serde says of an unknown variant names all that it knows.
fn variants<T: serde::de::DeserializeOwned>(unknown: &str) -> String {
    serde_json::from_str::<T>(unknown).err().map(|it| it.to_string()).unwrap_or_default()
}

#[test]
fn a_new_variant_is_noticed() {
    assert_eq!(EVENT_VERSION, 1);
    let lists = [
        variants::<EventKind>(r#"{"event":"?"}"#),
        variants::<CascadeName>(r#""?""#),
        variants::<HowEnded>(r#""?""#),
        variants::<RefusalName>(r#""?""#),
        variants::<StageName>(r#""?""#),
        variants::<StopName>(r#""?""#),
        variants::<VerdictName>(r#""?""#),
    ];
    insta::assert_snapshot!(lists.join("\n"), @"
    unknown variant `?`, expected one of `turn_opened`, `accepted`, `duplicate`, `gated`, `asking`, `withdrawn`, `cleared`, `refused`, `logged`, `started`, `progressed`, `notified`, `lent`, `resumed`, `stopping`, `returned`, `overdue`, `gone`, `context_changed`, `stored`, `emitted`, `sealed`, `turn_finished`, `stage_failed`, `stalled` at line 1 column 12
    unknown variant `?`, expected one of `never`, `declared`, `any` at line 1 column 3
    unknown variant `?`, expected one of `ok`, `error`, `crashed`, `refused`, `stopped_not_started`, `stopped_may_have_run` at line 1 column 3
    unknown variant `?`, expected one of `unknown_tool`, `invalid_input`, `denied`, `stage_failed`, `unrecorded` at line 1 column 3
    unknown variant `?`, expected one of `scheduler`, `hooks`, `permissions`, `store`, `journal`, `host` at line 1 column 3
    unknown variant `?`, expected one of `sibling`, `user`, `deadline`, `discarded`, `shutdown`, `too_many_calls` at line 1 column 3
    unknown variant `?`, expected one of `ok`, `error`, `crashed`, `stopped` at line 1 column 3
    ");
    let known = lists[0].matches("`").count() / 2 - 1;
    let mut sampled: Vec<_> =
        history(ONE_OF_EACH).iter().map(|it| std::mem::discriminant(&it.kind)).collect();
    sampled.dedup();
    // The first two are openings, and no other kind comes back after another.
    assert_eq!(sampled.len(), known, "each kind has a sample");
}
