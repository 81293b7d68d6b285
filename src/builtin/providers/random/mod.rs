//! The `random` provider, compatible with version 3.9 of hashicorp/random: a `seed` gives the same results.
//!
//! Never stores anything outside of the state.

mod bytes;
mod characters;
mod generator;
mod integer;
mod list;
mod source;
mod text;
mod words;

use source::RandomError;
use terrane_sdk::validators::INVALID_VALUE;
use terrane_sdk::{Context, Error, Path, Provider, Types, Values};

/// Characters or elements of a result. More would not fit in one message to the real provider (64 MiB).
const LONGEST: usize = 16 << 20;

/// The provider.
pub struct Random;

impl Provider for Random {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.without_destroy_plans();
        types.resource("random_bytes", bytes::Bytes);
        types.resource("random_id", bytes::Id);
        types.resource("random_integer", integer::Integer);
        types.resource("random_password", text::Text::password());
        types.resource("random_pet", list::Pet);
        types.resource("random_shuffle", list::Shuffle);
        types.resource("random_string", text::Text::string());
        types.resource("random_uuid", bytes::Uuid::Random);
        types.resource("random_uuid4", bytes::Uuid::Version4);
        types.resource("random_uuid7", bytes::Uuid::Version7);
        types.ephemeral("random_bytes", bytes::EphemeralBytes);
        types.ephemeral("random_password", text::EphemeralPassword);
    }
}

/// How many characters, bytes or elements an attribute asks for: 0 if it is negative, an error beyond `most`.
fn count_of(name: &str, count: i64, most: usize) -> Result<usize, Error> {
    let count = count.max(0);
    usize::try_from(count).ok().filter(|count| *count <= most).ok_or_else(|| {
        let detail = format!("Attribute {name} value must be at most {most}, got: {count}");
        Error::new(INVALID_VALUE, detail).at(Path::new().attr(name))
    })
}

/// A failure with the advice that the real provider gives.
fn retry_error(summary: &str, what: &str, error: &str) -> Error {
    Error::new(
        summary,
        format!(
            "{what}\n\nRetry the Terraform operation. If the error still occurs or happens regularly, please contact \
             the provider developer with hardware and operating system information.\n\nOriginal Error: {error}"
        ),
    )
}

/// A source of randomness that failed.
fn read_error(error: RandomError) -> Error {
    retry_error(
        "Random Read Error",
        "While attempting to generate a random value for this resource, a read error was generated.",
        &error.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use terrane_sdk::{Value, validate_implementation};

    use super::*;
    use crate::providers::tester::Tester;

    #[test]
    fn the_provider_is_valid() {
        validate_implementation(Random).unwrap();
    }

    #[tokio::test]
    async fn huge_counts_are_refused() {
        for (kind, name) in [
            ("random_bytes", "length"),
            ("random_id", "byte_length"),
            ("random_pet", "length"),
            ("random_shuffle", "result_count"),
            ("random_string", "length"),
            ("random_password", "min_upper"),
        ] {
            let resource = Tester::resource(Random, kind).await;
            let input = (kind == "random_shuffle").then(|| ("input", Value::strings(["a"])));
            let planned = resource.object_of([(name, Value::int(i64::MAX))].into_iter().chain(input));
            let error = resource.create(planned).await.unwrap_err().detail;
            assert!(error.starts_with(&format!("Attribute {name} value must be at most ")), "{error}");
        }
    }
}
