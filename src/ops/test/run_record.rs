//! The record of an apply on the disk: a journal beside the state that it changes.

use std::sync::Arc;

use async_trait::async_trait;
use backend::JournaledState;
use base::diag::{Diagnostic, Diagnostics};
use engine::ports::{Ports, StateSink};
use model::addr::{AbsProviderConfig, AbsResourceInstance};
use model::config::test_file::TestRun;
use model::state::journal::ActionPhase;
use model::state::{CheckResult, DeposedKey, Instance, OutputValue, State};

use super::context::FileContext;
use super::{isolation, kept};
use crate::run::sink::{JournalSink, NoSink};

/// Ports that record an apply on the disk, unless nothing outside is touched.
pub struct RunRecord {
    pub ports: Ports,
    journal: Option<Arc<JournaledState>>,
}

impl RunRecord {
    pub async fn of(
        context: &FileContext<'_>,
        run: &TestRun,
        key: &str,
        ports: &Ports,
    ) -> Result<RunRecord, Diagnostics> {
        let journal = match context.backends.store(key) {
            Some(store) => context.suite.kept.journal_in(&store).await?,
            None if isolation::is_made_up(context.file, run, &context.suite.config) => {
                return Ok(RunRecord { ports: ports.clone(), journal: None });
            }
            None => context.suite.kept.journal(&context.file.name, key, context.outside_variables).await?,
        };
        let sink = Arc::new(JournalSink(journal.clone()));
        Ok(RunRecord { ports: Ports { sink, ..ports.clone() }, journal: Some(journal) })
    }

    /// Like [`RunRecord::of`], for a destroy. Deleting needs no record: without one, the kept state lists more than there is. So a full
    /// disk does not keep objects from being deleted. Also returns why there is no record.
    pub async fn of_destroy(
        context: &FileContext<'_>,
        run: &TestRun,
        key: &str,
        ports: &Ports,
    ) -> Result<(RunRecord, Diagnostics), Diagnostics> {
        match RunRecord::of(context, run, key, ports).await {
            Ok(record) => {
                let sink = Arc::new(DestroySink(record.ports.sink.clone()));
                Ok((RunRecord { ports: Ports { sink, ..record.ports }, ..record }, Diagnostics::new()))
            }
            // The state in a backend is written by its record only.
            Err(found) if context.backends.store(key).is_some() => Err(found),
            Err(found) => {
                let sink = Arc::new(NoSink);
                Ok((RunRecord { ports: Ports { sink, ..ports.clone() }, journal: None }, found))
            }
        }
    }

    /// Writes the state as it is now. Without one, what was recorded until then counts.
    pub async fn finish(self, state: Option<&State>) -> Option<Diagnostic> {
        self.journal?.finish(state).await.err().map(|error| kept::not_saved(&error))
    }
}

/// Records what a destroy deletes as far as it can be written. The state that is written at the end shows whether all of it was.
struct DestroySink(Arc<dyn StateSink>);

#[async_trait]
impl StateSink for DestroySink {
    async fn begin(&self, state: &State) -> Result<(), Diagnostics> {
        let _ = self.0.begin(state).await;
        Ok(())
    }

    async fn started(&self, addr: &AbsResourceInstance, deposed: Option<&DeposedKey>) -> Result<(), Diagnostics> {
        let _ = self.0.started(addr, deposed).await;
        Ok(())
    }

    async fn finished(
        &self,
        addr: &AbsResourceInstance,
        provider: &AbsProviderConfig,
        instance: &Instance,
    ) -> Result<(), Diagnostics> {
        let _ = self.0.finished(addr, provider, instance).await;
        Ok(())
    }

    async fn actions(
        &self,
        caller: &AbsResourceInstance,
        actions: &[String],
        phase: ActionPhase,
    ) -> Result<(), Diagnostics> {
        let _ = self.0.actions(caller, actions, phase).await;
        Ok(())
    }

    /// Outputs stay: a later cleanup may need them.
    async fn output(&self, _name: &str, _value: Option<&OutputValue>) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn checks(&self, checks: Option<&[CheckResult]>) {
        self.0.checks(checks);
    }
}
