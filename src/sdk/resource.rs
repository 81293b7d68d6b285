//! Managed resource types.

use std::future::{Future, ready};

/// Why an operation is deferred: see [`Context::defer`].
///
/// ```
/// use terrane_sdk::{Context, DeferralReason, Error};
/// fn wait_for_cluster(context: &mut Context<()>) -> Result<(), Error> {
///     context.defer(DeferralReason::AbsentPrereq)
/// }
/// ```
#[doc(inline)]
pub use terrane_protocol::provider::DeferralReason;
/// An attribute of an [`IdentitySchema`].
///
/// ```
/// use terrane_sdk::{IdentityAttribute, Type};
/// assert!(IdentityAttribute::required(Type::String).is_required());
/// assert!(!IdentityAttribute::optional(Type::String).is_required());
/// ```
#[doc(inline)]
pub use terrane_protocol::provider::IdentityAttribute;
/// The attributes that identify an object: [`identity_schema`] makes one whose attributes are all required.
///
/// ```
/// use terrane_sdk::{IdentityAttribute, IdentitySchema, Type, identity_schema};
/// let mut schema: IdentitySchema = identity_schema([("id", Type::String)]);
/// schema.attributes.insert("region".into(), IdentityAttribute::optional(Type::String));
/// assert_eq!(schema.attributes.len(), 2);
/// ```
#[doc(inline)]
pub use terrane_protocol::provider::IdentitySchema;
use terrane_value::{Type, Value};

use super::context::Context;
use super::error::Error;
use super::model::Model;
use super::request::{Creation, Import, Moved, Plan, Stored, Update, Validation, not_importable};
use super::schema::Schema;

/// A managed resource type: the object's life from its creation to its destruction.
///
/// Methods are `async fn` in implementations. All but `create` have a default: an object that is only kept in the state.
///
/// ```
/// # use terrane_sdk::{Context, Creation, Error, Field, Model, Resource};
/// #[derive(Model)]
/// struct Note {
///     #[attribute(computed, keep)]
///     id: Field<String>,
///     #[attribute(required)]
///     title: String,
/// }
///
/// struct NoteResource;
///
/// impl Resource for NoteResource {
///     type Data = ();
///     type Model = Note;
///
///     async fn create(&self, _context: &mut Context<()>, creation: &mut Creation<Note>) -> Result<Note, Error> {
///         Ok(Note { id: Field::known("7"), ..creation.planned.model()? })
///     }
/// }
/// ```
pub trait Resource: Send + Sync + 'static {
    /// What the provider's `configure` returns.
    type Data: Send + Sync + 'static;
    /// The attributes of the object.
    type Model: Model;

    /// By default that of the model, with version 0.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Model, Resource, Schema};
    /// # #[derive(Model)] struct File { #[attribute(required)] path: String }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<File>) -> Result<File, Error> { new.planned.model() }
    /// fn schema(&self) -> Schema {
    ///     Schema::of::<File>().version(1)
    /// }
    /// # }
    /// ```
    fn schema(&self) -> Schema {
        Schema::of::<Self::Model>()
    }

    /// Checks of the configuration beyond those of the schema.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Field, Model, Resource, Validation};
    /// # #[derive(Model)] struct File { #[attribute(required)] path: String }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<File>) -> Result<File, Error> { new.planned.model() }
    /// fn validate(&self, validation: &mut Validation<'_, File>) {
    ///     if let Ok(Field::Known(path)) = validation.config.get(File::PATH)
    ///         && path.ends_with('/')
    ///     {
    ///         validation.error(File::PATH.path(), "Invalid path", "The path is that of a folder.");
    ///     }
    /// }
    /// # }
    /// ```
    fn validate(&self, _validation: &mut Validation<'_, Self::Model>) {}

    /// Changes the plan after the schema's rules. Called for destructions too.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Field, Model, Plan, Resource};
    /// # #[derive(Model)] struct File { #[attribute(required)] text: String, #[attribute(computed)] size: Field<i64> }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<File>) -> Result<File, Error> { new.planned.model() }
    /// async fn plan(&self, _context: &mut Context<()>, plan: &mut Plan<File>) -> Result<(), Error> {
    ///     if let Field::Known(text) = plan.planned.get(File::TEXT)? {
    ///         plan.planned.set(File::SIZE, Field::Known(text.len() as i64));
    ///     }
    ///     Ok(())
    /// }
    /// # }
    /// ```
    fn plan(
        &self,
        _context: &mut Context<Self::Data>,
        _plan: &mut Plan<Self::Model>,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }

    /// Creates the object and returns it with everything known.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Model, Resource};
    /// # #[derive(Model)] struct File { #[attribute(required)] path: String, #[attribute(required)] text: String }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// async fn create(&self, _context: &mut Context<()>, creation: &mut Creation<File>) -> Result<File, Error> {
    ///     let file = creation.planned.model()?;
    ///     std::fs::write(&file.path, &file.text)?;
    ///     Ok(file)
    /// }
    /// # }
    /// ```
    fn create(
        &self,
        context: &mut Context<Self::Data>,
        creation: &mut Creation<Self::Model>,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send;

    /// The object as it is now; none if it is gone.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Model, Resource};
    /// # #[derive(Model)] struct File { #[attribute(required)] path: String, #[attribute(required)] text: String }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<File>) -> Result<File, Error> { new.planned.model() }
    /// async fn read(&self, _context: &mut Context<()>, state: File) -> Result<Option<File>, Error> {
    ///     if !std::fs::exists(&state.path)? {
    ///         return Ok(None);
    ///     }
    ///     Ok(Some(File { text: std::fs::read_to_string(&state.path)?, ..state }))
    /// }
    /// # }
    /// ```
    fn read(
        &self,
        _context: &mut Context<Self::Data>,
        state: Self::Model,
    ) -> impl Future<Output = Result<Option<Self::Model>, Error>> + Send {
        ready(Ok(Some(state)))
    }

    /// Changes the object in place. By default it becomes what was planned.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Model, Resource, Update};
    /// # #[derive(Model)] struct File { #[attribute(required)] path: String, #[attribute(required)] text: String }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<File>) -> Result<File, Error> { new.planned.model() }
    /// async fn update(&self, _context: &mut Context<()>, update: &mut Update<File>) -> Result<File, Error> {
    ///     let (prior, planned) = (update.prior.model()?, update.planned.model()?);
    ///     std::fs::rename(prior.path, &planned.path)?;
    ///     std::fs::write(&planned.path, &planned.text)?;
    ///     Ok(planned)
    /// }
    /// # }
    /// ```
    fn update(
        &self,
        _context: &mut Context<Self::Data>,
        update: &mut Update<Self::Model>,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send {
        ready(update.planned.model())
    }

    /// Deletes the object. Succeeds if it is gone already. By default it is only removed from the state.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Model, Resource};
    /// # #[derive(Model)] struct File { #[attribute(required)] path: String }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<File>) -> Result<File, Error> { new.planned.model() }
    /// async fn delete(&self, _context: &mut Context<()>, state: File) -> Result<(), Error> {
    ///     match std::fs::remove_file(state.path) {
    ///         Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
    ///         result => Ok(result?),
    ///     }
    /// }
    /// # }
    /// ```
    fn delete(
        &self,
        _context: &mut Context<Self::Data>,
        _state: Self::Model,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }

    /// The object that the import names, at least with what `read` needs.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Import, Model, Resource};
    /// # #[derive(Model)] struct File { #[attribute(required)] path: String, #[attribute(required)] text: String }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<File>) -> Result<File, Error> { new.planned.model() }
    /// async fn import(&self, _context: &mut Context<()>, import: Import) -> Result<File, Error> {
    ///     Ok(File { path: import.id()?.to_owned(), text: String::new() })
    /// }
    /// # }
    /// ```
    fn import(
        &self,
        _context: &mut Context<Self::Data>,
        _import: Import,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send {
        ready(Err(not_importable()))
    }

    /// An object that was stored with an older version of the schema.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Model, Resource, Stored};
    /// # #[derive(Model)] struct File { #[attribute(required)] path: String }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<File>) -> Result<File, Error> { new.planned.model() }
    /// /// Version 0 had the attribute `filename`.
    /// async fn upgrade(&self, _context: &mut Context<()>, stored: Stored) -> Result<File, Error> {
    ///     let old: serde_json::Value = serde_json::from_slice(stored.json()?)
    ///         .map_err(|error| Error::new("Unable to upgrade the file", error.to_string()))?;
    ///     Ok(File { path: old["filename"].as_str().unwrap_or_default().to_owned() })
    /// }
    /// # }
    /// ```
    fn upgrade(
        &self,
        _context: &mut Context<Self::Data>,
        stored: Stored,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send {
        ready(stored.object().and_then(|value| Ok(Self::Model::from_value(&value)?)))
    }

    /// An object of another type that becomes one of this type.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Model, Moved, Resource};
    /// # #[derive(Model)] struct File { #[attribute(required)] path: String }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<File>) -> Result<File, Error> { new.planned.model() }
    /// async fn move_from(&self, _context: &mut Context<()>, moved: Moved) -> Result<File, Error> {
    ///     if moved.source_type != "old_file" {
    ///         return Err(moved.unsupported());
    ///     }
    ///     Ok(File::from_value(&moved.object(&self.schema())?)?)
    /// }
    /// # }
    /// ```
    fn move_from(
        &self,
        _context: &mut Context<Self::Data>,
        moved: Moved,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send {
        ready(Err(moved.unsupported()))
    }

    /// What identifies an object of the type; none: its id alone.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, IdentitySchema, Resource, Type, identity_schema};
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = ();
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<()>) -> Result<(), Error> { new.planned.model() }
    /// fn identity_schema(&self) -> Option<IdentitySchema> {
    ///     Some(identity_schema([("path", Type::String)]))
    /// }
    /// # }
    /// ```
    fn identity_schema(&self) -> Option<IdentitySchema> {
        None
    }

    /// The identity of an object, of the type of [`Resource::identity_schema`].
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, IdentitySchema, Model, Resource, Type, Value, identity_schema};
    /// # #[derive(Model)] struct File { #[attribute(required)] path: String }
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = File;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<File>) -> Result<File, Error> { new.planned.model() }
    /// # fn identity_schema(&self) -> Option<IdentitySchema> { Some(identity_schema([("path", Type::String)])) }
    /// fn identity(&self, state: &File) -> Option<Value> {
    ///     Some(Value::object([("path", Value::string(&state.path))]))
    /// }
    /// # }
    /// ```
    fn identity(&self, _state: &Self::Model) -> Option<Value> {
        None
    }

    /// An identity that was stored with an older version of the identity schema, as JSON text.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Resource, Value};
    /// # struct FileResource; impl Resource for FileResource { type Data = (); type Model = ();
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<()>) -> Result<(), Error> { new.planned.model() }
    /// /// Version 0 had the attribute `filename`.
    /// async fn upgrade_identity(&self, _: &mut Context<()>, _version: i64, json: &str) -> Result<Value, Error> {
    ///     let old: serde_json::Value = serde_json::from_str(json)
    ///         .map_err(|error| Error::new("Unable to upgrade the identity", error.to_string()))?;
    ///     Ok(Value::object([("path", Value::string(old["filename"].as_str().unwrap_or_default()))]))
    /// }
    /// # }
    /// ```
    fn upgrade_identity(
        &self,
        _context: &mut Context<Self::Data>,
        version: i64,
        _json: &str,
    ) -> impl Future<Output = Result<Value, Error>> + Send {
        let detail = format!("The provider cannot read identities of the schema version {version}.");
        ready(Err(Error::new("Unable to Upgrade Resource Identity", detail)))
    }
}

/// An identity schema of version 0 with attributes that an import by identity must set.
///
/// ```
/// use terrane_sdk::{Type, identity_schema};
/// let schema = identity_schema([("project", Type::String), ("id", Type::String)]);
/// assert_eq!(schema.attributes.len(), 2);
/// ```
pub fn identity_schema<'n>(attributes: impl IntoIterator<Item = (&'n str, Type)>) -> IdentitySchema {
    let attributes = attributes.into_iter().map(|(name, ty)| (name.into(), IdentityAttribute::required(ty)));
    IdentitySchema { version: 0, attributes: attributes.collect() }
}
