//! `output`

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use base::suggest;
use model::state::State;
use ops::backends::read_state;
use ops::interface::options::StateOptions;
use render::text::style::Style;

use crate::Invocation;
use crate::args::output::{Form, Output, parse};
use crate::view::output::view;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, parse(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let options = StateOptions { state: args.state.clone().map(Into::into), ..StateOptions::default() };
    let work = async { read_state::current(&setup, &options).await };
    let mut of_backend;
    let state = match super::run_with(invocation, &setup, work) {
        Ok(Ok((opened, loaded))) => {
            invocation.console.diagnostics_aside(loaded.warnings);
            of_backend = opened.warnings;
            loaded.file.map(|file| file.state).unwrap_or_default()
        }
        Ok(Err(diagnostics)) => return super::finish(&invocation.console, diagnostics),
        Err(code) => return code,
    };
    if let Some(copy) = &invocation.console.copy
        && let Ok(text) = text(&Output { form: Form::Json, ..args.clone() }, &state, copy.style)
    {
        copy.print(&text);
    }
    match text(&args, &state, invocation.console.style) {
        Ok(text) => {
            invocation.console.print(&text);
            // Programs read the other forms.
            if args.form != Form::Human {
                return 0;
            }
        }
        Err(diagnostics) => of_backend.extend(diagnostics),
    }
    super::finish(&invocation.console, of_backend)
}

fn text(args: &Output, state: &State, style: Style) -> Result<String, Diagnostics> {
    let view = view(args.form, style);
    match &args.name {
        None if state.outputs.is_empty() => view.empty().ok_or_else(|| no_outputs().into()),
        Some(_) if state.outputs.is_empty() => Err(no_outputs().into()),
        None => Ok(view.all(state)),
        Some(name) => view.one(name, state.outputs.get(name.as_str()).ok_or_else(|| not_found(name, state))?),
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

fn not_found(name: &str, state: &State) -> Diagnostics {
    let tip = suggest::question(name, state.outputs.keys().map(|name| &**name));
    Diagnostic::error(
        format!("Output {name:?} not found"),
        format!("The output variable requested could not be found in the state file. If you recently added this to your configuration, be sure \
         to run `{COMMAND} apply`, since the state won't be updated with new output variables until that command is run."),
    )
    .with_tip(tip)
    .into()
}
