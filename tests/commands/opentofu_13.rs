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
