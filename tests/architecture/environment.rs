//! The page of environment variables: made from their declarations, in the groups of the table below.
//! `TERRANE_TEST_RECORD=1` writes the page again.

use std::fmt::Write as _;

use base::env;

use super::here;

const PAGE: &str = "docs/environment.md";

/// Variables that readers look for together.
struct Group {
    title: &'static str,
    /// What is to be said of all; may be empty.
    about: &'static str,
    /// Names; `*` at the end stands for any rest. A variable is in the first group that has it.
    names: &'static [&'static str],
}

const fn group(title: &'static str, about: &'static str, names: &'static [&'static str]) -> Group {
    Group { title, about, names }
}

/// In the order of the page. A new variable needs a place here, if no pattern has it already.
const GROUPS: &[Group] = &[
    group(
        "Variables and configuration",
        "",
        &[
            "TF_VAR_*",
            "TF_WORKSPACE",
            "TERRANE_COMPATIBLE_VERSION",
            "TF_DATA_DIR",
            "TF_CLI_CONFIG_FILE",
            "TERRAFORM_CONFIG",
        ],
    ),
    group(
        "Automation",
        "For CI and scripts; see [GitHub Actions](guides/github-actions.md) and [GitLab](guides/gitlab.md).",
        &[
            "TF_IN_AUTOMATION",
            "TF_INPUT",
            "TF_CLI_ARGS",
            "TF_CLI_ARGS_*",
            "CHECKPOINT_DISABLE",
            "CI",
            "GITHUB_*",
            "TERRANE_DENY",
            "TFPOLICY_INPUT_*",
        ],
    ),
    group(
        "Output",
        "",
        &[
            "NO_COLOR",
            "FORCE_COLOR",
            "CLICOLOR_FORCE",
            "TERRANE_NAME",
            "TERRANE_PROGRESS",
            "TERRANE_ESTIMATES",
            "TERM",
            "TERM_*",
            "WT_SESSION",
            "ConEmuANSI",
            "VTE_VERSION",
        ],
    ),
    group("Debugging", "", &["TF_LOG*", "TERRANE_TRACES", "OTEL_*", "TRACEPARENT", "TRACESTATE"]),
    group(
        "Installation",
        "Where modules and providers come from: [providers](providers.md), [modules](modules.md), [credentials](credentials.md).",
        &[
            "TF_PLUGIN_CACHE_*",
            "TF_TOKEN_*",
            "TF_REGISTRY_*",
            "TF_APPEND_USER_AGENT",
            "TERRANE_REQUIRE_SIGNATURES",
            "TERRANE_REFUSE_EXPIRED_KEYS",
            "OPENTOFU_ENFORCE_GPG_EXPIRATION",
            "TERRANE_MODULE_*",
            "TERRANE_PROVIDER_SIZE_LIMIT",
            "TERRANE_RELEASE_KEY",
            "NETRC",
            "GIT_SSH_COMMAND",
            "SSH_AUTH_SOCK",
            "DOCKER_CONFIG",
        ],
    ),
    group(
        "Proxies and certificates",
        "Requests over HTTPS use the authorities of `SSL_CERT_FILE` and `SSL_CERT_DIR` in place of the system's.",
        &["*_PROXY", "*_proxy"],
    ),
    group(
        "States",
        "See [state](state.md) and [encryption](encryption.md).",
        &["TERRANE_STATE_*", "TF_ENCRYPTION", "TERRANE_PBKDF2_LIMIT", "BAO_*", "VAULT_*"],
    ),
    group(
        "HCP Terraform",
        "See [`cloud`](backends/cloud.md).",
        &["TF_CLOUD_*", "TF_FORCE_LOCAL_BACKEND", "TFE_RUN_ID"],
    ),
    group("Backend http", "Each is a [setting of the block](backends/http.md).", &["TF_HTTP_*"]),
    group("Backend pg", "See [`pg`](backends/pg.md).", &["PG*"]),
    group("Backend consul", "See [`consul`](backends/consul.md).", &["CONSUL_*"]),
    group("Backend kubernetes", "See [`kubernetes`](backends/kubernetes.md).", &["KUBE*"]),
    group(
        "Logins: all clouds",
        "Terrane reads the variables of clouds for its own modules, backends and keys. Providers read variables of their own.",
        &["TERRANE_ANSWER_SIZE_LIMIT"],
    ),
    group("Logins: AWS", "See [`s3`](backends/s3.md) and the guide for [AWS](guides/aws.md).", &["AWS_*"]),
    group(
        "Logins: Azure",
        "See [`azurerm`](backends/azurerm.md) and the guide for [Azure](guides/azure.md).",
        &["ARM_*", "AZURE_*", "ACTIONS_ID_TOKEN_*", "SYSTEM_*"],
    ),
    group(
        "Logins: Google Cloud",
        "See [`gcs`](backends/gcs.md) and the guide for [Google Cloud](guides/google-cloud.md).",
        &["GOOGLE_*", "GCE_*", "STORAGE_EMULATOR_HOST"],
    ),
    group("Logins: Alibaba Cloud", "See [`oss`](backends/oss.md).", &["ALICLOUD_*", "OSS_*"]),
    group("Logins: Oracle Cloud", "See [`oci`](backends/oci.md).", &["OCI_*"]),
    group("Logins: Tencent Cloud", "See [`cos`](backends/cos.md).", &["TENCENTCLOUD_*"]),
    group(
        "Plugin processes",
        "A provider or provisioner process gets the whole environment of the command, and the `PLUGIN_` variables, which are the protocol \
         between a plugin and its host.",
        &[
            "TF_REATTACH_PROVIDERS",
            "TF_DISABLE_PLUGIN_TLS",
            "TERRANE_NO_PROVIDER_REUSE",
            "TERRANE_SCHEMA_CACHE",
            "TERRANE_PLUGIN_*",
            "TERRANE_DATA_STORES",
            "TF_PLUGIN_MAGIC_COOKIE",
            "PLUGIN_*",
        ],
    ),
    group("Providers in Rust", "See [providers in Rust](sdk/index.md).", &["TF_ACC*", "TERRANE_SIGNING_PASSWORD"]),
    group("Completion", "Set by shells; see [completion](completion.md).", &["COMP_*"]),
    group(
        "The machine",
        "",
        &[
            "HOME",
            "USERPROFILE",
            "APPDATA",
            "LOCALAPPDATA",
            "USERNAME",
            "XDG_*",
            "PATH",
            "PATHEXT",
            "NoDefaultCurrentDirectoryInExePath",
            "PWD",
        ],
    ),
];

fn is_of(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => pattern == name,
    }
}

fn group_of(name: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.names.iter().any(|pattern| is_of(pattern, name)))
}

/// `intro`, which is written by hand, the list of the groups, the groups.
fn page(intro: &str) -> String {
    let anchor = |title: &str| title.to_lowercase().replace(':', "").replace(' ', "-");
    let links = GROUPS.iter().map(|group| format!("[{}](#{})", group.title, anchor(group.title)));
    let mut out = format!("{intro}{}.\n", links.collect::<Vec<_>>().join(" · "));
    for group in GROUPS {
        let _ = write!(out, "\n## {}\n\n", group.title);
        if !group.about.is_empty() {
            let _ = write!(out, "{}\n\n", group.about);
        }
        out.push_str("| Variable | What it does |\n|---|---|\n");
        let is_here = |name: &str| group_of(name).is_some_and(|found| std::ptr::eq(found, group));
        for variable in env::all().filter(|variable| is_here(variable.name)) {
            let name = variable.name.strip_suffix('_').map_or(variable.name.to_string(), |name| format!("{name}_*"));
            let doc = variable.doc.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
            let _ = writeln!(out, "| `{name}` | {doc} |");
        }
    }
    out
}

#[test]
fn environment_page_is_current() {
    let path = here(PAGE);
    let found = std::fs::read_to_string(&path).unwrap();
    let start = "[Variables and configuration](";
    let (intro, _) = found.split_once(start).expect("the page has its list of groups");
    let expected = page(intro);
    if std::env::var_os("TERRANE_TEST_RECORD").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert!(
            found == expected,
            "{PAGE} is not current: TERRANE_TEST_RECORD=1 cargo test --test tests environment_page"
        );
    }
}

#[test]
fn every_variable_has_a_group_and_every_group_variables() {
    let without: Vec<_> = env::all().map(|variable| variable.name).filter(|name| group_of(name).is_none()).collect();
    assert!(without.is_empty(), "give these a place in GROUPS: {without:?}");
    let used = |pattern: &str| env::all().any(|variable| is_of(pattern, variable.name));
    let patterns = GROUPS.iter().flat_map(|group| group.names);
    let idle: Vec<_> = patterns.filter(|pattern| !used(pattern)).collect();
    assert!(idle.is_empty(), "no variable has these names: {idle:?}");
}
