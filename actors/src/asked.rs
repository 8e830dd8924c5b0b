//! How long a call and the calls below it have waited for a person: that is no time of theirs.
//!
//! A question about a nested call holds up every call above it, and a deadline must not pass
//! meanwhile. So each call with a deadline has a count of the open questions below it, linked to
//! that of the call above.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// The open questions about the calls below a call, and below those.
#[derive(Debug)]
pub(crate) struct Asked {
    open: watch::Sender<usize>,
    above: Option<Arc<Self>>,
}

impl Asked {
    /// The count of a call in a turn whose questions hold up `above`.
    pub(crate) fn below(above: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self { open: watch::Sender::new(0), above })
    }

    /// Ends when this much time has passed in which no question was open. Safe to drop.
    pub(crate) async fn spend(&self, time: Duration) {
        let mut open = self.open.subscribe();
        let mut left = time;
        // The sender is here, so that neither wait can fail.
        while open.wait_for(|it| *it == 0).await.is_ok() {
            let began = Instant::now();
            if timeout(left, open.wait_for(|it| *it > 0)).await.is_err() {
                return;
            }
            left = left.saturating_sub(began.elapsed());
        }
    }

    fn count(&self, change: impl Fn(&mut usize)) {
        let mut at = Some(self);
        while let Some(it) = at {
            it.open.send_modify(&change);
            at = it.above.as_deref();
        }
    }
}

/// A question that is open; dropped, it is not.
#[derive(Debug)]
pub(crate) struct OpenQuestion(Option<Arc<Asked>>);

impl OpenQuestion {
    /// Opens a question about a call of a turn whose questions hold up `above`.
    pub(crate) fn about(above: Option<Arc<Asked>>) -> Self {
        if let Some(asked) = &above {
            asked.count(|open| *open += 1);
        }
        Self(above)
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if let Some(asked) = &self.0 {
            asked.count(|open| *open -= 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::future::poll_immediate;
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A question from one millisecond on, for some; about a call of the call, or deeper down.
    type Interval = (bool, u32, u32);

    fn is_open(&(_, from, lasts): &Interval, at: u32) -> bool {
        (from..from + lasts).contains(&at)
    }

    /// How many milliseconds `time` takes while questions come and go.
    fn spent(time: u32, questions: &[Interval]) -> u32 {
        let mut clock = tokio::runtime::Builder::new_current_thread();
        let runtime = clock.enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let call = Asked::below(None);
            let nested = Asked::below(Some(call.clone()));
            let mut open: Vec<_> = questions.iter().map(|_| None).collect();
            let mut spending = pin!(call.spend(time * MS));
            for at in 0.. {
                for (slot, question) in open.iter_mut().zip(questions) {
                    let above = if question.0 { &nested } else { &call };
                    let now = is_open(question, at);
                    let slot: &mut Option<OpenQuestion> = slot;
                    match slot {
                        None if now => *slot = Some(OpenQuestion::about(Some(above.clone()))),
                        Some(_) if !now => *slot = None,
                        None | Some(_) => {}
                    }
                }
                if poll_immediate(&mut spending).await.is_some() {
                    return at;
                }
                tokio::time::advance(MS).await;
            }
            unreachable!("the time is over before the numbers are")
        })
    }

    /// The same by counting the milliseconds in which none is open.
    fn counted(time: u32, questions: &[Interval]) -> u32 {
        let mut left = time;
        let mut at = 0;
        loop {
            let open = questions.iter().any(|it| is_open(it, at));
            if left == 0 && !open {
                return at;
            }
            left -= u32::from(!open);
            at += 1;
        }
    }

    #[test]
    fn time_without_a_question_is_spent_as_it_passes() {
        assert_eq!(spent(100, &[]), 100);
        assert_eq!(spent(0, &[]), 0);
    }

    proptest! {
        #[test]
        fn time_in_which_any_question_is_open_is_not_spent(
            time in 1..200_u32,
            questions in prop::collection::vec((any::<bool>(), 1..300_u32, 1..100_u32), 0..8),
        ) {
            prop_assert_eq!(spent(time, &questions), counted(time, &questions));
        }
    }

    #[tokio::test]
    async fn a_question_about_a_nested_call_is_open_for_all_above_it_and_for_none_beside_it() {
        let call = Asked::below(None);
        let (nested, beside) = (Asked::below(Some(call.clone())), Asked::below(Some(call.clone())));
        let now = || [&call, &nested, &beside].map(|it| *it.open.borrow());
        let first = OpenQuestion::about(Some(nested.clone()));
        assert_eq!(now(), [1, 1, 0]);
        let second = OpenQuestion::about(Some(call.clone()));
        assert_eq!(now(), [2, 1, 0]);
        drop(first);
        assert_eq!(now(), [1, 0, 0]);
        drop(second);
        assert_eq!(now(), [0, 0, 0]);
    }
}
