//! What the methods of resources are given: configurations, plans, changes, imports and stored objects.

use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics, RawState};
use terrane_value::{Path, Type, Value};

use super::error::Error;
use super::model::{Model, Values};
use super::schema::Schema;

/// A configuration to check.
///
/// ```
/// # use terrane_sdk::{Field, Model, Validation};
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
    ///
    /// ```
    /// # use terrane_sdk::{Model, Validation};
    /// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
    /// fn refuse(validation: &mut Validation<'_, Note>) {
    ///     validation.error(Note::TITLE.path(), "Invalid title", "Titles have at most 80 letters.");
    /// }
    /// ```
    pub fn error(&mut self, path: Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.found.push(ProviderDiagnostic::error(summary, detail).at(path));
    }

    /// Reports a warning about an attribute.
    ///
    /// ```
    /// # use terrane_sdk::{Model, Validation};
    /// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
    /// fn warn(validation: &mut Validation<'_, Note>) {
    ///     validation.warn(Note::TITLE.path(), "Long title", "The service shows only 80 letters.");
    /// }
    /// ```
    pub fn warn(&mut self, path: Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.found.push(ProviderDiagnostic::warning(summary, detail).at(path));
    }

    /// Reports an error that another function returned.
    ///
    /// ```
    /// # use terrane_sdk::{Error, Validation};
    /// fn check_all<M>(validation: &mut Validation<'_, M>, checks: &[fn() -> Result<(), Error>]) {
    ///     for error in checks.iter().filter_map(|check| check().err()) {
    ///         validation.add(error);
    ///     }
    /// }
    /// ```
    pub fn add(&mut self, error: impl Into<Error>) {
        self.found.extend(error.into().diagnostics);
    }
}

/// A planned change.
///
/// ```
/// # use terrane_sdk::{Error, Field, Model, Plan};
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
    ///
    /// ```
    /// # use terrane_sdk::{Context, Error, Plan};
    /// fn plan<M>(context: &mut Context<Vec<String>>, plan: &Plan<M>) -> Result<(), Error> {
    ///     if plan.is_create() && context.data()?.len() >= 100 {
    ///         context.warn("Many machines", "The account has 100 machines or more.");
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn is_create(&self) -> bool {
        self.prior.is_absent()
    }

    /// True if the object is to be deleted.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Plan};
    /// fn plan<M>(context: &mut Context<()>, plan: &Plan<M>) {
    ///     if plan.is_destroy() {
    ///         context.warn("Backups are kept", "Backups of the machine are not deleted.");
    ///     }
    /// }
    /// ```
    pub fn is_destroy(&self) -> bool {
        self.planned.is_absent()
    }
}

/// A planned creation.
///
/// ```
/// # use terrane_sdk::{Creation, Error, Field, Model};
/// # #[derive(Model)] struct Login {
/// # #[attribute(required)] name: String,
/// # #[attribute(optional, write_only)] password: Option<String> }
/// fn request(creation: &Creation<Login>) -> Result<(String, Option<String>), Error> {
///     // Plans never have write-only values.
///     let password = creation.config.get(Login::PASSWORD)?.into_option();
///     Ok((creation.planned.model()?.name, password))
/// }
/// ```
#[non_exhaustive]
pub struct Creation<M> {
    /// With write-only values.
    pub config: Values<M>,
    /// Known, but for computed attributes.
    pub planned: Values<M>,
    pub(super) partial: Option<Value>,
}

/// A planned change in place.
///
/// ```
/// # use terrane_sdk::{Error, Model, Update};
/// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
/// fn is_renamed(update: &Update<Note>) -> Result<bool, Error> {
///     Ok(update.prior.model()?.title != update.planned.model()?.title)
/// }
/// ```
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
    ///
    /// ```
    /// # use terrane_sdk::{Creation, Error, Field, Model};
    /// # #[derive(Clone, Model)] struct Note { #[attribute(computed)] id: Field<String> }
    /// # async fn add_tags(_: &Note) -> Result<(), Error> { Ok(()) }
    /// async fn create(creation: &mut Creation<Note>) -> Result<Note, Error> {
    ///     let note = Note { id: Field::known("7") };
    ///     // The note exists even if the tags cannot be added.
    ///     creation.store(note.clone());
    ///     add_tags(&note).await?;
    ///     Ok(note)
    /// }
    /// ```
    pub fn store(&mut self, object: M) {
        self.partial = Some(object.into_value());
    }
}

impl<M: Model> Update<M> {
    /// Stores the object as it is so far, in case the update fails later.
    ///
    /// ```
    /// # use terrane_sdk::{Error, Model, Update};
    /// # #[derive(Clone, Model)] struct Note { #[attribute(required)] title: String }
    /// # async fn add_tags(_: &Note) -> Result<(), Error> { Ok(()) }
    /// async fn update(update: &mut Update<Note>) -> Result<Note, Error> {
    ///     let note = update.planned.model()?;
    ///     update.store(note.clone());
    ///     add_tags(&note).await?;
    ///     Ok(note)
    /// }
    /// ```
    pub fn store(&mut self, object: M) {
        self.partial = Some(object.into_value());
    }
}

/// What an import names.
///
/// ```
/// # use terrane_sdk::{Import, Value};
/// fn id(import: &Import) -> Option<&str> {
///     match import {
///         Import::Id(id) => Some(id),
///         Import::Identity(identity) => identity.get("id").and_then(Value::as_str),
///         _ => None,
///     }
/// }
/// assert_eq!(id(&Import::Id("7".to_owned())), Some("7"));
/// ```
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
    ///
    /// ```
    /// # use terrane_sdk::{Import, Value};
    /// assert_eq!(Import::Id("7".to_owned()).id().unwrap(), "7");
    /// assert!(Import::Identity(Value::empty_object()).id().is_err());
    /// ```
    pub fn id(&self) -> Result<&str, Error> {
        match self {
            Import::Id(id) => Ok(id),
            Import::Identity(_) => Err(not_importable()),
        }
    }

    /// The id, or an attribute of the identity that has the same meaning. Fails if the attribute is not a text.
    ///
    /// ```
    /// use terrane_sdk::{Import, Value};
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

/// The error of types without import.
///
/// ```
/// # use terrane_sdk::{Error, Import, not_importable};
/// fn path(import: &Import) -> Result<&str, Error> {
///     match import {
///         Import::Id(id) if id.starts_with('/') => Ok(id),
///         _ => Err(not_importable()),
///     }
/// }
/// assert!(path(&Import::Id("notes".to_owned())).is_err());
/// ```
pub fn not_importable() -> Error {
    Error::new(
        "Resource Import Not Implemented",
        "This resource does not support import. Please contact the provider developer for additional information.",
    )
}

/// An object in the state that was written with another version of the schema.
///
/// ```
/// # use terrane_sdk::{Error, Stored};
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
    pub(super) raw: RawState,
    /// Of today's schema.
    pub(super) ty: Type,
}

impl Stored {
    /// The JSON text. Fails for states of Terraform 0.11 and earlier.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Resource, testing};
    /// # struct Lock; impl Resource for Lock { type Data = (); type Model = ();
    /// # async fn create(&self, _: &mut Context<()>, _: &mut Creation<()>) -> Result<(), Error> { Ok(()) } }
    /// let stored = testing::stored(&Lock, 0, r#"{"id":"7"}"#);
    /// assert_eq!(stored.json().unwrap(), br#"{"id":"7"}"#);
    /// ```
    pub fn json(&self) -> Result<&[u8], Error> {
        match &self.raw {
            RawState::Json(bytes) => Ok(bytes),
            RawState::Flat(_) => Err(Error::new(
                "Unable to Upgrade Resource State",
                "The object was stored by Terraform 0.11 or earlier, whose form is not supported.",
            )),
        }
    }

    /// The object with today's attributes: absent ones are null, others are dropped.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Model, Resource, Value, testing};
    /// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
    /// # struct NoteResource; impl Resource for NoteResource { type Data = (); type Model = Note;
    /// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<Note>) -> Result<Note, Error> { new.planned.model() } }
    /// let stored = testing::stored(&NoteResource, 0, r#"{"title":"Milk","color":"red"}"#);
    /// assert_eq!(stored.object().unwrap(), Value::object([("title", Value::string("Milk"))]));
    /// ```
    pub fn object(&self) -> Result<Value, Error> {
        Ok(super::stored::stored_object(&self.raw, &self.ty)?)
    }
}

/// An object of another type.
///
/// ```
/// # use terrane_sdk::Moved;
/// fn is_null_resource(moved: &Moved) -> bool {
///     moved.source_provider.ends_with("hashicorp/null") && moved.source_type == "null_resource"
/// }
/// ```
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
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Error, Moved, Schema, Value};
    /// fn file_name(moved: &Moved) -> Result<Option<String>, Error> {
    ///     let old = Schema::new([Attribute::string("filename").required()]);
    ///     let object = moved.object(&old)?;
    ///     Ok(object.get("filename").and_then(Value::as_str).map(str::to_owned))
    /// }
    /// ```
    pub fn object(&self, schema: &Schema) -> Result<Value, Error> {
        let raw = RawState::Json(self.source_state.clone());
        Ok(super::stored::stored_object(&raw, &schema.block.ty())?)
    }

    /// The error for types that objects of the source cannot become. Summary and facts are those of
    /// terraform-plugin-framework.
    ///
    /// ```
    /// # use terrane_sdk::{Error, Moved};
    /// fn check(moved: &Moved) -> Result<(), Error> {
    ///     if moved.source_version > 2 { Err(moved.unsupported()) } else { Ok(()) }
    /// }
    /// ```
    pub fn unsupported(&self) -> Error {
        Error::new(
            "Unable to Move Resource State",
            format!(
                "The target resource implementation does not include support for the given source resource.\n\n\
                 Source Provider Address: {}\nSource Resource Type: {}\nSource Resource Schema Version: {}\n\
                 Target Resource Type: {}",
                self.source_provider, self.source_type, self.source_version, self.target_type
            ),
        )
    }
}
