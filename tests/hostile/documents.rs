//! Files that users, other programs or torn writes may have left in any shape.

use std::path::Path;
use std::sync::Arc;

use base::dialect::Dialect;
use base::env::Environment;
use base::files::Memory;
use base::process::ProcessId;
use base::source::SourceFile;
use base::stop::Stop;
use encryption::{self, DerivedKeys, Encryption, HttpClient, HttpClients, HttpError, HttpSettings, Services};
use model::addr::Provider;
use model::addr::parse::parse_abs_instance;
use model::config::policy_file::{GivenInputs, PolicySet, PolicyTestFile};
use model::config::{NoInputs, StaticContext, load_root, no_module, parse_encryption, test_file, values_file};
use model::deps::lock::Lock;
use model::deps::module_lock::ModuleLock;
use model::deps::module_manifest::ModuleManifest;
use model::plan::{document, file as plan_file};
use model::service::cli_file;
use model::state::State;
use model::state::file::{self as state_file, StateChange};
use model::state::journal::{Header, Journal, Record};
use render::plan_filter::PlanFilter;
use render::text::plan::{PlanText, plan_text};
use render::text::style::Style;
use sha2::{Digest, Sha256};
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Type, Value, json, msgpack};

use super::harness::survives;
use super::seeds::{MAIN, WRITTEN, members, zipped};

const JSON: &[&[u8]] = &[
    b"{",
    b"[",
    b"\"",
    b"null",
    b"true",
    b"\\u0000",
    b"\\ud800",
    b",",
    b":",
    b"[[",
    b"{\"a\":",
    b"\"index_key\": 9000000000000000000,",
    b"\"instances\": [],",
    b"\"attributes\": {},",
    b"\"deposed\": \"00000000\",",
    b"[\"list\",\"dynamic\"]",
    b"[\"object\",{\"a\":\"string\"},[\"a\"]]",
    b"\"value\"",
    b"\"type\"",
    b"1e5000000",
    b"1e-999999999",
];

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[test]
fn states() {
    let old = include_bytes!("../../src/model/state/file/fixtures/version3.tfstate").to_vec();
    let wide = include_bytes!("../../src/model/state/file/fixtures/wide.tfstate").to_vec();
    let ty = Type::object([("id", Type::String), ("input", Type::Dynamic), ("n", Type::set(Type::Number))]);
    survives("states", 1_500, &[WRITTEN.state.clone(), old, wide], JSON, |input| {
        if let Ok(Some(file)) = state_file::read(input) {
            let _ = state_file::write(&file.meta, &file.state);
        }
        let _ = json::from_json(input, &ty).map(|value| json::to_json(&value, &ty));
        let _ = Type::from_json_bytes(input);
    });
}

#[test]
fn plan_files() {
    let sound = members(&WRITTEN.plan);
    let place = |name: &str| sound.iter().position(|(known, _)| known == name).unwrap();
    let (plan, state) = (place("terrane-plan.json"), place("tfstate"));
    let seeds = [WRITTEN.plan.clone(), sound[plan].1.clone(), sound[state].1.clone()];
    survives("plan_files", 600, &seeds, JSON, |input| {
        if input.starts_with(b"PK") {
            let _ = plan_file::read("plan", input);
            return;
        }
        // One member is changed, the others are as they were.
        let changed = if input.starts_with(b"{\n  \"version\"") { state } else { plan };
        let with = sound
            .iter()
            .enumerate()
            .map(|(i, (name, content))| (name.as_str(), if i == changed { input } else { content.as_slice() }));
        let _ = plan_file::read("plan", &zipped(with));
    });
}

#[test]
fn described_plans() {
    let seed = include_bytes!("../backends/runs/plan.json").to_vec();
    survives("described_plans", 800, &[seed], JSON, |input| {
        let Ok(described) = document::read(input) else { return };
        let schemas = |provider: &Provider, mode: ResourceMode, kind: &str| {
            let schemas = described.schemas.get(provider)?;
            if mode == ResourceMode::Managed { schemas.managed(kind) } else { schemas.data(kind) }.ok().flatten()
        };
        let style = Style::plain();
        let actions = |provider: &Provider, kind: &str| described.schemas.get(provider)?.action(kind).ok().flatten();
        plan_text(&PlanText {
            plan: &described.plan,
            schemas: &schemas,
            actions: &actions,
            style: &style,
            in_automation: false,
            filter: &PlanFilter::default(),
        });
    });
}

#[test]
fn encrypted_files() {
    let state = include_bytes!("../../src/encryption/fixtures/opentofu.tfstate").to_vec();
    let plan = br#"{"meta":{"m":"e30="},"encrypted_data":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=","encryption_version":"v0"}"#;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let text = "method \"aes_gcm\" \"m\" {\n keys = { encryption_key = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16], decryption_key = \
                [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16] }\n}\nstate {\n method = method.aes_gcm.m\n}\nplan {\n method = method.aes_gcm.m\n}\n";
    let ciphers = runtime.block_on(encryption_of(text)).unwrap();
    let (state_cipher, plan_cipher) = (ciphers.state.unwrap(), ciphers.plan.unwrap());
    survives("encrypted_files", 1_500, &[state, plan.to_vec()], JSON, |input| {
        let _ = (encryption::outside(input), encryption::is_sealed(input));
        for cipher in [&state_cipher, &plan_cipher] {
            let _ = runtime.block_on(cipher.open(input.to_vec())).map_err(|error| error.to_string());
        }
    });
}

/// TF_ENCRYPTION comes only from the user, but must not crash the program either.
#[test]
fn encryption_configurations() {
    let seed = b"key_provider \"pbkdf2\" \"k\" {\n passphrase = \"x\"\n}\nmethod \"aes_gcm\" \"m\" {\n keys = \
                 key_provider.pbkdf2.k\n}\nstate {\n method = method.aes_gcm.m\n fallback {}\n}\n";
    let json = br#"{"method":{"unencrypted":{"m":{}}},"state":{"method":"method.unencrypted.m"}}"#;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    survives("encryption_configurations", 1_000, &[seed.to_vec(), json.to_vec()], JSON, |input| {
        let _ = runtime.block_on(encryption_of(&text(input)));
    });
}

async fn encryption_of(text: &str) -> Option<Encryption> {
    let config = Arc::new(parse_encryption(Dialect::default(), "TF_ENCRYPTION", text).0?);
    let early = StaticContext::root(no_module(Dialect::default(), Path::new(".")).static_names(), Arc::new(NoInputs));
    let services = Services {
        environment: Environment::of([("", "")]),
        stop: Stop::new(),
        http: Arc::new(NoClients),
        folder: Default::default(),
        notify: Arc::new(|_| {}),
        derived: DerivedKeys::default(),
    };
    Encryption::new(config, early, services).await.0
}

struct NoClients;

impl HttpClients for NoClients {
    fn client(&self, _: &HttpSettings) -> Result<Arc<dyn HttpClient>, HttpError> {
        Err(HttpError::Client("no network".into()))
    }
}

/// Lines with correct digits and any content.
fn sealed(input: &[u8]) -> Vec<u8> {
    let mut journal = Vec::new();
    for line in input.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let rest = line.get(17..).unwrap_or(line);
        let digest: String = Sha256::digest(rest).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        journal.extend_from_slice(format!("{digest} ").as_bytes());
        journal.extend_from_slice(rest);
        journal.push(b'\n');
    }
    journal
}

#[test]
fn journals() {
    survives("journals", 1_500, &[real_journal()], JSON, |input| {
        for content in [input.to_vec(), sealed(input)] {
            let Ok(Some(journal)) = Journal::read(&content) else { continue };
            let _ = (journal.replay(0, &mut State::default()), journal.in_flight(), journal.instances());
            let _ = (journal.recorded(0), journal.position("b"), journal.plugins().count());
        }
    });
}

/// As a run writes it.
fn real_journal() -> Vec<u8> {
    let entry = r#"{"mode":"managed","type":"t","name":"n","provider":"provider[\"registry.terraform.io/hashicorp/null\"]","instances":[{"index_key":1,"schema_version":0,"attributes":{"id":"a"}}]}"#;
    let addr = parse_abs_instance("t.n[1]").unwrap();
    let process = ProcessId { number: 1, started: 2 };
    let header = Header { lineage: "l".into(), serial: 3, base: "b".into(), process };
    let output = r#"{"value":["a"],"type":["list","string"]}"#;
    let records = [
        Record::Prior(vec![StateChange::Instance(addr.clone(), entry.into()), StateChange::Checks("null".into())]),
        Record::Started { addr: addr.clone(), deposed: None },
        Record::Plugin { name: "p".into(), process },
        Record::Changed(StateChange::Instance(addr.clone(), entry.into())),
        Record::Changed(StateChange::Output("o".into(), output.into())),
        Record::Snapshot { fingerprint: "f".into(), serial: 4 },
        Record::Changed(StateChange::GoneInstance(addr)),
        Record::Changed(StateChange::GoneOutput("o".into())),
    ];
    let mut content = header.encode();
    records.iter().for_each(|record| content.extend(record.encode()));
    content
}

const HCL: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"(",
    b"\"",
    b"${",
    b"%{",
    b"<<E\n",
    b"=",
    b"\n",
    b"!",
    b"-",
    b"? ",
    b"/*",
    b"provider ",
    b"a.b",
    b"[*]",
    b"1e400",
    b"dynamic ",
    b"for x in ",
    b"\\u{",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"count = 9000000000\n",
];

#[test]
fn lock_files() {
    let lock = "# comment\nprovider \"registry.terraform.io/hashicorp/aws\" {\n  version     = \"5.100.0\"\n  constraints = \"~> 5.0, != 5.1.0\"\n  hashes = [\n    \"h1:YW55IGJ5dGVz\",\n    \"zh:00112233\",\n  ]\n}\n";
    let modules = "module \"m\" {\n  source  = \"./m\"\n  version = \"1.0.0\"\n  hash    = \"h1:x\"\n}\n";
    let manifest = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m.n","Source":"registry.terraform.io/a/b/c","Version":"1.2.3","Dir":".terraform/modules/m"}]}"#;
    let seeds = [lock, modules, manifest].map(|text| text.as_bytes().to_vec());
    survives("lock_files", 1_500, &seeds, HCL, |input| {
        let text = text(input);
        let (read, _) = Lock::parse(SourceFile::new(".terraform.lock.hcl", &*text));
        let _ = read.to_text_keeping(Dialect::default(), &text);
        let (read, _) = ModuleLock::parse(SourceFile::new(".terraform.modules.lock.hcl", &*text));
        let _ = read.to_text();
        let _ = ModuleManifest::parse(&text).map(|manifest| manifest.to_json());
    });
}

#[test]
fn cli_configurations() {
    let native = "plugin_cache_dir = \"$HOME/cache\"\ncredentials \"app.example.com\" {\n  token = \"t\"\n}\nhost \"example.com\" {\n  services = {\n    \"modules.v1\" = \"https://example.com/\"\n  }\n}\nprovider_installation {\n  dev_overrides {\n    \"a/b\" = \"/x\"\n  }\n  filesystem_mirror {\n    path    = \"/y\"\n    include = [\"*/*\"]\n  }\n  network_mirror {\n    url = \"https://example.com/\"\n  }\n  direct {}\n}\n";
    let json = r#"{"plugin_cache_dir":"/c","credentials":{"app.example.com":{"token":"t"}},"provider_installation":[{"direct":[{"exclude":["a/b"]}]}]}"#;
    let seeds = [native, json].map(|text| text.as_bytes().to_vec());
    survives("cli_configurations", 1_500, &seeds, HCL, |input| {
        interpreted(&text(input));
    });
}

/// As far as settings are made of the file without looking at the machine.
fn interpreted(text: &str) {
    use model::service::credentials::CredentialSettings;
    use model::service::discovery::HostServices;
    use model::service::installation::ProviderInstallation;
    let Ok(items) = cli_file::parse(text) else { return };
    let mut credentials = CredentialSettings::default();
    let mut diagnostics = base::diag::Diagnostics::new();
    for item in &items {
        credentials.read_block(item, &mut diagnostics);
        credentials.read_helper(item, &mut diagnostics);
        let _ = HostServices::from_block(item);
        let _ = ProviderInstallation::decode(item, &Default::default());
    }
}

#[test]
fn configurations() {
    let json = r#"{"resource":{"terraform_data":{"a":{"count":2,"input":"${var.x}"}}},"variable":{"x":[{"type":"list(string)"}]},"output":{"o":{"value":"${terraform_data.a[0]}"}}}"#;
    let values = "x = [\"a\", { b = 1 }]\n";
    let test = "run \"r\" {\n  command = plan\n  variables {\n    x = 1\n  }\n  assert {\n    condition     = true\n    error_message = \"m\"\n  }\n}\nmock_provider \"aws\" {\n  mock_resource \"x\" {\n    defaults = {}\n  }\n}\n";
    let seeds = [MAIN, json, values, test].map(|text| text.as_bytes().to_vec());
    survives("configurations", 600, &seeds, HCL, |input| {
        for name in ["main.tf", "main.tf.json"] {
            let files = Memory::of([(name, input), ("tests/a.tftest.hcl", input)]);
            let _ = load_root(Path::new("."), &files, Arc::new(NoInputs));
        }
        let files = Memory::of([("tests/a.tftest.hcl", input)]);
        let _ = test_file::load::read(Path::new("."), "tests", &files);
        for name in ["a.tfvars", "a.tfvars.json"] {
            let _ = values_file::parse_file(SourceFile::new(name, &*text(input)));
        }
    });
}

#[test]
fn policies() {
    let policy = "policy {\n  enforcement_level = \"advisory\"\n}\ninput \"n\" {\n  type    = list(number)\n  default = [1]\n}\nlocals {\n  a = core::getresources(\"x\", null)\n}\nresource_policy \"aws_*\" \"p\" {\n  operations = [\"update\", \"delete\"]\n  filter     = prior_attrs.a != local.a\n  enforce {\n    condition     = input.n[0] > 1\n    error_message = \"m\"\n  }\n}\n";
    let test = "policytest {\n  targets = [\"a.policy.hcl\"]\n}\ninputs {\n  n = [2]\n}\nresource \"aws_x\" \"a\" {\n  expect_failure = true\n  attrs          = { a = aws_x.b.a }\n}\n";
    let seeds = [policy, test].map(|text| text.as_bytes().to_vec());
    survives("policies", 600, &seeds, HCL, |input| {
        let source = |name: &str| SourceFile::new(name, &*text(input));
        let _ = PolicySet::parse([source("a.policy.hcl")], GivenInputs::new());
        let _ = PolicyTestFile::parse(source("a.policytest.hcl"));
    });
}

/// Each type reads the same bytes.
#[test]
fn messages() {
    let object = Type::object([("a", Type::String), ("b", Type::list(Type::Dynamic)), ("c", Type::map(Type::Number))]);
    let types = [
        Type::Dynamic,
        Type::String,
        Type::Number,
        Type::list(Type::Dynamic),
        Type::set(object.clone()),
        Type::map(Type::set(Type::String)),
        Type::tuple([Type::Bool, Type::Dynamic]),
        object.clone(),
    ];
    let one = Value::object([
        ("a", Value::string("text")),
        ("b", Value::list(Type::Dynamic, vec![])),
        ("c", Value::map(Type::Number, [("k", Value::int(1 << 40)), ("f", Value::number(0.1))])),
    ]);
    let mut seeds = vec![
        msgpack::encode(&one, &object),
        msgpack::encode(&one, &Type::Dynamic),
        msgpack::encode(&Value::set(object.clone(), vec![one.clone()]), &types[4]),
        msgpack::encode(&Value::tuple(vec![Value::bool(true), one.clone()]), &types[6]),
        msgpack::encode(&Value::unknown_not_null(Type::String), &Type::String),
        vec![0x92, 0xc4, 9, b'"', b'd', b'y', b'n', b'a', b'm', b'i', b'c', b'"', 0xc0],
    ];
    seeds.extend(types.iter().map(|ty| msgpack::encode(&Value::null(ty.clone()), &Type::Dynamic)));
    let words: &[&[u8]] = &[
        &[0xc0],
        &[0x91],
        &[0x92],
        &[0x81, 0xa1, b'a'],
        &[0xdd, 0xff, 0xff, 0xff, 0xff],
        &[0xdf, 0, 0x10, 0, 0],
        &[0xc7, 3, 12, 0x81, 1, 0xc2],
        &[0xd4, 0, 0],
        b"\xa91e5000000",
        b"\x92\xc4\x09\"dynamic\"",
        b"\x92\xc4\x12[\"list\",\"dynamic\"]",
        b"\x92\xc4\x10[\"object\",{\"a\":",
        &[0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0],
    ];
    survives("messages", 3_000, &seeds, words, |input| {
        for ty in &types {
            let Ok(value) = msgpack::decode(input, ty) else { continue };
            if input.windows(2).any(|pair| matches!(pair, [b'e' | b'E', b'0'..=b'9' | b'+' | b'-'])) {
                // A number of a few bytes may have millions of digits: reading it costs nothing, writing it does.
                continue;
            }
            assert!(msgpack::decode(&msgpack::encode(&value, ty), ty).is_ok(), "{value:?}");
        }
    });
}
