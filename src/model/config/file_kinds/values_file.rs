//! Values for input variables as people give them: `*.tfvars` files, `-var` strings, `TF_VAR_` strings.
//!
//! The caller decides which of them apply, and in which order.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile};
use base::suggest;
use indexmap::IndexMap;
use lang::syntax::body::BodySchema;
use lang::syntax::parser;
use terrane_value::{Type, Value};

use crate::config::blocks::by_name::ByName;
use crate::config::blocks::variable::Variable;
use crate::config::constants::constant;
use crate::config::files::file_set;
use crate::model_errors::MISSING_VALUE;

const UNDECLARED: &str = "Value for undeclared variable";

const INVALID_OPTION: &str = "Invalid -var option";

/// A value with the place where it is written.
#[derive(Clone, Debug)]
pub struct GivenValue {
    pub value: Value,
    pub range: Range,
}

static DECLARATIONS: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().block("variable", &["name"]));

/// The values of a `.tfvars` or `.tfvars.json` file, in its order.
pub fn parse_file(file: Arc<SourceFile>) -> (IndexMap<Arc<str>, GivenValue>, Diagnostics) {
    let name = file.name().to_owned();
    let (body, mut diags) = file_set::parse(file);
    if diags.has_errors() {
        return (IndexMap::new(), diags);
    }
    let (content, _, _) = body.partial_content(&DECLARATIONS);
    for block in &content.blocks {
        let variable = block.label(0);
        diags.push(
            Diagnostic::error(
                "Variable declaration in .tfvars file",
                format!(
                    "A .tfvars file is used to assign values to variables that have already been declared in .tf files, \
                     not to declare new variables. To declare variable {:?}, place this block in one of your .tf files, \
                     such as variables.tf.\n\nTo set a value for this variable in {name}, use the definition syntax \
                     instead:\n    {variable} = <value>",
                    &**variable
                ),
            )
            .at(block.kind_range()),
        );
    }
    if diags.has_errors() {
        return (IndexMap::new(), diags);
    }
    let attributes = diags.take(body.just_attributes());
    let mut values = IndexMap::with_capacity(attributes.len());
    for (name, attribute) in attributes {
        let value = diags.take(constant::value(&attribute.expr));
        values.insert(name, GivenValue { value, range: attribute.expr.range() });
    }
    (values, diags)
}

/// A value given as a string: taken as it is where the variable is of a simple type (or of none given, or unknown to
/// the module), otherwise read as an expression.
pub fn parse_string(name: &str, text: &str, variable: Option<&Variable>) -> (Value, Diagnostics) {
    let literal = match variable {
        None => true,
        Some(variable) => variable.type_expression.is_none() || is_simple(&variable.ty),
    };
    if literal {
        return (Value::string(text), Diagnostics::new());
    }
    let is_secret = variable.is_some_and(|variable| variable.sensitive || variable.ephemeral);
    let source = if is_secret { SourceFile::secret } else { SourceFile::new };
    let (expr, mut diags) = parser::parse_expression(source(format!("<value for var.{name}>"), text.to_owned()));
    if diags.has_errors() {
        return (Value::dynamic(), diags);
    }
    let value = diags.take(constant::value(&expr));
    (value, diags)
}

/// A value given as a string for a name that no module declares, as test files may refer to: an expression.
pub fn parse_expression_string(name: &str, text: &str) -> (Value, Diagnostics) {
    let (expr, mut diags) =
        parser::parse_expression(SourceFile::new(format!("<value for var.{name}>"), text.to_owned()));
    if diags.has_errors() {
        return (Value::dynamic(), diags);
    }
    let value = diags.take(constant::value(&expr));
    (value, diags)
}

fn is_simple(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Number | Type::String)
}

/// What `-var` takes: `name=value`.
pub fn split_assignment(argument: &str) -> Result<(&str, &str), Diagnostic> {
    let Some((name, value)) = argument.split_once('=') else {
        return Err(Diagnostic::error(
            INVALID_OPTION,
            format!(
                "The given -var option {argument:?} is not correctly specified. Must be a variable name and value \
                 separated by an equals sign, like -var=\"key=value\"."
            ),
        ));
    };
    if name.is_empty() || name.starts_with(' ') || name.ends_with(' ') {
        let side = if name.ends_with(' ') { "trailing" } else { "leading" };
        let mut detail = format!("Variable name {name:?} is invalid due to {side} space.");
        if !name.trim().is_empty() {
            // As the reference, which asks this of trailing spaces only. The value of a variable may be secret.
            let value = if side == "trailing" { value.strip_prefix(' ').unwrap_or(value) } else { "..." };
            detail += &format!(" Did you mean -var=\"{}={value}\"?", name.trim());
        }
        return Err(Diagnostic::error(INVALID_OPTION, detail));
    }
    Ok((name, value))
}

/// A value on the command line for a variable that the root module does not have.
pub fn undeclared_on_command_line(name: &str, declared: &ByName<Variable>) -> Diagnostic {
    let error = Diagnostic::error(
        UNDECLARED,
        format!(
            "A variable named {name:?} was assigned on the command line, but the root module does not declare a variable \
             of that name. To use this value, add a \"variable\" block to the configuration."
        ),
    );
    error.with_tip(close_variable(name, declared))
}

fn close_variable(name: &str, declared: &ByName<Variable>) -> String {
    suggest::question(name, declared.keys().map(|declared| &**declared))
}

/// Warnings about values in files for variables that the root module does not have: two in full, then the number of others.
pub fn undeclared_in_files<'a>(
    given: impl IntoIterator<Item = (&'a str, &'a GivenValue)>,
    declared: &ByName<Variable>,
) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let mut others = 0;
    for (name, value) in given {
        if diags.len() >= 2 {
            others += 1;
            continue;
        }
        diags.push(
            Diagnostic::warning(
                UNDECLARED,
                format!(
                    "The root module does not declare a variable named {name:?} but a value was found in file {:?}. If \
                     you meant to use this value, add a \"variable\" block to the configuration.\n\nTo silence these \
                     warnings, use TF_VAR_... environment variables to provide certain \"global\" settings to all \
                     configurations in your organization. To reduce the verbosity of these warnings, use the \
                     -compact-warnings option.",
                    value.range.filename()
                ),
            )
            .at(value.range.clone())
            .with_tip(close_variable(name, declared)),
        );
    }
    if others > 0 {
        diags.warning(
            "Values for undeclared variables",
            format!("In addition to the other similar warnings shown, {others} other variable(s) defined without being declared."),
        );
    }
    diags
}

/// A variable without a default for which nothing is given.
pub fn required_but_missing(variable: &Variable) -> Diagnostic {
    Diagnostic::error(
        MISSING_VALUE,
        format!(
            "The root module input variable {:?} is not set, and has no default value. Use a -var or -var-file command \
             line argument to provide a value for this variable.",
            &*variable.name
        ),
    )
    .at(variable.range.clone())
    .with_tip(format!("The environment variable TF_VAR_{} works, too, and is the place for secrets.", variable.name))
}

#[cfg(test)]
mod tests {
    use super::split_assignment;

    #[test]
    fn names_with_spaces_are_refused_with_a_question() {
        let ends = "Variable name \"region \" is invalid due to trailing space. Did you mean -var=\"region=eu\"?";
        let begins = "Variable name \" region\" is invalid due to leading space. Did you mean -var=\"region=...\"?";
        let cases = [
            ("region = eu", ends),
            (" region=eu", begins),
            (" =eu", "Variable name \" \" is invalid due to trailing space."),
        ];
        for (given, expected) in cases {
            assert_eq!(split_assignment(given).unwrap_err().detail, expected, "{given}");
        }
        assert_eq!(split_assignment("a=b = c"), Ok(("a", "b = c")));
    }
}
