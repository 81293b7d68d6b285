//! `for_each` of the provider configurations in a test file.

use std::sync::Arc;

use base::diag::Diagnostics;
use terrane_value::Value;

use super::{TestFile, TestProvider};
use crate::config::blocks::by_name::ByName;
use crate::config::constants::static_arguments;
use crate::config::constants::static_context::StaticContext;

impl TestFile {
    /// Gives the provider configurations with `for_each` their instances. `context`: of the module that is tested. The file's variables
    /// come before values from outside, as far as they need no run.
    pub fn expand_providers(&mut self, context: &StaticContext) -> Diagnostics {
        let mut diags = Diagnostics::new();
        if self.providers.values().all(|provider| provider.for_each().is_none()) {
            return diags;
        }
        let context = context.with_values(self.early_values(context));
        for provider in self.providers.values_mut() {
            let Some(expr) = provider.for_each().cloned() else { continue };
            let target = format!("{}.{}.for_each", provider.block(), provider.key());
            let instances: Arc<[_]> = diags.take(static_arguments::instances(&target, &expr, &context)).into();
            match provider {
                TestProvider::Real(block) => block.instances = Some(instances),
                TestProvider::Mock(mock) => mock.instances = Some(instances),
            }
        }
        diags
    }

    /// The variables of the file that have values before anything is planned.
    fn early_values(&self, context: &StaticContext) -> ByName<Value> {
        let value = |(name, expr): (&Arc<str>, _)| {
            let (value, problems) = context.value(&format!("variables.{name}"), expr);
            (!problems.has_errors()).then(|| (name.clone(), value))
        };
        self.variables.iter().filter_map(value).collect()
    }
}
