//! The supervisor: starts stages, also again, and answers for schedulers that die.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, SpawnErr, SupervisionEvent};
use tokio::time::Instant;
use toolwright_contract::StageName;

use super::house::House;
use crate::hooks::{Hooks, HooksArgs};
use crate::limits::{LET_GO, RESTART_WINDOW, RESTARTS};
use crate::permissions::{Permissions, PermissionsArgs};
use crate::store::{Store, StoreArgs};

/// The supervisor of one session. It can be told nothing; it hears of the ends of its children.
pub(crate) struct Supervisor;

/// What it is started with.
pub(crate) struct SupervisorArgs {
    pub(crate) house: Arc<House>,
    pub(crate) hooks: HooksArgs,
    pub(crate) permissions: PermissionsArgs,
    pub(crate) store: StoreArgs,
}

/// What it remembers.
pub(crate) struct State {
    args: SupervisorArgs,
    failures: HashMap<StageName, VecDeque<Instant>>,
}

impl Actor for Supervisor {
    type Msg = ();
    type State = State;
    type Arguments = SupervisorArgs;

    async fn pre_start(
        &self,
        me: ActorRef<()>,
        args: SupervisorArgs,
    ) -> Result<State, ActorProcessingErr> {
        let state = State { args, failures: HashMap::new() };
        for stage in [StageName::Store, StageName::Permissions, StageName::Hooks] {
            state.start(stage, me.get_cell()).await?;
        }
        Ok(state)
    }

    /// The schedulers first: one that is at work while somebody else answers for its turn would
    /// tell things of a turn that is over. The stop of this actor is told only after this.
    async fn post_stop(
        &self,
        me: ActorRef<()>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        me.stop_children_and_wait(None, Some(LET_GO)).await;
        state.bury_all();
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        me: ActorRef<()>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match event {
            SupervisionEvent::ActorFailed(cell, why) => {
                state.ended(me.get_cell(), &cell, why.to_string()).await;
            }
            SupervisionEvent::ActorTerminated(cell, _, _) => {
                state.ended(me.get_cell(), &cell, "it was stopped".to_owned()).await;
            }
            SupervisionEvent::ActorStarted(_) | SupervisionEvent::ProcessGroupChanged(_) => {}
        }
        Ok(())
    }
}

impl State {
    async fn start(&self, stage: StageName, me: ActorCell) -> Result<(), SpawnErr> {
        let house = &self.args.house;
        match stage {
            StageName::Hooks => {
                let args = self.args.hooks.clone();
                let (actor, _) = Hooks::spawn_linked(None, Hooks, args, me).await?;
                house.hooks.move_to(Some(actor));
            }
            StageName::Permissions => {
                let args = self.args.permissions.clone();
                let (actor, _) = Permissions::spawn_linked(None, Permissions, args, me).await?;
                house.permissions.move_to(Some(actor));
            }
            StageName::Store => {
                let args = self.args.store.clone();
                let (actor, _) = Store::spawn_linked(None, Store, args, me).await?;
                house.store.move_to(Some(actor));
            }
            // One a turn, started by the turn; the others are not the session's to start.
            StageName::Scheduler | StageName::Host | StageName::Journal => {}
        }
        Ok(())
    }

    async fn ended(&mut self, me: ActorCell, cell: &ActorCell, why: String) {
        let house = self.args.house.clone();
        let stage = if house.hooks.is_at(cell) {
            StageName::Hooks
        } else if house.permissions.is_at(cell) {
            StageName::Permissions
        } else if house.store.is_at(cell) {
            StageName::Store
        } else {
            return self.scheduler_ended(cell, &why);
        };
        if house.is_closed() {
            return;
        }
        let restart = self.may_restart(stage);
        match stage {
            StageName::Hooks => house.hooks.move_to(None),
            StageName::Permissions => house.permissions.move_to(None),
            StageName::Store => house.store.move_to(None),
            StageName::Scheduler | StageName::Host | StageName::Journal => {}
        }
        let restarted = restart && self.start(stage, me).await.is_ok();
        house.stage_failed(stage, &why, restarted);
    }

    /// Within limits: a stage that fails at everything is not started for ever.
    fn may_restart(&mut self, stage: StageName) -> bool {
        let failures = self.failures.entry(stage).or_default();
        let now = Instant::now();
        failures.retain(|it| now.duration_since(*it) < RESTART_WINDOW);
        failures.push_back(now);
        failures.len() <= RESTARTS
    }

    fn scheduler_ended(&self, cell: &ActorCell, why: &str) {
        let turn = self.args.house.turns().remove(&cell.get_id());
        if let Some(turn) = turn {
            self.args.house.bury(&turn, why);
        }
    }

    /// Nobody waits for a turn whose session is gone.
    fn bury_all(&self) {
        let turns = std::mem::take(&mut *self.args.house.turns());
        for turn in turns.values() {
            self.args.house.bury(turn, "the session has ended");
        }
    }
}

impl Drop for State {
    /// For a supervisor that was killed, or whose runtime has gone.
    fn drop(&mut self) {
        self.bury_all();
    }
}
