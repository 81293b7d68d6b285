//! `providers lock` and `providers mirror`

use base::diag::Diagnostic;
use clap::{Arg, Command};
use ops::providers::lock::LockRequest;
use ops::providers::mirror::MirrorRequest;

use super::common::{json_flags, progress_flag, variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given, list, switch, text};
use super::{ArgsError, Parsed};

fn platform_flag() -> Arg {
    list(
        "platform",
        "os_arch",
        "A platform to get packages for, such as linux_amd64. May be repeated. Default: the platform of this machine.",
    )
}

pub fn lock_command() -> Command {
    flags::command("providers lock")
        .about("Write out dependency locks for the configured providers")
        .override_usage("[options] [provider...]")
        .long_about(
            "Adds checksums of the required providers for the given platforms to the dependency lock file, so that the locked \
             versions can be installed there too. The checksums come from the origin registries, even if other installation methods \
             are configured. Nothing is installed. With source addresses as arguments, only those providers are locked.",
        )
        .args([
            switch(
                "enable-plugin-cache",
                false,
                "Also use packages of the configured plugin cache: faster, but their checksums do not come from an origin registry.",
            ),
            text("fs-mirror", "dir", "Use this filesystem mirror instead of the origin registries."),
            text("net-mirror", "url", "Use this network mirror instead of the origin registries."),
            text(
                "oci-mirror",
                "template",
                "Use this OCI mirror instead of the origin registries: the address of the repositories, with {hostname}, {namespace} and {type}.",
            ),
            platform_flag(),
        ])
        .args(json_flags())
        .args(variable_flags())
        .arg(progress_flag())
        .args(view_flags())
}

/// The request, and whether JSON is wanted.
pub fn parse_lock(args: &[String]) -> Parsed<(LockRequest, bool)> {
    let given = flags::parse(lock_command(), args).map_err(ArgsError::flag_with_page)?;
    let request = LockRequest {
        platforms: given.texts("platform"),
        fs_mirror: given.text("fs-mirror").filter(|dir| !dir.is_empty()).map(Into::into),
        net_mirror: given.text("net-mirror").filter(|url| !url.is_empty()),
        oci_mirror: given.text("oci-mirror").filter(|template| !template.is_empty()),
        plugin_cache: given.on("enable-plugin-cache"),
        providers: given.positional(),
    };
    Ok(((request, given.on("json")), variable_arguments(&given)))
}

pub fn mirror_command() -> Command {
    flags::command("providers mirror")
        .about("Save local copies of all required provider plugins")
        .override_usage("[options] FOLDER")
        .long_about(
            "Downloads the packages of all required providers from their origin registries into a folder. The folder is a \
             filesystem mirror, and also a network mirror if a web server offers its files over HTTPS. Packages that are already there \
             are not downloaded again.",
        )
        .args([
            switch("lock-file", true, "Download the newest versions, not those of the dependency lock file."),
            platform_flag(),
        ])
        .args(json_flags())
        .args(variable_flags())
        .arg(progress_flag())
        .args(view_flags())
}

/// The request, and whether JSON is wanted.
pub fn parse_mirror(args: &[String]) -> Parsed<(MirrorRequest, bool)> {
    let given = flags::parse(mirror_command(), args).map_err(ArgsError::flag_with_page)?;
    let words = given.positional();
    let [target] = &words[..] else {
        let detail = "The providers mirror command requires an output directory as a command-line argument.";
        let diagnostics = Diagnostic::error("No output directory specified", detail).into();
        return Err(match given.on("json") {
            true => ArgsError::Json(diagnostics),
            false => ArgsError::Diagnostics { diagnostics, hint: false },
        });
    };
    let request =
        MirrorRequest { target: target.into(), platforms: given.texts("platform"), lock_file: given.on("lock-file") };
    Ok(((request, given.on("json")), variable_arguments(&given)))
}
