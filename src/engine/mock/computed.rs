//! The computed attributes of a mocked object: unknown in a plan, made up or given later.
//!
//! Owns what a plan, an apply and a read make of an object without a provider. Only computed attributes change that are missing: null in
//! plan and read, unknown in apply. Blocks are never made, except for computed ones that are given as a collection.
//!
//! Given values may depend on the object that they are for (`self`), as far as it is known: what mocks compute is not.
//!
//! Given values have the form of the schema. An object that is given for nested objects is a template for all that exist. Given
//! names that the schema does not have, or that are not computed, are ignored. Of marks only the sensitive one stays.

use std::convert::Infallible;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::Range;
use model::addr::InstanceKey;
use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics, has_errors};
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting};
use terrane_value::text::go_quoted;
use terrane_value::{Marks, Path, PathStep, Type, Value};

use super::fill::{self, Rules};
use super::generate::Maker;
use crate::change::Shape;

const FAILED: &str = "Failed to compute attribute";

/// Gives values for one object, which it gets as it is known so far, with the key of its instance.
pub type ObjectValues = dyn Fn(&Value, &InstanceKey) -> (Value, Diagnostics) + Send + Sync;

/// The values that a test gives for computed attributes.
#[derive(Clone, Copy, Default)]
pub struct GivenValues<'g> {
    /// An object. None: everything is made up.
    pub values: Option<&'g Value>,
    /// Set if values name `self`: counts instead of `values`.
    pub of_object: Option<&'g ObjectValues>,
    /// The key of the instance; none: it has none, or it is not known.
    pub key: Option<&'g InstanceKey>,
    /// Where the values stand, for errors.
    pub range: Option<&'g Range>,
    /// Whether a plan that leaves attributes unknown reports values that do not fit. It does for overrides, not for mocks.
    pub checked_in_plan: bool,
}

/// What makes the computed attributes of one object.
#[derive(Clone, Copy)]
pub struct Computed<'c> {
    pub schema: &'c Block,
    pub given: GivenValues<'c>,
    pub maker: Maker,
    pub rules: Rules,
}

/// What counts as missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Null,
    Unknown,
}

impl Missing {
    fn is_attribute(self, value: &Value) -> bool {
        match self {
            Missing::Null => value.is_null(),
            Missing::Unknown => !value.is_known(),
        }
    }

    /// No blocks, which are null or empty.
    fn is_blocks(self, value: &Value) -> bool {
        match self {
            Missing::Null => value.is_known() && value.is_empty(),
            Missing::Unknown => !value.is_known(),
        }
    }
}

/// Which attributes are replaced, and by what.
#[derive(Clone, Copy)]
struct FillPass {
    missing: Missing,
    /// By unknown values.
    as_unknown: bool,
    /// By values that must be known.
    as_known: bool,
}

impl Computed<'_> {
    /// The plan of a new object. Its computed attributes are unknown, unless `made`.
    pub fn plan(&self, proposed: &Value, made: bool) -> (Value, ProviderDiagnostics) {
        self.fill(proposed, FillPass { missing: Missing::Null, as_unknown: !made, as_known: false })
    }

    /// The new object of a plan.
    pub fn apply(&self, planned: &Value) -> (Value, ProviderDiagnostics) {
        self.fill(planned, FillPass { missing: Missing::Unknown, as_unknown: false, as_known: true })
    }

    /// The object of a configuration without the steps between: of a data source, or an imported one.
    pub fn read(&self, config: &Value) -> (Value, ProviderDiagnostics) {
        self.fill(config, FillPass { missing: Missing::Null, as_unknown: false, as_known: true })
    }

    fn fill(&self, object: &Value, pass: FillPass) -> (Value, ProviderDiagnostics) {
        let has_computed_blocks = self.schema.has_computed_blocks();
        let (values, diagnostics) = self.values(object, pass, has_computed_blocks);
        let mut filling = Filling { computed: self, values, pass, diagnostics };
        let Ok(filled) = object.transform::<Infallible>(&mut |path, value| {
            if let Some(attribute) = Shape::Block(self.schema).attribute_at(path) {
                let is_replaced = attribute.computed && pass.missing.is_attribute(&value);
                return Ok(if is_replaced { filling.attribute(attribute, path) } else { value });
            }
            let nested = if has_computed_blocks { block_at(self.schema, path) } else { None };
            Ok(match nested.filter(|nested| nested.block.computed) {
                Some(nested) => filling.blocks(nested, path, value),
                None => value,
            })
        });
        (filled, filling.diagnostics)
    }

    /// The given values for an object. None: there are none, or the pass does not need them.
    fn values(
        &self,
        object: &Value,
        pass: FillPass,
        has_computed_blocks: bool,
    ) -> (Option<Value>, ProviderDiagnostics) {
        let is_checked = !pass.as_unknown || self.given.checked_in_plan;
        if !is_checked && !has_computed_blocks {
            return (None, Vec::new());
        }
        let (values, mut diagnostics) = match (self.given.of_object, self.given.values) {
            (Some(of_object), _) => self.values_of_object(of_object, object, pass.missing),
            (None, Some(values)) => (values.clone(), Vec::new()),
            (None, None) => return (None, Vec::new()),
        };
        if values.ty().is_object() {
            return (Some(only_sensitive(values)), diagnostics);
        }
        if is_checked && !has_errors(&diagnostics) {
            diagnostics.push(not_an_object(&values));
        }
        (None, diagnostics)
    }

    fn values_of_object(
        &self,
        of_object: &ObjectValues,
        object: &Value,
        missing: Missing,
    ) -> (Value, ProviderDiagnostics) {
        let known = self.known_part(object, missing);
        let (values, found) = of_object(&known, self.given.key.unwrap_or(&InstanceKey::None));
        let errors = found.into_iter().filter(Diagnostic::is_error);
        (values, errors.map(|error| at_place(error, self.given.range)).collect())
    }

    /// The object as `self` has it: what is computed and missing is unknown, what is sensitive by the schema is marked.
    fn known_part(&self, object: &Value, missing: Missing) -> Value {
        let Ok(known) = object.transform::<Infallible>(&mut |path, value| {
            let Some(attribute) = Shape::Block(self.schema).attribute_at(path) else { return Ok(value) };
            let is_missing = attribute.computed && missing.is_attribute(&value);
            let value = if is_missing { Value::unknown(attribute.implied_type()) } else { value };
            Ok(value.mark(Marks::SENSITIVE.when(attribute.sensitive)))
        });
        known
    }
}

/// Fills one object.
struct Filling<'f> {
    computed: &'f Computed<'f>,
    /// The given values, an object.
    values: Option<Value>,
    pass: FillPass,
    diagnostics: ProviderDiagnostics,
}

impl Filling<'_> {
    /// What replaces an attribute. With errors it is made up, so that the object has the right type.
    fn attribute(&mut self, attribute: &Attribute, path: &Path) -> Value {
        let is_looked_up = !self.pass.as_unknown || self.computed.given.checked_in_plan;
        let given = if is_looked_up { self.given(path) } else { None };
        if self.pass.as_unknown {
            return Value::unknown(attribute.implied_type());
        }
        let maker = self.computed.maker.at_path(path);
        match given.map(|given| fill::attribute(&given, attribute, maker, self.computed.rules)) {
            Some(Ok(filled)) if self.pass.as_known && !filled.is_wholly_known() => self.report_unknown(path),
            Some(Ok(filled)) => return filled,
            Some(Err(misfit)) => self.report_misfit(&attribute.implied_type(), path, &misfit),
            None => {}
        }
        maker.attribute(attribute)
    }

    /// What stands for a computed type of nested blocks.
    fn blocks(&mut self, nested: &NestedBlock, path: &Path, blocks: Value) -> Value {
        let is_collection = matches!(nested.nesting, Nesting::List | Nesting::Set | Nesting::Map);
        if !is_collection || !self.pass.missing.is_blocks(&blocks) {
            return blocks;
        }
        let rules = self.computed.rules;
        let given = self.given(path).filter(|given| rules.collections && !given.ty().is_object());
        let Some(given) = given else { return nested.empty_value() };
        if self.pass.as_unknown {
            return Value::unknown(nested.implied_type());
        }
        match fill::blocks(&given, nested, self.computed.maker.at_path(path), rules) {
            Ok(filled) if self.pass.as_known && !filled.is_wholly_known() => {
                self.report_unknown(path);
                nested.empty_value()
            }
            Ok(filled) => filled,
            Err(misfit) => {
                self.report_misfit(&nested.implied_type(), path, &misfit);
                nested.empty_value()
            }
        }
    }

    /// What is given for a path within the object. Reports a part that cannot have parts.
    fn given(&mut self, path: &Path) -> Option<Value> {
        let mut current = self.values.clone()?;
        for (position, step) in path.steps().iter().enumerate() {
            let part = match step {
                PathStep::Attr(_) if !current.ty().is_object() => {
                    let outer = Path(path.steps()[..position].to_vec());
                    self.report_no_object(outer, current.ty());
                    return None;
                }
                PathStep::Attr(name) => current.get(name)?,
                PathStep::Index(key) => match self.element(&current, key) {
                    Some(element) => element?,
                    None => continue,
                },
            };
            current = part.clone().mark(current.marks());
        }
        Some(current)
    }

    /// The element that is given for an index or a key; none inside if there is no such element. None: what is given is no
    /// collection, and means all elements.
    fn element<'v>(&self, given: &'v Value, key: &Value) -> Option<Option<&'v Value>> {
        if !self.computed.rules.collections {
            return None;
        }
        match given.ty() {
            Type::List(_) | Type::Tuple(_) => Some(given.at(key.as_number()?.as_usize()?)),
            Type::Map(_) => Some(given.get(key.as_str()?)),
            _ => None,
        }
    }

    fn report_misfit(&mut self, wanted: &Type, path: &Path, misfit: &fill::Misfit) {
        let detail = format!(
            "{PROGRAM} could not compute a value for the target type {} with the mocked data defined at {} with the attribute {}: {}.",
            wanted.friendly_name(),
            self.place(),
            self.path_text(&fill::joined(path, &misfit.path)),
            misfit.message
        );
        self.diagnostics.push(ProviderDiagnostic::error(FAILED, detail).at(path.clone()));
    }

    /// Reports a value that depends on what it is one of itself.
    fn report_unknown(&mut self, path: &Path) {
        let detail = format!(
            "{PROGRAM} could not compute a value for the attribute {} with the mocked data defined at {}: it depends on attributes of the \
             object that have no value yet, because they are computed too.",
            self.path_text(path),
            self.place()
        );
        self.diagnostics.push(ProviderDiagnostic::error(FAILED, detail).at(path.clone()));
    }

    fn report_no_object(&mut self, path: Path, found: &Type) {
        let detail = format!(
            "{PROGRAM} expected an object type for attribute {} defined within the mocked data at {}, but found {}.",
            self.path_text(&path),
            self.place(),
            found.friendly_name()
        );
        self.diagnostics.push(ProviderDiagnostic::error(FAILED, detail).at(path));
    }

    fn place(&self) -> String {
        self.computed.given.range.map_or_else(|| ":0,0-0".to_owned(), ToString::to_string)
    }

    fn path_text(&self, path: &Path) -> String {
        if self.computed.rules.indexes_in_paths {
            return go_quoted(&path.to_string());
        }
        let name = |step: &PathStep| match step {
            PathStep::Attr(name) => Some(name.to_string()),
            PathStep::Index(_) => None,
        };
        let names: Vec<String> = path.steps().iter().filter_map(name).collect();
        go_quoted(&names.join("."))
    }
}

/// The error of given values that are no object.
pub fn not_an_object(values: &Value) -> ProviderDiagnostic {
    let detail =
        format!("The requested replacement value must be an object type, but was {}.", values.ty().friendly_name());
    ProviderDiagnostic::error("Invalid replacement value", detail)
}

/// An error in the expression of given values, with the place of them: the errors of providers have none in a test file.
fn at_place(error: Diagnostic, place: Option<&Range>) -> ProviderDiagnostic {
    let place = error.subject.as_ref().or(place).map(ToString::to_string);
    let note = place.map(|place| format!("\n\nThe mocked data is defined at {place}.")).unwrap_or_default();
    ProviderDiagnostic::error(error.summary, error.detail + &note)
}

/// Without other marks: plans and states hold the values.
fn only_sensitive(values: Value) -> Value {
    if !values.has_marks_deep() {
        return values;
    }
    let (bare, marks) = values.unmark_deep_with_paths();
    let sensitive = marks.into_iter().filter(|(_, marks)| marks.contains(Marks::SENSITIVE));
    bare.mark_at_paths(&sensitive.map(|(path, _)| (path, Marks::SENSITIVE)).collect::<Vec<_>>())
}

/// The type of nested blocks that a path ends at.
fn block_at<'s>(schema: &'s Block, path: &Path) -> Option<&'s NestedBlock> {
    let (last, before) = path.steps().split_last()?;
    let mut block = schema;
    for step in before {
        if let PathStep::Attr(name) = step {
            block = &block.blocks.get(name)?.block;
        }
    }
    match last {
        PathStep::Attr(name) => block.blocks.get(name),
        PathStep::Index(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use terrane_value::json;

    use super::super::recorded_tests::{configured, place, schemas, shown};
    use super::*;

    const NEWER: Rules = Rules { collections: true, indexes_in_paths: true };

    fn raw(text: &str) -> Value {
        json::from_untyped_json(text.as_bytes()).unwrap()
    }

    /// What a read makes of a type of the recorded schemas, and the errors.
    fn read(kind: &str, config: &str, values: &Value) -> (Value, Vec<String>) {
        let (schemas, range) = (schemas(), place());
        let schema = &schemas[kind];
        let given = GivenValues { values: Some(values), range: Some(&range), ..GivenValues::default() };
        let computed = Computed { schema, given, maker: Maker::of_seed(3), rules: NEWER };
        let (found, errors) = computed.read(&configured(schema, &raw(config)));
        (found, errors.into_iter().map(|error| error.detail.replace(&PROGRAM.to_string(), "P")).collect())
    }

    #[test]
    fn collections_are_given_element_by_element() {
        let element = |a: &str, n: &str, o: &str| format!("{{\"a\":{a},\"b\":\"*\",\"n\":{n},\"o\":{o}}}");
        let made = "{\"a\":\"*\",\"n\":0}";
        let cases = [
            ("{}", r#"{"list":[{"a":"A"},{"n":"2"}]}"#, "list", {
                format!("[{},{}]", element("\"A\"", "0", made), element("\"*\"", "2", made))
            }),
            ("{}", r#"{"set":[{"a":"A"}]}"#, "set", format!("[{}]", element("\"A\"", "0", made))),
            ("{}", r#"{"list":[]}"#, "list", "[]".to_owned()),
            // An object is a template, and there is nothing that it is for.
            ("{}", r#"{"list":{"a":"A"},"map":{"k":{"a":"A"}}}"#, "map", "{}".to_owned()),
            (
                r#"{"list":[{"b":"One"},{"b":"Two"}]}"#,
                r#"{"list":[{"a":"A"}]}"#,
                "list",
                format!(
                    "[{},{}]",
                    element("\"A\"", "0", made).replacen("\"*\"", "\"One\"", 1),
                    "{\"a\":\"*\",\"b\":\"Two\",\"n\":0,\"o\":{\"a\":\"*\",\"n\":0}}"
                ),
            ),
        ];
        for (config, values, name, expected) in cases {
            let (found, errors) = read("mock_nested", config, &raw(values));
            assert_eq!(shown(found.get(name).unwrap()), expected, "{values}");
            assert_eq!(errors, Vec::<String>::new(), "{values}");
        }
    }

    #[test]
    fn maps_are_given_key_by_key() {
        let entry = |a: &str| Value::object([("a", Value::string(a))]);
        let ty = entry("").ty().clone();
        let values = Value::object([("map", Value::map(ty, [("k", entry("K")), ("l", entry("L"))]))]);
        let names = |found: &Value| {
            let text =
                |(key, value): (&std::sync::Arc<str>, &Value)| format!("{key}:{}", shown(value.get("a").unwrap()));
            found.get("map").unwrap().entries().iter().map(text).collect::<Vec<_>>().join(" ")
        };
        let cases = [("{}", "k:\"K\" l:\"L\""), (r#"{"map":{"k":{},"j":{}}}"#, "j:\"*\" k:\"K\"")];
        for (config, expected) in cases {
            let (found, errors) = read("mock_nested", config, &values);
            assert_eq!((names(&found), errors), (expected.to_owned(), Vec::new()), "{config}");
        }
    }

    #[test]
    fn errors_show_the_whole_path() {
        let could_not = |wanted: &str, path: &str, why: &str| {
            format!(
                "P could not compute a value for the target type {wanted} with the mocked data defined at t.tftest.hcl:1,1-7 with the \
                 attribute {path:?}: {why}."
            )
        };
        let cases = [
            (
                "mock_nested",
                "{}",
                r#"{"list":"text"}"#,
                could_not("list of object", ".list", "incompatible types; expected list of object, found string"),
            ),
            (
                "mock_nested",
                "{}",
                r#"{"list":[{"n":1},"x"]}"#,
                could_not("list of object", ".list[1]", "incompatible types; expected object type, found string"),
            ),
            (
                "mock_nested",
                "{}",
                r#"{"list":[{"n":"x"}]}"#,
                could_not("list of object", ".list[0].n", "a number is required"),
            ),
            (
                "mock_blocks",
                r#"{"many":[{"name":"M"}]}"#,
                r#"{"many":{"o":{"n":"x"}}}"#,
                could_not("object", ".many[0].o[\"n\"]", "a number is required"),
            ),
            (
                "mock_blocks",
                r#"{"some":[{"name":"S","id":"I","choice":"C"}]}"#,
                r#"{"some":[{"o":{}}]}"#,
                "P expected an object type for attribute \".some[...]\" defined within the mocked data at t.tftest.hcl:1,1-7, but \
                 found tuple."
                    .to_owned(),
            ),
        ];
        for (kind, config, values, expected) in cases {
            assert_eq!(read(kind, config, &raw(values)).1, [expected], "{values}");
        }
    }

    #[test]
    fn computed_blocks_are_made_if_they_are_given() {
        let mut schema = schemas().remove("mock_blocks").unwrap();
        schema.blocks.values_mut().for_each(|nested| nested.block.computed = true);
        let values = raw(r#"{"many":[{"id":"I","deep":[{"x":"X"}]}],"one":{"id":"I"},"some":{"id":"I"}}"#);
        let given = GivenValues { values: Some(&values), ..GivenValues::default() };
        let computed = Computed { schema: &schema, given, maker: Maker::of_seed(3), rules: NEWER };
        let config = configured(&schema, &raw("{}"));
        let made = r#"[{"choice":"*","deep":[{"k":"*","x":"X"}],"id":"I","name":"*","o":{"a":"*","n":0}}]"#;
        let parts = |value: &Value| ["many", "one", "some", "named"].map(|name| shown(value.get(name).unwrap()));
        let unknown = "{\"$unknown\":true}";
        let (planned, errors) = computed.plan(&config, false);
        assert_eq!((parts(&planned), errors), ([unknown, "null", "[]", "{}"].map(String::from), Vec::new()));
        let (applied, errors) = computed.apply(&planned);
        assert_eq!((parts(&applied), errors), ([made, "null", "[]", "{}"].map(String::from), Vec::new()));
        let (planned, _) = computed.plan(&config, true);
        assert_eq!(parts(&planned)[0], made);
        let older = Computed { rules: Rules { collections: false, ..NEWER }, ..computed };
        assert_eq!(parts(&older.plan(&config, true).0)[0], "[]");
    }

    #[test]
    fn sensitive_values_stay_sensitive() {
        let secret = |text: &str| Value::string(text).mark(Marks::SENSITIVE | Marks::EPHEMERAL);
        let values = Value::object([
            ("id", secret("I")),
            ("object", Value::object([("a", secret("A")), ("n", Value::int(1).mark(Marks::DEPRECATED))])),
        ]);
        let (found, errors) = read("mock_plain", "{}", &values);
        let marks = |path: Path| path.apply(&found).unwrap().marks();
        let all = ["a", "n"].map(|name| marks(Path::new().attr("object").attr(name)));
        assert_eq!((marks(Path::new().attr("id")), all), (Marks::SENSITIVE, [Marks::SENSITIVE, Marks::NONE]));
        assert_eq!(errors, Vec::<String>::new());
    }

    #[test]
    fn values_can_follow_the_object() {
        let schemas = schemas();
        let schema = &schemas["mock_plain"];
        let of_object = |object: &Value, key: &InstanceKey| {
            let name = object.get("name").and_then(Value::as_str).unwrap_or("none");
            (Value::object([("id", Value::string(format!("id of {name}{key}")))]), Diagnostics::new())
        };
        let key = InstanceKey::Str("k".into());
        let given = GivenValues { of_object: Some(&of_object), key: Some(&key), ..GivenValues::default() };
        let computed = Computed { schema, given, maker: Maker::of_seed(3), rules: NEWER };
        let (found, errors) = computed.read(&configured(schema, &raw(r#"{"name":"N"}"#)));
        assert_eq!((found.get("id"), errors), (Some(&Value::string("id of N[\"k\"]")), Vec::new()));
    }

    #[test]
    fn values_that_follow_computed_attributes_are_errors_once_they_must_be_known() {
        let schemas = schemas();
        let schema = &schemas["mock_plain"];
        let range = place();
        // `id` depends on `choice`, which has a value only if it is configured.
        let of_object = |object: &Value, _: &InstanceKey| {
            let choice = object.get("choice").cloned().unwrap_or_else(Value::dynamic);
            (Value::object([("id", choice)]), Diagnostics::new())
        };
        let given = GivenValues {
            checked_in_plan: true,
            of_object: Some(&of_object),
            range: Some(&range),
            ..Default::default()
        };
        let computed = Computed { schema, given, maker: Maker::of_seed(3), rules: NEWER };
        let config = |text: &str| configured(schema, &raw(text));
        for (text, count) in [(r#"{"choice":"C"}"#, 0), ("{}", 1)] {
            let (planned, errors) = computed.plan(&config(text), false);
            assert!(!planned.get("id").unwrap().is_known() && errors.is_empty(), "{text}: {errors:?}");
            let (made, errors) = computed.plan(&config(text), true);
            assert_eq!((made.get("id").unwrap().is_known(), errors.len()), (count == 0, 0), "{text}");
            let (applied, errors) = computed.apply(&planned);
            assert_eq!((applied.is_wholly_known(), errors.len()), (true, count), "{text}");
            let texts: Vec<&str> = errors.iter().map(|error| &*error.detail).collect();
            assert!(
                texts.iter().all(|text| text.contains("attribute \".id\"") && text.contains(":1,1-7")),
                "{texts:?}"
            );
        }
    }

    #[test]
    fn errors_of_values_for_an_object_have_a_place() {
        let schemas = schemas();
        let schema = &schemas["mock_secret"];
        let range = place();
        let of_object = |object: &Value, _: &InstanceKey| {
            assert!(object.get("id").is_some_and(|id| !id.is_known()));
            (Value::dynamic(), Diagnostics::from(Diagnostic::error("Wrong", "It is.")))
        };
        let given = GivenValues { of_object: Some(&of_object), range: Some(&range), ..GivenValues::default() };
        let computed = Computed { schema, given, maker: Maker::of_seed(3), rules: NEWER };
        let (read, errors) = computed.read(&configured(schema, &raw("{}")));
        assert!(read.is_wholly_known());
        let texts: Vec<&str> = errors.iter().map(|error| &*error.detail).collect();
        assert_eq!(texts, ["It is.\n\nThe mocked data is defined at t.tftest.hcl:1,1-7."]);
    }
}
