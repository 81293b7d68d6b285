//! Where Terraform and OpenTofu differ in what is created or destroyed, the name of the program decides. Under its own name, the answer that
//! destroys less counts.

use crate::support::Project;

struct Case {
    before: &'static str,
    after: &'static str,
    options: &'static [&'static str],
    /// What the plan says as `terraform`, `terrane` and `tofu`.
    expected: [&'static str; 3],
}

const OBJECT: &str = "resource \"terraform_data\" \"a\" {}\n";
const CALL: &str = "module \"m\" {\n  source = \"./m\"\n}\n";
const COUNTED: &str = "module \"m\" {\n  source = \"./m\"\n  count  = 1\n}\n";
const NO_CHANGES: &str = "No changes.";
const ALL_OTHERS: &str = "Plan: 1 to add, 0 to change, 1 to destroy.";
const MOVED: &str = "Plan: 0 to add, 0 to change, 0 to destroy.";

const CASES: &[Case] = &[
    // A `removed` block without `lifecycle`.
    Case {
        before: OBJECT,
        after: "removed {\n  from = terraform_data.a\n}\n",
        options: &[],
        expected: [
            "Plan: 0 to add, 0 to change, 1 to destroy.",
            "will no longer be managed",
            "but will not be destroyed",
        ],
    },
    Case {
        before: OBJECT,
        after: "removed {\n  from = terraform_data.a\n  lifecycle {\n    destroy = true\n  }\n}\n",
        options: &[],
        expected: ["Plan: 0 to add, 0 to change, 1 to destroy."; 3],
    },
    // The block with `destroy = false` is gone.
    Case {
        before: "resource \"terraform_data\" \"a\" {\n  lifecycle {\n    destroy = false\n  }\n}\n",
        after: "output \"o\" {\n  value = 1\n}\n",
        options: &[],
        expected: ["Plan: 0 to add, 0 to change, 1 to destroy.", "will no longer be managed", "1 to forget"],
    },
    // A module call gains and loses `count`.
    Case { before: CALL, after: COUNTED, options: &[], expected: [ALL_OTHERS, MOVED, MOVED] },
    Case { before: COUNTED, after: CALL, options: &[], expected: [ALL_OTHERS, MOVED, MOVED] },
    Case { before: CALL, after: CALL, options: &[], expected: [NO_CHANGES; 3] },
    // A new object in `replace_triggered_by`.
    Case {
        before: OBJECT,
        after: "resource \"terraform_data\" \"new\" {}\nresource \"terraform_data\" \"a\" {\n  lifecycle {\n    \
                replace_triggered_by = [terraform_data.new]\n  }\n}\n",
        options: &[],
        expected: [
            "Plan: 1 to add, 0 to change, 0 to destroy.",
            "Plan: 1 to add, 0 to change, 0 to destroy.",
            "Plan: 2 to add, 0 to change, 1 to destroy.",
        ],
    },
    // An import into an instance that is stored, but not configured any more.
    Case {
        before: "resource \"terraform_data\" \"a\" {\n  count = 2\n}\n",
        after: "resource \"terraform_data\" \"a\" {\n  count = 1\n}\nimport {\n  to = terraform_data.a[1]\n  id = \"x\"\n}\n",
        options: &[],
        expected: [
            "Plan: 0 to add, 0 to change, 1 to destroy.",
            "Error: Configuration for import target does not exist",
            "Error: Configuration for import target does not exist",
        ],
    },
    // A destroy is not kept from destroying it.
    Case {
        before: "resource \"terraform_data\" \"a\" {\n  count = 2\n}\n",
        after: "resource \"terraform_data\" \"a\" {\n  count = 1\n}\nimport {\n  to = terraform_data.a[1]\n  id = \"x\"\n}\n",
        options: &["-destroy"],
        expected: ["Plan: 0 to add, 0 to change, 2 to destroy."; 3],
    },
    // An object without a block that depends on an excluded one.
    Case {
        before: "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a.id\n}\n",
        after: OBJECT,
        options: &["-exclude=terraform_data.a"],
        expected: [NO_CHANGES, NO_CHANGES, "Plan: 0 to add, 0 to change, 1 to destroy."],
    },
];

#[test]
fn the_name_decides_what_is_destroyed() {
    for case in CASES {
        for (name, expected) in ["terraform", "terrane", "tofu"].into_iter().zip(case.expected) {
            let mut project = Project::new(case.before);
            project.set("TERRANE_NAME", name);
            project.write("work/m/m.tf", OBJECT);
            project.ok(&["init"]);
            project.ok(&["apply", "-auto-approve"]);
            project.write("work/main.tf", case.after);
            let plan = project.run(&[&["plan", "-no-color"], case.options].concat());
            let text = format!("{}{}", plan.out, plan.err);
            assert!(text.contains(expected), "{name} {}: {text}", case.after);
        }
    }
}
