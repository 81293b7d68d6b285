//! `random_string` and `random_password`, the latter also as an ephemeral resource.

use bcrypt::Version;
use terrane_sdk::{
    Attribute, Context, Creation, Ephemeral, Error, Import, Object, Opened, Plan, PlanModifier, PlannedAttribute,
    Resource, Schema, Stored, Value, Values, keep, replace,
};

use super::characters::{character_attributes, digits_attribute, generate};
use crate::providers::rules::replace_if_values;

const BCRYPT_COST: u32 = 10;
const HASH: &str = "A bcrypt hash of the text, of its first 72 bytes if it is longer.";

/// The hash as Go's library writes it; only the first 72 bytes count.
fn bcrypt_hash(text: &str) -> Result<Value, Error> {
    let bytes = &text.as_bytes()[..text.len().min(72)];
    let hash = bcrypt::hash_with_result(bytes, BCRYPT_COST).map_err(|error| {
        Error::new(
            "Hash Generation Error",
            format!(
                "While attempting to generate a hash from the password an error occurred.\n\n\
                 Verify that the state contains a populated 'result' field, using 'terraform state show', and retry \
                 the operation\n\nOriginal Error: {error}"
            ),
        )
    })?;
    Ok(Value::string(hash.format_for_version(Version::TwoA)))
}

/// Whether a hash in a state of version 2 is that of the text.
fn hash_matches(text: &str, hash: &str) -> Result<bool, Error> {
    bcrypt::verify(text.as_bytes(), hash).map_err(|error| {
        Error::new(
            "Version 3 State Upgrade Error",
            format!(
                "An unexpected error occurred when comparing the state version 2 password and bcrypt hash. This is \
                 always an issue in the provider and should be reported to the provider developers.\n\n\
                 Original Error: {error}"
            ),
        )
    })
}

/// `random_string`, or `random_password`: the same with a secret result and its hash.
pub struct Text {
    is_secret: bool,
}

impl Text {
    pub fn string() -> Text {
        Text { is_secret: false }
    }

    pub fn password() -> Text {
        Text { is_secret: true }
    }

    fn filled(&self, object: &Object, text: &str) -> Result<Object, Error> {
        let result = Value::string(text);
        if !self.is_secret {
            return Ok(object.with([("result", result.clone()), ("id", result)]));
        }
        Ok(object.with([("result", result), ("bcrypt_hash", bcrypt_hash(text)?), ("id", Value::string("none"))]))
    }
}

/// The value of both `number` and `numeric`: the configured one, true by default; none if both are configured.
fn digits_wanted(config: &Value) -> Option<Value> {
    let get = |name| config.get(name).filter(|value| !value.is_null());
    match (get("number"), get("numeric")) {
        (None, None) => Some(Value::bool(true)),
        (Some(one), None) | (None, Some(one)) => Some(one.clone()),
        (Some(_), Some(_)) => None,
    }
}

/// Plans `number` and `numeric` alike.
fn same_digits() -> impl PlanModifier {
    |attribute: &mut PlannedAttribute<'_>| {
        if let Some(wanted) = digits_wanted(attribute.config_object) {
            attribute.planned = wanted;
        }
    }
}

/// The attributes of both resources that follow from the others.
fn computed_attributes(is_secret: bool) -> Vec<Attribute> {
    let computed = |name, description| Attribute::string(name).description(description).computed().modifier(keep());
    if is_secret {
        return vec![
            computed("result", "The text.").sensitive(),
            computed("bcrypt_hash", HASH).sensitive(),
            computed("id", "A fixed text, for internal use; not to be referred to."),
        ];
    }
    vec![computed("result", "The text."), computed("id", "The text.")]
}

impl Resource for Text {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let mut attributes = character_attributes(true);
        let keepers = "Any texts; a change of one replaces the resource, and so its random result.";
        let keepers = Attribute::string_map("keepers").description(keepers).optional();
        attributes.push(keepers.modifier(replace_if_values()));
        let digits = |name| digits_attribute(name).modifier(same_digits()).modifier(replace());
        attributes.push(digits("numeric"));
        attributes.push(digits("number").deprecated("**NOTE**: This is deprecated, use `numeric` instead."));
        attributes.extend(computed_attributes(self.is_secret));
        if self.is_secret {
            let description = "As `random_string`, with a result that is not shown.";
            return Schema::new(attributes).version(3).description(description);
        }
        let description = "A random text of letters, digits and special characters. For secrets use `random_password`.";
        Schema::new(attributes).version(2).description(description)
    }

    async fn plan(&self, _: &mut Context<()>, plan: &mut Plan<Object>) -> Result<(), Error> {
        let configured = |name| plan.config.value().get(name).and_then(Value::as_bool);
        match (configured("number"), configured("numeric")) {
            (Some(number), Some(numeric)) if number != numeric => Err(Error::new(
                "Number and numeric are both configured with different values",
                "Number is deprecated, use numeric instead",
            )),
            _ => Ok(()),
        }
    }

    /// Version 1 has no `numeric`; objects imported by old versions lack what has a default; version 2 of the password
    /// may hold a hash of another text.
    async fn upgrade(&self, _: &mut Context<()>, stored: Stored) -> Result<Object, Error> {
        let object = Object(stored.object()?);
        let result = object.text("result").unwrap_or_default();
        let or = |name: &'static str, default: Value| {
            (name, Some(object.value(name)).filter(|value| !value.is_null()).unwrap_or(default))
        };
        let (_, number) = or("number", Value::bool(true));
        let upgraded = object.with([
            or("length", length_of(result)),
            or("special", Value::bool(true)),
            or("upper", Value::bool(true)),
            or("lower", Value::bool(true)),
            ("numeric", number.clone()),
            ("number", number),
            or("min_numeric", Value::int(0)),
            or("min_upper", Value::int(0)),
            or("min_lower", Value::int(0)),
            or("min_special", Value::int(0)),
        ]);
        if !self.is_secret {
            return Ok(upgraded);
        }
        let good = match stored.version {
            0 => false,
            1 => true,
            _ => hash_matches(result, object.text("bcrypt_hash").unwrap_or_default())?,
        };
        if good { Ok(upgraded) } else { Ok(upgraded.with([("bcrypt_hash", bcrypt_hash(result)?)])) }
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = creation.planned.model()?;
        self.filled(&planned, &generate(&planned)?)
    }

    /// The text itself.
    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<Object, Error> {
        let text = import.id()?;
        let flags = ["special", "upper", "lower", "number", "numeric"].map(|name| (name, Value::bool(true)));
        let minima = ["min_special", "min_upper", "min_lower", "min_numeric"].map(|name| (name, Value::int(0)));
        let start = Object::of(&self.schema().block, [("length", length_of(text))]).with(flags).with(minima);
        self.filled(&start, text)
    }
}

/// In bytes, as the real provider counts.
fn length_of(text: &str) -> Value {
    Value::int(i64::try_from(text.len()).unwrap_or(i64::MAX))
}

/// `ephemeral "random_password"`: a new one each time, kept nowhere.
pub struct EphemeralPassword;

impl Ephemeral for EphemeralPassword {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let mut attributes = character_attributes(false);
        let computed = |name, description| Attribute::string(name).description(description).computed().sensitive();
        attributes.extend([
            digits_attribute("numeric"),
            computed("result", "The text."),
            computed("bcrypt_hash", HASH),
        ]);
        Schema::new(attributes).description("A random password that is kept neither in the plan nor in the state.")
    }

    async fn open(&self, _: &mut Context<()>, config: Values<Object>) -> Result<Opened<Object>, Error> {
        let config = config.model()?;
        let text = generate(&config)?;
        let flags = ["special", "upper", "lower", "numeric"].map(|name| (name, Value::bool(true)));
        let minima = ["min_numeric", "min_upper", "min_lower", "min_special"].map(|name| (name, Value::int(0)));
        let defaults = flags.into_iter().chain(minima).filter(|(name, _)| config.value(name).is_null());
        let opened = config.with(defaults);
        Ok(Opened::new(opened.with([("result", Value::string(&text)), ("bcrypt_hash", bcrypt_hash(&text)?)])))
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
