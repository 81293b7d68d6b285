//! `terrane-plan.json`: values, as MessagePack in base64 with the number of their type, and paths.

use base64::Engine as _;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use terrane_value::{Marks, Path, PathStep, Type, Value, msgpack};

use super::error::PlanFileError;

/// Number of the type, MessagePack, marks.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ValueText(usize, String, #[serde(default)] Vec<(Vec<StepText>, u8)>);

#[derive(Clone, Serialize, Deserialize)]
pub(super) enum StepText {
    #[serde(rename = "a")]
    Attr(String),
    #[serde(rename = "i")]
    Index(ValueText),
}

/// One bit each, the first the lowest.
const MARKS: [Marks; 3] = [Marks::SENSITIVE, Marks::EPHEMERAL, Marks::DEPRECATED];

/// Keys of types are hashed by value, but most values of a plan share a handful of them.
#[derive(Default)]
pub(super) struct ValueWriter {
    pub(super) types: Vec<Box<RawValue>>,
    numbers: FxHashMap<Type, usize>,
}

impl ValueWriter {
    pub(super) fn value(&mut self, value: &Value) -> ValueText {
        let (plain, marks) = value.unmark_deep_with_paths();
        let ty = plain.ty().clone();
        let encoded = base64::engine::general_purpose::STANDARD_NO_PAD.encode(msgpack::encode(&plain, &ty));
        let marks = marks.iter().map(|(path, marks)| (self.path(path), mark_bits(*marks))).collect();
        ValueText(self.type_number(ty), encoded, marks)
    }

    fn type_number(&mut self, ty: Type) -> usize {
        if let Some(number) = self.numbers.get(&ty) {
            return *number;
        }
        let text = RawValue::from_string(ty.to_json().to_string()).unwrap_or_default();
        self.types.push(text);
        self.numbers.insert(ty, self.types.len() - 1);
        self.types.len() - 1
    }

    pub(super) fn path(&mut self, path: &Path) -> Vec<StepText> {
        let step = |step: &PathStep| match step {
            PathStep::Attr(name) => StepText::Attr(name.to_string()),
            PathStep::Index(key) => StepText::Index(self.value(key)),
        };
        path.steps().iter().map(step).collect()
    }
}

pub(super) struct ValueReader {
    pub(super) types: Vec<Type>,
}

impl ValueReader {
    pub(super) fn value(&self, text: ValueText) -> Result<Value, PlanFileError> {
        let ValueText(number, encoded, marks) = text;
        let ty = self.types.get(number).ok_or(PlanFileError::NoType(number))?;
        let bytes = base64::engine::general_purpose::STANDARD_NO_PAD.decode(encoded)?;
        let value = msgpack::decode(&bytes, ty)?;
        if marks.is_empty() {
            return Ok(value);
        }
        let marks = marks
            .into_iter()
            .map(|(path, bits)| Ok((self.path(path)?, marks_of(bits)?)))
            .collect::<Result<Vec<_>, PlanFileError>>()?;
        Ok(value.mark_at_paths(&marks))
    }

    pub(super) fn path(&self, steps: Vec<StepText>) -> Result<Path, PlanFileError> {
        let step = |step| match step {
            StepText::Attr(name) => Ok(PathStep::Attr(name.into())),
            StepText::Index(key) => Ok(PathStep::Index(self.value(key)?)),
        };
        steps.into_iter().map(step).collect::<Result<Vec<_>, PlanFileError>>().map(Path)
    }
}

fn mark_bits(marks: Marks) -> u8 {
    MARKS.iter().enumerate().filter(|(_, mark)| marks.contains(**mark)).map(|(i, _)| 1 << i).sum()
}

fn marks_of(bits: u8) -> Result<Marks, PlanFileError> {
    if bits >> MARKS.len() != 0 {
        return Err(PlanFileError::number("unknown marks", bits));
    }
    let marks = MARKS.iter().enumerate().filter(|(i, _)| bits & (1 << i) != 0);
    Ok(marks.fold(Marks::NONE, |all, (_, mark)| all | *mark))
}
