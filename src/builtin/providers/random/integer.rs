//! `random_integer`: a number of a range.

use terrane_sdk::{Context, Creation, Error, Field, Import, Model, Resource, Schema};

use super::read_error;
use super::source::RandomSource;
use crate::providers::rules::{Keepers, replace_if_values};

/// A random whole number of a range.
#[derive(Model)]
pub struct IntegerModel {
    /// Any texts; a change of one replaces the resource, and so its random result.
    #[attribute(optional, modifiers(replace_if_values()))]
    keepers: Keepers,
    /// The smallest number that may come.
    #[attribute(required, replace)]
    min: i64,
    /// The largest number that may come.
    #[attribute(required, replace)]
    max: i64,
    /// Any text: the same one gives the same number.
    #[attribute(optional, replace)]
    seed: Option<String>,
    /// The number.
    #[attribute(computed, keep)]
    result: Field<i64>,
    /// The number, as text.
    #[attribute(computed, keep)]
    id: Field<String>,
}

pub struct Integer;

impl Resource for Integer {
    type Data = ();
    type Model = IntegerModel;

    fn schema(&self) -> Schema {
        Schema::of::<IntegerModel>().plain_text()
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<IntegerModel>) -> Result<IntegerModel, Error> {
        let planned = creation.planned.model()?;
        let IntegerModel { min, max, .. } = planned;
        if max < min {
            return Err(Error::new(
                "Create Random Integer Error",
                "The minimum (min) value needs to be smaller than or equal to maximum (max) value.",
            ));
        }
        let mut source = RandomSource::new(planned.seed.as_deref());
        // The count of all 64-bit numbers does not fit in 64 bits: there the largest is left out.
        let count = max.abs_diff(min).saturating_add(1);
        let number = min.wrapping_add_unsigned(source.below(count).map_err(read_error)?);
        Ok(IntegerModel { result: Field::known(number), id: Field::known(number.to_string()), ..planned })
    }

    /// `RESULT,MIN,MAX[,SEED]`
    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<IntegerModel, Error> {
        let failed = |detail: String| Error::new("Import Random Integer Error", detail);
        let parts: Vec<&str> = import.id()?.split(',').collect();
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
            text.parse::<i64>().map_err(|_| {
                failed(format!(
                    "The {what} supplied could not be parsed as an integer.\n\n\
                     Original Error: strconv.ParseInt: parsing {text:?}: invalid syntax"
                ))
            })
        };
        Ok(IntegerModel {
            keepers: None,
            result: Field::Known(number("value", result)?),
            min: number("min value", min)?,
            max: number("max value", max)?,
            id: Field::known(result),
            seed: seed.map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use terrane_sdk::Value;

    use super::super::Random;
    use crate::providers::tester::{Tester, text};

    async fn integer() -> Tester {
        Tester::resource(Random, "random_integer").await
    }

    async fn create(min: i64, max: i64, seed: &str) -> Result<i64, String> {
        let integer = integer().await;
        let planned =
            integer.object([("min", Value::int(min)), ("max", Value::int(max)), ("seed", Value::string(seed))]);
        let created = integer.create(planned).await.map_err(|error| error.detail)?;
        Ok(created.get("result").and_then(Value::as_i64).unwrap())
    }

    #[tokio::test]
    async fn range_and_seed() {
        for _ in 0..50 {
            assert!((-2..=2).contains(&create(-2, 2, "").await.unwrap()));
        }
        assert_eq!(create(7, 7, "").await, Ok(7));
        assert_eq!(create(0, 1_000_000, "s").await, create(0, 1_000_000, "s").await);
        assert!(create(i64::MIN, i64::MAX, "").await.is_ok());
        assert!(create(i64::MIN, i64::MAX, "s").await.is_ok());
        assert!(create(2, 1, "").await.unwrap_err().starts_with("The minimum (min) value"));
    }

    #[tokio::test]
    async fn import() {
        let imported = integer().await.import("15390,1,50000,seed").await.unwrap();
        assert_eq!((imported.get("result"), text(&imported, "seed")), (Some(&Value::int(15390)), "seed"));
        for (id, detail) in [("1,2", "Invalid import usage"), ("1,x,3", "The min value supplied")] {
            assert!(integer().await.import(id).await.unwrap_err().detail.starts_with(detail));
        }
    }
}
