//! Plan modifiers: what the plan of an attribute does beyond defaults and unknowns.

use terrane_value::{Path, Value};

/// What a modifier sees of its attribute or block, and what it may change.
///
/// ```
/// use terrane_sdk::{Attribute, PlannedAttribute};
///
/// /// Disks only grow; to make one smaller, it is replaced.
/// fn replace_if_smaller(size: &mut PlannedAttribute<'_>) {
///     if size.planned.as_i64() < size.prior.as_i64() {
///         size.requires_replace = true;
///     }
/// }
///
/// let size = Attribute::int("size").required().modifier(replace_if_smaller);
/// ```
#[non_exhaustive]
pub struct PlannedAttribute<'a> {
    /// The place of the attribute or block in the object.
    pub path: &'a Path,
    /// Null if it is not configured.
    pub config: &'a Value,
    /// Null if there is no prior object.
    pub prior: &'a Value,
    /// The planned value so far. A modifier changes it, but not where a value is configured.
    pub planned: Value,
    /// A change of the value replaces the object.
    pub requires_replace: bool,
    /// The whole prior object; null during creation.
    pub prior_object: &'a Value,
    /// The whole configuration.
    pub config_object: &'a Value,
    /// The whole planned object before modifiers; null during destruction.
    pub planned_object: &'a Value,
}

/// Changes the plan of one attribute or block. Any `Fn(&mut PlannedAttribute)` is one.
///
/// ```
/// use terrane_sdk::{Attribute, PlannedAttribute, Value, replace_if};
///
/// /// Known before apply: the name in lower case.
/// fn from_name(attribute: &mut PlannedAttribute<'_>) {
///     if let Some(name) = attribute.config_object.get("name").and_then(Value::as_str) {
///         attribute.planned = Value::string(name.to_lowercase());
///     }
/// }
///
/// let host = Attribute::string("host").computed().modifier(from_name);
/// let size = Attribute::int("size").required();
/// let size = size.modifier(replace_if(|size| size.planned.as_i64() < size.prior.as_i64()));
/// ```
pub trait PlanModifier: Send + Sync + 'static {
    /// Changes `planned`, or sets `requires_replace`.
    ///
    /// ```
    /// use terrane_sdk::{Attribute, PlanModifier, PlannedAttribute, Value};
    ///
    /// struct KnownAs(&'static str);
    ///
    /// impl PlanModifier for KnownAs {
    ///     fn modify(&self, attribute: &mut PlannedAttribute<'_>) {
    ///         if attribute.config.is_null() {
    ///             attribute.planned = Value::string(self.0);
    ///         }
    ///     }
    /// }
    ///
    /// let zone = Attribute::string("zone").optional().computed().modifier(KnownAs("eu-1"));
    /// ```
    fn modify(&self, attribute: &mut PlannedAttribute<'_>);
}

impl<F: Fn(&mut PlannedAttribute<'_>) + Send + Sync + 'static> PlanModifier for F {
    fn modify(&self, attribute: &mut PlannedAttribute<'_>) {
        self(attribute);
    }
}

impl PlannedAttribute<'_> {
    /// True if an existing object changes in this attribute.
    fn is_changed(&self) -> bool {
        !self.prior_object.is_null() && !self.planned_object.is_null() && self.planned != *self.prior
    }

    /// True if nothing is configured and the plan does not know the value yet.
    fn is_open(&self) -> bool {
        !self.prior_object.is_null() && !self.planned.is_known() && self.config.is_known()
    }
}

/// Keeps the prior value, null too, where the plan would be unknown.
///
/// ```
/// # use terrane_sdk::{Attribute, keep};
/// let id = Attribute::string("id").computed().modifier(keep());
/// ```
pub fn keep() -> impl PlanModifier {
    |attribute: &mut PlannedAttribute<'_>| {
        if attribute.is_open() {
            attribute.planned = attribute.prior.clone();
        }
    }
}

/// As [`keep`], unless the prior value is null.
///
/// ```
/// # use terrane_sdk::{Field, Model};
/// #[derive(Model)]
/// struct Machine {
///     #[attribute(computed, keep_unless_null)]
///     address: Field<String>,
/// }
/// # assert_eq!(Machine::block().attributes[0].modifiers.len(), 1);
/// ```
pub fn keep_unless_null() -> impl PlanModifier {
    |attribute: &mut PlannedAttribute<'_>| {
        if attribute.is_open() && !attribute.prior.is_null() {
            attribute.planned = attribute.prior.clone();
        }
    }
}

/// A change replaces the object.
///
/// ```
/// # use terrane_sdk::{Attribute, replace};
/// let name = Attribute::string("name").required().modifier(replace());
/// ```
pub fn replace() -> impl PlanModifier {
    replace_if(|_| true)
}

/// A configured change replaces the object.
///
/// ```
/// # use terrane_sdk::{Attribute, replace_if_configured};
/// let zone = Attribute::string("zone").optional().computed().modifier(replace_if_configured());
/// ```
pub fn replace_if_configured() -> impl PlanModifier {
    replace_if(|attribute| !attribute.config.is_null())
}

/// A change for which `decide` is true replaces the object.
///
/// ```
/// # use terrane_sdk::{Model, PlannedAttribute, replace_if};
/// fn is_smaller(size: &PlannedAttribute<'_>) -> bool {
///     size.planned.as_i64() < size.prior.as_i64()
/// }
///
/// #[derive(Model)]
/// struct Disk {
///     #[attribute(required, modifiers(replace_if(is_smaller)))]
///     size: i64,
/// }
/// ```
pub fn replace_if(decide: impl Fn(&PlannedAttribute<'_>) -> bool + Send + Sync + 'static) -> impl PlanModifier {
    move |attribute: &mut PlannedAttribute<'_>| {
        if attribute.is_changed() && decide(attribute) {
            attribute.requires_replace = true;
        }
    }
}
