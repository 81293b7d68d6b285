//! `init`

use ops::init::{self, InitEvent, InitRequest};

use crate::Invocation;
use crate::args::init::parse;
use crate::view::init::view;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse(args, &super::missing) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let console = &invocation.console;
    let setup = match super::setup(invocation, args.input) {
        Ok(setup) => setup.with_variables(&args.variables),
        Err(code) => return code,
    };
    let request = InitRequest {
        from_module: args.from_module,
        upgrade: args.upgrade,
        get: args.get,
        backend: args.backend,
        backend_config: args.backend_config,
        reconfigure: args.reconfigure,
        migrate_state: args.migrate_state,
        force_copy: args.force_copy,
        ignore_remote_version: args.ignore_remote_version,
        lock: args.lock,
        lock_timeout: args.lock_timeout,
        plugin_dirs: args.plugin_dirs,
        policies: args.policies,
        lockfile_readonly: args.lockfile_readonly,
        test_dir: Some(args.test_dir),
        state_provider_lock_file: args.state_provider_lock_file,
    };
    let view = view(console, super::plan::audience(invocation, args.json));
    let mut tell = |event: InitEvent| view.event(&event);
    let work = init::run(&setup, &request, &mut tell);
    let outcome = match super::run_with(invocation, &setup, work) {
        Ok(outcome) => outcome,
        Err(code) => return code,
    };
    let failed = outcome.diagnostics().has_errors();
    view.finish(outcome);
    u8::from(failed)
}
