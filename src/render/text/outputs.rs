//! Outputs, in the language's own notation.

use std::fmt::Write;

use model::state::OutputValue;

use super::value::console_text;

/// The outputs, one entry each, as shown after an apply and by `output`. `reveal`: sensitive ones are shown.
pub fn outputs_text<'a>(outputs: impl Iterator<Item = (&'a str, &'a OutputValue)>, reveal: bool) -> String {
    let mut out = String::new();
    for (name, output) in outputs {
        let text = if output.sensitive && !reveal { "<sensitive>".to_owned() } else { console_text(&output.value) };
        let _ = writeln!(out, "{name} = {text}");
    }
    out
}
