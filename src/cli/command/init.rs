//! `init`

use crate::cli::Invocation;
use crate::cli::args::init::parse;
use crate::cli::view::json::write;
use crate::install::event::InstallEvent;
use crate::ops::init::{self, InitEvent, InitRequest};
use crate::render::json::events;
use crate::render::text::style::Style;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse(args) {
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
        plugin_dirs: args.plugin_dirs,
        lockfile_readonly: args.lockfile_readonly,
    };
    if args.json {
        write(console, &events::version());
    }
    let automation = super::plan::in_automation(invocation);
    let mut done = false;
    let mut tell = |event: InitEvent| match event {
        // Said last, behind any warnings.
        InitEvent::Done => done = true,
        event => {
            let is_progress = matches!(event, InitEvent::Module(_) | InitEvent::Copied(_));
            let Some((text, code)) = text(&event, &console.style) else { return };
            match args.json {
                true if is_progress => write(console, &events::log(&text)),
                true if text.is_empty() => {}
                true => write(console, &events::init_output(text.trim(), code)),
                false => console.line(&text),
            }
        }
    };
    let work = init::run(&setup, &request, &mut tell);
    let diagnostics = match super::run_with(invocation, &setup.stop, work) {
        Ok(diagnostics) => diagnostics,
        Err(code) => return code,
    };
    let failed = diagnostics.has_errors();
    match args.json {
        true => diagnostics.iter().for_each(|d| write(console, &events::diagnostic(d))),
        false => console.diagnostics(diagnostics),
    }
    if done && !failed {
        let (headline, advice) = ("Terrane has been successfully initialized!", ADVICE);
        if args.json {
            write(console, &events::init_output(headline, "output_init_success_message"));
        } else {
            console.line(&format!("\n{}", console.style.success(headline)));
            if !automation {
                console.line(&console.style.green(advice));
            }
        }
    }
    u8::from(failed)
}

const ADVICE: &str = "
You may now begin working with Terrane. Try running \"terrane plan\" to see
any changes that are required for your infrastructure. All Terrane commands
should now work.

If you ever set or change modules or backend configuration for Terrane,
rerun this command to reinitialize your working directory. If you forget, other
commands will detect it and remind you to do so if necessary.";

/// The text of an event and its code in the JSON stream.
fn text(event: &InitEvent, style: &Style) -> Option<(String, &'static str)> {
    Some(match event {
        InitEvent::Empty => (
            "Terrane initialized in an empty directory!\n\nThe directory has no Terrane configuration files. You may begin working\n\
             with Terrane immediately by creating Terrane configuration files."
                .into(),
            "output_init_empty_message",
        ),
        InitEvent::Backend => (style.bold("Initializing the backend..."), "initializing_backend_message"),
        InitEvent::BackendSet(Some(kind)) => (
            format!("\nSuccessfully configured the backend {kind:?}! Terrane will automatically\nuse this backend unless the backend configuration changes."),
            "backend_configured_success",
        ),
        InitEvent::BackendSet(None) => {
            ("\n\nSuccessfully unset the backend. Terrane will now operate locally.".into(), "backend_configured_unset")
        }
        InitEvent::Modules { upgrade: false } => (style.bold("Initializing modules..."), "initializing_modules_message"),
        InitEvent::Modules { upgrade: true } => (style.bold("Upgrading modules..."), "upgrading_modules_message"),
        InitEvent::Module(event) => (event.to_string(), "module"),
        InitEvent::Copying(source) => {
            (style.bold(format!("Copying configuration from {source:?}...")), "copying_configuration_message")
        }
        InitEvent::Copied(path) => (format!("- {}", path.0.join(".")), "module"),
        InitEvent::CopyDone => (String::new(), "module"),
        InitEvent::ModuleLockCreated => (
            "Terrane has recorded the checksums of module packages in the file\n.terraform.modules.lock.hcl. Include this file in your \
             version control\nrepository, so that the same packages are used wherever \"terrane init\" is run."
                .into(),
            "module_lock_info",
        ),
        InitEvent::ModuleLockChanged => (
            "Terrane has made some changes to the checksums of module packages in the\nfile .terraform.modules.lock.hcl. Review those \
             changes and commit them to\nyour version control system if they represent changes you intended to make."
                .into(),
            "module_lock_changes_info",
        ),
        InitEvent::Providers => {
            (style.bold("Initializing provider plugins..."), "initializing_provider_plugin_message")
        }
        InitEvent::Install(event) => (install(event), "provider"),
        InitEvent::LockCreated => (
            "Terrane has created a lock file .terraform.lock.hcl to record the provider\nselections it made above. Include this file in your \
             version control repository\nso that Terrane can guarantee to make the same selections by default when\nyou run \"terrane init\" \
             in the future."
                .into(),
            "lock_info",
        ),
        InitEvent::LockChanged => (
            "Terrane has made some changes to the provider dependency selections recorded\nin the .terraform.lock.hcl file. Review those \
             changes and commit them to your\nversion control system if they represent changes you intended to make."
                .into(),
            "dependencies_lock_changes_info",
        ),
        InitEvent::Done => return None,
    })
}

fn install(event: &InstallEvent) -> String {
    match event {
        InstallEvent::BuiltIn { provider } => format!("- {} is built in to Terrane", provider.for_display()),
        InstallEvent::QueryStarted { provider, locked: true, .. } => {
            format!("- Reusing previous version of {} from the dependency lock file", provider.for_display())
        }
        InstallEvent::QueryStarted { provider, constraints, .. } if constraints.is_empty() => {
            format!("- Finding latest version of {}...", provider.for_display())
        }
        InstallEvent::QueryStarted { provider, constraints, .. } => {
            format!("- Finding {} versions matching \"{constraints}\"...", provider.for_display())
        }
        InstallEvent::AlreadyInstalled { provider, version } => {
            format!("- Using previously-installed {} v{version}", provider.for_display())
        }
        InstallEvent::LinkedFromCache { provider, version } => {
            format!("- Using {} v{version} from the shared cache directory", provider.for_display())
        }
        InstallEvent::FetchStarted { provider, version } => {
            format!("- Installing {} v{version}...", provider.for_display())
        }
        InstallEvent::Fetched { provider, version, authentication } => {
            format!("- Installed {} v{version} ({authentication})", provider.for_display())
        }
    }
}
