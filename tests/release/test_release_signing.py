"""Signatures, sums and the index of versions."""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).resolve().parents[2] / ".ci/release")]

import release_support as support

SUMS = f"terrane_{support.VERSION}_SHA256SUMS"


@unittest.skipUnless(shutil.which("gpg"), "gpg is not here")
class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = support.Keys()
        cls.addClassCleanup(cls.keys.close)

    def setUp(self):
        self.project = support.Project()
        self.addCleanup(self.project.close)
        self.dist = self.project.dist
        for name in ("linux_amd64.tar.gz", "source.tar.gz"):
            support.write(self.dist / f"terrane_{support.VERSION}_{name}", name)
        self.project.succeed("sums.py", self.dist)

    def sign(self, *arguments, **variables):
        return self.project.script("sign", *arguments, **{**self.keys.variables, **variables})

    def refused(self, done, message):
        self.assertEqual((done.returncode, message in done.stderr), (1, True), done.stdout + done.stderr)


class Signatures(Base):
    def test_signature_is_binary_and_verifies_with_gpg(self):
        self.assertEqual(self.sign(self.dist / SUMS).returncode, 0)
        signature = self.dist / f"{SUMS}.sig"
        self.assertEqual(signature.read_bytes()[0] & 0x80, 0x80)
        self.keys.gpg("--verify", str(signature), str(self.dist / SUMS))

    def test_without_a_key_nothing_is_signed(self):
        for missing, message in (
            ("TERRANE_SIGNING_FINGERPRINT", "TERRANE_SIGNING_FINGERPRINT must be the whole fingerprint"),
            ("GNUPGHOME", "TERRANE_SIGNING_KEY must name a file with the key, or GNUPGHOME a folder of gpg"),
        ):
            self.refused(self.sign(self.dist / SUMS, **{missing: ""}), message)
        self.refused(self.sign(self.dist / SUMS, TERRANE_SIGNING_FINGERPRINT=self.keys.fingerprint[-16:]), "whole fingerprint")
        self.refused(self.sign(self.dist / SUMS, TERRANE_SIGNING_FINGERPRINT="A" * 40), f"the key {'A' * 40} is not there")
        self.assertFalse((self.dist / f"{SUMS}.sig").exists())

    def test_key_may_come_from_a_file(self):
        key = self.project.top / "key.asc"
        support.write(key, self.keys.gpg("--armor", "--export-secret-keys", self.keys.fingerprint))
        before = set(pathlib.Path(tempfile.gettempdir()).glob("sign-*"))
        self.assertEqual(self.sign(self.dist / SUMS, GNUPGHOME="", TERRANE_SIGNING_KEY=str(key)).returncode, 0)
        self.keys.gpg("--verify", str(self.dist / f"{SUMS}.sig"), str(self.dist / SUMS))
        self.assertEqual(set(pathlib.Path(tempfile.gettempdir()).glob("sign-*")) - before, set())

    def test_passphrase_comes_from_a_file(self):
        keys = support.Keys(passphrase="of the test")
        self.addCleanup(keys.close)
        right, wrong, key = (self.project.top / name for name in ("right", "wrong", "key"))
        support.write(right, "of the test\n")
        support.write(wrong, "another\n")
        export = ["--pinentry-mode", "loopback", "--passphrase", "of the test", "--armor", "--export-secret-keys"]
        support.write(key, keys.gpg("--batch", *export))
        variables = {"GNUPGHOME": "", "TERRANE_SIGNING_KEY": str(key), "TERRANE_SIGNING_FINGERPRINT": keys.fingerprint}
        self.refused(self.sign(self.dist / SUMS, **variables, TERRANE_SIGNING_PASSPHRASE=str(wrong)), "gpg failed")
        self.assertEqual(self.sign(self.dist / SUMS, **variables, TERRANE_SIGNING_PASSPHRASE=str(right)).returncode, 0)

    def test_changed_file_is_refused(self):
        self.sign(self.dist / SUMS)
        self.assertEqual(self.sign("--verify", self.dist / SUMS).returncode, 0)
        with open(self.dist / SUMS, "a", encoding="utf-8") as file:
            file.write("\n")
        self.refused(self.sign("--verify", self.dist / SUMS), "the signature of")

    def test_signature_of_another_key_is_refused(self):
        self.sign(self.dist / SUMS)
        other = support.Keys()
        self.addCleanup(other.close)
        self.refused(self.sign("--verify", self.dist / SUMS, **other.variables), "is not valid: gpg failed")
        public = self.project.top / "public"
        support.write(public, self.keys.gpg("--armor", "--export", self.keys.fingerprint))
        other.gpg("--import", str(public))
        self.refused(self.sign("--verify", self.dist / SUMS, **other.variables), f"is not one of the key {other.fingerprint}")


class Sums(Base):
    def check(self):
        return self.project.script("sums.py", self.dist, "--check")

    def test_sums_are_those_of_every_file_but_signatures_and_index(self):
        for name in ("index.json", "index.json.sig", f"{SUMS}.sig"):
            support.write(self.dist / name, "later")
        self.project.run("sha256sum", "--check", "--strict", SUMS, cwd=self.dist)
        listed = [line.split()[1] for line in (self.dist / SUMS).read_text().splitlines()]
        self.assertEqual(listed, [f"terrane_{support.VERSION}_{name}" for name in ("linux_amd64.tar.gz", "source.tar.gz")])
        self.assertEqual(self.check().stdout, "2 files have their sums\n")

    def test_changed_missing_and_additional_files_are_named(self):
        support.write(self.dist / f"terrane_{support.VERSION}_source.tar.gz", "changed")
        (self.dist / f"terrane_{support.VERSION}_linux_amd64.tar.gz").unlink()
        support.write(self.dist / f"terrane_{support.VERSION}_more.zip", "")
        done = self.check()
        self.refused(done, f"terrane_{support.VERSION}_source.tar.gz has another SHA-256 than in {SUMS}")
        self.refused(done, f"terrane_{support.VERSION}_linux_amd64.tar.gz does not exist")
        self.refused(done, f"terrane_{support.VERSION}_more.zip has no sum")

    def test_unknown_signatures_are_refused(self):
        for name in ("index.json.sig", f"{SUMS}.sig", f"terrane_{support.VERSION}.intoto.json.sig"):
            support.write(self.dist / name, "")
        self.assertEqual(self.project.script("sums.py", self.dist).returncode, 0)
        for name in ("other.sig", f"terrane_{support.VERSION}_source.tar.gz.sig", "terrane_0.1.0_SHA256SUMS.sig"):
            support.write(self.dist / name, "")
            self.refused(self.project.script("sums.py", self.dist), f"no part of release {support.VERSION}: {name}")
            (self.dist / name).unlink()

    def test_files_of_another_release_are_refused(self):
        support.write(self.dist / "terrane_0.1.0_source.tar.gz", "")
        self.refused(self.project.script("sums.py", self.dist), f"no part of release {support.VERSION}: terrane_0.1.0_source.tar.gz")


class Index(Base):
    def index(self, *arguments, **variables):
        return self.project.script("index.py", self.dist, *arguments, **{**self.keys.variables, **variables})

    def read(self):
        return json.loads((self.dist / "index.json").read_text())

    def first(self, version):
        """A signed index with one version, as it was published before."""
        path = self.project.top / "index.json"
        self.assertEqual(self.index("--first", "--now", "1700000000").returncode, 0)
        made = self.read()
        made["versions"][0]["version"] = version
        support.write(path, json.dumps({**made, "serial": 7}))
        self.sign(path)
        return path

    def test_first_index_has_the_files_of_the_release(self):
        self.assertEqual(self.index("--first", "--now", "1700000000", "--days", "30").returncode, 0)
        found = self.read()
        self.assertEqual((found["format_version"], found["serial"]), ("1.0", 1))
        self.assertEqual((found["generated"], found["expires"]), ("2023-11-14T22:13:20Z", "2023-12-14T22:13:20Z"))
        version = found["versions"][0]
        self.assertEqual((version["version"], version["date"], version["prerelease"]), (support.VERSION, "2023-11-14", False))
        sums = dict(reversed(line.split("  ")) for line in (self.dist / SUMS).read_text().splitlines())
        self.assertEqual([(each["name"], each["sha256"]) for each in version["files"]], sorted(sums.items()))
        self.assertEqual([each.get("target") for each in version["files"]], ["linux_amd64", None])
        self.assertEqual(version["files"][0]["size"], len("linux_amd64.tar.gz"))

    def test_versions_are_added_newest_first(self):
        for version, order in (("0.10.0", ["0.10.0", "0.2.0"]), ("0.2.0-rc.1", ["0.2.0", "0.2.0-rc.1"]), ("0.1.9", ["0.2.0", "0.1.9"])):
            self.assertEqual(self.index("--previous", self.first(version)).returncode, 0)
            self.assertEqual([each["version"] for each in self.read()["versions"]], order)
            self.assertEqual(self.read()["serial"], 8)

    def test_previous_index_must_be_signed(self):
        path = self.first("0.1.0")
        support.write(path, path.read_text().replace('"serial": 7', '"serial": 1'))
        self.refused(self.index("--previous", path), "the signature of")
        pathlib.Path(f"{path}.sig").unlink()
        self.refused(self.index("--previous", path), "has no signature")

    def test_release_is_never_replaced(self):
        self.refused(self.index("--previous", self.first(support.VERSION)), f"has version {support.VERSION} already")

    def test_changed_file_is_refused(self):
        support.write(self.dist / f"terrane_{support.VERSION}_source.tar.gz", "changed")
        self.refused(self.index("--first"), "has another SHA-256")

    def test_withdrawn_version_stays_with_its_reason(self):
        previous = self.first("0.1.0")
        self.assertEqual(self.index("--previous", previous, "--refresh", "--withdraw", "0.1.0=loses states").returncode, 0)
        found = self.read()
        self.assertEqual([(each["version"], each.get("withdrawn")) for each in found["versions"]], [("0.1.0", "loses states")])
        self.assertEqual(found["serial"], 8)
        self.refused(self.index("--previous", previous, "--withdraw", "9.9.9=never was"), "is not VERSION=REASON")


del Base

if __name__ == "__main__":
    unittest.main()
