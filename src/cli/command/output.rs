//! `output`

use serde_json::{Map, Value as Json, json};

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::name::COMMAND;
use crate::cli::Invocation;
use crate::cli::args::output::{Form, Output, parse};
use crate::cli::view::shown;
use crate::lang::value::Type;
use crate::lang::value::convert::convert;
use crate::model::state::{OutputValue, State};
use crate::ops::backends::read_state;
use crate::ops::interface::options::StateOptions;
use crate::render::json::go;
use crate::render::text::value::console_text;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse(args) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup(invocation, false) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let setup = setup.with_variables(&args.variables);
    let options = StateOptions { state: args.state.clone().map(Into::into), ..StateOptions::default() };
    let work = async { read_state::current(&setup, &options).await };
    let state = match super::run_with(invocation, &setup.stop, work) {
        Ok(Ok((_, loaded))) => {
            invocation.console.diagnostics(loaded.warnings);
            loaded.file.map(|file| file.state).unwrap_or_default()
        }
        Ok(Err(diagnostics)) => return super::finish(&invocation.console, diagnostics),
        Err(code) => return code,
    };
    match text(&args, &state) {
        Ok(text) => {
            invocation.console.print(&text);
            0
        }
        Err(diagnostics) => super::finish(&invocation.console, diagnostics),
    }
}

fn text(args: &Output, state: &State) -> Result<String, Diagnostics> {
    if state.outputs.is_empty() {
        return match (args.form, &args.name) {
            (Form::Json, None) => Ok("{}\n".to_string()),
            _ => Err(no_outputs().into()),
        };
    }
    let Some(name) = &args.name else {
        return Ok(match args.form {
            Form::Json => format!("{}\n", go::pretty(&documents(state))),
            Form::Human | Form::Raw => shown::outputs(state),
        });
    };
    let output = state.outputs.get(name.as_str()).ok_or_else(|| not_found(name))?;
    match args.form {
        Form::Human => Ok(format!("{}\n", console_text(&output.value))),
        Form::Json => Ok(format!("{}\n", go::compact(&shown::json_of(&output.value)))),
        Form::Raw => raw(name, output),
    }
}

fn documents(state: &State) -> Json {
    let outputs = shown::json_outputs(state).into_iter();
    let documents: Map<String, Json> = outputs
        .map(|(name, sensitive, ty, value)| (name, json!({ "sensitive": sensitive, "type": ty, "value": value })))
        .collect();
    Json::Object(documents)
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

fn no_outputs() -> Diagnostic {
    Diagnostic::warning(
        "No outputs found",
        format!(
            "The state file either has no outputs defined, or all the defined outputs are empty. Please define an output in your \
         configuration with the `output` keyword and run `{COMMAND} refresh` for it to become available. If you are using \
         interpolation, please verify the interpolated value is not empty. You can use the `{COMMAND} console` command to assist."
        ),
    )
}

fn not_found(name: &str) -> Diagnostics {
    Diagnostic::error(
        format!("Output {name:?} not found"),
        format!("The output variable requested could not be found in the state file. If you recently added this to your configuration, be sure \
         to run `{COMMAND} apply`, since the state won't be updated with new output variables until that command is run."),
    )
    .into()
}
