"""A copy of the packaging scripts with a version of its own, a release of a stand-in program, and a loopback server that plays its page."""

import hashlib
import http.server
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE / ".ci/release"))

import release_support
import reproducible

VERSION = "0.2.0"
SECONDS = 1_700_000_000
TARGETS = json.loads((HERE / ".ci/release/targets.json").read_text(encoding="utf-8"))
ADDRESS = "https://github.com/terrane/terrane"
CARGO = f'[workspace]\nmembers = []\n\n[workspace.package]\nversion = "%s"\nrepository = "{ADDRESS}"\n\n[package]\nversion = "9.9.9"\n'
# Prints its version and makes links, as the program does. Variables of the user could make it do something else.
PROGRAM = """#!/bin/sh
if env | grep -E '^(TERRANE_NAME|TF_CLI_ARGS|TF_LOG)'; then exit 1; fi
case $1 in
version) echo "Terrane v%s, compatible" ;;
link)
    [ "$2" != -force ] || { force=yes && shift; }
    [ ! -f "$3/$2" ] || [ -L "$3/$2" ] || [ -n "$force" ] || { echo "$3/$2 exists" && exit 1; }
    ln -sf terrane "$3/$2" && echo "made $3/$2"
    ;;
*) exit 1 ;;
esac
"""


def program(version=VERSION):
    return (PROGRAM % version).encode()


def archive(target, version=VERSION, content=None, without=(), extra=()):
    """The archive of a target: its name and its bytes."""
    row, top = TARGETS[target], f"terrane_{version}_{target}"
    files = {
        row["program"]: (0o755, program(version) if content is None else content),
        "LICENSE": (0o644, b"licence\n"),
        "README.md": (0o644, b"read me\n"),
        "THIRD-PARTY.md": (0o644, b"third parties\n"),
        "licences/THIRD-PARTY-LICENCES.txt": (0o644, b"texts\n"),
        "licences/LGPL-2.0.txt": (0o644, b"LGPL\n"),
        "man/man1/terrane.1": (0o644, b'.TH TERRANE 1\n.SH NAME\nterrane \\- a stand-in\n'),
        "completions/bash/terrane": (0o644, b"complete -C terrane terrane\n"),
        "completions/zsh/_terrane": (0o644, b"#compdef terrane\n"),
        "completions/fish/terrane.fish": (0o644, b"complete -c terrane\n"),
        "completions/powershell/terrane.ps1": (0o644, b"# terrane\n"),
        **dict(extra),
    }
    entries = {f"{top}/{name}": file for name, file in files.items() if name not in without}
    return f"{top}.{row['archive']}", reproducible.pack(row["archive"], entries, SECONDS)


class Place:
    """A temporary folder with the scripts, a folder for the release and a home."""

    def __init__(self, version=VERSION):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="pkg-")).resolve()
        self.root, self.dist, self.home = self.top / "project", self.top / "dist", self.top / "home"
        ignored = shutil.ignore_patterns("__pycache__")
        for part in ("release", "packages"):
            shutil.copytree(HERE / ".ci" / part, self.root / ".ci" / part, ignore=ignored)
        shutil.copy(HERE / "action.yml", self.root)
        (self.root / "Cargo.toml").write_text(CARGO % version, encoding="utf-8")
        self.version = version
        self.dist.mkdir()
        self.home.mkdir()
        ours = ("TERRANE_", "TF_", "GITHUB_", "RUNNER_", "INPUT_", "GNUPG", "SOURCE_DATE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours) and "proxy" not in name.lower()}
        self.environment = {**kept, "HOME": str(self.home), "TMPDIR": str(self.top), "SOURCE_DATE_EPOCH": str(SECONDS)}

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def add(self, *targets, **options):
        """Puts archives of the targets into the release, by default of all."""
        for target in targets or TARGETS:
            name, content = archive(target, self.version, **options)
            (self.dist / name).write_bytes(content)

    def run(self, *command, cwd=None, **variables):
        command = [str(part) for part in command]
        environment = {**self.environment, **{name: str(value) for name, value in variables.items()}}
        return subprocess.run(
            command, cwd=cwd or self.home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def script(self, name, *arguments, **variables):
        """Runs a Python script of the packages."""
        return self.run(sys.executable, self.root / ".ci/packages" / name, *arguments, **variables)

    def files(self, folder=None):
        """Paths of all files and links below a folder, by default the home."""
        folder = folder or self.home
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


class Gate:
    """A server with TLS on a loopback address that redirects every request to a page, which has none."""

    def __init__(self, place, page):
        self.certificate, key = place.top / "certificate.pem", place.top / "tls-key.pem"
        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, "-keyout", key, "-out", self.certificate]
        subprocess.run([str(part) for part in command], capture_output=True, check=True)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(302)
                self.send_header("Location", page.address.removesuffix("/releases") + self.path)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.address = f"https://localhost:{self.server.server_port}/releases"
        # Settings of wget are in a file only.
        settings = place.top / "wgetrc"
        settings.write_text(f"ca_certificate = {self.certificate}\n", encoding="utf-8")
        self.variables = {"CURL_CA_BUNDLE": self.certificate, "WGETRC": settings, "TERRANE_RELEASES": self.address}
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Page:
    """The page of releases on a loopback address. `files` are contents by path; `cut` are paths whose answers end too early."""

    def __init__(self):
        self.files, self.cut, self.requests = {}, set(), []
        page = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                page.requests.append(self.path)
                content = page.files.get(self.path)
                self.send_response(404 if content is None else 200)
                content = content or b""
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if self.path in page.cut else content)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/releases"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def put(self, version, name, content):
        self.files[f"/releases/download/v{version}/{name}"] = content

    def publish(self, files, version=VERSION, keys=None):
        """Adds a release with these files by name, its list of digests and, with keys, its signature."""
        sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())).encode()
        name = f"terrane_{version}_SHA256SUMS"
        for file, content in {**files, name: sums}.items():
            self.put(version, file, content)
        if keys:
            self.put(version, f"{name}.sig", signature(keys, sums))

    def publish_index(self, versions, keys=None, expires=None, **more):
        """`versions` are rows of the index."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600)) if expires is None else expires
        value = {"format_version": "1.0", "generated": "2026-01-01T00:00:00Z", "expires": moment, "serial": 3, "versions": versions, **more}
        self.index(json.dumps(value, indent=2).encode(), keys)

    def index(self, content, keys=None):
        self.files["/releases/latest/download/index.json"] = content
        if keys:
            self.files["/releases/latest/download/index.json.sig"] = signature(keys, content)


def signature(keys, content, *options):
    """A detached signature in binary."""
    command = ["gpg", "--homedir", str(keys.home), "--batch", *options, "--detach-sign"]
    return subprocess.run(command, input=content, capture_output=True, check=True).stdout


def public_key(keys, place, name="key.asc"):
    """A file with the public key, in armor."""
    path = place.top / name
    path.write_text(keys.gpg("--armor", "--export"), encoding="utf-8")
    return path


def row(version, **more):
    """A version in the index, with files, as the release scripts write it."""
    files = [{"name": f"terrane_{version}_{target}.tar.gz", "target": target, "sha256": "0" * 64, "size": 1} for target in TARGETS]
    return {"version": version, "date": "2026-01-01", "prerelease": False, **more, "files": files}


def host_target():
    """The target that the install script chooses here; None if a release has nothing for this machine."""
    machines = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
    machine = machines.get(os.uname().machine.lower())
    if sys.platform.startswith("linux") and machine:
        glibc = subprocess.run(["getconf", "GNU_LIBC_VERSION"], capture_output=True, check=False).returncode == 0
        return f"linux_{machine}{'' if glibc else '_musl'}"
    if sys.platform == "darwin" and machine:
        return f"darwin_{machine}"
    return None


class Base(unittest.TestCase):
    """Tests with a place and a page, and a key if gpg is here."""

    keys = None

    @classmethod
    def setUpClass(cls):
        if shutil.which("gpg"):
            cls.keys = release_support.Keys()
            cls.addClassCleanup(cls.keys.close)

    def setUp(self):
        self.place, self.page = Place(), Page()
        self.addCleanup(self.place.close)
        self.addCleanup(self.page.close)
        self.place.environment["TERRANE_RELEASES"] = self.page.address

    def succeeded(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def refused(self, done, message, status=1):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(message, done.stderr)

    def gate(self):
        """A gate to the page."""
        if not shutil.which("openssl"):
            self.skipTest("openssl is not here")
        made = Gate(self.place, self.page)
        self.addCleanup(made.close)
        return made

    def tools(self, *names, **scripts):
        """A folder for PATH with these programs of this machine, and scripts in place of others."""
        folder = self.place.top / "tools"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in names:
            found = shutil.which(name)
            if found:
                (folder / name).symlink_to(found)
        for name, text in scripts.items():
            (folder / name).unlink(missing_ok=True)
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        return str(folder)

    def need_gpg(self):
        if not self.keys:
            self.skipTest("gpg is not here")
