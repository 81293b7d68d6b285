"""The list of packages has exactly the crates that the program contains."""

import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).resolve().parents[2] / ".ci/release")]

import crates
import release_support as support

NAME = f"terrane_{support.VERSION}.cdx.json"


class Sbom(unittest.TestCase):
    def setUp(self):
        self.project = support.Project()
        self.addCleanup(self.project.close)
        self.project.dist.mkdir()

    def list(self, *targets):
        options = [part for target in targets for part in ("--target", target)]
        self.project.succeed("sbom", self.project.dist, *options)
        return json.loads((self.project.dist / NAME).read_text())

    def test_tests_build_scripts_macros_and_features_of_other_members_are_not_in_it(self):
        found = self.list("linux_amd64")
        self.assertEqual([each["name"] for each in found["components"]], ["lang", "pgp", "tiny"])
        self.assertEqual([each["name"] for each in self.list("windows_amd64")["components"]], ["console", "lang", "pgp", "tiny"])

    def test_several_targets_name_those_that_have_a_crate(self):
        found = {each["name"]: each for each in self.list("linux_amd64", "windows_amd64")["components"]}
        self.assertEqual(found["console"]["properties"], [{"name": "terrane:targets", "value": "windows_amd64"}])
        self.assertNotIn("properties", found["tiny"])

    def test_features_that_differ_are_named_by_target(self):
        manifest = support.ROOT_MANIFEST.replace("console = \"1\"\n", 'console = "1"\ntiny = { version = "1", features = ["extra"] }\n')
        support.write(self.project.root / "Cargo.toml", manifest)
        found = {each["name"]: each for each in self.list("linux_amd64", "windows_amd64")["components"]}
        self.assertEqual(found["tiny"]["properties"], [{"name": "terrane:features:windows_amd64", "value": "extra"}])
        self.assertIn("hidden", found)

    def test_package_has_address_licence_and_checksum_of_the_lock_file(self):
        found = {each["name"]: each for each in self.list("linux_amd64")["components"]}
        lock = crates.checksums((self.project.root / "Cargo.lock").read_text())
        self.assertEqual(found["pgp"]["purl"], "pkg:cargo/pgp@1.0.0")
        self.assertEqual(found["pgp"]["licenses"], [{"license": {"id": "LGPL-2.0-or-later"}}])
        self.assertEqual(found["pgp"]["hashes"], [{"alg": "SHA-256", "content": lock["pgp", "1.0.0"]}])

    def test_crates_of_the_repository_are_in_no_registry(self):
        found = {each["name"]: each for each in self.list("linux_amd64")["components"]}
        commit = self.project.run("git", "rev-parse", "HEAD").strip()
        self.assertEqual(found["lang"]["purl"], f"pkg:github/terrane/terrane@{commit}#src/lang")
        self.assertNotIn("hashes", found["lang"])

    def test_dependencies_refer_to_components(self):
        found = self.list("linux_amd64")
        program = found["metadata"]["component"]["bom-ref"]
        references = {each["bom-ref"] for each in found["components"]} | {program}
        below = {each["ref"]: each["dependsOn"] for each in found["dependencies"]}
        self.assertEqual(set(below), references)
        self.assertTrue(set().union(*below.values()) <= references)
        self.assertEqual(below[program], [f"{program}#src/lang", "pkg:cargo/tiny@1.0.0"])

    def test_serial_number_follows_from_the_content(self):
        first, again, other = self.list("linux_amd64"), self.list("linux_amd64"), self.list("windows_amd64")
        self.assertEqual(first, again)
        self.assertNotEqual(first["serialNumber"], other["serialNumber"])
        self.assertEqual(first["metadata"]["timestamp"], "2023-11-14T22:13:20Z")

    def test_program_with_code_of_another_package_is_an_error(self):
        for package, status in (("tiny", 0), ("hidden", 1)):
            program = self.project.top / "terrane"
            support.write(program, f"#!/bin/sh\necho \"complete '$0'\"\n# /cargo/registry/src/index-1/{package}-1.0.0/src/lib.rs\n")
            program.chmod(0o755)
            self.project.build("linux_amd64", STAND_IN_PROGRAM=str(program))
            done = self.project.script("sbom", self.project.dist)
            self.assertEqual((done.returncode, "not its dependencies: hidden-1.0.0" in done.stderr), (status, status == 1), done.stderr)

    def test_changed_lock_file_is_an_error(self):
        lock = self.project.root / "Cargo.lock"
        blocks = lock.read_text().split("\n\n")
        support.write(lock, "\n\n".join(block for block in blocks if 'name = "tested"' not in block))
        done = self.project.script("sbom", self.project.dist, "--target", "linux_amd64")
        self.assertEqual((done.returncode, (self.project.dist / NAME).exists()), (1, False))


class Graph(unittest.TestCase):
    def test_dependencies_follow_their_crate_once(self):
        lines = [(0, "p", "1", []), (1, "a", "1", ["x"]), (2, "b", "1", []), (1, "b", "1", []), (1, "c", "1", []), (2, "a", "1", ["x"])]
        self.assertEqual(
            crates.graph(lines),
            {
                ("p", "1"): ([], {("a", "1"), ("b", "1"), ("c", "1")}),
                ("a", "1"): (["x"], {("b", "1")}),
                ("b", "1"): ([], set()),
                ("c", "1"): ([], {("a", "1")}),
            },
        )


class OwnPackages(unittest.TestCase):
    """The packages of this repository, for which cargo must have downloaded them."""

    def test_program_has_one_library_of_cryptography_and_nothing_of_the_tests(self):
        names = {name for name, _ in crates.contained("x86_64-unknown-linux-gnu")}
        self.assertTrue({"terrane", "engine", "aws-lc-sys", "sequoia-openpgp"} <= names)
        self.assertFalse({"ring", "protox", "terrane-derive", "terrane-acceptance"} & names)


if __name__ == "__main__":
    unittest.main()
