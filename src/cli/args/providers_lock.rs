//! `providers lock` and `providers mirror`

use clap::{Arg, Command};

use super::ArgsError;
use super::common::{variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given, list, switch, text};
use crate::base::diag::Diagnostic;
use crate::ops::options::VariableArgument;
use crate::ops::providers_lock::LockRequest;
use crate::ops::providers_mirror::MirrorRequest;

fn platform_flag() -> Arg {
    list(
        "platform",
        "os_arch",
        "A platform to take packages for, such as linux_amd64. May be repeated. Without it: this machine's.",
    )
}

pub fn lock_command() -> Command {
    flags::command("providers lock")
        .about("Write out dependency locks for the configured providers")
        .long_about(
            "Adds to the dependency lock file the checksums that the providers' origin registries have for other platforms, whatever \
             installation methods are configured, so that what is locked can be installed there too. Packages are looked at, not \
             installed. Without arguments all required providers are locked; otherwise those whose source addresses are given.",
        )
        .args([
            switch(
                "enable-plugin-cache",
                false,
                "Use the configured plugin cache: faster, but what is in it does not come from an origin registry.",
            ),
            text("fs-mirror", "dir", "Look for packages in this filesystem mirror, not in the origin registries."),
            text("net-mirror", "url", "Look for packages in this network mirror, not in the origin registries."),
            platform_flag(),
        ])
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_lock(args: &[String]) -> Result<(LockRequest, Vec<VariableArgument>), ArgsError> {
    let given = flags::parse(lock_command(), args).map_err(ArgsError::flag_with_page)?;
    let request = LockRequest {
        platforms: given.texts("platform"),
        fs_mirror: given.text("fs-mirror").filter(|dir| !dir.is_empty()).map(Into::into),
        net_mirror: given.text("net-mirror").filter(|url| !url.is_empty()),
        plugin_cache: given.on("enable-plugin-cache"),
        providers: given.positional(),
    };
    Ok((request, variable_arguments(&given)))
}

pub fn mirror_command() -> Command {
    flags::command("providers mirror")
        .about("Save local copies of all required provider plugins")
        .long_about(
            "Fills a folder with the packages of all required providers, always from their origin registries. The folder is a \
             filesystem mirror as it is, and a network mirror behind any web server that offers its files over HTTPS. What it has \
             already is not fetched again.",
        )
        .args([
            switch("lock-file", true, "Set to false to take the newest versions, not those of the dependency lock file."),
            platform_flag(),
        ])
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_mirror(args: &[String]) -> Result<(MirrorRequest, Vec<VariableArgument>), ArgsError> {
    let given = flags::parse(mirror_command(), args).map_err(ArgsError::flag_with_page)?;
    let words = given.positional();
    let [target] = &words[..] else {
        let detail = "The providers mirror command requires an output directory as a command-line argument.";
        let diagnostics = Diagnostic::error("No output directory specified", detail).into();
        return Err(ArgsError::Diagnostics { diagnostics, hint: false });
    };
    let request =
        MirrorRequest { target: target.into(), platforms: given.texts("platform"), lock_file: given.on("lock-file") };
    Ok((request, variable_arguments(&given)))
}
