//! What OpenTofu validates, plans and applies in another way than Terraform.
//!
//! Owns the rules of this area that depend on the dialect. Terrane follows OpenTofu where it destroys or creates less than Terraform.

use base::dialect::Dialect;
use model::opentofu::tofu_at_least;

/// Whether a module call that gains or loses `count` keeps its first instance. Terraform destroys the objects and creates others.
pub fn keeps_first_instance_of_calls(dialect: Dialect) -> bool {
    dialect.is_careful()
}

/// Whether objects whose block is gone are still left alone if the block asked for it. Terraform does not remember it.
pub fn remembers_destroy_argument(dialect: Dialect) -> bool {
    dialect.is_careful()
}

/// Whether the key of an instance to import must be known. Terraform leaves out the import, so that the object is created.
pub fn requires_known_import_keys(dialect: Dialect) -> bool {
    dialect.is_careful()
}

/// Whether an import of an object that is in the state already is checked like others.
pub fn checks_imports_of_stored_objects(dialect: Dialect) -> bool {
    dialect.is_careful()
}

/// Whether each object that is forgotten has its own warning, except in a destroy. Terraform lists all of them in one.
pub fn warns_of_each_forgotten_object(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether warnings about targets name both options, also if only `-target` is set: Terraform has only this one.
pub fn names_both_target_options(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// What stands in the empty line of the warning about an incomplete apply.
pub fn gap_of_incomplete_apply(dialect: Dialect) -> &'static str {
    dialect.by_language("", "\t")
}

/// Whether objects without a block are destroyed that depend on what is excluded.
pub fn destroys_dependents_of_excluded(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether a deprecated output may pass on what is deprecated without a warning.
pub fn deprecated_outputs_are_quiet(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

/// Whether deprecations have the texts of OpenTofu, and those of outputs are reported by plan alone, for each instance of a module.
/// Terraform reports them when it validates, and refuses them in the root module.
pub fn has_own_deprecations(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether a `prevent_destroy` that is an expression is checked by plan alone, and for other objects than those to destroy as well.
pub fn checks_prevention_in_plan(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether the error of a prevented destruction says how to exclude the resource, which Terraform cannot.
pub fn suggests_exclusion(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether keys of instances to import may call functions, and need no `for_each`; they are evaluated by plan alone and may be of
/// another kind than those of the resource.
pub fn has_free_import_keys(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether imports without an instance are reported after the plan. Terraform reports them with their block.
pub fn reports_unmatched_imports_last(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether the error about an attribute of `terraform` names the object as it is written: `tofu` is another name for it.
pub fn names_terraform_as_written(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether a resource without values is unknown as a whole, unless it has sensitive attributes. Otherwise it is an object of unknown
/// attributes.
pub fn is_unknown_as_a_whole(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether the error about an ephemeral value in an output speaks of the configuration of the output.
pub fn explains_ephemeral_outputs(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether an object's `lifecycle.destroy` is stored as soon as it is read or imported. For OpenTofu it is once the object was
/// changed.
pub fn stores_destroy_argument_at_once(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

/// Whether objects to forget are refreshed first.
pub fn refreshes_forgotten_objects(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether the attribute of a `replace_triggered_by` must be one of the resource. Terraform checks it since 1.15.
pub fn checks_attributes_of_triggers(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether `validate` checks the names in `replace_triggered_by`, as since OpenTofu 1.12. Other releases check them in plan alone.
pub fn validates_triggers(dialect: Dialect) -> bool {
    tofu_at_least(dialect, 12)
}

/// Whether `validate` knows the types of the attributes of resources without `count` and `for_each`, as since OpenTofu 1.12.
/// Terraform knows them since 1.15, except for those of ephemeral resources.
pub fn knows_types_in_validate(dialect: Dialect) -> bool {
    tofu_at_least(dialect, 12)
}

/// Whether `validate` warns of connections of type `winrm`, as since OpenTofu 1.12, which deprecates them.
pub fn warns_of_winrm(dialect: Dialect) -> bool {
    tofu_at_least(dialect, 12)
}

/// Whether mocks may give all elements of nested attributes and blocks, in all releases, and errors about them show the whole path.
/// Before Terraform 1.12, mocks give one object, which is a template for all elements.
pub fn mocks_take_collections(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rule = fn(Dialect) -> bool;

    /// The dialects in which a rule holds.
    fn dialects_of(rule: Rule) -> Vec<Dialect> {
        let all = [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu];
        all.into_iter().filter(|dialect| rule(*dialect)).collect()
    }

    #[test]
    fn terrane_is_as_careful_as_opentofu() {
        let rules: [Rule; 4] = [
            keeps_first_instance_of_calls,
            remembers_destroy_argument,
            requires_known_import_keys,
            checks_imports_of_stored_objects,
        ];
        for (index, rule) in rules.into_iter().enumerate() {
            assert_eq!(dialects_of(rule), [Dialect::Terrane, Dialect::OpenTofu], "{index}");
        }
    }

    #[test]
    fn terrane_speaks_the_language_of_terraform() {
        let rules: [Rule; 2] = [deprecated_outputs_are_quiet, stores_destroy_argument_at_once];
        for (index, rule) in rules.into_iter().enumerate() {
            assert_eq!(dialects_of(rule), [Dialect::Terrane, Dialect::Terraform], "{index}");
        }
    }

    #[test]
    fn mocks_of_opentofu_take_collections() {
        assert_eq!(dialects_of(mocks_take_collections), [Dialect::OpenTofu]);
    }

    #[test]
    fn changes_of_opentofu_1_12_are_its_own() {
        let rules: [Rule; 3] = [validates_triggers, knows_types_in_validate, warns_of_winrm];
        for (index, rule) in rules.into_iter().enumerate() {
            assert_eq!(dialects_of(rule), [Dialect::OpenTofu], "{index}");
        }
    }
}
