//! A session's log that only cares for starts, and leaves them to a test.

use futures::future::BoxFuture;
use toolwright::{Came, HandOut, KeptResult, SessionLog, StartAck, StartRecord};
use toolwright_contract::Event;

/// Calls this with each start; all else counts as written.
pub struct OnStart<F>(pub F);

impl<F: Fn(StartRecord, StartAck) + Send + Sync + 'static> SessionLog for OnStart<F> {
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn came(&self, _: Came<'_>) {}

    fn event(&self, _: &Event) {}

    fn emitted(&self, _: &Event, out: HandOut) {
        drop(out);
    }

    fn start(&self, record: StartRecord, ack: StartAck) {
        (self.0)(record, ack);
    }

    fn kept(&self, kept: KeptResult) {
        kept.written();
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
