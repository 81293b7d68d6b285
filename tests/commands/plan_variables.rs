//! Values of variables that are given when a saved plan is applied. What Terraform 1.11.4 answers too is in `saved_plans`.

use crate::support::Project;

#[test]
fn values_that_a_saved_plan_lacks_are_reported() {
    let project = Project::new("variable \"a\" {\n  default = 1\n}\n\noutput \"o\" {\n  value = var.a\n}\n");
    project.ok(&["init"]);
    project.ok(&["plan", "-out=p"]);
    let apply = |value: &str| project.run(&["apply", "-no-color", value, "p"]);
    apply("-var=a=2")
        .expect(1, &["Error: Can't change variable when applying a saved plan", "the plan is for its default"]);
    apply("-var=b=2").expect(1, &["Error: Value for undeclared variable"]);
    project.write("work/f.tfvars", "a = 2\nb = 3\n");
    let warned = ["Warning: Value not used by a saved plan", "Warning: Value for undeclared variable", "o = 1"];
    apply("-var-file=f.tfvars").expect(0, &warned);
}

/// Unlike Terraform, which shows the line.
#[test]
fn lines_with_secrets_are_not_shown() {
    let cases = [
        ("sensitive = true", "s=one", "Can't change variable when applying a saved plan"),
        ("ephemeral = true", "other=1", "Ephemeral variable was not set during planning"),
    ];
    for (argument, planned, summary) in cases {
        let block = format!("variable \"s\" {{\n  default = \"x\"\n  {argument}\n}}\n");
        let project = Project::new(&format!("{block}variable \"other\" {{\n  default = 1\n}}\n"));
        project.ok(&["init"]);
        project.ok(&["plan", "-out=p", &format!("-var={planned}")]);
        project.write("work/f.tfvars", "s = \"hunter2\"\n");
        let outcome = project.run(&["apply", "-no-color", "-var-file=f.tfvars", "p"]);
        outcome.expect(1, &[summary, "The value is in file \"f.tfvars\", line 1."]);
        assert!(!outcome.text().contains("hunter2"), "{}", outcome.text());
    }
}
