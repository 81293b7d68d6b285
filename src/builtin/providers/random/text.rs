//! `random_string` and `random_password`, the latter also as an ephemeral resource.

use bcrypt::Version;

use super::source::Source;
use super::{LONGEST, count_of, fixed_id, keepers, retry_error};
use crate::builtin::sdk::{
    Attr, Ephemeral, Planned, Resource, Rule, Shape, at_least, at_least_sum_of, bool_of, int_of, object_with, one_true,
    plan, text_of,
};
use crate::lang::value::Value;
use crate::model::provider::{PlanRequest, ProviderDiagnostic, ProviderDiagnostics};

const DIGITS: &[u8] = b"0123456789";
const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SPECIAL: &[u8] = b"!@#$%&*()-_=+[]{}<>:?";
const BCRYPT_COST: u32 = 10;

const USE_NUMERIC: &str = "**NOTE**: This is deprecated, use `numeric` instead.";
const MINIMA: [&str; 4] = ["min_upper", "min_lower", "min_numeric", "min_special"];

/// Which characters the text is made of; `yes` and `zero` make an attribute of what is configured.
fn character_attributes(yes: fn(Attr) -> Attr, zero: fn(Attr) -> Attr) -> Vec<Attr> {
    vec![
        Attr::int(
            "length",
            "How many characters; at least 1 and at least `min_upper`, `min_lower`, `min_numeric` and `min_special` \
             together.",
        )
        .required()
        .rule(Rule::Replace),
        yes(Attr::bool("special", "Whether to use special characters (`!@#$%&*()-_=+[]{}<>:?`); true if not given.")),
        yes(Attr::bool("upper", "Whether to use upper case letters; true if not given.")),
        yes(Attr::bool("lower", "Whether to use lower case letters; true if not given.")),
        zero(Attr::int("min_numeric", "The least count of digits; 0 if not given.")),
        zero(Attr::int("min_upper", "The least count of upper case letters; 0 if not given.")),
        zero(Attr::int("min_lower", "The least count of lower case letters; 0 if not given.")),
        zero(Attr::int("min_special", "The least count of special characters; 0 if not given.")),
        Attr::string("override_special", "The special characters to use in place of the usual ones.")
            .optional()
            .rule(Rule::ReplaceUnlessEmptyToNull),
    ]
}

fn check_characters(config: &Value, found: &mut ProviderDiagnostics) {
    at_least(config, "length", 1, found);
    at_least_sum_of(config, "length", &MINIMA, found);
    for name in ["number", "numeric"] {
        one_true(config, name, &["special", "upper", "lower"], found);
    }
}

/// A text as `planned` describes it.
fn generate(planned: &Value) -> Result<String, ProviderDiagnostic> {
    let special = text_of(planned, "override_special").filter(|text| !text.is_empty());
    let special = special.map_or(SPECIAL, str::as_bytes);
    let classes = [
        ("upper", "min_upper", UPPER),
        ("lower", "min_lower", LOWER),
        ("numeric", "min_numeric", DIGITS),
        ("special", "min_special", special),
    ];
    let length = count_of(planned, "length", LONGEST)?;
    for minimum in MINIMA {
        count_of(planned, minimum, LONGEST)?;
    }
    let draw = || -> Result<Vec<u8>, String> {
        let mut source = Source::new(None);
        let mut all = Vec::new();
        let mut result = Vec::with_capacity(length);
        for (flag, minimum, characters) in classes {
            if bool_of(planned, flag).unwrap_or(true) {
                all.extend_from_slice(characters);
            }
            for _ in 0..int_of(planned, minimum).unwrap_or(0) {
                result.push(one_of(characters, &mut source)?);
            }
        }
        if all.is_empty() && result.len() < length {
            return Err("there are no characters to choose from".into());
        }
        while result.len() < length {
            result.push(one_of(&all, &mut source)?);
        }
        source.shuffle(&mut result)?;
        Ok(result)
    };
    let bytes = draw().map_err(|error| {
        retry_error(
            "Random Read Error",
            "While attempting to generate a random value for this resource, a read error was generated.",
            &error,
        )
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn one_of(characters: &[u8], source: &mut Source) -> Result<u8, String> {
    let index = source.below(characters.len() as u64)?;
    Ok(characters[usize::try_from(index).unwrap_or(0)])
}

/// The hash as Go's library writes it; only the first 72 bytes count.
fn bcrypt_hash(text: &str) -> Result<Value, ProviderDiagnostic> {
    let bytes = &text.as_bytes()[..text.len().min(72)];
    let hash = bcrypt::hash_with_result(bytes, BCRYPT_COST).map_err(|error| {
        ProviderDiagnostic::error(
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

/// `random_string`, or `random_password`: the same with a secret result and its hash.
pub struct Text {
    shape: Shape,
    secret: bool,
}

impl Text {
    pub fn string() -> Text {
        let mut attributes = Text::attributes();
        attributes.push(Attr::string("result", "The text.").computed().rule(Rule::Keep));
        attributes.push(Attr::string("id", "The text.").computed().rule(Rule::Keep));
        let description = "A random text of letters, digits and special characters. For secrets use `random_password`.";
        Text { shape: Shape::new(2, description, attributes), secret: false }
    }

    pub fn password() -> Text {
        let mut attributes = Text::attributes();
        let hash = "A bcrypt hash of the text, of its first 72 bytes if it is longer.";
        attributes.push(Attr::string("result", "The text.").computed().sensitive().rule(Rule::Keep));
        attributes.push(Attr::string("bcrypt_hash", hash).computed().sensitive().rule(Rule::Keep));
        attributes.push(fixed_id());
        Text { shape: Shape::new(3, "As `random_string`, with a result that is not shown.", attributes), secret: true }
    }

    fn attributes() -> Vec<Attr> {
        let mut attributes = character_attributes(
            |attr| attr.default(Value::bool(true)).rule(Rule::Replace),
            |attr| attr.default(Value::int(0)).rule(Rule::Replace),
        );
        attributes.push(keepers());
        let digits = "Whether to use digits; true if not given.";
        attributes.push(Attr::bool("numeric", digits).optional().computed().rule(Rule::Replace));
        attributes.push(Attr::bool("number", digits).optional().computed().rule(Rule::Replace).deprecated(USE_NUMERIC));
        attributes
    }

    fn filled(&self, planned: &Value, text: &str) -> Result<Value, ProviderDiagnostic> {
        if !self.secret {
            return Ok(object_with(planned, [("result", Value::string(text)), ("id", Value::string(text))]));
        }
        Ok(object_with(
            planned,
            [("result", Value::string(text)), ("bcrypt_hash", bcrypt_hash(text)?), ("id", Value::string("none"))],
        ))
    }
}

/// The value of both `number` and `numeric`: the configured one, true by default.
fn digits_wanted(config: &Value) -> Option<Value> {
    let get = |name| config.get(name).filter(|value| !value.is_null());
    match (get("number"), get("numeric")) {
        (None, None) => Some(Value::bool(true)),
        (Some(one), None) | (None, Some(one)) => Some(one.clone()),
        (Some(_), Some(_)) => None,
    }
}

impl Resource for Text {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn validate(&self, config: &Value, found: &mut ProviderDiagnostics) {
        check_characters(config, found);
    }

    fn plan(&self, request: &PlanRequest) -> Planned {
        let wanted = digits_wanted(&request.config);
        let mut planned = plan(&self.shape, request, &|name, value| {
            if let Some(wanted) = wanted.as_ref().filter(|_| matches!(name, "number" | "numeric")) {
                *value = wanted.clone();
            }
        });
        let (number, numeric) = (bool_of(&request.config, "number"), bool_of(&request.config, "numeric"));
        if number.is_some() && numeric.is_some() && number != numeric {
            planned.diagnostics.push(ProviderDiagnostic::error(
                "Number and numeric are both configured with different values",
                "Number is deprecated, use numeric instead",
            ));
        }
        planned
    }

    /// Version 1 has no `numeric`; objects imported by old versions lack what has a default; version 2 of the password
    /// may hold a hash of another text.
    fn upgrade(&self, version: i64, stored: Value) -> Result<Value, ProviderDiagnostic> {
        let result = text_of(&stored, "result").unwrap_or_default().to_owned();
        let known = |name: &str| stored.get(name).filter(|value| !value.is_null()).cloned();
        let or = |name: &str, default: Value| known(name).unwrap_or(default);
        let yes = || Value::bool(true);
        let number = or("number", yes());
        let upgraded = object_with(
            &stored,
            [
                ("length", or("length", length_of(&result))),
                ("special", or("special", yes())),
                ("upper", or("upper", yes())),
                ("lower", or("lower", yes())),
                ("numeric", number.clone()),
                ("number", number),
                ("min_numeric", or("min_numeric", Value::int(0))),
                ("min_upper", or("min_upper", Value::int(0))),
                ("min_lower", or("min_lower", Value::int(0))),
                ("min_special", or("min_special", Value::int(0))),
            ],
        );
        if !self.secret {
            return Ok(upgraded);
        }
        let hash = text_of(&stored, "bcrypt_hash").unwrap_or_default();
        let good = match version {
            0 => false,
            1 => true,
            _ => bcrypt::verify(result.as_bytes(), hash).unwrap_or(false),
        };
        if good { Ok(upgraded) } else { Ok(object_with(&upgraded, [("bcrypt_hash", bcrypt_hash(&result)?)])) }
    }

    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        self.filled(planned, &generate(planned)?)
    }

    /// The text itself.
    fn import(&self, id: &str) -> Result<Value, ProviderDiagnostic> {
        let (yes, zero) = (Value::bool(true), Value::int(0));
        let start = self.shape.object([
            ("length", length_of(id)),
            ("special", yes.clone()),
            ("upper", yes.clone()),
            ("lower", yes.clone()),
            ("number", yes.clone()),
            ("numeric", yes),
            ("min_special", zero.clone()),
            ("min_upper", zero.clone()),
            ("min_lower", zero.clone()),
            ("min_numeric", zero),
        ]);
        self.filled(&start, id)
    }
}

/// In bytes, as the real provider counts.
fn length_of(text: &str) -> Value {
    Value::int(i64::try_from(text.len()).unwrap_or(i64::MAX))
}

/// `ephemeral "random_password"`: a new one each time, kept nowhere.
pub struct EphemeralPassword(Shape);

impl EphemeralPassword {
    pub fn new() -> EphemeralPassword {
        let mut attributes = character_attributes(|attr| attr.optional().computed(), |attr| attr.optional().computed());
        attributes.push(Attr::bool("numeric", "Whether to use digits; true if not given.").optional().computed());
        attributes.push(Attr::string("result", "The text.").computed().sensitive());
        let hash = "A bcrypt hash of the text, of its first 72 bytes if it is longer.";
        attributes.push(Attr::string("bcrypt_hash", hash).computed().sensitive());
        EphemeralPassword(Shape::new(
            0,
            "A random password that is kept neither in the plan nor in the state.",
            attributes,
        ))
    }
}

impl Ephemeral for EphemeralPassword {
    fn shape(&self) -> &Shape {
        &self.0
    }

    fn validate(&self, config: &Value, found: &mut ProviderDiagnostics) {
        check_characters(config, found);
    }

    fn open(&self, config: &Value) -> Result<Value, ProviderDiagnostic> {
        let text = generate(config)?;
        let or = |name: &str, default: Value| match config.get(name) {
            Some(value) if !value.is_null() => value.clone(),
            _ => default,
        };
        let (yes, zero) = (Value::bool(true), Value::int(0));
        Ok(object_with(
            config,
            [
                ("special", or("special", yes.clone())),
                ("upper", or("upper", yes.clone())),
                ("lower", or("lower", yes.clone())),
                ("numeric", or("numeric", yes)),
                ("min_numeric", or("min_numeric", zero.clone())),
                ("min_upper", or("min_upper", zero.clone())),
                ("min_lower", or("min_lower", zero.clone())),
                ("min_special", or("min_special", zero)),
                ("result", Value::string(&text)),
                ("bcrypt_hash", bcrypt_hash(&text)?),
            ],
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::value::Type;
    use crate::model::provider::{ClientCapabilities, no_provider_meta};

    fn no_bool() -> Value {
        Value::null(Type::Bool)
    }

    fn config<const N: usize>(values: [(&'static str, Value); N]) -> Value {
        Text::password().shape.object(values)
    }

    #[test]
    fn texts_contain_the_required_characters() {
        let count = |text: &str, class: &[u8]| text.bytes().filter(|byte| class.contains(byte)).count();
        for _ in 0..20 {
            let text = generate(&config([
                ("length", Value::int(12)),
                ("upper", Value::bool(false)),
                ("min_numeric", Value::int(3)),
                ("min_special", Value::int(2)),
                ("override_special", Value::string("/")),
            ]))
            .unwrap();
            assert_eq!(text.len(), 12);
            assert!(count(&text, DIGITS) >= 3 && count(&text, b"/") >= 2, "{text}");
            assert_eq!(count(&text, UPPER) + count(&text, SPECIAL), 0, "{text}");
        }
    }

    #[test]
    fn validation() {
        let (no, n) = (|| Value::bool(false), Value::int);
        let cases: Vec<(Value, &[&str])> = vec![
            (config([("length", n(8))]), &[]),
            (config([("length", n(0))]), &["Attribute length value must be at least 1, got: 0"]),
            (
                config([("length", n(2)), ("min_upper", n(2)), ("min_special", n(1))]),
                &[
                    "Attribute length value must be at least sum of min_upper + min_lower + min_numeric + min_special, got: 2",
                ],
            ),
            (config([("length", n(2)), ("min_upper", Value::unknown(Type::Number)), ("min_special", n(9))]), &[]),
            (
                config([("length", n(2)), ("special", no()), ("upper", no()), ("lower", no()), ("numeric", no())]),
                &["At least one attribute out of [special,upper,lower,numeric] must be specified as true"],
            ),
            (
                config([("length", n(2)), ("special", no()), ("upper", no()), ("lower", no()), ("numeric", no_bool())]),
                &[],
            ),
        ];
        for (config, expected) in cases {
            let mut found = Vec::new();
            Text::password().validate(&config, &mut found);
            assert_eq!(found.iter().map(|d| d.detail.as_str()).collect::<Vec<_>>(), expected);
        }
    }

    fn planned(config: Value) -> Planned {
        let text = Text::string();
        let prior = Value::null(text.shape.ty().clone());
        let proposed = config.clone();
        let (prior_private, provider_meta) = (std::sync::Arc::from([]), no_provider_meta());
        text.plan(&PlanRequest {
            kind: "x".into(),
            prior,
            proposed,
            config,
            prior_private,
            provider_meta,
            prior_identity: None,
            planned_private: std::sync::Arc::default(),
            client: ClientCapabilities::default(),
        })
    }

    #[test]
    fn number_and_numeric_agree() {
        let config = |number: Option<bool>, numeric: Option<bool>| {
            let value = |b: Option<bool>| b.map_or(no_bool(), Value::bool);
            Text::string().shape.object([
                ("length", Value::int(3)),
                ("number", value(number)),
                ("numeric", value(numeric)),
            ])
        };
        for (number, numeric, expected) in
            [(None, None, true), (Some(false), None, false), (None, Some(false), false), (Some(true), Some(true), true)]
        {
            let plan = planned(config(number, numeric));
            assert_eq!(plan.value.get("number"), Some(&Value::bool(expected)));
            assert_eq!(plan.value.get("numeric"), Some(&Value::bool(expected)));
            assert!(plan.diagnostics.is_empty());
        }
        assert_eq!(planned(config(Some(true), Some(false))).diagnostics.len(), 1);
    }

    #[test]
    fn upgrade_fills_and_rehashes() {
        let stored = config([("result", Value::string("secret")), ("bcrypt_hash", Value::string("wrong"))]);
        let upgraded = Text::password().upgrade(2, stored).unwrap();
        assert_eq!(int_of(&upgraded, "length"), Some(6));
        assert_eq!(bool_of(&upgraded, "numeric"), Some(true));
        let hash = text_of(&upgraded, "bcrypt_hash").unwrap();
        assert!(hash.starts_with("$2a$10$") && bcrypt::verify("secret", hash).unwrap());
    }

    #[test]
    fn import_takes_the_text() {
        let imported = Text::string().import("abc").unwrap();
        assert_eq!((text_of(&imported, "id"), int_of(&imported, "length")), (Some("abc"), Some(3)));
        assert_eq!(text_of(&Text::password().import("abc").unwrap(), "id"), Some("none"));
    }
}
