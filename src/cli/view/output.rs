//! What `output` shows.

use base::diag::{Diagnostic, Diagnostics};
use model::state::{OutputValue, State};
use render::json::go;
use render::json::output::{output_json, plain_json};
use render::text::style::Style;
use render::text::value::console_text;
use serde_json::Value as JsonValue;
use terrane_value::Type;
use terrane_value::convert::convert;

use super::shown;
use crate::args::output::Form;

/// The view of `output`. The state has outputs.
pub trait OutputView {
    fn all(&self, state: &State) -> String;

    fn one(&self, name: &str, output: &OutputValue) -> Result<String, Diagnostics>;

    /// All outputs of a state that has none. None: that is worth a warning.
    fn empty(&self) -> Option<String> {
        None
    }
}

pub fn view(form: Form, style: Style) -> Box<dyn OutputView> {
    match form {
        Form::Human => Box::new(OutputHuman { style }),
        Form::Json => Box::new(OutputJson),
        Form::Raw => Box::new(OutputRaw { style }),
    }
}

struct OutputHuman {
    style: Style,
}

impl OutputView for OutputHuman {
    fn all(&self, state: &State) -> String {
        shown::outputs(state, &self.style)
    }

    fn one(&self, _: &str, output: &OutputValue) -> Result<String, Diagnostics> {
        Ok(format!("{}\n", console_text(&output.value)))
    }
}

struct OutputJson;

impl OutputView for OutputJson {
    fn all(&self, state: &State) -> String {
        format!("{}\n", go::pretty(&documents(state)))
    }

    fn one(&self, _: &str, output: &OutputValue) -> Result<String, Diagnostics> {
        Ok(format!("{}\n", go::compact(&plain_json(&output.value))))
    }

    fn empty(&self) -> Option<String> {
        Some("{}\n".to_owned())
    }
}

/// One value as it is, for scripts.
struct OutputRaw {
    style: Style,
}

impl OutputView for OutputRaw {
    fn all(&self, state: &State) -> String {
        shown::outputs(state, &self.style)
    }

    fn one(&self, name: &str, output: &OutputValue) -> Result<String, Diagnostics> {
        raw(name, output)
    }
}

fn documents(state: &State) -> JsonValue {
    let documents = state.outputs.iter().map(|(name, output)| (name.to_string(), output_json(output, true)));
    JsonValue::Object(documents.collect())
}

fn raw(name: &str, output: &OutputValue) -> Result<String, Diagnostics> {
    let unsupported = |detail: String| Diagnostics::from(Diagnostic::error("Unsupported value for raw output", detail));
    if output.value.is_null() {
        return Err(unsupported(
            format!("The value for output value {name:?} is null, so -raw mode cannot print it.",),
        ));
    }
    match convert(&output.value, &Type::String) {
        Ok(text) => Ok(text.as_str().unwrap_or_default().to_string()),
        Err(_) => Err(unsupported(format!(
            "The -raw option only supports strings, numbers, and boolean values, but output value {name:?} is {}.\n\nUse the -json option \
             for machine-readable representations of output values that have complex types.",
            output.value.ty().friendly_name(),
        ))),
    }
}
