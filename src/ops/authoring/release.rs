//! `provider package`: the files of a release, as registries take them.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::env::TERRANE_SIGNING_PASSWORD;
use base::files::named;
use install::package;
use install::release::archive::{self, Member};
use install::release::signature::SigningKey;
use install::release::{Platform, Release, checksum_list, target};
use serde_json::{Value as Json, json};

use super::project::CargoProject;
use super::{PROGRAM_PREFIX, Tell, failure, interrupted, program};
use crate::interface::ask::Question;
use crate::setup::Setup;

const BAD_RELEASE: &str = "Invalid release";
const BAD_PROGRAM: &str = "Wrong program in a release";
const BAD_MANIFEST: &str = "Invalid registry manifest";
const BAD_KEY: &str = "Failed to sign the release";

/// The manifest that authors may keep in the project.
const MANIFEST: &str = "terraform-registry-manifest.json";
/// What archives contain beside the program, if the project has it.
const LICENSES: [&str; 4] = ["LICENSE", "LICENSE.md", "LICENSE.txt", "COPYING"];

#[derive(Clone, Debug, Default)]
pub struct ReleaseRequest {
    /// Programs that were built. None: the project in the working directory is built for this machine.
    pub programs: Vec<PathBuf>,
    /// The platforms of the programs, in their order. None: there is one program, for this machine.
    pub platforms: Vec<String>,
    /// The last part of the source address; by default as the program is called.
    pub name: Option<String>,
    /// By default the version of the project.
    pub version: Option<String>,
    /// The file of the key that signs. None: there is no signature.
    pub key: Option<PathBuf>,
    pub output: PathBuf,
}

#[derive(Debug)]
pub struct ReleaseOutcome {
    /// In the order in which they were written.
    pub files: Vec<PathBuf>,
    /// As the manifest has them: `6.0`.
    pub protocols: Vec<String>,
    /// The ID of the key that signed.
    pub signer: Option<String>,
    pub warnings: Diagnostics,
}

/// A program and the platform that it is for.
struct Build {
    program: PathBuf,
    platform: Platform,
}

/// Checks the programs and writes the files.
pub async fn run(setup: &Setup, request: &ReleaseRequest, tell: Tell<'_>) -> Result<ReleaseOutcome, Diagnostics> {
    // The key first: a build takes long, and the user may have to type a password.
    let mut key = match &request.key {
        Some(path) => Some(open_key(setup, path).await?),
        None => None,
    };
    let (release, builds) = builds(setup, request, tell).await?;
    for build in &builds {
        check_program(build)?;
    }
    let manifest = manifest(setup, &builds).await?;
    let mut warnings = Diagnostics::new();
    if key.as_ref().is_some_and(|key| !key.is_widely_accepted()) {
        let detail = "The key is neither an RSA nor a DSA key. Other programs verify its signatures, but the public Terraform \
                      registry does not accept it.";
        warnings.push(Diagnostic::warning("Unusual key", detail));
    }
    let signer = key.as_ref().map(|key| key.id.clone());
    let files = write(&release, &builds, &manifest, key.take(), &request.output)?;
    let protocols = protocol_versions(&manifest).unwrap_or_default();
    Ok(ReleaseOutcome { files, protocols, signer, warnings })
}

/// The release and its programs, which are built if none are given.
async fn builds(setup: &Setup, request: &ReleaseRequest, tell: Tell<'_>) -> Result<(Release, Vec<Build>), Diagnostics> {
    let bad = |why: String| failure(BAD_RELEASE, format!("The release cannot be made: {why}."));
    let here = package::platform();
    let (platforms, programs) = (&request.platforms, request.programs.len());
    if programs == 0 && !platforms.is_empty() {
        return Err(bad("-platform says what a program of -binary is for, and there is none. Build for the platform, for \
                        example with \"cargo build --release --target aarch64-unknown-linux-musl\", and give the program"
            .to_owned()));
    }
    let given: Vec<String> = if platforms.is_empty() && programs <= 1 { vec![here.clone()] } else { platforms.clone() };
    if programs > 0 && given.len() != programs {
        return Err(bad(format!(
            "there are {programs} programs and {} platforms: give one -platform for each -binary, in the \
                                same order",
            platforms.len()
        )));
    }
    let platforms = given
        .iter()
        .map(|text| Platform::parse(text).map_err(|why| bad(why.to_string())))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(twice) = platforms.iter().enumerate().find(|(i, one)| platforms[..*i].contains(one)) {
        return Err(bad(format!("there are two programs for {}", twice.1)));
    }
    let project = match (programs, &request.version) {
        (0, _) | (_, None) => Some(CargoProject::open(&setup.stop).await?),
        _ => None,
    };
    let version = request.version.clone().or(project.as_ref().map(|project| project.version.clone()));
    let called = project.as_ref().map(|project| project.program.clone()).or_else(|| name_of(request.programs.first()?));
    let name = request.name.clone().or(called).unwrap_or_default();
    let name = name.strip_prefix(PROGRAM_PREFIX).unwrap_or(&name);
    let release = Release::new(name, version.as_deref().unwrap_or_default()).map_err(|why| bad(why.to_string()))?;
    let programs = match (&project, programs) {
        (Some(project), 0) => vec![project.build(true, &setup.stop, tell).await?],
        _ => request.programs.clone(),
    };
    let builds = programs.into_iter().zip(platforms).map(|(program, platform)| Build { program, platform });
    Ok((release, builds.collect()))
}

/// `terraform-provider-todo` of `target/terraform-provider-todo_v1.0.0.exe`.
fn name_of(program: &Path) -> Option<String> {
    let file = program.file_name()?.to_str()?;
    let file = file.strip_suffix(".exe").unwrap_or(file);
    Some(file.split_once("_v").map_or(file, |(name, _)| name).to_owned())
}

/// The file is a program for its platform.
fn check_program(build: &Build) -> Result<(), Diagnostics> {
    let Build { program, platform } = build;
    let mut head = Vec::new();
    let read = std::fs::File::open(program).and_then(|file| file.take(target::HEAD as u64).read_to_end(&mut head));
    read.map_err(|e| failure(BAD_PROGRAM, format!("{}.", named(e, "read", program))))?;
    target::check(&head, platform).map_err(|why| {
        let detail = format!("{} cannot be the program for {platform}: {why}.", program.display());
        failure(BAD_PROGRAM, detail)
    })
}

/// The manifest: the one of the project, or one with all protocol versions that the program serves.
async fn manifest(setup: &Setup, builds: &[Build]) -> Result<Json, Diagnostics> {
    let here = package::platform();
    let served = match builds.iter().find(|build| build.platform.to_string() == here) {
        Some(build) => Some(program::protocols(setup, &build.program).await?),
        None => None,
    };
    let bad = |why: String| failure(BAD_MANIFEST, format!("{MANIFEST}: {why}."));
    let text = match std::fs::read(MANIFEST) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let Some(served) = served else {
                let detail = format!(
                    "No program of the release runs on this machine ({here}), so that its protocol versions are not known. Add a \
                     program for {here}, or write {MANIFEST}:\n\n  {}",
                    json!({"version": 1, "metadata": {"protocol_versions": ["6.0"]}})
                );
                return Err(failure(BAD_MANIFEST, detail));
            };
            let versions: Vec<String> = served.iter().map(|version| format!("{version}.0")).collect();
            return Ok(json!({"version": 1, "metadata": {"protocol_versions": versions}}));
        }
        Err(e) => return Err(failure(BAD_MANIFEST, format!("{}.", named(e, "read", Path::new(MANIFEST))))),
    };
    let manifest: Json = serde_json::from_slice(&text).map_err(|e| bad(format!("not valid JSON: {e}")))?;
    check_manifest(&manifest, served.as_deref()).map_err(bad)?;
    Ok(manifest)
}

fn protocol_versions(manifest: &Json) -> Option<Vec<String>> {
    let versions = manifest["metadata"]["protocol_versions"].as_array()?;
    versions.iter().map(|version| version.as_str().map(str::to_owned)).collect()
}

/// `served`: the versions that the program speaks, if they are known.
fn check_manifest(manifest: &Json, served: Option<&[u16]>) -> Result<(), String> {
    if manifest["version"] != 1 {
        return Err("\"version\" must be 1".to_owned());
    }
    let versions = protocol_versions(manifest).filter(|versions| !versions.is_empty());
    let versions = versions.ok_or("\"metadata\" must have \"protocol_versions\", a list of texts such as \"6.0\"")?;
    for version in &versions {
        let major = version.split_once('.').filter(|(_, minor)| minor.parse::<u16>().is_ok());
        let major: u16 = major.and_then(|(major, _)| major.parse().ok()).ok_or_else(|| {
            format!("{version:?} is not a protocol version: write a major and a minor number, such as \"6.0\"")
        })?;
        if let Some(served) = served.filter(|served| !served.contains(&major)) {
            let served: Vec<String> = served.iter().map(|version| format!("{version}.0")).collect();
            return Err(format!(
                "it has the protocol version {version}, which the program does not serve: it serves {}. Protocol 5 has no nested \
                 attributes",
                served.join(" and ")
            ));
        }
    }
    Ok(())
}

async fn open_key(setup: &Setup, path: &Path) -> Result<SigningKey, Diagnostics> {
    let bad = |why: String| failure(BAD_KEY, format!("The key {} cannot be used: {why}.", path.display()));
    let bytes = std::fs::read(path).map_err(|e| failure(BAD_KEY, format!("{}.", named(e, "read", path))))?;
    let key = SigningKey::read(&bytes).map_err(|why| bad(why.to_string()))?;
    if !key.is_encrypted() {
        return Ok(key);
    }
    let password = match (setup.environment.get(TERRANE_SIGNING_PASSWORD), &setup.ask) {
        (Some(password), _) => password.to_owned(),
        (None, None) => return Err(bad(format!("it needs a password; set {TERRANE_SIGNING_PASSWORD}"))),
        (None, Some(ask)) => {
            let question = Question {
                title: format!("Password of the key {}", path.display()),
                text: format!("It is used once and not stored. It can also be given as {TERRANE_SIGNING_PASSWORD}."),
                secret: true,
                ..Question::default()
            };
            ask.ask(&question).await.map_err(|_| interrupted())?
        }
    };
    key.decrypt(&password).map_err(|why| bad(why.to_string()))
}

/// Writes all files; the checksums and their signature last.
fn write(
    release: &Release,
    builds: &[Build],
    manifest: &Json,
    key: Option<SigningKey>,
    output: &Path,
) -> Result<Vec<PathBuf>, Diagnostics> {
    let failed = |e: std::io::Error| failure("Failed to write the release", format!("{e}."));
    std::fs::create_dir_all(output).map_err(|e| failed(named(e, "create", output)))?;
    let licenses = LICENSES.into_iter().filter(|name| Path::new(name).is_file());
    let licenses: Vec<Member> = licenses.map(|name| member(name.to_owned(), Path::new(name), false)).collect();
    let (mut files, mut sums) = (Vec::new(), Vec::new());
    for build in builds {
        let name = release.archive(&build.platform);
        let mut members = licenses.clone();
        members.push(member(release.program(&build.platform), &build.program, true));
        let path = output.join(&name);
        sums.push((name, archive::write(&path, &members).map_err(failed)?));
        files.push(path);
    }
    let path = output.join(release.manifest());
    let text = serde_json::to_string_pretty(manifest).unwrap_or_default() + "\n";
    atomic::write(&path, text.as_bytes()).map_err(failed)?;
    sums.push((release.manifest(), archive::sha256(&path).map_err(failed)?));
    files.push(path);
    let list = checksum_list(&sums);
    let path = output.join(release.checksums());
    let signature = output.join(release.signature());
    let signed = key.map(|key| key.sign(list.as_bytes())).transpose();
    let signed = signed.map_err(|why| failure(BAD_KEY, format!("The checksums cannot be signed: {why}.")))?;
    // A signature of an earlier run is not one of the new list.
    match std::fs::remove_file(&signature) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(named(e, "delete", &signature))),
        _ => {}
    }
    atomic::write(&path, list.as_bytes()).map_err(failed)?;
    files.push(path);
    if let Some(signed) = signed {
        atomic::write(&signature, &signed).map_err(failed)?;
        files.push(signature);
    }
    Ok(files)
}

fn member(name: String, content: &Path, runs: bool) -> Member {
    Member { name, content: content.to_owned(), runs }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_have_versions_that_the_program_serves() {
        let check = |versions: Json, served: Option<&[u16]>| {
            check_manifest(&json!({"version": 1, "metadata": {"protocol_versions": versions}}), served)
        };
        assert_eq!(check(json!(["6.0"]), Some(&[5, 6])), Ok(()));
        assert_eq!(check(json!(["5.0", "6.0"]), None), Ok(()));
        assert!(check(json!(["5.0"]), Some(&[6])).unwrap_err().contains("it serves 6.0"));
        for versions in [json!([]), json!("6.0"), json!([6]), json!(["6"]), json!(["v6.0"]), json!(null)] {
            assert!(check(versions.clone(), None).is_err(), "{versions}");
        }
        assert!(check_manifest(&json!({"version": 2}), None).unwrap_err().contains("must be 1"));
    }

    #[test]
    fn names_come_from_files() {
        for (file, name) in [
            ("target/release/terraform-provider-todo", "terraform-provider-todo"),
            ("terraform-provider-todo_v1.0.0_x5", "terraform-provider-todo"),
            ("a/terraform-provider-todo.exe", "terraform-provider-todo"),
        ] {
            assert_eq!(name_of(Path::new(file)).as_deref(), Some(name));
        }
    }
}
