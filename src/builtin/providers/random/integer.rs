//! `random_integer`: a number of a range.

use super::source::Source;
use super::{keepers, retry_error};
use crate::builtin::sdk::{Attr, Resource, Rule, Shape, int_of, object_with, text_of};
use crate::lang::value::{Type, Value};
use crate::model::provider::ProviderDiagnostic;

pub struct Integer(Shape);

impl Integer {
    pub fn new() -> Integer {
        Integer(Shape::new(
            0,
            "A random whole number of a range.",
            vec![
                keepers(),
                Attr::int("min", "The smallest number that may come.").required().rule(Rule::Replace),
                Attr::int("max", "The largest number that may come.").required().rule(Rule::Replace),
                Attr::string("seed", "Any text: the same one gives the same number.").optional().rule(Rule::Replace),
                Attr::int("result", "The number.").computed().rule(Rule::Keep),
                Attr::string("id", "The number, as text.").computed().rule(Rule::Keep),
            ],
        ))
    }
}

impl Resource for Integer {
    fn shape(&self) -> &Shape {
        &self.0
    }

    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        let (min, max) = (int_of(planned, "min").unwrap_or(0), int_of(planned, "max").unwrap_or(0));
        if max < min {
            return Err(ProviderDiagnostic::error(
                "Create Random Integer Error",
                "The minimum (min) value needs to be smaller than or equal to maximum (max) value.",
            ));
        }
        let mut source = Source::new(text_of(planned, "seed"));
        // The count of all 64-bit numbers does not fit in 64 bits: there the largest is left out.
        let count = max.abs_diff(min).saturating_add(1);
        let offset = source.below(count).map_err(|error| {
            retry_error(
                "Random Read Error",
                "While attempting to generate a random value for this resource, a read error was generated.",
                &error,
            )
        })?;
        let number = min.wrapping_add_unsigned(offset);
        Ok(object_with(planned, [("result", Value::int(number)), ("id", Value::string(number.to_string()))]))
    }

    /// `RESULT,MIN,MAX[,SEED]`
    fn import(&self, id: &str) -> Result<Value, ProviderDiagnostic> {
        let failed = |detail: String| ProviderDiagnostic::error("Import Random Integer Error", detail);
        let parts: Vec<&str> = id.split(',').collect();
        let (result, min, max, seed) = match *parts.as_slice() {
            [result, min, max] => (result, min, max, None),
            [result, min, max, seed] => (result, min, max, Some(seed)),
            _ => {
                return Err(failed(
                    "Invalid import usage: expecting {result},{min},{max} or {result},{min},{max},{seed}".into(),
                ));
            }
        };
        let number = |what: &str, text: &str| {
            text.parse::<i64>().map(Value::int).map_err(|_| {
                failed(format!(
                    "The {what} supplied could not be parsed as an integer.\n\n\
                     Original Error: strconv.ParseInt: parsing {text:?}: invalid syntax"
                ))
            })
        };
        Ok(self.0.object([
            ("result", number("value", result)?),
            ("min", number("min value", min)?),
            ("max", number("max value", max)?),
            ("id", Value::string(result)),
            ("seed", seed.map_or(Value::null(Type::String), Value::string)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(min: i64, max: i64, seed: &str) -> Result<i64, String> {
        let integer = Integer::new();
        let planned =
            integer.0.object([("min", Value::int(min)), ("max", Value::int(max)), ("seed", Value::string(seed))]);
        integer.create(&planned).map(|created| int_of(&created, "result").unwrap()).map_err(|error| error.detail)
    }

    #[test]
    fn range_and_seed() {
        for _ in 0..50 {
            assert!((-2..=2).contains(&create(-2, 2, "").unwrap()));
        }
        assert_eq!(create(7, 7, ""), Ok(7));
        assert_eq!(create(0, 1_000_000, "s"), create(0, 1_000_000, "s"));
        assert!(create(i64::MIN, i64::MAX, "").is_ok());
        assert!(create(2, 1, "").unwrap_err().starts_with("The minimum (min) value"));
    }

    #[test]
    fn import() {
        let imported = Integer::new().import("15390,1,50000,seed").unwrap();
        assert_eq!(int_of(&imported, "result"), Some(15390));
        assert_eq!(text_of(&imported, "seed"), Some("seed"));
        assert!(imported.get("keepers").unwrap().is_null());
        assert!(Integer::new().import("1,2").unwrap_err().detail.starts_with("Invalid import usage"));
        assert!(Integer::new().import("1,x,3").unwrap_err().detail.starts_with("The min value supplied"));
    }
}
