//! `internal-plugin KIND NAME`: runs this program as a built-in plugin, before any settings are read.

use std::io::Write;
use std::sync::Arc;

use base::env::{self, Environment};
use base::name::{COMMAND, PROGRAM};
use builtin::table::{self, Make, PLUGINS, Services};
use ops::plugins::other_states::Backends;
use ops::setup::services;
use terrane_protocol::serve::{self, Caller, Plugin};

/// Serves the plugin until its caller is done with it; gives the exit code.
pub fn run(args: &[String], environment: Environment) -> u8 {
    let [kind, name] = args else {
        return fail(&format!("Usage: {COMMAND} internal-plugin KIND NAME\n\n{}", list()));
    };
    let Some(row) = table::find(kind, name) else {
        return fail(&format!("There is no built-in {kind} {name:?}.\n\n{}", list()));
    };
    let Some(caller) = Caller::from_environment(|name| environment.get(name).map(str::to_owned)) else {
        return fail(&format!(
            "This is the built-in {kind} {name:?} of {PROGRAM}.\n\nIt is a plugin: {PROGRAM} starts it by itself when a configuration \
             needs it and speaks to it over a\nsocket. Started by hand it has nobody to speak to, so there is nothing for it to do.\n\n\
             To use it, write it in a configuration and run \"{COMMAND} init\" and \"{COMMAND} apply\".",
        ));
    };
    let hosts = services::of_environment(&environment);
    let has_data_stores = environment.non_empty(env::TERRANE_DATA_STORES).is_some();
    let dialect = environment.dialect();
    let remote_states = Arc::new(Backends { environment, services: hosts });
    let services = Services { remote_states, has_data_stores, dialect };
    let served = match row.make {
        Make::Provider(make) => Plugin::Provider(make(&services)),
        Make::Provisioner(make) => Plugin::Provisioner(make(&services)),
    };
    let protocol = u16::try_from(row.protocol).unwrap_or(5);
    match serve::run(served, protocol, caller, plugin::crypto()) {
        Ok(()) => 0,
        Err(why) => fail(&why.to_string()),
    }
}

fn list() -> String {
    let rows = PLUGINS.iter().map(|row| format!("  {COMMAND} internal-plugin {} {}\n", row.kind(), row.name));
    format!("The built-in plugins are:\n{}", rows.collect::<String>())
}

fn fail(text: &str) -> u8 {
    // There is no console yet: a plugin's standard output belongs to the handshake.
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
    1
}
