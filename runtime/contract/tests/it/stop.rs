//! A stop is told once, and its first cause is the one that counts.

use toolwright_contract::{CallIx, Stop, StopCause, ToolError};

#[test]
fn only_the_first_cause_counts_and_clones_share_it() {
    let stop = Stop::default();
    let held_by_the_tool = stop.clone();
    assert_eq!((held_by_the_tool.is_told(), held_by_the_tool.cause()), (false, None));
    stop.tell(StopCause::Sibling(CallIx(2)));
    held_by_the_tool.tell(StopCause::User);
    for it in [stop, held_by_the_tool] {
        assert_eq!((it.is_told(), it.cause()), (true, Some(StopCause::Sibling(CallIx(2)))));
    }
}

#[tokio::test]
async fn work_is_dropped_when_the_stop_comes_first() {
    let stop = Stop::default();
    stop.tell(StopCause::Deadline);
    let never_polled = async { unreachable!("the stop has been told before") };
    assert_eq!(stop.or::<()>(never_polled).await, Err(ToolError::Stopped));
}

#[tokio::test]
async fn work_that_ends_first_gives_its_value() {
    assert_eq!(Stop::default().or(async { 7 }).await, Ok(7));
}

#[tokio::test]
async fn who_waits_for_the_stop_is_woken_by_it() {
    let stop = Stop::default();
    let told = stop.clone();
    tokio::join!(stop.told(), async move { told.tell(StopCause::User) });
    assert_eq!(stop.cause(), Some(StopCause::User));
}
