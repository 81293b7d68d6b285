//! Writes the engine's results to the journal.

use std::sync::Arc;

use async_trait::async_trait;
use backend::JournaledState;
use base::diag::Diagnostics;
use engine::ports::StateSink;
use model::addr::{AbsProviderConfig, AbsResourceInstance};
use model::state::journal::ActionPhase;
use model::state::{CheckResult, DeposedKey, Instance, OutputValue, State};

/// Keeps what apply finishes in the journal beside the state.
pub struct JournalSink(pub Arc<JournaledState>);

#[async_trait]
impl StateSink for JournalSink {
    async fn begin(&self, state: &State) -> Result<(), Diagnostics> {
        self.0.begin(state).await
    }

    async fn started(&self, addr: &AbsResourceInstance, deposed: Option<&DeposedKey>) -> Result<(), Diagnostics> {
        self.0.started(addr, deposed).await
    }

    async fn finished(
        &self,
        addr: &AbsResourceInstance,
        provider: &AbsProviderConfig,
        instance: &Instance,
    ) -> Result<(), Diagnostics> {
        self.0.finished(addr, provider, instance).await
    }

    async fn actions(
        &self,
        caller: &AbsResourceInstance,
        actions: &[String],
        phase: ActionPhase,
    ) -> Result<(), Diagnostics> {
        self.0.actions(caller, actions, phase).await
    }

    async fn output(&self, name: &str, value: Option<&OutputValue>) -> Result<(), Diagnostics> {
        self.0.output(name, value).await
    }

    fn checks(&self, checks: Option<&[CheckResult]>) {
        self.0.checks(checks);
    }
}

/// For operations that change nothing: hears and forgets.
pub struct NoSink;

#[async_trait]
impl StateSink for NoSink {
    async fn begin(&self, _state: &State) -> Result<(), Diagnostics> {
        Ok(())
    }

    async fn started(&self, _addr: &AbsResourceInstance, _deposed: Option<&DeposedKey>) -> Result<(), Diagnostics> {
        Ok(())
    }

    async fn finished(
        &self,
        _addr: &AbsResourceInstance,
        _provider: &AbsProviderConfig,
        _instance: &Instance,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    async fn actions(
        &self,
        _caller: &AbsResourceInstance,
        _actions: &[String],
        _phase: ActionPhase,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    async fn output(&self, _name: &str, _value: Option<&OutputValue>) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn checks(&self, _checks: Option<&[CheckResult]>) {}
}
