//! Models: structs that stand for objects of the language, and typed access to objects that may have unknown parts.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use terrane_value::{Path, Value};

use super::Field;
use super::convert::{FieldType, Mismatch};
use super::error::Error;
use super::schema::Block;

/// A struct that stands for an object: of a resource, a data source, a provider configuration or a nested block.
///
/// `#[derive(Model)]` writes it. [`Object`] is the model of those who build their schema at run time.
///
/// ```
/// # use std::collections::BTreeMap;
/// # use terrane_sdk::{Field, Model, Set};
/// /// A machine.
/// #[derive(Model)]
/// struct Machine {
///     /// Given by the service.
///     #[attribute(computed, keep)]
///     id: Field<String>,
///     /// A change replaces the machine.
///     #[attribute(required, replace)]
///     name: String,
///     #[attribute(default = 1)]
///     size: i64,
///     #[attribute(optional)]
///     labels: Option<BTreeMap<String, String>>,
///     #[block]
///     disk: Set<Disk>,
/// }
///
/// #[derive(Model)]
/// struct Disk {
///     #[attribute(required)]
///     gigabytes: i64,
/// }
///
/// assert_eq!(Machine::block().attributes.len(), 4);
/// assert_eq!(Machine::NAME.name(), "name");
/// ```
pub trait Model: Sized + Send + Sync + 'static {
    /// The attributes and blocks of the object.
    ///
    /// ```
    /// # use terrane_sdk::Model;
    /// #[derive(Model)]
    /// struct Note {
    ///     #[attribute(required)]
    ///     title: String,
    /// }
    /// assert!(Note::block().attributes[0].required);
    /// ```
    fn block() -> Block;
    /// Fails if a field cannot hold what is there: null or unknown.
    ///
    /// ```
    /// # use terrane_sdk::{Model, Type, Value};
    /// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
    /// let note = Note::from_value(&Value::object([("title", Value::string("Milk"))])).unwrap();
    /// assert_eq!(note.title, "Milk");
    /// assert!(Note::from_value(&Value::object([("title", Value::unknown(Type::String))])).is_err());
    /// ```
    fn from_value(value: &Value) -> Result<Self, Mismatch>;
    /// The object of the language.
    ///
    /// ```
    /// # use terrane_sdk::{Model, Value};
    /// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
    /// let value = Note { title: "Milk".to_owned() }.into_value();
    /// assert_eq!(value, Value::object([("title", Value::string("Milk"))]));
    /// ```
    fn into_value(self) -> Value;
}

/// The model of providers without configuration, and of actions and functions without arguments.
impl Model for () {
    fn block() -> Block {
        Block::default()
    }

    fn from_value(_value: &Value) -> Result<(), Mismatch> {
        Ok(())
    }

    fn into_value(self) -> Value {
        Value::empty_object()
    }
}

/// An object with attributes by name, for schemas that are built at run time. Names are not checked by the compiler.
///
/// ```
/// use terrane_sdk::{Attribute, Block, Object, Value};
/// let block = Block::new([Attribute::string("title").required(), Attribute::int("size").optional()]);
/// let object = Object::of(&block, [("title", Value::string("Milk"))]);
/// assert_eq!((object.text("title"), object.int("size")), (Some("Milk"), None));
/// assert_eq!(object.with([("size", Value::int(2))]).int("size"), Some(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object(pub Value);

impl Object {
    /// The attribute as text; none if it is null, unknown or absent.
    ///
    /// ```
    /// # use terrane_sdk::{Object, Value};
    /// let object = Object(Value::object([("title", Value::string("Milk"))]));
    /// assert_eq!((object.text("title"), object.text("body")), (Some("Milk"), None));
    /// ```
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// The attribute as a whole number; none if it is null, unknown, absent or has a fraction.
    ///
    /// ```
    /// # use terrane_sdk::{Object, Value};
    /// assert_eq!(Object(Value::object([("size", Value::int(2))])).int("size"), Some(2));
    /// ```
    pub fn int(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(Value::as_i64)
    }

    /// The attribute as a flag; none if it is null, unknown or absent.
    ///
    /// ```
    /// # use terrane_sdk::{Object, Value};
    /// assert_eq!(Object(Value::object([("done", Value::bool(true))])).bool("done"), Some(true));
    /// ```
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// The attribute; null of no type if it is absent.
    ///
    /// ```
    /// # use terrane_sdk::{Object, Value};
    /// let object = Object(Value::object([("size", Value::int(2))]));
    /// assert_eq!(object.value("size"), Value::int(2));
    /// assert!(object.value("title").is_null());
    /// ```
    pub fn value(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_else(Value::null_dynamic)
    }

    /// The elements that are texts, of a list or a set.
    ///
    /// ```
    /// # use terrane_sdk::{Object, Value};
    /// let object = Object(Value::object([("tags", Value::strings(["food", "milk"]))]));
    /// assert_eq!(object.texts("tags"), ["food", "milk"]);
    /// ```
    pub fn texts(&self, name: &str) -> Vec<String> {
        let elements = self.0.get(name).map(Value::elements).unwrap_or_default();
        elements.iter().filter_map(|element| Some(element.as_str()?.to_owned())).collect()
    }

    /// The same with some attributes replaced.
    ///
    /// ```
    /// # use terrane_sdk::{Object, Value};
    /// let note = Object(Value::object([("title", Value::string("Milk"))]));
    /// let saved = note.with([("id", Value::string("7"))]);
    /// assert_eq!((saved.text("id"), saved.text("title")), (Some("7"), Some("Milk")));
    /// ```
    #[must_use]
    pub fn with<K: Into<Arc<str>>>(&self, changes: impl IntoIterator<Item = (K, Value)>) -> Object {
        let mut attributes: BTreeMap<Arc<str>, Value> = self.0.entries().to_map();
        attributes.extend(changes.into_iter().map(|(name, value)| (name.into(), value)));
        Object(Value::object(attributes))
    }

    /// An object of a block from some of its attributes; the others are null, and there are no blocks.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Block, Object, Value};
    /// let block = Block::new([Attribute::string("id").computed(), Attribute::string("title").required()]);
    /// let object = Object::of(&block, [("title", Value::string("Milk"))]);
    /// assert!(object.value("id").is_null());
    /// ```
    pub fn of<K: Into<Arc<str>>>(block: &Block, attributes: impl IntoIterator<Item = (K, Value)>) -> Object {
        Object(block.to_model().empty_value()).with(attributes)
    }
}

impl Model for Object {
    fn block() -> Block {
        Block::default()
    }

    fn from_value(value: &Value) -> Result<Object, Mismatch> {
        Ok(Object(value.clone()))
    }

    fn into_value(self) -> Value {
        self.0
    }
}

/// The name and type of an attribute of a model. `#[derive(Model)]` makes a constant for each field.
///
/// ```
/// # use terrane_sdk::{Field, Key, Model, Values};
/// #[derive(Model)]
/// struct Note {
///     #[attribute(required)]
///     title: String,
/// }
/// const TITLE: Key<Note, String> = Note::TITLE;
/// let note = Values::of(Note { title: "Milk".to_owned() });
/// assert_eq!(note.get(TITLE).unwrap(), Field::known("Milk"));
/// ```
pub struct Key<M, T> {
    name: &'static str,
    types: PhantomData<fn() -> (M, T)>,
}

impl<M, T> Key<M, T> {
    #[doc(hidden)]
    pub const fn new(name: &'static str) -> Key<M, T> {
        Key { name, types: PhantomData }
    }

    /// The name of the attribute.
    ///
    /// ```
    /// # use terrane_sdk::Model;
    /// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
    /// assert_eq!(Note::TITLE.name(), "title");
    /// ```
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The place of the attribute, for errors about it.
    ///
    /// ```
    /// # use terrane_sdk::{Model, Path};
    /// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
    /// assert_eq!(Note::TITLE.path(), Path::new().attr("title"));
    /// ```
    pub fn path(self) -> Path {
        Path::new().attr(self.name)
    }
}

impl<M, T> Clone for Key<M, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, T> Copy for Key<M, T> {}

impl<M, T> fmt::Debug for Key<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// An object of a model, any part of which may be unknown: a configuration or a plan.
///
/// ```
/// use terrane_sdk::{Field, Model, Values};
/// #[derive(Model)]
/// struct Note {
///     #[attribute(required)]
///     title: String,
/// }
///
/// let mut values = Values::of(Note { title: "Milk".to_owned() });
/// assert_eq!(values.get(Note::TITLE).unwrap(), Field::known("Milk"));
/// values.set(Note::TITLE, Field::Unknown);
/// assert!(values.model().is_err(), "a String holds nothing unknown");
/// ```
pub struct Values<M> {
    value: Value,
    model: PhantomData<fn() -> M>,
}

impl<M> Clone for Values<M> {
    fn clone(&self) -> Self {
        Values::new(self.value.clone())
    }
}

impl<M> fmt::Debug for Values<M> {
    /// Only the type: values may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Values<{}>", std::any::type_name::<M>())
    }
}

impl<M> Values<M> {
    pub(super) fn new(value: Value) -> Values<M> {
        Values { value, model: PhantomData }
    }

    /// True if there is no object: the prior state of a creation, the plan of a destruction.
    ///
    /// ```
    /// # use terrane_sdk::{Model, Plan};
    /// fn is_create<M: Model>(plan: &Plan<M>) -> bool {
    ///     plan.prior.is_absent()
    /// }
    /// # assert!(!terrane_sdk::Values::of(()).is_absent());
    /// ```
    pub fn is_absent(&self) -> bool {
        self.value.is_null()
    }

    /// The whole object.
    ///
    /// ```
    /// # use terrane_sdk::{Model, Value, Values};
    /// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
    /// let values = Values::of(Note { title: "Milk".to_owned() });
    /// assert_eq!(values.value().get("title"), Some(&Value::string("Milk")));
    /// ```
    pub fn value(&self) -> &Value {
        &self.value
    }

    pub(super) fn into_inner(self) -> Value {
        self.value
    }

    /// An attribute that may be null or unknown; null if there is no object.
    ///
    /// ```
    /// # use terrane_sdk::{Field, Model, Values};
    /// # #[derive(Model)] struct Note { #[attribute(optional)] body: Option<String> }
    /// let values = Values::of(Note { body: None });
    /// assert_eq!(values.get(Note::BODY).unwrap(), Field::Null);
    /// ```
    pub fn get<T: FieldType<Known = T>>(&self, key: Key<M, T>) -> Result<Field<T>, Error> {
        let Some(value) = self.value.get(key.name) else { return Ok(Field::Null) };
        Field::from_value(value).map_err(|mismatch| Error::from(mismatch.within_attribute(key.name)))
    }

    /// Replaces an attribute. Nothing happens if there is no object.
    ///
    /// ```
    /// # use terrane_sdk::{Field, Model, Values};
    /// # #[derive(Model)] struct Note { #[attribute(computed)] id: Field<String> }
    /// let mut planned = Values::of(Note { id: Field::Unknown });
    /// planned.set(Note::ID, Field::known("7"));
    /// assert_eq!(planned.model().unwrap().id, Field::known("7"));
    /// ```
    pub fn set<T: FieldType<Known = T>>(&mut self, key: Key<M, T>, field: Field<T>) {
        self.set_value(key.name, field.into_value());
    }

    /// As [`Values::set`], by name.
    ///
    /// ```
    /// # use terrane_sdk::{Object, Value, Values};
    /// let mut planned = Values::of(Object(Value::empty_object()));
    /// planned.set_value("id", Value::string("7"));
    /// assert_eq!(planned.model().unwrap().text("id"), Some("7"));
    /// ```
    pub fn set_value(&mut self, name: &str, value: Value) {
        if self.value.is_null() || !self.value.is_known() {
            return;
        }
        let mut attributes = self.value.entries().to_map();
        attributes.insert(Arc::from(name), value);
        self.value = Value::object(attributes);
    }
}

impl<M: Model> Values<M> {
    /// A configuration or plan with these values, for tests.
    ///
    /// ```
    /// # use terrane_sdk::{Model, Values};
    /// # #[derive(Model)] struct Config { #[attribute(optional)] tag: Option<String> }
    /// let config = Values::of(Config { tag: Some("food".to_owned()) });
    /// assert_eq!(config.model().unwrap().tag.as_deref(), Some("food"));
    /// ```
    pub fn of(model: M) -> Values<M> {
        Values::new(model.into_value())
    }

    /// The model. Fails if there is no object, or if a field cannot hold what is unknown.
    ///
    /// ```
    /// # use terrane_sdk::{Field, Model, Values};
    /// # #[derive(Model)] struct Config { #[attribute(optional)] url: Option<String> }
    /// let mut config = Values::of(Config { url: None });
    /// assert_eq!(config.model().unwrap().url, None);
    /// config.set(Config::URL, Field::Unknown);
    /// assert!(config.model().is_err(), "an Option holds nothing unknown");
    /// ```
    pub fn model(&self) -> Result<M, Error> {
        if self.value.is_null() {
            return Err(Mismatch::new("there is no object").into());
        }
        Ok(M::from_value(&self.value)?)
    }
}

impl Mismatch {
    pub(super) fn within_attribute(self, name: &str) -> Mismatch {
        self.within(terrane_value::PathStep::Attr(Arc::from(name)))
    }
}
