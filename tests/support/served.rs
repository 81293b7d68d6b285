//! Providers that this very test binary serves: a program runs it with a variable in the environment, by which the test that is no
//! test knows that it is the provider. Such tests are ignored: only the program runs them.

use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::sync::Arc;

use terrane_protocol::provider::Provider;
use terrane_protocol::serve::{self, Caller, Plugin};

/// The text of a program that runs a test of this binary with a variable. The harness has the standard output for itself; the
/// handshake goes another way.
pub fn launcher(variable: &str, value: &str, test: &str) -> String {
    let binary = std::env::current_exe().unwrap();
    format!(
        "#!/bin/sh\nexport {variable}={value:?}\nexec {:?} --ignored --exact {test} --nocapture 3>&1 >/dev/null\n",
        binary.display().to_string()
    )
}

/// Serves a provider of protocol 6 to the program that started this process, until it is done; then ends the process.
pub fn serve(provider: Arc<dyn Provider>) -> ! {
    let caller = Caller::from_environment(|name| std::env::var(name).ok()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = runtime.block_on(serve::serve(Plugin::Provider(provider), 6, caller, plugin::crypto(), |line| {
        // SAFETY: the program has opened it, and nothing else uses it.
        let mut out = unsafe { File::from_raw_fd(3) };
        writeln!(out, "{line}")
    }));
    std::process::exit(i32::from(served.is_err()));
}
