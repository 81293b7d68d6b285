//! `random_pet` and `random_shuffle`: choices from lists.

use terrane_sdk::{Context, Creation, Error, Field, Model, Resource, Schema};

use super::source::{RandomError, RandomSource};
use super::words::{ADJECTIVES, ADVERBS, ANIMALS};
use super::{LONGEST, count_of, read_error};
use crate::providers::rules::{Keepers, replace_if_values};

/// A random name fit for a pet, meant as a readable identifier.
#[derive(Model)]
pub struct PetModel {
    /// Any texts; a change of one replaces the resource, and so its random result.
    #[attribute(optional, modifiers(replace_if_values()))]
    keepers: Keepers,
    /// How many words; 2 if not given.
    #[attribute(default = 2, replace)]
    length: Field<i64>,
    /// A text put before the name, with a separator.
    #[attribute(optional, replace)]
    prefix: Option<String>,
    /// The text between words; `-` if not given.
    #[attribute(default = "-", replace)]
    separator: Field<String>,
    /// The name.
    #[attribute(computed, keep)]
    id: Field<String>,
}

pub struct Pet;

/// Adverbs as many as it takes, an adjective, an animal; a single word is an animal.
fn pet_name(source: &mut RandomSource, words: i64, separator: &str) -> Result<String, RandomError> {
    let mut name = Vec::new();
    for _ in 2..words {
        name.push(source.pick(ADVERBS)?);
    }
    if words != 1 {
        name.push(source.pick(ADJECTIVES)?);
    }
    name.push(source.pick(ANIMALS)?);
    // The real provider lowers the separator too, except for the one after the prefix.
    Ok(name.join(separator).to_lowercase())
}

impl Resource for Pet {
    type Data = ();
    type Model = PetModel;

    fn schema(&self) -> Schema {
        Schema::of::<PetModel>().plain_text()
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<PetModel>) -> Result<PetModel, Error> {
        let planned = creation.planned.model()?;
        let separator = planned.separator.value().map(String::as_str).unwrap_or_default();
        let words = planned.length.value().copied().unwrap_or(2);
        count_of("length", words, LONGEST / 16)?;
        let mut name = pet_name(&mut RandomSource::new(None), words, separator).map_err(read_error)?;
        if let Some(prefix) = planned.prefix.as_ref().filter(|prefix| !prefix.is_empty()) {
            name = format!("{prefix}{separator}{name}");
        }
        Ok(PetModel { id: Field::known(name), ..planned })
    }
}

/// A list of texts in random order.
#[derive(Model)]
pub struct ShuffleModel {
    /// Any texts; a change of one replaces the resource, and so its random result.
    #[attribute(optional, modifiers(replace_if_values()))]
    keepers: Keepers,
    /// Any text: the same one gives the same order.
    #[attribute(optional, replace)]
    seed: Option<String>,
    /// The texts to shuffle.
    #[attribute(required, replace)]
    input: Vec<Option<String>>,
    /// How many texts to return; as many as given if not set. With more, texts come again, none more often than once for each full round.
    #[attribute(optional, replace)]
    result_count: Option<i64>,
    /// The texts in random order.
    #[attribute(computed, keep)]
    result: Field<Vec<Option<String>>>,
    /// A fixed text, for internal use; not to be referred to.
    #[attribute(computed, keep)]
    id: Field<String>,
}

pub struct Shuffle;

fn shuffled<T: Clone>(input: &[T], count: usize, source: &mut RandomSource) -> Result<Vec<T>, RandomError> {
    let mut result = Vec::with_capacity(count);
    while !input.is_empty() && result.len() < count {
        let order = source.permutation(input.len())?;
        result.extend(order.into_iter().take(count - result.len()).map(|index| input[index].clone()));
    }
    Ok(result)
}

impl Resource for Shuffle {
    type Data = ();
    type Model = ShuffleModel;

    fn schema(&self) -> Schema {
        Schema::of::<ShuffleModel>().plain_text()
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<ShuffleModel>) -> Result<ShuffleModel, Error> {
        let planned = creation.planned.model()?;
        let count = match planned.result_count {
            Some(wanted) => count_of("result_count", wanted, LONGEST / 16)?,
            None => planned.input.len(),
        };
        let mut source = RandomSource::new(planned.seed.as_deref());
        let result = shuffled(&planned.input, count, &mut source).map_err(read_error)?;
        Ok(ShuffleModel { result: Field::Known(result), id: Field::known("-"), ..planned })
    }
}

#[cfg(test)]
mod tests {
    use terrane_sdk::{Type, Value};

    use super::super::Random;
    use super::*;
    use crate::providers::tester::{Tester, text};

    #[tokio::test]
    async fn pet_words() {
        for words in 1..5 {
            let name = pet_name(&mut RandomSource::new(None), words, "_").unwrap();
            assert_eq!(name.split('_').count(), usize::try_from(words).unwrap(), "{name}");
        }
        let pet = Tester::resource(Random, "random_pet").await;
        let planned =
            pet.object([("prefix", Value::string("p")), ("separator", Value::string("A+")), ("length", Value::int(2))]);
        let created = pet.create(planned).await.unwrap();
        let name = text(&created, "id").strip_prefix("pA+").unwrap();
        assert!(name.contains("a+"), "{name}");
    }

    #[tokio::test]
    async fn shuffle_counts() {
        let shuffle = Tester::resource(Random, "random_shuffle").await;
        let input = Value::strings(["a", "b", "c"]);
        for (count, expected) in [(None, 3), (Some(2), 2), (Some(7), 7)] {
            let count = count.map_or(Value::null(Type::Number), Value::int);
            let planned = shuffle.object([("input", input.clone()), ("result_count", count)]);
            let result = shuffle.create(planned).await.unwrap().get("result").unwrap().clone();
            assert_eq!(result.len(), expected);
            let mut first: Vec<&str> = result.elements().iter().take(3).filter_map(Value::as_str).collect();
            first.sort_unstable();
            first.dedup();
            assert_eq!(first.len(), expected.min(3), "no text twice in a round");
        }
    }
}
