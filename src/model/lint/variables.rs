//! Rules about the blocks of variables.

use terrane_value::Type;

use super::Finding;
use crate::config::{Module, Variable};

/// Variables that accept any value: those without a type, and those of the type `any`.
pub fn find_untyped(module: &Module) -> Vec<Finding> {
    let untyped = module.variables.values().filter(|variable| variable.ty == Type::Dynamic);
    let finding = |variable: &Variable| Finding {
        detail: format!("Variable {:?} has no type specified.", &*variable.name),
        at: variable.range.clone(),
        within: None,
    };
    untyped.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::details;

    #[test]
    fn variables_without_a_type_are_found() {
        let cases = [
            ("variable \"a\" {}", true),
            ("variable \"a\" {\n default = 1\n}", true),
            ("variable \"a\" {\n type = any\n}", true),
            ("variable \"a\" {\n type = list(any)\n}", false),
            ("variable \"a\" {\n type = list\n}", false),
            ("variable \"a\" {\n type = string\n}", false),
        ];
        for (text, is_found) in cases {
            let expected = is_found.then(|| "Variable \"a\" has no type specified.".to_owned());
            assert_eq!(details("core:no-type-variable", text), Vec::from_iter(expected), "{text}");
        }
    }
}
