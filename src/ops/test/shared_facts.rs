//! The configurations that the runs of a suite test, each with its facts once: equal ones of all files share them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::diag::Diagnostics;
use engine::Facts;
use model::addr::{self, AbsProviderConfig, LocalProviderConfig};
use model::config::{Config, Module, check_versions};
use tokio::sync::OnceCell;

/// What makes two runs test the same configuration, also those of two files.
#[derive(Clone, Debug)]
pub struct FactsKey {
    /// The root module before providers of a test file were put into it.
    base: Arc<Module>,
    /// The provider configurations that were put into it, with the place of their block; none: it is a mock, of which nothing is left
    /// but that it is one.
    providers: Vec<(LocalProviderConfig, Option<(String, u32)>)>,
}

impl PartialEq for FactsKey {
    fn eq(&self, other: &FactsKey) -> bool {
        Arc::ptr_eq(&self.base, &other.base) && self.providers == other.providers
    }
}

impl FactsKey {
    /// `prepared`: the configuration with the providers of the test file; `mocked`: those of them that are mocks.
    pub fn of(base: &Config, prepared: &Config, mocked: &[AbsProviderConfig]) -> FactsKey {
        let root = &prepared.root;
        let mut providers = Vec::new();
        for (name, block) in &root.providers {
            let before = base.root.providers.get(name);
            if before.is_some_and(|before| before.range == block.range) {
                continue;
            }
            let provider = root.provider_for_local_name(&name.local_name);
            let addr = AbsProviderConfig::new(addr::Module::root(), provider, name.alias.clone());
            let is_plain = block.for_each.is_none() && block.instances.is_none();
            let place = (block.range.filename().to_owned(), block.range.span.start);
            providers.push((name.clone(), (!is_plain || !mocked.contains(&addr)).then_some(place)));
        }
        providers.sort();
        FactsKey { base: base.root.clone(), providers }
    }

    /// Whether nothing in the configuration is a block of a test file, whose meaning depends on the run.
    fn is_without_file(&self) -> bool {
        self.providers.iter().all(|(_, place)| place.is_none())
    }
}

/// The configurations of a suite.
#[derive(Default)]
pub struct SharedFacts(Mutex<Vec<Entry>>);

struct Entry {
    key: FactsKey,
    facts: Arc<Facts>,
    /// What `validate` says of it, if that is no error.
    validation: Arc<OnceCell<Diagnostics>>,
}

impl SharedFacts {
    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The facts about a configuration: those of an earlier run of the same one, if there is one.
    pub fn of(&self, key: FactsKey, config: &Arc<Config>) -> Arc<Facts> {
        let mut entries = self.entries();
        if let Some(known) = entries.iter().find(|entry| entry.key == key) {
            return known.facts.clone();
        }
        let facts = Facts::of(config.clone());
        entries.push(Entry { key, facts: facts.clone(), validation: Arc::default() });
        facts
    }

    /// Forgets the configurations with blocks of a test file, which no other file has.
    pub fn forget_file(&self, name: &str) {
        let is_of_file =
            |key: &FactsKey| key.providers.iter().any(|(_, place)| place.as_ref().is_some_and(|at| at.0 == name));
        self.entries().retain(|entry| !is_of_file(&entry.key));
    }

    /// What a validation says of a configuration. It is not done again if it found no errors, unless blocks of a test file belong to
    /// the configuration.
    pub async fn validated(&self, facts: &Arc<Facts>, work: impl Future<Output = Diagnostics>) -> Diagnostics {
        let versions = check_versions(facts.config());
        if versions.has_errors() {
            return versions;
        }
        let is_it = |entry: &&Entry| Arc::ptr_eq(&entry.facts, facts) && entry.key.is_without_file();
        let cell = self.entries().iter().find(is_it).map(|entry| entry.validation.clone());
        let Some(cell) = cell else { return work.await };
        let sound = async {
            let found = work.await;
            if found.has_errors() { Err(found) } else { Ok(found) }
        };
        match cell.get_or_try_init(|| sound).await {
            Ok(found) => found.clone(),
            Err(found) => found,
        }
    }
}

#[cfg(test)]
mod tests {
    use base::diag::Diagnostic;
    use base::source::{SourceFile, Span};
    use lang::syntax::body::Body;
    use model::addr::Provider;
    use model::config::ProviderBlock;

    use super::*;

    fn with_provider(base: &Config, file: &str) -> Config {
        let range = Span::new(0, 1).in_file(&SourceFile::new(file, "x"));
        let block = ProviderBlock {
            name: "null".into(),
            name_range: range.clone(),
            alias: None,
            for_each: None,
            instances: None,
            version: None,
            body: Body::empty(&range.file),
            range,
        };
        let mut root = Module::clone(&base.root);
        root.providers.insert(LocalProviderConfig { local_name: "null".into(), alias: None }, block);
        Config { root: Arc::new(root) }
    }

    fn base() -> Config {
        Config { root: Arc::default() }
    }

    fn null() -> AbsProviderConfig {
        AbsProviderConfig::root(Provider::default_for("null"))
    }

    #[test]
    fn configurations_with_the_same_mocks_are_equal() {
        let base = base();
        let of = |file: &str, mocked: &[AbsProviderConfig]| FactsKey::of(&base, &with_provider(&base, file), mocked);
        assert_eq!(of("a", &[null()]), of("b", &[null()]));
        assert_ne!(of("a", &[]), of("b", &[]));
        assert_eq!(of("a", &[]), of("a", &[]));
        assert_ne!(of("a", &[null()]), FactsKey::of(&base, &base, &[]));
        assert_ne!(FactsKey::of(&self::base(), &base, &[]), FactsKey::of(&base, &base, &[]));
    }

    #[tokio::test]
    async fn configurations_are_validated_once() {
        let (base, shared) = (base(), SharedFacts::default());
        let facts = |file: &str, mocked: &[AbsProviderConfig]| {
            let config = with_provider(&base, file);
            shared.of(FactsKey::of(&base, &config, mocked), &Arc::new(config))
        };
        let warning = |summary: &str| Diagnostics::from(Diagnostic::warning(summary, ""));
        let error = Diagnostics::from(Diagnostic::error("E", ""));
        let [a, b] = ["a", "b"].map(|file| facts(file, &[null()]));
        assert!(Arc::ptr_eq(&a, &b));
        let said = |found: Diagnostics| found.iter().map(|one| one.summary.clone()).collect::<String>();
        assert_eq!(said(shared.validated(&a, async { error }).await), "E");
        assert_eq!(said(shared.validated(&a, async { warning("one") }).await), "one");
        assert_eq!(said(shared.validated(&b, async { warning("two") }).await), "one");
        let real = facts("a", &[]);
        assert_eq!(said(shared.validated(&real, async { warning("one") }).await), "one");
        assert_eq!(said(shared.validated(&real, async { warning("two") }).await), "two");
        shared.forget_file("a");
        assert!(Arc::ptr_eq(&a, &facts("c", &[null()])) && !Arc::ptr_eq(&real, &facts("a", &[])));
    }
}
