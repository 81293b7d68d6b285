"""The deb and the rpm: what is in them, and what installing, upgrading and removing them leaves."""

import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import packages_support as support

VERSION = support.VERSION
OLDER = "0.1.9"
DOCUMENTS = "usr/share/doc/terrane"
SHARED = [
    "usr/bin/terrane",
    "usr/share/bash-completion/completions/terrane",
    f"{DOCUMENTS}/README.md",
    f"{DOCUMENTS}/THIRD-PARTY.md",
    f"{DOCUMENTS}/licences/LGPL-2.0.txt",
    f"{DOCUMENTS}/licences/THIRD-PARTY-LICENCES.txt",
    "usr/share/fish/vendor_completions.d/terrane.fish",
    "usr/share/man/man1/terrane.1.gz",
]
OF_DEB = [f"{DOCUMENTS}/changelog.gz", f"{DOCUMENTS}/copyright", "usr/share/zsh/vendor-completions/_terrane"]
OF_RPM = ["usr/share/licenses/terrane/LICENSE", "usr/share/zsh/site-functions/_terrane"]
# What a program for glibc has in it, as far as the script looks.
SYMBOLS = b"exit\n\0GLIBC_2.2.5\0GLIBC_2.28\0GLIBC_2.4\0libgcc_s.so.1\0"


def nfpm():
    return os.environ.get("NFPM") or shutil.which("nfpm")


def packages(version=VERSION, content=None):
    """A place with the packages of a version."""
    place = support.Place(version)
    place.add("linux_amd64", "linux_arm64", content=content)
    done = place.script("packages", place.dist)
    assert done.returncode == 0, done.stderr
    return place


@unittest.skipUnless(nfpm(), "nfpm is not here")
class Linux(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place, cls.older = packages(content=support.program() + SYMBOLS), packages(OLDER)
        cls.addClassCleanup(cls.place.close)
        cls.addClassCleanup(cls.older.close)

    def deb(self, arch="amd64"):
        return self.place.dist / f"terrane_{VERSION}_{arch}.deb"

    def rpm(self, arch="x86_64"):
        return self.place.dist / f"terrane-{VERSION}-1.{arch}.rpm"

    def output(self, *command):
        done = self.place.run(*command)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"{program} is not here")

    def test_same_archives_give_the_same_bytes(self):
        again = packages(content=support.program() + SYMBOLS)
        self.addCleanup(again.close)
        names = [path.name for path in (self.deb(), self.deb("arm64"), self.rpm(), self.rpm("aarch64"))]
        for name in names:
            self.assertEqual((self.place.dist / name).read_bytes(), (again.dist / name).read_bytes(), name)

    def test_nfpm_is_recorded(self):
        found = json.loads((self.place.dist / "stage/packages.tools.json").read_text())
        content = pathlib.Path(shutil.which(nfpm())).read_bytes()
        self.assertEqual(found["nfpm"]["sha256"], hashlib.sha256(content).hexdigest())
        self.assertRegex(found["nfpm"]["version"], r"^\d+\.\d+")
        self.assertEqual(set(found), {"nfpm", "python", "zlib"})

    def test_programs_that_need_nothing_of_the_system(self):
        self.need("dpkg-deb")
        depends = self.output("dpkg-deb", "-f", self.older.dist / f"terrane_{OLDER}_amd64.deb", "Depends")
        self.assertEqual(depends.strip(), "libc6")

    def test_fields_of_the_deb(self):
        self.need("dpkg-deb")
        for arch in ("amd64", "arm64"):
            lines = self.output("dpkg-deb", "-f", self.deb(arch)).splitlines()
            fields = dict(line.split(": ", 1) for line in lines if not line.startswith(" "))
            self.assertEqual((fields["Package"], fields["Version"], fields["Architecture"]), ("terrane", VERSION, arch))
            self.assertEqual(fields["Depends"], "libc6 (>= 2.28), libgcc-s1")
            self.assertEqual({"Provides", "Conflicts", "Replaces"} & set(fields), set())

    def test_files_of_the_deb(self):
        self.need("dpkg-deb")
        folder = self.place.top / "deb"
        self.output("dpkg-deb", "-R", self.deb(), folder)
        control = ["DEBIAN/control", "DEBIAN/md5sums"]
        self.assertEqual(self.place.files(folder), sorted(SHARED + OF_DEB + control))
        self.check_unpacked(folder)
        changelog = gzip.decompress((folder / DOCUMENTS / "changelog.gz").read_bytes()).decode()
        self.assertTrue(changelog.startswith(f"terrane ({VERSION}) "), changelog)
        self.assertIn("  Tue, 14 Nov 2023 22:13:20 -0000\n", changelog)

    def check_unpacked(self, folder):
        program = folder / "usr/bin/terrane"
        self.assertEqual(program.read_bytes(), support.program() + SYMBOLS)
        for path in folder.rglob("*"):
            if path.is_file() and "DEBIAN" not in path.parts:
                self.assertEqual((path.stat().st_mode & 0o7777, path.stat().st_mtime), (0o755 if path == program else 0o644, support.SECONDS), path)

    def test_deb_is_installed_upgraded_and_removed(self):
        self.need("dpkg", "dpkg-deb")
        arch = self.output("dpkg", "--print-architecture").strip()
        if arch not in ("amd64", "arm64"):
            self.skipTest("there is no deb for this machine")
        root = self.place.top / "root"
        (root / "var/lib/dpkg/info").mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-not-root", f"--log={self.place.top}/log"]
        installed = lambda: [name for name in self.place.files(root) if not name.startswith("var/lib/dpkg/")]
        for deb, version in ((self.older.dist / f"terrane_{OLDER}_{arch}.deb", OLDER), (self.deb(arch), VERSION)):
            self.output(*dpkg, "--install", deb)
            self.assertEqual(installed(), sorted(SHARED + OF_DEB))
            self.assertIn(f"v{version},", self.output(root / "usr/bin/terrane", "version"))
        self.output(*dpkg, "--remove", "terrane")
        left = [path for path in root.rglob("*") if not str(path).startswith(str(root / "var"))]
        self.assertEqual(left, [])
        self.assertNotIn("Package: terrane", (root / "var/lib/dpkg/status").read_text())

    def test_fields_of_the_rpm(self):
        self.need("rpm")
        for arch in ("x86_64", "aarch64"):
            rpm = self.rpm(arch)
            form = "%{NAME} %{VERSION} %{RELEASE} %{ARCH} %{LICENSE} %{BUILDHOST} %{BUILDTIME}"
            self.assertEqual(self.query(rpm, "--queryformat", form)[0], f"terrane {VERSION} 1 {arch} MPL-2.0 localhost {support.SECONDS}")
            requires = [name for name in self.query(rpm, "--requires") if not name.startswith("rpmlib(")]
            self.assertEqual(requires, ["libc.so.6(GLIBC_2.28)(64bit)", "libgcc_s.so.1()(64bit)"])
            self.assertEqual({re.split(r"[( ]", line)[0] for line in self.query(rpm, "--provides")}, {"terrane"})
            self.assertEqual(self.query(rpm, "--scripts") + self.query(rpm, "--conflicts") + self.query(rpm, "--obsoletes"), [])
            self.assertEqual(self.query(rpm, "--docfiles"), [f"/{DOCUMENTS}/README.md", "/usr/share/man/man1/terrane.1.gz"])
            self.assertEqual(self.query(rpm, "--licensefiles"), [f"/{DOCUMENTS}/THIRD-PARTY.md", "/usr/share/licenses/terrane/LICENSE"])
            self.output("rpm", "--checksig", "--nosignature", rpm)

    def query(self, rpm, *options):
        return self.output("rpm", "--query", "--package", *options, rpm).splitlines()

    def test_files_of_the_rpm(self):
        self.need("rpm", "rpm2cpio", "cpio")
        folders = [DOCUMENTS, f"{DOCUMENTS}/licences", "usr/share/licenses/terrane"]
        self.assertEqual(self.query(self.rpm(), "--list"), sorted("/" + name for name in SHARED + OF_RPM + folders))
        folder = self.place.top / "rpm"
        folder.mkdir()
        content = subprocess.run(["rpm2cpio", str(self.rpm())], capture_output=True, check=True).stdout
        subprocess.run(["cpio", "-idm", "--quiet"], input=content, cwd=folder, check=True)
        self.assertEqual(self.place.files(folder), sorted(SHARED + OF_RPM))
        self.check_unpacked(folder)

    @unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "rpm needs root to install")
    def test_rpm_is_installed_upgraded_and_removed(self):
        self.need("rpm")
        arch = os.uname().machine
        if arch not in ("x86_64", "aarch64"):
            self.skipTest("there is no rpm for this machine")
        root = self.place.top / "rpm-root"
        root.mkdir()
        rpm = ["rpm", f"--root={root}", "--nodeps", "--noscripts", "--nosignature"]
        installed = lambda: [name for name in self.place.files(root) if name.startswith("usr/") and "/rpm/" not in name]
        for path in (self.older.dist / f"terrane-{OLDER}-1.{arch}.rpm", self.rpm(arch)):
            self.output(*rpm, "--upgrade", path)
            self.assertEqual(installed(), sorted(SHARED + OF_RPM))
        self.output(*rpm, "--verify", "terrane")
        self.output(*rpm, "--erase", "terrane")
        self.assertEqual(installed(), [])
        self.assertEqual([path for path in root.rglob("*terrane*")], [])


@unittest.skipUnless(nfpm(), "nfpm is not here")
class Refusals(unittest.TestCase):
    def setUp(self):
        self.place = support.Place()
        self.addCleanup(self.place.close)

    def refused(self, message, **variables):
        done = self.place.script("packages", self.place.dist, **variables)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(message, done.stderr)
        self.assertEqual([path for path in self.place.dist.iterdir() if path.suffix in (".deb", ".rpm")], [])

    def test_archives(self):
        self.refused("has no archive of linux_amd64 or linux_arm64")
        self.place.add("linux_amd64", without=["terrane"])
        self.refused(f"has no terrane_{VERSION}_linux_amd64/terrane")
        self.place.add("linux_amd64", extra={"../../x": (0o644, b"")})
        self.refused("has an entry that it may not have")

    def test_nfpm_that_is_missing_or_fails(self):
        self.place.add("linux_amd64")
        self.refused("cannot be run", NFPM="/nowhere/nfpm")
        self.place.add("linux_amd64", without=["man/man1/terrane.1"])
        self.refused("failed with status")


if __name__ == "__main__":
    unittest.main()
