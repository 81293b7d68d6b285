"""A small project in a temporary folder with the release scripts of this one, and a stand-in for what takes long.

The project has packages of a registry (a folder that cargo reads instead), members that must not get into the program, and
a `cargo` whose `build` writes a shell script. Everything else is done by the real tools: git, cargo, gpg.
"""

import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = HERE / ".ci/release"
VERSION = "0.2.0"

# Writes the program and notes its arguments and environment; other commands are those of the real cargo.
CARGO = """#!/bin/sh
[ -z "$STAND_IN_SEEN" ] || env | sed 's/^/cargo /' >>"$STAND_IN_SEEN"
if [ "$1" != build ]; then exec "$REAL_CARGO" "$@"; fi
env >"$STAND_IN_LOG"
echo "$*" >>"$STAND_IN_LOG"
while [ "$1" != --target ]; do shift; done
folder=target/$2/dist
mkdir -p "$folder"
case $2 in *windows*) name=terrane.exe ;; *) name=terrane ;; esac
if [ -n "$STAND_IN_PROGRAM" ]; then cp "$STAND_IN_PROGRAM" "$folder/$name"; exit; fi
cat >"$folder/$name" <<'PROGRAM'
#!/bin/sh
if [ "$1" = completion ]; then echo "complete -C '$0' $TERRANE_NAME # $2"; exit; fi
exit 1
PROGRAM
echo "# $STAND_IN_MARK" >>"$folder/$name"
"""

ROOT_MANIFEST = f"""
[workspace]
resolver = "3"
members = ["src/lang", "src/other"]

[workspace.package]
version = "{VERSION}"
repository = "https://github.com/terrane/terrane"

[package]
name = "terrane"
version.workspace = true
repository.workspace = true
edition = "2021"
license = "MPL-2.0"

[dependencies]
lang = {{ path = "src/lang" }}
tiny = "1"
macros = "1"

[build-dependencies]
built = "1"

[dev-dependencies]
tested = "1"

[target.'cfg(windows)'.dependencies]
console = "1"
"""

# Packages of the registry: name -> (licence, text of the licence or None, more of the manifest).
PACKAGES = {
    "tiny": ("MIT", "MIT text of tiny\n", '[features]\nextra = ["dep:hidden"]\n[dependencies]\nhidden = { version = "1", optional = true }\n'),
    "hidden": ("MIT", "text of hidden\n", ""),
    "macros": ("MIT", "text of macros\n", "[lib]\nproc-macro = true\n"),
    "built": ("MIT", "text of built\n", ""),
    "tested": ("MIT", "text of tested\n", ""),
    "console": ("MIT/BSD-3-Clause", None, ""),
    "pgp": ("LGPL-2.0-or-later", "GNU LIBRARY GENERAL PUBLIC LICENSE\n", ""),
}

FILES = {
    "Cargo.toml": ROOT_MANIFEST,
    "src/main.rs": "fn main() {}\n",
    "build.rs": "fn main() {}\n",
    "src/lang/Cargo.toml": '[package]\nname = "lang"\nversion = "0.2.0"\nedition = "2021"\nlicense = "MPL-2.0"\n[dependencies]\npgp = "1"\n',
    "src/lang/src/lib.rs": "",
    "src/other/Cargo.toml": '[package]\nname = "other"\nversion = "0.2.0"\nedition = "2021"\n[dependencies]\ntiny = { version = "1", features = ["extra"] }\n',
    "src/other/src/lib.rs": "",
    ".cargo/config.toml": '[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\ndirectory = "vendor"\n',
    "LICENSE": "licence\n",
    "README.md": "read me\n",
    "docs/third-party.md": "# Third-party software\n",
    "docs/man/terrane.1": ".TH TERRANE 1\n",
    "docs/schemas/plan.json": "{}\n",
    ".gitignore": "/target\n",
}


def package_archive(name):
    """What a registry has of a package: NAME-1.0.0.crate."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        made = tarfile.TarInfo(f"{name}-1.0.0/README.md")
        made.size = len(name)
        archive.addfile(made, io.BytesIO(name.encode()))
    return out.getvalue()


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def write_packages(root, cargo_home):
    """The packages, in the folder that cargo reads instead of a registry and where it would have put what it downloads."""
    for name, (licence, text, more) in PACKAGES.items():
        folder = root / "vendor" / name
        manifest = f'[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\nlicense = "{licence}"\nauthors = ["A. Author"]\n'
        write(folder / "Cargo.toml", manifest + more)
        write(folder / "src/lib.rs", "")
        if text:
            write(folder / "LICENSE", text)
        archive = package_archive(name)
        sums = {"files": {}, "package": hashlib.sha256(archive).hexdigest()}
        write(folder / ".cargo-checksum.json", json.dumps(sums))
        write(cargo_home / f"registry/cache/vendored/{name}-1.0.0.crate", archive)


class Project:
    """A repository with one commit, below a temporary folder that is deleted by `close`."""

    def __init__(self, name="project", origin=None):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="rel-")).resolve()
        self.root, self.dist = self.top / name, self.top / "dist"
        self.cargo_home = self.top / "cargo"
        tools = self.top / "tools"
        write(tools / "cargo", CARGO)
        (tools / "cargo").chmod(0o755)
        git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        for role in ("AUTHOR", "COMMITTER"):
            git.update({f"GIT_{role}_NAME": "t", f"GIT_{role}_EMAIL": "t@example.com", f"GIT_{role}_DATE": "1700000000 +0000"})
        ours = ("TERRANE_", "CARGO", "RUSTC", "RUSTFLAGS", "CC", "CFLAGS", "CLIPPY", "GNUPG", "SOURCE_DATE")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        # Tests change HOME.
        if (pathlib.Path.home() / ".rustup").is_dir():
            kept.setdefault("RUSTUP_HOME", str(pathlib.Path.home() / ".rustup"))
        self.environment = {
            **kept,
            **git,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "REAL_CARGO": shutil.which("cargo"),
            "STAND_IN_LOG": str(self.top / "log"),
            "STAND_IN_MARK": "the program",
            "STAND_IN_PROGRAM": "",
            "CARGO_HOME": str(self.cargo_home),
            "CARGO_NET_OFFLINE": "true",
        }
        if origin:
            shutil.copytree(origin.cargo_home, self.cargo_home)
            self.run("git", "clone", "-q", origin.root, self.root, cwd=self.top)
        else:
            self._create()

    def _create(self):
        for path, content in FILES.items():
            write(self.root / path, content)
        write_packages(self.root, self.cargo_home)
        shutil.copytree(SCRIPTS, self.root / ".ci/release", ignore=shutil.ignore_patterns("__pycache__"))
        self.run(self.environment["REAL_CARGO"], "generate-lockfile", "--offline")
        self.run("git", "init", "-q")
        self.commit()
        self.run("git", "tag", f"v{VERSION}")

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def run(self, *command, cwd=None, **variables):
        """Runs a command that must succeed; returns its standard output."""
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd or self.root,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def script(self, name, *arguments, **variables):
        """Runs a release script; returns its status, output and errors."""
        return subprocess.run(
            [sys.executable, str(self.root / ".ci/release" / name), *map(str, arguments)],
            cwd=self.root,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def commit(self):
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "--allow-empty", "-m", "test: change")

    def build(self, *targets, **variables):
        """Archives of targets, with the first as the one whose completions the others have."""
        for target in targets:
            self.succeed("build", target, self.dist, **variables)
            self.succeed("archive.py", target, self.dist)

    def succeed(self, name, *arguments, **variables):
        done = self.script(name, *arguments, **variables)
        assert done.returncode == 0, f"{name} {arguments}: {done.stdout}{done.stderr}"
        return done.stdout


class Keys:
    """A folder of gpg with a key for signatures, and the variables that name it."""

    def __init__(self, passphrase=""):
        # The path of a socket in it must be short.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="gpg-"))
        settings = ["--batch", "--pinentry-mode", "loopback", "--passphrase", passphrase]
        self.gpg(*settings, "--quick-generate-key", "Release (test) <t@example.com>", "ed25519", "sign", "never")
        listing = self.gpg("--with-colons", "--list-keys")
        self.fingerprint = next(line.split(":")[9] for line in listing.splitlines() if line.startswith("fpr:"))

    def gpg(self, *arguments):
        command = ["gpg", "--homedir", str(self.home), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout

    @property
    def variables(self):
        return {"GNUPGHOME": str(self.home), "TERRANE_SIGNING_FINGERPRINT": self.fingerprint}

    def close(self):
        subprocess.run(["gpgconf", "--homedir", str(self.home), "--kill", "all"], capture_output=True, check=False)
        shutil.rmtree(self.home, ignore_errors=True)


def host_target():
    """The name and Rust's name of a target that this machine can build and run; None if it is none of the table."""
    text = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    triple = next(line.split()[1] for line in text.splitlines() if line.startswith("host: "))
    table = json.loads((SCRIPTS / "targets.json").read_text())
    return next(((name, triple) for name, row in table.items() if row["rust"] == triple), None)
