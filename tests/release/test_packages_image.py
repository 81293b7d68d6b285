"""The container images: their form, and a start of the program in their layers."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import packages_support as support

VERSION = support.VERSION
CERTIFICATES = b"-----BEGIN CERTIFICATE-----\n"
# Prints who it is, where, and what it can read and write.
SOURCE = """
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
    char folder[99];
    FILE *file = fopen("/etc/ssl/certs/ca-certificates.crt", "r");
    FILE *made = fopen("made", "w");
    printf("%s %d %d %s %s %s\\n", words[count - 1], getuid(), getgid(), getcwd(folder, 99), file ? "read" : "-", made ? "written" : "-");
    return 0;
}
"""
STATUS = b"Package: git\nStatus: install ok installed\nVersion: 1:2.39-1\nDescription: a\n b\n\nPackage: jq\nVersion: 1.6-2.1\n"
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def static_program():
    """A static program, made by the C compiler; None if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = pathlib.Path(folder, "a.c"), pathlib.Path(folder, "a")
        source.write_text(SOURCE)
        done = shutil.which("cc") and subprocess.run(["cc", "-static", "-o", made, source], capture_output=True, check=False)
        return made.read_bytes() if done and done.returncode == 0 else None


def root_file_system():
    """A small one, as a tar file, with a folder for users that only root may write to."""
    files = {
        "var/lib/dpkg/status": STATUS,
        "etc/passwd": b"root:x:0:0:root:/root:/bin/bash\n",
        "etc/group": b"root:x:0:\nstaff:x:50:\n",
        "etc/ssl/certs/ca-certificates.crt": CERTIFICATES,
        "bin/bash": b"#!/bin/true\n",
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            made = tarfile.TarInfo(f"./{name}")
            made.size = len(content)
            archive.addfile(made, io.BytesIO(content))
    return out.getvalue()


class Layout:
    """An OCI layout in a tar file. Reads blobs by their digests, which must be right."""

    def __init__(self, path):
        with tarfile.open(path) as archive:
            self.files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
        self.index = json.loads(self.files["index.json"])
        self.manifest = json.loads(self.blob(self.index["manifests"][0]))
        self.config = json.loads(self.blob(self.manifest["config"]))

    def blob(self, entry):
        content = self.files["blobs/" + entry["digest"].replace(":", "/")]
        assert hashlib.sha256(content).hexdigest() == entry["digest"].split(":")[1] and len(content) == entry["size"]
        return content

    def layers(self):
        return [tarfile.open(fileobj=io.BytesIO(self.blob(entry))) for entry in self.manifest["layers"]]

    def unpack(self, folder):
        for layer in self.layers():
            options = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}
            layer.extractall(folder, numeric_owner=True, **options)


class RootFileSystem(unittest.TestCase):
    """The script that makes it, with a stand-in for mmdebstrap, which writes its arguments into the file."""

    def setUp(self):
        self.place = support.Place()
        self.addCleanup(self.place.close)
        tools = self.place.top / "tools"
        tools.mkdir()
        (tools / "mmdebstrap").write_text('#!/bin/sh\nfor word; do case $word in *.tar) file=$word ;; esac; done\nprintf "%s\\n" "$@" >"$file"\n')
        (tools / "mmdebstrap").chmod(0o755)
        self.path = f"{tools}:{os.environ['PATH']}"

    def make(self, *mirrors):
        file = self.place.top / "root.tar"
        done = self.place.run("bash", self.place.root / ".ci/packages/rootfs", "amd64", file, *mirrors, PATH=self.path)
        lines = file.read_text().splitlines() if file.exists() else []
        return done, [line for line in lines if not line.startswith("--") and not line.endswith(".tar")]

    def test_mirror_has_updates_and_security_updates_beside_it(self):
        self.assertEqual(self.make()[1], ["trixie"])
        sources = ["deb http://m/debian trixie main", "deb http://m/debian trixie-updates main", "deb http://m/security trixie-security main"]
        self.assertEqual(self.make("http://m/debian", "http://m/security")[1], ["trixie", *sources])

    def test_mirror_without_security_updates_is_refused(self):
        done, lines = self.make("http://m/debian")
        self.assertEqual((done.returncode, lines), (2, []))
        self.assertIn("a mirror needs one of the security updates", done.stderr)


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = support.Place()
        cls.addClassCleanup(cls.place.close)
        cls.program = static_program()
        cls.place.add("linux_amd64_musl", "linux_arm64_musl", content=cls.program)
        cls.certificates = cls.place.top / "certificates"
        cls.certificates.write_bytes(CERTIFICATES)
        (cls.place.dist / "stage").mkdir()
        (cls.place.dist / "stage/rootfs_amd64.tar").write_bytes(root_file_system())
        cls.make()

    @classmethod
    def make(cls):
        done = cls.place.script("image.py", cls.place.dist, "--certificates", cls.certificates)
        assert done.returncode == 0, done.stderr

    def layout(self, arch="amd64", variant=""):
        return Layout(self.place.dist / f"terrane_{VERSION}_image{variant}_{arch}.tar")

    def test_same_inputs_give_the_same_bytes(self):
        images = sorted(self.place.dist.glob("*image*"))
        self.assertEqual(len(images), 3)
        before = [path.read_bytes() for path in images]
        self.make()
        self.assertEqual([path.read_bytes() for path in images], before)

    def test_form(self):
        for arch, variant, count in (("amd64", "", 1), ("arm64", "", 1), ("amd64", "-ci", 2)):
            layout = self.layout(arch, variant)
            self.assertEqual(json.loads(layout.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
            config, settings = layout.config, layout.config["config"]
            self.assertEqual((config["os"], config["architecture"], config["created"]), ("linux", arch, "2023-11-14T22:13:20Z"))
            self.assertEqual((settings["User"], settings["Entrypoint"], settings["WorkingDir"]), ("1000:1000", ["/usr/local/bin/terrane"], "/work"))
            self.assertEqual(settings["Labels"]["org.opencontainers.image.version"], VERSION)
            self.assertEqual(len(layout.manifest["layers"]), count)
            self.assertEqual(len(layout.files), 5 + count)
            differences = [hashlib.sha256(gzip.decompress(layout.blob(entry))).hexdigest() for entry in layout.manifest["layers"]]
            self.assertEqual([f"sha256:{each}" for each in differences], config["rootfs"]["diff_ids"])

    def test_docker_with_containerd_finds_the_name(self):
        for variant in ("", "-ci"):
            [entry] = self.layout(variant=variant).index["manifests"]
            names = {"io.containerd.image.name": f"docker.io/library/terrane:{VERSION}{variant}", "org.opencontainers.image.ref.name": f"{VERSION}{variant}"}
            self.assertEqual(entry["annotations"], names)

    def test_older_docker_finds_the_same_blobs(self):
        layout = self.layout(variant="-ci")
        [row] = json.loads(layout.files["manifest.json"])
        path = lambda entry: "blobs/" + entry["digest"].replace(":", "/")
        self.assertEqual(row["RepoTags"], [f"terrane:{VERSION}-ci"])
        self.assertEqual((row["Config"], row["Layers"]), (path(layout.manifest["config"]), [path(entry) for entry in layout.manifest["layers"]]))

    def test_files_of_the_static_image(self):
        [layer] = self.layout().layers()
        found = {member.name: (member.mode, member.uid) for member in layer if member.isfile()}
        documents = "usr/share/doc/terrane"
        names = ["LICENSE", "THIRD-PARTY.md", "licences/LGPL-2.0.txt", "licences/THIRD-PARTY-LICENCES.txt"]
        expected = {f"{documents}/{name}": (0o644, 0) for name in names}
        expected.update({f"etc/{name}": (0o644, 0) for name in ("passwd", "group", "ssl/certs/ca-certificates.crt")})
        self.assertEqual(found, {**expected, "usr/local/bin/terrane": (0o755, 0)})
        self.assertEqual({member.mtime for member in layer}, {support.SECONDS})

    def test_what_is_not_in_the_repository_is_recorded(self):
        found = json.loads((self.place.dist / "stage/images.tools.json").read_text())
        self.assertEqual(found["certificates"], {"sha256": hashlib.sha256(CERTIFICATES).hexdigest()})
        root = hashlib.sha256(root_file_system()).hexdigest()
        self.assertEqual(found["roots"], {"amd64": {"sha256": root, "packages": ["git 1:2.39-1", "jq 1.6-2.1"]}})
        self.assertEqual((found["python"], found["zlib"]), (platform.python_version(), zlib.ZLIB_RUNTIME_VERSION))

    def test_accounts_of_the_root_file_system_stay(self):
        layer = self.layout(variant="-ci").layers()[1]
        passwd, group = (layer.extractfile(name).read().decode() for name in ("etc/passwd", "etc/group"))
        self.assertEqual(passwd, "root:x:0:0:root:/root:/bin/bash\nterrane:x:1000:1000::/home/terrane:/bin/bash\n")
        self.assertEqual(group, "root:x:0:\nstaff:x:50:\nterrane:x:1000:\n")

    @unittest.skipUnless(IS_ROOT, "chroot needs root")
    def test_program_starts_in_the_layers(self):
        if not self.program:
            self.skipTest("no static program can be made")
        arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
        for variant in ("", "-ci") if arch == "amd64" else ("",):
            layout, folder = self.layout(arch, variant), self.place.top / f"root{variant}"
            layout.unpack(folder)
            settings = layout.config["config"]
            user, group = map(int, settings["User"].split(":"))

            def enter():
                os.chroot(folder)
                os.chdir(settings["WorkingDir"])
                os.setgroups([])
                os.setgid(group)
                os.setuid(user)

            done = subprocess.run([*settings["Entrypoint"], "version"], preexec_fn=enter, env={}, capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout, "version 1000 1000 /work read written\n")

    def test_inputs_that_are_refused(self):
        place = support.Place()
        self.addCleanup(place.close)
        for add, arguments, message in [
            ({}, [], "lacks an archive of linux_amd64_musl or linux_arm64_musl"),
            ({"without": ["terrane"]}, [], f"has no terrane_{VERSION}_linux_amd64_musl/terrane"),
            ({"content": b"x"}, ["--certificates", "/nowhere"], "/nowhere cannot be read"),
        ]:
            if add:
                place.add("linux_amd64_musl", **add)
            done = place.script("image.py", place.dist, *(arguments or ["--certificates", self.certificates]))
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
