//! What is written is read again; what is not ours is refused with a reason.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::files::slashed;
use base::source::SourceFile;
use terrane_protocol::provider::Identity;
use terrane_protocol::schema::{
    Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape, ResourceMode, Schema, StaticSchemas,
};
use terrane_value::{Marks, Path, Type, Value};

use super::protobuf::Draft;
use super::*;
use crate::addr::{
    AbsActionInstance, AbsProviderConfig, AbsResourceInstance, InstanceKey, ModuleInstance, Provider, Resource, Target,
    command_line,
};
use crate::config::policy_file::{GivenInputs, PolicySet};
use crate::config::{ActionEvent, OnActionFailure};
use crate::plan::{
    Action, ActionInvocation, ActionReason, Change, IdentityChange, Importing, InvocationTrigger, LifecycleTrigger,
    Mode, OutputChange, PlanScope, ResourceChange, UndecidedPolicy,
};
use crate::state::{CheckResult, CheckStatus, DeposedKey};

/// Plans without actions need none of their types.
fn no_action(_: &Provider, kind: &str) -> Result<Type, PlanFileError> {
    Err(PlanFileError::not("action", kind))
}

fn action() -> AbsActionInstance {
    command_line::action("module.m[\"k\"].action.t_act.x[1]").unwrap()
}

fn invocations(addr: &AbsResourceInstance) -> Vec<Arc<ActionInvocation>> {
    let invocation = |trigger| {
        let config = Value::object([("secret", Value::string("s").mark(Marks::SENSITIVE))]);
        let provider = AbsProviderConfig::root(Provider::default_for("t"));
        Arc::new(ActionInvocation { addr: action(), provider, trigger, config })
    };
    let trigger = LifecycleTrigger {
        resource: addr.clone(),
        event: ActionEvent::AfterDestroy,
        block: 1,
        position: 2,
        on_failure: OnActionFailure::Taint,
    };
    vec![
        invocation(InvocationTrigger::Lifecycle(trigger)),
        invocation(InvocationTrigger::Request { caller: Some(addr.clone()) }),
        invocation(InvocationTrigger::Request { caller: None }),
    ]
}

fn sample() -> SavedPlan {
    let module = ModuleInstance::root().child("m", "k".into());
    let addr = Resource::managed("t", "n").absolute(module.clone()).instance(InstanceKey::Int(3));
    let before = Value::object([
        ("a", Value::string("x").mark(Marks::SENSITIVE)),
        ("l", Value::list(Type::Number, vec![Value::int(1)])),
        ("n", Value::null(Type::String)),
    ]);
    let after = Value::object([
        ("a", Value::unknown(Type::String)),
        ("l", Value::list(Type::Number, vec![Value::int(2).mark(Marks::SENSITIVE)])),
        ("n", Value::dynamic()),
    ]);
    let change = ResourceChange {
        addr: addr.clone(),
        previous_addr: addr.containing_resource().instance(InstanceKey::None),
        deposed: Some(DeposedKey("0123abcd".into())),
        provider: AbsProviderConfig::root(Provider::default_for("t")),
        action: Action::CreateThenDelete,
        reason: ActionReason::ReplaceByTriggers,
        change: Change { before: before.clone(), after },
        required_replace: vec![Path::new().attr("l").index_int(0)],
        private: Arc::from(&b"\x00secret"[..]),
        importing: Some(Importing { id: None, identity: None }),
        identity: IdentityChange {
            before: Some(Identity { schema_version: 2, json: "{\"a\":1}".into() }),
            after: None,
        },
        generated_config: Some("resource".into()),
    };
    let output = OutputChange {
        name: "o".into(),
        action: Action::Update,
        change: Change { before: Value::null_dynamic(), after: Value::int(1) },
        sensitive: true,
    };
    let check = CheckResult {
        kind: "check".into(),
        config_addr: "check.c".into(),
        status: CheckStatus::Fail,
        objects: vec![("check.c".into(), CheckStatus::Fail, vec!["no".into()])],
    };
    let plan = Plan {
        scope: PlanScope {
            mode: Mode::Destroy,
            targets: vec![
                Target::Module(module),
                Target::Resource(addr.containing_resource()),
                Target::Instance(addr.clone()),
            ],
            force_replace: vec![addr.clone()],
            requested_actions: vec![action()],
            ..PlanScope::default()
        },
        invocations: invocations(&addr),
        drift: vec![change.clone()],
        changes: vec![change],
        outputs: vec![output],
        variables: [("v".into(), before)].into(),
        checks: vec![check],
        timestamp: "2026-01-01T00:00:00Z".into(),
        relevant_attributes: vec![(addr, Path::new().attr("a").index_str("k"))],
        function_results: [([1; 32], [0xff; 32]), ([2; 32], [0; 32])].into(),
        applyable: true,
        complete: true,
        denied_by: vec!["-deny=delete:**".into()],
        ..Plan::default()
    };
    SavedPlan {
        plan,
        state: StateMeta { terraform_version: "1.11.4".into(), serial: 4, lineage: "l".into() },
        backend: BackendSettings { kind: "local".into(), workspace: "w".into(), config: "{}".into(), provider: None },
        config: ConfigSnapshot { files: vec![("main.tf".into(), b"a".to_vec()), ("../m/x.tf".into(), b"b".to_vec())] },
        lock: Some(b"lock".to_vec()),
        schemas: StoredSchemas::default(),
        undecoded: None,
    }
}

#[test]
fn what_is_written_is_read_again() {
    let saved = sample();
    let content = write(&saved).unwrap();
    assert!(is_archive(&content));
    let read = read("p", &content).unwrap();
    assert_eq!(format!("{read:#?}"), format!("{saved:#?}"));
    assert_eq!(read.plan.changes[0].change, saved.plan.changes[0].change);
}

#[test]
fn policies_are_read_again_with_their_inputs() {
    let policy =
        "input \"n\" {\n  type = number\n}\nresource_policy \"t\" \"p\" {\n  enforce {\n    condition = true\n  }\n}\n";
    let given: GivenInputs = [("n".into(), "7".to_owned())].into();
    let (mut set, found) = PolicySet::parse([SourceFile::new("p.policy.hcl", policy)], given);
    assert!(!found.has_errors(), "{found:?}");
    set.provider_versions.insert(Provider::default_for("t"), "1.2.3".to_owned());
    let mut saved = sample();
    let open = UndecidedPolicy { target: "t.n".into(), policy: "resource_policy.t.p (p.policy.hcl)".into() };
    saved.plan.scope.policies = Arc::new(set);
    saved.plan.undecided_policies = vec![open.clone()];
    let read = read("plan", &write(&saved).unwrap()).unwrap();
    let set = &read.plan.scope.policies;
    assert_eq!(set.files[0].inputs["n"], Value::int(7));
    assert_eq!(set.files[0].file.source.text(), policy);
    assert_eq!((set.files[0].file.policies.len(), set.files[0].is_late), (1, false));
    assert_eq!(set.provider_versions[&Provider::default_for("t")], "1.2.3");
    assert_eq!(read.plan.undecided_policies, [open]);
}

#[test]
fn what_is_not_ours_is_refused_with_a_reason() {
    let archive = |name: &str, content: &[u8]| {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
        archive.finish().unwrap().into_inner()
    };
    let cases = [
        (b"junk".to_vec(), "zip: not a valid zip file".to_string()),
        (archive("x", b""), "the given file is not a valid plan file".to_string()),
        (archive("tfplan", b"\x08\x04"), "unsupported plan file format version 4; only version 3".to_string()),
        (archive("tfplan", b"\x08"), "malformed message".to_string()),
        (
            archive(PLAN, b"{\"format\":1,\"program\":\"9.9.9\"}"),
            PlanFileError::OtherVersion("9.9.9".into()).to_string(),
        ),
    ];
    for (content, expected) in cases {
        let problems = read("p", &content).map(|_| ()).unwrap_err().into_vec();
        assert_eq!(problems[0].summary, "Failed to load \"p\" as a plan file");
        assert!(problems[0].detail.starts_with(&expected), "{}", problems[0].detail);
    }
}

#[test]
fn what_is_no_plan_at_all_is_refused_for_both_kinds() {
    let cases: [(&[u8], &str); 3] = [
        (
            b"output",
            "(zip: not a valid zip file) or a saved cloud plan (invalid character 'o' looking for beginning of value)",
        ),
        (b"{}", "(zip: not a valid zip file) or a saved cloud plan (invalid remote plan format, must be 1)"),
        (b"", "(zip: not a valid zip file) or a saved cloud plan (unexpected end of JSON input)"),
    ];
    for (content, expected) in cases {
        let problems = read_any("p", content).map(|_| ()).unwrap_err().into_vec();
        let start = "Error: couldn't load the provided path as either a local plan file ";
        assert_eq!(problems[0].detail, format!("{start}{expected}"));
    }
}

#[test]
fn numbers_stand_for_the_same_values_when_read_again() {
    let text = String::from_utf8(text::encode(&sample()).unwrap()).unwrap();
    for (field, in_sample, count) in [("mode", 1, 3), ("action", 6, 9), ("reason", 4, 15), ("status", 2, 4)] {
        for number in 0..count {
            let changed = text.replace(&format!("\"{field}\":{in_sample}"), &format!("\"{field}\":{number}"));
            let (saved, _) = text::decode(changed.as_bytes()).unwrap();
            let again = String::from_utf8(text::encode(&saved).unwrap()).unwrap();
            assert!(again.contains(&format!("\"{field}\":{number}")), "{field} {number}");
        }
    }
}

#[test]
fn unknown_numbers_are_errors() {
    let text = String::from_utf8(text::encode(&sample()).unwrap()).unwrap();
    let cases = [
        ("\"mode\":1", "\"mode\":3", "unknown planning mode 3"),
        ("\"action\":6", "\"action\":9", "unknown action 9"),
        ("\"reason\":4", "\"reason\":17", "unknown action reason 17"),
        ("\"status\":2", "\"status\":4", "unknown check status 4"),
        ("[2,\"module", "[5,\"module", "unknown kind of target 5"),
        ("[{\"a\":\"a\"}],1]", "[{\"a\":\"a\"}],8]", "unknown marks 8"),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from} in {text}");
        assert_eq!(text::decode(text.replace(from, to).as_bytes()).map(|_| ()).unwrap_err().to_string(), expected);
    }
}

/// Made by OpenTofu 1.12.6 with resources that are moved, replaced, updated, created and destroyed.
const OPENTOFU: &[u8] = include_bytes!("fixtures/opentofu.tfplan");

/// Made by OpenTofu 1.12.6 with `-exclude=terraform_data.b`.
#[test]
fn plans_of_opentofu_say_what_is_excluded() {
    let saved = read("p", include_bytes!("fixtures/opentofu-exclude.tfplan")).unwrap();
    let excludes: Vec<String> = saved.plan.scope.excludes.iter().map(Target::to_string).collect();
    assert_eq!((excludes, saved.plan.complete), (vec!["terraform_data.b".to_owned()], false));
}

#[test]
fn plans_of_opentofu_are_read() {
    let mut saved = read("p", OPENTOFU).unwrap();
    assert_eq!(saved.undecoded.as_ref().unwrap().providers().len(), 1);
    let text = ["input", "output", "triggers_replace"].map(|name| (name, Type::Dynamic));
    let ty = Type::object(text.into_iter().chain([("id", Type::String)]));
    saved.decode(&|_, _| Ok(ty.clone()), &no_action).unwrap();
    let plan = &saved.plan;
    let line = |c: &ResourceChange| format!("{} {:?} {:?} {}", c.addr, c.action, c.reason, c.previous_addr);
    let lines: Vec<String> = plan.changes.iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "terraform_data.b[0] DeleteThenCreate ReplaceBecauseCannotUpdate terraform_data.a[0]",
            "terraform_data.b[1] DeleteThenCreate ReplaceBecauseCannotUpdate terraform_data.a[1]",
            "terraform_data.b[2] Create None terraform_data.b[2]",
            "terraform_data.gone Delete DeleteBecauseNoResourceConfig terraform_data.gone",
            "module.m.terraform_data.in[\"k.1\"] Update None module.m.terraform_data.in[\"k.1\"]",
        ]
    );
    let first = &plan.changes[0];
    assert_eq!(first.required_replace, [Path::new().attr("triggers_replace")]);
    let secret = first.change.after.get("input").unwrap().get("s").unwrap().clone();
    assert_eq!(secret, Value::string("secret").mark(Marks::SENSITIVE));
    assert!(!first.change.after.get("output").unwrap().is_wholly_known());
    assert!(plan.changes[2].change.before.is_null() && plan.changes[3].change.after.is_null());
    assert!(plan.applyable && plan.complete && !plan.errored);
    assert_eq!(plan.variables["v"], Value::string("2"));
    assert_eq!((plan.outputs.len(), plan.outputs[0].sensitive), (1, true));
    assert_eq!((plan.checks[0].config_addr.as_str(), plan.checks[0].status), ("check.c", CheckStatus::Fail));
    assert_eq!(plan.prior_state.resources.len(), 3);
    assert_eq!((saved.state.serial > 0, saved.lock.is_some()), (true, true));
    assert_eq!(saved.backend.config, r#"{"path":null,"workspace_dir":null}"#);
    let mut files: Vec<_> = saved.config.files.iter().map(|(path, _)| slashed(path)).collect();
    files.sort();
    assert_eq!(files, ["m/main.tf", "main.tf"]);
}

/// They name the ephemeral variables that had a value, which apply needs again.
#[test]
fn plans_of_opentofu_name_ephemeral_variables() {
    let mut archive = ZipArchive::new(Cursor::new(OPENTOFU)).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let mut written = ZipWriter::new(Cursor::new(Vec::new()));
    for name in names {
        let mut content = member(&mut archive, &name).unwrap().unwrap();
        if name == "tfplan" {
            content.extend(b"\xb2\x01\x04pass");
        }
        written.start_file(&*name, SimpleFileOptions::default()).unwrap();
        written.write_all(&content).unwrap();
    }
    let saved = read_content(&written.finish().unwrap().into_inner()).unwrap();
    let names: Vec<&str> = saved.plan.ephemeral_variables.iter().map(|name| &**name).collect();
    assert_eq!(names, ["pass"]);
}

/// Made by Terraform 1.11.4: sensitive values, required replacements and references with indexes and keys; an import.
#[test]
fn plans_of_terraform_with_indexes_in_paths_are_read() {
    let mut saved = read("p", include_bytes!("fixtures/terraform.tfplan")).unwrap();
    let text = ["input", "output", "triggers_replace"].map(|name| (name, Type::Dynamic));
    let ty = Type::object(text.into_iter().chain([("id", Type::String)]));
    saved.decode(&|_, _| Ok(ty.clone()), &no_action).unwrap();
    let plan = &saved.plan;
    let relevant: Vec<String> = plan.relevant_attributes.iter().map(|(addr, path)| format!("{addr}{path}")).collect();
    assert_eq!(
        relevant,
        [
            "terraform_data.a.output[0]",
            "terraform_data.a.triggers_replace[\"t\"]",
            "terraform_data.a.triggers_replace[...]",
            "terraform_data.b[\"x.y\"].output",
        ]
    );
    let (_, sensitive) = plan.changes[0].change.after.unmark_deep_with_paths();
    let sensitive: Vec<String> = sensitive.iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(sensitive, [".input[1].k.1[0]", ".triggers_replace[\"t\"]"]);
    assert_eq!(plan.changes[2].importing.as_ref().and_then(|importing| importing.id.as_deref()), Some("imported"));
    assert!(plan.applyable && plan.complete && !plan.is_of_opentofu);
}

/// Made by OpenTofu 1.13-dev with a provider, nested blocks and a data source.
const WITH_SCHEMAS: &[u8] = include_bytes!("fixtures/opentofu-1.13.tfplan");

#[test]
fn schemas_in_plans_of_opentofu_are_read() {
    let mut saved = read("p", WITH_SCHEMAS).unwrap();
    let undecoded = saved.undecoded.clone().unwrap();
    let simple = Provider::parse_source("registry.opentofu.org/hashicorp/simple").unwrap();
    let providers = [simple.clone(), Provider::builtin("terraform")];
    assert_eq!(undecoded.providers(), providers.clone().into());
    let stored = undecoded.stored_schemas().unwrap();
    let schemas = stored.all(providers).unwrap();
    assert!(stored.all([Provider::default_for("other")]).is_none());
    // What `hashicorp/simple` means to Terraform.
    let of_terraform = Provider::new("registry.terraform.io", "hashicorp", "simple");
    assert!(stored.all([of_terraform.clone()]).is_none());
    let by_both = stored.all_by_any_host([of_terraform.clone(), simple.clone()]).unwrap();
    assert!(by_both.contains_key(&of_terraform) && by_both.contains_key(&simple));
    assert!(stored.all_by_any_host([Provider::default_for("other")]).is_none());
    let resource = schemas[&simple].managed("simple_resource").unwrap().unwrap();
    let flags = |name: &str| {
        let attribute = &resource.block.attributes[name];
        [attribute.optional, attribute.computed, attribute.sensitive, attribute.write_only]
    };
    assert_eq!(flags("id"), [false, true, false, false]);
    assert_eq!(flags("secret"), [true, false, true, false]);
    assert_eq!(flags("value_wo"), [true, false, false, true]);
    let nesting: Vec<_> = resource.block.blocks.iter().map(|(name, nested)| (&**name, nested.nesting)).collect();
    assert_eq!(nesting, [("nested_block", Nesting::Single), ("nl", Nesting::List), ("ns", Nesting::Set)]);
    assert!(schemas[&simple].data("simple_resource").unwrap().is_some());
    assert!(schemas[&simple].ephemeral("simple_resource").unwrap().is_none());
    let type_of = |provider: &Provider, addr: &AbsResourceInstance| {
        let schemas = &schemas[provider];
        let kind = &addr.resource.resource.kind;
        let schema = if addr.mode() == ResourceMode::Data { schemas.data(kind) } else { schemas.managed(kind) };
        Ok(schema?.unwrap().implied_type().clone())
    };
    saved.decode(&type_of, &no_action).unwrap();
    let changed: Vec<String> = saved.plan.changes.iter().map(|change| change.addr.to_string()).collect();
    assert_eq!(changed, ["data.simple_resource.d", "simple_resource.a", "terraform_data.t"]);
}

/// What this program writes has also what OpenTofu leaves out.
#[test]
fn schemas_are_read_as_they_were_written() {
    let nested = ObjectShape { attributes: [("n".into(), Attribute::new(Type::Number))].into(), nesting: Nesting::Map };
    let attributes = [
        ("id", Attribute { computed: true, ..Attribute::new(Type::String) }),
        ("secret", Attribute { required: true, sensitive: true, ..Attribute::new(Type::list(Type::Dynamic)) }),
        ("wo", Attribute { optional: true, write_only: true, ..Attribute::new(Type::Bool) }),
        ("nested", Attribute { shape: AttributeShape::Nested(nested), ..Attribute::new(Type::Dynamic) }),
    ];
    let nestings = [Nesting::Single, Nesting::Group, Nesting::List, Nesting::Set, Nesting::Map];
    let inner = || Block { attributes: [("x".into(), Attribute::new(Type::String))].into(), ..Block::default() };
    let blocks = nestings.into_iter().zip("abcde".chars()).map(|(nesting, name)| {
        (name.to_string().into(), NestedBlock { block: inner(), nesting, min_items: 1, max_items: 300 })
    });
    let block = Block {
        attributes: attributes.into_iter().map(|(name, attribute)| (name.into(), attribute)).collect(),
        blocks: blocks.collect(),
        ..Block::default()
    };
    let schema = Arc::new(Schema::new(-3, block.clone()));
    let types = |kind: &str| BTreeMap::from([(Arc::from(kind), schema.clone())]);
    let all = StaticSchemas {
        provider: Arc::new(Schema::new(0, inner())),
        managed: types("m"),
        data: types("d"),
        ephemeral: types("e"),
        actions: types("a"),
        list_resources: types("l"),
        ..StaticSchemas::default()
    };
    let resource = |mode, kind: &str| StoredType::Resource(mode, kind.into());
    let wanted = [
        resource(ResourceMode::Managed, "m"),
        resource(ResourceMode::Managed, "unknown"),
        resource(ResourceMode::Data, "d"),
        resource(ResourceMode::Ephemeral, "e"),
        StoredType::Action("a".into()),
    ];
    let mut schemas = StoredSchemas::default();
    schemas.add(Provider::default_for("x"), &wanted, &all).unwrap();
    schemas.add(Provider::default_for("y"), &[], &all).unwrap();
    let content = write(&SavedPlan { schemas, ..SavedPlan::default() }).unwrap();
    let read = read("p", &content).unwrap().schemas;
    let read = read.all(["x", "y"].map(Provider::default_for)).unwrap();
    let (x, y) = (&read[&Provider::default_for("x")], &read[&Provider::default_for("y")]);
    for found in [x.managed("m"), x.data("d"), x.ephemeral("e"), x.action("a")] {
        let found = found.unwrap().unwrap();
        assert_eq!((found.version, &found.block), (-3, &block));
    }
    assert_eq!(x.provider().unwrap().block, inner());
    assert_eq!((x.managed_names().len(), x.list_resource_names().len(), y.managed_names().len()), (1, 0, 0));
}

/// Without them, or with broken ones, the providers are asked.
#[test]
fn plans_without_sound_schemas_have_none() {
    assert!(read("p", OPENTOFU).unwrap().undecoded.unwrap().stored_schemas().is_none());
    let mut archive = ZipArchive::new(Cursor::new(WITH_SCHEMAS)).unwrap();
    let schemas = member(&mut archive, "tfschemas").unwrap().unwrap();
    for length in 0..schemas.len() {
        let _ = stored_schemas::read(&schemas[..length], Writer::OpenTofu);
    }
    let cases: [(&[u8], &str); 3] = [
        (b"\x0a\x05a", "malformed message"),
        (b"\x0a\x09\x0a\x07a/b/c/d", "The \"source\" attribute must be"),
        (b"\x0a\x12\x0a\x03a/b\x12\x0b\x0a\x09\x12\x07\x12\x05\x0a\x01b\x18\x07", "invalid nesting mode 7"),
    ];
    for (content, expected) in cases {
        let why = stored_schemas::read(content, Writer::OpenTofu).map(|_| ()).unwrap_err();
        assert!(why.to_string().contains(expected), "{why}");
    }
}

/// A message of fields with bytes.
fn draft(fields: &[(u64, &[u8])]) -> Vec<u8> {
    let mut draft = Draft::default();
    fields.iter().for_each(|(field, content)| draft.bytes(*field, content));
    draft.finish()
}

/// As OpenTofu 1.13 writes them: the fields are those of its `planfile.proto`.
#[test]
fn identities_in_plans_of_opentofu_are_read() {
    // {"id": "1"} and {"id": "2"}
    let identity = |id: &[u8]| draft(&[(1, &[&b"\x81\xa2id\xa1"[..], id].concat())]);
    let value = draft(&[(1, b"\x81\xa1a\xc0")]);
    let (first, second) = (identity(b"1"), identity(b"2"));
    let import = draft(&[(2, &first)]);
    let mut change = Draft::default();
    change.number(1, 3);
    let fields: [(u64, &[u8]); 5] = [(2, &value), (2, &value), (5, &import), (7, &first), (8, &second)];
    fields.iter().for_each(|(field, content)| change.bytes(*field, content));
    let provider = b"provider[\"registry.opentofu.org/hashicorp/t\"]";
    let change = draft(&[(8, provider), (9, &change.finish()), (13, b"t_x.a")]);
    let mut plan = Draft::default();
    plan.number(1, 3);
    plan.bytes(3, &change);
    plan.bytes(13, &draft(&[(1, b"local"), (2, &draft(&[(1, b"\x80")])), (3, b"default")]));
    // Version 4 of the schema of the identities.
    let attribute = |name: &[u8]| draft(&[(1, name), (2, b"\"string\"")]);
    let block = draft(&[(1, &attribute(b"a"))]);
    let mut identities = Draft::default();
    identities.number(1, 4);
    identities.bytes(2, &draft(&[(1, &attribute(b"id"))]));
    let kind = draft(&[(1, &draft(&[(2, &block)])), (2, &identities.finish())]);
    let kinds = draft(&[(2, &draft(&[(1, b"t_x"), (2, &kind)]))]);
    let schemas = draft(&[(1, &draft(&[(1, b"registry.opentofu.org/hashicorp/t"), (2, &kinds)]))]);

    let mut archive = ZipArchive::new(Cursor::new(OPENTOFU)).unwrap();
    let mut written = ZipWriter::new(Cursor::new(Vec::new()));
    let rest = ["tfstate", "tfstate-prev", "tfconfig/modules.json"]
        .map(|name| (name, member(&mut archive, name).unwrap().unwrap()));
    for (name, content) in rest.into_iter().chain([("tfplan", plan.finish()), ("tfschemas", schemas)]) {
        written.start_file(name, SimpleFileOptions::default()).unwrap();
        written.write_all(&content).unwrap();
    }
    let mut saved = read_content(&written.finish().unwrap().into_inner()).unwrap();
    saved.decode(&|_, _| Ok(Type::object([("a", Type::String)])), &no_action).unwrap();
    let change = &saved.plan.changes[0];
    let known = |json: &str| Some(Identity { schema_version: 4, json: json.into() });
    assert_eq!(change.identity, IdentityChange { before: known("{\"id\":\"1\"}"), after: known("{\"id\":\"2\"}") });
    let importing = Importing { id: None, identity: Some("{\"id\":\"1\"}".to_owned()) };
    assert_eq!(change.importing, Some(importing));
}

/// Whatever is cut off, the rest is an error or a plan, never a panic.
#[test]
fn damaged_plans_of_opentofu_are_refused() {
    let mut archive = ZipArchive::new(Cursor::new(OPENTOFU)).unwrap();
    let plan = member(&mut archive, "tfplan").unwrap().unwrap();
    let rest = ["tfstate", "tfstate-prev", "tfconfig/modules.json"]
        .map(|name| (name, member(&mut archive, name).unwrap().unwrap()));
    for length in (0..plan.len()).step_by(7) {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in
            rest.iter().map(|(name, content)| (*name, &content[..])).chain([("tfplan", &plan[..length])])
        {
            archive.start_file(name, SimpleFileOptions::default()).unwrap();
            archive.write_all(content).unwrap();
        }
        let content = archive.finish().unwrap().into_inner();
        if let Ok(mut saved) = read_content(&content) {
            let _ = saved.decode(&|_, _| Ok(Type::object([("id", Type::String)])), &no_action);
        }
    }
}
