//! `for_each` of runs: a run with it becomes one run per element, before anything is executed.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use engine::testing::TestPlace;
use lang::syntax::ast::Expression;
use model::config::test_file::{TestFile, TestReferences, TestRun};
use terrane_value::{Marks, Type, Value};

use super::context::SuiteContext;
use super::variables::Lookup;

const INVALID: &str = "Invalid run for_each argument";

/// The file with a run per element in the place of each run with `for_each`, in the order of keys. Runs with errors stay as they are.
pub fn expand(suite: &SuiteContext, file: &TestFile) -> (TestFile, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let (mut runs, mut repeated) = (Vec::with_capacity(file.runs.len()), Vec::new());
    for run in &file.runs {
        let Some(expr) = &run.for_each else {
            runs.push(run.clone());
            continue;
        };
        let (found, problems) = elements_of_run(suite, file, run, expr);
        if problems.has_errors() {
            runs.push(run.clone());
        } else {
            repeated.push(run.name.clone());
            runs.extend(found.into_iter().map(|(key, value)| run.for_element(key, value)));
        }
        diagnostics.extend(problems);
    }
    let mut expanded = file.clone();
    (expanded.runs, expanded.repeated) = (runs, repeated);
    (expanded, diagnostics)
}

type Elements = Vec<(Arc<str>, Value)>;

fn elements_of_run(suite: &SuiteContext, file: &TestFile, run: &TestRun, expr: &Expression) -> (Elements, Diagnostics) {
    if let Some(earlier) = file.completed(TestReferences::of([expr])).runs.first() {
        let detail = format!(
            "The \"for_each\" argument of run {:?} depends on run {earlier:?}. Its elements must be known before any run of the file is \
             executed.",
            &*run.name
        );
        return (Vec::new(), Diagnostic::error(INVALID, detail).at(expr.range()).into());
    }
    let config = run.under_test.as_ref().unwrap_or(&suite.config);
    let no_runs = BTreeMap::new();
    let lookup = Lookup {
        file,
        outside: &suite.outside,
        module: &config.root,
        runs: &no_runs,
        host: &*suite.host,
        each: None,
        open: Default::default(),
    };
    let (value, mut diagnostics) = lookup.evaluate(expr, TestPlace::Run);
    if diagnostics.has_errors() {
        return (Vec::new(), diagnostics);
    }
    match elements(&value, &expr.range()) {
        Ok(found) => (found, diagnostics),
        Err(problem) => {
            diagnostics.push(problem);
            (Vec::new(), diagnostics)
        }
    }
}

/// The elements of a value, sorted by key.
fn elements(value: &Value, place: &Range) -> Result<Elements, Diagnostic> {
    let invalid = |detail: String| Err(Diagnostic::error(INVALID, detail).at(place.clone()));
    let (bare, marks) = value.unmark();
    let ty = bare.ty();
    // Values of elements may be secret, keys not: the names of the runs show them.
    if marks.intersects(Marks::SENSITIVE | Marks::EPHEMERAL) {
        return invalid("The value is sensitive or ephemeral, so that its keys must not become part of names.".into());
    }
    if !bare.is_known() || ty.is_set() && !bare.is_wholly_known() {
        return invalid("The keys must be known before any run of the file is executed.".into());
    }
    if bare.is_null() {
        return invalid("The value is null. A map, an object or a set of strings is allowed.".into());
    }
    let mut found: Elements = if ty.is_map() || ty.is_object() {
        bare.entries().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    } else if ty.is_set()
        && (bare.elements().is_empty() || ty.element_type().is_some_and(|element| *element == Type::String))
    {
        bare.elements().iter().filter_map(|member| Some((member.as_arc_str()?, member.clone()))).collect()
    } else {
        let detail = format!("The value is a {}. A map, an object or a set of strings is allowed.", ty.friendly_name());
        return invalid(detail);
    };
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// The outputs of runs by the names that expressions use: of a run with `for_each`, an object with those of its elements by key.
/// `blocks`: the names of the runs with `for_each`, of which some may have no elements.
pub fn by_block(
    runs: &[TestRun],
    blocks: &[Arc<str>],
    outputs: &BTreeMap<Arc<str>, Option<Value>>,
) -> BTreeMap<Arc<str>, Option<Value>> {
    let mut all = BTreeMap::new();
    let mut elements: BTreeMap<Arc<str>, Vec<(Arc<str>, Option<Value>)>> =
        blocks.iter().map(|block| (block.clone(), Vec::new())).collect();
    for run in runs {
        let value = outputs.get(&run.name).cloned().flatten();
        match &run.instance {
            Some(instance) => {
                elements.entry(instance.block.clone()).or_default().push((instance.key.clone(), value));
            }
            None => drop(all.insert(run.name.clone(), value)),
        }
    }
    for (block, found) in elements {
        let is_waiting = !found.is_empty() && found.iter().all(|(_, value)| value.is_none());
        let executed = found.into_iter().filter_map(|(key, value)| Some((key, value?)));
        let value = if is_waiting { None } else { Some(Value::object(executed.collect::<Vec<_>>())) };
        all.insert(block, value);
    }
    all
}

#[cfg(test)]
mod tests {
    use base::source::{SourceFile, Span};
    use lang::syntax::parse_file;

    use super::*;

    fn runs(names: &[&str]) -> Vec<TestRun> {
        let text: String = names.iter().map(|name| format!("run {name:?} {{}}\n")).collect();
        let (body, _) = parse_file(SourceFile::new("a.tftest.hcl", text));
        model::config::test_file::decode("a.tftest.hcl", &body, &mut Diagnostics::new()).runs
    }

    fn keys(value: &Value) -> Result<String, bool> {
        let place = Span::new(0, 1).in_file(&SourceFile::new("a.tftest.hcl", "x"));
        let found = elements(value, &place).map_err(|problem| problem.is_error())?;
        Ok(found.iter().map(|(key, _)| &**key).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn elements_are_sorted_by_key() {
        let strings = |texts: &[&str]| Value::set(Type::String, texts.iter().map(Value::string).collect());
        let cases = [
            (strings(&["b", "a"]), Ok("a b")),
            (strings(&[]), Ok("")),
            (Value::object([("y", Value::int(1)), ("x", Value::int(2))]), Ok("x y")),
            (Value::tuple(vec![Value::string("a")]), Err(true)),
            (Value::string("a"), Err(true)),
            (Value::null_dynamic(), Err(true)),
            (Value::dynamic(), Err(true)),
            (strings(&["a"]).mark(Marks::SENSITIVE), Err(true)),
        ];
        for (value, expected) in cases {
            assert_eq!(keys(&value), expected.map(str::to_owned), "{value:?}");
        }
    }

    #[test]
    fn outputs_of_elements_are_an_object() {
        let mut all = runs(&["plain"]);
        let repeated = runs(&["each"]);
        all.extend(["a", "b"].map(|key| repeated[0].for_element(key.into(), Value::string(key))));
        let mut outputs = BTreeMap::new();
        let blocks: Vec<Arc<str>> = vec!["each".into(), "empty".into()];
        let shown = |outputs: &BTreeMap<Arc<str>, Option<Value>>| by_block(&all, &blocks, outputs);
        assert_eq!(shown(&outputs)["each"], None);
        assert_eq!(shown(&outputs)["plain"], None);
        assert_eq!(shown(&outputs)["empty"], Some(Value::empty_object()));
        outputs.insert(Arc::from("each[\"b\"]"), Some(Value::int(1)));
        assert_eq!(shown(&outputs)["each"], Some(Value::object([("b", Value::int(1))])));
    }
}
