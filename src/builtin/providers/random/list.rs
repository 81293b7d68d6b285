//! `random_pet` and `random_shuffle`: choices from lists.

use super::source::Source;
use super::words::{ADJECTIVES, ADVERBS, ANIMALS};
use super::{LONGEST, count_of, fixed_id, keepers, retry_error};
use crate::builtin::sdk::{Attr, Resource, Rule, Shape, int_of, object_with, text_of};
use crate::lang::value::{Type, Value};
use crate::model::provider::ProviderDiagnostic;

fn read_error(error: String) -> ProviderDiagnostic {
    retry_error(
        "Random Read Error",
        "While attempting to generate a random value for this resource, a read error was generated.",
        &error,
    )
}

pub struct Pet(Shape);

impl Pet {
    pub fn new() -> Pet {
        Pet(Shape::new(
            0,
            "A random name fit for a pet, meant as a readable identifier.",
            vec![
                keepers(),
                Attr::int("length", "How many words; 2 if not given.").default(Value::int(2)).rule(Rule::Replace),
                Attr::string("prefix", "A text put before the name, with a separator.").optional().rule(Rule::Replace),
                Attr::string("separator", "The text between words; `-` if not given.")
                    .default(Value::string("-"))
                    .rule(Rule::Replace),
                Attr::string("id", "The name.").computed().rule(Rule::Keep),
            ],
        ))
    }
}

/// Adverbs as many as it takes, an adjective, an animal; a single word is an animal.
fn pet_name(source: &mut Source, words: i64, separator: &str) -> Result<String, String> {
    let mut name = Vec::new();
    for _ in 2..words {
        name.push(source.pick(ADVERBS)?);
    }
    if words != 1 {
        name.push(source.pick(ADJECTIVES)?);
    }
    name.push(source.pick(ANIMALS)?);
    Ok(name.join(separator))
}

impl Resource for Pet {
    fn shape(&self) -> &Shape {
        &self.0
    }

    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        let separator = text_of(planned, "separator").unwrap_or_default();
        count_of(planned, "length", LONGEST / 16)?;
        let words = int_of(planned, "length").unwrap_or(2);
        let mut name = pet_name(&mut Source::new(None), words, separator).map_err(read_error)?;
        if let Some(prefix) = text_of(planned, "prefix").filter(|prefix| !prefix.is_empty()) {
            name = format!("{prefix}{separator}{name}");
        }
        Ok(object_with(planned, [("id", Value::string(name))]))
    }
}

pub struct Shuffle(Shape);

impl Shuffle {
    pub fn new() -> Shuffle {
        let texts = || Type::list(Type::String);
        Shuffle(Shape::new(
            0,
            "A list of texts in random order.",
            vec![
                keepers(),
                Attr::string("seed", "Any text: the same one gives the same order.").optional().rule(Rule::Replace),
                Attr::new("input", texts(), "The texts to shuffle.").required().rule(Rule::Replace),
                Attr::int(
                    "result_count",
                    "How many texts to return; as many as given if not set. With more, texts come again, none more \
                     often than once for each full round.",
                )
                .optional()
                .rule(Rule::Replace),
                Attr::new("result", texts(), "The texts in random order.").computed().rule(Rule::Keep),
                fixed_id(),
            ],
        ))
    }
}

fn shuffled(input: &[Value], count: usize, source: &mut Source) -> Result<Vec<Value>, String> {
    let mut result = Vec::with_capacity(count);
    while !input.is_empty() && result.len() < count {
        let mut round: Vec<&Value> = input.iter().collect();
        source.shuffle(&mut round)?;
        result.extend(round.into_iter().take(count - result.len()).cloned());
    }
    Ok(result)
}

impl Resource for Shuffle {
    fn shape(&self) -> &Shape {
        &self.0
    }

    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        let input = planned.get("input").map(Value::elements).unwrap_or_default();
        count_of(planned, "result_count", LONGEST / 16)?;
        let count = int_of(planned, "result_count").filter(|count| *count != 0);
        let count = count.map_or(input.len(), |count| usize::try_from(count).unwrap_or(1));
        let mut source = Source::new(text_of(planned, "seed"));
        let result = shuffled(input, count, &mut source).map_err(read_error)?;
        Ok(object_with(planned, [("result", Value::list(Type::String, result)), ("id", Value::string("-"))]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pet_words() {
        for words in 1..5 {
            let name = pet_name(&mut Source::new(None), words, "_").unwrap();
            assert_eq!(name.split('_').count(), usize::try_from(words).unwrap(), "{name}");
        }
        let pet = Pet::new();
        let planned = pet.0.object([
            ("prefix", Value::string("p")),
            ("separator", Value::string("+")),
            ("length", Value::int(1)),
        ]);
        assert!(text_of(&pet.create(&planned).unwrap(), "id").unwrap().starts_with("p+"));
    }

    #[test]
    fn shuffle_counts() {
        let shuffle = Shuffle::new();
        let input = Value::strings(["a", "b", "c"]);
        for (count, expected) in [(None, 3), (Some(2), 2), (Some(7), 7)] {
            let count = count.map_or(Value::null(Type::Number), Value::int);
            let planned = shuffle.0.object([("input", input.clone()), ("result_count", count)]);
            let result = shuffle.create(&planned).unwrap().get("result").unwrap().clone();
            assert_eq!(result.len(), expected);
            let mut first: Vec<&str> = result.elements().iter().take(3).filter_map(Value::as_str).collect();
            first.sort_unstable();
            first.dedup();
            assert_eq!(first.len(), expected.min(3), "no text twice in a round");
        }
    }
}
