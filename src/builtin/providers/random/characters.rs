//! The characters of random texts: the attributes that select them, and the selection.

use terrane_sdk::validators::{INVALID_COMBINATION, at_least, at_least_sum_of};
use terrane_sdk::{Attribute, ConfiguredAttribute, Error, Object, Validator, Value, replace};

use super::source::{RandomError, RandomSource};
use super::{LONGEST, count_of, read_error};
use crate::providers::rules::replace_unless_empty_to_null;

pub const DIGITS: &str = "0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
pub const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub const SPECIAL: &str = "!@#$%&*()-_=+[]{}<>:?";

const MINIMA: &[&str] = &["min_upper", "min_lower", "min_numeric", "min_special"];

/// Which characters the text is made of. Those that are not configured have defaults if the text is stored, and are
/// computed if it is not.
pub fn character_attributes(is_stored: bool) -> Vec<Attribute> {
    let or = |attribute: Attribute, default: Value| {
        if is_stored { attribute.default(default).modifier(replace()) } else { attribute.optional().computed() }
    };
    let flag = |name, description| or(Attribute::bool(name).description(description), Value::bool(true));
    let minimum = |name, description| or(Attribute::int(name).description(description), Value::int(0));
    let count = "How many characters; at least 1 and at least `min_upper`, `min_lower`, `min_numeric` and `min_special` \
                 together.";
    let special = "Whether to use special characters (`!@#$%&*()-_=+[]{}<>:?`); true if not given.";
    let other = "The special characters to use in place of the usual ones.";
    let length = Attribute::int("length").description(count).required();
    let length = length.validator(at_least(1)).validator(at_least_sum_of(MINIMA));
    let override_special = Attribute::string("override_special").description(other).optional();
    vec![
        if is_stored { length.modifier(replace()) } else { length },
        flag("special", special),
        flag("upper", "Whether to use upper case letters; true if not given."),
        flag("lower", "Whether to use lower case letters; true if not given."),
        minimum("min_numeric", "The least count of digits; 0 if not given."),
        minimum("min_upper", "The least count of upper case letters; 0 if not given."),
        minimum("min_lower", "The least count of lower case letters; 0 if not given."),
        minimum("min_special", "The least count of special characters; 0 if not given."),
        if is_stored { override_special.modifier(replace_unless_empty_to_null()) } else { override_special },
    ]
}

/// Whether to use digits: optional and computed.
pub fn digits_attribute(name: &str) -> Attribute {
    let digits = "Whether to use digits; true if not given.";
    Attribute::bool(name).description(digits).optional().computed().validator(some_characters())
}

/// Not all classes of characters may be configured false.
fn some_characters() -> impl Validator {
    const OTHERS: [&str; 3] = ["special", "upper", "lower"];
    |attribute: &mut ConfiguredAttribute<'_>| {
        let is_false = |value: &Value| value.as_bool() == Some(false);
        if is_false(attribute.value) && OTHERS.iter().all(|name| attribute.config.get(name).is_some_and(is_false)) {
            let own = attribute.path.to_string();
            let list = format!("{},{}", OTHERS.join(","), own.trim_start_matches('.'));
            let detail = format!("At least one attribute out of [{list}] must be specified as true");
            attribute.error(INVALID_COMBINATION, detail);
        }
    }
}

/// A text as `planned` describes it.
pub fn generate(planned: &Object) -> Result<String, Error> {
    let special = planned.text("override_special").filter(|text| !text.is_empty());
    let special = special.unwrap_or(SPECIAL);
    let classes = [
        ("upper", "min_upper", UPPER),
        ("lower", "min_lower", LOWER),
        ("numeric", "min_numeric", DIGITS),
        ("special", "min_special", special),
    ];
    let length = count_of("length", planned.int("length").unwrap_or(0), LONGEST)?;
    for minimum in MINIMA {
        count_of(minimum, planned.int(minimum).unwrap_or(0), LONGEST)?;
    }
    let draw = || -> Result<Vec<char>, RandomError> {
        let mut source = RandomSource::new(None);
        let mut all = Vec::new();
        let mut result = Vec::with_capacity(length);
        for (flag, minimum, characters) in classes {
            let characters: Vec<char> = characters.chars().collect();
            for _ in 0..planned.int(minimum).unwrap_or(0) {
                result.push(source.pick(&characters)?);
            }
            if planned.bool(flag).unwrap_or(true) {
                all.extend(characters);
            }
        }
        if all.is_empty() {
            return Err(RandomError::NoCharacters);
        }
        while result.len() < length {
            result.push(source.pick(&all)?);
        }
        source.shuffle(&mut result)?;
        Ok(result)
    };
    Ok(draw().map_err(read_error)?.into_iter().collect())
}
