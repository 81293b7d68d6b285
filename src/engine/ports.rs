//! The engine's access to the outside.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base::diag::Diagnostics;
use base::files::Files;
use base::moment::Moment;
use base::stop::Stop;
use model::addr::{self, AbsProviderConfig, AbsResourceInstance};
use model::state::journal::ActionPhase;
use model::state::{CheckResult, DeposedKey, Instance, OutputValue, State};
use terrane_protocol::provider::{Provider, ProviderDiagnostics, Provisioner};
use terrane_protocol::schema::ProviderSchemas;
use terrane_value::Value;
use tokio::sync::Semaphore;

use super::coverage::Coverage;
use super::event::Event;
use super::mock::TestDoubles;

/// The ports, as one value that every verb takes.
#[derive(Clone)]
pub struct Ports {
    pub providers: Arc<dyn Providers>,
    pub observer: Arc<dyn Observer>,
    pub sink: Arc<dyn StateSink>,
    pub host: Arc<dyn Host>,
    /// Running, stopping or killed; the engine starts nothing once stopping.
    pub stop: Stop,
    /// What tests put in the place of what is outside; nothing in other commands.
    pub doubles: Arc<TestDoubles>,
    /// Records what plans and applies evaluate; none outside of tests.
    pub coverage: Option<Arc<Coverage>>,
    /// Shared by walks that go on side by side: a permit per step that may run now. None: each walk has its own ones, as many as its
    /// parallelism.
    pub turns: Option<Arc<Semaphore>>,
}

/// How a provider process is configured.
#[derive(Clone, Copy, Debug)]
pub struct Configuring {
    /// The process may serve a later walk of the same command.
    pub reusable: bool,
    /// Passed on to the provider.
    pub deferral_allowed: bool,
}

/// Plugins. Errors are diagnostics that name the plugin.
#[async_trait]
pub trait Providers: Send + Sync {
    /// The provider's schemas; from a cache where one may be used. Cheap when asked again in the same command: static facts are
    /// reused if it gives the same value.
    async fn schemas(&self, provider: &addr::Provider) -> Result<Arc<dyn ProviderSchemas>, Diagnostics>;

    /// A process of the provider, for calls that need no configuration: validation, moves, functions.
    async fn unconfigured(&self, provider: &addr::Provider) -> Result<Arc<dyn Provider>, Diagnostics>;

    /// A process that was configured with exactly this. A process configured earlier in the same command is given
    /// again if `config` is wholly known, reusable and equal; otherwise a fresh one is configured. `config` carries no
    /// marks; the second value is what the provider said of it (on errors the provider must not be used).
    async fn configured(
        &self,
        addr: &AbsProviderConfig,
        config: Value,
        how: Configuring,
    ) -> Result<(Arc<dyn Provider>, ProviderDiagnostics), Diagnostics>;

    async fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics>;

    /// Asks every plugin to end soon what it does.
    async fn stop(&self);
}

/// Hears what happens; cannot answer.
pub trait Observer: Send + Sync {
    fn event(&self, event: Event);
}

/// Where finished work goes during apply, at once. A failure to keep it ends the walk.
#[async_trait]
pub trait StateSink: Send + Sync {
    /// The state that apply starts from: what refresh and moves made of the stored one.
    async fn begin(&self, state: &State) -> Result<(), Diagnostics>;
    /// Durable before the provider is asked to change the object.
    async fn started(&self, addr: &AbsResourceInstance, deposed: Option<&DeposedKey>) -> Result<(), Diagnostics>;
    /// The whole instance as it is now; without objects: it is gone.
    async fn finished(
        &self,
        addr: &AbsResourceInstance,
        provider: &AbsProviderConfig,
        instance: &Instance,
    ) -> Result<(), Diagnostics>;
    /// How far actions are that the change of an object invokes. Durable when this completes.
    async fn actions(
        &self,
        caller: &AbsResourceInstance,
        actions: &[String],
        phase: ActionPhase,
    ) -> Result<(), Diagnostics>;
    /// A root output as it is now; none: it is gone.
    async fn output(&self, name: &str, value: Option<&OutputValue>) -> Result<(), Diagnostics>;
    /// How conditions held in the end. Every run finds that anew, so it need not be durable before the last snapshot.
    fn checks(&self, checks: Option<&[CheckResult]>);
}

/// The machine: files for the functions that read them, time and chance.
#[async_trait]
pub trait Host: Send + Sync {
    fn files(&self) -> &dyn Files;
    fn now(&self) -> Moment;
    /// The time that has passed since then.
    fn since(&self, moment: Moment) -> Duration {
        self.now().since(moment)
    }
    /// Ends at that time; at once if it has passed.
    async fn wait_until(&self, moment: Moment);
    fn random(&self, bytes: &mut [u8]);
    /// `path.cwd`
    fn original_working_dir(&self) -> String;
    /// What `abspath` starts from: absolute.
    fn working_dir(&self) -> PathBuf;
    /// What `~` stands for.
    fn home_dir(&self) -> Option<PathBuf>;
    /// `terraform.workspace`
    fn workspace(&self) -> String;
}
