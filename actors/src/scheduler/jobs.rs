//! The tasks before and after a tool's run, each with the answer that it owes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use toolwright_contract::{CallIx, CheckCx, EventKind, Outcome, Refusal, Screened, Stop};

use crate::asked::Asked;
use crate::hooks::{HooksMsg, Wish};
use crate::inbox::{Inbox, News, Timer};
use crate::limits::CONTEXT_CHANGE;
use crate::owed::{Gate, Owed};
use crate::papers::{AfterJob, GateJob, check};
use crate::session::{House, Lineage};
use crate::shares::Claim;

/// Gates a call: waits for its share, lets the tool look at the world, and
/// hands the call on to the hooks.
pub(super) async fn gate(
    house: Arc<House>,
    lineage: Lineage,
    (screened, share): (Box<Screened>, Claim),
    stop: Stop,
    mut owed: Owed<Gate>,
) {
    let cx = CheckCx {
        session: house.context.now(),
        reads: house.reads.clone(),
        state: house.state.clone(),
        stop: stop.clone(),
    };
    let passed = stop
        .or(async {
            let card = screened.tool().card();
            let share = share.share(house.wait_of(card), || owed.late()).await;
            check(&screened, &cx).await.map(|()| share)
        })
        .await;
    let share = match passed {
        Ok(Ok(share)) => share,
        Ok(Err((why, text))) => return owed.refuse(why, text),
        // The kernel tells the call as stopped, whatever is said here.
        Err(_) => return owed.refuse(Refusal::Denied, String::new()),
    };
    let turn = lineage.turn;
    let notes = Vec::new();
    owed.held_by("hook");
    let (check, wish, found, consent) = (cx, Wish::None, None, None);
    let job = GateJob { turn, screened, check, wish, found, consent, notes, share, owed };
    house.hooks.cast(HooksMsg::Before(Box::new(job)));
}

/// Wakes the scheduler when a time is over.
pub(super) async fn timer(inbox: Arc<Inbox>, ix: CallIx, after: Duration, timer: Timer) {
    tokio::time::sleep(after).await;
    inbox.push(ix, News::Late(timer));
}

/// Wakes the scheduler when a call's time to run is over. While a person is asked about a call
/// below it, no time passes.
pub(super) async fn deadline_timer(
    inbox: Arc<Inbox>,
    ix: CallIx,
    after: Duration,
    asked: Arc<Asked>,
) {
    asked.spend(after).await;
    inbox.push(ix, News::Late(Timer::Deadline));
}

/// Changes the session's context, then hands the result on. The result stands whatever becomes
/// of the change.
pub(super) async fn change_context(
    house: Arc<House>,
    lineage: Lineage,
    ix: CallIx,
    outcome: Box<Outcome>,
    job: Box<AfterJob>,
) {
    if let Some(change) = outcome.change {
        let claimed = Arc::new(AtomicBool::new(false));
        let (context, claim) = (house.clone(), claimed.clone());
        let changing = house.crew.spawn_blocking(move || context.context.change(change, &claim));
        let ignored = match tokio::time::timeout(CONTEXT_CHANGE, changing).await {
            Ok(Ok(made)) => made.err(),
            Ok(Err(_)) => Some("it crashed".to_owned()),
            // Unless it is made by now.
            Err(_) => {
                (!claimed.swap(true, Ordering::AcqRel)).then(|| "it took too long".to_owned())
            }
        };
        tell_change(&house, lineage, ix, ignored);
    }
    house.hooks.cast(HooksMsg::After(job));
}

pub(super) fn tell_change(house: &House, lineage: Lineage, ix: CallIx, ignored: Option<String>) {
    if let Some(why) = &ignored {
        tracing::warn!(call = ix.0, why, "a change of the session's context was left out");
    }
    house.bus.emit(lineage.turn, || EventKind::ContextChanged { call: ix.0, ignored });
}
