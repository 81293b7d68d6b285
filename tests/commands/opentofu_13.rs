//! Answers of OpenTofu 1.13 that 1.12 does not give.

use crate::support::Project;

fn tofu(version: &str, config: &str) -> Project {
    let mut project = Project::new(config);
    project.set("TERRANE_NAME", "tofu");
    project.set("TERRANE_COMPATIBLE_VERSION", version);
    project
}

#[test]
fn plans_without_changes_have_one_line() {
    let config = "resource \"terraform_data\" \"a\" {}\n";
    let second = "no differences, so no changes are";
    for (version, is_long) in [("1.12.6", true), ("1.13.2", false)] {
        let project = tofu(version, config);
        project.ok(&["apply", "-auto-approve", "-no-color"]);
        let plan = project.ok(&["plan", "-no-color"]).out;
        assert!(plan.contains("\nNo changes. Your infrastructure matches the configuration.\n"), "{plan}");
        assert_eq!(plan.contains(second), is_long, "{version}: {plan}");
        let targeted = project.ok(&["plan", "-no-color", "-target=terraform_data.a"]).out;
        assert_eq!(
            targeted.contains("Note: You used the -target option, so OpenTofu only checked"),
            !is_long,
            "{targeted}"
        );
    }
}

#[test]
fn attributes_have_types_in_validate() {
    let config = "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  \
                  count = assumenotnull(terraform_data.a.id) != null ? 1 : 0\n}\n";
    tofu("1.13.2", config).ok(&["validate"]);
    let config = "resource \"terraform_data\" \"a\" {}\nlocals {\n  k = keys(terraform_data.a.id)\n}\n";
    let found = "must have map or object type";
    tofu("1.13.2", config).run(&["validate"]).expect(1, &[found]);
    tofu("1.11.4", config).ok(&["validate"]);
    for (version, is_known) in [("1.11.4", false), ("1.17.2", true)] {
        let mut project = Project::new(config);
        project.set("TERRANE_COMPATIBLE_VERSION", version);
        assert_eq!(project.run(&["validate"]).code, Some(i32::from(is_known)), "{version}");
    }
}

#[test]
fn invalid_modules_have_the_errors_of_opentofu() {
    let cases: &[(&str, &[&str])] = &[
        ("language {\n  experiments = [foo]\n}\n", &["Unknown experiment keyword"]),
        ("language {\n  experiments = [symbol_libraries]\n}\n", &["Unsupported language experiment"]),
        ("language {\n  edition = tofu2026\n}\n", &["only supports language edition tofu2024"]),
        ("output \"o\" {\n  value = tofu.nope\n}\n", &["Invalid \"tofu\" attribute"]),
        (
            "symbols \"lib\" {\n  source = \"./lib\"\n}\n",
            &["Language Experiment not enabled", "on main.tf line 1:", "\"symbol_libraries\" experiment enabled"],
        ),
        (
            "output \"o\" {\n  value = symbols.lib.a\n}\n",
            &["Language Experiment not enabled", "Missing symbol library", "Symbol library lib not declared"],
        ),
        ("output \"o\" {\n  value = symbols\n}\n", &["The \"symbols\" object cannot be accessed directly."]),
        (
            "output \"o\" {\n  value = symbols::lib::f(1)\n}\n",
            &["Language Experiment not enabled", "experiment enabled.", "Missing symbol library"],
        ),
        ("output \"o\" {\n  value = symbols::f(1)\n}\n", &["Unable to parse symbols function"]),
        (
            "variable \"v\" {\n  type = list(symbols::lib::items())\n}\n",
            &["Missing symbol library", "Symbol library lib not declared"],
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  lifecycle {\n    replace_triggered_by = [terraform_data.b]\n  }\n}\n",
            &["Undeclared resource in replace_triggered_by"],
        ),
        (
            "resource \"terraform_data\" \"b\" {}\nresource \"terraform_data\" \"a\" {\n  lifecycle {\n    \
             replace_triggered_by = [terraform_data.b.nope]\n  }\n}\n",
            &["Unsupported attribute", "named \"nope\""],
        ),
    ];
    for (config, texts) in cases {
        tofu("1.13.2", config).run(&["validate", "-no-color"]).expect(1, texts);
    }
    tofu("1.13.2", "terraform {\n  experiments = [foo]\n}\n").ok(&["validate"]);
    tofu("1.12.6", "terraform {\n  experiments = [foo]\n}\n").run(&["validate"]).expect(1, &["experimental features"]);
}

#[test]
fn targets_of_overrides_may_name_all_instances() {
    let project = tofu("1.13.2", "resource \"terraform_data\" \"a\" {\n  count = 2\n}\n");
    project.write(
        "work/a.tftest.hcl",
        "override_resource {\n  target = terraform_data.a[*]\n  values = {}\n}\nrun \"r\" {}\n",
    );
    project.ok(&["init"]);
    assert!(project.ok(&["validate", "-no-color"]).out.starts_with("Success! The configuration is valid.\n"));
}

#[test]
fn init_without_backend_reads_no_encrypted_state() {
    let config = |passphrase: &str| {
        format!(
            "terraform {{\n  encryption {{\n    key_provider \"pbkdf2\" \"k\" {{\n      passphrase = {passphrase:?}\n    }}\n    \
             method \"aes_gcm\" \"m\" {{\n      keys = key_provider.pbkdf2.k\n    }}\n    state {{\n      method = \
             method.aes_gcm.m\n    }}\n  }}\n}}\nresource \"terraform_data\" \"a\" {{}}\n"
        )
    };
    let mut project = tofu("1.13.2", &config("one secret that is long enough"));
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", &config("another one that is long enough"));
    project.ok(&["init", "-backend=false"]);
    project.set("TERRANE_COMPATIBLE_VERSION", "1.12.6");
    assert_eq!(project.run(&["init", "-backend=false"]).code, Some(1));
    project.set("TERRANE_NAME", "terrane");
    project.any_release();
    project.ok(&["init", "-backend=false"]);
}

#[test]
fn cidrsubnets_extends_ipv6_prefixes_by_more_than_32_bits() {
    let config = "output \"o\" {\n  value = cidrsubnets(\"2001:db8::/32\", 40, 96)\n}\n";
    let out = tofu("1.13.2", config).ok(&["apply", "-auto-approve", "-no-color"]).out;
    assert!(out.contains("\"2001:db8:0:0:100::/128\""), "{out}");
}

#[test]
fn sensitive_output_of_provisioners_is_shown_on_request() {
    let config = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    \
                  command = \"echo ${sensitive(\"hunter2\")}\"\n  }\n}\n";
    for (flags, is_shown) in [(&[][..], false), (&["-show-sensitive"][..], true)] {
        let words = [&["apply", "-auto-approve", "-no-color"], flags].concat();
        let out = tofu("1.13.2", config).ok(&words).out;
        assert_eq!(out.contains("hunter2"), is_shown, "{out}");
        assert_eq!(out.contains("output suppressed"), !is_shown, "{out}");
    }
}

/// A plan file of OpenTofu 1.13, which has the schemas of a provider that is not installed.
const PLAN: &[u8] = include_bytes!("../../src/model/plan/file/fixtures/opentofu-1.13.tfplan");

#[test]
fn plan_files_with_schemas_are_shown_without_providers() {
    let one = "      ~ nl {\n          + a = (known after apply)\n          + b = (known after apply)\n        } -> (known after \
               apply)\n\n      ~ ns {\n";
    for (version, is_one) in [("1.12.6", false), ("1.13.2", true)] {
        let project = tofu(version, "");
        std::fs::write(project.work().join("plan"), PLAN).unwrap();
        let shown = project.ok(&["show", "-no-color", "plan"]).out;
        assert!(shown.contains("\n        # (3 unchanged attributes hidden)\n"), "{shown}");
        assert_eq!(shown.contains(one), is_one, "{shown}");
        assert_eq!(shown.contains("      - nl {\n          - a = \"x\" -> null\n"), !is_one, "{shown}");
        let json = project.ok(&["show", "-json", "plan"]).out;
        assert!(json.contains("\"address\":\"simple_resource.a\""), "{json}");
    }
    // Under the other names, `hashicorp/simple` is a provider of another registry.
    for name in ["terrane", "terraform"] {
        let mut project = Project::new("");
        project.set("TERRANE_NAME", name);
        std::fs::write(project.work().join("plan"), PLAN).unwrap();
        let shown = project.ok(&["show", "-no-color", "plan"]).out;
        assert!(shown.contains("# simple_resource.a will be updated in-place"), "{shown}");
        let json = project.ok(&["show", "-json", "plan"]).out;
        assert!(json.contains("\"address\":\"simple_resource.a\""), "{json}");
    }
}

#[test]
fn connections_of_type_winrm_are_refused() {
    let connection = |kind: &str| format!("connection {{\n    type = {kind}\n    host = \"127.0.0.1\"\n  }}\n");
    let provisioner = |inner: &str| format!("provisioner \"remote-exec\" {{\n    inline = [\"x\"]\n{inner}  }}\n");
    let resource = |inner: String| format!("resource \"terraform_data\" \"a\" {{\n  {inner}}}\n");
    let (warning, error) =
        ("Warning: WinRM connection type is deprecated", "Error: Provisioners no longer support WinRM");
    let shared = resource(connection("\"winrm\"") + &provisioner("    on_failure = continue\n"));
    let own = resource(provisioner(&connection("\"winrm\"")));
    let variable =
        format!("variable \"t\" {{\n  default = \"winrm\"\n}}\n{}", resource(connection("var.t") + &provisioner("")));
    // The version, the configuration, whether it has the warning, and whether it has both errors.
    let cases = [
        ("1.11.4", &own, false, false),
        ("1.12.6", &own, true, false),
        ("1.13.2", &own, true, true),
        ("1.13.2", &shared, true, true),
        ("1.13.2", &variable, false, true),
    ];
    for (version, config, warns, refuses) in cases {
        let project = tofu(version, config);
        let validated = project.ok(&["validate", "-no-color"]).text();
        assert_eq!(validated.contains(warning), warns, "{version}: {validated}");
        let applied = project.run(&["apply", "-auto-approve", "-no-color"]).text();
        assert_eq!(applied.contains(error), refuses, "{version}: {applied}");
        assert_eq!(applied.contains("remote-exec provisioner error"), config != &shared, "{version}: {applied}");
    }
    tofu("1.13.2", &own).run(&["apply", "-auto-approve", "-no-color"]).expect(
        1,
        &[
            "on main.tf line 4, in resource \"terraform_data\" \"a\":",
            "'winrm' connections are not supported in OpenTofu v1.13 or later",
        ],
    );
}

#[test]
fn removed_blocks_have_the_errors_of_opentofu() {
    let key = "Error: Resource instance address with keys is not allowed";
    let module_key = "Error: Module instance address with keys is not allowed";
    let cases = [
        ("terraform_data.a[0]", key),
        ("terraform_data.a.id", key),
        ("module.m.terraform_data.a[\"k\"]", key),
        ("data.x.y[0]", key),
        ("module.m[0]", module_key),
        ("module.m[0].terraform_data.a[0]", module_key),
        ("module.m.module.n[0]", module_key),
        ("data.x.y", "Error: Data source address is not allowed"),
        ("module.m.ephemeral.x.y", "Error: Ephemeral resource address is not allowed"),
        ("terraform_data.a[0].b", "Unexpected extra operators after address."),
    ];
    for (from, expected) in cases {
        let config = format!("removed {{\n  from = {from}\n}}\n");
        let outcome = tofu("1.13.2", &config).run(&["validate", "-no-color"]);
        outcome.expect(1, &[expected]);
        assert!(!outcome.text().contains("Missing lifecycle"), "{from}");
    }
}

#[test]
fn the_type_of_convert_is_no_value() {
    let signatures = tofu("1.13.2", "").ok(&["metadata", "functions", "-json"]).out;
    assert!(signatures.contains("{\"name\":\"type\",\"type\":\"type\"}"), "{signatures}");
}
