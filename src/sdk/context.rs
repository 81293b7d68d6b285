//! What each call of a provider has: provider data, diagnostics, private data, the request to stop.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use terrane_protocol::provider::{DeferralReason, ProviderDiagnostic, ProviderDiagnostics};
use terrane_value::{Path, Value};

use super::error::Error;
use crate::stop::Stop;

/// One call of a provider.
///
/// ```
/// # use terrane_sdk::{Context, Error};
/// async fn rename(context: &mut Context<String>) -> Result<(), Error> {
///     let client = context.data()?;
///     let etag = format!("\"{client}\"");
///     context.private().set("etag", etag)?;
///     context.warn("Slow service", "The service took long.");
///     Ok(())
/// }
/// ```
pub struct Context<D> {
    pub(super) data: Option<Arc<D>>,
    pub(super) diagnostics: ProviderDiagnostics,
    pub(super) private: Private,
    pub(super) stop: Stop,
    pub(super) provider_meta: Value,
    pub(super) identity: Option<Value>,
    pub(super) deferral_allowed: bool,
    pub(super) deferred: Option<DeferralReason>,
    /// Of a data source, where the host is this program.
    pub(crate) address: String,
}

impl<D> Context<D> {
    pub(super) fn new(data: Option<Arc<D>>, stop: Stop) -> Context<D> {
        Context {
            data,
            diagnostics: Vec::new(),
            private: Private::default(),
            stop,
            provider_meta: Value::null_dynamic(),
            identity: None,
            deferral_allowed: false,
            deferred: None,
            address: String::new(),
        }
    }

    /// What the provider's `configure` returned. Fails before the provider is configured: during validation.
    ///
    /// ```
    /// # use terrane_sdk::{Error, testing};
    /// # fn main() -> Result<(), Error> {
    /// let context = testing::context("http://localhost");
    /// assert_eq!(context.data()?, &"http://localhost");
    /// # Ok(()) }
    /// ```
    pub fn data(&self) -> Result<&D, Error> {
        self.data.as_deref().ok_or_else(|| {
            Error::new(
                "Unconfigured Provider",
                "The provider is not configured yet. It can be used during plan and apply, not during validation.",
            )
        })
    }

    /// Adds a warning. The call goes on and may succeed.
    ///
    /// ```
    /// # use terrane_sdk::testing;
    /// let mut context = testing::context(());
    /// context.warn("Slow service", "The service took long.");
    /// assert_eq!(testing::warnings(&context).len(), 1);
    /// ```
    pub fn warn(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::warning(summary, detail));
    }

    /// As [`Context::warn`], about an attribute.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Path};
    /// fn check(context: &mut Context<()>) {
    ///     context.warn_at(Path::new().attr("title"), "Long title", "The service shows only 80 letters.");
    /// }
    /// ```
    pub fn warn_at(&mut self, path: Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::warning(summary, detail).at(path));
    }

    /// True if the host accepts that the operation is deferred.
    ///
    /// ```
    /// # use terrane_sdk::{Context, DeferralReason, Error};
    /// fn wait_or_fail(context: &mut Context<()>) -> Result<(), Error> {
    ///     if context.is_deferral_allowed() {
    ///         return context.defer(DeferralReason::AbsentPrereq);
    ///     }
    ///     Err(Error::new("Cluster not found", "Create the cluster first."))
    /// }
    /// # assert!(wait_or_fail(&mut terrane_sdk::testing::context(())).is_err());
    /// ```
    pub fn is_deferral_allowed(&self) -> bool {
        self.deferral_allowed
    }

    /// Says that the operation has to wait for another run; what the call returns then counts as a placeholder. Fails if
    /// the host does not accept it.
    ///
    /// ```
    /// # use terrane_sdk::{DeferralReason, testing};
    /// let mut context = testing::context(());
    /// let deferred = context.defer(DeferralReason::ResourceConfigUnknown);
    /// assert!(deferred.is_err(), "contexts of tests do not allow it");
    /// ```
    pub fn defer(&mut self, reason: DeferralReason) -> Result<(), Error> {
        if !self.deferral_allowed {
            let detail = "The provider deferred an operation although the host does not allow it. This is always an error \
                          in the provider.";
            return Err(Error::new("Invalid Deferred Provider Response", detail));
        }
        self.deferred = Some(reason);
        Ok(())
    }

    /// Data that is stored beside the object; only the provider reads it.
    ///
    /// ```
    /// # use terrane_sdk::{Error, testing};
    /// # fn main() -> Result<(), Error> {
    /// let mut context = testing::context(());
    /// context.private().set_value("etag", 7)?;
    /// assert_eq!(context.private().get("etag"), Some("7"));
    /// # Ok(()) }
    /// ```
    pub fn private(&mut self) -> &mut Private {
        &mut self.private
    }

    /// The values of `provider_meta` in the module of the object; null if there are none.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Value};
    /// fn module_name(context: &Context<()>) -> Option<&str> {
    ///     context.provider_meta().get("module_name").and_then(Value::as_str)
    /// }
    /// # assert_eq!(module_name(&terrane_sdk::testing::context(())), None);
    /// ```
    pub fn provider_meta(&self) -> &Value {
        &self.provider_meta
    }

    /// Completes when the user interrupts the run. Reads and plans that are not finished then are dropped a second later;
    /// changes and actions are not: they should end early and return what they did, or an error.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use terrane_sdk::{Context, Error};
    /// async fn wait(context: &Context<()>, time: Duration) -> Result<(), Error> {
    ///     tokio::select! {
    ///         () = tokio::time::sleep(time) => Ok(()),
    ///         () = context.stopping() => Err(Error::new("Interrupted", "The wait was interrupted.")),
    ///     }
    /// }
    /// ```
    pub async fn stopping(&self) {
        self.stop.stopping().await;
    }

    /// True once the user interrupted the run.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Error};
    /// async fn delete_all(context: &Context<()>, names: &mut Vec<String>) -> Result<(), Error> {
    ///     while let Some(name) = names.pop() {
    ///         if context.is_stopping() {
    ///             return Err(Error::new("Interrupted", format!("{name} and {} others still exist.", names.len())));
    ///         }
    ///         // Delete `name`.
    ///     }
    ///     Ok(())
    /// }
    /// # assert!(!terrane_sdk::testing::context(()).is_stopping());
    /// ```
    pub fn is_stopping(&self) -> bool {
        self.stop.is_stopping()
    }

    /// The identity of the object, an object of the type of the identity schema; none if it is not known.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Value};
    /// fn id(context: &Context<()>) -> Option<&str> {
    ///     context.identity()?.get("id")?.as_str()
    /// }
    /// # assert_eq!(id(&terrane_sdk::testing::context(())), None);
    /// ```
    pub fn identity(&self) -> Option<&Value> {
        self.identity.as_ref()
    }

    /// Sets the identity of the object. Only needed where [`Resource::identity`](super::Resource::identity) cannot tell it from the object.
    ///
    /// ```
    /// # use terrane_sdk::{Value, testing};
    /// let mut context = testing::context(());
    /// context.set_identity(Value::object([("id", Value::string("7"))]));
    /// assert_eq!(context.identity().and_then(|identity| identity.get("id")), Some(&Value::string("7")));
    /// ```
    pub fn set_identity(&mut self, identity: Value) {
        self.identity = Some(identity);
    }
}

/// Keys and JSON texts that are stored beside an object.
///
/// ```
/// use terrane_sdk::Private;
/// let mut private = Private::default();
/// private.set("etag", "\"7\"").unwrap();
/// assert_eq!(private.get("etag"), Some("\"7\""));
/// assert!(private.set(".reserved", "1").is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Private {
    entries: BTreeMap<String, String>,
}

impl Private {
    /// The JSON text of a key.
    ///
    /// ```
    /// # use terrane_sdk::Private;
    /// assert_eq!(Private::default().get("etag"), None);
    /// ```
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(String::as_str)
    }

    /// Fails if the key begins with a full stop, or if the text is not JSON.
    ///
    /// ```
    /// # use terrane_sdk::Private;
    /// let mut private = Private::default();
    /// private.set("tags", r#"["a", "b"]"#).unwrap();
    /// assert!(private.set("tags", "a, b").is_err(), "not JSON");
    /// ```
    pub fn set(&mut self, key: impl Into<String>, json: impl Into<String>) -> Result<(), Error> {
        let (key, json) = (key.into(), json.into());
        if key.starts_with('.') {
            let detail = format!("Keys of private data that begin with \".\" are reserved: {key:?}.");
            return Err(Error::new("Restricted Resource Private State Namespace", detail));
        }
        if serde_json::from_str::<serde::de::IgnoredAny>(&json).is_err() {
            return Err(Error::new("Invalid Resource Private State Value", format!("{key:?} is not valid JSON.")));
        }
        self.entries.insert(key, json);
        Ok(())
    }

    /// The value of a key; none if it is absent, or of another form.
    ///
    /// ```
    /// # use terrane_sdk::Private;
    /// let mut private = Private::default();
    /// private.set_value("etag", "7").unwrap();
    /// assert_eq!(private.get_value("etag"), Some("7".to_owned()));
    /// ```
    pub fn get_value<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.get(key)?).ok()
    }

    /// As [`Private::set`], with any value that JSON can hold.
    ///
    /// ```
    /// # use terrane_sdk::Private;
    /// let mut private = Private::default();
    /// private.set_value("tags", ["a", "b"]).unwrap();
    /// assert_eq!(private.get("tags"), Some(r#"["a","b"]"#));
    /// ```
    pub fn set_value(&mut self, key: impl Into<String>, value: impl Serialize) -> Result<(), Error> {
        let invalid = |error: serde_json::Error| Error::new("Invalid Resource Private State Value", error.to_string());
        self.set(key, serde_json::to_string(&value).map_err(invalid)?)
    }

    /// Removes a key. Nothing happens if it is not there.
    ///
    /// ```
    /// # use terrane_sdk::Private;
    /// let mut private = Private::default();
    /// private.set("etag", "7").unwrap();
    /// private.remove("etag");
    /// assert_eq!(private, Private::default());
    /// ```
    pub fn remove(&mut self, key: &str) {
        self.entries.remove(key);
    }

    /// The form of the wire: an object of base64 texts. Data of other libraries is dropped.
    pub(super) fn from_bytes(bytes: &[u8]) -> Private {
        let read: BTreeMap<String, String> = serde_json::from_slice(bytes).unwrap_or_default();
        let decoded = read.into_iter().filter_map(|(key, text)| {
            let bytes = STANDARD.decode(text).ok()?;
            Some((key, String::from_utf8(bytes).ok()?))
        });
        Private { entries: decoded.collect() }
    }

    /// Empty if there is nothing to store.
    pub(super) fn to_bytes(&self) -> Arc<[u8]> {
        if self.entries.is_empty() {
            return Arc::from([]);
        }
        let encoded: BTreeMap<&str, String> =
            self.entries.iter().map(|(key, text)| (key.as_str(), STANDARD.encode(text))).collect();
        serde_json::to_vec(&encoded).unwrap_or_default().into()
    }
}
