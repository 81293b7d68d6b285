//! Moves in small states, as the reference makes and refuses them.

use super::*;
use crate::addr::command_line::target;
use crate::addr::parse::parse_abs_instance;
use crate::addr::{AbsProviderConfig, Provider};
use crate::state::{Attributes, Object, ObjectStatus};

/// A line per instance: its address and those of the resources that it depends on.
fn state(lines: &[&str]) -> State {
    let mut state = State::default();
    for line in lines {
        let mut words = line.split(' ');
        let addr = parse_abs_instance(words.next().unwrap()).unwrap();
        let depends: Vec<_> = words.map(|word| parse_abs_instance(word).unwrap().config()).collect();
        let provider = AbsProviderConfig::root(Provider::default_for(addr.kind()));
        let object = Object {
            status: ObjectStatus::Ready,
            schema_version: 0,
            attributes: Attributes::Json("{}".into()),
            sensitive: Arc::from([]),
            identity: None,
            private: Arc::from([]),
            dependencies: depends.into(),
            create_before_destroy: false,
            keep: false,
            provider_key: None,
        };
        state.instance_mut(&addr, &provider).current = Some(object);
    }
    state
}

fn show(state: &State) -> String {
    let line = |(addr, _, instance): (AbsResourceInstance, &AbsProviderConfig, &Instance)| {
        let depends = instance.current.iter().flat_map(|object| object.dependencies.iter());
        depends.fold(addr.to_string(), |line, dependency| format!("{line} {dependency}"))
    };
    state.instances().map(line).collect::<Vec<_>>().join(", ")
}

/// What a move says, and what is left.
fn mv(state: &mut State, to: Option<&mut State>, source: &str, destination: &str) -> String {
    let mut said = Vec::new();
    let moved = |old: &Target, new: &Target| said.push(format!("{old} -> {new}"));
    match move_objects(state, to, &target(source).unwrap(), &target(destination).unwrap(), moved) {
        Ok(_) => said.join(", "),
        Err(MoveError::ModuleExists) => "destination module already exists".into(),
        Err(MoveError::Invalid(problems)) => {
            problems.into_iter().map(|problem| problem.detail).collect::<Vec<_>>().join(" | ")
        }
    }
}

#[test]
fn objects_move() {
    let cases: &[(&[&str], &str, &str, &str, &str)] = &[
        (&["a.x"], "a.x", "a.y", "a.x -> a.y", "a.y"),
        (&["a.x"], "a.x", "a.y[1]", "a.x -> a.y[1]", "a.y[1]"),
        (&["a.x[0]", "a.x[1]"], "a.x", "a.y", "a.x -> a.y", "a.y[0], a.y[1]"),
        (&["a.x[0]", "a.x[1]"], "a.x[0]", "a.y", "a.x[0] -> a.y", "a.x[1], a.y"),
        (&["a.x", "a.y[0]"], "a.x", "a.y", "a.x -> a.y", "a.y, a.y[0]"),
        (&["a.x"], "a.x", "module.m[0].a.x", "a.x -> module.m[0].a.x", "module.m[0].a.x"),
        (&["data.a.x"], "data.a.x", "data.a.y", "data.a.x -> data.a.y", "data.a.y"),
        (
            &["module.m.a.x", "module.m.module.n.a.x", "module.o.a.x"],
            "module.m",
            "module.p[\"k\"]",
            "module.m -> module.p[\"k\"], module.m.module.n -> module.p[\"k\"].module.n",
            "module.o.a.x, module.p[\"k\"].a.x, module.p[\"k\"].module.n.a.x",
        ),
    ];
    for (before, source, destination, said, after) in cases {
        let mut state = state(before);
        assert_eq!(mv(&mut state, None, source, destination), *said, "{source} {destination}");
        assert_eq!(show(&state), *after, "{source} {destination}");
    }
}

#[test]
fn moves_are_refused() {
    let before =
        &["a.x", "a.y", "a.c[0]", "b.x", "data.a.x", "module.m.a.x", "module.m.module.n.a.x", "module.k[0].a.x"];
    let cases = [
        ("a.z", "a.q", "Cannot move a.z: does not match anything in the current state."),
        ("a.x[1]", "a.q", "The current state does not contain a.x[1]."),
        ("module.k", "module.q", "Cannot move module.k: does not match anything in the current state."),
        (
            "a.x",
            "a.y",
            "Cannot move to a.y: there is already a resource instance at that address in the current state.",
        ),
        (
            "a.c",
            "b.x",
            "Cannot move a.c to b.x: resource types don't match. | Cannot move to b.x: there is already a resource at that address in the current state.",
        ),
        (
            "a.x",
            "data.a.q",
            "Cannot move a.x to data.a.q: a managed resource can be moved only to another managed resource address.",
        ),
        (
            "data.a.x",
            "a.q",
            "Cannot move data.a.x to a.q: a data resource can be moved only to another data resource address.",
        ),
        ("a.x", "module.q", "Cannot move a.x to module.q: the target must also be a resource instance."),
        (
            "a.c",
            "a.q[0]",
            "Cannot move a.c to a.q[0]: the source is a whole resource (not a resource instance) so the target must also be a whole resource.",
        ),
        ("module.m", "a.q", "Cannot move module.m to a.q: the target must also be a module."),
        ("module.m", "module.k[0]", "destination module already exists"),
    ];
    for (source, destination, said) in cases {
        assert_eq!(mv(&mut state(before), None, source, destination), said);
    }
}

#[test]
fn objects_move_to_another_state() {
    let (mut from, mut to) = (state(&["a.x", "a.y a.x"]), state(&["a.y"]));
    assert_eq!(mv(&mut from, Some(&mut to), "a.x", "a.x"), "a.x -> a.x");
    assert_eq!((show(&from), show(&to)), ("a.y a.x".into(), "a.x, a.y".into()));
    assert!(mv(&mut from, Some(&mut to), "a.y", "a.y").starts_with("Cannot move to a.y"));
}

#[test]
fn dependencies_on_what_moved_are_forgotten() {
    let before = &["a.x", "a.y a.x b.z", "b.z[0] a.y", "module.m.a.x b.z", "module.m[0].a.q module.m.a.x"];
    let cases = [
        ("a.x", "a.n", "a.n, a.y, b.z[0] a.y, module.m.a.x b.z, module.m[0].a.q module.m.a.x"),
        ("b.z[0]", "b.n", "a.x, a.y, b.n a.y, module.m.a.x, module.m[0].a.q module.m.a.x"),
        ("module.m", "module.n", "a.x, a.y a.x b.z, b.z[0] a.y, module.m[0].a.q, module.n.a.x b.z"),
        ("module.m[0]", "module.n", "a.x, a.y a.x b.z, b.z[0] a.y, module.m.a.x b.z, module.n.a.q module.m.a.x"),
    ];
    for (source, destination, after) in cases {
        let mut state = state(before);
        mv(&mut state, None, source, destination);
        assert_eq!(show(&state), after, "{source}");
    }
}

/// What is left where several sources were moved into a module, or why none was.
fn into(lines: &[&str], sources: &[&str], module: &str) -> String {
    let mut state = state(lines);
    let sources: Vec<_> = sources.iter().map(|text| target(text).unwrap()).collect();
    let module = crate::addr::parse::parse_module_instance(module).unwrap();
    let mut told = 0;
    match move_into(&mut state, None, &sources, &module, |_, _| told += 1) {
        Ok(count) => {
            assert_eq!(count, told);
            show(&state)
        }
        Err(error) => {
            assert_eq!(told, 0);
            match error {
                MoveError::Invalid(problems) => problems.into_vec().remove(0).detail,
                MoveError::ModuleExists => "exists".into(),
            }
        }
    }
}

#[test]
fn several_sources_move_into_a_module() {
    let lines = ["a.x", "a.y[0]", "a.y[1]", "b.z a.x", "module.m.a.x", "module.n[0].a.x"];
    let cases: &[(&[&str], &str, &str)] = &[
        (&["a.x", "b.z"], "module.q", "a.y[0], a.y[1], module.m.a.x, module.n[0].a.x, module.q.a.x, module.q.b.z"),
        (
            &["a.*"],
            "module.q[1]",
            "b.z, module.m.a.x, module.n[0].a.x, module.q[1].a.x, module.q[1].a.y[0], module.q[1].a.y[1]",
        ),
        (&["a.y*[1]"], "module.q", "a.x, a.y[0], b.z a.x, module.m.a.x, module.n[0].a.x, module.q.a.y[1]"),
        (&["module.*"], "module.q", "a.x, a.y[0], a.y[1], b.z a.x, module.q.module.m.a.x, module.q.module.n[0].a.x"),
        (
            &["module.n[*].*"],
            "",
            "Cannot move to a.x: there is already a resource instance at that address in the current state.",
        ),
        (&["a.x", "a.nowhere"], "module.q", "Cannot move a.nowhere: does not match anything in the current state."),
        (&["a.x", "c*.*"], "module.q", "Cannot move c*.*: does not match anything in the current state."),
        (
            &["a.x", "module.n[0].a.x"],
            "module.q",
            "Cannot move to module.q.a.x: there is already a resource instance at that address in the current state.",
        ),
    ];
    for (sources, module, expected) in cases {
        assert_eq!(into(&lines, sources, module), *expected, "{sources:?}");
    }
}
