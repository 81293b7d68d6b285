//! From a method's configuration to the method with its keys: the key providers that it refers to, and those that these
//! refer to, are asked on the way.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::source::SourceFile;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use lang::syntax::ast::{Attribute, Expression, Traversal};
use lang::syntax::body::{Body, BodySchema, Content};
use model::config::{self, KeyProvider, StaticContext, UNENCRYPTED};
use terrane_value::Value;
use tokio::sync::Mutex;

use super::external::Programs;
use super::key::{Keys, bytes_of};
use super::method::Method;
use super::payload::Meta;
use super::providers::{KINDS, Kind, Need, ProvideError};
use super::reference::{KEY_PROVIDER, is_bare_key, key_provider_of, malformed, quoted_key};
use super::scope::KeyScope;
use super::services::Services;
use super::settings::Settings;

/// The configuration with what its expressions need.
pub struct Setup {
    pub config: Arc<config::Encryption>,
    early: StaticContext,
    services: Services,
    /// Methods to encrypt with, which have one key per run, by type and name; or why there is none.
    made: Mutex<HashMap<(Arc<str>, Arc<str>), Made>>,
}

type Made = (Option<(Method, Meta)>, Diagnostics);

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Setup")
    }
}

impl Setup {
    pub fn new(config: Arc<config::Encryption>, early: StaticContext, services: Services) -> Setup {
        Setup { config, early, services, made: Mutex::default() }
    }

    pub fn dialect(&self) -> Dialect {
        self.services.environment.dialect()
    }

    /// A method to encrypt with, and what has to be kept to find its keys again. None with errors.
    pub async fn to_encrypt(&self, method: &config::EncryptionMethod) -> Made {
        let address = (method.kind.clone(), method.name.clone());
        let mut made = self.made.lock().await;
        if let Some(found) = made.get(&address) {
            return found.clone();
        }
        let nothing = Meta::new();
        let mut run = MethodSetup::new(self, &nothing, Meta::new(), Need::Both);
        let method = run.method(method).await;
        let (kept, diags) = (run.kept, run.diags);
        let found = (method.filter(|_| !diags.has_errors()).map(|method| (method, kept)), diags);
        made.insert(address, found.clone());
        found
    }

    /// A method to decrypt with what was written with `stored`. `kept` are the names of all metadata so far: two of one name
    /// are an error, also where they belong to two methods.
    pub async fn to_decrypt(
        &self,
        method: &config::EncryptionMethod,
        stored: &Meta,
        kept: &mut Meta,
    ) -> Result<Method, Diagnostics> {
        let mut run = MethodSetup::new(self, stored, std::mem::take(kept), Need::Decryption);
        let method = run.method(method).await;
        let diags = run.diags;
        *kept = run.kept;
        match method {
            Some(method) if !diags.has_errors() => Ok(method),
            _ => Err(diags),
        }
    }
}

/// The making of one method.
struct MethodSetup<'s> {
    setup: &'s Setup,
    stored: &'s Meta,
    kept: Meta,
    need: Need,
    diags: Diagnostics,
}

/// Keys as expressions see them, by type and name of their providers.
type Known = BTreeMap<String, BTreeMap<Arc<str>, Value>>;

impl<'s> MethodSetup<'s> {
    fn new(setup: &'s Setup, stored: &'s Meta, kept: Meta, need: Need) -> MethodSetup<'s> {
        MethodSetup { setup, stored, kept, need, diags: Diagnostics::new() }
    }

    async fn method(&mut self, method: &config::EncryptionMethod) -> Option<Method> {
        let subject = format!("encryption.method.{}.{}", method.kind, method.name);
        let made = match &*method.kind {
            UNENCRYPTED => return Some(Method::Unencrypted),
            "aes_gcm" => self.aes_gcm(&method.body, &subject).await?,
            "external" => self.external(&method.body, &subject).await?,
            kind => {
                let why = format!("encryption method with ID {kind} not found");
                self.diags.push(Diagnostic::error(format!("Error fetching encryption method {kind:?}"), why));
                return None;
            }
        };
        if let Err(why) = made.check(self.need == Need::Both) {
            let detail = format!("invalid method configuration: {why}");
            self.diags.push(Diagnostic::error("Invalid method configuration", detail));
            return None;
        }
        Some(made)
    }

    /// What stands in a method's body; none with errors.
    fn content(&mut self, body: &Body, schema: &BodySchema) -> Option<Content> {
        let (content, found) = body.content(schema);
        let failed = found.has_errors();
        self.diags.extend(found);
        (!failed).then_some(content)
    }

    async fn aes_gcm(&mut self, body: &Body, subject: &str) -> Option<Method> {
        let content = self.content(body, &BodySchema::new().required("keys").attribute("aad"))?;
        let keys = content.attribute("keys")?;
        if !is_bare_key(&keys.expr) {
            self.need = Need::Both;
        }
        let value = self.value(&keys.expr, subject).await?;
        let keys = Keys::of_value(&value, &keys.expr.range()).map_err(|problems| self.diags.extend(problems)).ok();
        let mut aad = Vec::new();
        if let Some(attribute) = content.attribute("aad") {
            let value = self.value(&attribute.expr, subject).await?;
            match bytes_of(&value, &attribute.expr.range()) {
                Ok(bytes) => aad = bytes.map(|bytes| bytes.bytes().to_vec()).unwrap_or_default(),
                Err(problem) => self.diags.push(problem),
            }
        }
        keys.filter(|_| !self.diags.has_errors()).map(|keys| Method::AesGcm { keys, aad })
    }

    async fn external(&mut self, body: &Body, subject: &str) -> Option<Method> {
        let schema = BodySchema::new().attribute("keys").required("encrypt_command").required("decrypt_command");
        let content = self.content(body, &schema)?;
        let mut keys = None;
        if let Some(attribute) = content.attribute("keys") {
            let value = self.value(&attribute.expr, subject).await?;
            match Keys::of_value(&value, &attribute.expr.range()) {
                Ok(found) => keys = Some(found),
                Err(problems) => {
                    self.diags.extend(problems);
                    return None;
                }
            }
        }
        let encrypt = self.command(content.attribute("encrypt_command")?, subject).await?;
        let decrypt = self.command(content.attribute("decrypt_command")?, subject).await?;
        let folder = self.setup.services.folder.clone();
        Some(Method::External { keys, programs: Programs { encrypt, decrypt, folder } })
    }

    async fn command(&mut self, attribute: &Attribute, subject: &str) -> Option<Vec<String>> {
        let value = self.value(&attribute.expr, subject).await?;
        let mut content = Content::default();
        content.attributes.insert("command".into(), attribute.clone());
        let (mut settings, _) = Settings::of(&content, &mut |_| (value.clone(), Diagnostics::new()));
        let texts = settings.texts("command");
        let failed = settings.problems.has_errors();
        self.diags.extend(settings.problems);
        (!failed).then_some(texts)
    }

    /// The value of an argument of a method; none with errors.
    async fn value(&mut self, expr: &Expression, subject: &str) -> Option<Value> {
        let mut known = Known::new();
        if let Some(reference) = quoted_key(expr) {
            self.keys_of([reference].into_iter(), &expr.file, &mut known).await?;
            let (kind, name) = key_provider_of(reference)?;
            return known.get(kind)?.get(name).cloned();
        }
        self.keys_of(expr.variables().into_iter(), &expr.file, &mut known).await?;
        let (value, found) = self.scope(subject, &known).value(expr);
        let failed = found.has_errors();
        self.diags.extend(found);
        (!failed).then_some(value)
    }

    fn scope<'a>(&'a self, subject: &'a str, known: &Known) -> KeyScope<'a> {
        let of_kind = |(kind, names): (&String, &BTreeMap<Arc<str>, Value>)| {
            (Arc::<str>::from(kind.as_str()), Value::object(names.clone()))
        };
        KeyScope {
            early: &self.setup.early,
            subject,
            declared: self.setup.config.range.clone(),
            keys: Value::object(known.iter().map(of_kind)),
        }
    }

    /// Asks the key providers that references name. None with errors.
    async fn keys_of<'t>(
        &mut self,
        references: impl Iterator<Item = &'t Traversal> + Send,
        file: &Arc<SourceFile>,
        known: &mut Known,
    ) -> Option<()> {
        let mut providers = Vec::new();
        for reference in references {
            self.diags.extend(malformed(reference, file));
            let Some((kind, name)) = key_provider_of(reference) else { continue };
            match self.setup.config.key_provider(kind, name) {
                Some(provider) => providers.push(provider.clone()),
                None => {
                    let detail =
                        format!("There is no key_provider {kind:?} {name:?} block declared in the encryption block.");
                    let tip = self.setup.config.close_key_provider(kind, name);
                    self.diags.push(
                        Diagnostic::error("Reference to undeclared key provider", detail)
                            .at(reference.span.in_file(file))
                            .with_tip(tip),
                    );
                }
            }
        }
        if self.diags.has_errors() {
            return None;
        }
        for provider in providers {
            self.ask(&provider, known).await;
        }
        (!self.diags.has_errors()).then_some(())
    }

    /// Asks a key provider, unless that was done already.
    fn ask<'r>(&'r mut self, provider: &'r KeyProvider, known: &'r mut Known) -> BoxFuture<'r, Option<()>> {
        async move {
            let names = known.entry(provider.kind.to_string()).or_default();
            if names.contains_key(&provider.name) {
                return Some(());
            }
            // What leads back here finds this.
            names.insert(provider.name.clone(), Value::dynamic());
            let address = format!("{KEY_PROVIDER}.{}.{}", provider.kind, provider.name);
            let title = provider.alias.clone().unwrap_or(address.clone());
            let Some(kind) = KINDS.iter().find(|kind| kind.name() == &*provider.kind) else {
                let summary = format!("Error fetching {KEY_PROVIDER} {:?}", &*provider.kind);
                let why = format!("key provider with ID {} not found", provider.kind);
                self.diags.push(Diagnostic::error(summary, why));
                return None;
            };
            let (mut settings, chain) = self.settings(*kind, provider, known).await?;
            let built = kind.build(&mut settings, chain, &self.setup.services).await;
            if settings.problems.has_errors() {
                self.diags.extend(settings.problems);
                return None;
            }
            let failed = |summary: &str, why: &dyn Display| {
                Diagnostic::error(summary, format!("{title} failed with error: {why}"))
            };
            let built = match built {
                Ok(built) => built,
                Err(why) => {
                    self.diags.push(failed("Unable to build encryption key data", &why));
                    return None;
                }
            };
            let stored = self.stored.get(&title).map(Vec::as_slice);
            let provided = match built.provide(stored, self.need).await {
                Ok(provided) => provided,
                Err(ProvideError::Metadata(why)) => {
                    let detail = format!("metadata decoder for {title} failed with error: {why}");
                    self.diags.push(Diagnostic::error(
                        "Unable to decode encrypted metadata (did you change your encryption config?)",
                        detail,
                    ));
                    return None;
                }
                Err(why) => {
                    self.diags.push(failed("Unable to fetch encryption key data", &why));
                    return None;
                }
            };
            if self.kept.contains_key(&title) {
                self.diags.push(duplicate(&title));
                return None;
            }
            self.kept.insert(title, provided.metadata);
            known.entry(provider.kind.to_string()).or_default().insert(provider.name.clone(), provided.keys.to_value());
            Some(())
        }
        .boxed()
    }

    /// The arguments of a key provider, and the keys that its `chain` stands for. None with errors.
    async fn settings(
        &mut self,
        kind: &dyn Kind,
        provider: &KeyProvider,
        known: &mut Known,
    ) -> Option<(Settings, Option<Keys>)> {
        let subject = format!("encryption.{KEY_PROVIDER}.{}.{}", provider.kind, provider.name);
        let schema = kind.schema();
        let (content, _, _) = provider.body.partial_content(&schema);
        let attributes: Vec<&Attribute> = content.attributes.values().collect();
        for attribute in &attributes {
            let quoted = quoted_key(&attribute.expr).filter(|_| attribute.name.as_str() == CHAIN);
            let references = attribute.expr.variables().into_iter().chain(quoted);
            self.keys_of(references.collect::<Vec<_>>().into_iter(), &attribute.expr.file, known).await?;
        }
        let content = self.content(&provider.body, &schema)?;
        let mut diags = Diagnostics::new();
        let mut evaluate = |attribute: &Attribute| {
            let quoted = quoted_key(&attribute.expr).filter(|_| attribute.name.as_str() == CHAIN);
            match quoted.and_then(key_provider_of).and_then(|(kind, name)| known.get(kind)?.get(name)) {
                Some(keys) => (keys.clone(), Diagnostics::new()),
                None => self.scope(&subject, known).value(&attribute.expr),
            }
        };
        let mut settings = diags.take(Settings::of(&content, &mut evaluate));
        for block in &content.blocks {
            let content = diags.take(block.body.content(&kind.block_schema(block.kind.as_str())));
            let inner = diags.take(Settings::of(&content, &mut evaluate));
            settings.blocks.push((block.kind.as_str().to_owned(), inner));
        }
        let failed = diags.has_errors();
        self.diags.extend(diags);
        if failed {
            return None;
        }
        let Some((value, place)) = settings.get(CHAIN) else { return Some((settings, None)) };
        match Keys::of_value(value, place) {
            Ok(keys) => Some((settings, Some(keys))),
            Err(problems) => {
                self.diags.extend(problems);
                None
            }
        }
    }
}

/// The argument that takes the keys of another provider.
const CHAIN: &str = "chain";

fn duplicate(title: &str) -> Diagnostic {
    let detail = format!(
        "The metadata key {title} is duplicated across multiple key providers for the same method; use the \
         encrypted_metadata_alias option to specify unique metadata keys for each key provider in an encryption method"
    );
    Diagnostic::error("Duplicate metadata key", detail)
}
