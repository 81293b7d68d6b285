//! Managed resource types.

use std::future::{Future, ready};

use super::context::Context;
use super::error::Error;
use super::model::{Model, Values};
use super::schema::Schema;
use crate::lang::value::{Path, Type, Value};
use crate::model::provider::{ProviderDiagnostic, ProviderDiagnostics};

pub use crate::model::provider::{DeferralReason, IdentityAttribute, IdentitySchema};

/// A managed resource type: the object's life from its creation to its destruction.
///
/// Methods are `async fn` in implementations. All but `create` have a default: an object that is only kept in the state.
///
/// ```
/// # use terrane::sdk::{Context, Creation, Error, Field, Model, Resource};
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
    fn schema(&self) -> Schema {
        Schema::of::<Self::Model>()
    }

    /// Checks of the configuration beyond those of the schema.
    fn validate(&self, _validation: &mut Validation<'_, Self::Model>) {}

    /// Changes the plan after the schema's rules. Called for destructions too.
    fn plan(
        &self,
        _context: &mut Context<Self::Data>,
        _plan: &mut Plan<Self::Model>,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }

    /// Creates the object and returns it with everything known.
    fn create(
        &self,
        context: &mut Context<Self::Data>,
        creation: &mut Creation<Self::Model>,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send;

    /// The object as it is now; none if it is gone.
    fn read(
        &self,
        _context: &mut Context<Self::Data>,
        state: Self::Model,
    ) -> impl Future<Output = Result<Option<Self::Model>, Error>> + Send {
        ready(Ok(Some(state)))
    }

    /// Changes the object in place. By default it becomes what was planned.
    fn update(
        &self,
        _context: &mut Context<Self::Data>,
        update: &mut Update<Self::Model>,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send {
        ready(update.planned.model())
    }

    /// Deletes the object. Succeeds if it is gone already. By default it is only removed from the state.
    fn delete(
        &self,
        _context: &mut Context<Self::Data>,
        _state: Self::Model,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }

    /// The object that the import names, at least with what `read` needs.
    fn import(
        &self,
        _context: &mut Context<Self::Data>,
        _import: Import,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send {
        ready(Err(not_importable()))
    }

    /// An object that was stored with an older version of the schema.
    fn upgrade(
        &self,
        _context: &mut Context<Self::Data>,
        stored: Stored,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send {
        ready(stored.object().and_then(|value| Ok(Self::Model::from_value(&value)?)))
    }

    /// An object of another type that becomes one of this type.
    fn move_from(
        &self,
        _context: &mut Context<Self::Data>,
        moved: Moved,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send {
        ready(Err(moved.unsupported()))
    }

    /// What identifies an object of the type; none: its id alone.
    fn identity_schema(&self) -> Option<IdentitySchema> {
        None
    }

    /// The identity of an object, of the type of [`Resource::identity_schema`].
    fn identity(&self, _state: &Self::Model) -> Option<Value> {
        None
    }

    /// An identity that was stored with an older version of the identity schema, as JSON text.
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
/// use terrane::sdk::{Type, identity_schema};
/// let schema = identity_schema([("project", Type::String), ("id", Type::String)]);
/// assert_eq!(schema.attributes.len(), 2);
/// ```
pub fn identity_schema<'n>(attributes: impl IntoIterator<Item = (&'n str, Type)>) -> IdentitySchema {
    let attributes = attributes.into_iter().map(|(name, ty)| (name.into(), IdentityAttribute::required(ty)));
    IdentitySchema { version: 0, attributes: attributes.collect() }
}

/// The error of types without import.
pub fn not_importable() -> Error {
    Error::new(
        "Resource Import Not Implemented",
        "This resource does not support import. Please contact the provider developer for additional information.",
    )
}

/// A configuration to check.
///
/// ```
/// # use terrane::sdk::{Field, Model, Validation};
/// # #[derive(Model)]
/// # struct Range {
/// #     #[attribute(required)]
/// #     from: i64,
/// #     #[attribute(required)]
/// #     to: i64,
/// # }
/// fn validate(validation: &mut Validation<'_, Range>) {
///     let (from, to) = (validation.config.get(Range::FROM), validation.config.get(Range::TO));
///     if let (Ok(Field::Known(from)), Ok(Field::Known(to))) = (from, to)
///         && from > to
///     {
///         validation.error(Range::TO.path(), "Invalid range", "\"to\" is less than \"from\".");
///     }
/// }
/// ```
#[non_exhaustive]
pub struct Validation<'a, M> {
    /// The configuration. Any part of it may be unknown.
    pub config: Values<M>,
    pub(super) found: &'a mut ProviderDiagnostics,
}

impl<M> Validation<'_, M> {
    /// Reports an error about an attribute. Checks go on.
    pub fn error(&mut self, path: Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.found.push(ProviderDiagnostic::error(summary, detail).at(path));
    }

    /// Reports a warning about an attribute.
    pub fn warn(&mut self, path: Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.found.push(ProviderDiagnostic::warning(summary, detail).at(path));
    }

    /// Reports an error that another function returned.
    pub fn add(&mut self, error: impl Into<Error>) {
        self.found.extend(error.into().diagnostics);
    }
}

/// A planned change.
///
/// ```
/// # use terrane::sdk::{Error, Field, Model, Plan};
/// # #[derive(Model)]
/// # struct Machine {
/// #     #[attribute(required)]
/// #     name: String,
/// #     #[attribute(computed)]
/// #     host: Field<String>,
/// # }
/// fn plan(plan: &mut Plan<Machine>) -> Result<(), Error> {
///     if let Field::Known(name) = plan.planned.get(Machine::NAME)? {
///         plan.planned.set(Machine::HOST, Field::known(format!("{name}.example.com")));
///     }
///     if !plan.is_create() && !plan.is_destroy() && plan.prior.get(Machine::NAME)? != plan.planned.get(Machine::NAME)? {
///         plan.requires_replace.push(Machine::NAME.path());
///     }
///     Ok(())
/// }
/// ```
#[non_exhaustive]
pub struct Plan<M> {
    /// Absent for a destruction.
    pub config: Values<M>,
    /// Absent for a creation.
    pub prior: Values<M>,
    /// Absent for a destruction; may be changed.
    pub planned: Values<M>,
    /// Attributes whose change replaces the object.
    pub requires_replace: Vec<Path>,
}

impl<M> Plan<M> {
    /// True if there is no prior object.
    pub fn is_create(&self) -> bool {
        self.prior.is_absent()
    }

    /// True if the object is to be deleted.
    pub fn is_destroy(&self) -> bool {
        self.planned.is_absent()
    }
}

/// A planned creation.
#[non_exhaustive]
pub struct Creation<M> {
    /// With write-only values.
    pub config: Values<M>,
    /// Known, but for computed attributes.
    pub planned: Values<M>,
    pub(super) partial: Option<Value>,
}

/// A planned change in place.
#[non_exhaustive]
pub struct Update<M> {
    /// With write-only values.
    pub config: Values<M>,
    /// The object as the state has it.
    pub prior: Values<M>,
    /// Known, but for computed attributes.
    pub planned: Values<M>,
    pub(super) partial: Option<Value>,
}

impl<M: Model> Creation<M> {
    /// Stores the object as it is so far: if the creation fails later, it is in the state, tainted.
    pub fn store(&mut self, object: M) {
        self.partial = Some(object.into_value());
    }
}

impl<M: Model> Update<M> {
    /// Stores the object as it is so far, in case the update fails later.
    pub fn store(&mut self, object: M) {
        self.partial = Some(object.into_value());
    }
}

/// What an import names.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum Import {
    /// The id that the user gave, in the form that the provider documents.
    Id(String),
    /// An object of the type of the identity schema.
    Identity(Value),
}

impl Import {
    /// The id. Fails for an import by identity.
    pub fn id(&self) -> Result<&str, Error> {
        match self {
            Import::Id(id) => Ok(id),
            Import::Identity(_) => Err(not_importable()),
        }
    }

    /// The id, or an attribute of the identity that has the same meaning. Fails if the attribute is not a text.
    ///
    /// ```
    /// use terrane::sdk::{Import, Value};
    /// let identity = Value::object([("id", Value::string("7"))]);
    /// for import in [Import::Id("7".to_owned()), Import::Identity(identity)] {
    ///     assert_eq!(import.id_or_attribute("id").unwrap(), "7");
    /// }
    /// ```
    pub fn id_or_attribute(&self, name: &str) -> Result<&str, Error> {
        match self {
            Import::Id(id) => Ok(id),
            Import::Identity(identity) => identity.get(name).and_then(Value::as_str).ok_or_else(not_importable),
        }
    }
}

/// An object in the state that was written with another version of the schema.
///
/// ```
/// # use terrane::sdk::{Error, Stored};
/// fn title(stored: &Stored) -> Result<String, Error> {
///     let text: serde_json::Value = serde_json::from_slice(stored.json()?)
///         .map_err(|error| Error::new("Unable to upgrade the note", error.to_string()))?;
///     Ok(text["text"].as_str().unwrap_or_default().to_owned())
/// }
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Stored {
    /// The version of the schema that it was stored with.
    pub version: i64,
    pub(super) raw: crate::model::provider::RawState,
    /// Of today's schema.
    pub(super) ty: crate::lang::value::Type,
}

impl Stored {
    /// The JSON text. Fails for states of Terraform 0.11 and earlier.
    pub fn json(&self) -> Result<&[u8], Error> {
        match &self.raw {
            crate::model::provider::RawState::Json(bytes) => Ok(bytes),
            crate::model::provider::RawState::Flat(_) => Err(Error::new(
                "Unable to Upgrade Resource State",
                "The object was stored by Terraform 0.11 or earlier, whose form is not supported.",
            )),
        }
    }

    /// The object with today's attributes: absent ones are null, others are dropped.
    pub fn object(&self) -> Result<Value, Error> {
        Ok(super::stored::stored_object(&self.raw, &self.ty)?)
    }
}

/// An object of another type.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Moved {
    /// "registry.terraform.io/hashicorp/null".
    pub source_provider: String,
    /// The type that the object had: "null_resource".
    pub source_type: String,
    /// The version of the schema of that type.
    pub source_version: i64,
    /// The JSON text of the object.
    pub source_state: bytes::Bytes,
    pub(super) target_type: String,
}

impl Moved {
    /// The object with the attributes of a schema: absent ones are null, others are dropped.
    pub fn object(&self, schema: &Schema) -> Result<Value, Error> {
        let raw = crate::model::provider::RawState::Json(self.source_state.clone());
        Ok(super::stored::stored_object(&raw, &schema.block.ty())?)
    }

    /// The error for types that objects of the source cannot become.
    pub fn unsupported(&self) -> Error {
        Error::new(
            "Resource Move Not Supported",
            format!("The {:?} resource type does not support moving from {:?}.", self.target_type, self.source_type),
        )
    }
}
